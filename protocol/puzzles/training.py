"""Solving puzzles: the player's rating, the choice of the next puzzle, and attempts."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from threading import Lock
from typing import NamedTuple

from merels.engine.common.errors import InputError, printable
from merels.engine.common.messages import message
from merels.engine.common.regular_file import read_regular_file
from merels.engine.common.saving import Stamp, stamp, write_whole
from merels.engine.game.notation import format_position
from merels.engine.game.position import COLOURS, Move, Position
from merels.engine.game.rules import DEFAULT_RULES, Rules
from merels.protocol.puzzles.puzzle import Puzzle, standard_puzzles
from merels.protocol.puzzles.themes import themes_of

_FIRST_RATING = 1100
_K, _FIRST_K, _FIRST_COUNT = 24, 60, 15
"""Elo's factor K, the factor for a player's first puzzles, and the number of those puzzles."""
_TASKS = {
    "win": "{side} to move: one move wins.",
    "draw": "{side} to move: one move draws, all others lose.",
}
_NEAREST = 10
"""Number of puzzles, nearest in rating, from which the next puzzle is chosen."""
HIGHEST_RATING = 9999
RANGES = ((0, HIGHEST_RATING), (0, 999), (1000, 1199), (1200, 1399), (1400, HIGHEST_RATING))
"""Ranges of ratings to choose from, lowest and highest rating; the first one has all puzzles."""
_MOST_GIVEN = 1000
"""Number of recent puzzles that are not chosen again, unless no other puzzle fits."""
_PLAYER_FILE = "player.json"
_LARGEST_FILE = 1 << 16
"""Bytes of a player's file, at most."""


@dataclass
class Player:
    """A player's Elo rating and counts of puzzles."""

    rating: float = _FIRST_RATING
    tried: int = 0
    solved: int = 0
    streak: int = 0
    """Number of puzzles solved in a row without a hint."""
    best: int = 0
    """The longest streak so far."""

    def score(self, puzzle: Puzzle, points: float) -> int:
        """Count a puzzle that earned 1, 0.5 or 0 points; return the change of the rating."""
        expected = 1 / (1 + 10 ** ((puzzle.rating - self.rating) / 400))
        step = _FIRST_K if self.tried < _FIRST_COUNT else _K
        before = round(self.rating)
        self.rating = max(100.0, self.rating + step * (points - expected))
        self.tried += 1
        self.solved += points > 0
        self.streak = self.streak + 1 if points == 1 else 0
        self.best = max(self.best, self.streak)
        return round(self.rating) - before


class Attempt:
    """A player's attempt at a puzzle."""

    rated = True
    """Whether the attempt changes the player's rating."""

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self.position = puzzle.position
        self.last: Move | None = None
        """The last move on the board, or None at the start."""
        self.step = 0
        """Number of moves played of the puzzle's line."""
        self.hints = 0
        """Number of hints for the current move: 1 showed the man, 2 the move."""
        self.points = 1.0
        """Points that solving the puzzle still earns: 1, 0.5 or 0."""
        self.change: int | None = None
        """Change of the player's rating; None before the attempt is counted."""

    @property
    def solved(self) -> bool:
        """Whether the last right move has been played."""
        return self.step == len(self.puzzle.line)

    @property
    def wanted(self) -> Move:
        """The right move in the current position."""
        return self.puzzle.line[self.step]

    @property
    def task(self) -> str:
        """The task, as a sentence."""
        return message(_TASKS[self.puzzle.goal], side=COLOURS[self.puzzle.position.side])

    def is_right(self, move: Move) -> bool:
        """Return whether a legal move is right in the current position."""
        return self.puzzle.solves(self.step, move)

    def play(self, move: Move) -> Position | None:
        """Play a move and, if it is right, the reply to it.

        Return the position after the move, before the reply. A wrong move costs all points and
        returns None. Raise `InputError` for an illegal move or a solved puzzle.
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
        """Take the next hint: the man to move halves the points, the whole move takes them all.

        Return the number of hints; raise `InputError` if the puzzle is solved.
        """
        if self.solved:
            raise InputError("hint", "this puzzle is solved; go on to the next")
        self.hints = min(2, self.hints + 1)
        self.points = min(self.points, 0.5 if self.hints == 1 else 0.0)
        return self.hints


class Wanted(NamedTuple):
    """The theme, '' for any, and the range of ratings that a player wants."""

    theme: str = ""
    low: int = 0
    high: int = HIGHEST_RATING

    def fits(self, puzzle: Puzzle) -> bool:
        """Return whether a puzzle is wanted."""
        in_range = self.low <= puzzle.rating <= self.high
        return in_range and (not self.theme or self.theme in themes_of(puzzle))


class Trainer:
    """Chooses puzzles for a player and saves the player's rating. Thread-safe.

    ``folder`` holds the player's file; if it is None, nothing is saved. Puzzles come from
    ``puzzles``; if there are none, and ``standard`` is set, from the installed file, which has
    puzzles of the default rules only.
    """

    def __init__(
        self, folder: Path | None = None, puzzles: Sequence[Puzzle] = (), standard: bool = False
    ) -> None:
        self._puzzles = puzzles
        self._standard = standard
        self.player = Player()
        self._path = folder and folder / _PLAYER_FILE
        self._lock = Lock()
        self._random = Random()
        self._given: deque[str] = deque(maxlen=_MOST_GIVEN)
        self.save_error = ""
        """Sentence with the reason why the rating is not saved, or ''."""
        self._stamp: Stamp | None = None
        """Stamp of the player's file at the last read or write."""
        self._read()

    def stored(self, rules: Rules) -> Sequence[Puzzle]:
        """Return the puzzles for these rules; empty if there are none."""
        if self._puzzles or not self._standard or rules != DEFAULT_RULES:
            return self._puzzles
        return standard_puzzles()

    def count_themes(self, rules: Rules) -> dict[str, list[int]]:
        """Return the numbers of puzzles in each of `RANGES`, by theme; '' is any theme."""
        counts: dict[str, list[int]] = {"": [0] * len(RANGES)}
        for puzzle in self.stored(rules):
            for theme in ("", *themes_of(puzzle)):
                row = counts.setdefault(theme, [0] * len(RANGES))
                for index, (low, high) in enumerate(RANGES):
                    row[index] += low <= puzzle.rating <= high
        return counts

    def next(self, rules: Rules = DEFAULT_RULES, wanted: Wanted = Wanted()) -> Attempt:
        """Choose a wanted puzzle near the player's rating; `InputError` if no puzzle fits."""
        with self._lock:
            stored = self.stored(rules)
            puzzles = list(filter(wanted.fits, stored))
            if not stored:
                raise InputError(
                    "puzzles", "there are no puzzles of these rules; make a file with 'merels "
                    "puzzles', and open it with 'merels board -puzzles'"
                )
            if not puzzles:
                raise InputError("puzzles", "no puzzle has this theme and rating; choose others")
            fresh = [
                puzzle for puzzle in puzzles if format_position(puzzle.position) not in self._given
            ]
            fresh.sort(key=lambda puzzle: abs(puzzle.rating - self.player.rating))
            chosen = self._random.choice(fresh[:_NEAREST] or puzzles)
            self._given.append(format_position(chosen.position))
            return Attempt(chosen)

    def count(self, attempt: Attempt) -> None:
        """Change the rating by an attempt that is solved or has no points left, only once."""
        with self._lock:
            done = attempt.solved or attempt.points == 0
            if not attempt.rated or attempt.change is not None or not done:
                return
            self._read()
            attempt.change = self.player.score(attempt.puzzle, attempt.points)
            self._write()

    def _read(self) -> None:
        """Read the player's file if it has changed; after an error, stop saving."""
        if self._path is None:
            return
        try:
            new_stamp = stamp(self._path)
            if new_stamp == self._stamp:
                return
            row = json.loads(read_regular_file(self._path, _LARGEST_FILE))
            self.player = Player(
                float(row["rating"]), *(int(row[name]) for name in list(asdict(self.player))[1:])
            )
            self._stamp = new_stamp
        except FileNotFoundError:
            pass  # The next counted puzzle writes a new file.
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            self._stop_saving(f"{self._path} cannot be read ({error})")

    def _write(self) -> None:
        """Write the player's file; after an error, stop saving."""
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, [json.dumps(asdict(self.player)).encode()])
            self._stamp = stamp(self._path)
        except OSError as error:
            self._stop_saving(f"{self._path} cannot be written ({error.strerror or error})")

    def _stop_saving(self, reason: str) -> None:
        """Stop saving the rating, and set `save_error`."""
        self._path = None
        self.save_error = printable(
            message("Your puzzle rating is not saved: {reason}.", reason=reason)
        )
