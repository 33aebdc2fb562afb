"""Steps about input that clients should not send, but some do."""

from __future__ import annotations

import random

from merels.protocol.check.conversation import Fault
from merels.protocol.check.step import Check, Group
from merels.protocol.check.subject import Subject

GROUP = Group("input", "Strange input")
_MEGABYTE = 1 << 20
_JUNK = bytes(map(random.Random(1).randrange, [256] * 4000)).replace(b"\n", b" ")


def survives(*inputs: str | tuple[bytes, str], depth: int = 1, changes: bool = False) -> Check:
    """Send lines, or bytes with a name; after each the engine must be ready and search."""

    def check(engine: Subject) -> None:
        engine.ensure()
        engine.changed = engine.changed or changes
        for each in inputs:
            data, what = (each.encode() + b"\n", f"'{each}'") if isinstance(each, str) else each
            engine.survive(data, what)
            engine.search(f"go depth {depth}")

    return check


def _reads(data: bytes, what: str, then: str = "") -> Check:
    """Send bytes that end in an ``isready``, which must be answered; then perhaps search."""

    def check(engine: Subject) -> None:
        engine.ensure()
        engine.raw(data)
        engine.until("readyok", engine.pace.answer, what)
        if then:
            engine.search(then)

    return check


GROUP.add(
    "unknown-commands", "Unknown commands are ignored; clients send commands that other engines "
    "know.", survives("nonsense", "xyzzy 1 2 3", "GO_AWAY", "bestmove d6", "uciok", "?"))
GROUP.add(
    "empty-lines", "Empty lines and lines of spaces are ignored.",
    survives((b"\n\n   \n\t\n\n", "empty lines")))


@GROUP.step()
def crlf(engine: Subject) -> None:
    """Lines may end in CR LF, as some clients write them on Windows."""
    _reads(b"isready\r\n", "isready\\r\\n")(engine)
    lines = b"position startpos moves d6\r\nucinewgame\r\nposition startpos\r\n"
    survives((lines, "lines that end in CR LF"))(engine)


GROUP.add(
    "extra-spaces", "Extra spaces and tabs around the words of a command do not matter.",
    _reads(b"  isready \t \n", "  isready \\t ", "go   depth \t 1  "))


@GROUP.step()
def noise_before_command(engine: Subject) -> None:
    """Unknown words before a command are skipped, as the protocol demands ('joho debug on'); few
    clients need that, so ignoring the line is only a warning."""
    engine.ensure()
    engine.send("joho isready")
    engine.hope_for_ready("'joho isready' was not answered")


@GROUP.step()
def torn_lines(engine: Subject) -> None:
    """A line that arrives in pieces is one line; a pipe may split lines anywhere."""
    engine.ensure()
    engine.raw(b"isre")
    engine.listen(engine.pace.listen / 2)
    engine.raw(b"ady")
    if any(line.first == "readyok" for line in engine.listen(engine.pace.listen / 2)):
        raise Fault("answers a line before its end")
    engine.raw(b"\n")
    engine.until("readyok", engine.pace.answer, "isready, in pieces")


# Only the last is answered, because each answer may take some time.
GROUP.add(
    "many-lines", "A thousand commands in one packet are all read; engines that poll the pipe and "
    "read one line miss the rest.",
    _reads(b"position startpos moves d6\n" * 999 + b"isready\n",
           "isready, the last of 1000 lines in one packet"))
GROUP.add(
    "long-lines", "The engine survives a line of a megabyte; long games make long lines, and fixed "
    "buffers overflow.", survives(
        (b"x" * _MEGABYTE + b"\n", "a word of a megabyte"),
        (b"position startpos moves" + b" d6" * 100_000 + b"\n",
         "a position with 100000 moves, of which the second is illegal")))
GROUP.add(
    "binary-junk", "The engine survives any bytes: zeros, broken UTF-8, control characters.",
    survives(
        (b"\xff\xfe\x80 \xc3\x28\n", "broken UTF-8"),
        (b"is\x00ready \x00\x00\n", "zero bytes"),
        (b"\xfe" + _JUNK + b"\n", "4000 random bytes"),
        ("пример ✓ 🜲\n".encode(), "characters beyond ASCII")))
GROUP.add(
    "bad-arguments", "The engine survives commands with missing or meaningless words.",
    survives("debug", "debug maybe", "position fen", "register", "register later",
             "ucinewgame now", "isready now"))
GROUP.add(
    "debug-mode", "'debug on' and 'debug off' are accepted, and do not change the form of any "
    "answer.", survives("debug on", "debug off", depth=2, changes=True))


@GROUP.step()
def board_command(engine: Subject) -> None:
    """'d', which prints the board in many engines, is answered or ignored."""
    engine.ensure()
    engine.send("d")
    lines = engine.ping()[:-1]
    # Output for humans is not judged.
    shown = set(map(id, lines))
    engine.transcript[:] = [line for line in engine.transcript if id(line) not in shown]
    engine.search("go depth 1")
