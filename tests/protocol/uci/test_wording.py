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
