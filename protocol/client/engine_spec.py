"""An engine as the ``key=value`` words of a command line describe it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from merels.engine.game.errors import InputError
from merels.protocol.process import limits
from merels.protocol.process.errors import EngineError
from merels.protocol.process.limits import ResourceLimits
from merels.protocol.process.process import split_command, split_words

KEYS = ("cmd", "args", "name", "proto", "dir", *limits.KEYS)
OPTION = "option."
"""How the words for an engine's options begin."""


@dataclass(frozen=True, slots=True)
class EngineStart:
    """How an engine is started: its command, and the options that are set at every start.

    ``name`` is empty and ``directory`` None where none is given.
    """

    command: Sequence[str]
    protocol: str = "uci"
    directory: str | None = None
    name: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    limits: ResourceLimits | None = None


def read_engine_words(words: Sequence[str], protocols: Sequence[str]) -> EngineStart:
    """The engine that words describe; ``protocols`` are those it may speak.

    Without ``args=``, ``cmd=`` is a whole command: see `split_command`. `InputError` says what is
    wrong with a word.
    """
    given: dict[str, str] = {}
    options: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if key.startswith(OPTION) and key != OPTION and equals:
            options[key.removeprefix(OPTION)] = value
        elif key in KEYS and equals:
            given[key] = value
        else:
            keys = ", ".join(f"{known}=" for known in KEYS)
            raise InputError(word, f"expected {keys} or {OPTION}NAME= behind -engine")
    program, arguments = given.get("cmd", ""), given.get("args", "")
    if not program.strip():
        raise InputError(" ".join(words), "expected cmd=, the engine's program")
    protocol = given.get("proto", "uci").lower()
    if protocol not in protocols:
        raise InputError(protocol, f"expected {' or '.join(protocols)} for proto=")
    try:
        if arguments.strip():
            command = [program, *split_words(arguments)]
        else:
            command = split_command(program, given.get("dir"))
    except EngineError as error:
        raise InputError(program, str(error)) from None
    return EngineStart(
        command, protocol, given.get("dir"), given.get("name", ""), options,
        limits.read_limits(given),
    )
