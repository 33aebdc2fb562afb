"""Steps about input that clients should not send, but some do."""

from __future__ import annotations

import random

from merels.protocol.check.conversation import Fault
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject

GROUP = Group("input", "Strange input", needs=("greeting", "ready", "answers"))
MEGABYTE = 1 << 20


def _survives(engine: Subject, data: bytes, what: str) -> None:
    """Send bytes, after which the engine must be ready and search."""
    engine.ensure()
    engine.survive(data, what)
    engine.search("go depth 1")


@GROUP.step()
def unknown_commands(engine: Subject) -> None:
    """Unknown commands are ignored; clients send commands that other engines know."""
    for word in ("nonsense", "xyzzy 1 2 3", "GO_AWAY", "bestmove d6", "uciok", "?"):
        _survives(engine, word.encode() + b"\n", f"'{word}'")


@GROUP.step()
def empty_lines(engine: Subject) -> None:
    """Empty lines and lines of spaces are ignored."""
    _survives(engine, b"\n\n   \n\t\n\n", "empty lines")


@GROUP.step()
def crlf(engine: Subject) -> None:
    """Lines may end in CR LF, as some clients write them on Windows."""
    engine.ensure()
    engine.raw(b"isready\r\n")
    engine.until("readyok", engine.pace.answer, "isready\\r\\n")
    engine.raw(b"position startpos moves d6\r\nucinewgame\r\nposition startpos\r\n")
    _survives(engine, b"", "lines that end in CR LF")


@GROUP.step()
def extra_spaces(engine: Subject) -> None:
    """Extra spaces and tabs around the words of a command do not matter."""
    engine.ensure()
    engine.raw(b"  isready \t \n")
    engine.until("readyok", engine.pace.answer, "  isready \\t ")
    engine.search("go   depth \t 1  ")


@GROUP.step()
def noise_before_command(engine: Subject) -> None:
    """Unknown words before a command are skipped, as the protocol demands ('joho debug on'); few
    clients need that, so ignoring the line is only unusual."""
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


@GROUP.step()
def many_lines(engine: Subject) -> None:
    """A thousand commands in one packet are all read; engines that poll the pipe and read one line
    miss the rest."""
    engine.ensure()
    # Only the last is answered, because each answer may take some time.
    engine.raw(b"position startpos moves d6\n" * 999 + b"isready\n")
    engine.until("readyok", engine.pace.answer, "isready, the last of 1000 lines in one packet")


@GROUP.step()
def long_lines(engine: Subject) -> None:
    """The engine survives a line of a megabyte; long games make long lines, and fixed buffers
    overflow."""
    _survives(engine, b"x" * MEGABYTE + b"\n", "a word of a megabyte")
    _survives(engine, b"position startpos moves" + b" d6" * 100_000 + b"\n",
              "a position with 100000 moves, of which the second is illegal")


@GROUP.step()
def binary_junk(engine: Subject) -> None:
    """The engine survives any bytes: zeros, broken UTF-8, control characters."""
    source = random.Random(1)
    junk = bytes(source.randrange(256) for _ in range(4000)).replace(b"\n", b" ")
    _survives(engine, b"\xff\xfe\x80 \xc3\x28\n", "broken UTF-8")
    _survives(engine, b"is\x00ready \x00\x00\n", "zero bytes")
    _survives(engine, b"\xfe" + junk + b"\n", "4000 random bytes")
    _survives(engine, "пример ✓ 🜲\n".encode(), "characters beyond ASCII")


@GROUP.step()
def bad_arguments(engine: Subject) -> None:
    """The engine survives commands with missing or meaningless words."""
    for line in ("debug", "debug maybe", "position fen", "register", "register later",
                 "ucinewgame now", "isready now"):
        _survives(engine, line.encode() + b"\n", f"'{line}'")


@GROUP.step()
def debug_mode(engine: Subject) -> None:
    """'debug on' and 'debug off' are accepted, and do not change the form of any answer."""
    engine.ensure()
    engine.changed = True
    engine.send("debug on")
    engine.ping()
    engine.search("go depth 2")
    engine.send("debug off")
    engine.ping()


@GROUP.step()
def board_command(engine: Subject) -> None:
    """'d', which prints the board in many engines, is answered or ignored."""
    engine.ensure()
    engine.send("d")
    lines = engine.ping()[:-1]
    # What is printed for humans is not judged.
    shown = set(map(id, lines))
    engine.transcript[:] = [line for line in engine.transcript if id(line) not in shown]
    engine.search("go depth 1")
