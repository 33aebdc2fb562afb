"""The runner: games, their order, interrupts, and engines that do not start."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from merels.tournament.journal.journal import Journal, JournalError
from merels.tournament.journal.standings import Standings
from merels.tournament.records.games import Adjudication, GameSpec
from merels.tournament.records.settings import Settings
from merels.tournament.run.plan import Plan
from merels.tournament.statistics.sprt import Sprt
from tests.kit.executor import PairCall, Script, fails, plays
from tests.tournament.run.runs import Interrupting, Record, Run, as_planned
from tests.tournament.specs import engine, planned_games, settings


SHORT = Adjudication(max_moves=2)


def test_all_games_are_played_and_shown_in_order_with_any_concurrency() -> None:
    chosen = settings(2, rounds=2, adjudication=SHORT)
    games = []
    for workers in (1, 2):
        run = Run(chosen, workers=workers)
        assert run.play() == "finished"
        assert as_planned(run.rows, chosen)
        assert sorted(run.record.started_games) == run.record.ended == list(range(1, 5))
        assert run.board.standings.finished == 4 and not run.record.notices
        games.append([(row.number, row.moves, row.result) for row in run.rows])
    assert games[0] == games[1]


class Watching(Record):
    """Records the games in progress at each tick."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self.journal = journal
        self.playing_at_ticks: list[set[int]] = []

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        assert list(playing) == [spec.number for spec in playing.values()]
        assert not set(playing) & set(self.journal.numbers())
        self.playing_at_ticks.append(set(playing))


def test_games_in_progress_have_started_and_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game is no longer in progress after its end, even if earlier games are."""
    monkeypatch.setattr("merels.tournament.run.runner.TICK_SECONDS", 0.001)
    run = Run(settings(3, rounds=2), workers=3)
    watching = Watching(run.journal)
    run.board.views.append(watching)
    assert run.invent() == "finished"
    assert max(map(len, watching.playing_at_ticks)) <= 6, "a pair counts from its submission"
    assert set() < set().union(*watching.playing_at_ticks) <= set(range(1, 13))
    assert run.board.playing == {}


@pytest.mark.parametrize("size", [2, 3])
def test_shards_together_play_every_game_once(size: int) -> None:
    chosen = settings(3, rounds=2)
    rows = []
    for index in range(1, size + 1):
        run = Run(chosen, part=(index, size))
        assert run.invent() == "finished"
        assert run.board.plan.own_games == len(run.rows)
        rows += run.rows
    assert as_planned(sorted(rows), chosen)


def test_a_standard_executor_plays_the_planned_games() -> None:
    chosen = settings(2, rounds=2, adjudication=SHORT)
    run = Run(chosen)
    assert run.play(partial(ThreadPoolExecutor, 2)) == "finished"
    assert as_planned(run.rows, chosen) and sorted(run.record.started_games) == run.record.ended


def test_a_missing_engine_does_not_stop_games_of_other_engines() -> None:
    engines = (engine("A"), engine("B"), engine("C", command=("/no/such",)))
    chosen = settings(rounds=1, engines=engines, adjudication=SHORT)
    run = Run(chosen)
    assert run.play() == "stuck"
    assert [row.number for row in run.rows] == [
        game.number for game in planned_games(Plan(chosen))
        if "C" not in (game.white.name, game.black.name)
    ]
    failed_start, given_up = run.record.notices
    reason = "engine C does not start (no such engine: there is no file '/no/such')"
    assert failed_start.startswith(reason)
    assert "; its games wait, and it is tried again" in failed_start
    assert given_up.startswith(reason) and given_up.endswith(": its games are left unplayed")


def test_an_interrupt_finishes_games_in_progress_and_can_be_resumed(tmp_path: Path) -> None:
    chosen = settings(3, rounds=6)
    run = Run(chosen, tmp_path / "j")
    run.board.views.append(Interrupting(run.runner, 5))
    assert run.invent() == "interrupted"
    numbers = run.journal.numbers()
    assert 5 <= len(numbers) < 36 and run.record.ended == numbers
    run.journal.close()

    resumed = Run(chosen, tmp_path / "j")
    assert resumed.invent() == "finished"
    assert as_planned(resumed.rows, chosen)
    assert resumed.record.found_games == numbers
    assert sorted(resumed.record.ended + numbers) == list(range(1, 37))
    assert resumed.board.standings.finished == 36


def test_games_finished_out_of_order_are_shown_in_order_and_resumed_exactly(tmp_path: Path) -> None:
    chosen = settings(4, rounds=1, adjudication=SHORT)
    run = Run(chosen, tmp_path / "j")
    run.board.views.append(Interrupting(run.runner, 4))
    run.pool = partial(run.pool, ahead=6)
    assert run.play() == "interrupted"
    ended = run.record.ended
    assert ended == sorted(ended) and set(ended) == run.board.played
    run.journal.close()

    resumed = Run(chosen, tmp_path / "j")
    resumed.pool = partial(resumed.pool, ahead=6)
    assert resumed.play() == "finished"
    assert set(resumed.record.found_games) == set(ended)
    assert as_planned(resumed.rows, chosen)


@pytest.mark.parametrize("form", ["roundrobin", "swiss"])
def test_an_interrupt_in_the_last_game_changes_nothing(form: str) -> None:
    run = Run(settings(2, rounds=1, format=form), workers=1)
    run.board.views.append(Interrupting(run.runner, 2))
    assert run.invent() == "finished" and len(run.rows) == 2


def test_an_interrupt_between_two_rounds_leaves_the_second(tmp_path: Path) -> None:
    chosen = settings(4, rounds=2, format="swiss", adjudication=SHORT)
    run = Run(chosen, tmp_path / "j", workers=1)
    run.board.views.append(Interrupting(run.runner, 4))
    assert run.play() == "interrupted" and len(run.rows) == 4
    run.journal.close()
    resumed = Run(chosen, tmp_path / "j")
    assert resumed.invent() == "finished" and resumed.record.found_games == [1, 2, 3, 4]
    assert resumed.record.ended == [5, 6, 7, 8]


def test_a_finished_tournament_is_only_shown(tmp_path: Path) -> None:
    chosen = settings(2, rounds=1)
    Run(chosen, tmp_path / "j").invent()
    resumed = Run(chosen, tmp_path / "j")
    assert resumed.invent() == "finished"
    assert resumed.record.found_games == [1, 2] and resumed.record.started_games == []


def uneven_sprt() -> Settings:
    """Return settings with an SPRT that accepts H1 after few games."""
    sprt = Sprt(0, 50, model="logistic")
    return settings(rounds=500, sprt=sprt, engines=(engine("Strong", 3000), engine("Weak", 1)))


def test_an_sprt_stops_the_match_and_stays_decided(tmp_path: Path) -> None:
    chosen = uneven_sprt()
    run = Run(chosen, tmp_path / "j")
    assert run.invent() == "decided"
    assert run.board.verdict == "H1"
    played = len(run.rows)
    assert played < 200 and run.record.ended == [row.number for row in run.rows]
    run.journal.close()
    resumed = Run(chosen, tmp_path / "j")
    assert resumed.invent() == "decided" and resumed.board.verdict == "H1"
    assert len(resumed.rows) == resumed.board.standings.finished == played


def cannot_cancel() -> Executor:
    """Make an executor with a ``shutdown`` without ``cancel_futures``, like Dask's executor."""
    executor = Script()()
    shutdown = executor.shutdown
    executor.shutdown = lambda wait=True: shutdown(wait)  # type: ignore[method-assign,misc]
    return executor


def test_an_sprt_is_decided_on_an_executor_that_cannot_cancel() -> None:
    run = Run(uneven_sprt())
    assert run.play(cannot_cancel) == "decided" and run.board.verdict == "H1"


def fails_pair_one(call: PairCall) -> Future[Any]:
    """Fail every call for pair 1."""
    return (fails(OSError("node lost")) if call.task.games[0].pair == 1 else plays)(call)


def test_an_sprt_is_decided_although_a_pair_is_given_up() -> None:
    run = Run(uneven_sprt(), workers=1)
    assert run.play(Script(others=fails_pair_one)) == "decided" and run.board.verdict == "H1"
    assert run.rows[0].number == 3 and "*" not in {row.result for row in run.rows}


def test_a_full_journal_stops_the_run_which_can_be_resumed(tmp_path: Path) -> None:
    chosen = settings(2, rounds=100)
    run = Run(chosen, tmp_path / "j")
    database = run.journal._database
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    database.execute(f"PRAGMA max_page_count = {pages + 4}")
    with pytest.raises(JournalError, match="full"):
        run.invent()
    stored = run.journal.numbers()
    assert stored
    run.journal.close()
    resumed = Run(replace(chosen, rounds=101), tmp_path / "j")
    assert resumed.journal.numbers() == stored


def test_all_games_are_left_unplayed_if_no_engine_starts(tmp_path: Path) -> None:
    missing = tuple(engine(name, command=("/no/such",)) for name in "AB")
    run = Run(settings(rounds=50, engines=missing), tmp_path / "j")
    assert run.play() == "stuck" and run.rows == []
    names = [notice.split(" ")[1] for notice in run.record.notices]
    assert names == ["A", "B", "A", "B"], "each engine fails to start, and is then given up"
