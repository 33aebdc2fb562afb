"""One game between two engines, with a referee that trusts neither."""

from __future__ import annotations

from datetime import datetime, timezone
from time import monotonic_ns

from merels.engine.game.errors import InputError, shorten
from merels.engine.game.notation import join_steps, parse_move, parse_position, play_moves
from merels.engine.game.position import BLACK, COLOURS, WHITE, Move, Position
from merels.engine.game.rules import parse_rules
from merels.engine.search.limits import Limit
from merels.protocol.client.answers import Answer, ponder_text, read_move
from merels.protocol.client.dialects import UciAdapter
from merels.protocol.client.engine import Engine
from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout
from merels.tournament.play.adjudication import Adjudicator, as_number
from merels.tournament.play.clock import MILLISECOND, Clock, overrun_text
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.records.games import Entrant, GameResult, GameSpec, MoveRecord

__all__ = ["EngineCache", "play_game"]

WINS = ("1-0", "0-1")
DRAW = "1/2-1/2"
NO_RESULT = "*"
LONGEST_ANSWER = 200
"""Bytes behind ``bestmove`` that are looked at: twice the longest move and the longest ponder."""


class _End(Exception):
    """The game has ended; ``culprit`` is the side whose engine is at fault, if one is."""

    def __init__(
        self, winner: int | None, termination: str, reason: str, culprit: int | None = None
    ) -> None:
        super().__init__(reason)
        self.result = DRAW if winner is None else WINS[winner]
        self.termination = termination
        self.reason = reason
        self.culprit = culprit


def _fault(side: int, termination: str, reason: str) -> _End:
    """The end of a game in which a side's engine is at fault and loses."""
    return _End(1 - side, termination, f"{COLOURS[side]} {reason}", side)


def play_game(spec: GameSpec, engines: EngineCache) -> GameResult:
    """Play a game to its end, whatever the engines do, and give them back or end them.

    `InputError` for rules or an opening that make no sense.
    """
    rules = parse_rules(spec.rules)
    start = parse_position(spec.opening.position, rules)
    opened = play_moves(start, spec.opening.moves)
    began = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    specs = (spec.white, spec.black)
    lent = engines.lend(specs, rules)
    white, black = lent
    if isinstance(white, EngineError) or isinstance(black, EngineError):
        for engine, owner in zip(lent, specs):
            if isinstance(engine, Engine):
                engines.give_back(owner, engine)
        return _not_started(spec, white, black, began)
    players = (_Player(WHITE, spec.white, white), _Player(BLACK, spec.black, black))
    culprit: int | None = None
    unharmed = False
    try:
        game = _Game(spec, players, start, opened)
        begin = monotonic_ns()
        end = game.play()
        elapsed = monotonic_ns() - begin
        culprit = end.culprit
        unharmed = True
    finally:
        for player in players:
            if unharmed and player.side != culprit and player.settle():
                engines.give_back(player.spec, player.engine)
            else:
                engines.discard(player.engine)
    return GameResult(
        spec, end.result, end.termination, end.reason, tuple(game.moves), began, elapsed
    )


def _not_started(
    spec: GameSpec, white: Engine | EngineError, black: Engine | EngineError, began: str
) -> GameResult:
    """The result of a game that at least one engine did not start for."""
    reasons = [
        f"{colour} does not start ({_how(error)})"
        for colour, error in zip(COLOURS, (white, black))
        if isinstance(error, EngineError)
    ]
    sides = tuple(
        side for side, engine in ((WHITE, white), (BLACK, black)) if isinstance(engine, EngineError)
    )
    result = NO_RESULT if len(sides) == 2 else WINS[1 - sides[0]]
    return GameResult(
        spec, result, "abandoned", ", ".join(reasons), (), began, unstarted=sides
    )


def _how(error: EngineError) -> str:
    """An engine's error as words to put in brackets."""
    if isinstance(error, EngineTerminated):
        return error.how
    return error.what if isinstance(error, EngineTimeout) else str(error)


class _Script:
    """The game so far as a ``position`` line: one for both players if they speak the same."""

    def __init__(self, dialect: UciAdapter, line: bytes) -> None:
        self.dialect = dialect
        self.line = line


class _Player:
    """One side: its engine, its clock, and what its engine has been told."""

    def __init__(self, side: int, spec: Entrant, engine: Engine) -> None:
        self.side = side
        self.spec = spec
        self.engine = engine
        self.dialect = engine.dialect
        self.clock = Clock(spec.limit)
        self.script = _Script(self.dialect, b"")
        self.guess: Move | None = None
        """The move on which the engine is pondering."""
        self.ponders = spec.ponder and self.dialect.can_ponder
        self.template: bytes | None = None
        """The ``go`` of every move but for the clocks, where the clocks are all that changes."""
        self.patience = int(spec.ping_timeout * 1e9)

    def settle(self) -> bool:
        """End what still goes on after the game; False if the engine does not."""
        if self.guess is None:
            return True
        try:
            return self.engine.stop() is not None
        except EngineError:
            return False


class _Game:
    """A game in progress."""

    def __init__(
        self,
        spec: GameSpec,
        players: tuple[_Player, _Player],
        start: Position,
        opened: Position,
    ) -> None:
        self.players = players
        self.position = opened
        self.moves: list[MoveRecord] = []
        self._adjudicator = Adjudicator(spec.adjudication, start.rules)
        self._running = [player.clock for player in players if player.clock.left is not None]
        played = [parse_move(move) for _, move in join_steps(spec.opening.moves)]
        self._opening_plies = len(played)
        scripts: dict[str, _Script] = {}
        for player in players:
            script = scripts.get(player.dialect.name)
            if script is None:
                line = player.dialect.position(start, played)
                script = scripts[player.dialect.name] = _Script(player.dialect, line)
            player.script = script
            if player.dialect.has_template and player.clock.moves_to_go is None:
                player.template = player.dialect.go_template(self._limit(player))
            # A clock of many minutes must not hide that an engine hangs.
            allowance = player.clock.allowance()
            long = allowance is not None and allowance > 2 * player.patience
            player.engine.watch_silence(player.spec.ping_timeout if long else None)
        self._scripts = list(scripts.values())

    def play(self) -> _End:
        """Play until the game ends, and say how."""
        try:
            while True:
                outcome = self.position.outcome()
                if outcome is not None:
                    return _End(outcome.winner, "normal", str(outcome))
                self._play_move(self.players[self.position.side])
        except _End as end:
            return end

    def _play_move(self, player: _Player) -> None:
        """One move, from ``go`` to the next position."""
        position = self.position
        answer = self._ask(player)
        move, objection = self._judge(answer)
        if objection is not None:
            late = self._second_answer(player, answer)
            if late is not None and self._judge(late)[1] is None:
                answer = late
                move, objection = self._judge(late)
        overrun = player.clock.spend(answer.elapsed)
        if overrun:
            raise _loss_on_time(player.side, overrun_text(overrun))
        if move is None or objection is not None:
            raise _fault(player.side, "illegal move", f"makes an illegal move ({objection})")
        brief = player.dialect.brief(answer.info, player.side)
        self.moves.append(MoveRecord(str(move), *brief, answer.elapsed, player.clock.left))
        self.position = position.play(move)
        first = self._opening_plies + len(self.moves) == 1
        for script in self._scripts:
            script.line = script.dialect.append(script.line, move, first)
        if self._adjudicator.active:
            number = as_number(brief.score, brief.win_in)
            plies = self._opening_plies + len(self.moves)
            verdict = self._adjudicator.update(
                position.number, player.side, number, plies, self.position
            )
            # What the rules decide needs no adjudication.
            if verdict is not None and self.position.outcome() is None:
                raise _End(verdict[0], "adjudication", verdict[1])
        if player.ponders:
            self._start_pondering(player, answer)

    def _ask(self, player: _Player) -> Answer:
        """The engine's answer, or the end of the game that it is at fault for."""
        allowance = player.clock.allowance()
        if allowance is None:
            timeout = player.patience
        else:
            timeout = max(0, allowance + player.spec.limit.margin)
        guess, player.guess = player.guess, None
        begun = monotonic_ns()
        try:
            if guess is None:
                answer = player.engine.ask(
                    self.position, player.script.line, self._go(player), timeout
                )
            elif str(guess) == self.moves[-1].move:
                answer = player.engine.ponderhit(timeout)
            else:
                answer = self._ask_after_miss(player, begun, timeout)
            if answer is None:
                raise self._unanswered(player, begun, timeout, allowance)
        except EngineTerminated as error:
            raise _fault(player.side, "abandoned", f"disconnects ({error.how})") from None
        except EngineTimeout as error:
            raise _fault(player.side, "abandoned", f"stalls ({error.what})") from None
        return answer

    def _ask_after_miss(self, player: _Player, begun: int, timeout: int) -> Answer | None:
        """The answer of an engine that pondered on another move, and ends that search first.

        Its clock runs meanwhile.
        """
        if player.engine.stop(min(timeout, player.patience) / 1e9) is None:
            if timeout >= player.patience:
                raise EngineTimeout("does not end its pondering")
            return None
        gone = player.clock.gone = monotonic_ns() - begun
        go = self._go(player)
        answer = player.engine.ask(self.position, player.script.line, go, timeout - gone)
        return answer and answer._replace(elapsed=gone + answer.elapsed)

    def _unanswered(
        self, player: _Player, begun: int, timeout: int, allowance: int | None
    ) -> _End:
        """The end of a game whose player has not moved in its time: learn whether it moves late."""
        late = player.engine.stop()
        if allowance is None:
            waited = f"{timeout / 1e9:g} s"
            return _fault(player.side, "abandoned", f"stalls (plays no move in {waited})")
        if late is None:
            return _loss_on_time(player.side, "no bestmove, even after stop")
        # Measured to the end: on a busy machine more than the timeout has passed before the stop.
        return _loss_on_time(player.side, overrun_text(monotonic_ns() - begun - allowance))

    def _judge(self, answer: Answer) -> tuple[Move | None, str | None]:
        """The move in an answer, and what is wrong with it."""
        text, move = read_move(answer.text[:LONGEST_ANSWER])
        if move is not None:
            objection = self.position.objection(move)
            return move, objection if objection is None else f"'{shorten(text)}', {objection}"
        if not text:
            return None, "an empty bestmove"
        return None, f"'{shorten(text)}' is no move at all"

    def _second_answer(self, player: _Player, answer: Answer) -> Answer | None:
        """What the engine says after an illegal answer, which may have been to an earlier go."""
        try:
            return player.engine.answer_after_stray(answer)
        except EngineError:
            return None

    def _go(self, player: _Player) -> bytes:
        """The ``go`` for a player's next move."""
        if player.template is None:
            return player.dialect.go(self._limit(player), player.side)
        return player.template % tuple([clock.milliseconds() for clock in self._running])

    def _limit(self, player: _Player) -> Limit:
        """What the protocol is to tell a player about its next move."""
        control = player.spec.limit
        white, black = (each.clock for each in self.players)
        return Limit(
            time=_seconds(control.per_move),
            depth=control.depth,
            nodes=control.nodes,
            white_clock=_clock(white),
            black_clock=_clock(black),
            white_inc=_increment(white),
            black_inc=_increment(black),
            remaining_moves=player.clock.moves_to_go,
        )

    def _start_pondering(self, player: _Player, answer: Answer) -> None:
        """Let the engine think on the reply that it expects, if that is a legal one."""
        try:
            guess = parse_move(ponder_text(answer.text))
            after = self.position.push(guess)
        except InputError:
            return
        if self.position.outcome() is not None or after.outcome() is not None:
            return
        line = player.dialect.append(player.script.line, guess, False)
        try:
            go = player.dialect.go(self._limit(player), player.side, ponder=True)
            player.engine.begin(line + b"\n" + go)
        except EngineError:
            return  # It is found out, and judged, at the engine's next move.
        player.guess = guess


def _seconds(nanoseconds: int | None) -> float | None:
    """Seconds, rounded down to the whole milliseconds that engines are told."""
    return None if nanoseconds is None else nanoseconds // MILLISECOND / 1000


def _clock(clock: Clock) -> float | None:
    """What a player is told that is left on a clock."""
    left = clock.milliseconds()
    return None if left is None else left / 1000


def _increment(clock: Clock) -> float | None:
    """A clock's increment, where there is one to tell."""
    return _seconds(clock.limit.increment or None) if clock.left is not None else None


def _loss_on_time(side: int, how: str) -> _End:
    return _fault(side, "time forfeit", f"loses on time ({how})")
