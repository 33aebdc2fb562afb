"""Steps about greeting, isready, options, malformed input and the end of the process."""

from __future__ import annotations

import random
from time import monotonic_ns

from merels.engine.common.numbers import parse_whole
from merels.protocol.check.conversation import FAIL_DELAY, Fault, Line
from merels.protocol.check.step import step
from merels.protocol.check.subject import Subject
from merels.protocol.common.options import EMPTY, Option, setoption

OPTION_TYPES = ("check", "spin", "combo", "button", "string")
RESOURCE_WORDS = ("hash", "memory", "cache", "thread", "cores")
"""Parts of the names of options that could exhaust memory or processors at their maximum."""
MAX_RESOURCES = 4
"""Greatest value to which the check sets a spin of `RESOURCE_WORDS`, if its minimum allows."""
MAX_EARLY_SECONDS = 2.0
"""Maximum wait for a line before the greeting, in seconds."""
_GREETING_WORDS = ("id", "option", "info", "copyprotection", "registration")
_LAST_WORDS = ("uciok", "ugiok")
_ANSWER_WORDS = ("id", "option", *_LAST_WORDS, "readyok", "bestmove")
_MEGABYTE = 1 << 20
_JUNK = bytes(map(random.Random(1).randrange, [256] * 4000)).replace(b"\n", b" ")


# The handshake.


@step("handshake")
def greeting(engine: Subject) -> None:
    """The handshake ends (uciok, ugiok) within 10 s, preferably within 1 s; clients give up on a
    slower engine."""
    engine.ensure_started()
    if engine.greeting_seconds > FAIL_DELAY:
        engine.warn(f"{engine.dialect.hello.decode().strip()} was answered after "
                    f"{engine.greeting_seconds:.1f} s; slow work belongs after isready")


def _judge_unrequested(engine: Subject, lines: list[Line], complaint: str) -> None:
    """Raise `Fault` for an answer to a command that was not sent; warn of any other line."""
    for line in lines:
        if line.first in _ANSWER_WORDS:
            raise Fault(complaint, line)
        engine.warn(complaint, line)


@step("handshake")
def silent_before_greeting(engine: Subject) -> None:
    """The engine prints no line before the client's first command; some clients read such a line
    as the answer to their command."""
    engine.ensure_started()
    # The time of the first greeting is an estimate of the time to start.
    seconds = 2 * engine.greeting_seconds + engine.pace.listen
    while True:
        engine.spawn()
        early = engine.listen(min(seconds, MAX_EARLY_SECONDS))
        engine.greet()
        # If the answer was slow, or begins with a line that belongs to no answer, the engine may
        # have started too late for `listen`.
        begins_with_other = engine.greeting[0].first not in (*_GREETING_WORDS, *_LAST_WORDS)
        may_be_late = engine.greeting_seconds >= engine.pace.listen or begins_with_other
        if early or not may_be_late or seconds >= MAX_EARLY_SECONDS:
            break
        seconds *= 2
    _judge_unrequested(engine, early, "printed before the first command")


@step("handshake")
def id_lines(engine: Subject) -> None:
    """The greeting has one line 'id name …' and one line 'id author …', as the protocol demands;
    clients show the name, and some refuse an engine without one."""
    engine.ensure_started()
    for word in ("name", "author"):
        lines = [line for line in engine.greeting if line.words[:2] == ["id", word]]
        if not lines:
            raise Fault(f"the greeting has no line 'id {word} …'")
        if len(lines) > 1:
            raise Fault(f"the greeting has {len(lines)} lines 'id {word}'", lines[1])
        if len(lines[0].words) < 3:
            raise Fault(f"nothing follows 'id {word}'", lines[0])


@step("handshake")
def greeting_lines(engine: Subject) -> None:
    """The greeting contains only id, option and info lines (other lines are only a warning), and no
    line follows uciok (ugiok): strict clients reject other lines, and ignore a later option."""
    engine.spawn()
    engine.greet()
    for line in engine.greeting[:-1]:
        if line.first and line.first not in _GREETING_WORDS:
            engine.warn("does not belong in the greeting", line)
    last = engine.greeting[-1]
    if len(last.words) > 1:
        raise Fault("there are words after the word that ends the greeting", last)
    late = engine.listen(engine.pace.listen)
    _judge_unrequested(engine, late, "came after the end of the greeting")


@step("handshake")
def option_lines(engine: Subject) -> None:
    """Every option line has a unique name, a known type and a default that is a valid value;
    clients send defaults back, and cannot show an option that they cannot read."""
    engine.ensure_started()
    seen: set[str] = set()
    for line, option in engine.option_lines():
        if option is None:
            raise Fault("has no name or no type", line)
        if option.kind not in OPTION_TYPES:
            raise Fault(f"'{option.kind}' is not a type of option", line)
        if option.name.lower() in seen:
            raise Fault("is the second option with that name (ignoring case)", line)
        seen.add(option.name.lower())
        _judge_default(engine, line, option)


def _judge_default(engine: Subject, line: Line, option: Option) -> None:
    """Raise `Fault` for a default that is not a valid value of its option."""
    words = line.words
    if option.kind == "button":
        return
    if "default" not in words:
        raise Fault("has no default", line)
    if option.kind == "check" and option.default not in ("true", "false"):
        raise Fault("the default of a check is true or false", line)
    if option.kind == "combo" and option.default not in option.choices:
        raise Fault("the default is not one of the choices (var)", line)
    if option.kind == "string" and words[-1] == "default":
        engine.warn("an empty default should be written <empty>", line)
    if option.kind == "spin":
        value = parse_whole(option.default)
        if value is None:
            raise Fault("the default of a spin is a whole number", line)
        if option.minimum is None or option.maximum is None:
            raise Fault("a spin needs a min and a max", line)
        if not option.minimum <= value <= option.maximum:
            raise Fault(f"the default lies outside {option.minimum} to {option.maximum}", line)


# Readiness.


@step("readiness")
def ready(engine: Subject) -> None:
    """isready is answered by readyok: after a start within 15 s and preferably within 1 s, later
    at once, also after ucinewgame (uginewgame); clients wait for it before every game."""
    engine.discard()
    engine.ensure_ready()
    if engine.ready_seconds > FAIL_DELAY:
        engine.warn(f"the first readyok took {engine.ready_seconds:.1f} s")
    engine.new_game()
    engine.new_game()
    asked = monotonic_ns()
    line = engine.ping()[-1]
    seconds = (line.arrived - asked) / 1e9
    engine.judge_delay(seconds, f"readyok took {seconds:.2f} s", line)


@step("readiness")
def answers(engine: Subject) -> None:
    """'go depth 1' in the starting position is answered by a bestmove; most steps depend on this
    answer."""
    engine.search("go depth 1")


@step("readiness")
def ready_counts(engine: Subject) -> None:
    """Each isready gets exactly one readyok; clients match answers to questions by counting."""
    engine.ensure_ready()
    engine.send(*["isready"] * 5)
    for _ in range(5):
        engine.until("readyok", engine.pace.answer, "isready, 5 times")
    for line in engine.listen(engine.pace.listen):
        if line.first == "readyok":
            raise Fault("one readyok too many", line)


# Options.


def _is_resource(option: Option) -> bool:
    """Return whether an option's name suggests that it sets memory or threads."""
    return any(word in option.name.lower() for word in RESOURCE_WORDS)


def _declared_values(option: Option) -> list[str | None]:
    """Return values that an option declares as valid, its default last."""
    low, high = option.minimum or 0, option.maximum or 0
    if _is_resource(option):
        high = max(low, min(high, MAX_RESOURCES))
    values: dict[str, list[str | None]] = {
        "button": [None], "check": ["true", "false"], "spin": [str(low), str(high)],
        "combo": [*option.choices], "string": [EMPTY, ""],
    }
    default = [] if option.kind == "button" else [option.default or EMPTY]
    return [*values.get(option.kind, []), *default]


def _invalid_values(option: Option) -> list[str | None]:
    """Return values that an option should refuse, and its default."""
    if option.kind not in ("check", "spin", "combo"):
        return []
    values = ["nonsense", "", "-1e9"]
    if option.kind == "spin" and not _is_resource(option):
        low, high = option.minimum or 0, option.maximum or 0
        values += [str(low - 1), str(high + 1), "9" * 30]
    return [*values, option.default or EMPTY]


def _set_options(engine: Subject, values: list[tuple[Option, list[str | None]]]) -> None:
    """Set options to values; the engine must answer isready after each, and a search at the end."""
    for option, texts in values:
        for text in texts:
            engine.set_option(option.name, text)
            engine.survive(b"", f"'{setoption(option.name, text)}'")
    engine.search("go depth 1")


@step("options")
def set_options(engine: Subject) -> None:
    """Every option can be set to every value that it declares: both ends of a spin (memory and
    threads: at most 4), every choice, the empty string as <empty> and as no word, and its default,
    which many clients send at every start."""
    engine.ensure_ready()
    _set_options(engine, [(option, _declared_values(option)) for option in engine.options.values()])


@step("options")
def set_out_of_bounds(engine: Subject) -> None:
    """A value out of bounds, of the wrong type or empty is refused or adjusted, and the engine goes
    on; users keep old settings for new versions."""
    engine.ensure_ready()
    _set_options(engine, [(option, _invalid_values(option)) for option in engine.options.values()])


@step("options")
def set_unknown(engine: Subject) -> None:
    """An unknown option or an incomplete setoption is ignored; tournaments set the same options for
    all engines."""
    _check_survival(
        engine, "setoption name No Such Option value 17", "setoption name NoSuchButton",
        "setoption", "setoption name", "setoption value 3", "setoption name value",
        "setoption name  value  ", "setoption Hash 16", "setoption name Hash value",
    )
    engine.must_restart = True


@step("options")
def option_case(engine: Subject) -> None:
    """The case of an option's name does not matter: MultiPV set in another case takes effect, as
    the protocol demands."""
    engine.require_option("MultiPV", 2)
    engine.set_option("mULTIpv", "2")
    search = engine.search("go depth 2")
    if not any(info.numbers.get("multipv") == 2 for _, info in search.infos):
        raise Fault("'setoption name mULTIpv value 2' had no effect")


@step("options", "infinite-waits", "stop")
def set_in_search(engine: Subject) -> None:
    """A setoption during a search is deferred or refused, and the search ends with one bestmove;
    users change settings while the engine thinks."""
    search = engine.start_search("go infinite")
    for option in list(engine.options.values())[:3]:
        engine.set_option(option.name, _declared_values(option)[-1])
    line = engine.watch(search, engine.pace.listen)
    if line is not None:
        raise Fault("setoption ended the search", line)
    engine.stop(search)


# Strange input.


def _check_survival(engine: Subject, *inputs: str | tuple[bytes, str]) -> None:
    """Send inputs; after each, the engine must answer isready and a search.

    An input is a line, or bytes with their description.
    """
    engine.ensure_ready()
    for item in inputs:
        data, what = (item.encode() + b"\n", f"'{item}'") if isinstance(item, str) else item
        engine.survive(data, what)
        engine.search("go depth 1")


@step("input")
def unknown_commands(engine: Subject) -> None:
    """Unknown commands and meaningless arguments are ignored; clients send commands of other
    engines."""
    _check_survival(
        engine, "nonsense", "xyzzy 1 2 3", "GO_AWAY", "bestmove d6", "uciok", "?", "debug",
        "debug maybe", "position fen", "register later", "ucinewgame now", "isready now",
    )
    engine.must_restart = True


@step("input")
def white_space(engine: Subject) -> None:
    """Empty lines are ignored, lines may end in CR LF, and extra spaces and tabs around words do
    not matter; some clients write such lines."""
    _check_survival(
        engine, (b"\n\n   \n\t\n\n", "empty lines"),
        (b"position startpos moves d6\r\nucinewgame\r\nposition startpos\r\n", "lines with CR LF"),
    )
    for line in (b"isready\r\n", b"  isready \t \n"):
        engine.send_bytes(line)
        engine.until("readyok", engine.pace.answer, repr(line.decode())[1:-1])
    engine.search("go   depth \t 1  ")


@step("input")
def torn_lines(engine: Subject) -> None:
    """A line that arrives in pieces is one line; a pipe may split lines anywhere."""
    engine.ensure_ready()
    engine.send_bytes(b"isre")
    engine.listen(engine.pace.listen / 2)
    engine.send_bytes(b"ady")
    if any(line.first == "readyok" for line in engine.listen(engine.pace.listen / 2)):
        raise Fault("answers a line before its end")
    engine.send_bytes(b"\n")
    engine.until("readyok", engine.pace.answer, "isready, in pieces")


@step("input")
def many_lines(engine: Subject) -> None:
    """A thousand commands in one packet are all read; an engine that polls the pipe and then reads
    one line misses the rest."""
    engine.ensure_ready()
    # Only the last line is an isready: a thousand answers could take longer than the timeout.
    engine.send_bytes(b"position startpos moves d6\n" * 999 + b"isready\n")
    engine.until("readyok", engine.pace.answer, "isready, the last of 1000 lines in one packet")


@step("input")
def long_lines(engine: Subject) -> None:
    """The engine survives a line of a megabyte; long games make long lines, and fixed buffers
    overflow."""
    _check_survival(
        engine, (b"x" * _MEGABYTE + b"\n", "a word of a megabyte"),
        (b"position startpos moves" + b" d6" * 100_000 + b"\n",
         "a position with 100000 moves, the second illegal"),
    )


@step("input")
def binary_junk(engine: Subject) -> None:
    """The engine survives any bytes: zeros, invalid UTF-8, control characters."""
    _check_survival(
        engine, (b"\xff\xfe\x80 \xc3\x28\n", "invalid UTF-8"),
        (b"is\x00ready \x00\x00\n", "zero bytes"),
        (b"\xfe" + _JUNK + b"\n", "4000 random bytes"),
        ("пример ✓ 🜲\n".encode(), "characters beyond ASCII"),
    )


# The end.


def _check_end(engine: Subject, command: str, occasion: str, go: str = "") -> None:
    """Send a command, or close the input if it is empty; then the process must exit.

    ``go`` starts a search before; ``occasion`` names the cause in reasons.
    """
    engine.ensure_started()
    if go:
        engine.start_search(go)
        engine.listen(engine.pace.listen / 2)
    if command:
        engine.send(command)
    else:
        engine.close_input()
    engine.end(occasion)


@step("ending")
def quit(engine: Subject) -> None:
    """'quit' ends the process, usually within a second. Clients kill an engine that keeps running,
    which may corrupt its files."""
    _check_end(engine, "quit", "quit")


@step("ending", "ready", "answers")
def quit_in_search(engine: Subject) -> None:
    """'quit' also ends the process during a search."""
    _check_end(engine, "quit", "quit in a search", "go infinite")


@step("ending")
def end_of_input(engine: Subject) -> None:
    """The process ends when its input ends: the client has died, and an orphaned engine would
    occupy the machine."""
    _check_end(engine, "", "the end of its input")


@step("ending", "ready", "answers")
def end_of_input_in_search(engine: Subject) -> None:
    """The process also ends when its input ends during a search: no client is left to send
    stop."""
    _check_end(engine, "", "the end of its input in a search", "go infinite")


@step("ending", "quit")
def exit_code(engine: Subject) -> None:
    """After quit or the end of its input, every process so far had exit code 0; tournaments report
    any other code as a crash."""
    if not engine.exits:
        _check_end(engine, "quit", "quit")
    for occasion, end in engine.exits:
        if end:
            raise Fault(f"{end} after {occasion}")
