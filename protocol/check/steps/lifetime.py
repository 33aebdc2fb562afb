"""Steps about the process: its greeting, isready, and its end."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic_ns

from merels.engine.common.numbers import parse_whole
from merels.protocol.check.conversation import LATE, Fault
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Line

HANDSHAKE = Group("handshake", "Handshake", needs=("greeting",))
READY = Group("readiness", "Ready", needs=("greeting", "ready"))
ENDING = Group("ending", "Ending", needs=("greeting",))
GREETED, NEW, SEARCHING = range(3)
"""States of the process when it must end."""
KINDS = ("check", "spin", "combo", "button", "string")
_GREETING = ("id", "option", "info", "copyprotection", "registration")
_PROTOCOL = ("id", "option", "uciok", "ugiok", "readyok", "bestmove")


@HANDSHAKE.step()
def greeting(engine: Subject) -> None:
    """The handshake ends (uciok, ugiok) within 10 s, the time that clients give an engine to
    start, and preferably within 1 s; without it no game can begin."""
    engine.start()
    if engine.greeting.seconds > LATE:
        engine.warn(f"{engine.dialect.hello.decode().strip()} was answered after "
                    f"{engine.greeting.seconds:.1f} s; slow work belongs after isready")


@HANDSHAKE.step()
def silent_before_greeting(engine: Subject) -> None:
    """Nothing is printed before the client's first command; some clients take the first line for
    its answer."""
    engine.start()
    # The engine needs about as long to start as it took to greet.
    seconds = 2 * engine.greeting.seconds + engine.pace.listen
    engine.spawn()
    early = engine.listen(min(seconds, LATE))
    engine.greet()
    _judge_unasked(engine, early, "printed before the first command")


def _judge_unasked(engine: Subject, lines: Iterable[Line], complaint: str) -> None:
    """Judge lines that no command asked for: a word of the protocol among them is a fault."""
    for line in lines:
        if line.first in _PROTOCOL:
            raise Fault(complaint, line)
        engine.warn(complaint, line)


def _has_id(engine: Subject, word: str) -> None:
    """The greeting has one ``id`` line with that word."""
    engine.start()
    lines = [line for line in engine.greeting.lines if line.words[:2] == ["id", word]]
    if not lines:
        raise Fault(f"the greeting has no line 'id {word} …'")
    if len(lines) > 1:
        raise Fault(f"the greeting has {len(lines)} lines 'id {word}'", lines[1])
    if len(lines[0].words) < 3:
        raise Fault(f"nothing follows 'id {word}'", lines[0])


HANDSHAKE.add("id-name", "The greeting has one line 'id name …'; clients show the name, and some "
          "refuse an engine without one.", _has_id, "name")
HANDSHAKE.add("id-author", "The greeting has one line 'id author …', as the protocol demands.",
          _has_id, "author")


@HANDSHAKE.step()
def greeting_lines(engine: Subject) -> None:
    """The greeting contains only id, option and info lines; strict clients stumble over anything
    else."""
    engine.start()
    for line in engine.greeting.lines[:-1]:
        if line.first and line.first not in _GREETING:
            engine.warn("does not belong in the greeting", line)
    last = engine.greeting.lines[-1]
    if len(last.words) > 1:
        raise Fault("there are words after the one that ends the greeting", last)


@HANDSHAKE.step()
def nothing_after_greeting(engine: Subject) -> None:
    """Nothing follows the last line of the greeting; a later option is never seen, and a second
    uciok answers no question."""
    engine.spawn()
    engine.greet()
    late = engine.listen(engine.pace.listen)
    _judge_unasked(engine, late, "came after the end of the greeting")


@HANDSHAKE.step()
def greeting_again(engine: Subject) -> None:
    """A second handshake is answered like the first; clients that reconnect send one."""
    engine.start()
    again = engine.greet()
    first = [line.text for line in engine.greeting.lines]
    for line in again.lines:
        if line.text not in first:
            engine.warn("was not in the first greeting", line)
            return


@HANDSHAKE.step()
def option_lines(engine: Subject) -> None:
    """Every option line has a unique name and a known type; clients cannot show or set an option
    that they cannot read."""
    engine.start()
    seen: set[str] = set()
    for line, option in engine.greeting.option_lines:
        if option is None:
            raise Fault("has no name or no type", line)
        if option.kind not in KINDS:
            raise Fault(f"'{option.kind}' is not a type of option", line)
        if option.name.lower() in seen:
            raise Fault("is the second option with that name (ignoring case)", line)
        seen.add(option.name.lower())


@HANDSHAKE.step()
def option_defaults(engine: Subject) -> None:
    """Every default is a valid value of its option; clients send defaults back, and some refuse
    to start an engine with an invalid one."""
    engine.start()
    for line, option in engine.greeting.option_lines:
        words = line.words
        if option is None or option.kind == "button":
            continue
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
                raise Fault(f"the default lies outside {option.minimum} to {option.maximum}",
                            line)


@READY.step()
def ready(engine: Subject) -> None:
    """isready is answered by readyok, the first one within 15 s, the time that clients give it, and
    preferably within 1 s; they wait for it before every game."""
    engine.discard()
    engine.start()
    engine.ping()
    if engine.preparing > LATE:
        engine.warn(f"the first readyok took {engine.preparing:.1f} s")


@READY.step()
def ready_at_once(engine: Subject) -> None:
    """With nothing to prepare, readyok comes at once; tournaments ask before every game and when
    an engine seems to hang."""
    engine.ensure()
    engine.ping()
    asked = monotonic_ns()
    seconds = (engine.ping()[-1].at - asked) / 1e9
    engine.judge_delay(seconds, f"readyok took {seconds:.2f} s")


@READY.step()
def ready_counts(engine: Subject) -> None:
    """Each isready gets exactly one readyok; clients that count them get confused otherwise."""
    engine.ensure()
    engine.ping()
    engine.send(*["isready"] * 5)
    for _ in range(5):
        engine.until("readyok", engine.pace.answer, "isready, 5 times")
    for line in engine.listen(engine.pace.listen):
        if line.first == "readyok":
            raise Fault("one readyok too many", line)


@READY.step()
def ready_after_new_game(engine: Subject) -> None:
    """isready is answered after ucinewgame (uginewgame), even if that comes twice; every
    tournament sends both before a game."""
    engine.ensure()
    for _ in range(2):
        engine.new_game()


@READY.step()
def ready_before_greeting(engine: Subject) -> None:
    """isready is also answered before the greeting; some clients first ask whether the engine
    runs."""
    engine.ensure()
    engine.spawn()
    engine.send("isready")
    engine.hope_for_ready("no readyok before the greeting")


@READY.step(needs=("ready",))
def answers(engine: Subject) -> None:
    """'go depth 1' in the starting position is answered by a bestmove; most steps need that."""
    engine.search("go depth 1")


def _ends(engine: Subject, state: int, command: str, occasion: str) -> None:
    """Send a command in some state, or end the input without one; then the process must end."""
    if state == SEARCHING:
        engine.begin("go infinite")
        engine.listen(engine.pace.listen / 2)
    else:
        engine.start()
        if state == NEW:
            engine.spawn()
    if command:
        engine.send(command)
    else:
        engine.close_input()
    engine.end(occasion)


ENDING.add(
    "quit", "'quit' ends the process, usually within a second. Clients kill an engine that stays, "
    "which may corrupt its files.", _ends, GREETED, "quit", "quit")
ENDING.add(
    "quit-at-once", "'quit' works before the greeting, too: a user may close a dialog quickly.",
    _ends, NEW, "quit", "quit before the greeting")
ENDING.add(
    "quit-in-search", "'quit' also ends the process during a search.",
    _ends, SEARCHING, "quit", "quit in a search", needs=("ready", "answers"))
ENDING.add(
    "end-of-input", "The process ends when its input ends: the client has died, and an engine that "
    "stays behind uses up the machine.", _ends, GREETED, "", "the end of its input")
ENDING.add(
    "end-of-input-at-once", "The process also ends when its input ends before any command.",
    _ends, NEW, "", "an empty input")
ENDING.add(
    "end-of-input-in-search", "The process also ends when its input ends during a search, which "
    "no client can stop.", _ends, SEARCHING, "", "the end of its input in a search",
    needs=("ready", "answers"))


@ENDING.step(needs=("quit",))
def exit_code(engine: Subject) -> None:
    """Every process so far that had to end did so with exit code 0; tournaments report any other
    as a crash."""
    if not engine.exits:
        _ends(engine, GREETED, "quit", "quit")
    for occasion, end in engine.exits:
        if end:
            raise Fault(f"{end} after {occasion}")
