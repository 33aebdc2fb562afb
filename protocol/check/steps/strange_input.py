"""Steps about input that no client should send, and that some send."""

from __future__ import annotations

import random

from merels.protocol.check.faults import Fault
from merels.protocol.check.positions import START
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject

GROUP = Group("input", "Input of all kinds", needs=("greeting", "ready", "answers"))
MEGABYTE = 1 << 20


def _survives(engine: Subject, data: bytes, what: str) -> None:
    """Sends bytes, and expects the engine to be ready and to search afterwards."""
    engine.ensure()
    engine.survive(data, what)
    engine.search("go depth 1", START)


@GROUP.step()
def unknown_commands(engine: Subject) -> None:
    """Unknown commands are ignored; protocols grow, and clients send what others understand."""
    for word in ("nonsense", "xyzzy 1 2 3", "GO_AWAY", "bestmove d6", "uciok", "?"):
        _survives(engine, word.encode() + b"\n", f"'{word}'")


@GROUP.step()
def empty_lines(engine: Subject) -> None:
    """Empty lines and lines of blanks are ignored."""
    _survives(engine, b"\n\n   \n\t\n\n", "empty lines")


@GROUP.step()
def crlf(engine: Subject) -> None:
    """Lines may end in CR LF, as Windows clients write them."""
    engine.ensure()
    engine.raw(b"isready\r\n")
    engine.until("readyok", engine.pace.answer, "isready\\r\\n")
    engine.raw(b"position startpos moves d6\r\nucinewgame\r\nposition startpos\r\n")
    _survives(engine, b"", "lines that end in CR LF")


@GROUP.step()
def extra_blanks(engine: Subject) -> None:
    """Blanks before, between and behind the words of a command do not matter."""
    engine.ensure()
    engine.raw(b"  isready \t \n")
    engine.until("readyok", engine.pace.answer, "  isready \\t ")
    engine.search("go   depth \t 1  ", START)


@GROUP.step()
def noise_before_command(engine: Subject) -> None:
    """Unknown words before a command are skipped, as the protocol asks ('joho debug on'); few
    clients need it, and to ignore the line is only unusual."""
    engine.ensure()
    engine.send("joho isready")
    engine.hope_for_ready("'joho isready' was not answered")


@GROUP.step()
def torn_lines(engine: Subject) -> None:
    """A line that arrives in pieces is one line; pipes tear lines anywhere."""
    engine.ensure()
    engine.raw(b"isre")
    engine.listen(engine.pace.listen / 2)
    engine.raw(b"ady")
    if any(line.first == "readyok" for line in engine.listen(engine.pace.listen / 2)):
        raise Fault("answered a line before its end")
    engine.raw(b"\n")
    engine.until("readyok", engine.pace.answer, "isready, in pieces")


@GROUP.step()
def many_lines(engine: Subject) -> None:
    """A thousand commands in one packet are all read; a reader that looks at the pipe once and
    reads one line loses the rest."""
    engine.ensure()
    # The last alone is answered: a thousand answers could each take the time that one may.
    engine.raw(b"position startpos moves d6\n" * 999 + b"isready\n")
    engine.until("readyok", engine.pace.answer,
                 "isready, the last of 1000 lines in one packet")


@GROUP.step()
def long_lines(engine: Subject) -> None:
    """A line of a megabyte is survived; long games make long lines, and fixed buffers
    overflow."""
    _survives(engine, b"x" * MEGABYTE + b"\n", "a word of a megabyte")
    _survives(engine, b"position startpos moves" + b" d6" * 100_000 + b"\n",
              "a position with 100000 moves, illegal from the second on")


@GROUP.step()
def binary_junk(engine: Subject) -> None:
    """Bytes of any value are survived: zeros, broken UTF-8, control characters."""
    source = random.Random(1)
    junk = bytes(source.randrange(256) for _ in range(4000)).replace(b"\n", b" ")
    _survives(engine, b"\xff\xfe\x80 \xc3\x28\n", "broken UTF-8")
    _survives(engine, b"is\x00ready \x00\x00\n", "zero bytes")
    _survives(engine, b"\xfe" + junk + b"\n", "4000 random bytes")
    _survives(engine, "пример ✓ 🜲\n".encode(), "letters beyond ASCII")


@GROUP.step()
def bad_arguments(engine: Subject) -> None:
    """Commands with missing or senseless words are survived (go apart from those that search)."""
    for line in ("debug", "debug maybe", "position fen", "register", "register later",
                 "ucinewgame now", "isready now"):
        _survives(engine, line.encode() + b"\n", f"'{line}'")


@GROUP.step()
def debug_mode(engine: Subject) -> None:
    """'debug on' and 'debug off' are taken at any time and change no answer's form."""
    engine.ensure()
    engine.changed = True
    engine.send("debug on")
    engine.ping()
    engine.search("go depth 2", START)
    engine.send("debug off")
    engine.ping()


@GROUP.step()
def board_command(engine: Subject) -> None:
    """'d', which prints the board in many engines, is answered or ignored."""
    engine.ensure()
    engine.send("d")
    lines = engine.ping()[:-1]
    # What is printed for people is no matter of the steps that judge lines.
    shown = set(map(id, lines))
    engine.transcript[:] = [line for line in engine.transcript if id(line) not in shown]
    engine.search("go depth 1", START)
