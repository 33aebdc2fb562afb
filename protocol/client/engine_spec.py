"""How to start an engine, read from the ``key=value`` words of a command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from merels.engine.common.errors import InputError, printable, required, required_items, shown
from merels.engine.common.numbers import truth_value
from merels.engine.common.shell import shell_text
from merels.engine.search.levels import level_named
from merels.protocol.common.options import Options
from merels.protocol.process import limits
from merels.protocol.process.command import locate, split_command, split_words
from merels.protocol.process.errors import EngineError
from merels.protocol.process.limits import ResourceLimits

KEYS = ("cmd", "args", "level", "name", "proto", "dir", "rules", *limits.KEYS)
PROGRAM_KEYS = ("cmd", "level")
"""The keys that name the program; a repeated key probably means a missing ``-engine``."""
OPTION = "option."
"""Prefix of the keys that set the engine's own options."""
MERELS = (sys.executable, "-P", "-m", "merels.protocol")
"""The command of the built-in engine."""
LEVEL_OPTIONS = ("UCI_LimitStrength", "UCI_Elo")
"""The built-in engine's options that ``level=`` sets."""
PERFECT = "perfect"
"""The level that plays at full strength with the tables that the user has built."""
TABLES_OPTION = "TablePath"
"""The built-in engine's option for the folder of tables."""


@dataclass(frozen=True)  # Without slots, because it is pickled for each pair of games.
class EngineSpec:
    """How to start an engine.

    command    the program and its arguments
    name       the engine's name; empty for the name that it sends
    protocol   a key of `merels.protocol.client.dialects.DIALECTS`
    directory  the folder in which the engine runs; None for the current folder
    options    names and values of options to set after each start
    resources  limits of each of its processes; None leaves the system's limits
    rules_known  whether it plays by the rules of its games without options for them; not stored
                 in tournaments, which check the rules before the first game
    """

    command: tuple[str, ...]
    name: str = ""
    protocol: str = "uci"
    directory: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    resources: ResourceLimits | None = None
    rules_known: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        """Raise `InputError` for a field of another type; the start checks command and protocol."""
        if self.directory is not None:
            required(self.directory, (str, os.PathLike), "the name of a folder")
        if self.resources is not None:
            required(self.resources, ResourceLimits, "limits, such as ResourceLimits(cpu=9)")
        truth_value(self.rules_known, "rules_known")
        for setting in required_items(self.options, "pairs of an option and its value"):
            if len(required(setting, (tuple, list), "a pair of an option and its value")) != 2:
                raise InputError(shown(setting), "expected a pair of an option and its value")


def read_engine(words: Sequence[str], protocols: Sequence[str]) -> EngineSpec:
    """Return the engine that the words after ``-engine`` describe.

    A first word that is not ``key=value`` is the command. ``protocols`` are the allowed values of
    ``proto=``. `InputError` names an invalid word.
    """
    values: dict[str, str] = {}
    for index, word in enumerate(words):
        key, equals, value = word.partition("=")
        if equals and (key in KEYS or key.startswith(OPTION) and key != OPTION):
            if key in values and key in PROGRAM_KEYS:
                raise repeated_program(word, key)
            values[key] = value
        elif index == 0 and not (equals and key.isidentifier() or key.startswith(OPTION)):
            values["cmd"] = word
        else:
            keys = ", ".join(f"{each}=" for each in KEYS)
            raise InputError(word, f"expected {keys} or {OPTION}NAME= after -engine")
    if "level" not in values and not values.get("cmd", "").strip():
        raise InputError(
            " ".join(words), "expected cmd=, the engine's program, or level=, a level of merels"
        )
    rules = values.get("rules", "known")
    if rules != "known":
        raise InputError(f"rules={rules}", "expected rules=known")
    return replace(make_engine(values, protocols), rules_known="rules" in values)


def engine_hint(word: str) -> str:
    """Return the end of an error about a program without ``-engine``: how to name the program."""
    return f"; an engine is given as -engine cmd={shell_text([word])}"


def repeated_program(word: str, key: str) -> InputError:
    """Return the error for a word that repeats ``key``, one of `PROGRAM_KEYS`."""
    return InputError(word, f"{key}= is given twice; begin each engine with -engine")


def make_engine(values: Mapping[str, str], protocols: Sequence[str]) -> EngineSpec:
    """Return the engine that ``values`` describe by key; keys of other settings are ignored.

    ``cmd`` is a command (see `split_command`), to which the words of ``args`` are appended.
    Alternatively, ``level`` is a level of the built-in engine, and the default of ``name``.
    `InputError` names an invalid value.
    """
    options = {
        key.removeprefix(OPTION): values[key] for key in values if key.startswith(OPTION)
    }
    for option, value in options.items():
        try:
            Options().check(option, value)
        except InputError as error:
            raise InputError(f"{OPTION}{option}={value}", error.expected) from None
    name = values.get("name", "")
    if "level" in values:
        level, settings = _level(values, options)
        name = name or level
        set_by_user = {option.lower() for option in options}
        options |= {key: settings[key] for key in settings if key.lower() not in set_by_user}
    of_engine = f" of {name or values['cmd']}"
    directory = values.get("dir")
    if directory is not None and not os.path.isdir(directory):
        raise InputError(directory, f"no such folder for dir={of_engine}")
    protocol = values.get("proto", "uci").lower()
    if protocol not in protocols:
        raise InputError(protocol, f"expected {', '.join(protocols)} for proto={of_engine}")
    return EngineSpec(
        MERELS if "level" in values
        else _command(values["cmd"], values.get("args", ""), directory),
        name,
        protocol,
        None if directory is None else os.path.abspath(directory),
        tuple(options.items()),
        limits.read_limits(values, of_engine.strip()),
    )


def _level(
    values: Mapping[str, str], options: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    """Return the name of the built-in level ``level=`` and the options that set it.

    `InputError` if the user's values or ``options`` contradict the level.
    """
    setting = f"level={values['level']}"
    for key in ("cmd", "args", "proto"):
        if key in values:
            raise InputError(
                setting, f"a level is played by merels itself: leave out level= or {key}="
            )
    for option in options:
        if option.lower() in map(str.lower, LEVEL_OPTIONS):
            raise InputError(
                setting, f"sets {option} itself: leave out level= or {OPTION}{option}="
            )
    text = values["level"]
    if text.lower() == PERFECT:
        # Imported here, since only this level needs the tables' code.
        from merels.engine.tablebase.probe import default_root

        return PERFECT.capitalize(), {TABLES_OPTION: os.path.abspath(default_root())}
    level = level_named(text, also=PERFECT)
    return level.name, dict(zip(LEVEL_OPTIONS, ("true", str(level.elo))))


def program_name(command: Sequence[str]) -> str:
    """Return the name of a command's program, without folder and suffix."""
    program = command[0]
    return printable(os.path.splitext(os.path.basename(program.rstrip("/\\")))[0] or program)


def _command(command: str, arguments: str, directory: str | None) -> tuple[str, ...]:
    """Return the words of a command; a path relative to the current folder is made absolute.

    The engine may later be started from another folder. A program in ``directory`` or in PATH is
    found from any folder, so its name is kept.
    """
    try:
        program, *words = [*split_command(command, directory), *split_words(arguments)]
    except EngineError as error:
        raise InputError(command, str(error)) from None
    if locate(program, directory) == program:
        program = os.path.abspath(program)
    return (program, *words)
