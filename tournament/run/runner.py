"""The runner: submits the plan's tasks to a pool of workers and records their results.

Games that a task leaves unplayed are submitted again. After a failed start of an engine, they wait
until `Starts` admits the engine. After a failed call, they wait until another game is received, or
no other task is left.
"""

from __future__ import annotations

import queue
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Literal

from merels.engine.common.errors import shorten
from merels.engine.common.numbers import counted
from merels.tournament.records.games import PairTask
from merels.tournament.run.foreign_pool import ForeignPool
from merels.tournament.run.retries import Refusals, Starts
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.run.tasks import (
    Finished,
    PairReport,
    Place,
    Played,
    Started,
    Tried,
    is_report,
    play_pair,
    try_all,
)
from merels.tournament.run.worker_pool import LocalPool

ATTEMPTS = 3
"""Value of `_FailedPair.failures` at which the runner gives up a pair."""
RENEW_AFTER = 3
"""Failed calls in a row, without a game received in between, after which the pool is renewed."""
BLOCKED_SECONDS = 1.0
"""Seconds after which an interrupt that is not processed shows that the runner is blocked."""
TICK_SECONDS = 0.25
"""Longest time between two updates of the views, in seconds."""

End = Literal["finished", "decided", "interrupted", "killed", "faulty", "stuck", "timed_out"]
"""How a run ended.

- ``finished``: all games are played, or the plan's time is up
- ``decided``: the SPRT is decided
- ``interrupted``: stopped after the games in progress
- ``killed``: stopped at once
- ``faulty``: stopped because an engine lost ``max_faults`` games by its own fault
- ``stuck``: some games were given up, because their engines do not start or their pairs failed
- ``timed_out``: no worker can play
"""


Trial = Callable[[], list[str]]
"""Tries the engines and returns notices; an `InputError` that it raises ends the run."""


@dataclass(slots=True)
class _FailedPair:
    """A pair whose last call failed."""

    task: PairTask
    error: str
    received: int
    """Number of games that the run had received when the call failed."""
    failures: int = 1
    """Number of failed calls; a further one counts only if a game was received in between."""
    breaks: int = 0
    """Number of the pair's calls during which the executor broke."""


class Runner:
    """Plays the games of the plan that are missing from the journal.

    Up to ``window`` tasks run, and `Pool.ahead` more are queued. A worker calls ``trial`` before
    the first game. The run stops when an engine has lost ``max_faults`` games by its own fault; 0:
    no limit.
    """

    def __init__(
        self, board: Scoreboard, *, window: int = 1, trial: Trial | None = None,
        max_faults: int = 0,
    ) -> None:
        self.board = board
        self._window = window
        self._max_faults = max_faults
        self._faults = Counter[str]()
        """Engine name -> games of this run that it lost by its own fault."""
        self._trial = trial
        """The trial until a worker has completed it or its call fails; then None."""
        self._refusals = Refusals()
        self._pool: LocalPool | ForeignPool
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        """Functions for the runner's thread to call."""
        self._starts = Starts(len(board.standings.names) == 2)
        self._open_calls = 0
        """Number of submitted calls that have not returned."""
        self._unplayed: deque[PairTask] = deque()
        """Unplayed games of tasks whose call did not fail."""
        self._failed_pairs: dict[int, _FailedPair] = {}
        """Pair number -> the pair, if its last call failed."""
        self._retries: deque[int] = deque()
        """Numbers of the failed pairs to submit again."""
        self._given_up: list[_FailedPair] = []
        """Pairs that failed too often; their games stay unplayed."""
        self._failures_in_a_row = 0
        """Calls that failed since a game was received or the pool was renewed."""
        self._last_error = ""
        """Error of the last failed call; empty once a game was received."""
        self._received = 0
        """Number of games received."""
        self._stop_requests = 0
        """Requests to stop, by interrupts or ``-maxfaults``; an immediate stop counts as two."""
        self._is_time_up = False
        """Whether the plan's time was up, so that no further task is submitted."""
        self._interrupted_since: float | None = None
        """Monotonic time, in seconds, of the first interrupt that is not processed yet, or None."""

    def report(self, event: Started | Played | Finished) -> None:
        """Queue a worker's report, from any thread."""
        self._events.put(partial(self._process_report, event))

    def interrupt(self, now: bool = False) -> None:
        """Stop after the games in progress.

        With ``now``, on the second request to stop, or while the pool is ``silent``, stop at once.
        May be called from a signal handler, in the runner's thread only. Raise `KeyboardInterrupt`
        if an earlier interrupt has waited `BLOCKED_SECONDS`: the thread is then blocked, for
        example in a write to a pipe that no program reads.
        """
        since, time = self._interrupted_since, monotonic()
        if since is not None and time - since > BLOCKED_SECONDS:
            raise KeyboardInterrupt
        self._interrupted_since = time if since is None else since
        self._events.put(partial(self._process_interrupt, now))

    def wake(self) -> None:
        """Have `run` check the pool at once; may be called from any thread."""
        self._events.put(lambda: None)

    def run(self, make_pool: Callable[[], LocalPool | ForeignPool]) -> End:
        """Play until the run ends, and return how it ended.

        Raise `JournalError` if a game cannot be stored, `InputError` if an engine fails its trial,
        and any error that a user's executor raises at its start. The pool is shut down in any case.
        """
        self._pool = make_pool()
        tasks = self._tasks()
        try:
            while not self._is_over():
                self._check_time()
                self._hand_out(tasks)
                if not self._open_calls and (self._is_ending or not self._may_submit_later):
                    break
                self._wait()
            end = self._end(tasks)
            self.board.show_rest()
            if end in ("stuck", "timed_out"):
                self._explain()
            self.board.over(end)
            if end not in ("finished", "interrupted", "faulty", "stuck"):
                self._pool.kill()
            elif (trouble := self._pool.close()) is not None:
                self.board.notice(trouble)
            return end
        except BaseException as error:
            self._pool.kill()
            self.board.over("failed", str(error) or repr(error))
            raise

    def _is_over(self) -> bool:
        ended = self._stop_requests > 1 or self.board.verdict is not None
        return ended or self._pool.given_up

    @property
    def _is_ending(self) -> bool:
        """Whether no further task is submitted."""
        return self._stop_requests > 0 or self._is_time_up

    def _check_time(self) -> None:
        """Take the queued tasks back when the plan's time is up."""
        if self.board.plan.is_time_up and not self._is_time_up:
            self._is_time_up = True
            self._pool.withdraw()

    @property
    def _reached_max_faults(self) -> bool:
        return 0 < self._max_faults <= max(self._faults.values(), default=0)

    @property
    def _may_submit_later(self) -> bool:
        """Whether a task may be submitted later, although no call is running."""
        waits = self._unplayed or self._retries or self._trial or not self._pool.ready
        return bool(waits) or self._failures_in_a_row >= RENEW_AFTER or self._starts.has_playable

    def _end(self, tasks: Iterator[PairTask | None]) -> End:
        """Return how the run ended; an interrupt after the last game is ignored."""
        if self.board.verdict is not None:
            return "decided"
        if not self.board.open and next(tasks, None) is None:
            return "finished"
        if self._stop_requests > 1 or self._stop_requests and self._pool.given_up:
            return "killed"
        if self._stop_requests:
            return "faulty" if self._reached_max_faults else "interrupted"
        if self._pool.given_up:
            return "timed_out"
        has_lost_games = self._given_up or any(self._starts.given_up())
        return "finished" if self._is_time_up and not has_lost_games else "stuck"

    def _explain(self) -> None:
        """Report the engines and the pairs that were given up, and the reasons."""
        for name, error, _ in self._starts.given_up():
            self.board.notice(f"engine {name} {error}: its games are left unplayed")
        for failed in self._given_up:
            pair, games = failed.task.games[0].pair, counted(len(failed.task.games), "game")
            self.board.notice(f"pair {pair} failed: {failed.error}; {games} left unplayed")

    def _tasks(self) -> Iterator[PairTask | None]:
        """Yield the remaining tasks, or None while the next round waits for results."""
        board, plan = self.board, self.board.plan
        while tasks := plan.next_round(self._starts.paused()):
            if plan.waits:
                board.check(tasks)
                if any(task.without(board.played).games for task in tasks):
                    board.paired()
            for task in filter(plan.is_ours, tasks):
                for spec in task.games:
                    board.expect(spec)
                unplayed = task.without(board.played)
                if unplayed.games:
                    yield unplayed
                else:
                    board.show()
            while plan.must_wait(len(board.open), self._starts.paused()):
                yield None

    def _hand_out(self, tasks: Iterator[PairTask | None]) -> None:
        """Renew a failing pool; submit the trial of the engines, or tasks to fill the window.

        At least one task is submitted, but no further one while an event waits.
        """
        if self._failures_in_a_row >= RENEW_AFTER and not self._open_calls:
            self._failures_in_a_row = 0
            for failed in self._failed_pairs.values():
                failed.failures = 0
            self._pool.renew(self._last_error)
        window = self._window + self._pool.ahead
        while self._pool.ready and self._open_calls < window and not self._is_ending:
            if self._is_over() or self._failures_in_a_row >= RENEW_AFTER:
                return
            if self._trial is not None:
                if not self._open_calls:
                    self._try_engines(self._trial)
                return
            if (task := self._next_task(tasks)) is None:
                return
            self._submit(task)
            if not self._events.empty():
                return

    def _try_engines(self, trial: Trial) -> None:
        if left_out := self._refusals.left_out():
            self._pool.occupy(left_out)
        future = self._pool.submit(try_all, trial, left_out)
        self._open_calls += 1
        future.add_done_callback(lambda done: self._events.put(partial(self._process_trial, done)))

    def _next_task(self, tasks: Iterator[PairTask | None]) -> PairTask | None:
        """Return the next task that can be played now, or None."""
        while (task := self._next_candidate(tasks)) is not None:
            if self._starts.admit(task):
                return task
            if self._starts.is_given_up(task):
                self.board.skip(task.games)
                self.board.show()
        return None

    def _next_candidate(self, tasks: Iterator[PairTask | None]) -> PairTask | None:
        """Return the next task, or None; its engines may have to wait."""
        if self._unplayed:
            return self._unplayed.popleft()
        task = self._starts.next_waiting() or self._next_retry(no_other_task=False)
        if task is None:
            paused = self._starts.paused()
            if not paused or self.board.plan.can_pair_without(paused):
                task = next(tasks, None)
        return task or self._next_retry(no_other_task=True)

    def _next_retry(self, no_other_task: bool) -> PairTask | None:
        """Return a failed pair that may be submitted again, or None.

        Unless there is ``no_other_task``, a game must have been received since the pair failed,
        and `_failures_in_a_row` must be 0. If the executor broke twice or more during the calls of
        a pair, the pair waits until no call is open: the next break then has only one suspect.
        """
        for pair in self._retries:
            failed = self._failed_pairs[pair]
            is_due = failed.received < self._received and not self._failures_in_a_row
            if (is_due or no_other_task) and not (failed.breaks > 1 and self._open_calls):
                self._retries.remove(pair)
                return failed.task
        return None

    def _submit(self, task: PairTask) -> None:
        if left_out := self._starts.left_out(task):
            self._pool.occupy(left_out)
        future = self._pool.submit(play_pair, task, left_out)
        self._open_calls += 1
        if self._pool.foreign:
            # Foreign workers do not report when games start, so they count as started now.
            for spec in task.games:
                self.board.begin(spec.number)
        future.add_done_callback(
            lambda done: self._events.put(partial(self._process_result, task, done))
        )

    def _wait(self) -> None:
        """Process the next event, or wait `TICK_SECONDS`; then check the pool and update views."""
        try:
            act = self._events.get(timeout=TICK_SECONDS)
        except queue.Empty:
            pass
        else:
            act()
        self.board.notice(*self._pool.check())
        self.board.tick()

    def _process_report(self, event: Started | Played | Finished) -> None:
        if isinstance(event, Finished):
            self._process_game(event)
        elif isinstance(event, Played):
            self.board.go_on(event)
        else:
            self.board.begin(event.number, event.time)
            if (spec := self.board.playing.get(event.number)) is not None:
                self.board.notice(*self._starts.succeed((spec.white.name, spec.black.name), None))

    def _process_interrupt(self, now: bool) -> None:
        self._interrupted_since = None
        if now or self._pool.silent:
            self._stop_requests += 2
        else:
            self._stop("")

    def _stop(self, why: str) -> None:
        """Stop after the games in progress, or at once if this is the second request."""
        self._stop_requests += 1
        if self._stop_requests == 1:
            self.board.notice(f"{why}finishing the games in progress; interrupt again to stop now")
            self._pool.finish_games()

    def _process_trial(self, future: Future[Tried]) -> None:
        """Process the result of a trial: start the games, or let another worker try the engines.

        Raise `InputError` if an engine, and not only one worker, is at fault.
        """
        self._open_calls -= 1
        if future.cancelled():
            return
        if future.exception() is not None:
            self._trial = None  # The calls for pairs will report the error.
            return
        tried = future.result()
        if tried.refusal is not None:
            if self._refusals.add(tried.place):
                raise tried.refusal
            fault = f"{tried.refusal.token.removeprefix('-')} {tried.refusal.expected}"
            self.board.notice(f"{tried.place}: {fault}; another worker tries the engines")
        elif not tried.handed_back:
            self._trial = None
            self._pool.note_work()
            self.board.notice(*tried.notices)
            self._starts.succeed(self.board.standings.names, tried.place)

    def _process_result(self, task: PairTask, future: Future[PairReport]) -> None:
        """Process the result of a task, and queue its unplayed games again."""
        self._open_calls -= 1
        self._starts.task_returned(task)
        if future.cancelled():
            self._unplayed.append(task)
            return
        if (error := future.exception()) is not None:
            text = (str(error).strip() or repr(error)).splitlines()[-1]
            return self._process_failure(task, text, isinstance(error, BrokenExecutor))
        report = future.result()
        if not is_report(report, task):
            text = f"the executor returned {shorten(repr(report))}"
            return self._process_failure(task, text, False)
        place = report.place if self._pool.foreign else None
        for game in report.games:
            self._process_game(game, place)
        unplayed = task.without(self.board.played)
        if report.failures:
            self.board.notice(*self._starts.fail(report.failures, place))
            self._skip_waiting()
        if unplayed.games:
            self._unplayed.append(unplayed)

    def _skip_waiting(self) -> None:
        """Show later games without waiting for those of engines that were given up."""
        for _, _, waiting in self._starts.given_up():
            for task in waiting:
                self.board.skip(task.games)
        self.board.show()

    def _process_failure(self, task: PairTask, error: str, is_broken: bool) -> None:
        """Queue a pair again after a failed call, or give it up after `ATTEMPTS` failures."""
        pair = task.games[0].pair
        if not self._last_error:
            self.board.notice(f"pair {pair} failed: {error}")
        self._failures_in_a_row += 1
        self._last_error = error
        unplayed = task.without(self.board.played)
        if not unplayed.games:
            return
        failed = self._failed_pairs.get(pair)
        if failed is None:
            failed = self._failed_pairs[pair] = _FailedPair(unplayed, error, self._received)
        elif failed.received < self._received:
            failed.failures += 1
        failed.task, failed.error, failed.received = unplayed, error, self._received
        failed.breaks += is_broken
        if failed.failures < ATTEMPTS:
            self._retries.append(pair)
            return
        self._given_up.append(self._failed_pairs.pop(pair))
        self.board.skip(unplayed.games)
        self.board.show()

    def _process_game(self, game: Finished, place: Place | None = None) -> None:
        """Reset the counts of failures, and record the game unless it was recorded before."""
        row = game.row
        self._failures_in_a_row = 0
        if self._last_error:
            self._last_error = ""
            self.board.notice("games come back again")
        self._received += 1
        self._pool.note_work()
        self.board.notice(*self._starts.succeed((row.white, row.black), place))
        if row.number in self.board.played:
            return
        if objections := self.board.plan.objections(row):
            self.board.notice(*self._starts.exclude(objections))
            self._skip_waiting()
            return
        self.board.end(row, game.time)
        self._failed_pairs.pop(row.pair, None)
        if culprit := row.culprit:
            self._faults[culprit] += 1
            if self._reached_max_faults and not self._stop_requests:
                games = counted(self._max_faults, "game")
                self._stop(f"{culprit} lost {games} by its own fault (-maxfaults); ")
        self.board.show()
