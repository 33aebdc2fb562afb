"""Sanmill's dialect, in which a removal is a separate token and a separate search."""

from __future__ import annotations

import subprocess
import sys

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START, parse_move, parse_position
from merels.engine.game.position import BLACK, WHITE, Position
from merels.engine.game.rules import make_rules
from merels.engine.game.score import PovScore, Score
from merels.engine.search.limits import Limit
from merels.protocol.client.dialects import dialect
from merels.protocol.client.engine import Engine
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.process.errors import EngineError
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.play.game import play_game
from merels.tournament.play.preflight import preflight
from merels.tournament.records.games import Entrant, Opening, TimeControl
from tests.kit.fakes import SANMILL, fake
from tests.tournament.specs import game

DIALECT = dialect("sanmill")
SANMILL_ENTRANT = Entrant(EngineSpec(SANMILL, "Sanmill", "sanmill"), TimeControl(depth=6))
SOUND_ENTRANT = Entrant(EngineSpec(fake(), "sound"), TimeControl(nodes=1))


def engine_that_answers_go_with(line: str) -> tuple[str, ...]:
    """Return the command of an engine that answers each ``go`` with this line."""
    script = (
        "import sys\n"
        f"answers = {{'uci': 'uciok', 'isready': 'readyok', 'go': {line!r}}}\n"
        "for line in sys.stdin:\n"
        "    word = line.split()[0]\n"
        "    if word in answers: print(answers[word], flush=True)\n"
    )
    return sys.executable, "-c", script


def test_the_fake_engine_answers_as_in_a_transcript_of_sanmill() -> None:
    commands = "position startpos moves a1 d6 d1 f4 g1\nfen\ngo depth 6\nquit\n"
    done = subprocess.run(
        SANMILL, input=commands, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines() == [
        "fen ********/@*@*****/***OOO** w p r 3 6 2 7 1 0 -1 -1 -1 -1 0 0 3 ids:nodes",
        "info depth 6 score cp 0 nodes 8147 bestmove xf4",
    ]


def test_a_removal_is_searched_after_the_step_that_closes_the_mill() -> None:
    sent: list[bytes] = []

    def trace(direction: str, data: bytes) -> None:
        if direction == ">":
            sent.append(data)

    # The fake plays the alphabetically first step: a1, which closes the mill a1 d1 g1.
    position = parse_position("********/@***@**@/***OO*** w 1 1 0 9")
    with Engine.popen(SANMILL, protocol="sanmill", trace=trace) as sanmill:
        result = sanmill.play(position, Limit(depth=6))
        assert result.move == parse_move("a1xd6")
        assert result.info.score == PovScore(Score(cp=-100), WHITE)
        moves = [parse_move(word) for word in "a1 d6 d1 f4".split()]
        assert sanmill.play(Position(), Limit(depth=6), moves=moves).move == parse_move("a4")
    text = b"".join(sent).decode()
    line = "position fen ********/@***@**@/***OO*** w p p 2 1 3 1 0 0 0 0 0 0 0 0 9"
    assert f"{line}\ngo depth 6\n{line} moves a1\ngo depth 6\n" in text
    assert "position startpos moves a1 d6 d1 f4\ngo depth 6\n" in text


def test_a_removal_is_a_separate_token_in_positions_and_moves() -> None:
    moves = [parse_move(word) for word in "a1 d6 d1 f4 g1xf4 d7".split()]
    assert DIALECT.position(Position(), moves) == b"position startpos moves a1 d6 d1 f4 g1 xf4 d7"
    assert DIALECT.token(parse_move("d6-d5xc3")) == b"d6-d5 xc3"


def test_scores_are_white_s_view() -> None:
    line = b"info depth 10 score cp 12 nodes 14832 bestmove d6"
    summary = DIALECT.info_summary(line, WHITE)
    assert (summary.score, summary.win_in, summary.depth, summary.nodes) == (12, None, 10, 14832)
    assert DIALECT.info_summary(line, BLACK).score == -12
    assert DIALECT.info_summary(b"info score 7 bestmove d6", BLACK).score == -7


@pytest.mark.parametrize(
    "limit, side, line",
    [
        (Limit(depth=6), WHITE, b"go depth 6\n"),
        (Limit(time=0.3), WHITE, b"setoption name MoveTimeMs value 100\ngo\n"),
        (Limit(time=0.001), WHITE, b"setoption name MoveTimeMs value 1\ngo\n"),
        (
            Limit(white_clock=90.0, black_clock=0.001, white_inc=0.3, black_inc=0.0), WHITE,
            b"setoption name MoveTimeMs value 1100\ngo\n",
        ),
        (
            Limit(white_clock=0.001, black_clock=0.09, remaining_moves=3), BLACK,
            b"setoption name MoveTimeMs value 10\ngo\n",
        ),
        (Limit(nodes=50), WHITE, b"go nodes 50\n"),
        (Limit(depth=6, nodes=50), WHITE, b"go depth 6 nodes 50\n"),
    ],
)
def test_the_thinking_time_is_set_by_an_option(limit: Limit, side: int, line: bytes) -> None:
    assert DIALECT.go(limit, side) == line


def test_the_limit_of_plies_without_a_removal_is_set_by_two_options() -> None:
    with Engine.popen(SANMILL, protocol="sanmill") as engine:
        settings = dict(DIALECT.settings(make_rules("mill", ["NoRemovalPlies=60"]), engine.options))
        assert settings == {"NMoveRule": "60", "EndgameNMoveRule": "60"}


def test_whole_games_of_sanmill_contain_only_legal_moves() -> None:
    opening = Opening(START, ("d6", "f4"))
    with EngineCache() as engines:
        for white, black in ((SANMILL_ENTRANT, SOUND_ENTRANT), (SOUND_ENTRANT, SANMILL_ENTRANT)):
            result = play_game(game(white, black, opening=opening), engines)
            assert result.termination == "normal", result.reason
            own = result.moves[::2] if white is SANMILL_ENTRANT else result.moves[1::2]
            assert any("x" in move.move for move in own)


def test_an_error_of_sanmill_is_an_illegal_move_and_the_result_quotes_it() -> None:
    error = 'sanmill_error {"code": "bad_token", "at": 3}'
    command = engine_that_answers_go_with(f"info string {error}")
    with Engine.popen(command, protocol="sanmill") as engine:
        with pytest.raises(EngineError, match="illegal move 'sanmill_error .*bad_token"):
            engine.play(Position(), Limit(nodes=1))
    sanmill = Entrant(EngineSpec(command, "Sanmill", "sanmill"), TimeControl(depth=6))
    with EngineCache() as engines:
        result = play_game(game(sanmill, SOUND_ENTRANT), engines)
    assert (result.result, result.termination) == ("0-1", "illegal move")
    assert error in result.reason


@pytest.mark.parametrize("rules", ["mill", "morris", "roman"])
def test_preflight_accepts_rules_without_a_limit_for_three_against_three(rules: str) -> None:
    """Sanmill has no option for this limit, and plays without it."""
    assert preflight([SANMILL_ENTRANT], rules, Opening(START)).notices == []


@pytest.mark.parametrize("field", ["Flying=never", "DoubleMill=each", "LockedMills=none"])
def test_preflight_names_a_rule_for_which_the_engine_has_no_option(field: str) -> None:
    with pytest.raises(InputError, match=f"has no option for {field};"):
        preflight([SANMILL_ENTRANT], f"morris {field}", Opening(START))


@pytest.mark.parametrize("lines", [
    "IDS: Algorithm bestMove = d6\ninfo score 4 bestmove d6",
    "DB bestmove d1 found\n info score 4 bestmove d6",
    "ponder bestmove\n\tbestmove d6",
])
def test_only_an_info_line_has_bestmove_inside(lines: str) -> None:
    with Engine.popen(engine_that_answers_go_with(lines), protocol="sanmill") as engine:
        assert str(engine.play(Position(), Limit(depth=1)).move) == "d6"


def test_bestmove_draw_is_read_as_no_move() -> None:
    command = engine_that_answers_go_with("info score 0 bestmove draw")
    with Engine.popen(command, protocol="sanmill") as engine:
        assert engine.play(Position(), Limit(nodes=1)).move is None
