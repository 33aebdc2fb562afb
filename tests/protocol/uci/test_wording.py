"""The engine's answers in the dialects uci and ugi."""

from __future__ import annotations

from dataclasses import replace

import pytest

from merels.engine.game.position import WHITE
from merels.engine.game.score import PovScore, Score
from merels.engine.search.limits import Info
from merels.protocol.uci.wording import Uci, Ugi
from tests.protocol.gui import Gui


def test_bestmove_has_no_ponder_move_in_ugi(gui: Gui) -> None:
    gui.greet("ugi")
    assert gui.ask("uginewgame") == []
    best = gui.go("go p1time 500 p2time 500 p1inc 1 p2inc 1", "position startpos moves d6")[-1]
    assert len(best.split()) == 2
    with Gui() as uci:
        assert len(uci.go("go depth 5")[-1].split()) == 4


@pytest.mark.parametrize(
    ("position", "uci", "ugi"),
    [
        ("****OO**/*OOO@*@*/**@***** w 0 0 0 30", "mate 2", "mate 3"),
        ("**@****@/****@***/OO*OO*O* b 0 0 0 30", "mate -1", "mate -2"),
    ],
)
def test_mates_count_own_moves_in_uci_and_plies_in_ugi(
    gui: Gui, position: str, uci: str, ugi: str
) -> None:
    for dialect, mate in (("uci", uci), ("ugi", ugi)):
        gui.greet(dialect)
        lines = gui.go("go depth 6", f"position fen {position}")
        assert f" score {mate} " in [line for line in lines if line.startswith("info depth")][-1]


def test_go_mate_ends_once_the_win_is_proven(gui: Gui) -> None:
    position = "position fen ****OO**/*OOO@*@*/**@***** w 0 0 0 30"
    for dialect, go in (("uci", "go mate 2"), ("ugi", "go mate 3")):
        gui.greet(dialect)
        lines = gui.go(go, position)
        assert lines[-1].split()[1] == "f4-e4"
        depths = [int(line.split()[2]) for line in lines if line.startswith("info depth")]
        assert depths[-1] < 20, "the search ran to the maximum depth"


@pytest.mark.parametrize(
    ("win_in", "uci", "ugi"),
    [(1, 1, 1), (3, 2, 3), (5, 3, 5), (0, 0, 0), (-2, -1, -2), (-4, -2, -4)],
)
def test_mate_scores_count_moves_in_uci_and_plies_in_ugi(win_in: int, uci: int, ugi: int) -> None:
    score = Score(win_in=win_in)
    assert Uci().score(score) == f"mate {uci}"
    assert Ugi().score(score) == f"mate {ugi}"


@pytest.mark.parametrize(("bound", "word"), [("lower", "lowerbound"), ("upper", "upperbound")])
def test_a_bound_is_written_after_the_score(bound: str, word: str) -> None:
    exact = Info(PovScore(Score(cp=12), WHITE), depth=3, wdl=(10, 980, 10))
    for dialect in (Uci(), Ugi()):
        line = dialect.info(exact, show_wdl=True)
        assert line == "info depth 3 multipv 1 score cp 12 wdl 10 980 10"
        line = dialect.info(replace(exact, bound=bound), show_wdl=True)
        assert line == f"info depth 3 multipv 1 score cp 12 {word} wdl 10 980 10"


@pytest.mark.parametrize("dialect", ["uci", "ugi"])
@pytest.mark.parametrize(
    ("position", "p1turn", "over", "result"),
    [
        ("startpos", "true", "false", "none"),
        ("startpos moves d6", "false", "false", "none"),
        ("fen O*O*****/@@@*****/******** w 0 0 0 9", "true", "true", "p2win"),
        ("fen OOO*****/@@******/******** b 0 0 0 9", "false", "true", "p1win"),
        ("fen OOO*****/@@@*****/******** b 0 0 4 9", "false", "true", "draw"),
    ],
)
def test_query_answers_side_to_move_end_and_result(
    gui: Gui, dialect: str, position: str, p1turn: str, over: str, result: str
) -> None:
    gui.greet(dialect)
    gui.send(f"position {position}")
    assert gui.ask("query p1turn") == [f"response {p1turn}"]
    assert gui.ask("query gameover") == [f"response {over}"]
    assert gui.ask("query result") == [f"response {result}"]
    (error,) = gui.ask("query weather")
    assert error.startswith("info string error 'weather'")
