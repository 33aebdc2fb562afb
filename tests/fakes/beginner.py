"""An engine that closes a mill whenever it can: ``beginner.py [SEED]``.

All other moves, and the men that it removes, are random.
"""

from __future__ import annotations

import random
import sys

from random_mover import RandomMover


class Beginner(RandomMover):
    """The engine's state, and its answers to commands."""

    def __init__(self, seed: str | None) -> None:
        super().__init__()
        self._random = random.Random(seed)

    def move(self) -> str:
        """Return a random move, if possible one that removes a man; 0000 if there is no move."""
        moves = self.position.legal_moves()
        closing = [move for move in moves if move.removed]
        return str(self._random.choice(closing or moves)) if moves else "0000"


def main() -> None:
    """Read commands to the end of the input."""
    engine = Beginner(sys.argv[1] if len(sys.argv) > 1 else None)
    while line := sys.stdin.readline():
        engine.obey(line)


if __name__ == "__main__":
    main()
