"""Settings of a tournament: everything that decides which games are played and how they end.

Two runs with equal settings, and equal results where a format pairs by results, have the same
pairings, colours and openings. Options that change only output or speed, such as the concurrency,
are not settings.
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

DEFAULT_EVENT = "merels tournament"
FORMATS = ("roundrobin", "gauntlet", "swiss", "knockout")
POLICIES = ("round", "encounter")
"""Whether all pairings of a round share their openings, or each pairing takes the next ones."""
LEAGUE = "league"
"""The format of a league, whose pairs are chosen as results come in."""
UNKNOWN_COMMAND = ("?",)
"""Command of an engine in a journal that was converted from other files."""
STEPS_IN_RANGE = 20
"""Divisor of a parameter's range that gives the default of ``c_end``."""
LEAST_C_END = 0.5
"""Smallest ``c_end``; with less, rounding often gives both sides the same value."""
USUAL_R_END = 60.0
"""Default ``r_end`` times the number of pairs, unless `MOST_R_END` limits the default.

With this ``r_end``, a parameter that costs 2 Elo at a distance of ``c_end`` from its best value
comes closer to that value by a factor of about e³."""
MOST_R_END = 0.5
"""Largest default of ``r_end``, which a tune of few pairs has."""


@dataclass(frozen=True, slots=True)
class OpeningSettings:
    """Source of the openings.

    ``file`` is a path, ``book`` for the rule set's balanced openings, or None for random openings.
    ``plies`` is the length of random openings, or the number of moves taken from each game of a PGN
    file; None: the default. ``start`` is the number of the first opening, from 1.
    ``policy`` is one of `POLICIES`.
    """

    file: str | None = None
    format: str = "pos"
    order: str = "sequential"
    plies: int | None = None
    start: int = 1
    policy: str = POLICIES[0]
    digest: str = ""
    """SHA-256 of the file, by which a resumed run detects a changed file."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A tuned spin option: its start value, its bounds, and the size of its perturbations.

    ``c_end`` is the size of the perturbation at the end of the tune, in units of the option.
    """

    name: str
    start: int
    minimum: int
    maximum: int
    c_end: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """Step sizes of SPSA by pair, in its usual notation.

    ``r_end`` is the step after a won game at the end of the tune, in units of ``c_end``.
    ``stability`` is A as a share of the number of pairs.
    """

    r_end: float
    stability: float = 0.1
    alpha: float = 0.602
    gamma: float = 0.101


@dataclass(frozen=True, slots=True)
class Tuning:
    """Tune of one engine by SPSA; ``Settings.rounds`` is its number of game pairs."""

    parameters: tuple[Parameter, ...]
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a tournament.

    ``rounds`` is the number of rounds of a Swiss tournament. In other formats, two opponents play
    ``rounds`` pairings. A pairing has ``games`` games; every two of them share an opening and, with
    ``swap``, exchange the colours. In a gauntlet, the first ``seeds`` engines meet all others.
    """

    engines: tuple[Entrant, ...]
    seed: int
    format: str = "roundrobin"
    rounds: int = 2
    games: int = 2
    swap: bool = True
    seeds: int = 1
    rules: str = str(DEFAULT_RULES)
    openings: OpeningSettings = field(default_factory=OpeningSettings)
    adjudication: Adjudication = field(default_factory=Adjudication)
    sprt: Sprt | None = None
    penta: bool = True
    """Whether estimates and tests use game pairs instead of single games."""
    tuning: Tuning | None = None
    """SPSA parameters of an engine that is entered twice, or None."""
    event: str = DEFAULT_EVENT

    @property
    def by_pairs(self) -> bool:
        """Whether estimates and tests use game pairs: ``penta`` is set and there are pairs."""
        return self.penta and self.games > 1

    @property
    def is_converted(self) -> bool:
        """Whether `merels convert` read the games from a file; most other fields are unknown."""
        return any(entrant.engine.command == UNKNOWN_COMMAND for entrant in self.engines)

    def as_json(self) -> str:
        """Return the settings as JSON; the fields of ``Entrant.engine`` join the entrant's."""
        data = asdict(self)
        data["engines"] = [entrant.pop("engine") | entrant for entrant in data["engines"]]
        for entrant in data["engines"]:
            del entrant["rules_known"]  # Not stored: see `EngineSpec`.
        return json.dumps(data, sort_keys=True)


def read_settings(text: str) -> Settings:
    """Return the settings from JSON; fields that older journals lack get their defaults.

    Raises ValueError if a required field is missing, or a field is invalid.
    """
    data = json.loads(text)
    if isinstance(data, dict) and isinstance(data.get("engines"), list):
        data["engines"] = [
            engine | {"engine": engine} if isinstance(engine, dict) else engine
            for engine in data["engines"]
        ]
    if isinstance(data, dict) and isinstance(openings := data.get("openings", {}), dict):
        # In versions without this field, each pairing took the next openings.
        data["openings"] = {"policy": POLICIES[1]} | openings
    settings = _read(Settings, data, "JSON object")
    assert isinstance(settings, Settings)
    if not all(entrant.engine.command for entrant in settings.engines):
        raise _invalid("command")
    if settings.format not in (*FORMATS, LEAGUE):
        raise _invalid("format")
    return settings


def _read(kind: Any, value: Any, name: str) -> Any:
    """Return the value of a dataclass field from JSON; ``name`` is used in errors."""
    if is_dataclass(kind):
        if not isinstance(value, dict):
            raise _invalid(name)
        cls: Any = kind
        types = _types_of(cls)
        values = {
            field.name: _read(types[field.name], value[field.name], field.name)
            for field in fields(kind) if field.name in value
        }  # fmt: skip
        for field in fields(kind):
            is_required = field.default is MISSING and field.default_factory is MISSING
            if is_required and field.name not in values:
                raise _invalid(field.name)
        return cls(**values)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        if not isinstance(value, list):
            raise _invalid(name)
        item_kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        if len(item_kinds) != len(value):
            raise _invalid(name)
        return tuple(
            _read(item_kind, item, name)
            for item_kind, item in zip(item_kinds, value, strict=True)
        )
    if NoneType in inner:
        return None if value is None else _read(inner[0], value, name)
    # The only literal type is that of the model, whose value `Sprt` checks.
    plain = (int, float) if kind is float else (str,) if origin is Literal else (kind,)
    if type(value) not in plain:
        raise _invalid(name)
    return value


@cache
def _types_of(kind: type) -> dict[str, Any]:
    """Return the types of a class's fields, cached because a tournament may have 1,000 engines."""
    return get_type_hints(kind)


def _invalid(name: str) -> ValueError:
    return ValueError(f"its settings have no valid {name}")


def facts(text: str) -> list[tuple[str, str]]:
    """Return labels and texts that describe a tournament in a report, from its settings as JSON."""
    settings = read_settings(text)
    always_known = [("Event", settings.event), ("Rules", settings.rules)]
    if settings.is_converted:
        return always_known
    openings, sprt = settings.openings.file, settings.sprt
    test = [] if sprt is None else [(
        "Test", f"H0: {sprt.elo0:g} Elo, H1: {sprt.elo1:g} Elo ({sprt.model}), "
        f"alpha {sprt.alpha:g}, beta {sprt.beta:g}",
    )]
    return [
        *always_known,
        ("Format", _format(settings)),
        *test,
        ("Openings", os.path.basename(openings) if openings else "random"),
        ("Seed", str(settings.seed)),
    ]


def _format(settings: Settings) -> str:
    """Return the format and length of a tournament."""
    if settings.tuning is not None:
        return f"SPSA, {counted(settings.rounds, 'pair')} of games"
    if settings.format == LEAGUE:
        return f"{LEAGUE}, pairs chosen to reduce the errors of the ratings"
    length = f"{counted(settings.rounds, 'round')} of {counted(settings.games, 'game')}"
    if settings.format == "knockout":
        return f"knockout, matches of {length}, extended if drawn"
    return f"{settings.format}, {'at most ' if settings.sprt is not None else ''}{length}"
