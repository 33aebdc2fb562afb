"""Many games: hands the plan's tasks to an executor and takes in what comes back.

A task comes back with rows for the games that were played, and only those are closed. The rest of
it is handed out again: at once, when its engines start again (`Starts`), or after other pairs, when
the call failed.
"""

from __future__ import annotations

import queue
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass
from functools import partial
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
"""How often a pair's call may fail, while other pairs are played, before its games stay open."""
IN_A_ROW = 3
"""Failed calls in a row, no game in between, after which the workers are at fault, not a pair."""
TICK_SECONDS = 0.25

End = Literal["finished", "decided", "interrupted", "killed", "faulty", "stuck", "timed_out"]
"""All games are played; a test is decided; stopped after the games in progress; stopped at once;
stopped for an engine's faults; games are left whose engines do not start or whose pairs failed;
no worker can play."""


Trial = Callable[[], list[str]]
"""Tries the engines: an `InputError` ends the run, what it returns are notices."""


@dataclass(slots=True)
class _Failure:
    """A pair whose call failed and is to be made again."""

    task: PairTask
    why: str
    games: int
    """Games that had come back by then."""
    failures: int = 1
    """While other pairs were played; those without a game in between are the workers'."""
    breaks: int = 0
    """How often the whole executor broke meanwhile."""


class Runner:
    """Plays what the plan has and the journal has not, ``window`` tasks at a time.

    A pool holds as many more ready as `Pool.ahead` says. ``trial`` is called by a worker before any
    game. The run ends when an engine has lost ``max_faults`` games by its own fault; 0: never.
    """

    def __init__(
        self, board: Scoreboard, *, window: int = 1, trial: Trial | None = None,
        max_faults: int = 0,
    ) -> None:
        self.board = board
        self._window = window
        self._max_faults = max_faults
        self._faults = Counter[str]()
        """Games of this run that each engine lost by its own fault."""
        self._trial = trial
        """The engines still to be tried."""
        self._refusals = Refusals()
        self._pool: LocalPool | ForeignPool
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        """Calls for the runner's thread to make."""
        self._starts = Starts(len(board.standings.names) == 2)
        self._running = 0
        """Tasks that the executor has."""
        self._again: deque[PairTask] = deque()
        """Tasks that came back unplayed, through no fault of theirs."""
        self._failures: dict[int, _Failure] = {}
        """By pair: those whose last call failed."""
        self._failed: deque[int] = deque()
        """Pairs to hand out again."""
        self._left: list[_Failure] = []
        """Pairs that failed too often and stay open."""
        self._in_a_row = 0
        """Calls that failed since a game came back or the workers were renewed."""
        self._why = ""
        """How the last of them failed; empty once a game came back."""
        self._games = 0
        """Games that came back."""
        self._interrupts = 0

    def report(self, event: Started | Played | Finished) -> None:
        """Take a worker's report, from any thread."""
        self._events.put(partial(self._take_report, event))

    def interrupt(self, now: bool = False) -> None:
        """Stop after the games in progress; ``now``, or the second time, at once.

        Safe in a signal handler.
        """
        self._events.put(partial(self._take_interrupt, now))

    def wake(self) -> None:
        """Have the pool checked at once, from any thread."""
        self._events.put(lambda: None)

    def run(self, make_pool: Callable[[], LocalPool | ForeignPool]) -> End:
        """Play until there is nothing left to play, a test is decided or someone interrupts.

        Raises `JournalError` when a game cannot be recorded, and what a user's executor raises at
        its start; whatever happens, the pool's work has ended afterwards.
        """
        self._pool = make_pool()
        tasks = self._tasks()
        try:
            while not self._is_over():
                self._hand_out(tasks)
                if not self._running and (self._interrupts or not self._has_hope):
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
        ended = self._interrupts > 1 or self.board.verdict is not None
        return ended or self._pool.given_up

    @property
    def _is_faulty(self) -> bool:
        return 0 < self._max_faults <= max(self._faults.values(), default=0)

    @property
    def _has_hope(self) -> bool:
        """Whether something may be handed out later, now that nothing is running."""
        waits = self._again or self._failed or self._trial or not self._pool.ready
        return bool(waits) or self._in_a_row >= IN_A_ROW or self._starts.has_hope

    def _end(self, tasks: Iterator[PairTask | None]) -> End:
        """How the run ended; an interrupt after the last game has changed nothing."""
        if self.board.verdict is not None:
            return "decided"
        if not self.board.open and next(tasks, None) is None:
            return "finished"
        if self._interrupts > 1 or self._interrupts and self._pool.given_up:
            return "killed"
        if self._interrupts:
            return "faulty" if self._is_faulty else "interrupted"
        return "timed_out" if self._pool.given_up else "stuck"

    def _explain(self) -> None:
        """Name the games that stay open, and why."""
        for name, words, _ in self._starts.hopeless():
            self.board.notice(f"engine {name} {words}: its games stay open")
        for failure in self._left:
            pair, games = failure.task.games[0].pair, counted(len(failure.task.games), "game")
            self.board.notice(f"pair {pair} failed: {failure.why}; {games} of it stay open")

    def _tasks(self) -> Iterator[PairTask | None]:
        """Yield the remaining tasks; None if results have to come first."""
        board, plan = self.board, self.board.plan
        while tasks := plan.next_round():
            if plan.waits and any(task.without(board.played).games for task in tasks):
                board.paired()
            for task in filter(plan.is_ours, tasks):
                for spec in task.games:
                    board.expect(spec)
                left = task.without(board.played)
                if left.games:
                    yield left
                else:
                    board.show()
            while plan.must_wait(len(board.open)):
                yield None

    def _hand_out(self, tasks: Iterator[PairTask | None]) -> None:
        """Fill the window, once the engines are tried."""
        if self._in_a_row >= IN_A_ROW and not self._running:
            self._in_a_row = 0
            for failure in self._failures.values():
                failure.failures = 0
            self._pool.renew(self._why)
        window = self._window + self._pool.ahead
        while self._pool.ready and self._running < window and not self._interrupts:
            if self._is_over() or self._in_a_row >= IN_A_ROW:
                return
            if self._trial is not None:
                if not self._running:
                    self._try_engines(self._trial)
                return
            if (task := self._next_task(tasks)) is None:
                return
            self._submit(task)

    def _try_engines(self, trial: Trial) -> None:
        """Have a worker try the engines."""
        if left_out := self._refusals.left_out():
            self._pool.occupy(left_out)
        future = self._pool.submit(try_all, trial, left_out)
        self._running += 1
        future.add_done_callback(lambda done: self._events.put(partial(self._end_trial, done)))

    def _next_task(self, tasks: Iterator[PairTask | None]) -> PairTask | None:
        """The next task that can be played now; None if there is none yet."""
        while (task := self._draw(tasks)) is not None:
            if self._starts.admit(task):
                return task
            if self._starts.is_hopeless(task):
                self.board.skip(task.games)
                self.board.show()
        return None

    def _draw(self, tasks: Iterator[PairTask | None]) -> PairTask | None:
        """A task to hand out, if its engines may be tried; None if there is none yet."""
        if self._again:
            return self._again.popleft()
        task = self._starts.take() or self._next_failed(False)
        if task is None:
            resting = self._starts.resting()
            if not resting or self.board.plan.can_pair_without(resting):
                task = next(tasks, None)
        return task or self._next_failed(True)

    def _next_failed(self, is_last: bool) -> PairTask | None:
        """A pair whose call failed, if the last call did not, or ``is_last``: there is no other.

        One that was in progress each time that the executor broke is played alone, so that the next
        time has one culprit.
        """
        for pair in self._failed:
            failure = self._failures[pair]
            is_due = is_last or failure.games < self._games and not self._in_a_row
            if is_due and not (failure.breaks > 1 and self._running):
                self._failed.remove(pair)
                return failure.task
        return None

    def _submit(self, task: PairTask) -> None:
        """Hand a task over."""
        if left_out := self._starts.left_out(task):
            self._pool.occupy(left_out)
        future = self._pool.submit(play_pair, task, left_out)
        self._running += 1
        if self._pool.foreign:
            # Nobody tells when they begin: that they are handed over has to do.
            for spec in task.games:
                self.board.begin(spec.number)
        future.add_done_callback(lambda done: self._events.put(partial(self._finish, task, done)))

    def _wait(self) -> None:
        """Wait for one event, but no longer than a moment, and act on it."""
        try:
            act = self._events.get(timeout=TICK_SECONDS)
        except queue.Empty:
            pass
        else:
            act()
        self._tell(self._pool.check())
        self.board.tick()

    def _tell(self, notices: list[str]) -> None:
        for notice in notices:
            self.board.notice(notice)

    def _take_report(self, event: Started | Played | Finished) -> None:
        """Act on a worker's report."""
        if isinstance(event, Finished):
            self._take(event)
        elif isinstance(event, Played):
            self.board.go_on(event)
        else:
            self.board.begin(event.number)
            if (spec := self.board.playing.get(event.number)) is not None:
                self._tell(self._starts.succeed((spec.white.name, spec.black.name), None))

    def _take_interrupt(self, now: bool) -> None:
        """Act on an interrupt."""
        if now or self._pool.silent:
            self._interrupts += 2
        else:
            self._stop("")

    def _stop(self, why: str) -> None:
        """Stop after the games in progress, or at once if that was asked before."""
        self._interrupts += 1
        if self._interrupts == 1:
            self.board.notice(f"{why}finishing the games in progress; interrupt again to stop now")
            self._pool.finish_games()

    def _end_trial(self, future: Future[Tried]) -> None:
        """Begin with the games, once a worker has tried the engines; else another is to try.

        Raise `InputError` if an engine cannot play and no other worker may do better.
        """
        self._running -= 1
        if future.cancelled():
            return
        if future.exception() is not None:
            self._trial = None  # The calls for pairs will show what is wrong.
            return
        tried = future.result()
        if tried.refusal is not None:
            if self._refusals.add(tried.place):
                raise tried.refusal
            what = f"{tried.refusal.token.removeprefix('-')} {tried.refusal.expected}"
            self._tell([f"{tried.place}: {what}; another worker tries the engines"])
        elif not tried.handed_back:
            self._trial = None
            self._pool.note_work()
            self._tell(list(tried.notices))
            self._starts.succeed(self.board.standings.names, tried.place)

    def _finish(self, task: PairTask, future: Future[PairReport]) -> None:
        """Take a task's results, and have what is missing of it played later."""
        self._running -= 1
        self._starts.come_back(task)
        if future.cancelled():
            self._again.append(task)
            return
        if (error := future.exception()) is not None:
            why = (str(error).strip() or repr(error)).splitlines()[-1]
            return self._fail(task, why, isinstance(error, BrokenExecutor))
        report = future.result()
        if not is_report(report, task):
            return self._fail(task, f"the executor returned {shorten(repr(report))}", False)
        place = report.place if self._pool.foreign else None
        for game in report.games:
            self._take(game, place)
        left = task.without(self.board.played)
        if report.failures:
            self._tell(self._starts.fail(report.failures, place))
            for _, _, waiting in self._starts.hopeless():
                for other in waiting:
                    self.board.skip(other.games)
            self.board.show()
        if left.games:
            self._again.append(left)

    def _fail(self, task: PairTask, why: str, is_broken: bool) -> None:
        """Have a pair played again whose call failed, unless it fails while others do not."""
        if not self._why:
            self.board.notice(f"pair {task.games[0].pair} failed: {why}")
        self._in_a_row += 1
        self._why = why
        left = task.without(self.board.played)
        if not left.games:
            return
        pair = task.games[0].pair
        failure = self._failures.get(pair)
        if failure is None:
            failure = self._failures[pair] = _Failure(left, why, self._games)
        elif failure.games < self._games:
            failure.failures += 1
        failure.task, failure.why, failure.games = left, why, self._games
        failure.breaks += is_broken
        if failure.failures < ATTEMPTS:
            self._failed.append(pair)
            return
        self._left.append(self._failures.pop(pair))
        self.board.skip(left.games)
        self.board.show()

    def _take(self, game: Finished, place: Place | None = None) -> None:
        """Put a finished game on the board, once."""
        row = game.row
        self._in_a_row = 0
        if self._why:
            self._why = ""
            self.board.notice("games come back again")
        self._games += 1
        self._pool.note_work()
        self._tell(self._starts.succeed((row.white, row.black), place))
        if row.number in self.board.played:
            return
        self.board.end(row)
        self._failures.pop(row.pair, None)
        if culprit := row.culprit:
            self._faults[culprit] += 1
            if self._is_faulty and not self._interrupts:
                games = counted(self._max_faults, "game")
                self._stop(f"{culprit} lost {games} by its own fault (-maxfaults); ")
        for attempt in row.voided.splitlines():
            self.board.notice(f"game {row.number} was void and played again: {attempt}")
        self.board.show()
