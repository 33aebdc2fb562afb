"""Steps about the process: greeting, isready and end."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic_ns

from merels.engine.common.numbers import parse_whole
from merels.protocol.check.conversation import FAIL_DELAY, Fault
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Line

HANDSHAKE = Group("handshake", "Handshake", needs=("greeting",))
READY = Group("readiness", "Ready", needs=("greeting", "ready"))
ENDING = Group("ending", "Ending", needs=("greeting",))
GREETED, NEW, SEARCHING = range(3)
"""States of a process: greeted, just started, searching."""
OPTION_TYPES = ("check", "spin", "combo", "button", "string")
_GREETING_WORDS = ("id", "option", "info", "copyprotection", "registration")
_ANSWER_WORDS = ("id", "option", "uciok", "ugiok", "readyok", "bestmove")


@HANDSHAKE.step()
def greeting(engine: Subject) -> None:
    """The handshake ends (uciok, ugiok) within 10 s, preferably within 1 s; clients give up on a
    slower engine."""
    engine.ensure_started()
    if engine.greeting.seconds > FAIL_DELAY:
        engine.warn(f"{engine.dialect.hello.decode().strip()} was answered after "
                    f"{engine.greeting.seconds:.1f} s; slow work belongs after isready")


@HANDSHAKE.step()
def silent_before_greeting(engine: Subject) -> None:
    """The engine prints no line before the client's first command; some clients read such a line
    as the answer to their command."""
    engine.ensure_started()
    # The time of the first greeting is an estimate of the time to start.
    seconds = 2 * engine.greeting.seconds + engine.pace.listen
    engine.spawn()
    early = engine.listen(min(seconds, FAIL_DELAY))
    engine.greet()
    _judge_unrequested(engine, early, "printed before the first command")


def _judge_unrequested(engine: Subject, lines: Iterable[Line], complaint: str) -> None:
    """Raise `Fault` for an answer to a command that was not sent; warn of any other line."""
    for line in lines:
        if line.first in _ANSWER_WORDS:
            raise Fault(complaint, line)
        engine.warn(complaint, line)


def _check_id(engine: Subject, word: str) -> None:
    """Raise `Fault` unless the greeting has one line ``id word …``."""
    engine.ensure_started()
    lines = [line for line in engine.greeting.lines if line.words[:2] == ["id", word]]
    if not lines:
        raise Fault(f"the greeting has no line 'id {word} …'")
    if len(lines) > 1:
        raise Fault(f"the greeting has {len(lines)} lines 'id {word}'", lines[1])
    if len(lines[0].words) < 3:
        raise Fault(f"nothing follows 'id {word}'", lines[0])


HANDSHAKE.add("id-name", "The greeting has one line 'id name …'; clients show the name, and some "
          "refuse an engine without one.", _check_id, "name")
HANDSHAKE.add("id-author", "The greeting has one line 'id author …', as the protocol demands.",
          _check_id, "author")


@HANDSHAKE.step()
def greeting_lines(engine: Subject) -> None:
    """The greeting contains only id, option and info lines (other lines are only a warning); strict
    clients reject other lines. Nothing follows uciok (ugiok) on its line."""
    engine.ensure_started()
    for line in engine.greeting.lines[:-1]:
        if line.first and line.first not in _GREETING_WORDS:
            engine.warn("does not belong in the greeting", line)
    last = engine.greeting.lines[-1]
    if len(last.words) > 1:
        raise Fault("there are words after the word that ends the greeting", last)


@HANDSHAKE.step()
def nothing_after_greeting(engine: Subject) -> None:
    """No line follows the last line of the greeting; clients ignore a later option and take a
    second uciok for an error."""
    engine.spawn()
    engine.greet()
    late = engine.listen(engine.pace.listen)
    _judge_unrequested(engine, late, "came after the end of the greeting")


@HANDSHAKE.step()
def greeting_again(engine: Subject) -> None:
    """A second handshake is answered like the first (a new line is only a warning); clients that
    reconnect send it."""
    engine.ensure_started()
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
    engine.ensure_started()
    seen: set[str] = set()
    for line, option in engine.greeting.option_lines:
        if option is None:
            raise Fault("has no name or no type", line)
        if option.kind not in OPTION_TYPES:
            raise Fault(f"'{option.kind}' is not a type of option", line)
        if option.name.lower() in seen:
            raise Fault("is the second option with that name (ignoring case)", line)
        seen.add(option.name.lower())


@HANDSHAKE.step()
def option_defaults(engine: Subject) -> None:
    """Every default is a valid value of its option; clients send defaults back, and some refuse
    to start an engine with an invalid default."""
    engine.ensure_started()
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
    """isready is answered by readyok, after a start within 15 s and preferably within 1 s; clients
    wait for it before every game."""
    engine.discard()
    engine.ensure_started()
    engine.ping()
    if engine.ready_seconds > FAIL_DELAY:
        engine.warn(f"the first readyok took {engine.ready_seconds:.1f} s")


@READY.step()
def ready_at_once(engine: Subject) -> None:
    """An engine that has already answered isready answers the next one at once; tournaments send
    it before every game and when an engine seems to hang."""
    engine.ensure_ready()
    engine.ping()
    asked = monotonic_ns()
    seconds = (engine.ping()[-1].at - asked) / 1e9
    engine.judge_delay(seconds, f"readyok took {seconds:.2f} s")


@READY.step()
def ready_counts(engine: Subject) -> None:
    """Each isready gets exactly one readyok; clients match answers to questions by counting."""
    engine.ensure_ready()
    engine.ping()
    engine.send(*["isready"] * 5)
    for _ in range(5):
        engine.until("readyok", engine.pace.answer, "isready, 5 times")
    for line in engine.listen(engine.pace.listen):
        if line.first == "readyok":
            raise Fault("one readyok too many", line)


@READY.step()
def ready_after_new_game(engine: Subject) -> None:
    """isready is answered after ucinewgame (uginewgame), also after two of them; tournaments send
    both commands before every game."""
    engine.ensure_ready()
    for _ in range(2):
        engine.new_game()


@READY.step()
def ready_before_greeting(engine: Subject) -> None:
    """isready is also answered before the greeting (only a warning); some clients send it first to
    see whether the engine runs."""
    engine.ensure_ready()
    engine.spawn()
    engine.send("isready")
    engine.warn_unless_ready("no readyok before the greeting")


@READY.step(needs=("ready",))
def answers(engine: Subject) -> None:
    """'go depth 1' in the starting position is answered by a bestmove; most steps depend on this
    answer."""
    engine.search("go depth 1")


def _check_end(engine: Subject, state: int, command: str, occasion: str) -> None:
    """Send a command, or close the input if it is empty; then the process must exit.

    ``state`` is `GREETED`, `NEW` or `SEARCHING`; ``occasion`` names the cause in reasons.
    """
    if state == SEARCHING:
        engine.start_search("go infinite")
        engine.listen(engine.pace.listen / 2)
    else:
        engine.ensure_started()
        if state == NEW:
            engine.spawn()
    if command:
        engine.send(command)
    else:
        engine.close_input()
    engine.end(occasion)


ENDING.add(
    "quit", "'quit' ends the process, usually within a second. Clients kill an engine that keeps "
    "running, which may corrupt its files.", _check_end, GREETED, "quit", "quit")
ENDING.add(
    "quit-at-once", "'quit' also works before the greeting: a user may close a dialog quickly.",
    _check_end, NEW, "quit", "quit before the greeting")
ENDING.add(
    "quit-in-search", "'quit' also ends the process during a search.",
    _check_end, SEARCHING, "quit", "quit in a search", needs=("ready", "answers"))
ENDING.add(
    "end-of-input", "The process ends when its input ends: the client has died, and an orphaned "
    "engine would occupy the machine.", _check_end, GREETED, "", "the end of its input")
ENDING.add(
    "end-of-input-at-once", "The process also ends when its input ends before any command.",
    _check_end, NEW, "", "an empty input")
ENDING.add(
    "end-of-input-in-search", "The process also ends when its input ends during a search: no "
    "client is left to send stop.", _check_end, SEARCHING, "", "the end of its input in a search",
    needs=("ready", "answers"))


@ENDING.step(needs=("quit",))
def exit_code(engine: Subject) -> None:
    """After quit or the end of its input, every process so far had exit code 0; tournaments report
    any other code as a crash."""
    if not engine.exits:
        _check_end(engine, GREETED, "quit", "quit")
    for occasion, end in engine.exits:
        if end:
            raise Fault(f"{end} after {occasion}")
