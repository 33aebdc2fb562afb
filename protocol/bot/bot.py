"""The bot bridge: an engine behind a line of JSON in, a line of JSON out, one for each move.

Whoever runs a bot on a site needs neither the engine protocol nor the rules: it sends a position
and what was played, and gets a move. The form is version 1; a later version keeps its fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, NoReturn, Protocol

from merels.engine.game.errors import InputError, shorten
from merels.engine.game.notation import START, join_steps, parse_move, parse_position, play_moves
from merels.engine.game.position import COLOURS, Move, Position
from merels.engine.game.rules import Rules, make_rules
from merels.engine.game.score import Score
from merels.engine.search.levels import LEVELS, MAXIMUM_SEED, Level, level_named
from merels.engine.search.limits import MOST_SECONDS, Limit
from merels.engine.search.searcher import DEFAULT_HASH
from merels.protocol.client.any_engine import AnyEngine
from merels.protocol.client.engine import Engine, EngineError
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.client.in_process import OwnEngine
from merels.protocol.client.options import Value
from merels.protocol.process.errors import EngineTerminated, EngineTimeout
from merels.protocol.uci.table_cache import TableCache, find_tables

VERSION = 1
LONGEST_REQUEST = 1 << 20
"""Bytes of a request."""
MOST_COUNT = 10**15
FIELDS = (
    "id", "new", "position", "moves", "variant", "set", "time", "depth", "nodes", "clock",
    "level", "seed", "only",
)
"""What a request may have."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request, read and checked: the first position, the moves from it, and where they lead."""

    start: Position
    moves: tuple[Move, ...]
    position: Position
    limit: Limit
    level: Level | None
    only: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """What an engine answers to a request."""

    move: Move | None
    score: Score | None = None
    depth: int | None = None
    nodes: int | None = None
    pv: tuple[Move, ...] = ()


class Player(Protocol):
    """Whoever chooses moves for the bridge."""

    name: str

    def new_game(self) -> None:
        """What follows is another game."""

    def choose(self, request: Request) -> Choice:
        """A move, or none where the game is over."""


class OwnPlayer:
    """The engine of this very process: nothing to start, nothing to lose."""

    def __init__(self, hash_mb: int = DEFAULT_HASH, threads: int = 1) -> None:
        self._engine = OwnEngine(hash_mb, threads)
        self._engine.prepare()
        self._table_cache = TableCache()
        self.name = self._engine.name

    def new_game(self) -> None:
        """Forget the game before."""
        self._engine.new_game()

    def choose(self, request: Request) -> Choice:
        """Search as the request says."""
        self._engine.tables = find_tables(self._table_cache, request.position.rules, request.limit)
        self._engine.level = request.level
        return ask(self._engine, request)


class EnginePlayer:
    """Any engine as a process; one that dies is started again for the next request."""

    def __init__(self, spec: EngineSpec) -> None:
        self._spec = spec
        self._engine: Engine | None = None
        self._level: Level | None = None
        self.name = self._open().name

    def _open(self) -> Engine:
        if self._engine is None:
            spec = self._spec
            self._engine = Engine.popen(
                spec.command, protocol=spec.protocol, directory=spec.directory,
                limits=spec.resources,
            )
            self._engine.configure(dict(spec.options))
            self._engine.ping()
            self._level = None
        return self._engine

    def new_game(self) -> None:
        """Tell the engine."""
        self._guarded(lambda engine: engine.new_game())

    def choose(self, request: Request) -> Choice:
        """Ask the engine."""

        def choose(engine: Engine) -> Choice:
            self._set_level(engine, request.level)
            return ask(engine, request)

        choice: Choice = self._guarded(choose)
        return choice

    def _set_level(self, engine: Engine, level: Level | None) -> None:
        """Let the engine play at a level; `InputError` where it has none such."""
        if level == self._level:
            return
        if level is not None and "UCI_LimitStrength" not in engine.options:
            raise InputError(
                "level", "expected none for this engine: it has no option UCI_LimitStrength"
            )
        settings: dict[str, Value] = {"UCI_LimitStrength": level is not None}
        if level is not None:
            settings["UCI_Elo"] = level.elo
            if "LevelSeed" in engine.options:
                settings["LevelSeed"] = level.seed
        try:
            engine.configure(settings)
        except (EngineTerminated, EngineTimeout):
            raise
        except EngineError as error:  # It was told nothing yet, and can be asked on.
            raise InputError("level", f"expected none for this engine: {error}") from None
        self._level = level

    def _guarded(self, action: Callable[[Engine], Any]) -> Any:
        """Do something with the engine; after an error the next request begins with a new one."""
        try:
            return action(self._open())
        except EngineError:
            self.close()
            raise

    def close(self) -> None:
        """End the engine."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()


def ask(engine: AnyEngine, request: Request) -> Choice:
    """An engine's answer to a request."""
    result = engine.play(
        request.start, request.limit, moves=request.moves, root_moves=request.only
    )
    info = result.info
    score = None if info.score is None else info.score.relative
    return Choice(result.move, score, info.depth, info.nodes, info.pv)


class Bridge:
    """Reads requests and gives answers, each a JSON object on a line."""

    def __init__(self, player: Player, rules: Rules, limit: Limit) -> None:
        """``rules`` and ``limit`` hold where a request names none."""
        self._player = player
        self._rules = rules
        self._limit = limit

    def hello(self) -> str:
        """The line that says who is there, before any request."""
        return json.dumps(
            {"merels": "bot", "version": VERSION, "engine": self._player.name,
             "variant": str(self._rules), "levels": [level.name for level in LEVELS]}
        )

    def answer(self, line: str) -> str:
        """The answer to a request's line."""
        identity: Any = None
        try:
            body = _object(line)
            identity = body.get("id")
            if _new(body):
                self._player.new_game()
                if set(body) <= {"id", "new"}:
                    return json.dumps({"id": identity, "ready": True})
            request = read_request(body, self._rules, self._limit)
            if request.level is not None:
                # A level errs alike whatever was asked before.
                self._player.new_game()
            answer = self._play(request)
        except InputError as error:
            return self.refusal(error, identity)
        except EngineError as error:
            answer = {"error": str(error), "token": None, "expected": None, "index": None}
        return json.dumps({"id": identity, **answer})

    def refusal(self, error: InputError, identity: Any = None) -> str:
        """The answer to a request that makes no sense."""
        answer = {
            "error": str(error),
            "token": shorten(error.token),
            "expected": error.expected,
            "index": error.index,
        }
        return json.dumps({"id": identity, **answer})

    def _play(self, request: Request) -> dict[str, Any]:
        """The move for a request, and what becomes of the game by it."""
        outcome = request.position.outcome()
        if outcome is not None:
            return {"move": None, "result": outcome.result, "reason": str(outcome)}
        choice = self._player.choose(request)
        if choice.move is None:
            raise EngineError("the engine plays no move")
        ended = request.position.play(choice.move).outcome()
        return {
            "move": str(choice.move),
            "side": COLOURS[request.position.side].lower(),
            "score": _score(choice.score),
            "depth": choice.depth,
            "nodes": choice.nodes,
            "pv": [str(move) for move in choice.pv],
            "result": None if ended is None else ended.result,
            "reason": None if ended is None else str(ended),
        }


def read_request(body: dict[str, Any], rules: Rules, limit: Limit) -> Request:
    """A request from its JSON object; `InputError` names what makes no sense."""
    for name in body:
        if name not in FIELDS:
            raise InputError(name, f"expected a field: {', '.join(FIELDS)}")
    if "variant" in body or "set" in body:
        settings = body.get("set", {})
        if not isinstance(settings, dict):
            raise InputError("set", "expected an object of rule fields")
        variant = _text(body, "variant", rules.variant)
        rules = make_rules(variant, [f"{name}={value}" for name, value in settings.items()])
    text = _text(body, "position", "startpos")
    start = parse_position(START if text == "startpos" else text, rules)
    tokens = _words(body, "moves")
    position = play_moves(start, tokens)
    only = tuple(parse_move(token) for token in _words(body, "only"))
    for index, move in enumerate(only):
        objection = position.objection(move)
        if objection is not None:
            raise InputError(str(move), f"illegal move, {objection}", index)
    if "only" in body and not only:
        raise InputError("only", "expected at least one move to choose from")
    moves = tuple(parse_move(token) for _, token in join_steps(tokens))
    side = COLOURS[position.side].lower()
    return Request(start, moves, position, _limit(body, limit, side), _level(body), only)


def _new(body: dict[str, Any]) -> bool:
    """Whether another game begins."""
    value = body.get("new", False)
    if isinstance(value, bool):
        return value
    raise InputError("new", "expected true or false")


def _limit(body: dict[str, Any], default: Limit, side: str) -> Limit:
    """What the search for a side may spend. Times are in seconds."""
    if not {"time", "depth", "nodes", "clock"} & set(body):
        return default
    clock = body.get("clock", {})
    known = {"white", "black", "white_inc", "black_inc"}
    if not isinstance(clock, dict) or not set(clock) <= known:
        raise InputError("clock", "expected an object of white, black, white_inc and black_inc")
    if clock.get(side) is None and not {"time", "depth", "nodes"} & set(body):
        raise InputError("clock", f"expected {side}, the side to move, or time, depth or nodes")
    return Limit(
        time=_number(body, "time", 0.001, MOST_SECONDS),
        depth=_count(body, "depth"),
        nodes=_count(body, "nodes"),
        white_clock=_number(clock, "white", -MOST_SECONDS, MOST_SECONDS),
        black_clock=_number(clock, "black", -MOST_SECONDS, MOST_SECONDS),
        white_inc=_number(clock, "white_inc", 0.0, MOST_SECONDS),
        black_inc=_number(clock, "black_inc", 0.0, MOST_SECONDS),
    )


def _level(body: dict[str, Any]) -> Level | None:
    """A level by its name or its rating, which errs by its seed; none: full strength."""
    seed = body.get("seed", 0)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= MAXIMUM_SEED:
        raise InputError("seed", f"expected a whole number from 0 to {MAXIMUM_SEED}")
    value = body.get("level")
    return None if value is None else replace(level_named(str(value)), seed=seed)


def _object(line: str) -> dict[str, Any]:
    """A request's fields; those that are null are as if they were not there."""
    try:
        body = json.loads(line, parse_constant=_no_json, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise InputError(line, f"expected a JSON object on one line ({error})") from None
    if not isinstance(body, dict):
        raise InputError(line, "expected a JSON object on one line")
    return {name: value for name, value in body.items() if value is not None}


def _no_json(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def _finite(text: str) -> float:
    """A number that can be written again."""
    number = float(text)
    return number if isfinite(number) else _no_json(text)


def _text(body: dict[str, Any], name: str, default: str) -> str:
    value = body.get(name, default)
    if isinstance(value, str):
        return value
    raise InputError(name, "expected a text")


def _words(body: dict[str, Any], name: str) -> list[str]:
    """A list of moves, or a text of them parted by blanks."""
    value = body.get(name, [])
    if isinstance(value, str):
        return value.split()
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return value
    raise InputError(name, "expected a list of moves")


def _number(body: dict[str, Any], name: str, low: float, high: float) -> float | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
        return float(value)
    raise InputError(f"{name} {value}", f"expected seconds from {low:g} to {high:g}")


def _count(body: dict[str, Any], name: str) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_COUNT:
        return value
    raise InputError(f"{name} {value}", f"expected a whole number from 1 to {MOST_COUNT}")


def _score(score: Score | None) -> dict[str, int] | None:
    """A score, the mover's view: ``cp`` in hundredths of a man, or ``win_in`` in plies."""
    if score is None:
        return None
    return {"win_in": score.win_in} if score.win_in is not None else {"cp": score.cp or 0}
