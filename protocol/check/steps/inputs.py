"""Steps about setoption, and about input that clients should not send, but some do."""

from __future__ import annotations

import random
from collections.abc import Callable

from merels.protocol.check.conversation import Fault, Skip
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.common.options import EMPTY, Option, setoption

OPTIONS = Group("options", "Options")
GREEDY = ("hash", "memory", "cache", "thread", "cores")
"""Options with one of these in their name could use up the machine at their maximum."""
MODEST = 4
"""The most that such an option is set to."""
INPUT = Group("input", "Strange input")
_MEGABYTE = 1 << 20
_JUNK = bytes(map(random.Random(1).randrange, [256] * 4000)).replace(b"\n", b" ")


def _survives(
    engine: Subject, *inputs: str | tuple[bytes, str], depth: int = 1, changes: bool = False
) -> None:
    """Send lines, or bytes with a name; after each the engine must be ready and search."""
    engine.ensure()
    engine.changed = engine.changed or changes
    for each in inputs:
        data, what = (each.encode() + b"\n", f"'{each}'") if isinstance(each, str) else each
        engine.survive(data, what)
        engine.search(f"go depth {depth}")


def _reads(engine: Subject, data: bytes, what: str, then: str = "") -> None:
    """Send bytes that end in an ``isready``, which must be answered; then perhaps search."""
    engine.ensure()
    engine.raw(data)
    engine.until("readyok", engine.pace.answer, what)
    if then:
        engine.search(then)


def _is_greedy(option: Option) -> bool:
    """Whether an option takes memory or threads."""
    return any(word in option.name.lower() for word in GREEDY)


def _bounds(option: Option) -> tuple[str, ...]:
    """The least and the greatest value of a spin."""
    low, high = option.minimum or 0, option.maximum or 0
    return str(low), str(max(low, min(high, MODEST)) if _is_greedy(option) else high)


def _wrong(option: Option) -> tuple[str, ...]:
    """Values that an option should refuse."""
    values = ("nonsense", "", "-1e9")
    if option.kind != "spin" or _is_greedy(option):
        return values
    low, high = option.minimum or 0, option.maximum or 0
    return (*values, str(low - 1), str(high + 1), "9" * 30)


def _set_each(
    engine: Subject, kinds: str, values: Callable[[Option], tuple[str | None, ...]]
) -> None:
    """Set every option of some types to some values, and to its default."""
    engine.ensure()
    options = [each for each in engine.greeting.options.values() if each.kind in kinds.split()]
    if not options:
        raise Skip(f"the engine has no option of type {kinds.replace(' ', ' or ')}")
    engine.changed = True
    for option in options:
        default = () if option.kind == "button" else (option.default or EMPTY,)
        for value in (*values(option), *default):
            engine.set_option(option.name, value)
            engine.survive(b"", f"'{setoption(option.name, value)}'")
    engine.search("go depth 1")


OPTIONS.add(
    "set-defaults", "Every option can be set to its default, and the engine plays on; many clients "
    "send all defaults at every start.", _set_each, "check spin combo string", lambda option: ())
OPTIONS.add(
    "set-checks", "Every check can be turned on and off.",
    _set_each, "check", lambda option: ("true", "false"))
OPTIONS.add(
    "set-spins", "Every spin can be set to its minimum and its maximum (memory and threads: to "
    "modest values); users choose the bounds that an engine prints.", _set_each, "spin", _bounds)
OPTIONS.add(
    "set-combos", "Every choice of every combo can be set.",
    _set_each, "combo", lambda option: option.choices)
OPTIONS.add(
    "set-strings", "Every string can be set to the empty string, written as <empty> or as nothing "
    "after 'value'; clients send both.", _set_each, "string", lambda option: (EMPTY, ""))
OPTIONS.add(
    "press-buttons", "Every button can be pressed, by setoption without a value.",
    _set_each, "button", lambda option: (None,))
OPTIONS.add(
    "set-out-of-bounds", "A value out of bounds, of the wrong type or empty is refused or "
    "adjusted, and the engine survives; users keep old settings for new versions.",
    _set_each, "check spin combo", _wrong)
OPTIONS.add(
    "set-unknown", "An unknown option is ignored; tournaments set the same options for all "
    "engines.",
    _survives, "setoption name No Such Option value 17", "setoption name NoSuchButton",
    changes=True)
OPTIONS.add(
    "set-malformed", "An incomplete setoption is ignored.",
    _survives, "setoption", "setoption name", "setoption value 3", "setoption name value",
    "setoption name  value  ", "setoption Hash 16", "setoption name Hash value", changes=True)


@OPTIONS.step()
def option_case(engine: Subject) -> None:
    """The case of an option's name does not matter, as the protocol says; MultiPV set in another
    case must take effect."""
    engine.needs_option("MultiPV", 2)
    engine.set_option("mULTIpv", "2")
    search = engine.search("go depth 2")
    if not any(info.numbers.get("multipv") == 2 for _, info in search.infos):
        raise Fault("'setoption name mULTIpv value 2' had no effect")


@OPTIONS.step(needs=("infinite-waits", "stop"))
def set_in_search(engine: Subject) -> None:
    """A setoption during a search waits or is refused, and the search goes on to its one answer;
    users change settings while the engine thinks."""
    search = engine.begin("go infinite")
    engine.changed = True
    for option in list(engine.greeting.options.values())[:3]:
        value = None if option.kind == "button" else option.default or EMPTY
        engine.set_option(option.name, value)
    line = engine.watch(search, engine.pace.listen)
    if line is not None:
        raise Fault("setoption ended the search", line)
    engine.stop(search)


INPUT.add(
    "unknown-commands", "Unknown commands are ignored; clients send commands that other engines "
    "know.", _survives, "nonsense", "xyzzy 1 2 3", "GO_AWAY", "bestmove d6", "uciok", "?")
INPUT.add(
    "empty-lines", "Empty lines and lines of spaces are ignored.",
    _survives, (b"\n\n   \n\t\n\n", "empty lines"))


@INPUT.step()
def crlf(engine: Subject) -> None:
    """Lines may end in CR LF, as some clients write them on Windows."""
    _reads(engine, b"isready\r\n", "isready\\r\\n")
    lines = b"position startpos moves d6\r\nucinewgame\r\nposition startpos\r\n"
    _survives(engine, (lines, "lines that end in CR LF"))


INPUT.add(
    "extra-spaces", "Extra spaces and tabs around the words of a command do not matter.",
    _reads, b"  isready \t \n", "  isready \\t ", "go   depth \t 1  ")


@INPUT.step()
def noise_before_command(engine: Subject) -> None:
    """Unknown words before a command are skipped, as the protocol demands ('joho debug on'); few
    clients need that, so ignoring the line is only a warning."""
    engine.ensure()
    engine.send("joho isready")
    engine.hope_for_ready("'joho isready' was not answered")


@INPUT.step()
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
INPUT.add(
    "many-lines", "A thousand commands in one packet are all read; engines that poll the pipe and "
    "read one line miss the rest.",
    _reads, b"position startpos moves d6\n" * 999 + b"isready\n",
    "isready, the last of 1000 lines in one packet")
INPUT.add(
    "long-lines", "The engine survives a line of a megabyte; long games make long lines, and fixed "
    "buffers overflow.", _survives,
    (b"x" * _MEGABYTE + b"\n", "a word of a megabyte"),
    (b"position startpos moves" + b" d6" * 100_000 + b"\n",
     "a position with 100000 moves, of which the second is illegal"))
INPUT.add(
    "binary-junk", "The engine survives any bytes: zeros, broken UTF-8, control characters.",
    _survives, (b"\xff\xfe\x80 \xc3\x28\n", "broken UTF-8"),
    (b"is\x00ready \x00\x00\n", "zero bytes"),
    (b"\xfe" + _JUNK + b"\n", "4000 random bytes"),
    ("пример ✓ 🜲\n".encode(), "characters beyond ASCII"))
INPUT.add(
    "bad-arguments", "The engine survives commands with missing or meaningless words.",
    _survives, "debug", "debug maybe", "position fen", "register", "register later",
    "ucinewgame now", "isready now")
INPUT.add(
    "debug-mode", "'debug on' and 'debug off' are accepted, and do not change the form of any "
    "answer.", _survives, "debug on", "debug off", depth=2, changes=True)


@INPUT.step()
def board_command(engine: Subject) -> None:
    """'d', which prints the board in many engines, is answered or ignored."""
    engine.ensure()
    engine.send("d")
    lines = engine.ping()[:-1]
    # Output for humans is not judged.
    shown = set(map(id, lines))
    engine.transcript[:] = [line for line in engine.transcript if id(line) not in shown]
    engine.search("go depth 1")
