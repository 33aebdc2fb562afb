"""Settings of a tournament: everything that decides which games are played and how they end.

Two runs with equal settings have the same pairings, colours and openings. What changes only the
looks or the speed of a run (output, concurrency) is not in here.
"""

from __future__ import annotations

import json
import os
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from merels.engine.common.numbers import counted
from merels.engine.game.rules import DEFAULT_RULES
from merels.tournament.records.games import Adjudication, Entrant
from merels.tournament.statistics.sprt import Sprt

FORMATS = ("roundrobin", "gauntlet", "swiss", "knockout")
STEPS_IN_RANGE = 20
"""The usual ``c_end`` is the range of a parameter, divided by this."""
LEAST_C_END = 0.5
"""With a smaller one rounding would give both sides the same value too often."""
USUAL_R_END = 60.0
"""The usual ``r_end``, times the number of pairs: a parameter that costs 2 Elo at a distance of
``c_end`` from its best value is brought nearer to it by some e³ in the whole tune."""


@dataclass(frozen=True, slots=True)
class OpeningSettings:
    """Where openings come from.

    ``file`` is a path, ``book`` for the rule set's balanced openings, or None for random ones, of
    ``plies`` moves. ``start`` is the number of the first opening, from 1.
    """

    file: str | None = None
    format: str = "pos"
    order: str = "sequential"
    plies: int | None = None
    start: int = 1
    digest: str = ""
    """SHA-256 of the file, so that a resumed run notices a changed one."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A spin option that is tuned: where it starts, its bounds, and how far it is perturbed.

    ``c_end`` is the size of the perturbation at the end of the tune.
    """

    name: str
    start: int
    minimum: int
    maximum: int
    c_end: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """How far parameters are perturbed and moved, pair by pair, in the usual letters of SPSA.

    ``r_end`` is how far a game won moves a parameter at the end of the tune, in its ``c_end``;
    ``stability`` (A) is a share of the number of pairs.
    """

    r_end: float
    stability: float = 0.1
    alpha: float = 0.602
    gamma: float = 0.101


@dataclass(frozen=True, slots=True)
class Tuning:
    """A tune of one engine, by as many pairs as its settings have rounds."""

    parameters: tuple[Parameter, ...]
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class Settings:
    """One tournament.

    ``rounds`` is how often each pairing is played (round robin, gauntlet), how many rounds there
    are (Swiss), or how many times a match plays its pairing (knockout). A pairing has ``games``
    games; every two of them share an opening and, with ``swap``, have the colours exchanged.
    ``seeds`` is the number of engines that meet the rest in a gauntlet. ``replays`` is how often a
    game is played again whose loss on time is no engine's fault.
    """

    engines: tuple[Entrant, ...]
    seed: int
    format: str = "roundrobin"
    rounds: int = 2
    games: int = 2
    swap: bool = True
    reverse: bool = False
    seeds: int = 1
    rules: str = str(DEFAULT_RULES)
    openings: OpeningSettings = field(default_factory=OpeningSettings)
    adjudication: Adjudication = field(default_factory=Adjudication)
    sprt: Sprt | None = None
    penta: bool = True
    """Whether a match is judged by game pairs rather than by single games."""
    replays: int = 0
    tuning: Tuning | None = None
    """SPSA parameters of an engine that is entered twice, or None."""
    event: str = "merels tournament"
    site: str = "?"

    @property
    def by_pairs(self) -> bool:
        """Whether estimates and tests are of game pairs: if that is wanted and there are any."""
        return self.penta and self.games > 1

    def as_json(self) -> str:
        """The settings as a JSON object; an engine's fields are merged with its entrant's."""
        data = asdict(self)
        data["engines"] = [entrant.pop("engine") | entrant for entrant in data["engines"]]
        return json.dumps(data, sort_keys=True)


def read_settings(text: str) -> Settings:
    """The settings from JSON; fields that older journals lack have their defaults.

    Raise `ValueError` if a field is missing or has the wrong type.
    """
    data = json.loads(text)
    if isinstance(data, dict) and isinstance(data.get("engines"), list):
        data["engines"] = [
            engine | {"engine": engine} if isinstance(engine, dict) else engine
            for engine in data["engines"]
        ]
    settings = _read(Settings, data, "form")
    assert isinstance(settings, Settings)
    if not all(entrant.engine.command for entrant in settings.engines):
        raise _unsaid("command")
    if settings.format not in FORMATS:
        raise _unsaid("format")
    return settings


def _read(kind: Any, value: Any, name: str) -> Any:
    """A value of a type from what JSON has in its place, under that name."""
    if is_dataclass(kind):
        if not isinstance(value, dict):
            raise _unsaid(name)
        made: Any = kind
        types = _types_of(made)
        known = {
            field.name: _read(types[field.name], value[field.name], field.name)
            for field in fields(kind) if field.name in value
        }  # fmt: skip
        for field in fields(kind):
            if field.name not in known and (field.default, field.default_factory) == (MISSING,) * 2:
                raise _unsaid(field.name)
        return made(**known)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        if not isinstance(value, list):
            raise _unsaid(name)
        kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(_read(kind, item, name) for kind, item in zip(kinds, value, strict=True))
    if NoneType in inner:
        return None if value is None else _read(inner[0], value, name)
    plain = (int, float) if kind is float else (str,) if origin is Literal else (kind,)
    if type(value) not in plain:
        raise _unsaid(name)
    return value


@cache
def _types_of(kind: type) -> dict[str, Any]:
    """The types of a class's fields, which take long to find: there may be 1,000 engines."""
    return get_type_hints(kind)


def _unsaid(name: str) -> ValueError:
    return ValueError(f"its settings do not say their {name}")


def facts(text: str) -> list[tuple[str, str]]:
    """The facts on a tournament in a report, from its settings as JSON."""
    settings = read_settings(text)
    openings, sprt = settings.openings.file, settings.sprt
    test = [] if sprt is None else [(
        "Test", f"H0: {sprt.elo0:g} Elo, H1: {sprt.elo1:g} Elo ({sprt.model}), "
        f"alpha {sprt.alpha:g}, beta {sprt.beta:g}",
    )]
    return [
        ("Event", settings.event),
        ("Rules", settings.rules),
        ("Format", _format(settings)),
        *test,
        ("Openings", os.path.basename(openings) if openings else "random"),
        ("Seed", str(settings.seed)),
    ]


def _format(settings: Settings) -> str:
    """The format of a tournament, and how long it is."""
    if settings.tuning is not None:
        return f"SPSA, {counted(settings.rounds, 'pair')} of games"
    return f"{settings.format}, {_length(settings)}"


def _length(settings: Settings) -> str:
    """The rounds of a tournament, or of each match of a knockout, and their games."""
    rounds, games = counted(settings.rounds, "round"), counted(settings.games, "game")
    if settings.format == "knockout":
        return f"matches of {rounds} of {games}, prolonged if drawn"
    return f"{'at most ' if settings.sprt is not None else ''}{rounds} of {games}"
