"""Solving puzzles: who solves them, what they are given next, and what they do with it."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random
from threading import Lock

from merels.engine.common.errors import InputError, printable
from merels.engine.common.saving import Stamp, stamp, write_whole
from merels.engine.game.notation import format_position
from merels.engine.game.position import COLOURS, Move, Position
from merels.engine.tablebase.probe import Tables
from merels.protocol.puzzles.puzzle import Puzzle
from merels.protocol.puzzles.search import find_puzzles

_FIRST_RATING = 1100
_K, _FIRST_K, _FIRST = 24, 60, 15
"""How far a puzzle moves the rating of a player; the first puzzles move it further."""
_TASKS = {
    "win": "{} to move: one move wins.",
    "draw": "{} to move: one move draws, all others lose.",
}
_CANDIDATES = 4
"""Puzzles to choose from."""
_MOST_GIVEN = 1000
"""Puzzles that are remembered, so as not to be given again."""
_FILE = "player.json"


@dataclass
class Player:
    """Who solves puzzles: an Elo rating, puzzles tried and solved, and solved in a row."""

    rating: float = _FIRST_RATING
    tried: int = 0
    solved: int = 0
    streak: int = 0
    best: int = 0
    """The longest streak."""

    def score(self, puzzle: Puzzle, points: float) -> int:
        """Count a puzzle with 1 point, ½ or none; what it changed the rating by."""
        expected = 1 / (1 + 10 ** ((puzzle.rating - self.rating) / 400))
        step = _FIRST_K if self.tried < _FIRST else _K
        before = round(self.rating)
        self.rating = max(100.0, self.rating + step * (points - expected))
        self.tried += 1
        self.solved += points > 0
        self.streak = self.streak + 1 if points == 1 else 0
        self.best = max(self.best, self.streak)
        return round(self.rating) - before


class Attempt:
    """A puzzle that is being solved, up to a place in its line."""

    rated = True
    """Whether it counts for the player's rating."""

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self.position = puzzle.position
        self.last: Move | None = None
        """The reply that led to the position."""
        self.step = 0
        self.hints = 0
        """Hints taken for this move: first the man, then the move."""
        self.points = 1.0
        """Share of the rating change that solving it still earns."""
        self.change: int | None = None
        """Change of the player's rating, once it has counted."""

    @property
    def solved(self) -> bool:
        """Whether the last right move has been played."""
        return self.step == len(self.puzzle.line)

    @property
    def wanted(self) -> Move:
        """The right move."""
        return self.puzzle.line[self.step]

    @property
    def task(self) -> str:
        """The task, as a sentence."""
        return _TASKS[self.puzzle.goal].format(COLOURS[self.puzzle.position.side])

    def is_right(self, move: Move) -> bool:
        """Whether a legal move is right here."""
        return self.puzzle.solves(self.step, move)

    def play(self, move: Move) -> Position | None:
        """The position after a right move, before the reply; None, and no points, if it is wrong.

        `InputError` if it is not legal, or the puzzle is solved.
        """
        if self.solved:
            raise InputError(str(move), "this puzzle is solved; go on to the next")
        after = self.position.push(move)
        if not self.is_right(move):
            self.points = 0.0
            return None
        self.position, self.last, self.hints = after, move, 0
        self.step += 1
        if not self.solved:
            self.last = self.puzzle.line[self.step]
            self.position = after.play(self.last)
            self.step += 1
        return after

    def hint(self) -> int:
        """Take the next hint, 1 for the man, 2 for the move; the latter leaves no points."""
        if self.solved:
            raise InputError("hint", "this puzzle is solved; go on to the next")
        self.hints = min(2, self.hints + 1)
        self.points = min(self.points, 0.5 if self.hints == 1 else 0.0)
        return self.hints


class Trainer:
    """Gives puzzles to a player, whose rating is kept in a folder. Any thread may use it.

    ``puzzles`` are those of a file; without any, they are made from tables.
    """

    def __init__(self, folder: Path | None = None, puzzles: Sequence[Puzzle] = ()) -> None:
        self.puzzles = puzzles
        self.player = Player()
        self._path = folder and folder / _FILE
        self._lock = Lock()
        self._random = Random()
        self._given: deque[str] = deque(maxlen=_MOST_GIVEN)
        self.save_error = ""
        """Why the player's rating is not kept."""
        self._seen: Stamp | None = None
        """The stamp of the player's file as it was read or written last."""
        self._read()

    def next(self, tables: Tables | None) -> Attempt:
        """Another puzzle of about the player's strength; `InputError` where there is none."""
        with self._lock:
            found: Sequence[Puzzle] = self.puzzles
            if not found and tables is not None:
                seed = self._random.getrandbits(32)
                found = list(islice(find_puzzles(tables, seed), _CANDIDATES))
            if not found:
                raise InputError("puzzles", "the tables of these rules have none")
            fresh = [one for one in found if format_position(one.position) not in self._given]
            fresh.sort(key=lambda one: abs(one.rating - self.player.rating))
            chosen = self._random.choice(fresh[: _CANDIDATES // 2] or found)
            self._given.append(format_position(chosen.position))
            return Attempt(chosen)

    def count(self, attempt: Attempt) -> None:
        """Count a puzzle, once, when it is solved or can no longer be solved."""
        with self._lock:
            done = attempt.solved or attempt.points == 0
            if not attempt.rated or attempt.change is not None or not done:
                return
            self._read()
            attempt.change = self.player.score(attempt.puzzle, attempt.points)
            self._write()

    def _read(self) -> None:
        """Take the player from the file if it has changed; one that cannot be read is left."""
        if self._path is None:
            return
        try:
            seen = stamp(self._path)
            if seen == self._seen:
                return
            row = json.loads(self._path.read_text(encoding="utf-8"))
            self.player = Player(
                float(row["rating"]), *(int(row[name]) for name in list(asdict(self.player))[1:])
            )
            self._seen = seen
        except FileNotFoundError:
            pass  # It has just been removed; the next puzzle makes another.
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            self._give_up(f"{self._path} cannot be read ({error})")

    def _write(self) -> None:
        """Keep the player; if that is not possible, the rating lasts as long as the program."""
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, [json.dumps(asdict(self.player)).encode()])
            self._seen = stamp(self._path)
        except OSError as error:
            self._give_up(f"nothing can be written to {self._path} ({error.strerror or error})")

    def _give_up(self, reason: str) -> None:
        """Stop saving the player's file."""
        self._path = None
        self.save_error = printable(f"Your rating in puzzles is not kept: {reason}.")
