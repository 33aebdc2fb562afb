"""Saves a board's game while it changes, and reads the players and the clock of a saved one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from merels.engine.common.errors import printable
from merels.engine.search.levels import LEVELS
from merels.protocol.board.game_store import UNFINISHED, ChangedElsewhere, Claim, GameStore
from merels.protocol.board.requests import FULL, Player, read_time
from merels.protocol.board.seat import OWN
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.json_fields import JSON
from merels.protocol.games.clock import Clock, clock_text, read_clock
from merels.protocol.games.game import Game
from merels.protocol.games.record import Record

_MOVED = (
    "Another board or program has changed or removed the file of this game. The game goes on in a "
    "second file in My games."
)
_SIDES = ("White", "Black")
_PROGRAM = "program"
KEPT_TAGS = (
    "White", "Black", "WhiteType", "BlackType", "TimeControl", "WhiteClock", "BlackClock",
    "Termination",
)  # fmt: skip
"""The tags with which a kept game can be continued."""


class AutoSaver:
    """Keeps the game of a board while it changes, each game under a key of its own.

    ``watched`` returns whether a page shows the board.
    """

    def __init__(self, store: GameStore | None, watched: Callable[[], bool]) -> None:
        self.store = store
        self.watched = watched
        self.save_error = ""
        """Why the game is not kept, or not in the file that it was in."""
        self._claim: Claim | None = None
        self._version = 0
        self._moved = ""
        self._final: tuple[JSON, Sequence[bool]] | None = None
        """The time control, and the sides that engines played, of a game that is over."""

    @property
    def key(self) -> str:
        """The key of the game on the board; empty while it is not kept."""
        return "" if self._claim is None else self._claim.key

    def begin(self, game: Game, claim: Claim | None = None) -> None:
        """Follow another game, which is kept already if there is a claim to it."""
        if self._claim is not claim:
            self.release()
        self._claim, self._version = claim, game.version
        self.save_error = self._moved = ""
        self._final = None

    def hold(self) -> None:
        """Keep other boards from the game again, unless one has it meanwhile."""
        if self.store is not None and self._claim is not None:
            self.store.hold(self._claim)

    def release(self) -> None:
        """Release the game to other boards, once no browser shows this one."""
        if self.store is not None and self._claim is not None:
            self.store.release(self._claim)

    def is_behind(self, game: Game) -> bool:
        """Whether a game has changed since it was kept."""
        moved = bool(game.record.root.children)
        return self.store is not None and game.version != self._version and moved

    def keep(self, game: Game, record: Record, time: JSON, programs: Sequence[bool]) -> None:
        """Save the game now; ``programs`` are the sides that engines play."""
        assert self.store is not None
        if game.over:  # Settings after the end belong to the next game.
            time, programs = self._final = self._final or (time, programs)
        record.tags = record.tags | _tags(game, time, programs)
        try:
            self._write(self.store, record)
        except OSError as error:
            where = f"{self.store.folder} ({error.strerror or error})"
            text = f"This game is not kept: nothing can be written to {where}."
            self.save_error = printable(text)
        else:
            self._version, self.save_error = game.version, self._moved

    def _write(self, store: GameStore, record: Record) -> None:
        """Write a game to its file, or if that is another board's by now, to a second one."""
        if self._claim is not None and store.hold(self._claim):
            with suppress(ChangedElsewhere):
                store.write(self._claim, record)
                return
        if self._claim is not None:
            store.release(self._claim)
            self._moved = _MOVED
        self._claim = store.begin(self.watched)
        store.write(self._claim, record)


def _tags(game: Game, time: JSON, programs: Sequence[bool]) -> dict[str, str]:
    """The tags to continue a game, and those that a list of games shows."""
    end = game.record.end()
    tags = {"PlyCount": str(end.ply)}
    if not game.played or game.live is not end:  # Moves were tried before any was played.
        return tags
    for side, name in enumerate(_SIDES):
        tags[f"{name}Type"] = _PROGRAM if programs[side] else "human"
        if game.clock is not None:
            tags[f"{name}Clock"] = clock_text(game.clock.left(side))
    if time["kind"] == "clock":
        tags["TimeControl"] = f"{time['base']:g}+{time['increment']:g}"
    tags["Termination"] = "normal" if game.over else UNFINISHED
    return tags


def seated(record: Record, choices: Sequence[EngineSpec]) -> list[Player]:
    """White and Black of a kept game, users for engines that are not there."""
    players = []
    for side in _SIDES:
        name = record.tags.get(side, "")
        if record.tags.get(f"{side}Type") == _PROGRAM:
            players.append(_engine(name, choices))
        else:
            players.append(Player(None, name="" if name in ("You", "Player", "?") else name))
    return players


def _engine(name: str, choices: Sequence[EngineSpec]) -> Player:
    """The engine, and its level, that plays under a name; a user if it is not there any more."""
    for choice in choices:
        for level in LEVELS if choice is OWN else ():
            if name == f"{choice.name} ({level.name})":
                return Player(choice, level.name)
        if name == choice.name:
            return Player(choice, FULL)
    return Player(None)


def clock_of(record: Record) -> tuple[JSON, Clock] | None:
    """The time control of a kept game, and its clock as it stood; None without one."""
    base, _, increment = record.tags.get("TimeControl", "").partition("+")
    try:
        wanted = {"kind": "clock", "base": float(base), "increment": float(increment)}
        time = read_time(wanted)
        white, black = (read_clock(record.tags[f"{side}Clock"]) for side in _SIDES)
    except (KeyError, ValueError):
        return None
    return time, Clock(time["base"], time["increment"], (white, black))
