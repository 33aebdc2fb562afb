"""Saves a board's game after each change; reads the players and the clock of a stored game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from merels.engine.common.errors import printable
from merels.engine.common.messages import message
from merels.engine.search.levels import LEVELS
from merels.protocol.board.game_store import UNFINISHED, ChangedElsewhere, Claim, GameStore
from merels.protocol.board.requests import FULL, Player, check_time
from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.json_fields import JSON
from merels.protocol.games.clock import Clock, clock_text, read_clock
from merels.protocol.games.game import Game
from merels.protocol.games.record import Record

_FILE_CHANGED = (
    "Another tab or program has opened, changed or removed this game's file. The game is now "
    "saved to a second file in My games."
)
_SIDES = ("White", "Black")
_ENGINE_TYPE = "program"
RESUME_TAGS = (
    "White", "Black", "WhiteType", "BlackType", "TimeControl", "WhiteClock", "BlackClock",
    "Termination",
)  # fmt: skip
"""Tags needed to resume a stored game; they are removed from its record when it is resumed."""


class AutoSaver:
    """Saves the game of a board to a `GameStore`, each game under its own key.

    Without a ``store`` no game is saved. ``watched`` returns whether a page shows the board.
    """

    def __init__(self, store: GameStore | None, watched: Callable[[], bool]) -> None:
        self.store = store
        self.watched = watched
        self.save_error = ""
        """Message if saving failed, or if the game was saved to a second file; else empty."""
        self._claim: Claim | None = None
        self._version = 0
        self._notice = ""
        self._final: dict[str, str] = {}
        """The tags of `_tags` when the game ended; empty before."""

    @property
    def key(self) -> str:
        """The key of the game on the board; empty until the game is saved."""
        return "" if self._claim is None else self._claim.key

    def begin(self, game: Game, claim: Claim | None = None) -> None:
        """Save ``game`` from its next change on; a stored game comes with its ``claim``."""
        if self._claim is not claim:
            self.release()
        self._claim, self._version = claim, game.version
        self.save_error = self._notice = ""
        self._final = {}

    def acquire(self) -> None:
        """Try to acquire the claim to the game again."""
        if self.store is not None and self._claim is not None:
            self.store.acquire(self._claim)

    def release(self) -> None:
        """Let other boards open the game."""
        if self.store is not None and self._claim is not None:
            self.store.release(self._claim)

    def has_unsaved_changes(self, game: Game) -> bool:
        """Return whether a game with moves has changed since it was last saved."""
        has_moves = bool(game.record.root.children)
        return self.store is not None and game.version != self._version and has_moves

    def save(self, game: Game, record: Record, time: JSON, are_engines: Sequence[bool]) -> None:
        """Save the game; a failure is reported in `save_error`.

        ``time`` is the time control; ``are_engines``: whether White and Black are engines.
        """
        assert self.store is not None
        tags = _tags(game, time, are_engines)
        if game.over:  # Later settings belong to the next game.
            tags = self._final = self._final or tags
        record.tags = record.tags | tags
        try:
            self._write(self.store, record)
        except OSError as error:
            self.save_error = printable(
                message(
                    "This game is not saved: cannot write to {where}. Download it with "
                    "'Save or share'.",
                    where=f"{self.store.folder} ({error.strerror or error})",
                )
            )
        else:
            self._version, self.save_error = game.version, self._notice

    def _write(self, store: GameStore, record: Record) -> None:
        """Write a game to its file.

        If another board holds the claim, or the file was changed, write to a second file instead.
        """
        if self._claim is not None and store.acquire(self._claim):
            with suppress(ChangedElsewhere):
                store.write(self._claim, record)
                return
        if self._claim is not None:
            store.release(self._claim)
            self._notice = _FILE_CHANGED
        self._claim = store.begin(self.watched)
        store.write(self._claim, record)


def _tags(game: Game, time: JSON, are_engines: Sequence[bool]) -> dict[str, str]:
    """Return the tags for resuming a game, and the tags that a list of games shows."""
    end = game.record.end()
    tags = {"PlyCount": str(end.ply)}
    if not game.played or game.live is not end:  # An analysis, or variations only.
        return tags
    for side, name in enumerate(_SIDES):
        tags[f"{name}Type"] = _ENGINE_TYPE if are_engines[side] else "human"
        if game.clock is not None:
            tags[f"{name}Clock"] = clock_text(game.clock.left(side))
    if time["kind"] == "clock":
        tags["TimeControl"] = f"{time['base']:g}+{time['increment']:g}"
    tags["Termination"] = "normal" if game.over else UNFINISHED
    return tags


def stored_players(record: Record, choices: Sequence[EngineSpec]) -> list[Player]:
    """Return White and Black of a stored game; a user replaces an engine not in ``choices``."""
    players = []
    for side in _SIDES:
        name = record.tags.get(side, "")
        if record.tags.get(f"{side}Type") == _ENGINE_TYPE:
            players.append(_engine_named(name, choices))
        else:
            players.append(Player(None, name="" if name in ("You", "Player", "?") else name))
    return players


def _engine_named(name: str, choices: Sequence[EngineSpec]) -> Player:
    """Return the engine and level with the displayed ``name``; a user if no engine has it."""
    for choice in choices:
        for level in LEVELS if choice is OWN_ENGINE else ():
            if name == f"{choice.name} ({level.name})":
                return Player(choice, level.name)
        if name == choice.name:
            return Player(choice, FULL)
    return Player(None)


def stored_clock(record: Record) -> tuple[JSON, Clock] | None:
    """Return a stored game's time control and clock; None if either is missing or unreadable."""
    base, _, increment = record.tags.get("TimeControl", "").partition("+")
    try:
        fields = {"kind": "clock", "base": float(base), "increment": float(increment)}
        time = check_time(fields)
        white, black = (read_clock(record.tags[f"{side}Clock"]) for side in _SIDES)
    except (KeyError, ValueError):
        return None
    return time, Clock(time["base"], time["increment"], (white, black))
