"""Events for the page of a running tournament: the whole state first, then changes.

The size of an event does not grow with the number of finished games: the page gets only the latest
games and the standings.
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
KEPT_GAMES = 200
"""Number of latest games that are listed and can be replayed."""
EVENT_RESULTS = 20
"""Largest number of results in one event, not counting games that the page shows."""
MAX_LLR_POINTS = 400
"""Largest number of points kept for the SPRT graph; with more, every second point is dropped."""
NOTICES = 20
"""Number of latest notices that are kept."""
MILLION = 1_000_000


@dataclass(slots=True)
class _LiveGame:
    """A game in progress."""

    spec: GameSpec
    moves: list[MoveRecord] = field(default_factory=list)
    asked: int | None = None
    """Monotonic time, in nanoseconds, at which the side to move received ``go``."""
    sent: int | None = None
    """Number of moves sent to the page; None if the game itself was not sent yet."""
    has_changed: bool = True
    """Whether the game changed since it was last sent."""


class Broadcast:
    """Collects events as JSON values.

    Only `replay` may be called from any thread; all other methods belong to one thread.
    """

    def __init__(self, about: JSON) -> None:
        """Start with ``about``, the constant part of the state."""
        self._about = about
        self._live: dict[int, _LiveGame] = {}
        self._parts: JSON = {}
        """The latest value of each part of the page, by name."""
        self._fresh: JSON = {}
        """The parts that changed since the last call of `news`."""
        self._results: deque[JSON] = deque(maxlen=KEPT_GAMES)
        self._fresh_results: deque[JSON] = deque(maxlen=EVENT_RESULTS)
        self._fresh_ends: list[JSON] = []
        """Results of games that the page shows; all of these are sent, unlike other results."""
        self._notices: deque[str] = deque(maxlen=NOTICES)
        self._fresh_notices: deque[str] = deque(maxlen=NOTICES)
        self._points: list[tuple[int, float]] = []
        """Points of the SPRT graph: number of games and log-likelihood ratio."""
        self._point: tuple[int, float] | None = None
        """The point after the last game, which may be missing from `_points`."""
        self._fresh_point: tuple[int, float] | None = None
        self._stride = 1
        """Smallest number of games between two of the `_points`."""
        self._rows: dict[int, Row] = {}

    def game_started(self, spec: GameSpec) -> None:
        """Add a game in progress."""
        self._live[spec.number] = _LiveGame(spec)

    def game_continued(self, played: Played) -> None:
        """Add new moves of a game in progress; the first moves of a replay replace all moves."""
        live = self._live[played.number]
        if not played.reported:
            live.moves.clear()
            live.sent = live.sent and 0
        live.moves += played.moves
        live.asked, live.has_changed = played.asked, True

    def game_ended(self, row: Row) -> None:
        """Add a finished game, with its last moves if the page shows the game."""
        live = self._live.pop(row.number, None)
        result = self._keep(row)
        if live is None or live.sent is None:
            self._fresh_results.append(result)
        else:
            last_moves = {"at": live.sent, "moves": moves_view(row.played()[live.sent :])}
            self._fresh_ends.append(result | last_moves)

    def add_stored(self, row: Row) -> None:
        """Add a game that an earlier run played."""
        self._keep(row)

    def notice(self, text: str) -> None:
        self._notices.append(printable(text))
        self._fresh_notices.append(printable(text))

    def add_llr(self, games: int, llr: float) -> None:
        """Add the log-likelihood ratio of the SPRT after ``games`` games."""
        self._point = self._fresh_point = games, round(llr, 4)
        if not self._points or games - self._points[-1][0] >= self._stride:
            self._points.append(self._point)
        if len(self._points) > MAX_LLR_POINTS:
            self._points = self._points[::2]
            self._stride *= 2

    def show(self, **parts: Any) -> None:
        """Set parts of the page by name, such as ``score``."""
        for name, value in parts.items():
            if name not in self._parts or self._parts[name] != value:
                self._parts[name] = self._fresh[name] = value

    def replay(self, number: int) -> JSON | None:
        """Return one of the latest games with all its moves, or None."""
        row = self._rows.get(number)
        return None if row is None else replay_view(row)

    def replays(self) -> list[JSON]:
        """Return all of the latest games with their moves."""
        return [replay_view(row) for row in self._rows.values()]

    def all(self) -> JSON:
        """Return the whole state, for a newly opened page."""
        points = self._points
        if self._point is not None and points[-1] != self._point:
            points = [*points, self._point]
        return {
            "about": self._about,
            **self._parts,
            "games": [_begin(live) | _go_on(live, 0) for live in self._live.values()],
            "results": list(self._results),
            "notices": list(self._notices),
            "ratios": points,
        }

    def news(self) -> JSON:
        """Return the changes since the last call."""
        changes, self._fresh = self._fresh, {}
        games = [self._new_moves(live) for live in self._live.values() if live.has_changed]
        lists = {"games": games, "results": [*self._fresh_ends, *self._fresh_results],
                 "notices": list(self._fresh_notices)}
        self._fresh_ends.clear()
        self._fresh_results.clear()
        self._fresh_notices.clear()
        changes.update((name, items) for name, items in lists.items() if items)
        if self._fresh_point is not None:
            changes["ratios"], self._fresh_point = [self._fresh_point], None
        return changes

    def _new_moves(self, live: _LiveGame) -> JSON:
        """Return the moves of a game that were not sent yet, and mark them as sent."""
        sent = live.sent
        live.sent, live.has_changed = len(live.moves), False
        if sent is None:
            return _begin(live) | _go_on(live, 0)
        return {"n": live.spec.number} | _go_on(live, sent)

    def _keep(self, row: Row) -> JSON:
        """Keep a game for replay in place of the oldest; return its entry for the results."""
        self._rows[row.number] = row
        if len(self._rows) > KEPT_GAMES:
            del self._rows[next(iter(self._rows))]
        self._results.append(result_view(row))
        return self._results[-1]


def _begin(live: _LiveGame) -> JSON:
    """Return the constant data of a game: number, players, start position and clocks."""
    spec = live.spec
    return {
        "n": spec.number, "round": spec.round,
        "white": printable(spec.white.name), "black": printable(spec.black.name),
        "position": spec.opening.position, "opening": list(spec.opening.moves),
        "clocks": [_clock(spec.white), _clock(spec.black)],
    }


def _go_on(live: _LiveGame, start: int) -> JSON:
    """Return a game's moves from index ``start``, and the thinking time so far in milliseconds."""
    asked = live.asked
    thinking = None if asked is None else max(0, monotonic_ns() - asked) // MILLION
    return {"at": start, "moves": moves_view(live.moves[start:]), "thinking": thinking}


def _clock(entrant: Entrant) -> int | None:
    """Return the time on a clock at the start, in milliseconds; None without a clock."""
    time = entrant.limit.time
    return None if time is None else time // MILLION
