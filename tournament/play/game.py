"""One game between two engines, with a referee that trusts neither.

`play_game` borrows both engines from the cache. Each move takes these steps:

1. `Player.ask` sends ``position`` and ``go``; the mover's clock runs until its bestmove.
2. The move is checked by the rules, charged to the clock, recorded and played.
3. The adjudicator judges the new position.
4. If the mover ponders, it starts to ponder on the reply that it expects.

An `End` ends the game: by the rules, by adjudication, or by a fault of an engine. Then the engines
return to the cache. An engine at fault, or one that does not stop pondering, is ended instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from time import monotonic_ns
from typing import NamedTuple

from merels.engine.common.errors import printable, shorten
from merels.engine.game.notation import join_steps, parse_move, parse_position, play_moves
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import Rules, parse_rules
from merels.protocol.client.answers import Answer, read_bestmove
from merels.protocol.client.dialects import UciAdapter
from merels.protocol.client.engine import Engine
from merels.protocol.client.scanner import InfoSummary
from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout
from merels.tournament.play.adjudication import Adjudicator, as_number
from merels.tournament.play.clock import Clock
from merels.tournament.play.engine_cache import FAULT_PATIENCE, EngineCache
from merels.tournament.play.lag import LagMeter
from merels.tournament.play.player import End, Player, PositionLine, fault
from merels.tournament.records.games import GameResult, GameSpec, MoveRecord, Opening

LONGEST_ANSWER = 200
"""Bytes after ``bestmove`` that are read; a move with its ponder move has at most half of them."""
LONGEST_INFO = 4096
"""Bytes of an ``info`` line that are recorded."""
CACHED_STARTS = 64
"""Cached openings: enough for the games of a pair and for small books."""
CACHED_MOVES = 1 << 14
"""Cached texts of moves: nearly all moves that occur."""

RULE_CAUSES = {"men": "two men", "three": "three against three", "norem": "no removal"}
"""Reason of an `Outcome` -> cause in `CAUSES`, if their names differ."""


class Start(NamedTuple):
    """Start of a game: a position, the moves of the opening, and the position after them."""

    initial: Position
    moves: tuple[Move, ...]
    position: Position


@lru_cache(maxsize=CACHED_STARTS)
def start_of(opening: Opening, rules: Rules) -> Start:
    """Return the start of a game from an opening; InputError if the opening is invalid."""
    initial = parse_position(opening.position, rules)
    moves = tuple(parse_move(move) for _, move in join_steps(opening.moves))
    return Start(initial, moves, play_moves(initial, opening.moves))


@lru_cache(maxsize=CACHED_MOVES)
def move_text(move: Move) -> str:
    """Return the text of a move, cached because formatting is slower."""
    return str(move)


@lru_cache(maxsize=CACHED_STARTS)
def first_line(start: Start, dialect: UciAdapter) -> bytes:
    """Return the ``position`` line of the first move of a game."""
    return dialect.position(start.initial, start.moves)


GameStarted = Callable[[Sequence[MoveRecord]], None]
"""Called when both engines are ready, with the list to which the game appends its moves."""


class NotStarted(Exception):
    """Raised if an engine does not start; ``failures``: engine name -> text of the error."""

    def __init__(self, errors: Mapping[str, EngineError]) -> None:
        self.failures = {
            name: f"does not start ({describe(error)})" for name, error in errors.items()
        }
        super().__init__(self.failures)


def play_game(
    spec: GameSpec, engines: EngineCache, on_start: GameStarted | None = None
) -> GameResult:
    """Play a game to its end; then give the engines back to the cache, or end them.

    An engine's fault ends the game and raises nothing. Raises NotStarted if an engine does not
    start, InputError for invalid rules or an invalid opening, and Failure if tables are missing.
    """
    rules = parse_rules(spec.rules)
    start = start_of(spec.opening, rules)
    started = utc_now()
    entrants = (spec.white, spec.black)
    lent = engines.lend(entrants, rules)
    ready = [engine for engine in lent if isinstance(engine, Engine)]
    if len(ready) < 2:
        for engine, entrant in zip(lent, entrants):
            if isinstance(engine, Engine):
                engines.give_back(entrant, engine)
        raise NotStarted({
            entrant.name: error
            for error, entrant in zip(lent, entrants) if isinstance(error, EngineError)
        })  # fmt: skip
    try:
        game = _Game(spec, ready, start, engines.meter)
        if on_start is not None:
            on_start(game.moves)
        start_ns = monotonic_ns()
        end = game.play()
        elapsed = monotonic_ns() - start_ns
    except BaseException:
        for engine in ready:
            engine.close(FAULT_PATIENCE)
        raise
    origin = engines.origin(*ready)
    white, black = (player.oddities() for player in game.players)
    for player in game.players:
        if player.side != end.culprit and player.stop_pondering():
            engines.give_back(player.entrant, player.engine)
        else:
            player.engine.close(FAULT_PATIENCE)
    return GameResult(
        spec, end.result, end.termination, end.reason, tuple(game.moves), started, elapsed,
        overtime=end.overtime, origin=origin, oddities=(white, black), cause=end.cause,
    )


def utc_now() -> str:
    """Return the time as in a row of the journal: ISO 8601 in UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def describe(error: EngineError) -> str:
    """Return an engine's error as text, without the subject ``the engine``."""
    if isinstance(error, EngineTerminated):
        return error.how
    return error.what if isinstance(error, EngineTimeout) else str(error)


class _Game:
    """A game in progress."""

    def __init__(
        self, spec: GameSpec, engines: Sequence[Engine], start: Start, meter: LagMeter
    ) -> None:
        self.position = start.position
        self.moves: list[MoveRecord] = []
        self._adjudicator = Adjudicator(spec.adjudication, start.position.rules)
        self._keeps_info = spec.keep_info
        self._plies = len(start.moves)
        """Moves so far, the opening included."""
        clocks = (Clock(spec.white.limit), Clock(spec.black.limit))
        position_lines = {
            dialect: PositionLine(dialect, first_line(start, dialect))
            for dialect in {engine.connection.dialect for engine in engines}
        }
        self._position_lines = list(position_lines.values())
        self.players = [
            Player(
                side, entrant, engine, clocks, position_lines[engine.connection.dialect], meter
            )
            for side, (entrant, engine) in enumerate(zip((spec.white, spec.black), engines))
        ]

    def play(self) -> End:
        """Play until the game ends; return its end."""
        try:
            while True:
                outcome = self.position.outcome()
                if outcome is not None:
                    cause = RULE_CAUSES.get(outcome.reason, outcome.reason)
                    return End(outcome.winner, cause, str(outcome))
                self._play_move(self.players[self.position.side])
        except End as end:
            return end

    def _play_move(self, player: Player) -> None:
        position = self.position
        answer = player.ask(position, self.moves)
        move, objection = judge(position, answer)
        reported = ""
        if objection is not None:
            reported = player.engine.connection.reported_error()
            # The illegal answer may have belonged to an earlier search.
            second = player.second_answer(answer)
            if second is not None and judge(position, second)[1] is None:
                answer = second
                move, objection = judge(position, second)
        overrun = player.clock.spend(answer.elapsed)
        if overrun:
            allowance = answer.elapsed - overrun
            raise player.loss_on_time(answer.elapsed, allowance)
        if move is None or objection is not None:
            reason = f"makes an illegal move ({objection}{reported})"
            raise fault(player.side, "illegal move", reason)
        summary = player.dialect.info_summary(answer.info, player.side)
        late, waited = player.lag
        self.moves.append(MoveRecord(
            move_text(move), summary.score, summary.win_in, summary.depth, summary.nodes,
            answer.elapsed, player.clock.left, late, waited,
            last_info(answer) if self._keeps_info else "",
        ))
        self.position = position.play(move)
        self._plies += 1
        for line in self._position_lines:
            line.text = line.dialect.append(line.text, move, first=self._plies == 1)
        if self._plies >= self._adjudicator.first_ply:
            self._adjudicate(position.number, player.side, summary)
        if player.ponders:
            player.ponder(self.position, answer)

    def _adjudicate(self, number: int, side: int, summary: InfoSummary) -> None:
        """Raise the `End` of the game if the last move leads to an adjudication."""
        score = as_number(summary.score, summary.win_in)
        verdict = self._adjudicator.update(number, side, score, self._plies, self.position)
        # The rules take precedence over adjudication.
        if verdict is not None and self.position.outcome() is None:
            raise End(*verdict)


def last_info(answer: Answer) -> str:
    """Return the engine's last ``info`` line with a score, as it is recorded."""
    return printable(answer.info[:LONGEST_INFO].decode(errors="replace").strip())


def judge(position: Position, answer: Answer) -> tuple[Move | None, str | None]:
    """Return an answer's move, None if it has none; and why the answer is illegal, or None."""
    text, move, _ = read_bestmove(answer.text[:LONGEST_ANSWER])
    if move is not None:
        objection = position.objection(move)
        return move, objection if objection is None else f"'{shorten(text)}', {objection}"
    if not text:
        return None, "an empty bestmove"
    return None, f"'{shorten(text)}' is not a move"
