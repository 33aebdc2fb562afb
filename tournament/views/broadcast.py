"""The state of a running tournament for its page, and the changes since any earlier version.

The web server sends each set of changes as one event. The size of an event does not grow with the
number of finished games: the page gets only the latest games and the standings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition
from time import monotonic_ns
from typing import Any

from merels.engine.common.errors import printable
from merels.engine.game.rules import Rules
from merels.tournament.journal.rows import Row
from merels.tournament.records.games import MILLISECOND, Entrant, GameSpec, MoveRecord
from merels.tournament.report.lots import JSON, Lot, moves_view
from merels.tournament.run.tasks import Played

KEPT_GAMES = 200
"""Number of latest games that are listed and can be replayed."""
NOTICES = 20
"""Number of latest notices that are kept."""


@dataclass(slots=True)
class _LiveGame:
    """A game in progress."""

    spec: GameSpec
    version: int
    """Version of the state in which the game last changed."""
    moves: list[MoveRecord] = field(default_factory=list)
    go_time: int | None = None
    """Monotonic time, in nanoseconds, at which the side to move was sent ``go``."""

    def view(self) -> JSON:
        """Return the game, its initial clocks and the thinking time so far, in milliseconds."""
        spec, go_time = self.spec, self.go_time
        return {
            "n": spec.number,
            "white": printable(spec.white.name), "black": printable(spec.black.name),
            "position": spec.opening.position, "opening": list(spec.opening.moves),
            "moves": moves_view(self.moves), "clocks": [_clock(spec.white), _clock(spec.black)],
            "thinking":
                None if go_time is None else max(0, monotonic_ns() - go_time) // MILLISECOND,
        }


class Broadcast:
    """The state of the page, whose version is a number that each change raises.

    Only one thread, the runner's, changes the state. Any thread may call `since`.
    """

    def __init__(self, rules: Rules, about: str) -> None:
        """Start with ``about``, the title of the page."""
        self._rules = rules
        self._changed = Condition()
        self._version = 1
        self._parts: dict[str, tuple[int, Any]] = {"about": (1, about)}
        """Each part of the page with its version, by name."""
        self._live: dict[int, _LiveGame] = {}
        self._latest: deque[tuple[int, Row]] = deque(maxlen=KEPT_GAMES)
        self._notices: deque[str] = deque(maxlen=NOTICES)

    @contextmanager
    def _change(self) -> Iterator[int]:
        """Lock the state for a change; yield its new version, and wake the threads in `since`."""
        with self._changed:
            self._version += 1
            yield self._version
            self._changed.notify_all()

    def game_started(self, spec: GameSpec) -> None:
        """Add a game in progress."""
        with self._change() as version:
            self._live[spec.number] = _LiveGame(spec, version)

    def game_continued(self, played: Played) -> None:
        """Add new moves of a game in progress; after a restart of the game, replace its moves."""
        with self._change() as version:
            game = self._live[played.number]
            del game.moves[played.reported :]
            game.moves += played.moves
            game.go_time, game.version = played.go_time, version

    def game_ended(self, row: Row) -> None:
        """Add a finished game."""
        with self._change() as version:
            self._live.pop(row.number, None)
            self._latest.append((version, row))

    def notice(self, text: str) -> None:
        """Add a notice."""
        self._notices.append(printable(text))
        self.show(notices=list(self._notices))

    def show(self, **parts: Any) -> None:
        """Set parts of the page by name, such as ``score``."""
        for name, value in parts.items():
            if name not in self._parts or self._parts[name][1] != value:
                with self._change() as version:
                    self._parts[name] = version, value

    def since(self, version: int, seconds: float = 0.0) -> tuple[int, JSON]:
        """Return the current version, and the changes since ``version``; 0: the whole state.

        Wait at most ``seconds`` for a change; without one, the changes are empty.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._version > version, seconds)
            event = {
                name: value for name, (changed, value) in self._parts.items() if changed > version
            }
            games = [game.view() for game in self._live.values() if game.version > version]
            rows = [row for changed, row in self._latest if changed > version]
            now, playing = self._version, list(self._live)
        if games or rows:
            event |= {"playing": playing, "games": games}
        if rows:
            lot = Lot()
            for row in rows:
                lot.add(row, self._rules)
            event["results"] = lot.data() | {"moves": lot.moves}
        return now, event


def _clock(entrant: Entrant) -> int | None:
    """Return the time on an engine's clock at the start, in milliseconds; None without a clock."""
    time = entrant.limit.time
    return None if time is None else time // MILLISECOND
