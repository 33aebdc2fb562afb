"""One side of a game: its engine, its clock, their talk for a move; and how a game ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic_ns

from merels.engine.common.errors import InputError
from merels.engine.game.notation import parse_move
from merels.engine.game.position import COLOURS, Move, Position
from merels.engine.search.limits import Limit
from merels.protocol.client.answers import Answer, ponder_text
from merels.protocol.client.connection import FOREVER
from merels.protocol.client.dialects import UciAdapter
from merels.protocol.client.engine import Engine
from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout
from merels.tournament.play.clock import MILLISECOND, Clock, overrun_text
from merels.tournament.play.lag import OVERSLEPT, UNKNOWN, WORTH_MEASURING, LagMeter, Reading
from merels.tournament.records.games import Entrant, MoveRecord, Oddities, Overtime
from merels.tournament.statistics.terminations import CAUSES

IDLE_SECONDS = 30.0
"""The least time without a clock, in seconds, after which an engine that does nothing loses."""
IDLE_PINGS = 2
"""The same as a multiple of ``pingtimeout``."""
WINS = ("1-0", "0-1")


class End(Exception):
    """The game has ended, with ``winner`` (None: a draw) and by ``cause``, one of `CAUSES`.

    ``reason`` is a sentence. ``culprit`` is the side whose engine is at fault; None if neither is.
    ``overtime`` is the move that lost on time.
    """

    def __init__(
        self, winner: int | None, cause: str, reason: str, culprit: int | None = None,
        overtime: Overtime | None = None,
    ) -> None:
        super().__init__(reason)
        self.result = "1/2-1/2" if winner is None else WINS[winner]
        self.cause = cause
        self.termination = CAUSES[cause]
        self.reason = reason
        self.culprit = culprit
        self.overtime = overtime


def fault(side: int, cause: str, reason: str) -> End:
    """The end of a game that a side loses because its engine is at fault."""
    return End(1 - side, cause, f"{COLOURS[side]} {reason}", side)


@dataclass(slots=True)
class Script:
    """The game so far as a ``position`` line, shared by players that speak the same dialect."""

    dialect: UciAdapter
    line: bytes


class Player:
    """One side. ``clocks`` are White's and Black's: an engine gets both."""

    def __init__(
        self, side: int, entrant: Entrant, engine: Engine, clocks: tuple[Clock, Clock],
        script: Script, meter: LagMeter,
    ) -> None:
        self.side = side
        self.entrant = entrant
        self.engine = engine
        self._connection = engine.connection
        self.clock = clocks[side]
        self.dialect = self._connection.dialect
        self.ponders = entrant.ponder and self.dialect.can_ponder
        self.lag = UNKNOWN
        """Of its last move."""
        self._clocks = clocks
        self._running = [clock for clock in clocks if clock.left is not None]
        self._script = script
        self._guess: Move | None = None
        """The move on which the engine is pondering."""
        self._patience = int(entrant.ping_timeout * 1e9)
        self._template: bytes | None = None
        """The constant part of ``go``, if only the clocks change between moves."""
        if self.dialect.has_template and self.clock.moves_to_go is None:
            self._template = self.dialect.go_template(self._limit())
        allowance, ping = self.clock.allowance(), entrant.ping_timeout
        if allowance is None:
            self._connection.watch_silence(ping, max(IDLE_SECONDS, IDLE_PINGS * ping))
        else:
            # A clock of many minutes must not hide that an engine hangs.
            self._connection.watch_silence(ping if allowance > 2 * self._patience else None)
        self._before = self._connection.junk, self._connection.strays
        self._meter = meter
        self._measures = allowance is not None and meter.is_worth_it(entrant.name)

    def ask(self, position: Position, moves: Sequence[MoveRecord]) -> Answer:
        """The engine's answer in the position that ``moves`` have led to.

        An engine that pondered on the last of them gets `ponderhit`, or else `stop`. Raises the
        `End` of the game if there is no answer in time.
        """
        allowance = self.clock.allowance()
        timeout = FOREVER
        if allowance is not None:
            timeout = allowance + self.clock.limit.margin
            if timeout < 0:
                timeout = 0
        before = self._meter.read(self.engine.pid) if self._measures else None
        begun = monotonic_ns()
        try:
            if self._guess is None:
                answer = self._connection.ask(position, self._script.line, self._go(), timeout)
            else:
                guess, self._guess = self._guess, None
                if str(guess) == moves[-1].move:
                    answer = self._connection.ponderhit(timeout)
                else:
                    answer = self._ask_after_miss(position, begun, timeout)
            if answer is None:
                assert allowance is not None, "only a clock ends a wait"
                raise self._unanswered(begun, timeout, allowance, before)
        except EngineTerminated as error:
            raise fault(self.side, "crash", f"disconnects ({error.how})") from None
        except EngineTimeout as error:
            raise fault(self.side, "stall", f"stalls ({error.what})") from None
        if self._measures or answer.elapsed >= WORTH_MEASURING:
            self._measure(answer.elapsed, timeout, allowance, before)
        return answer

    def _measure(
        self, elapsed: int, timeout: int, allowance: int | None, before: Reading | None
    ) -> None:
        """Note the lag of a move, and whether the next may be worth the readings too."""
        self.lag = UNKNOWN
        if allowance is None:
            return
        name, is_long = self.entrant.name, elapsed >= WORTH_MEASURING
        self._meter.note(name, is_long)
        self._measures = self._meter.is_worth_it(name)
        if is_long:
            # The answer was there when the runner looked, which may have been too late.
            beyond = elapsed - timeout
            self.lag = self._meter.lag(
                self.engine.pid, before, elapsed, beyond if beyond > OVERSLEPT else 0
            )

    def _ask_after_miss(self, position: Position, begun: int, timeout: int) -> Answer | None:
        """The answer of an engine that pondered on another move, and ends that search first.

        Its clock runs meanwhile.
        """
        if self._connection.stop(min(timeout, self._patience) / 1e9) is None:
            if timeout >= self._patience:
                raise self._connection.timed_out("does not end its pondering")
            return None
        gone, left = monotonic_ns() - begun, self.clock.left
        if left is not None:
            self.clock.set_left(left - gone)
        go = self._go()
        self.clock.set_left(left)
        answer = self._connection.ask(position, self._script.line, go, timeout - gone)
        return answer and replace(answer, elapsed=gone + answer.elapsed)

    def _unanswered(
        self, begun: int, timeout: int, allowance: int, before: Reading | None
    ) -> End:
        """Return the end of a game without a move; wait whether the engine moves late."""
        overslept = monotonic_ns() - begun - timeout
        late = self._connection.stop()
        # Measured to the end: on a busy machine more than the timeout has passed before the stop.
        elapsed = monotonic_ns() - begun
        self.lag = UNKNOWN
        if late is None:
            how = f"no bestmove, even after stop{self._connection.last_output()}"
            return self.loss_on_time(elapsed, allowance, how)
        # A runner that comes late to say stop has to wait as long again before it may complain:
        # what held it up may have held up the engine.
        slept = min(elapsed - timeout, 2 * overslept) if overslept > OVERSLEPT else 0
        self.lag = self._meter.lag(self.engine.pid, before, elapsed, slept)
        return self.loss_on_time(elapsed, allowance)

    def loss_on_time(self, elapsed: int, allowance: int, how: str = "") -> End:
        """The end of a game that this side loses with a move that took ``elapsed``.

        ``how`` describes a search that did not end.
        """
        overrun = elapsed - allowance
        overtime = Overtime(elapsed, overrun, self.clock.limit.margin, *self.lag)
        text = f"{COLOURS[self.side]} loses on time ({how or overrun_text(overrun)})"
        return End(1 - self.side, "time", text, self.side, overtime)

    def second_answer(self, answer: Answer) -> Answer | None:
        """Return the engine's output after an illegal answer, which may belong to an earlier go."""
        try:
            return self._connection.answer_after_stray(answer)
        except EngineError:
            return None

    def ponder(self, position: Position, answer: Answer) -> None:
        """Let the engine think about the reply that it expects, if that is a legal move."""
        try:
            guess = parse_move(ponder_text(answer.text))
            after = position.push(guess)
        except InputError:
            return
        if position.outcome() is not None or after.outcome() is not None:
            return
        line = self.dialect.append(self._script.line, guess, False)
        try:
            go = self.dialect.go(self._limit(), self.side, ponder=True)
            self._connection.begin(line + b"\n" + go)
        except EngineError:
            return  # It is found out, and judged, at the engine's next move.
        self._guess = guess

    def settle(self) -> bool:
        """End a search that outlasts the game; False if the engine does not end it."""
        if self._guess is None:
            return True
        try:
            return self._connection.stop() is not None
        except EngineError:
            return False

    def oddities(self) -> Oddities:
        """The engine's oddities in this game that cost it nothing."""
        junk, strays = self._before
        late = self.clock.overruns + self._connection.strays - strays
        return Oddities(self._connection.junk - junk, late)

    def _go(self) -> bytes:
        """The ``go`` for the next move."""
        if self._template is None:
            return self.dialect.go(self._limit(), self.side)
        if not self._running:
            return self._template
        if len(self._running) == 2:  # The usual case, quicker than any loop over two.
            one, other = self._running
            return self._template % (one.told, other.told)
        return self._template % tuple([clock.told for clock in self._running])

    def _limit(self) -> Limit:
        """The limit of the engine's next move."""
        control = self.clock.limit
        white, black = self._clocks
        return Limit(
            time=_seconds(control.per_move and control.per_move // MILLISECOND),
            depth=control.depth,
            nodes=control.nodes,
            white_clock=_seconds(white.told),
            black_clock=_seconds(black.told),
            white_inc=_increment(white),
            black_inc=_increment(black),
            remaining_moves=self.clock.moves_to_go,
        )


def _seconds(milliseconds: int | None) -> float | None:
    """The whole milliseconds that engines get, in seconds."""
    return None if milliseconds is None else milliseconds / 1000


def _increment(clock: Clock) -> float | None:
    """A clock's increment in seconds, where there is one to tell."""
    if clock.left is None or not clock.limit.increment:
        return None
    return clock.limit.increment // MILLISECOND / 1000
