"""Many games: hands tasks to an executor, journals what comes back, and shows it in order."""

from __future__ import annotations

import queue
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from functools import partial
from typing import Literal, NamedTuple

from merels.engine.game.errors import Failure
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.rows import Row
from merels.tournament.journal.standings import Standings
from merels.tournament.records.games import GameResult, GameSpec, PairTask
from merels.tournament.run.in_order import InOrder
from merels.tournament.run.plan import Plan
from merels.tournament.run.tasks import Finished, Started, finished, play_pair
from merels.tournament.run.view import View
from merels.tournament.run.withdrawal import FAILED_STARTS, Withdrawals
from merels.tournament.run.worker_pool import LocalPool
from merels.tournament.statistics.sprt import match_llr

ATTEMPTS = 3
"""How often a task is tried whose worker died; then its games are recorded as broken off, or the
run stops if it is the workers that cannot play."""
TICK_SECONDS = 0.25

End = Literal["finished", "decided", "interrupted", "killed", "stuck"]
"""All games played; a test decided it; stopped after the games in progress; stopped at once; no
engine starts, or none to test against."""


class WorkerError(Failure):
    """No worker gets as far as playing a game: the machine is at fault, not a pair."""


class _Done(NamedTuple):
    """The executor is through with a task."""

    task: PairTask
    future: Future[list[Finished]]


class _Interrupt(NamedTuple):
    """Somebody wants the run to stop, after the games in progress or ``now``."""

    now: bool


_Event = Started | Finished | _Done | _Interrupt


class Runner:
    """Plays what the plan has and the journal has not, ``window`` tasks at a time."""

    def __init__(
        self, plan: Plan, journal: Journal, views: Iterable[View] = (), *, window: int = 1
    ) -> None:
        self.settings = plan.settings
        self.journal = journal
        self.views = list(views)
        self.plan = plan
        self.standings = Standings(tuple(engine.name for engine in plan.settings.engines))
        self.playing: dict[int, GameSpec] = {}
        """The games in progress, in the order in which they began."""
        self.verdict: str | None = journal.meta().get("verdict")
        """The hypothesis that the settings' test accepted, H0 or H1."""
        self._window = window
        self._events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
        self._played = set(journal.numbers())
        self._uncounted = set(self._played)
        self._unstarted: dict[int, GameSpec] = {}
        self._open: set[int] = set()
        """Games of the rounds drawn up that are not counted yet."""
        self._starts = InOrder[GameSpec]()
        self._ends = InOrder[Row | None]()
        self._withdrawals = Withdrawals()
        self._running = 0
        self._again: deque[PairTask] = deque()
        self._failures: Counter[int] = Counter()
        """How often each pair failed that is neither through nor given up."""
        self._workers_play = False
        """Whether a worker has begun a game, or has returned one: foreign ones tell no more."""
        self._interrupts = 0
        self._judged_pairs = 0

    @property
    def finished(self) -> int:
        """How many games are in the journal."""
        return len(self._played)

    def report(self, event: Started | Finished) -> None:
        """Take a worker's word, from any thread."""
        self._events.put(event)

    def interrupt(self, now: bool = False) -> None:
        """Stop after the games in progress; ``now``, or the second time, at once.

        Safe in a signal handler.
        """
        self._events.put(_Interrupt(now))

    def run(self, make_executor: Callable[[], Executor]) -> End:
        """Play until there is nothing left to play, a test is decided or someone interrupts.

        ``make_executor`` is called again when the executor breaks. Raises `JournalError` when a
        game cannot be recorded and `WorkerError` when none can be played; whatever happens, the
        executor's work has ended afterwards.
        """
        executor = make_executor()
        tasks = self._tasks()
        try:
            while not self._is_over():
                executor = self._hand_out(tasks, executor, make_executor)
                if not self._running:
                    break
                self._wait(executor)
            end = self._end(tasks)
            self._show_rest()
        except BaseException:
            _kill(executor)
            raise
        if end in ("decided", "killed", "stuck"):
            _kill(executor)
        else:
            executor.shutdown()
        return end

    def _is_over(self) -> bool:
        return self._interrupts > 1 or self.verdict is not None or self._stuck

    @property
    def _stuck(self) -> bool:
        """Whether no engine is left, or none to test against: forfeits decide no test."""
        left = len(self.standings.names) - len(self._withdrawals.out)
        return left < (1 if self.settings.sprt is None else 2)

    def _end(self, tasks: Iterator[PairTask | None]) -> End:
        """How the run ended; an interrupt that came when all was played has changed nothing."""
        if self.verdict is not None:
            return "decided"
        if self._stuck:
            return "stuck"
        if not self._open and next(tasks, None) is None:
            return "finished"
        return "killed" if self._interrupts > 1 else "interrupted"

    def _tasks(self) -> Iterator[PairTask | None]:
        """What is left to play, task by task; None where results have to come first."""
        while tasks := self.plan.next_round():
            for task in tasks:
                if not self.plan.is_ours(task):
                    continue
                for spec in task.games:
                    self._open.add(spec.number)
                    self._ends.expect(spec.number)
                    if spec.number in self._played:
                        self._ends.put(spec.number, None)
                    else:
                        self._unstarted[spec.number] = spec
                        self._starts.expect(spec.number)
                left = task.without(self._played)
                if left.games:
                    yield left
                else:
                    self._show()
            while self.plan.waits and self._open:
                yield None

    def _hand_out(
        self,
        tasks: Iterator[PairTask | None],
        executor: Executor,
        make_executor: Callable[[], Executor],
    ) -> Executor:
        """Fill the window; returns the executor, a new one if the old one broke."""
        while self._running < self._window and not self._interrupts and not self._is_over():
            if self._failures and self._running and not isinstance(executor, LocalPool):
                # A pool that breaks takes every pair in progress with it: those that failed are
                # tried again one by one, so that the next failure has one culprit.
                break
            task = self._again.popleft() if self._again else next(tasks, None)
            if task is None:
                break
            for forfeit in self._withdrawals.forfeits(task.games):
                self._take(finished(forfeit))
            left = task.without(self._played)
            if not left.games:
                del self._failures[task.games[0].pair]
                self._wait(executor, 0)  # There may be many more of them.
                continue
            task = left
            try:
                future = executor.submit(play_pair, task)
            except BrokenExecutor:
                executor.shutdown(wait=False)
                executor = make_executor()
                future = executor.submit(play_pair, task)
            self._running += 1
            if not isinstance(executor, LocalPool):
                # Nobody tells when they begin: that they are handed over has to do.
                for spec in task.games:
                    self._start(spec.number)
            future.add_done_callback(partial(self._done, task))
        return executor

    def _done(self, task: PairTask, future: Future[list[Finished]]) -> None:
        """Take the executor's word, from any thread, that it is through with a task."""
        self._events.put(_Done(task, future))

    def _wait(self, executor: Executor, seconds: float = TICK_SECONDS) -> None:
        """Wait for one event, but no longer than a moment."""
        try:
            event = self._events.get(timeout=seconds)
        except queue.Empty:
            pass
        else:
            self._act(event, executor)
        for view in self.views:
            view.tick(self.standings, self.playing)

    def _act(self, event: _Event, executor: Executor) -> None:
        """Act on an event."""
        if isinstance(event, Finished):
            self._take(event)
        elif isinstance(event, Started):
            self._workers_play = True
            self._start(event.number)
        elif isinstance(event, _Done):
            self._running -= 1
            self._finish(event.task, event.future)
        else:
            self._interrupts += 2 if event.now else 1
            if self._interrupts == 1:
                self.notice("finishing the games in progress; interrupt again to stop at once")
                if isinstance(executor, LocalPool):
                    executor.finish_games()

    def _start(self, number: int) -> None:
        """Show that a game began, if it was not begun before by a worker that died."""
        spec = self._unstarted.pop(number, None)
        if spec is not None:
            self.playing[number] = spec
            self._starts.put(number, spec)
            for _, spec in self._starts.release():
                for view in self.views:
                    view.started(spec)

    def _finish(self, task: PairTask, future: Future[list[Finished]]) -> None:
        """Take a task's results, or have what is missing of it played again."""
        pair = task.games[0].pair
        why, games = "", list[Finished]()
        try:
            games = future.result()
        except Exception as error:
            why = (str(error).strip() or repr(error)).splitlines()[-1]
        for game in games:
            self._workers_play = True
            self._take(game)
        left = task.without(self._played)
        if not why or not left.games:
            del self._failures[pair]
            return
        self._failures[pair] += 1
        self.notice(f"pair {pair} failed: {why}")
        if self._failures[pair] < ATTEMPTS:
            self._again.append(left)
            return
        if not self._workers_play or all(spec.number in self._unstarted for spec in left.games):
            raise WorkerError(
                f"no worker gets as far as playing a game: {why}; "
                "lower -concurrency, or see what the machine lacks"
            )
        del self._failures[pair]
        for spec in left.games:
            self._take(finished(GameResult(spec, "*", "unterminated", f"No result: {why}")))

    def _take(self, game: Finished) -> None:
        """Journal a finished game, once, then show what its turn has come to be shown."""
        row = game.row
        number = row.number
        if number in self._played:
            return
        self.journal.append(row)
        self._played.add(number)
        self._uncounted.add(number)
        self._ends.put(number, row)
        self._start(number)
        del self.playing[number]
        for name in self._withdrawals.add(game):
            fate = "" if self._stuck else "; its remaining games are recorded as lost"
            self.notice(
                f"{name} is withdrawn: it failed to start {FAILED_STARTS} times in a row{fate}"
            )
        self._show()

    def _show(self) -> None:
        """Count and show the games whose turn it is, until a test is decided."""
        for number, row in self._ends.release():
            self._count(number, row)
            if self.verdict is None and self._decide():
                break

    def _show_rest(self) -> None:
        """Count and show what is out of move: nothing more will come before it."""
        waiting = self._ends.release_all()
        for number in sorted(self._uncounted):
            self._count(number, waiting.get(number))

    def _count(self, number: int, row: Row | None) -> None:
        """Add a game to the standings and show it; None: it is an earlier run's."""
        self._uncounted.discard(number)
        self._open.discard(number)
        game = self.journal.row(number) if row is None else row
        self.standings.add(game)
        self.plan.score(number, game.white_score)
        for view in self.views:
            (view.found if row is None else view.finished)(game, self.standings)

    def _decide(self) -> bool:
        """Whether the test has come to a verdict with the game that was counted last."""
        sprt = self.settings.sprt
        if sprt is None:
            return False
        counts = self.standings.counts(*self.standings.names)
        if self.settings.by_pairs:
            if counts.pairs == self._judged_pairs:
                return False
            self._judged_pairs = counts.pairs
        self.verdict = sprt.verdict(match_llr(sprt, counts, self.settings.by_pairs))
        if self.verdict is not None:
            self.journal.set_meta({"verdict": self.verdict})
        return self.verdict is not None

    def notice(self, text: str) -> None:
        """Tell all who show the tournament what a person should know."""
        for view in self.views:
            view.notice(text)


def _kill(executor: Executor) -> None:
    """End an executor's work as soon as it lets itself be ended."""
    if isinstance(executor, LocalPool):
        executor.kill()
    else:
        try:
            executor.shutdown(wait=False, cancel_futures=True)
        except TypeError:
            # Dask's executor knows no such word, and cancels unasked.
            executor.shutdown(wait=False)
