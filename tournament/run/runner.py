"""Many games: hands the plan's tasks to an executor and takes in what comes back."""

from __future__ import annotations

import queue
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Literal, NamedTuple

from merels.engine.common.errors import Failure, InputError
from merels.tournament.records.games import GameResult, PairTask
from merels.tournament.run.foreign_pool import ForeignPool
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.run.tasks import Finished, Played, Started, finished, play_pair
from merels.tournament.run.withdrawal import FAILED_STARTS, Withdrawals
from merels.tournament.run.worker_pool import LocalPool

ATTEMPTS = 3
"""How often a task is tried whose worker dies. Then its games are recorded as broken off, or the
run stops if it is the workers that cannot play."""
TICK_SECONDS = 0.25

End = Literal["finished", "decided", "interrupted", "killed", "stuck", "deserted"]
"""All games are played; a test is decided; stopped after the games in progress; stopped at once; no
engine starts, or none to test against; nothing comes back from the executor."""


class WorkerError(Failure):
    """No worker gets as far as playing a game: the machine is at fault, not a pair."""


class _Done(NamedTuple):
    """The executor has finished with a task."""

    task: PairTask
    future: Future[list[Finished]]


class _Tried(NamedTuple):
    """A worker has tried the engines, or has failed to."""

    future: Future[list[str]]


class _Interrupt(NamedTuple):
    """A request to stop, after the games in progress or ``now``."""

    now: bool


_Event = Started | Played | Finished | _Done | _Tried | _Interrupt | None
"""None: the pool is to be checked."""

Trial = Callable[[], list[str]]
"""Tries the engines: an `InputError` ends the run, what it returns are notices."""


class Runner:
    """Plays what the plan has and the journal has not, ``window`` tasks at a time.

    A pool holds as many more ready as `Pool.ahead` says. ``trial`` is called by a worker before any
    game.
    """

    def __init__(self, board: Scoreboard, *, window: int = 1, trial: Trial | None = None) -> None:
        self.board = board
        self._window = window
        self._trial = trial
        """What is still to be tried."""
        self._pool: LocalPool | ForeignPool
        self._events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
        self._withdrawals = Withdrawals()
        self._running = 0
        """Tasks that the executor has."""
        self._again: deque[PairTask] = deque()
        """What is left of tasks that failed."""
        self._failures: Counter[int] = Counter()
        """By pair: how often it failed, until it is played or given up."""
        self._workers_play = False
        """Whether a worker has begun a game, or has returned one: foreign ones tell no more."""
        self._interrupts = 0

    def report(self, event: Started | Played | Finished) -> None:
        """Take a worker's report, from any thread."""
        self._events.put(event)

    def interrupt(self, now: bool = False) -> None:
        """Stop after the games in progress; ``now``, or the second time, at once.

        Safe in a signal handler.
        """
        self._events.put(_Interrupt(now))

    def wake(self) -> None:
        """Have the pool checked at once, from any thread."""
        self._events.put(None)

    def run(self, make_pool: Callable[[], LocalPool | ForeignPool]) -> End:
        """Play until there is nothing left to play, a test is decided or someone interrupts.

        Raises `JournalError` when a game cannot be recorded, `WorkerError` when none can be played,
        and what a foreign executor raises; whatever happens, the pool's work has ended afterwards.
        """
        self._pool = make_pool()
        tasks = self._tasks()
        try:
            while not self._is_over():
                self._hand_out(tasks)
                if not self._running and (self._interrupts or not (self._again or self._trial)):
                    break
                self._wait()
            end = self._end(tasks)
            self.board.show_rest()
            self.board.over(end)
            if end not in ("finished", "interrupted"):
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
        return ended or self._pool.deserted or self._stuck

    @property
    def _stuck(self) -> bool:
        """Whether no engine is left, or none to measure against: forfeits decide and tune nothing.
        """
        left = len(self.board.standings.names) - len(self._withdrawals.out)
        settings = self.board.settings
        return left < (1 if settings.sprt is None and settings.tuning is None else 2)

    def _end(self, tasks: Iterator[PairTask | None]) -> End:
        """How the run ended; an interrupt after the last game has changed nothing."""
        if self.board.verdict is not None:
            return "decided"
        if self._stuck:
            return "stuck"
        if not self.board.open and next(tasks, None) is None:
            return "finished"
        if not self._interrupts:
            return "deserted"
        return "killed" if self._interrupts > 1 or self._pool.deserted else "interrupted"

    def _tasks(self) -> Iterator[PairTask | None]:
        """What is left to play, task by task; None where results have to come first."""
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
        if self._trial is not None:
            self._try_engines(self._trial)
            return
        window = self._window + self._pool.ahead
        while self._running < window and not self._interrupts and not self._is_over():
            if self._failures and self._running and self._pool.foreign:
                # A pool that breaks takes every pair in progress with it: those that failed are
                # tried again one by one, so that the next failure has one culprit.
                return
            task = self._again.popleft() if self._again else next(tasks, None)
            if task is None:
                return
            for forfeit in self._withdrawals.forfeits(task.games):
                self._take(finished(forfeit))
            left = task.without(self.board.played)
            if left.games:
                if not self._submit(left):
                    return
            else:
                del self._failures[task.games[0].pair]
                self._wait(0)  # There may be many more of them.

    def _try_engines(self, trial: Trial) -> None:
        """Have a worker try the engines, now or when there is one."""
        if self._running or self._interrupts or not self._pool.ready:
            return
        if (future := self._pool.submit(trial)) is not None:
            self._running += 1
            future.add_done_callback(lambda done: self._events.put(_Tried(done)))

    def _submit(self, task: PairTask) -> bool:
        """Hand a task over, now or when there is someone to take it; whether it is handed over."""
        if not self._pool.ready or (future := self._pool.submit(play_pair, task)) is None:
            self._again.appendleft(task)
            return False
        self._running += 1
        if self._pool.foreign:
            # Nobody tells when they begin: that they are handed over has to do.
            for spec in task.games:
                self.board.begin(spec.number)
        future.add_done_callback(lambda done: self._events.put(_Done(task, done)))
        return True

    def _wait(self, seconds: float = TICK_SECONDS) -> None:
        """Wait for one event, but no longer than a moment, and act on it."""
        try:
            event = self._events.get(timeout=seconds)
        except queue.Empty:
            pass
        else:
            self._act(event)
        if (notice := self._pool.check()) is not None:
            self.board.notice(notice)
        self.board.tick()

    def _act(self, event: _Event) -> None:
        if isinstance(event, Finished):
            self._take(event)
        elif isinstance(event, Started):
            self._workers_play = True
            self.board.begin(event.number)
        elif isinstance(event, Played):
            self.board.go_on(event)
        elif isinstance(event, _Done):
            self._running -= 1
            self._finish(event.task, event.future)
        elif isinstance(event, _Tried):
            self._running -= 1
            if not event.future.cancelled():
                self._trial = None
                if isinstance(error := event.future.exception(), InputError):
                    raise error
                # Of any other error the pairs will tell.
                for notice in [] if error is not None else event.future.result():
                    self.board.notice(notice)
        elif isinstance(event, _Interrupt):
            self._interrupts += 2 if event.now or self._pool.silent else 1
            if self._interrupts == 1:
                self.board.notice("finishing the games in progress; interrupt again to stop now")
                self._pool.finish_games()

    def _finish(self, task: PairTask, future: Future[list[Finished]]) -> None:
        """Take a task's results, or have what is missing of it played again."""
        if future.cancelled():
            self._again.append(task)
            return
        pair = task.games[0].pair
        why = ""
        if (error := future.exception()) is not None:
            why = (str(error).strip() or repr(error)).splitlines()[-1]
        for game in [] if error else future.result():
            self._workers_play = True
            self._take(game)
        left = task.without(self.board.played)
        if not why or not left.games:
            del self._failures[pair]
            return
        self._failures[pair] += 1
        self.board.notice(f"pair {pair} failed: {why}")
        if self._failures[pair] < ATTEMPTS:
            self._again.append(left)
            return
        if not self._workers_play or all(spec.number in self.board.waiting for spec in left.games):
            raise WorkerError(
                f"no worker gets as far as playing a game: {why}; "
                "lower -concurrency, or see what the machine lacks"
            )
        del self._failures[pair]
        for spec in left.games:
            self._take(finished(GameResult(spec, "*", "unterminated", f"No result: {why}")))

    def _take(self, game: Finished) -> None:
        """Put a finished game on the board, once, and withdraw an engine that fails to start."""
        if game.row.number in self.board.played:
            return
        self.board.end(game.row)
        for attempt in game.row.voided.splitlines():
            self.board.notice(f"game {game.row.number} was void and played again: {attempt}")
        for name in self._withdrawals.add(game):
            fate = "" if self._stuck else "; its remaining games are recorded as lost"
            self.board.notice(
                f"{name} is withdrawn: it failed to start {FAILED_STARTS} times in a row{fate}"
            )
        self.board.show()
