"""A fake engine that prints three variations sixty times a second until `stop`."""

from __future__ import annotations

import itertools
import sys
import threading

VARIATIONS = (("d6 f4", 7), ("b4 d2", 3), ("f4 d6", -4))


def think(stop: threading.Event) -> None:
    """Print variations and, once ``stop`` is set, a best move."""
    for count in itertools.count(1):
        for number, (moves, score) in enumerate(VARIATIONS, 1):
            print(
                f"info depth {count // 60 + 1} multipv {number} score cp {score + count % 50} "
                f"nodes {count * 1000} nps 60000 pv {moves}"
            )
        sys.stdout.flush()
        if stop.wait(1 / 60):
            break
    print("bestmove d6", flush=True)


def main() -> None:
    """Answer commands until `quit` or the end of the input."""
    stop, search = threading.Event(), None
    for line in sys.stdin:
        words = line.split() or [""]
        if words[0] == "uci":
            print("id name Busy\noption name MultiPV type spin default 1 min 1 max 9")
            print("option name Style type combo default Solid var Risky var solid")
            print("uciok", flush=True)
        elif words[0] == "isready":
            print("readyok", flush=True)
        elif words[0] == "go":
            stop.clear()
            search = threading.Thread(target=think, args=(stop,), daemon=True)
            search.start()
        elif words[0] == "stop" and search is not None:
            stop.set()
            search.join()
        elif words[0] == "quit":
            break
    stop.set()


if __name__ == "__main__":
    main()
