"""A board's game as it is kept, and put on the board again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from merels.engine.game.errors import InputError, printable
from merels.engine.game.record import Record
from merels.engine.search.levels import LEVELS
from merels.protocol.board.requests import FULL, JSON, Player, read_time
from merels.protocol.board.seat import OWN
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.games.clock import Clock
from merels.protocol.games.game import Game
from merels.protocol.games.kept import UNFINISHED, Kept

_SIDES = ("White", "Black")
_PROGRAM = "program"
KEPT_TAGS = ("WhiteType", "BlackType", "TimeControl", "WhiteClock", "BlackClock", "Termination")
"""The tags that say how a kept game goes on."""


class Keeper:
    """Keeps the game of a board while it changes, each game under a key of its own.

    ``watched`` says whether anybody looks at the board.
    """

    def __init__(self, kept: Kept | None, watched: Callable[[], bool]) -> None:
        self.kept = kept
        self.watched = watched
        self.key = ""
        """The key of the game on the board; empty while it is not kept."""
        self.fault = ""
        """Why the game is not kept."""
        self._version = 0

    def begin(self, game: Game, key: str = "") -> None:
        """Follow another game, which is kept already where it has a key."""
        if self.kept is not None:
            if self._holds(self.key):
                del self.kept.holders[self.key]
            if key:
                self.kept.holders[key] = self
        self.key, self._version = key, game.version

    def _holds(self, key: str) -> bool:
        return self.kept is not None and self.kept.holders.get(key) is self

    def check_free(self, key: str) -> None:
        """Raise an `InputError` if a game is on another board that somebody looks at."""
        holder = self.kept and self.kept.holders.get(key)
        if isinstance(holder, Keeper) and holder is not self and holder.watched():
            raise InputError(key, "this game is open in another tab")

    def is_behind(self, game: Game) -> bool:
        """Whether a game has changed since it was kept."""
        moved = bool(game.tree.root.children)
        return self.kept is not None and game.version != self._version and moved

    def keep(self, game: Game, record: Record, time: JSON, programs: Sequence[bool]) -> None:
        """Keep a game as it stands; ``programs`` says of which sides engines play."""
        assert self.kept is not None
        self._version = game.version
        if not self._holds(self.key):  # It is a new game, or another board has taken it over.
            self.key = self.kept.new_key()
            self.kept.holders[self.key] = self
        record.tags = record.tags | _tags(game, time, programs)
        try:
            self.kept.write(self.key, record)
            self.fault = ""
        except OSError as error:
            where = f"{self.kept.folder} ({error.strerror or error})"
            self.fault = printable(f"This game is not kept: nothing can be written to {where}.")


def _tags(game: Game, time: JSON, programs: Sequence[bool]) -> dict[str, str]:
    """What a game needs to be played on, and what a list of games shows."""
    tags = {"PlyCount": str(game.tree.root.end().ply)}
    if not game.played:
        return tags
    for side, name in enumerate(_SIDES):
        tags[f"{name}Type"] = _PROGRAM if programs[side] else "human"
        if game.clock is not None:
            tags[f"{name}Clock"] = f"{max(0.0, game.clock.left(side)):.2f}"
    if time["kind"] == "clock":
        tags["TimeControl"] = f"{time['base']:g}+{time['increment']:g}"
    tags["Termination"] = "normal" if game.over else UNFINISHED
    return tags


def seated(record: Record, choices: Sequence[EngineSpec]) -> tuple[list[Player], list[str]]:
    """White and Black of a kept game, users for engines that are not there, and users' names."""
    players: list[Player] = []
    names = []
    for side in _SIDES:
        name = record.tags.get(side, "")
        program = record.tags.get(f"{side}Type") == _PROGRAM
        players.append(_player(name, choices) if program else (None, ""))
        names.append("" if program or name in ("You", "Player", "?") else name)
    return players, names


def _player(name: str, choices: Sequence[EngineSpec]) -> Player:
    """The engine, and its level, that plays under a name; a user if it is not there any more."""
    for choice in choices:
        for level in LEVELS if choice is OWN else ():
            if name == f"{choice.name} ({level.name})":
                return choice, level.name
        if name == choice.name:
            return choice, FULL
    return None, ""


def clock_of(record: Record) -> tuple[JSON, Clock] | None:
    """The time control of a kept game, and its clock as it stood; None without one."""
    base, _, increment = record.tags.get("TimeControl", "").partition("+")
    try:
        wanted = {"kind": "clock", "base": float(base), "increment": float(increment)}
        time = read_time(wanted)
        white, black = (max(0.0, float(record.tags[f"{side}Clock"])) for side in _SIDES)
    except (KeyError, ValueError):
        return None
    return time, Clock(time["base"], time["increment"], (white, black))
