"""Steps about setoption and about malformed or unusual input."""

from __future__ import annotations

import random
from collections.abc import Callable

from merels.protocol.check.conversation import Fault, Skip
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.common.options import EMPTY, Option, setoption

OPTIONS = Group("options", "Options")
RESOURCE_WORDS = ("hash", "memory", "cache", "thread", "cores")
"""Parts of the names of options that could exhaust memory or processors at their maximum."""
MAX_RESOURCES = 4
"""Greatest value to which the check sets a spin of `RESOURCE_WORDS`, if its minimum allows."""
INPUT = Group("input", "Strange input")
_MEGABYTE = 1 << 20
_JUNK = bytes(map(random.Random(1).randrange, [256] * 4000)).replace(b"\n", b" ")


def _check_survival(
    engine: Subject, *inputs: str | tuple[bytes, str], depth: int = 1, changes: bool = False
) -> None:
    """Send inputs; after each, the engine must answer isready and a search.

    An input is a line, or bytes with their description. With ``changes`` the inputs may change
    options, so the next step gets a new process.
    """
    engine.ensure_ready()
    engine.must_restart = engine.must_restart or changes
    for item in inputs:
        data, what = (item.encode() + b"\n", f"'{item}'") if isinstance(item, str) else item
        engine.survive(data, what)
        engine.search(f"go depth {depth}")


def _check_all_is_read(engine: Subject, data: bytes, what: str, then: str = "") -> None:
    """Send bytes that end in ``isready``, and wait for readyok; then search with ``then``.

    ``then`` is a ``go`` line, or empty for no search; ``what`` describes the bytes.
    """
    engine.ensure_ready()
    engine.raw(data)
    engine.until("readyok", engine.pace.answer, what)
    if then:
        engine.search(then)


def _uses_resources(option: Option) -> bool:
    """Return whether an option's name suggests that it sets memory or threads."""
    return any(word in option.name.lower() for word in RESOURCE_WORDS)


def _extreme_values(option: Option) -> tuple[str, ...]:
    """Return the least and the greatest value to which the check sets a spin."""
    low, high = option.minimum or 0, option.maximum or 0
    return str(low), str(max(low, min(high, MAX_RESOURCES)) if _uses_resources(option) else high)


def _invalid_values(option: Option) -> tuple[str, ...]:
    """Return values that an option should refuse."""
    values = ("nonsense", "", "-1e9")
    if option.kind != "spin" or _uses_resources(option):
        return values
    low, high = option.minimum or 0, option.maximum or 0
    return (*values, str(low - 1), str(high + 1), "9" * 30)


def _set_options(
    engine: Subject, kinds: str, values: Callable[[Option], tuple[str | None, ...]]
) -> None:
    """Set each option of the types ``kinds`` to the values of ``values``, then to its default."""
    engine.ensure_ready()
    options = [option for option in engine.greeting.options.values()
               if option.kind in kinds.split()]
    if not options:
        raise Skip(f"the engine has no option of type {kinds.replace(' ', ' or ')}")
    engine.must_restart = True
    for option in options:
        default = () if option.kind == "button" else (option.default or EMPTY,)
        for value in (*values(option), *default):
            engine.set_option(option.name, value)
            engine.survive(b"", f"'{setoption(option.name, value)}'")
    engine.search("go depth 1")


OPTIONS.add(
    "set-defaults", "Every option can be set to its default; many clients send all defaults at "
    "every start.", _set_options, "check spin combo string", lambda option: ())
OPTIONS.add(
    "set-checks", "Every check can be turned on and off.",
    _set_options, "check", lambda option: ("true", "false"))
OPTIONS.add(
    "set-spins", "Every spin can be set to its minimum and its maximum (memory and threads: at "
    f"most {MAX_RESOURCES}); users choose the bounds that an engine prints.",
    _set_options, "spin", _extreme_values)
OPTIONS.add(
    "set-combos", "Every choice of every combo can be set.",
    _set_options, "combo", lambda option: option.choices)
OPTIONS.add(
    "set-strings", "Every string can be set to the empty string, written as <empty> or with no "
    "word after 'value'; clients send both forms.",
    _set_options, "string", lambda option: (EMPTY, ""))
OPTIONS.add(
    "press-buttons", "Every button can be pressed, by setoption without a value.",
    _set_options, "button", lambda option: (None,))
OPTIONS.add(
    "set-out-of-bounds", "A value out of bounds, of the wrong type or empty is refused or "
    "adjusted, and the engine goes on; users keep old settings for new versions.",
    _set_options, "check spin combo", _invalid_values)
OPTIONS.add(
    "set-unknown", "An unknown option is ignored; tournaments set the same options for all "
    "engines.",
    _check_survival, "setoption name No Such Option value 17", "setoption name NoSuchButton",
    changes=True)
OPTIONS.add(
    "set-malformed", "An incomplete setoption is ignored.",
    _check_survival, "setoption", "setoption name", "setoption value 3", "setoption name value",
    "setoption name  value  ", "setoption Hash 16", "setoption name Hash value", changes=True)


@OPTIONS.step()
def option_case(engine: Subject) -> None:
    """The case of an option's name does not matter: MultiPV set in another case takes effect, as
    the protocol demands."""
    engine.require_option("MultiPV", 2)
    engine.set_option("mULTIpv", "2")
    search = engine.search("go depth 2")
    if not any(info.numbers.get("multipv") == 2 for _, info in search.infos):
        raise Fault("'setoption name mULTIpv value 2' had no effect")


@OPTIONS.step(needs=("infinite-waits", "stop"))
def set_in_search(engine: Subject) -> None:
    """A setoption during a search is deferred or refused, and the search ends with one bestmove;
    users change settings while the engine thinks."""
    search = engine.start_search("go infinite")
    engine.must_restart = True
    for option in list(engine.greeting.options.values())[:3]:
        value = None if option.kind == "button" else option.default or EMPTY
        engine.set_option(option.name, value)
    line = engine.watch(search, engine.pace.listen)
    if line is not None:
        raise Fault("setoption ended the search", line)
    engine.stop(search)


INPUT.add(
    "unknown-commands", "Unknown commands are ignored; clients send commands of other engines.",
    _check_survival, "nonsense", "xyzzy 1 2 3", "GO_AWAY", "bestmove d6", "uciok", "?")
INPUT.add(
    "empty-lines", "Empty lines and lines that hold only spaces are ignored.",
    _check_survival, (b"\n\n   \n\t\n\n", "empty lines"))


@INPUT.step()
def crlf(engine: Subject) -> None:
    """Lines may end in CR LF; some clients write such lines on Windows."""
    _check_all_is_read(engine, b"isready\r\n", "isready\\r\\n")
    lines = b"position startpos moves d6\r\nucinewgame\r\nposition startpos\r\n"
    _check_survival(engine, (lines, "lines that end in CR LF"))


INPUT.add(
    "extra-spaces", "Extra spaces and tabs around the words of a command do not matter.",
    _check_all_is_read, b"  isready \t \n", "  isready \\t ", "go   depth \t 1  ")


@INPUT.step()
def noise_before_command(engine: Subject) -> None:
    """Unknown words before a command are skipped ('joho debug on'), as UCI demands. Few clients
    need this, so an engine that ignores the whole line gets only a warning."""
    engine.ensure_ready()
    engine.send("joho isready")
    engine.warn_unless_ready("'joho isready' was not answered")


@INPUT.step()
def torn_lines(engine: Subject) -> None:
    """A line that arrives in pieces is one line; a pipe may split lines anywhere."""
    engine.ensure_ready()
    engine.raw(b"isre")
    engine.listen(engine.pace.listen / 2)
    engine.raw(b"ady")
    if any(line.first == "readyok" for line in engine.listen(engine.pace.listen / 2)):
        raise Fault("answers a line before its end")
    engine.raw(b"\n")
    engine.until("readyok", engine.pace.answer, "isready, in pieces")


# Only the last line is an isready: a thousand answers could take longer than the timeout.
INPUT.add(
    "many-lines", "A thousand commands in one packet are all read; an engine that polls the pipe "
    "and then reads one line misses the rest.",
    _check_all_is_read, b"position startpos moves d6\n" * 999 + b"isready\n",
    "isready, the last of 1000 lines in one packet")
INPUT.add(
    "long-lines", "The engine survives a line of a megabyte; long games make long lines, and fixed "
    "buffers overflow.", _check_survival,
    (b"x" * _MEGABYTE + b"\n", "a word of a megabyte"),
    (b"position startpos moves" + b" d6" * 100_000 + b"\n",
     "a position with 100000 moves, the second illegal"))
INPUT.add(
    "binary-junk", "The engine survives any bytes: zeros, invalid UTF-8, control characters.",
    _check_survival, (b"\xff\xfe\x80 \xc3\x28\n", "invalid UTF-8"),
    (b"is\x00ready \x00\x00\n", "zero bytes"),
    (b"\xfe" + _JUNK + b"\n", "4000 random bytes"),
    ("пример ✓ 🜲\n".encode(), "characters beyond ASCII"))
INPUT.add(
    "bad-arguments", "The engine survives commands with missing or meaningless arguments.",
    _check_survival, "debug", "debug maybe", "position fen", "register", "register later",
    "ucinewgame now", "isready now")
INPUT.add(
    "debug-mode", "'debug on' and 'debug off' are accepted, and do not change the form of any "
    "answer.", _check_survival, "debug on", "debug off", depth=2, changes=True)


@INPUT.step()
def board_command(engine: Subject) -> None:
    """'d', which prints the board in many engines, is either answered or ignored."""
    engine.ensure_ready()
    engine.send("d")
    lines = engine.ping()[:-1]
    # A board for people follows no format, so the steps that judge all lines must not see it.
    board = set(map(id, lines))
    engine.transcript[:] = [line for line in engine.transcript if id(line) not in board]
    engine.search("go depth 1")
