"""How an engine is started, as the ``key=value`` words of every command describe it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from merels.engine.common.errors import InputError, printable
from merels.engine.search.levels import level_named
from merels.protocol.process import limits
from merels.protocol.process.command import locate, split_command, split_words
from merels.protocol.process.errors import EngineError
from merels.protocol.process.limits import ResourceLimits

KEYS = ("cmd", "args", "level", "name", "proto", "dir", *limits.KEYS)
PLAYERS = ("cmd", "level")
"""The keys that say who plays: a second one is that of another engine."""
OPTION = "option."
"""The prefix of the words for an engine's own options."""
MERELS = (sys.executable, "-P", "-m", "merels.protocol")
"""The command of the built-in engine."""
LEVEL_OPTIONS = ("UCI_LimitStrength", "UCI_Elo")
"""Its options that ``level=`` sets."""
PERFECT = "perfect"
"""The level that plays at full strength by the tables that the user has built."""
TABLES = "TablePath"
"""The built-in engine's option for the folder of tables."""


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """How an engine is started.

    ``command`` is its program and the arguments, ``name`` what people call it (empty: what it
    calls itself), ``protocol`` one of `merels.protocol.client.dialects.DIALECTS`, ``directory``
    the folder it runs in (None: the current one). ``options`` are set at every start;
    ``resources`` bounds what each of its processes may use (None: as the system has it).
    """

    command: tuple[str, ...]
    name: str = ""
    protocol: str = "uci"
    directory: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    resources: ResourceLimits | None = None


def read_engine(words: Sequence[str], protocols: Sequence[str]) -> EngineSpec:
    """The engine that the words after ``-engine`` describe.

    A first word that is no ``key=value`` is the command. `InputError` names a bad word.
    """
    values: dict[str, str] = {}
    for index, word in enumerate(words):
        key, equals, value = word.partition("=")
        if equals and (key in KEYS or key.startswith(OPTION) and key != OPTION):
            if key in values and key in PLAYERS:
                raise InputError(word, f"{key}= is given twice; begin each engine with -engine")
            values[key] = value
        elif index == 0 and not (equals and key.isidentifier() or key.startswith(OPTION)):
            values["cmd"] = word
        else:
            keys = ", ".join(f"{known}=" for known in KEYS)
            raise InputError(word, f"expected {keys} or {OPTION}NAME= behind -engine")
    if "level" not in values and not values.get("cmd", "").strip():
        raise InputError(
            " ".join(words), "expected cmd=, the engine's program, or level=, a level of merels"
        )
    return make_engine(values, protocols)


def make_engine(values: Mapping[str, str], protocols: Sequence[str]) -> EngineSpec:
    """The engine that ``values`` describe by key; keys of no concern here are passed over.

    ``cmd`` is a command (see `split_command`), which the words of ``args`` follow. Instead,
    ``level`` is a level of the built-in engine, which gives it its name as well. `InputError`
    names a bad value.
    """
    options = {
        key.removeprefix(OPTION): values[key] for key in values if key.startswith(OPTION)
    }
    name = values.get("name", "")
    if "level" in values:
        level, settings = _level(values, options)
        name = name or level
        given = {option.lower() for option in options}
        options |= {key: value for key, value in settings.items() if key.lower() not in given}
    where = f" of {name or values['cmd']}"
    directory = values.get("dir")
    if directory is not None and not os.path.isdir(directory):
        raise InputError(directory, f"no such folder for dir={where}")
    protocol = values.get("proto", "uci").lower()
    if protocol not in protocols:
        raise InputError(protocol, f"expected {', '.join(protocols)} for proto={where}")
    return EngineSpec(
        MERELS if "level" in values
        else _command(values["cmd"], values.get("args", ""), directory),
        name,
        protocol,
        None if directory is None else os.path.abspath(directory),
        tuple(options.items()),
        limits.read_limits(values, where.strip()),
    )


def _level(
    values: Mapping[str, str], options: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    """The name of a built-in level and the options that make it, beside those of the user."""
    where = f"level={values['level']}"
    for key in ("cmd", "args", "proto"):
        if key in values:
            raise InputError(
                where, f"a level is played by merels itself: leave out level= or {key}="
            )
    for option in options:
        if option.lower() in map(str.lower, LEVEL_OPTIONS):
            raise InputError(where, f"sets {option} itself: leave out level= or {OPTION}{option}=")
    text = values["level"]
    if text.lower() == PERFECT:
        from merels.engine.tablebase.probe import default_root  # Few need the tables' code.

        return PERFECT.capitalize(), {TABLES: os.path.abspath(default_root())}
    level = level_named(text, also=PERFECT)
    return level.name, dict(zip(LEVEL_OPTIONS, ("true", str(level.elo))))


def program_name(command: Sequence[str]) -> str:
    """The name of a command's program, without folder and suffix."""
    program = command[0]
    return printable(os.path.splitext(os.path.basename(program.rstrip("/\\")))[0] or program)


def _command(command: str, arguments: str, directory: str | None) -> tuple[str, ...]:
    """The words of a command; its program's path is absolute where it names a file from here.

    One in the engine's own directory or in PATH is found there, wherever this process is.
    """
    try:
        program, *words = [*split_command(command, directory), *split_words(arguments)]
    except EngineError as error:
        raise InputError(command, str(error)) from None
    if locate(program, directory) == program:
        program = os.path.abspath(program)
    return (program, *words)
