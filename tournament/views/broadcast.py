"""Events for the page of a running tournament: the whole state first, then changes.

Neither grows with the games that are over: of those the page knows the latest, and the standings.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Any

from merels.engine.common.errors import printable
from merels.tournament.journal.rows import Row
from merels.tournament.records.games import Entrant, GameSpec, MoveRecord
from merels.tournament.report.replay_data import moves_view, replay_view, result_view
from merels.tournament.run.tasks import Played

JSON = dict[str, Any]
KEPT = 200
"""How many of the latest games are listed and can be replayed."""
NEWEST = 20
"""The most results in one event; nobody can follow more."""
MOST_POINTS = 400
"""Of the graph of a test; with more, every second one is left out."""
NOTICES = 20
MILLION = 1_000_000


@dataclass(slots=True)
class _Live:
    """A game in progress, and how much of it the page knows."""

    spec: GameSpec
    moves: list[MoveRecord] = field(default_factory=list)
    asked: int | None = None
    """When the side to move was asked, in nanoseconds of monotonic time."""
    told: int | None = None
    """Number of its moves that the page has; None if it has not seen the start."""
    is_new: bool = True
    """Whether something happened since the page was told."""


class Broadcast:
    """Collects events as JSON values.

    All of it is used by one thread; only `replay` may be called from others.
    """

    def __init__(self, about: JSON) -> None:
        """``about``: what never changes."""
        self._about = about
        self._live: dict[int, _Live] = {}
        self._facts: JSON = {}
        """The latest value of each part of the page, by name."""
        self._fresh: JSON = {}
        """Those that changed since the page was told."""
        self._results: deque[JSON] = deque(maxlen=KEPT)
        self._fresh_results: deque[JSON] = deque(maxlen=NEWEST)
        self._fresh_ends: list[JSON] = []
        """The results of games that the page shows: it gets every one of them."""
        self._notices: deque[str] = deque(maxlen=NOTICES)
        self._fresh_notices: deque[str] = deque(maxlen=NOTICES)
        self._points: list[tuple[int, float]] = []
        self._point: tuple[int, float] | None = None
        self._fresh_point: tuple[int, float] | None = None
        self._stride = 1
        self._rows: dict[int, Row] = {}

    def game_began(self, spec: GameSpec) -> None:
        """A game began."""
        self._live[spec.number] = _Live(spec)

    def game_went_on(self, played: Played) -> None:
        """Moves were played in a started game."""
        live = self._live[played.number]
        if not played.reported:
            live.moves.clear()
            live.told = live.told and 0
        live.moves += played.moves
        live.asked, live.is_new = played.asked, True

    def game_ended(self, row: Row) -> None:
        """A game is over; the page gets its last moves if it shows the game."""
        live = self._live.pop(row.number, None)
        result = self._keep(row)
        if live is None or live.told is None:
            self._fresh_results.append(result)
        else:
            rest = {"at": live.told, "moves": moves_view(row.played()[live.told :])}
            self._fresh_ends.append(result | rest)

    def found(self, row: Row) -> None:
        """A game was played by an earlier run."""
        self._keep(row)

    def notice(self, text: str) -> None:
        """Something happened that a person should know."""
        self._notices.append(printable(text))
        self._fresh_notices.append(printable(text))

    def ratio(self, games: int, llr: float) -> None:
        """The log-likelihood ratio of the test after a number of games."""
        self._point = self._fresh_point = games, round(llr, 4)
        if not self._points or games - self._points[-1][0] >= self._stride:
            self._points.append(self._point)
        if len(self._points) > MOST_POINTS:
            self._points = self._points[::2]
            self._stride *= 2

    def show(self, **facts: Any) -> None:
        """Show facts by name, in place of former ones."""
        for name, fact in facts.items():
            if name not in self._facts or self._facts[name] != fact:
                self._facts[name] = self._fresh[name] = fact

    def replay(self, number: int) -> JSON | None:
        """One of the latest games, whole."""
        row = self._rows.get(number)
        return None if row is None else replay_view(row)

    def replays(self) -> list[JSON]:
        """All of the latest games, whole."""
        return [replay_view(row) for row in self._rows.values()]

    def all(self) -> JSON:
        """All that a page needs which knows nothing yet."""
        points = self._points
        if self._point is not None and points[-1] != self._point:
            points = [*points, self._point]
        return {
            "about": self._about,
            **self._facts,
            "games": [_begin(live) | _go_on(live, 0) for live in self._live.values()],
            "results": list(self._results),
            "notices": list(self._notices),
            "ratios": points,
        }

    def news(self) -> JSON:
        """Return the events since the last call."""
        news, self._fresh = self._fresh, {}
        games = [self._news_of(live) for live in self._live.values() if live.is_new]
        lists = {"games": games, "results": [*self._fresh_ends, *self._fresh_results],
                 "notices": list(self._fresh_notices)}
        self._fresh_ends.clear()
        self._fresh_results.clear()
        self._fresh_notices.clear()
        news.update((name, what) for name, what in lists.items() if what)
        if self._fresh_point is not None:
            news["ratios"], self._fresh_point = [self._fresh_point], None
        return news

    def _news_of(self, live: _Live) -> JSON:
        """Return the moves of a game that the page does not have, and mark them as sent."""
        known = live.told
        live.told, live.is_new = len(live.moves), False
        if known is None:
            return _begin(live) | _go_on(live, 0)
        return {"n": live.spec.number} | _go_on(live, known)

    def _keep(self, row: Row) -> JSON:
        """Keep a game for replay, and forget the oldest; its line in the list of results."""
        self._rows[row.number] = row
        if len(self._rows) > KEPT:
            del self._rows[next(iter(self._rows))]
        self._results.append(result_view(row))
        return self._results[-1]


def _begin(live: _Live) -> JSON:
    """A game before its first move."""
    spec = live.spec
    return {
        "n": spec.number, "round": spec.round,
        "white": printable(spec.white.name), "black": printable(spec.black.name),
        "position": spec.opening.position, "opening": list(spec.opening.moves),
        "clocks": [_clock(spec.white), _clock(spec.black)],
    }


def _go_on(live: _Live, known: int) -> JSON:
    """A game's moves from one on, and for how many milliseconds the side to move has thought."""
    asked = live.asked
    thinking = None if asked is None else max(0, monotonic_ns() - asked) // MILLION
    return {"at": known, "moves": moves_view(live.moves[known:]), "thinking": thinking}


def _clock(entrant: Entrant) -> int | None:
    """Time on a clock at the start, in milliseconds; None without a clock."""
    time = entrant.limit.time
    return None if time is None else time // MILLION
