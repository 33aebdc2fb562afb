"""The runner with real worker and engine processes: games, their order, interrupts, failures."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar

import pytest

from merels.protocol.formats.pgn.reader import parse_records
from merels.tournament.journal.journal import Journal, JournalError
from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.games import Adjudication, GameSpec, PairTask, TimeControl
from merels.tournament.records.settings import Settings
from merels.tournament.run import retries
from merels.tournament.run.foreign_pool import ForeignPool
from merels.tournament.run.plan import Plan
from merels.tournament.run.runner import End, Runner
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.run.tasks import PairReport, Place, Played, play_pair
from merels.tournament.run.view import View
from merels.tournament.run.worker_pool import LocalPool
from merels.tournament.statistics.sprt import Sprt
from merels.tournament.views.pgn import GameWriter, PgnView
from merels.tournament.views.pgn_file import PgnFile
from tests.tournament.specs import NOTES, engine, planned_games, resumed_journal, settings

pytestmark = pytest.mark.thorough


class Record(View):
    """Records the events that a view receives."""

    def __init__(self) -> None:
        self.started_games: list[int] = []
        self.ended: list[int] = []
        self.found_games: list[int] = []
        self.notices: list[str] = []
        self.progress: list[Played] = []

    def game_continued(self, played: Played) -> None:
        self.progress.append(played)

    def game_started(self, spec: GameSpec, time: str) -> None:
        self.started_games.append(spec.number)

    def finished_in_order(self, row: Row, standings: Standings) -> None:
        assert row.number not in self.ended and standings.finished > 0
        self.ended.append(row.number)

    def found_in_journal(self, row: Row, standings: Standings) -> None:
        self.found_games.append(row.number)

    def notice(self, text: str) -> None:
        self.notices.append(text)


class Run:
    """A runner with a journal and a record of its events; it resumes the journal at ``path``."""

    def __init__(
        self, chosen: Settings, path: Path | None = None, workers: int = 2,
        part: tuple[int, int] = (1, 1),
    ) -> None:
        self.journal = resumed_journal(None if path is None else str(path), chosen, NOTES)
        self.record = Record()
        self.board = Scoreboard(Plan(chosen, part), self.journal, [self.record])
        self.runner = Runner(self.board, window=workers)
        self.pool = partial(LocalPool, workers, self.runner.report)

    def play(self, make_executor: Callable[[], Executor] | None = None, wait: float = 120.0) -> End:
        """Play on local workers, or on executors; for ``wait``, see `ForeignPool`."""
        if make_executor is None:
            return self.runner.run(self.pool)
        return self.runner.run(partial(ForeignPool, make_executor, self.runner.wake, wait))

    @property
    def rows(self) -> list[Row]:
        return list(self.journal.rows())


def as_planned(rows: Iterable[Row], chosen: Settings) -> bool:
    """Return whether these are exactly the planned games, each ended by the rules."""
    return [(r.number, r.pair, r.white, r.black, r.opening, r.termination) for r in rows] == [
        (g.number, g.pair, g.white.name, g.black.name, " ".join(g.opening.moves), "normal")
        for g in planned_games(Plan(chosen))
    ]


def script(tmp_path: Path, body: str) -> tuple[str, ...]:
    """Return the command of an engine that runs ``body`` and then plays normally.

    ``body`` may use ``flag``, the path of a file that does not exist at first.
    """
    path = tmp_path / "fake.py"
    loop = "\nfrom merels.protocol.uci.loop import main\nsys.exit(main())\n"
    path.write_text(f"import os, signal, sys\nflag = sys.argv[1]\n{body}{loop}")
    return (sys.executable, "-P", str(path), str(tmp_path / "flag"))


def test_a_watched_game_is_reported_move_by_move() -> None:
    slow = TimeControl(per_move=40_000_000, margin=10**10)
    engines = tuple(replace(engine(name), limit=slow) for name in "AB")
    run = Run(replace(
        settings(2, rounds=1, games=1), engines=engines, adjudication=Adjudication(max_moves=20)
    ))
    run.pool = partial(run.pool, watched=True)
    assert run.play() == "finished"
    (row,) = run.rows
    moves = [move for played in run.record.progress for move in played.moves]
    assert moves and moves == row.played()[: len(moves)]
    assert len(run.record.progress) > 1
    reported = 0
    for played in run.record.progress:
        assert played.reported == reported
        reported += len(played.moves)


@pytest.mark.quick
def test_all_games_are_played_and_shown_in_order() -> None:
    chosen = settings(4, rounds=2)
    run = Run(chosen, workers=3)
    assert run.play() == "finished"
    assert as_planned(run.rows, chosen)
    assert sorted(run.record.started_games) == run.record.ended == list(range(1, 25))
    assert run.board.standings.finished == 24 and not run.record.notices


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


def test_games_in_progress_have_started_and_not_ended() -> None:
    """A game is no longer in progress after its end, even if earlier games are."""
    run = Run(settings(3, rounds=2), workers=3)
    watching = Watching(run.journal)
    run.board.views.append(watching)
    assert run.play() == "finished"
    assert max(map(len, watching.playing_at_ticks)) <= 3
    assert set().union(*watching.playing_at_ticks) == set(range(1, 13))
    assert run.board.playing == {}


@pytest.mark.quick
def test_the_games_do_not_depend_on_the_concurrency() -> None:
    games = []
    for workers in (1, 3):
        run = Run(settings(3, rounds=1), workers=workers)
        run.play()
        games.append([(row.number, row.moves, row.result) for row in run.rows])
    assert games[0] == games[1]


@pytest.mark.parametrize("size", [2, 3])
def test_shards_together_play_every_game_once(size: int) -> None:
    chosen = settings(3, rounds=2)
    rows = []
    for index in range(1, size + 1):
        run = Run(chosen, part=(index, size))
        assert run.play() == "finished"
        assert run.board.plan.own_games == len(run.rows)
        rows += run.rows
    assert as_planned(sorted(rows), chosen)


@pytest.mark.parametrize("make", [
    partial(ThreadPoolExecutor, 2),
    partial(ProcessPoolExecutor, 2, mp_context=get_context("spawn")),
], ids=["threads", "processes"])
def test_a_standard_executor_plays_the_planned_games(make: Callable[[], Executor]) -> None:
    chosen = settings(2, rounds=3)
    run = Run(chosen)
    assert run.play(make) == "finished"
    assert as_planned(run.rows, chosen) and sorted(run.record.started_games) == run.record.ended


class LosesPairs(Executor):
    """Answers the first calls for pairs with the functions in `fates`, and plays later pairs."""

    fates: ClassVar[list[Callable[[], Future[Any]]]] = []
    """Shared by all instances, so that a function that was used once is not used again."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(1)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if fn is play_pair and self.fates:
            return self.fates.pop(0)()
        return self.threads.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.threads.shutdown(wait, cancel_futures=cancel_futures)


def failed(error: BaseException) -> Future[Any]:
    """Return a future that has failed."""
    future: Future[Any] = Future()
    future.set_exception(error)
    return future


def cancelled() -> Future[Any]:
    """Return a cancelled future, as Dask's executor does when it loses its scheduler."""
    future: Future[Any] = Future()
    future.cancel()
    future.set_running_or_notify_cancel()
    return future


def refused() -> Future[Any]:
    """Raise the error of Dask's executor when its client is closed."""
    raise RuntimeError("Client is closed")


def broken() -> Future[Any]:
    """Raise the error of a process pool after one of its workers was killed."""
    raise BrokenExecutor("gone")


@pytest.mark.parametrize("fate", [cancelled, refused, broken])
@pytest.mark.parametrize(
    "chosen", [settings(2, rounds=3), settings(4, rounds=1, format="swiss")], ids=["match", "swiss"]
)
def test_a_pair_lost_by_an_executor_is_played_on_the_next_one(
    chosen: Settings, fate: Callable[[], Future[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LosesPairs, "fates", [fate])
    run = Run(chosen)
    assert run.play(LosesPairs) == "finished"
    assert as_planned(run.rows, chosen)
    lost, replaced = run.record.notices
    assert lost.startswith("the executor is lost: ")
    assert replaced.startswith("a new executor answers")


class Refusing(LosesPairs):
    """Refuses all calls, except that the first executor accepts them until a second is made."""

    shut: ClassVar[list[Executor]] = []
    made: ClassVar[list[Executor]] = []

    def __init__(self) -> None:
        super().__init__()
        self.made.append(self)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(fn, *args, **kwargs) if len(self.made) == 1 else refused()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.shut.append(self)
        super().shutdown(wait, cancel_futures=cancel_futures)


def test_new_executors_that_refuse_all_calls_end_the_run_and_are_shut_down(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LosesPairs, "fates", [broken])
    run = Run(settings(2, rounds=3))
    assert run.play(Refusing) == "timed_out" and "*" not in {row.result for row in run.rows}
    assert len(Refusing.made) == retries.MAX_FAILURES and set(Refusing.shut) == set(Refusing.made)
    lost, given_up = run.record.notices
    assert lost == "the executor is lost: BrokenExecutor('gone'); waiting for a new one"
    assert given_up.startswith("5 executors in a row have failed: ")
    assert "Client is closed" in given_up


def play_or_die(task: PairTask, left_out: frozenset[Place], number: int) -> PairReport:
    """Play a pair, but end the process instead if it is pair 1."""
    if task.games[0].pair == 1:
        os._exit(1)
    return play_pair(task, left_out, number)


class BreaksAtPairOne(ProcessPoolExecutor):
    """A process pool, which breaks as a whole when one of its processes dies."""

    def __init__(self) -> None:
        super().__init__(2, mp_context=get_context("spawn"))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(play_or_die if fn is play_pair else fn, *args, **kwargs)


def test_a_pair_that_breaks_a_process_pool_loses_no_other_pair() -> None:
    run = Run(settings(2, rounds=2))
    assert run.play(BreaksAtPairOne) == "timed_out"
    assert [row.number for row in run.rows] == [3, 4] and run.board.open == {1, 2}


class LacksMerels(ThreadPoolExecutor):
    """Plays ``pairs`` pairs, then fails like a cluster whose workers cannot import merels."""

    def __init__(
        self, pairs: int = 0, error: Exception = ModuleNotFoundError("No module named 'merels'")
    ) -> None:
        super().__init__(1)
        self.pairs_left, self.error = pairs, error

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.pairs_left -= fn is play_pair
        return super().submit(fn, *args, **kwargs) if self.pairs_left >= 0 else failed(self.error)


def test_an_exception_without_a_message_is_reported_by_its_type() -> None:
    run = Run(settings(2, rounds=1))
    assert run.play(partial(LacksMerels, error=RuntimeError("\n"))) == "timed_out"
    assert "RuntimeError" in run.record.notices[0]


@pytest.mark.parametrize("workers", [1, 4])
def test_workers_that_cannot_play_stop_the_run_and_lose_no_game(workers: int) -> None:
    run = Run(settings(rounds=30), workers=workers)
    assert run.play(LacksMerels) == "timed_out" and run.rows == []
    assert run.record.notices[-1] == (
        "5 executors in a row have failed: No module named 'merels'; given up"
    )


def test_workers_that_fail_after_a_while_are_replaced() -> None:
    chosen = settings(2, rounds=4)
    run = Run(chosen, workers=1)
    assert run.play(partial(LacksMerels, 1)) == "finished" and as_planned(run.rows, chosen)


@pytest.mark.skipif(sys.platform == "win32", reason="limits a process's descriptors")
def test_a_machine_that_starts_no_worker_stops_the_run_and_loses_no_game(tmp_path: Path) -> None:
    import resource

    run = Run(settings(rounds=30), tmp_path / "j", workers=4)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The limit leaves one free descriptor, too few for the pipes of a worker.
    with open(os.devnull) as lowest_free:
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free.fileno() + 1, hard))
    try:
        assert run.play() == "timed_out"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert run.rows == []
    assert run.record.notices[-1].startswith(
        "the workers failed 5 times in a row: cannot start a worker process: "
    )


def test_a_killed_worker_has_its_pair_played_again(tmp_path: Path) -> None:
    command = script(tmp_path, """
if not os.path.exists(flag):
    open(flag, "w").close()
    os.kill(os.getppid(), signal.SIGKILL)
""")
    chosen = settings(rounds=3, engines=(engine("A", command=command), engine("B")))
    run = Run(chosen)
    assert run.play() == "finished"
    assert as_planned(run.rows, chosen)
    assert any("worker" in notice for notice in run.record.notices)


def test_pairs_that_always_kill_their_worker_are_given_up_and_others_played(tmp_path: Path) -> None:
    command = script(tmp_path, "os.kill(os.getppid(), signal.SIGKILL)")
    engines = (engine("A"), engine("B"), engine("C", command=command))
    run = Run(settings(rounds=1, engines=engines))
    assert run.play() in ("stuck", "timed_out")
    assert [(row.white, row.black) for row in run.rows] == [("A", "B"), ("B", "A")]
    assert "*" not in {row.result for row in run.rows}


def test_a_missing_engine_does_not_stop_games_of_other_engines() -> None:
    engines = (engine("A"), engine("B"), engine("C", command=("/no/such",)))
    chosen = settings(rounds=3, engines=engines)
    run = Run(chosen)
    assert run.play() == "stuck"
    assert [row.number for row in run.rows] == [
        game.number for game in planned_games(Plan(chosen))
        if "C" not in (game.white.name, game.black.name)
    ]
    assert {row.termination for row in run.rows} == {"normal"}
    failed_start, given_up = run.record.notices
    reason = "engine C does not start (no such engine: there is no file '/no/such')"
    assert failed_start.startswith(reason)
    assert "; its games wait, and it is tried again" in failed_start
    assert given_up.startswith(reason) and given_up.endswith(": its games are left unplayed")


class Interrupting(View):
    """Interrupts the run at the end of the game with number ``after``."""

    def __init__(self, runner: Runner, after: int) -> None:
        self.runner, self.after = runner, after

    def finished_in_order(self, row: Row, standings: Standings) -> None:
        if row.number == self.after:
            self.runner.interrupt()


class Stopping(View):
    """Stops the run, also the games in progress, when ``after`` games are in the journal."""

    def __init__(self, runner: Runner, after: int) -> None:
        self.runner, self.after = runner, after

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        if len(self.runner.board.played) >= self.after:
            self.runner.interrupt(now=True)


def test_the_pgn_is_in_order_after_games_were_left_out_and_played_later(tmp_path: Path) -> None:
    command = script(tmp_path, """
import time
try:
    os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    time.sleep(60)
except FileExistsError:
    pass
""")
    late = replace(engine("B", command=command), start_timeout=60.0)
    chosen = settings(rounds=4, engines=(engine("A"), late))
    path, writer = tmp_path / "games.pgn", GameWriter(chosen, "x")
    # The first run is stopped after 6 games; the second run ends with all 8 games.
    for after, end, count in ((6, "killed", 6), (9, "finished", 8)):
        run = Run(chosen, tmp_path / "j")
        pgn = PgnView(PgnFile(str(path), writer, run.journal.rows), writer, print)
        run.board.views += [pgn, Stopping(run.runner, after)]
        assert run.play() == end
        pgn.close()
        run.journal.close()
        assert len(list(parse_records(path.read_text()))) == count
    ids = [record.tags["GameId"] for record in parse_records(path.read_text())]
    assert ids == [f"x-{number}" for number in range(1, 9)]


def test_an_interrupt_finishes_games_in_progress_and_can_be_resumed(tmp_path: Path) -> None:
    chosen = settings(3, rounds=6)
    run = Run(chosen, tmp_path / "j")
    run.board.views.append(Interrupting(run.runner, 5))
    assert run.play() == "interrupted"
    numbers = run.journal.numbers()
    assert 5 <= len(numbers) < 36 and run.record.ended == numbers
    run.journal.close()

    resumed = Run(chosen, tmp_path / "j")
    assert resumed.play() == "finished"
    assert as_planned(resumed.rows, chosen)
    assert resumed.record.found_games == numbers
    assert sorted(resumed.record.ended + numbers) == list(range(1, 37))
    assert resumed.board.standings.finished == 36


def test_games_finished_out_of_order_are_shown_in_order_and_resumed_exactly(tmp_path: Path) -> None:
    chosen = settings(6, rounds=2)
    run = Run(chosen, tmp_path / "j")
    run.board.views.append(Interrupting(run.runner, 9))
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
    assert run.play() == "finished" and len(run.rows) == 2


def test_an_interrupt_between_two_rounds_leaves_the_second(tmp_path: Path) -> None:
    chosen = settings(4, rounds=2, format="swiss")
    run = Run(chosen, tmp_path / "j", workers=1)
    run.board.views.append(Interrupting(run.runner, 4))
    assert run.play() == "interrupted" and len(run.rows) == 4
    run.journal.close()
    resumed = Run(chosen, tmp_path / "j")
    assert resumed.play() == "finished" and resumed.record.found_games == [1, 2, 3, 4]
    assert resumed.record.ended == [5, 6, 7, 8]


def test_a_finished_tournament_is_only_shown(tmp_path: Path) -> None:
    chosen = settings(2, rounds=1)
    Run(chosen, tmp_path / "j").play()
    resumed = Run(chosen, tmp_path / "j")
    assert resumed.play() == "finished"
    assert resumed.record.found_games == [1, 2] and resumed.record.started_games == []


def uneven_sprt() -> Settings:
    """Return settings with an SPRT that accepts H1 after few games."""
    sprt = Sprt(0, 50, model="logistic")
    return settings(rounds=500, sprt=sprt, engines=(engine("Strong", 3000), engine("Weak", 1)))


def test_an_sprt_stops_the_match_and_stays_decided(tmp_path: Path) -> None:
    chosen = uneven_sprt()
    run = Run(chosen, tmp_path / "j")
    assert run.play() == "decided"
    assert run.board.verdict == "H1"
    played = len(run.rows)
    assert played < 200 and run.record.ended == [row.number for row in run.rows]
    run.journal.close()
    resumed = Run(chosen, tmp_path / "j")
    assert resumed.play() == "decided" and resumed.board.verdict == "H1"
    assert len(resumed.rows) == resumed.board.standings.finished == played


class CannotCancel(ThreadPoolExecutor):
    """Has a ``shutdown`` without ``cancel_futures``, like Dask's executor."""

    def shutdown(self, wait: bool = True) -> None:  # type: ignore[override]
        super().shutdown(wait, cancel_futures=not wait)


def test_an_sprt_is_decided_on_an_executor_that_cannot_cancel() -> None:
    run = Run(uneven_sprt())
    assert run.play(partial(CannotCancel, 1)) == "decided" and run.board.verdict == "H1"


class FailsPairOne(ThreadPoolExecutor):
    """Fails every call for pair 1."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if fn is play_pair and args[0].games[0].pair == 1:
            return failed(OSError("node lost"))
        return super().submit(fn, *args, **kwargs)


def test_an_sprt_is_decided_although_a_pair_is_given_up() -> None:
    run = Run(uneven_sprt(), workers=1)
    assert run.play(partial(FailsPairOne, 1)) == "decided" and run.board.verdict == "H1"
    assert run.rows[0].number == 3 and "*" not in {row.result for row in run.rows}


def test_a_full_journal_stops_the_run_which_can_be_resumed(tmp_path: Path) -> None:
    chosen = settings(2, rounds=100)
    run = Run(chosen, tmp_path / "j")
    database = run.journal._database
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    database.execute(f"PRAGMA max_page_count = {pages + 4}")
    with pytest.raises(JournalError, match="full"):
        run.play()
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
