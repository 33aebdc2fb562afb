"""Our own engine with one fault in its protocol, for tests: ``python faulty.py MODE``.

A fault is a filter on the lines that come in (`INPUT`) or go out (`OUTPUT`); all else is the real
engine. ``sound`` has none.
"""

from __future__ import annotations

import os
import random
import re
import sys
import time
from collections.abc import Callable

from merels.protocol.loop import read_lines
from merels.protocol.output import Output
from merels.protocol.session import Session

MODE = sys.argv[1] if len(sys.argv) > 1 else "sound"
Lines = list[str]


class State:
    """What the filters know of the conversation."""

    searching = False
    go = ""
    heard = ""
    error = False
    first_pv = ""


def unchanged(line: str) -> Lines:
    """The filter of a sound engine."""
    return [line]


def sub(pattern: str, replacement: str) -> Callable[[str], Lines]:
    """A filter that replaces a pattern in every line."""
    return lambda line: [re.sub(pattern, replacement, line)]


def after(start: str, extra: str) -> Callable[[str], Lines]:
    """A filter that adds a line behind those with this start."""
    return lambda line: [line, extra] if line.startswith(start) else [line]


def before(start: str, extra: str) -> Callable[[str], Lines]:
    """A filter that adds a line before those with this start."""
    return lambda line: [extra, line] if line.startswith(start) else [line]


def without(test: Callable[[str], bool]) -> Callable[[str], Lines]:
    """A filter that drops lines."""
    return lambda line: [] if test(line) else [line]


def dies(test: Callable[[str], bool]) -> Callable[[str], Lines]:
    """A filter that ends the process at a line."""

    def check(line: str) -> Lines:
        if test(line):
            os._exit(1)
        return [line]

    return check


def same_lines(line: str) -> Lines:
    """All lines of a search repeat the first one's pv."""
    head, pv, turns = line.partition(" pv ")
    if not pv:
        return [line]
    if " multipv 1 " in line:
        State.first_pv = turns
    return [head + pv + State.first_pv]


def slower(line: str) -> Lines:
    """Timed searches take a second and a half more."""
    match = re.fullmatch(r"go movetime (\d+)", line)
    return [f"go movetime {int(match[1]) + 1500}"] if match else [line]


def deeper(line: str) -> Lines:
    """Searches of fixed depth go on for one iteration."""
    return [re.sub(r"depth (\d+)", lambda match: f"depth {int(match[1]) + 1}", line)]


def capitals(line: str) -> Lines:
    """The turn that is played is written in capitals, which is no fault."""
    return [re.sub(r"[a-g][1-7]", lambda match: match[0].upper(), line)
            if line.startswith("bestmove") else line]


OUTPUT: dict[str, Callable[[str], Lines]] = {
    "nameless": without(lambda line: line.startswith("id name")),
    "late-option": after("uciok", "option name Late type check default true"),
    "two-hashes": after("option name Hash", "option name hash type spin default 1 min 1 max 2"),
    "bad-default": sub("default 16 min 1", "default 0 min 1"),
    "two-bestmoves": lambda line: [line] * (1 + line.startswith("bestmove")),
    "no-score": without(lambda line: " score " in line and "movetime" in State.go),
    "illegal": sub("bestmove [a-g].*", "bestmove a1xg7"),
    "no-removal": sub(r"(bestmove [^x]*)x[^ ]*", r"\1"),
    "plays-on": sub("bestmove 0000", "bestmove d6"),
    "illegal-pv": sub(r"( pv .*)", r"\1 a1xg7"),
    "illegal-ponder": sub(r"ponder .*", "ponder a1xg7"),
    "long-bestmove": sub(r"(bestmove [^ ]*)(.*)", r"\1 score 5"),
    "ponder-in-ugi": sub(r"bestmove ([^ ]*)", r"bestmove \1 ponder d6"),
    "depth-falls": before("bestmove", "info depth 0 score cp 0"),
    "nodes-fall": before("bestmove", "info nodes 1"),
    "bad-number": sub("tbhits 0", "tbhits none"),
    "too-full": sub(r"hashfull \d+", "hashfull 5000"),
    "long-time": sub(r" time \d+", " time 9999999"),
    "trailing-blank": sub("$", " "),
    "same-lines": same_lines,
    "capitals": capitals,
    "query-yes": sub("response (true|false)", "response yes"),
    "late-ready": lambda line: [] if line == "readyok" and State.searching else [line],
}
INPUT: dict[str, Callable[[str], Lines]] = {
    "deaf-to-stop": without(lambda line: line == "stop"),
    "deaf-to-ponderhit": without(lambda line: line == "ponderhit"),
    "infinite-ends": sub("go infinite", "go depth 3"),
    "ponder-ends": sub("go ponder.*", "go depth 3"),
    "deeper": deeper,
    "more-nodes": sub(r"nodes (\d+)", r"nodes \g<1>00"),
    "slower": slower,
    "no-searchmoves": sub("searchmoves.*", ""),
    "random": lambda line: [line.replace("5000", str(random.randrange(5000, 50_000)))],
    "dies-of-bare-moves": dies(lambda line: line.endswith("moves")),
    "dies-of-nonsense": dies(lambda line: line == "nonsense"),
    "dies-of-bad-value": dies(lambda line: line.endswith("value nonsense")),
    "exact-names": without(lambda line: line.startswith("setoption name mULTIpv")),
}


class Filtered(Output):
    """Output through the mode's filter."""

    def write(self, *lines: str) -> None:
        """Writes what the filter makes of the lines."""
        change = OUTPUT.get(MODE, unchanged)
        if any(line.startswith("bestmove") for line in lines):
            State.searching = False
        State.error |= any(line.startswith("info string error") for line in lines)
        super().write(*(changed for line in lines for changed in change(line)))


def serve(session: Session, output: Output) -> None:
    """The loop, with the faults that are no filters."""
    change = INPUT.get(MODE, unchanged)
    for raw in read_lines(sys.stdin.buffer):
        for line in change(raw):
            if MODE == "answers-idle-stop" and line == "stop" and not State.searching:
                output.write("bestmove 0000")
            if line.startswith("go"):
                State.searching, State.go = True, line
            if MODE == "hangs-at-quit" and line == "quit" and State.searching:
                time.sleep(1000)
            State.error = False
            session.handle(line)
            if State.error and MODE == "forgets-position" and line.startswith("position fen"):
                session.handle("position startpos")
            short = line.startswith("position startpos") and len(line) < 1000
            while State.error and MODE == "takes-half" and short:
                State.error = False
                line = line.rpartition(" ")[0]
                session.handle(line)
        if session.over:
            break


def main() -> None:
    """Speaks the protocol with a fault."""
    if MODE == "early":
        print("readyok", flush=True)
    if MODE == "noisy":
        print("thinking…", file=sys.stderr, flush=True)
    output = Filtered(sys.stdout.fileno())
    session = Session(output)
    serve(session, output)
    if MODE == "outlives-input" and State.searching and not session.over:
        time.sleep(1000)
    session.close()
    if MODE == "bad-exit":
        os._exit(3)


if __name__ == "__main__":
    main()
