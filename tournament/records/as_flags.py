"""Entrants converted to the ``key=value`` words of the command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from merels.engine.common.shell import shell_text
from merels.engine.search.levels import LEVELS
from merels.protocol.client.engine_spec import LEVEL_OPTIONS, MERELS, OPTION, EngineSpec
from merels.tournament.records.games import Entrant, TimeControl
from merels.tournament.records.table import LIMITS, PROGRAM

LIMIT_STRENGTH, ELO = LEVEL_OPTIONS
_LIMITS = ("tc", "st", "nodes", "depth", "timemargin", "ponder")

_SPECIAL = frozenset("'\"$`\\;&|<>()*?[]{}~#!")
"""Characters that a POSIX shell does not take literally outside quotes."""

Words = dict[str, str]
"""Words of a flag by key; the empty key stands for a word without ``=``."""


def engine_words(entrant: Entrant) -> Words:
    """Return the words of ``-engine`` for an entrant, without ``name=``."""
    words = _program_words(entrant.engine) | {
        key: field.text(entrant) for key, field in (PROGRAM | LIMITS).items()
    }
    return {key: value for key, value in words.items() if value}


def _program_words(engine: EngineSpec) -> Words:
    """Return the words for an engine's program and options.

    The built-in engine has no ``cmd=``, since its path differs between machines. Its level is
    written as ``level=`` instead of the two options that it sets.
    """
    options = dict(engine.options)
    words: Words = {}
    program, *arguments = engine.command
    if arguments != list(MERELS[1:]):
        words = {"cmd": program, "args": shlex.join(arguments)}
    elif options.get(LIMIT_STRENGTH) == "true" and ELO in options:
        elo = options.pop(ELO)
        words = {"level": next((level.name for level in LEVELS if elo == str(level.elo)), elo)}
        del options[LIMIT_STRENGTH]
    # An empty value must not look like a missing one.
    return words | {OPTION + name: value or '""' for name, value in options.items()}


def condition_rows(entrants: Iterable[Entrant]) -> list[list[str]]:
    """Return a row per entrant, equal rows only once.

    A row has the name, the limits, and the program and options that differ from the defaults.
    """
    rows: list[list[str]] = []
    defaults = engine_words(Entrant(EngineSpec(MERELS), TimeControl()))
    for entrant in entrants:
        words = engine_words(entrant)
        if not {"cmd", "level"} & words.keys():
            words = {"cmd": "merels"} | words
        options = {key: value for key, value in words.items() if defaults.get(key) != value}
        limits = {key: options.pop(key) for key in _LIMITS if key in options}
        row = [entrant.name, typed(limits), typed(options)]
        if row not in rows:
            rows.append(row)
    return rows


def typed(words: Words) -> str:
    """Return the words of a flag as one line of shell input; empty without words."""
    return " ".join(_typed(key, value) if key else value for key, value in words.items())


def _typed(key: str, value: str) -> str:
    """Return ``key=value``, quoted where the shell needs it."""
    word = f"{key}={value}"
    is_plain_key = key.split() == [key] and not _SPECIAL & set(key)
    is_plain_value = word.split() == [word] and not _SPECIAL & set(value)
    if is_plain_key and (is_plain_value or value == '""'):
        return word
    if set(word) & set('"$`\\!'):
        return shell_text([word])
    return f'{key}="{value}"' if is_plain_key else f'"{word}"'
