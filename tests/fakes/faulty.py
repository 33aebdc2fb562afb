"""The merels engine with one protocol fault, for tests: ``python faulty.py MODE``.

A fault is a filter of input lines (`INPUT`) or output lines (`OUTPUT`), a line that ends the
process (`DEADLY`), or a way to read the input (`READERS`). ``sound`` has no fault.
"""

from __future__ import annotations

import os
import random
import re
import sys
import time
from collections.abc import Callable
from io import BytesIO

from merels.protocol.check.positions import FORCED
from merels.protocol.uci.loop import read_lines
from merels.protocol.uci.streams import Output
from merels.protocol.uci.uci_session import Session

MODE = sys.argv[1] if len(sys.argv) > 1 else "sound"
Lines = list[str]


class State:
    """State of the conversation, for the filters."""

    searching = False
    go = ""
    """The last ``go`` line."""
    setup = ""
    """The last ``position`` line."""
    searches = 0
    handshakes = 0
    pings = 0
    """Number of ``isready`` lines."""
    error = False
    """Whether the engine has printed an error for the last line."""
    unprepared = False
    """Whether no ``isready`` has followed a rule option yet."""
    ponder = False
    """Value of the option Ponder."""
    first_pv = ""
    """Moves of the last line with ``multipv 1``."""


def unchanged(line: str) -> Lines:
    """Return a line unchanged: the filter of an engine without a fault."""
    return [line]


def sub(pattern: str, replacement: str | Callable[[re.Match[str]], str]) -> Callable[[str], Lines]:
    """Return a filter that replaces a pattern in every line."""
    return lambda line: [re.sub(pattern, replacement, line)]


def after(start: str, extra: str) -> Callable[[str], Lines]:
    """Return a filter that adds ``extra`` after each line that begins with ``start``."""
    return lambda line: [line, extra] if line.startswith(start) else [line]


def before(start: str, extra: str) -> Callable[[str], Lines]:
    """Return a filter that adds ``extra`` before each line that begins with ``start``."""
    return lambda line: [extra, line] if line.startswith(start) else [line]


def without(test: Callable[[str], bool]) -> Callable[[str], Lines]:
    """Return a filter that drops the lines for which ``test`` is true."""
    return lambda line: [] if test(line) else [line]


def delayed(seconds: float, test: Callable[[str], bool]) -> Callable[[str], Lines]:
    """Return a filter that delays the lines for which ``test`` is true."""

    def delay(line: str) -> Lines:
        if test(line):
            time.sleep(seconds)
        return [line]

    return delay


def same_lines(line: str) -> Lines:
    """Give all variations of a search the pv of the first one."""
    head, pv, moves = line.partition(" pv ")
    if not pv:
        return [line]
    if " multipv 1 " in line:
        State.first_pv = moves
    return [head + pv + State.first_pv]


def slow_after_option(line: str) -> Lines:
    """Answer the first isready after a rule option later than the usual timeout."""
    if line.startswith("setoption name Blocked value draws"):
        State.unprepared = True
    if line == "isready" and State.unprepared:
        State.unprepared = False
        time.sleep(1.8)
    return [line]


def needs_ponder(line: str) -> Lines:
    """Ignore the word ``ponder`` of ``go`` unless the option Ponder is true."""
    if line.startswith("setoption name Ponder value"):
        State.ponder = line.endswith("true")
    return [line if State.ponder else line.replace("go ponder", "go")]


def late(pattern: str, milliseconds: int = 700) -> Callable[[str], Lines]:
    """Return a filter that turns ``go PATTERN`` into a search of ``milliseconds``."""
    return sub(rf"^go {pattern}$", f"go movetime {milliseconds}")


def occupied_point(line: str) -> Lines:
    """Replace the fourth move of a game by a move to an occupied point."""
    moves = State.setup.partition("position startpos moves ")[2].split()
    is_fourth = State.go == "go depth 2" and len(moves) == 3 and line.startswith("bestmove")
    return [f"bestmove {moves[0]}"] if is_fourth else [line]


def forced_forgotten(line: str) -> Lines:
    """Answer 0000 in the position with only one legal move."""
    forced = FORCED in State.setup and State.go == "go depth 3" and line.startswith("bestmove")
    return ["bestmove 0000"] if forced else [line]


def capitals(line: str) -> Lines:
    """Write the move in capitals, which is allowed."""
    return [re.sub(r"[a-g][1-7]", lambda match: match[0].upper(), line)
            if line.startswith("bestmove") else line]


def better_at_end(line: str) -> Lines:
    """Report the move only at the end, as a lower bound, like a search that is cut short."""
    move = line.removeprefix("bestmove ").split()[0]
    if line.startswith("bestmove"):
        return [f"info depth 1 score cp 0 lowerbound nodes 1 time 0 pv {move}", line]
    return [re.sub(" pv .*", " pv a1xg7", line)]


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
    "trailing-space": sub("$", " "),
    "same-lines": same_lines,
    "capitals": capitals,
    "morris-unsaid": without(lambda line: line.startswith("option")),
    "query-yes": sub("response (true|false)", "response yes"),
    "anonymous": without(lambda line: line.startswith("id author")),
    "long-uciok": sub("^uciok$", "uciok at your service"),
    "two-readyoks": after("readyok", "readyok"),
    "long-mate": lambda line: sub("score mate 1 ", "score mate 2 ")(line)
    if State.go == "go mate 1" else [line],
    "fourth-move": occupied_point,
    "forced-forgotten": forced_forgotten,
    "no-nodes": sub(" nodes [0-9]+", ""),
    "talkative": after("bestmove", "your turn"),
    "late-ready": lambda line: [] if line == "readyok" and State.searching else [line],
    "better-at-end": better_at_end,
    "other-pv": sub(" pv [^ ]+", " pv a1xg7"),
}
INPUT: dict[str, Callable[[str], Lines]] = {
    "deaf-to-stop": without(lambda line: line == "stop"),
    "deaf-to-ponderhit": without(lambda line: line == "ponderhit"),
    "infinite-ends": sub("go infinite", "go depth 3"),
    "bare-go-ends": sub("^go$", "go depth 3"),
    "ponder-ends": sub("go ponder.*", "go depth 3"),
    "deeper": sub(r"depth (\d+)", lambda match: f"depth {int(match[1]) + 1}"),
    "more-nodes": sub(r"nodes (\d+)", r"nodes \g<1>00"),
    "slower": sub(r"^go movetime (\d+)$", lambda match: f"go movetime {int(match[1]) + 1500}"),
    "no-searchmoves": sub("searchmoves.*", ""),
    "random": lambda line: [line.replace("5000", str(random.randrange(5000, 50_000)))],
    "exact-names": without(lambda line: line.startswith("setoption name mULTIpv")),
    "slow-ready": delayed(1.2, lambda line: line == "isready" and State.pings > 2),
    "needs-ponder": needs_ponder,
    "slow-to-prepare": delayed(1.8, lambda line: line == "isready" and State.pings == 1),
    "slow-after-option": slow_after_option,
    "needs-isready": without(lambda line: line.startswith("go") and not State.pings),
    "loses-third-stop": without(lambda line: line == "stop" and State.searches > 2),
    "deaf-in-timed": without(lambda line: line == "stop" and "movetime" in State.go),
    "deaf-in-ponder": without(lambda line: line == "stop" and "ponder wtime 60000" in State.go),
    "deaf-to-early-hit": without(lambda line: line == "ponderhit" and "movetime 50" in State.go),
    "late-on-clock": late(r"wtime \d+ btime \d+ winc 10 binc 10"),
    "late-on-last-move": late(r"wtime \d+ btime \d+ movestogo 1"),
    "late-on-one-clock": late(r"[wb]time \d+"),
    "late-on-no-time": late(r"wtime \S+ btime \S+ winc 0 binc 0", 1300),
    "late-after-hit": delayed(0.8, lambda line: line == "ponderhit" and "wtime" in State.go),
    "hangs-at-quit": delayed(1000.0, lambda line: line == "quit" and State.searching),
    "deeper-when-mixed": sub("depth 2 btime", "depth 3 btime"),
    "ignores-startpos": without(lambda line: line == "position startpos" and "fen" in State.setup),
    "ignores-fen": without(lambda line: line.startswith("position fen")),
    "ignores-moves": sub("^position startpos moves.*", "position startpos"),
    "ignores-fen-moves": sub("^(position fen .*) moves.*", r"\1"),
    "forgets-last-move": sub("(moves .*) g7xd5$", r"\1"),
    "deaf-to-noise": without(lambda line: line.startswith("joho")),
    "over-is-turn": sub("query gameover", "query p1turn"),
    "result-is-over": sub("query result", "query gameover"),
    "outlives-quit": without(
        lambda line: line == "quit" and State.handshakes > 0 and not State.searching
    ),
    "outlives-early-quit": without(lambda line: line == "quit" and not State.handshakes),
}
DEADLY: dict[str, Callable[[str], bool]] = {
    "dies-of-bare-moves": lambda line: line.endswith("moves"),
    "dies-of-nonsense": lambda line: line == "nonsense",
    "dies-of-bad-value": lambda line: line.endswith("value nonsense"),
    "dies-of-uci": lambda line: line == "uci",
    "dies-of-second-uci": lambda line: line == "uci" and State.handshakes == 1,
    "dies-of-isready": lambda line: line == "isready",
    "dies-of-early-isready": lambda line: line == "isready" and not State.handshakes,
    "dies-of-new-game": lambda line: line == "ucinewgame",
    "dies-of-go": lambda line: line.startswith("go"),
    "dies-of-bare-go": lambda line: line == "go",
    "dies-of-late-position": lambda line: line.startswith("position") and State.searching,
    "dies-of-late-setoption": lambda line: line.startswith("setoption") and State.searching,
    "dies-of-huge-numbers": lambda line: re.search(r"^go .*\d{13}", line) is not None,
    "dies-of-unknown-words": lambda line: line.startswith("go quickly"),
    "dies-of-second-go": lambda line: line.startswith("go") and State.searching,
    "dies-of-default": lambda line: line == "setoption name Hash value 16",
    "dies-of-check": lambda line: line == "setoption name UCI_ShowWDL value true",
    "dies-of-spin": lambda line: line == "setoption name Move Overhead value 5000",
    "dies-of-combo": lambda line: line == "setoption name UCI_Variant value loc",
    "dies-of-no-string": lambda line: line == "setoption name TablePath value",
    "dies-of-button": lambda line: line == "setoption name Clear Hash" and not State.searching,
    "dies-of-unknown-option": lambda line: "No Such Option" in line,
    "dies-of-bare-setoption": lambda line: line == "setoption",
    "dies-of-empty-lines": lambda line: line == "",
    "dies-of-spaces": lambda line: line.startswith("go   "),
    "dies-of-long-lines": lambda line: len(line) > 100_000,
    "dies-of-junk": lambda line: "\ufffd" in line,
    "dies-of-bare-debug": lambda line: line == "debug",
    "dies-of-debug": lambda line: line == "debug on",
    "dies-of-d": lambda line: line == "d",
    "dies-of-repetition": lambda line: line.startswith("position fen") and line.count("-") >= 8,
}


class Chunks:
    """A stream that takes the end of each read for the end of a line."""

    def __init__(self, most: int) -> None:
        """Lose the lines of each read after the first ``most``."""
        self._most = most
        self._lines: list[bytes] = []

    def readline(self, size: int = -1) -> bytes:
        """Return the next line, or a part of a line."""
        if not self._lines:
            piece = os.read(0, 1 << 16)
            self._lines = BytesIO(piece).readlines()[: self._most]
        return self._lines.pop(0) if self._lines else b""


class UnixLines:
    """A stream that loses lines that end with CR LF."""

    def readline(self, size: int = -1) -> bytes:
        """Return the next line that does not end with CR LF."""
        while (line := sys.stdin.buffer.readline(size)).endswith(b"\r\n"):
            pass
        return line


READERS: dict[str, Chunks | UnixLines] = {
    "tears-lines": Chunks(1 << 16), "reads-ten-lines": Chunks(10), "only-lf": UnixLines(),
}


class Filtered(Output):
    """Output with the mode's filter."""

    def write(self, *lines: str) -> None:
        """Write the filtered lines."""
        change = OUTPUT.get(MODE, unchanged)
        if any(line.startswith("bestmove") for line in lines):
            State.searching = False
        State.error |= any(line.startswith("info string error") for line in lines)
        super().write(*(changed for line in lines for changed in change(line)))


def serve(session: Session, output: Output) -> None:
    """Run the engine's loop, with the filters and the faults that are not filters."""
    change, is_deadly = INPUT.get(MODE, unchanged), DEADLY.get(MODE)
    stream = READERS.get(MODE, sys.stdin.buffer)
    for raw in read_lines(stream):  # type: ignore[arg-type]
        if is_deadly is not None and is_deadly(raw):
            os._exit(1)
        State.pings += raw == "isready"
        for line in change(raw):
            State.handshakes += line in ("uci", "ugi")
            if line.startswith("position"):
                State.setup = line
            if MODE == "answers-idle-stop" and line == "stop" and not State.searching:
                output.write("bestmove 0000")
            if line.startswith("go"):
                State.searching, State.go = True, line
                State.searches += 1
            State.error = False
            session.handle(line)
            if State.error and MODE == "forgets-position" and line.startswith("position fen"):
                session.handle("position startpos")
            is_short = line.startswith("position startpos") and len(line) < 1000
            while State.error and MODE == "takes-half" and is_short:
                State.error = False
                line = line.rpartition(" ")[0]
                session.handle(line)
        if session.has_quit:
            break


def main() -> None:
    """Speak the protocol with a fault."""
    if MODE == "slow-to-start":
        time.sleep(2)
    if MODE == "early":
        print("readyok", flush=True)
    if MODE == "noisy":
        print("thinking…", file=sys.stderr, flush=True)
    output = Filtered(sys.stdout.fileno())
    session = Session(output)
    if MODE == "morris-unsaid":
        session.handle("setoption name UCI_Variant value morris")
        session.handle("setoption name Repetition value 0")
    serve(session, output)
    outlives = {
        "outlives-input": State.searching,
        "outlives-idle-input": State.handshakes and not State.searching,
        "outlives-no-input": not State.handshakes,
    }
    if outlives.get(MODE) and not session.has_quit:
        time.sleep(1000)
    session.close()
    if MODE == "bad-exit":
        os._exit(3)


if __name__ == "__main__":
    main()
