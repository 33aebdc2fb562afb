"""Steps about the greeting and what it says."""

from __future__ import annotations

from merels.engine.game.numbers import parse_whole
from merels.protocol.check.faults import Fault
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Line
from merels.protocol.client.options import Option, parse_option

GROUP = Group("handshake", "Handshake", needs=("greeting",))
KINDS = ("check", "spin", "combo", "button", "string")
SLOW = 1.0
_GREETING = ("id", "option", "info", "copyprotection", "registration")
_PROTOCOL = ("id", "option", "uciok", "ugiok", "readyok", "bestmove")


@GROUP.step()
def greeting(engine: Subject) -> None:
    """The handshake is answered (uciok, ugiok) within the time that clients give a start, 10 s,
    and better within one; without it nothing can be played at all."""
    engine.start()
    if engine.greeting.seconds > SLOW:
        engine.warn(f"{engine.dialect.hello.decode().strip()} was answered after "
                    f"{engine.greeting.seconds:.1f} s; heavy work belongs behind isready")


@GROUP.step()
def silent_before_greeting(engine: Subject) -> None:
    """Nothing is printed before the client has spoken; some clients take the first line that they
    read for an answer."""
    engine.start()
    # The time to the greeting is about what the engine needs to start.
    seconds = 2 * engine.greeting.seconds + engine.pace.listen
    engine.spawn()
    early = engine.listen(min(seconds, SLOW))
    engine.greet()
    for line in early:
        if line.first in _PROTOCOL:
            raise Fault("said before it was asked", line.raw)
    if early:
        engine.warn("printed before it was asked", early[0])


def _id(engine: Subject, what: str) -> None:
    """One line names this."""
    engine.start()
    lines = [line for line in engine.greeting.lines if line.words[:2] == ["id", what]]
    if not lines:
        raise Fault(f"the greeting has no line 'id {what} …'")
    if len(lines) > 1:
        raise Fault(f"the greeting has {len(lines)} lines 'id {what}'", lines[1].raw)
    if len(lines[0].words) < 3:
        raise Fault(f"nothing stands behind 'id {what}'", lines[0].raw)


@GROUP.step()
def id_name(engine: Subject) -> None:
    """The greeting says 'id name …' once; clients show the name, and some refuse an engine that
    has none."""
    _id(engine, "name")


@GROUP.step()
def id_author(engine: Subject) -> None:
    """The greeting says 'id author …' once, as the protocol asks."""
    _id(engine, "author")


@GROUP.step()
def greeting_lines(engine: Subject) -> None:
    """The greeting holds id, option and info lines alone; a client that reads strictly stumbles
    over anything else."""
    engine.start()
    for line in engine.greeting.lines[:-1]:
        if line.first and line.first not in _GREETING:
            engine.warn("is no line of a greeting", line)
    last = engine.greeting.lines[-1]
    if len(last.words) > 1:
        raise Fault("there are words behind the last word of the greeting", last.raw)


@GROUP.step()
def nothing_after_greeting(engine: Subject) -> None:
    """Nothing follows the last line of the greeting; an option told later is never seen, and a
    second uciok answers a question that was not put."""
    engine.spawn()
    engine.greet()
    for line in engine.listen(engine.pace.listen):
        if line.first in _PROTOCOL:
            raise Fault("came behind the end of the greeting", line.raw)
        engine.warn("came behind the end of the greeting", line)


@GROUP.step()
def greeting_again(engine: Subject) -> None:
    """A second greeting is answered like the first; clients that reconnect send one."""
    engine.start()
    again = engine.greet()
    first = [line.text for line in engine.greeting.lines]
    for line in again.lines:
        if line.text not in first:
            engine.warn("was not said the first time", line)
            return


def _option_lines(engine: Subject) -> list[tuple[Line, Option | None]]:
    """The option lines, each with what it says, None where it cannot be read."""
    engine.start()
    return [(line, parse_option(line.text)) for line in engine.greeting.lines
            if line.first == "option"]


@GROUP.step()
def option_lines(engine: Subject) -> None:
    """Every option line has a name of its own and a known type; a client cannot show or set
    an option that it cannot read."""
    seen: set[str] = set()
    for line, option in _option_lines(engine):
        if option is None:
            raise Fault("has no name or no type", line.raw)
        if option.kind not in KINDS:
            raise Fault(f"'{option.kind}' is no type of an option", line.raw)
        if option.name.lower() in seen:
            raise Fault("is the second option of that name (case aside)", line.raw)
        seen.add(option.name.lower())


@GROUP.step()
def option_defaults(engine: Subject) -> None:
    """Every default is a value that its option can have, within its bounds; clients send the
    defaults back, and some refuse to start with one that does not fit."""
    for line, option in _option_lines(engine):
        words = line.words
        if option is None or option.kind == "button":
            continue
        if "default" not in words:
            raise Fault("has no default", line.raw)
        if option.kind == "check" and option.default not in ("true", "false"):
            raise Fault("the default of a check is true or false", line.raw)
        if option.kind == "combo" and option.default not in option.choices:
            raise Fault("the default is none of the choices (var)", line.raw)
        if option.kind == "string" and words[-1] == "default":
            engine.warn("an empty default is written <empty>", line)
        if option.kind == "spin":
            value = parse_whole(option.default)
            if value is None:
                raise Fault("the default of a spin is a whole number", line.raw)
            if option.minimum is None or option.maximum is None:
                raise Fault("a spin needs a min and a max", line.raw)
            if not option.minimum <= value <= option.maximum:
                raise Fault(f"the default lies outside {option.minimum} to {option.maximum}",
                            line.raw)
