"""One side of a game: its engine, its clock and their messages; and the end of a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic_ns

from merels.engine.common.errors import InputError
from merels.engine.game.notation import parse_move
from merels.engine.game.position import COLOURS, Move, Position
from merels.engine.search.limits import Limit
from merels.protocol.client.answers import Answer, read_bestmove
from merels.protocol.client.connection import FOREVER
from merels.protocol.client.dialects import UciAdapter
from merels.protocol.client.engine import Engine
from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout
from merels.tournament.play.clock import Clock, overrun_text
from merels.tournament.play.lag import LONG_MOVE, MIN_OVERSLEEP, NOT_MEASURED, LagMeter, Reading
from merels.tournament.records.games import MILLISECOND, Entrant, MoveRecord, Oddities, Overtime
from merels.tournament.statistics.terminations import CAUSES

IDLE_SECONDS = 30.0
"""Least idle time after which an engine without a clock loses, in seconds."""
IDLE_PINGS = 2
"""Least idle time as a multiple of ``pingtimeout``; the longer of the two times applies."""


class End(Exception):
    """Raised when the game ends.

    ``winner`` is None for a draw, ``cause`` one of `CAUSES`, ``reason`` a sentence. ``culprit`` is
    the side whose engine is at fault, or None. ``overtime`` describes a move that lost on time.
    """

    def __init__(
        self, winner: int | None, cause: str, reason: str, culprit: int | None = None,
        overtime: Overtime | None = None,
    ) -> None:
        super().__init__(reason)
        self.result = "1/2-1/2" if winner is None else ("1-0", "0-1")[winner]
        self.cause = cause
        self.termination = CAUSES[cause]
        self.reason = reason
        self.culprit = culprit
        self.overtime = overtime


def fault(side: int, cause: str, reason: str) -> End:
    """Return the end of a game that ``side`` loses by a fault of its engine."""
    return End(1 - side, cause, f"{COLOURS[side]} {reason}", side)


@dataclass(slots=True)
class PositionLine:
    """The game so far as a ``position`` line, shared by players of the same dialect."""

    dialect: UciAdapter
    text: bytes


class Player:
    """One side of a game. ``clocks`` are White's and Black's, because ``go`` contains both."""

    def __init__(
        self, side: int, entrant: Entrant, engine: Engine, clocks: tuple[Clock, Clock],
        position_line: PositionLine, meter: LagMeter,
    ) -> None:
        self.side = side
        self.entrant = entrant
        self.engine = engine
        self._connection = engine.connection
        self.clock = clocks[side]
        self.dialect = self._connection.dialect
        self.ponders = entrant.ponder and self.dialect.can_ponder
        self.lag = NOT_MEASURED
        """Delays in the last move."""
        self._clocks = clocks
        self._timed_clocks = [clock for clock in clocks if clock.left is not None]
        self._position_line = position_line
        self._expected_reply: Move | None = None
        """The opponent's move that the engine assumes while it ponders; None if it does not."""
        self._patience = int(entrant.ping_timeout * 1e9)
        self._template: bytes | None = None
        """``go`` line with gaps for the clocks.

        None if the dialect has no template, or if ``movestogo`` changes between moves."""
        if self.dialect.has_template and self.clock.moves_to_go is None:
            self._template = self.dialect.go_template(self._limit())
        allowance, ping = self.clock.allowance, entrant.ping_timeout
        if allowance is None:
            self._connection.watch_silence(ping, max(IDLE_SECONDS, IDLE_PINGS * ping))
        else:
            # With a long clock, a hanging engine must be detected before its time is over.
            self._connection.watch_silence(ping if allowance > 2 * self._patience else None)
        self._initial_counts = self._connection.junk, self._connection.strays
        """The engine's junk lines and stray answers before this game."""
        self._meter = meter
        self._is_measured = allowance is not None and meter.should_measure(entrant.name)

    def ask(self, position: Position, moves: Sequence[MoveRecord]) -> Answer:
        """Return the engine's answer in ``position``; the last of ``moves`` is the opponent's.

        An engine that ponders is sent ``ponderhit`` if the opponent played the expected move, else
        ``stop`` and a new ``go``. Raises the `End` of the game if the engine does not answer in
        time, ends or hangs.
        """
        allowance = self.clock.allowance
        timeout = FOREVER
        if allowance is not None:
            timeout = allowance + self.clock.limit.margin
            if timeout < 0:
                timeout = 0
        reading = self._meter.read(self.engine.pid) if self._is_measured else None
        start_time = monotonic_ns()
        try:
            if self._expected_reply is None:
                line = self._position_line.text
                answer = self._connection.ask(position, line, self._go(), timeout)
            else:
                expected, self._expected_reply = self._expected_reply, None
                if str(expected) == moves[-1].move:
                    answer = self._connection.ponderhit(timeout)
                else:
                    answer = self._ask_after_miss(position, start_time, timeout)
            if answer is None:
                assert allowance is not None, "the wait ended without a limit on time"
                raise self._unanswered(start_time, timeout, allowance, reading)
        except EngineTerminated as error:
            raise self._disconnects(error) from None
        except EngineTimeout as error:
            raise fault(self.side, "stall", f"stalls ({error.what})") from None
        if self._is_measured or answer.elapsed >= LONG_MOVE:
            self._measure(answer.elapsed, timeout, allowance, reading)
        return answer

    def _disconnects(self, error: EngineTerminated) -> End:
        """Return the end of a game that this side loses because its engine has ended."""
        return fault(self.side, "crash", f"disconnects ({error.how})")

    def _measure(
        self, elapsed: int, timeout: int, allowance: int | None, reading: Reading | None
    ) -> None:
        """Store the delays of a move, and decide whether to measure the next one."""
        self.lag = NOT_MEASURED
        if allowance is None:
            return
        name, is_long = self.entrant.name, elapsed >= LONG_MOVE
        self._meter.add_move(name, is_long)
        self._is_measured = self._meter.should_measure(name)
        if is_long:
            # If the runner read the answer after the timeout, it may have been late itself.
            beyond = elapsed - timeout
            self.lag = self._meter.lag(
                self.engine.pid, reading, elapsed, beyond if beyond > MIN_OVERSLEEP else 0
            )

    def _ask_after_miss(self, position: Position, start_time: int, timeout: int) -> Answer | None:
        """Return the answer of an engine that pondered on another move.

        Its search is stopped first, and its clock runs meanwhile.
        """
        if self._connection.stop_pondering(min(timeout, self._patience) / 1e9) is None:
            if timeout >= self._patience:
                raise self._connection.timeout_error("does not end its pondering")
            return None
        stop_time, left = monotonic_ns() - start_time, self.clock.left
        if left is not None:
            self.clock.set_left(left - stop_time)
        go = self._go()
        self.clock.set_left(left)
        answer = self._connection.ask(position, self._position_line.text, go, timeout - stop_time)
        return answer and replace(answer, elapsed=stop_time + answer.elapsed)

    def _unanswered(
        self, start_time: int, timeout: int, allowance: int, reading: Reading | None
    ) -> End:
        """Return the end of a game without an answer in time; wait for a late answer first."""
        overslept = monotonic_ns() - start_time - timeout
        late = self._connection.stop()
        # Measured, because on a busy machine the wait ends later than the timeout.
        elapsed = monotonic_ns() - start_time
        # The cause of the runner's delay may have delayed the engine by as much, so the delay
        # counts twice, unless the engine does not even answer now.
        own = overslept if late is None else min(elapsed - timeout, 2 * overslept)
        # Read before the engine is ended, because its counters end with it.
        self.lag = self._meter.lag(
            self.engine.pid, reading, elapsed, own if overslept > MIN_OVERSLEEP else 0
        )
        if late is not None:
            return self.loss_on_time(elapsed, allowance)
        how = f"no bestmove, even after stop{self._connection.last_output()}"
        return self.loss_on_time(elapsed, allowance, how)

    def loss_on_time(self, elapsed: int, allowance: int, how: str = "") -> End:
        """Return the end of a game that this side loses on time.

        ``how`` is its explanation, by default the overrun.
        """
        overrun = elapsed - allowance
        overtime = Overtime(elapsed, overrun, self.clock.limit.margin, *self.lag)
        text = f"{COLOURS[self.side]} loses on time ({how or overrun_text(overrun)})"
        return End(1 - self.side, "time", text, self.side, overtime)

    def second_answer(self, answer: Answer) -> Answer | None:
        """Return the engine's next answer after an illegal answer, or None.

        Raises the `End` of the game if the engine ended within its answer.
        """
        try:
            self._connection.check_whole()
        except EngineTerminated as error:
            raise self._disconnects(error) from None
        try:
            return self._connection.answer_after_stray(answer)
        except EngineError:
            return None

    def ponder(self, position: Position, answer: Answer) -> None:
        """Have the engine ponder on the reply that it expects.

        Do nothing if this reply is missing or illegal, or if it ends the game.
        """
        try:
            reply = parse_move(read_bestmove(answer.text).ponder)
            after = position.push(reply)
        except InputError:
            return
        if position.outcome() is not None or after.outcome() is not None:
            return
        line = self.dialect.append(self._position_line.text, reply, first=False)
        try:
            go = self.dialect.go(self._limit(), self.side, ponder=True)
            self._connection.begin(line + b"\n" + go)
        except EngineError:
            return  # The next `ask` fails, too, and ends the game.
        self._expected_reply = reply

    def stop_pondering(self) -> bool:
        """Stop pondering, if the engine ponders; return False if it does not stop."""
        if self._expected_reply is None:
            return True
        try:
            return self._connection.stop_pondering() is not None
        except EngineError:
            return False

    def oddities(self) -> Oddities:
        """Return the engine's faults that did not affect this game."""
        junk, strays = self._initial_counts
        late = self.clock.overruns + self._connection.strays - strays
        return Oddities(self._connection.junk - junk, late)

    def _go(self) -> bytes:
        """Return the ``go`` line of the next move."""
        if self._template is None:
            return self.dialect.go(self._limit(), self.side)
        if not self._timed_clocks:
            return self._template
        if len(self._timed_clocks) == 2:  # The usual case; faster than a loop.
            white, black = self._timed_clocks
            return self._template % (white.sent, black.sent)
        return self._template % tuple([clock.sent for clock in self._timed_clocks])

    def _limit(self) -> Limit:
        """Return the limit of the engine's next move."""
        control = self.clock.limit
        white, black = self._clocks
        return Limit(
            time=_seconds(control.per_move and control.per_move // MILLISECOND),
            depth=control.depth,
            nodes=control.nodes,
            white_clock=_seconds(white.sent),
            black_clock=_seconds(black.sent),
            white_inc=_increment(white),
            black_inc=_increment(black),
            remaining_moves=self.clock.moves_to_go,
        )


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _increment(clock: Clock) -> float | None:
    """Return the increment in seconds; None without a clock or an increment."""
    if clock.left is None or not clock.limit.increment:
        return None
    return clock.limit.increment // MILLISECOND / 1000
