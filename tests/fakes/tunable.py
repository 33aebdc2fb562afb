"""An engine whose strength depends on its options: ``python tunable.py NAME=BEST …``.

Each NAME is a spin option from 0 to 100 with the best value BEST; ``Noise`` is an option without
effect. In some games the engine reports a score of -1000 for its first move, so that the game is
adjudicated as lost. The further the options are from their best values, the more games are lost in
this way. Only the options and the opening determine which games these are, so that runs are
reproducible. The engine plays only placements, in games in which no mill is closed.
"""

from __future__ import annotations

import hashlib
import sys

POINTS = "a1 d1 g1 b2 d2 f2 c3 d3 e3 a4 b4 c4 e4 f4 g4 c5 d5 e5 b6 d6 f6 a7 d7 g7".split()
BEST = {name: int(best) for name, _, best in (word.partition("=") for word in sys.argv[1:])}
DISTANCE = 25.0
"""Distance of an option from its best value that costs half of all games."""


def gives_up(values: dict[str, int], line: str) -> bool:
    """Return whether the engine gives up the game that starts with a ``position`` line."""
    cost = sum(((values[name] - best) / DISTANCE) ** 2 for name, best in BEST.items())
    digest = hashlib.sha256(f"{sorted(values.items())} {line}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32 < min(0.95, 0.2 + 0.5 * cost)


def main() -> None:
    values = {name: 50 for name in [*BEST, "Noise"]}
    line, is_new = "", True
    for text in sys.stdin:
        words = text.split()
        name = words[0] if words else ""
        if name == "uci":
            print("id name Tunable")
            for option in values:
                print(f"option name {option} type spin default 50 min 0 max 100")
            print("option name Style type combo default calm var calm var wild")
            print("uciok", flush=True)
        elif name == "setoption" and words[2] in values:
            values[words[2]] = int(words[4])
        elif name == "isready":
            print("readyok", flush=True)
        elif name == "ucinewgame":
            is_new = True
        elif name == "position":
            line = text
        elif name == "go":
            move = next(point for point in POINTS if point not in line)
            score = -1000 if is_new and gives_up(values, line) else 0
            is_new = False
            print(f"info depth 1 score cp {score}\nbestmove {move}", flush=True)
        elif name == "quit":
            break


if __name__ == "__main__":
    main()
