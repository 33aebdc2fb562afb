"""What a tournament is: everything that decides which games are played and how they end.

Two runs with equal settings have the same pairings, colours and openings. What changes only the
looks or the speed of a run (output, concurrency) is not in here.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from merels.engine.game.rules import DEFAULT_RULES
from merels.tournament.records.games import Adjudication, Entrant
from merels.tournament.statistics.sprt import Sprt

FORMATS = ("roundrobin", "gauntlet", "swiss", "knockout")
MAY_GROW = "rounds"
"""The one setting that a resumed run may raise: the games before stay what they were."""


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
class Settings:
    """One tournament.

    ``rounds`` is how often each pairing is played (round robin, gauntlet), how many rounds there
    are (Swiss), or how many times a match plays its pairing (knockout). A pairing has ``games``
    games; every two of them share an opening and, with ``swap``, have the colours exchanged.
    ``seeds`` is the number of engines that meet the rest in a gauntlet.
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
    event: str = "merels tournament"
    site: str = "?"

    @property
    def by_pairs(self) -> bool:
        """Whether estimates and tests are of game pairs: if that is wanted and there are any."""
        return self.penta and self.games > 1

    def as_json(self) -> str:
        """The settings as a JSON object; an engine's fields stand beside those of its entrant."""
        data = dataclasses.asdict(self)
        data["engines"] = [entrant.pop("engine") | entrant for entrant in data["engines"]]
        return json.dumps(data, sort_keys=True)


def check_settings(text: str) -> None:
    """Raise a `ValueError` unless a text has the form of the settings as JSON."""
    data = json.loads(text)
    wanted = dataclasses.asdict(Settings((), 0))
    for name in ("event", "rules", "format", "rounds", "games", "openings", "seed"):
        if not isinstance(data, dict) or type(data.get(name)) is not type(wanted[name]):
            raise ValueError(f"its settings do not say their {name}")
    openings = data["openings"]
    if "file" not in openings or not isinstance(openings["file"], str | None):
        raise ValueError("its settings do not say their openings")
    engines = data.get("engines")
    if not isinstance(engines, list) or not all(
        isinstance(engine, dict) and isinstance(engine.get("name"), str) for engine in engines
    ):
        raise ValueError("its settings do not say their engines")


def engine_names(settings: str) -> list[str]:
    """The names of a tournament's engines, from its settings as JSON."""
    return [engine["name"] for engine in json.loads(settings)["engines"]]


def facts(settings: str) -> list[tuple[str, str]]:
    """What a report says about a tournament, from its settings as JSON."""
    data = json.loads(settings)
    openings = data["openings"]["file"]
    return [
        ("Event", data["event"]),
        ("Rules", data["rules"]),
        ("Format", f"{data['format']}, {data['rounds']} rounds of {data['games']} games"),
        ("Openings", os.path.basename(openings) if openings else "random"),
        ("Seed", str(data["seed"])),
    ]


def differences(ours: str, theirs: str) -> list[str]:
    """How two tournaments, as JSON, differ: a line for each difference, ours first.

    More rounds than before are no difference where the games already planned stay the same.
    """
    mine, other = json.loads(ours), json.loads(theirs)
    grown = other.get(MAY_GROW, 0) < mine.get(MAY_GROW, 0)
    if grown and mine.get("format") in ("roundrobin", "gauntlet"):
        del mine[MAY_GROW], other[MAY_GROW]
    left, right = dict(_leaves(mine, "")), dict(_leaves(other, ""))
    # Older journals lack the newer fields, which are null where they say nothing.
    return [
        f"{name}: now {left.get(name, 'absent')}, in the journal {right.get(name, 'absent')}"
        for name in sorted(left | right)
        if left.get(name, "null") != right.get(name, "null")
    ]


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """The single values inside a JSON value, each with its path in words."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{name} {key}".strip())
    elif isinstance(value, list) and not all(isinstance(inner, str) for inner in value):
        for index, inner in enumerate(value, 1):
            yield from _leaves(inner, f"{name.removesuffix('s')} {index}")
    else:
        yield name, json.dumps(value)
