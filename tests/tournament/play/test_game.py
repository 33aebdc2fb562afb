"""Complete games between real engine processes."""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic_ns, sleep

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START, parse_position, play_moves
from merels.engine.game.rules import parse_rules
from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.play.game import play_game
from merels.tournament.records.games import (
    SECOND,
    Adjudication,
    Entrant,
    GameResult,
    Opening,
    TimeControl,
)
from tests.kit.tables import copy_tables
from tests.kit.fakes import fake
from tests.kit.rows import check_rows
from tests.tournament.specs import MERELS, changed, game

NODES = TimeControl(nodes=20)
BUSY = 30 * SECOND
"""Margin for a busy machine."""
ONE_MOVE = Adjudication(max_moves=1)


def merels(name: str, limit: TimeControl = NODES, ponder: bool = False) -> Entrant:
    """Return the built-in engine as an entrant."""
    return Entrant(EngineSpec(MERELS, name), limit, ponder=ponder)


def check_moves(result: GameResult) -> None:
    """Check that all moves are legal and come before the end; a normal result follows from them."""
    spec = result.spec
    position = parse_position(spec.opening.position, parse_rules(spec.rules))
    position = play_moves(position, spec.opening.moves)
    for move in result.moves:
        assert position.outcome() is None
        position = play_moves(position, [move.move])
        assert move.elapsed > 0
    outcome = position.outcome()
    if result.termination == "normal":
        assert outcome is not None
        assert (outcome.result, str(outcome)) == (result.result, result.reason)


def test_a_game_ends_by_its_rules(engines: EngineCache) -> None:
    def check(rules: str) -> None:
        opening = Opening(START, ("d6", "f4", "a1"))
        result = play_game(game(merels("A"), merels("B"), rules, opening), engines)
        assert result.termination == "normal", result.reason
        check_moves(result)
        assert result.started.endswith("+00:00") and result.elapsed > 0
        assert all(move.depth > 0 and move.nodes > 0 for move in result.moves)
        assert all((move.score is None) != (move.win_in is None) for move in result.moves)
        assert pickle.loads(pickle.dumps(result)) == result

    check_rows(["morris", "mill Flying=both DoubleMill=each LockedMills=none"], check)


def test_a_game_is_played_with_any_limit(engines: EngineCache) -> None:
    def check(limit: TimeControl) -> None:
        rule = Adjudication(max_moves=5)
        result = play_game(game(merels("A", limit), merels("B"), adjudication=rule), engines)
        assert result.termination in ("normal", "adjudication"), result.reason
        check_moves(result)
        for move in result.moves[::2]:
            assert (move.clock is None) == (limit.time is None)

    check_rows([
        TimeControl(time=SECOND // 5, increment=SECOND // 50, margin=BUSY),
        TimeControl(time=SECOND // 5, moves=5, margin=BUSY),
        TimeControl(per_move=SECOND // 50, margin=BUSY),
        TimeControl(depth=2),
        TimeControl(time=SECOND, nodes=50, margin=BUSY),
    ], check)


def test_the_clock_after_each_move_is_recorded(engines: EngineCache) -> None:
    second = TimeControl(time=SECOND, increment=SECOND // 10, margin=BUSY)
    rule = Adjudication(max_moves=5)
    result = play_game(game(merels("A", second), merels("B", second), adjudication=rule), engines)
    for side in (0, 1):
        clock = SECOND
        for move in result.moves[side::2]:
            clock += SECOND // 10 - move.elapsed
            assert move.clock == clock


def test_the_time_of_writing_the_log_is_not_charged_to_the_engine() -> None:
    written: list[int] = []
    answered: list[int] = []

    def trace(engine: str, direction: str, line: bytes) -> None:
        if direction == ">" and b"\ngo " in line:
            sleep(0.1)
            written.append(monotonic_ns())
        elif direction == "<" and b"bestmove" in line:
            answered.append(monotonic_ns())

    entrants = [merels(name, TimeControl(per_move=BUSY, nodes=20)) for name in "AB"]
    with EngineCache(trace=trace) as engines:
        result = play_game(game(*entrants, adjudication=ONE_MOVE), engines)
    assert len(written) == len(answered) == len(result.moves) == 2
    for move, start, end in zip(result.moves, written, answered):
        assert move.elapsed <= end - start


def test_black_may_begin(engines: EngineCache) -> None:
    opening = Opening("********/********/******** b 9 9 0 1")
    rule = Adjudication(resign_count=1, resign_score=-100_000)
    result = play_game(game(merels("A"), merels("B"), "multi", opening, rule), engines)
    # Black's first score counts as a resignation, whatever it is.
    assert (result.result, len(result.moves)) == ("1-0", 1)
    check_moves(result)


def test_an_engine_can_play_itself_and_its_processes_are_kept(engines: EngineCache) -> None:
    pids = set()
    spec = game(merels("A"), merels("A"), adjudication=Adjudication(max_moves=3))
    for _ in range(3):
        play_game(spec, engines)
        assert len(engines._idle) == 2
        pids |= {engine.pid for _, engine in engines._idle}
    assert len(pids) == 2


def test_the_engines_used_last_are_kept() -> None:
    with EngineCache(3) as engines:
        for name, kept in (("B", "AB"), ("C", "ABC"), ("D", "ACD"), ("C", "ACD"), ("B", "ABC")):
            play_game(game(merels("A"), merels(name), adjudication=ONE_MOVE), engines)
            assert sorted(spec.name for spec, _ in engines._idle) == list(kept)


def test_an_engine_to_be_restarted_is_not_kept(engines: EngineCache) -> None:
    restarted = replace(merels("A"), restart=True)
    play_game(game(restarted, merels("B"), adjudication=ONE_MOVE), engines)
    assert [spec.name for spec, _ in engines._idle] == ["B"]


def test_an_engine_that_died_between_games_is_replaced(engines: EngineCache) -> None:
    spec = game(merels("A"), merels("B"), adjudication=Adjudication(max_moves=3))
    play_game(spec, engines)
    pids = {engine.pid for _, engine in engines._idle}
    for pid in pids:
        os.kill(pid, 9)
    result = play_game(spec, engines)
    assert result.termination == "adjudication", result.reason
    assert not pids & {engine.pid for _, engine in engines._idle}


def test_a_pondering_engine_gets_go_ponder_and_ponderhit_or_stop() -> None:
    traced: list[tuple[str, str, bytes]] = []
    with EngineCache(trace=lambda *words: traced.append(words)) as watched:
        clock = TimeControl(time=SECOND, increment=SECOND // 50, margin=BUSY)
        rule = Adjudication(max_moves=15)
        spec = game(merels("A", clock, True), merels("B", clock), adjudication=rule)
        result = play_game(spec, watched)
        assert result.termination in ("normal", "adjudication"), result.reason
        check_moves(result)
        sent = b"".join(data for name, way, data in traced if (name, way) == ("A", ">"))
        assert b"go ponder wtime " in sent
        assert b"ponderhit\n" in sent and b"stop\n" in sent
        assert b"setoption name Ponder value true\n" in sent
        second = play_game(spec, watched)
        assert second.termination in ("normal", "adjudication"), second.reason


def test_options_and_rules_reach_the_engine() -> None:
    traced: list[bytes] = []
    with EngineCache(trace=lambda name, way, data: traced.append(data)) as engines:
        spec = changed(merels("A"), options=(("hash", "3"),))
        rules = "multi Flying=own"
        play_game(game(spec, merels("B"), rules, adjudication=ONE_MOVE), engines)
    sent = b"".join(traced)
    for line in ("Hash value 3", "UCI_Variant value multi", "Flying value own"):
        assert f"setoption name {line}\n".encode() in sent


def test_level_scores_end_a_game_early(engines: EngineCache) -> None:
    rule = Adjudication(draw_number=4, draw_count=3, draw_score=5)
    sound = Entrant(EngineSpec(fake(), "sound"), TimeControl(nodes=1))
    result = play_game(game(sound, sound, adjudication=rule), engines)
    # Both engines always report 5, so the game is drawn in move 4, after three moves of each.
    assert (result.result, result.termination) == ("1/2-1/2", "adjudication")
    assert (result.reason, len(result.moves)) == ("Draw by adjudication", 7)
    assert result.cause == "draw by scores"


def test_the_rules_take_precedence_over_adjudication(engines: EngineCache) -> None:
    # White closes a mill and removes Black's third man. Any score would count as a resignation.
    opening = Opening("*O*****O/O@*@*@**/******** w 0 0 0 1")
    rule = Adjudication(resign_count=1, resign_score=-(10**9))
    result = play_game(game(merels("A"), merels("B"), "morris", opening, rule), engines)
    assert (result.result, result.termination, len(result.moves)) == ("1-0", "normal", 1)
    assert result.cause == "two men"


def test_a_game_ends_where_tables_decide_it(engines: EngineCache, tmp_path: Path) -> None:
    copy_tables(tmp_path, parse_rules("morris NoRemovalPlies=0"), 6)
    rule = Adjudication(tables=str(tmp_path))
    # White is about to close d5-e5-c5, and Black cannot prevent it in time.
    opening = Opening("O******O/@*@**O**/****@*** b 0 0 3 40")
    spec = game(merels("A"), merels("B"), "morris NoRemovalPlies=0", opening, rule)
    result = play_game(spec, engines)
    assert result.termination == "adjudication" and result.reason.endswith("adjudication: tables")
    assert len(result.moves) < 4


def test_invalid_rules_and_openings_are_refused(engines: EngineCache) -> None:
    for rules, opening in (
        ("chess", Opening(START)), ("mill", Opening("nonsense")),
        ("mill", Opening(START, ("d6", "d6"))),
    ):
        with pytest.raises(InputError):
            play_game(game(merels("A"), merels("B"), rules, opening), engines)


def test_a_game_that_fails_at_setup_ends_its_engines(engines: EngineCache) -> None:
    broken = TimeControl(per_move="soon")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        play_game(game(merels("A"), merels("B", broken)), engines)


def test_a_game_that_is_over_at_its_start_has_no_moves(engines: EngineCache) -> None:
    opening = Opening("OOO*****/********/@@****** w 0 0 0 30")
    result = play_game(game(merels("A"), merels("B"), "mill", opening), engines)
    assert (result.result, result.moves) == ("1-0", ())


def test_an_engine_at_fault_is_not_kept(engines: EngineCache) -> None:
    for names in (("bad", "good"), ("good", "bad")):
        modes = {"bad": "illegal", "good": "sound"}
        white, black = (Entrant(EngineSpec(fake(modes[name]), name), NODES) for name in names)
        result = play_game(game(white, black), engines)
        assert result.termination == "illegal move"
        assert [spec.name for spec, _ in engines._idle] == ["good"]


def test_a_loss_by_an_illegal_move_quotes_the_error_that_the_engine_reported(
    engines: EngineCache,
) -> None:
    report = "info string error 'd6': unknown"
    for script in (
        f"go: print {report} & print info depth 1 & answer bestmove a1xg7",
        f"go: print {report} & sleep 0.05 & print info depth 1 & answer bestmove a1xg7",
    ):
        white, black = (Entrant(EngineSpec(fake(text), text), NODES) for text in (script, ""))
        reason = play_game(game(white, black), engines).reason
        assert reason.endswith(f"; the engine reported: '{report}')"), reason
    # The error of an earlier search does not count.
    script = f"go#1: print {report} & reply; go#2: answer bestmove a1xg7"
    white, black = (Entrant(EngineSpec(fake(text), text), NODES) for text in (script, ""))
    assert "reported" not in play_game(game(white, black), engines).reason


def test_pondering_after_the_game_is_stopped_before_the_engine_is_kept() -> None:
    traced: list[tuple[str, str, bytes]] = []
    with EngineCache(trace=lambda *words: traced.append(words)) as watched:
        ponderer = Entrant(EngineSpec(fake("ponders"), "ponderer"), NODES, ponder=True)
        other = Entrant(EngineSpec(fake(), "other"), NODES)
        play_game(game(other, ponderer, adjudication=ONE_MOVE), watched)
        play_game(game(ponderer, other, adjudication=ONE_MOVE), watched)
        assert sorted(spec.name for spec, _ in watched._idle) == ["other", "ponderer"]
        sent = b"".join(data for name, way, data in traced if (name, way) == ("ponderer", ">"))
        assert sent.count(b"go ponder") == sent.count(b"stop\n") + sent.count(b"ponderhit\n") > 0


PONDERER = """
import sys, time
from pathlib import Path
from merels.engine import Position
from merels.engine.game.notation import play_moves

early, reply_index, answered = sys.argv[1] == "early", int(sys.argv[2]), Path(sys.argv[3])


def answer():
    move = position.legal_moves()[0]
    reply = position.push(move).legal_moves()[reply_index]
    print(f"info depth 1 score cp 0\\nbestmove {move} ponder {reply}", flush=True)


for line in sys.stdin:
    words = line.split()
    if words == ["uci"]:
        print("option name Ponder type check default false\\nuciok", flush=True)
    elif words == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["position"]:
        position = play_moves(Position(), words[3:])
    elif words[:1] == ["go"]:
        if sys.argv[1] == "other":
            while not answered.exists():
                time.sleep(0.01)
            answered.unlink()
        if early or "ponder" not in words:
            answer()
        if "ponder" in words:
            answered.touch()
    elif words in (["stop"], ["ponderhit"]) and not early:
        answer()
"""
"""An engine that expects the legal move of an index as the reply.

With ``early`` it answers ``go ponder`` before ``stop`` or ``ponderhit``. As ``other`` it waits for
a file, which an engine makes that ponders.
"""


@pytest.mark.parametrize("reply", [0, 1], ids=["ponderhit", "stop"])
@pytest.mark.parametrize("kind", ["early", "patient"])
def test_a_bestmove_before_stop_or_ponderhit_counts_as_a_fault(
    engines: EngineCache, tmp_path: Path, kind: str, reply: int
) -> None:
    limit = TimeControl(time=BUSY)
    ponderer, other = (
        Entrant(
            EngineSpec((sys.executable, "-c", PONDERER, name, str(reply), f"{tmp_path}/f"), name),
            limit, ponder=name == kind,
        )
        for name in (kind, "other")
    )
    result = play_game(game(ponderer, other, adjudication=Adjudication(max_moves=3)), engines)
    assert (len(result.moves), result.termination) == (6, "adjudication")
    white, black = result.oddities
    assert (white.late_answers > 0) == (kind == "early") and black.late_answers == 0


@pytest.mark.parametrize("ponder", [False, True])
def test_the_ponder_option_is_set_only_for_engines_that_may_ponder(ponder: bool) -> None:
    traced: list[bytes] = []
    with EngineCache(trace=lambda name, way, data: traced.append(data)) as watched:
        players = merels("A", ponder=ponder), merels("B")
        play_game(game(*players, adjudication=ONE_MOVE), watched)
    assert b"".join(traced).count(b"setoption name Ponder value true") == ponder
