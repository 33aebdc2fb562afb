"""The runner: one loop that hands out the pairs of the plan and records their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Literal

from merels.engine.common.errors import InputError, shorten
from merels.engine.common.numbers import counted
from merels.tournament.records.games import PairTask
from merels.tournament.run.pairs import PairTable
from merels.tournament.run.pool import Pool
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.run.tasks import (
    Event,
    Failed,
    Finished,
    PairReport,
    Place,
    Played,
    Returned,
    Started,
    is_report,
    play_pair,
)

RECOVER_AFTER = 3
"""Failed calls in a row, without a game received in between, after which the pool must recover."""
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


class Runner:
    """Plays the games of the plan that are missing from the journal.

    The run stops when an engine has lost ``max_faults`` games by its own fault; 0: no limit.
    """

    def __init__(self, board: Scoreboard, *, max_faults: int = 0) -> None:
        self.board = board
        self._max_faults = max_faults
        self._faults = Counter[str]()
        """Engine name -> games of this run that it lost by its own fault."""
        self._pool: Pool
        self._pairs = PairTable(len(board.standings.names) == 2)
        self._trial_notices = set[str]()
        """Notices of the trials of engines that were shown."""
        self._round = 0
        """Last round whose first unplayed pair was announced."""
        self._last_error = ""
        """Error of the last failed call; empty once a game was received."""
        self._stop_requests = 0
        """Requests to stop, by interrupts or ``-maxfaults``; an immediate stop counts as two."""
        self._next_tick = 0.0
        """Monotonic time, in seconds, of the next update of the views."""
        self._is_time_up = False
        """Whether the plan's time was up, so that no further pair is handed out."""
        self._interrupts: list[bool] = []
        """Interrupts to process; True: stop at once."""
        self._interrupted_since: float | None = None
        """Monotonic time, in seconds, of the first interrupt that is not processed yet, or None."""

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
        self._interrupts.append(now)

    def run(self, make_pool: Callable[[], Pool]) -> End:
        """Play until the run ends, and return how it ended.

        Raise `JournalError` if a game cannot be stored, `InputError` if an engine cannot play on
        the workers of a user's executor and the journal holds no game, and any error that such an
        executor raises at its start. The pool is shut down in any case.
        """
        self._pool = make_pool()
        try:
            while not self._is_over:
                self._check_time()
                is_handed_out = self._hand_out()
                if not self._pairs.has_out and (self._is_ending or not self._may_go_on):
                    break
                hands_out_more = is_handed_out and self._pool.has_room
                for event in self._pool.events(0.0 if hands_out_more else TICK_SECONDS):
                    self._process(event)
                self._process_interrupts()
                self.board.notice(*self._pool.check())
                if monotonic() >= self._next_tick:
                    self._next_tick = monotonic() + TICK_SECONDS
                    self.board.tick()
            end = self._end()
            self.board.show_rest()
            if end in ("stuck", "timed_out"):
                self._explain()
            self.board.run_ended(end)
            if end not in ("finished", "interrupted", "faulty", "stuck"):
                self._pool.kill()
            elif (trouble := self._pool.close()) is not None:
                self.board.notice(trouble)
            return end
        except BaseException as error:
            self._pool.kill()
            self.board.run_ended("failed", str(error) or repr(error))
            raise

    @property
    def _is_over(self) -> bool:
        ended = self._stop_requests > 1 or self.board.verdict is not None
        return ended or self._pool.given_up

    @property
    def _is_ending(self) -> bool:
        """Whether no further pair is handed out."""
        return self._stop_requests > 0 or self._is_time_up

    @property
    def _may_go_on(self) -> bool:
        """Whether a pair may be handed out later, although no call is open."""
        return not self._pool.ready or self._pairs.may_go_on

    def _check_time(self) -> None:
        """Take calls back when the plan's time is up."""
        if self.board.plan.is_time_up and not self._is_time_up:
            self._is_time_up = True
            self._pool.withdraw()

    @property
    def _reached_max_faults(self) -> bool:
        return 0 < self._max_faults <= max(self._faults.values(), default=0)

    def _end(self) -> End:
        """Return how the run ended; an interrupt after the last game is ignored."""
        if self.board.verdict is not None:
            return "decided"
        if not self.board.uncounted and self.board.plan.next() is None:
            return "finished"
        if self._stop_requests > 1 or self._stop_requests and self._pool.given_up:
            return "killed"
        if self._stop_requests:
            return "faulty" if self._reached_max_faults else "interrupted"
        if self._pool.given_up:
            return "timed_out"
        has_lost_games = self._pairs.given_up or self._pairs.lost_engines()
        return "finished" if self._is_time_up and not has_lost_games else "stuck"

    def _explain(self) -> None:
        """Report the engines and the pairs that were given up, and the reasons."""
        for name, error in self._pairs.lost_engines().items():
            self.board.notice(f"engine {name} {error}: its games are left unplayed")
        for task, error in self._pairs.given_up:
            games = counted(len(task.games), "game")
            self.board.notice(f"pair {task.pair} failed: {error}; {games} left unplayed")

    def _next_task(self) -> PairTask | None:
        """Announce the next pairs of the plan up to one with unplayed games, and return these."""
        board, plan = self.board, self.board.plan
        while (task := plan.next(self._pairs.paused())) is not None:
            unplayed = task.without(board.played)
            if plan.waits:
                board.check(task)
                if unplayed.games and task.games[0].round > self._round:
                    self._round = task.games[0].round
                    board.round_paired()
            for spec in task.games:
                board.expect(spec)
            if unplayed.games:
                return unplayed
            board.show()
        return None

    def _hand_out(self) -> bool:
        """Hand out at most one pair; return whether one was."""
        if self._pairs.failures_in_a_row >= RECOVER_AFTER:
            if not self._pairs.has_out:
                self._pairs.forgive()
                self._pool.recover(self._last_error)
            return False
        if self._is_ending or not self._pool.has_room or self._pairs.has_suspect:
            return False
        self._fill()
        task = self._take()
        while task is None and self._fill():
            task = self._take()
        if task is None:
            return False
        self._pool.give(task.pair, play_pair, task)
        if self._pool.foreign:
            # Foreign workers do not report when games start, so they count as started now.
            for spec in task.games:
                self.board.begin(spec.number)
        return True

    def _fill(self) -> bool:
        """Add the pairs of the plan that workers may choose from; return whether one was added."""
        count = len(self._pairs)
        while len(self._pairs) <= self._pool.ahead and (task := self._next_task()) is not None:
            self._pairs.add(task)
        return len(self._pairs) > count

    def _take(self) -> PairTask | None:
        """Return the next pair to play; None if engines of all pairs that were added must wait."""
        task = self._pairs.take(self._pool.score, 2 * self._pool.ahead)
        self._skip_lost()
        return task

    def _skip_lost(self) -> None:
        """Show later games without waiting for those of engines that were given up."""
        if tasks := self._pairs.lost():
            for task in tasks:
                self.board.skip(task.games)
            self.board.show()

    def _process(self, event: Event) -> None:
        """Process an event of the pool, unless the run is over."""
        if self._is_over:
            return
        if isinstance(event, Started):
            self.board.begin(event.number, event.time)
        elif isinstance(event, Played):
            self.board.show_moves(event)
        elif isinstance(event, Finished):
            self._process_game(event)
        else:
            self._process_pair(self._pairs.task(event.call), event)

    def _process_interrupts(self) -> None:
        interrupts, self._interrupts = self._interrupts, []
        self._interrupted_since = None
        for now in interrupts:
            if now or self._pool.silent:
                self._stop_requests += 2
            else:
                self._stop()

    def _stop(self, reason: str = "") -> None:
        """Stop after the games in progress, or at once if this is the second request.

        ``reason`` begins the notice.
        """
        self._stop_requests += 1
        if self._stop_requests == 1:
            text = "finishing the games in progress; interrupt again to stop now"
            self.board.notice(reason + text)
            self._pool.finish_games()

    def _process_pair(self, task: PairTask, event: Returned | Failed) -> None:
        """Record the games that a call returned, and put the unplayed ones back."""
        report = event.value if isinstance(event, Returned) else None
        if isinstance(event, Returned) and not is_report(report, task):
            event = Failed(event.call, f"the executor returned {shorten(repr(report))}")
        if isinstance(event, Failed):
            if not self._last_error:
                self.board.notice(f"pair {task.pair} failed: {event.error}")
            self._last_error = event.error
            played = self.board.played
            if lost := self._pairs.fail(task.pair, event.error, event.is_broken, played):
                self.board.skip(lost.games)
                self.board.show()
            return
        assert isinstance(report, PairReport)
        place = report.place if self._pool.foreign else None
        for game in report.games:
            self._process_game(game, place)
        self.board.notice(*(text for text in report.notices if text not in self._trial_notices))
        self._trial_notices.update(report.notices)
        self.board.notice(*self._pairs.fail_start(report.failures, place))
        self._pairs.put_back(task.pair, self.board.played)
        if place is not None and not self.board.played:
            for name, failure in self._pairs.failed_again().items():
                raise InputError(f"-engine {name}", failure)
        self._skip_lost()

    def _process_game(self, game: Finished, place: Place | None = None) -> None:
        """Reset the counts of failures, and record the game unless it was recorded before."""
        row = game.row
        self._pairs.failures_in_a_row = 0
        if self._last_error:
            self._last_error = ""
            self.board.notice("games come back again")
        self._pairs.received += 1
        self._pool.note_work()
        self.board.notice(*self._pairs.start((row.white, row.black), place))
        if row.number in self.board.played:
            return
        if objections := self.board.plan.objections(row):
            self.board.notice(*self._pairs.exclude(objections))
            self._skip_lost()
            return
        self.board.end(row, game.time)
        if culprit := row.culprit:
            self._faults[culprit] += 1
            if self._reached_max_faults and not self._stop_requests:
                games = counted(self._max_faults, "game")
                self._stop(f"{culprit} lost {games} by its own fault (-maxfaults); ")
        self.board.show()
