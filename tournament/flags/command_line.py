"""Parser of the command lines of ``merels tournament``, ``merels tune`` and ``merels league``."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from merels.engine.common.errors import InputError, SeveralErrors, suggestion
from merels.engine.common.files import file_error, read_text
from merels.engine.common.numbers import read_real, read_whole
from merels.engine.common.shell import shell_text
from merels.protocol.client.engine_spec import OPTION, PROGRAM_KEYS
from merels.protocol.process.command import shell_words
from merels.tournament.flags.table import FLAGS, IGNORED, Flag, Flags
from merels.tournament.openings.reading import BOOK
from merels.tournament.records.output import STANDARD_OUTPUT
from merels.tournament.statistics.sprt import MAX_ELO, MODELS, Sprt

MAX_RATING = 100_000
"""Largest absolute value of an anchor's rating."""
NONE = "none"
"""Value that turns off a flag that the command line in a journal gives."""
SWITCHES = ("ponder", "twosided", "min")
"""Keys that are true when given without a value, as in other runners."""


T = TypeVar("T")


class FlagFaults:
    """Errors of a command line, raised at once or, while ``collecting``, kept for `raise_all`."""

    def __init__(self, collecting: bool = False) -> None:
        self._collecting = collecting
        self._errors: list[InputError] = []

    def attempt(self, default: T, read: Callable[..., T], *arguments: object) -> T:
        """Return the result of ``read``, or ``default`` if its `InputError` was kept."""
        try:
            return read(*arguments)
        except InputError as error:
            self.add(error)
            return default

    def add(self, error: InputError) -> None:
        """Keep an error while collecting, otherwise raise it."""
        if not self._collecting:
            raise error
        self._errors.append(error)

    def raise_all(self) -> None:
        """Stop collecting, and raise all collected errors as one."""
        self._collecting = False
        if self._errors:
            raise self._errors[0] if len(self._errors) == 1 else SeveralErrors(self._errors)


@dataclass(slots=True)
class ParsedFlags:
    """The flags of a command line, with their words or their ``key=value`` pairs."""

    words: dict[str, list[str]] = field(default_factory=dict)
    """Flag without keys -> its words."""
    pairs: dict[str, dict[str, str]] = field(default_factory=dict)
    """Flag with keys -> its values by key."""
    engines: list[dict[str, str]] = field(default_factory=list)
    """Values by key of each ``-engine``."""
    parameters: list[dict[str, str]] = field(default_factory=list)
    """Values by key of each ``-param``."""
    line: list[str] = field(default_factory=list)
    """The command line, with each ``-config`` replaced by its flags."""
    configs: list[str] = field(default_factory=list)
    """Paths of the ``-config`` files."""
    ignored: list[str] = field(default_factory=list)
    """Words of `IGNORED`, with their flags."""
    faults: FlagFaults = field(default_factory=FlagFaults)

    def has(self, flag: str) -> bool:
        """Return whether the flag was given."""
        return flag in self.words or flag in self.pairs

    def text(self, flag: str, default: str) -> str:
        """Return the word of a flag, or ``default``."""
        return self.words[flag][0] if self.words.get(flag) else default

    def optional_text(self, flag: str) -> str | None:
        """Return the word of a flag, or None if it is missing or ``none``."""
        return None if self.text(flag, NONE) == NONE else self.text(flag, "")

    def number(self, flag: str, default: int, low: int = 0, high: int = 10**9) -> int:
        """Return the word of a flag as a whole number from ``low`` to ``high``, or ``default``."""
        text = self.text(flag, str(default))
        return self.faults.attempt(default, read_whole, text, low, high, flag)

    def key(self, flag: str, key: str, default: str) -> str:
        """Return the value of a key of a flag, or ``default``."""
        return self.pairs.get(flag, {}).get(key, default)

    def key_number(self, flag: str, key: str, default: int, low: int = 0, high: int = 10**9) -> int:
        """Return the value of a key of a flag as a whole number from ``low`` to ``high``."""
        text = self.key(flag, key, str(default))
        return self.faults.attempt(default, read_whole, text, low, high, f"{flag} {key}=")

    def key_switch(self, flag: str, key: str, default: bool) -> bool:
        """Return the value of a key of a flag as a boolean."""
        text = self.key(flag, key, str(default))
        return self.faults.attempt(default, switch, text, f"{flag} {key}=")


def switch(text: str, what: str) -> bool:
    """Parse a boolean such as ``true``, ``off`` or ``1``; ``what`` names it in errors."""
    if text.lower() in ("true", "on", "yes", "1"):
        return True
    if text.lower() in ("false", "off", "no", "0"):
        return False
    raise InputError(text, f"expected true or false for {what}")


def choice(text: str, what: str, choices: Sequence[str]) -> str:
    """Return ``text`` in lower case if it is one of ``choices``; ``what`` names it in errors."""
    if text.lower() in choices:
        return text.lower()
    raise InputError(text, f"expected {', '.join(choices)} for {what}{suggestion(text, choices)}")


def read_anchor(text: str) -> tuple[str, float]:
    """Parse ``NAME=ELO``; return the engine's name and its rating."""
    name, equals, value = text.rpartition("=")
    if not equals:
        raise InputError(text, "expected -anchor NAME=ELO, such as A=1500")
    return name, read_real(value, -MAX_RATING, MAX_RATING, "-anchor NAME=ELO")


def read_sprt(
    elo0: str, elo1: str, alpha: str = "0.05", beta: str = "0.05", model: str = MODELS[0],
    form: str = "{} of -sprt",
) -> Sprt:
    """Parse the values of an SPRT; errors put a name such as ``alpha`` into ``form`` at ``{}``."""
    chosen = choice(model, form.format("model"), MODELS)
    numbers = (
        read_real(elo0, -MAX_ELO, MAX_ELO, "elo0 of -sprt"),
        read_real(elo1, -MAX_ELO, MAX_ELO, "elo1 of -sprt"),
        read_real(alpha, 0, 1, form.format("alpha")),
        read_real(beta, 0, 1, form.format("beta")),
    )
    try:
        return Sprt(*numbers, next(model for model in MODELS if model == chosen))
    except ValueError as error:
        raise InputError("-sprt", str(error)) from None


def parse(
    argv: Sequence[str], flags: Flags = FLAGS, faults: FlagFaults | None = None
) -> ParsedFlags:
    """Parse a command line; add its errors to ``faults``, by default raise the first error."""
    given = ParsedFlags(faults=faults or FlagFaults())
    for name, all_words in _expanded(argv, given.configs, flags, given.faults):
        if name not in flags:
            given.ignored.append(name)
            continue
        words = [word for word in all_words if not _is_ignored(name, word)]
        given.ignored += [f"{name} {word}" for word in all_words if word not in words]
        given.line += [name, *words]
        flag = flags[name]
        if flag.keys:
            pairs = _pairs(name, flag, words, given.faults)
            if flag.repeats:
                (given.engines if name == "-engine" else given.parameters).append(pairs)
            else:
                given.pairs.setdefault(name, {}).update(pairs)
            continue
        least, most = flag.words
        if len(words) < least:
            given.faults.add(InputError(name, "expected a value after this flag"))
            continue
        if len(words) > most:
            start = " ".join([name, *words[:most]])
            text = f"expected a flag after {start}, which takes {'one' if most else 'no'} value"
            hint = suggestion(f"-{words[most]}", flags)
            given.faults.add(InputError(words[most], text + hint))
        if flag.repeats:
            given.words.setdefault(name, []).extend(words)
        else:
            given.words[name] = words
    return given


def _expanded(
    argv: Sequence[str], configs: list[str], flags: Flags, faults: FlagFaults
) -> Iterator[tuple[str, list[str]]]:
    """Yield each flag with its words, after replacing ``-config`` by its flags.

    The paths of ``-config`` files are appended to ``configs``.
    """
    none: list[tuple[str, list[str]]] = []
    for name, words in _grouped(argv, flags, faults):
        if name == "-config":
            yield from faults.attempt(none, _flags_in, name, words, configs, flags)
        else:
            yield name, words


def _flags_in(
    name: str, words: list[str], configs: list[str], flags: Flags
) -> list[tuple[str, list[str]]]:
    """Return the flags in the file of ``-config``, and append its path to ``configs``."""
    words = [word for word in words if not _is_ignored(name, word)]
    path = _pairs(name, flags[name], words, FlagFaults()).get("file", "")
    if not path:
        raise InputError(name, "expected file=, a text file of flags")
    configs.append(path)
    file_words = _read_words(path)
    try:
        inside = list(_grouped(file_words, flags, FlagFaults()))
    except InputError as error:
        raise InputError(error.token, f"{error.expected} (in {path})") from None
    if any(name == "-config" for name, _ in inside):
        raise file_error(path, "a file of flags cannot name another with -config")
    return inside


def without_flags(argv: Sequence[str], names: Container[str], flags: Flags = FLAGS) -> list[str]:
    """Return a command line without the flags ``names`` and their words."""
    grouped = _grouped(argv, flags, FlagFaults())
    kept = [[name, *words] for name, words in grouped if name not in names]
    return list(chain.from_iterable(kept))


def with_absolute_paths(argv: Sequence[str], flags: Flags = FLAGS) -> list[str]:
    """Return a command line with absolute paths, except for the paths of engines."""
    line = []
    for name, words in _grouped(argv, flags, FlagFaults()):
        if name in ("-tb", "-out"):
            words = [os.path.abspath(word) for word in words]
        elif name in flags and "file" in flags[name].keys:
            pairs = _pairs(name, flags[name], words, FlagFaults())
            path = pairs.get("file")
            if path and path not in (BOOK, STANDARD_OUTPUT):
                pairs["file"] = os.path.abspath(path)
            words = [f"{key}={value}" for key, value in pairs.items()]
        line += [name, *words]
    return line


def _read_words(path: str) -> list[str]:
    """Return the words of a file of flags, split as in a shell; ``#`` starts a comment."""
    text = read_text(path)
    if "\0" in text:
        raise file_error(path, "expected a text file of flags, found a zero byte in it")
    if text.lstrip().startswith("{"):
        raise file_error(
            path, "expected a text file of flags; this looks like a session that fastchess has "
            "saved, which only fastchess continues (merels continues a -journal with -resume)"
        )
    try:
        return shell_words(text, comments=True)
    except ValueError as error:
        raise file_error(path, f"cannot read the flags in this file: {error}") from None


def _grouped(
    words: Sequence[str], flags: Flags, faults: FlagFaults
) -> Iterator[tuple[str, list[str]]]:
    """Yield each flag, also those of `IGNORED`, with its words; add others to ``faults``."""
    index = 0
    while index < len(words):
        name = "-" + words[index].lstrip("-") if words[index].startswith("--") else words[index]
        is_known = name in flags or IGNORED.get(name) == ()
        if not is_known:
            expected = f"unknown flag{suggestion(name, flags)}"
            if not name.startswith("-"):
                expected = "expected a flag such as -engine or -openings"
            faults.add(InputError(words[index], expected))
        end = index + 1
        while end < len(words) and not _looks_like_flag(words[end]):
            end += 1
        if is_known:
            yield name, list(words[index + 1 : end])
        index = end


def _is_ignored(name: str, word: str) -> bool:
    """Return whether a word of a flag is accepted without effect, by the word or its key."""
    ignored = IGNORED.get(name, ())
    return word in ignored or f"{word.partition('=')[0]}=" in ignored


def _looks_like_flag(word: str) -> bool:
    """Return whether a word is a flag: dashes, then a letter, and no ``=``."""
    return word[:1] == "-" and word.lstrip("-")[:1].isalpha() and "=" not in word


def _pairs(name: str, flag: Flag, words: Sequence[str], faults: FlagFaults) -> dict[str, str]:
    """Return the ``key=value`` words of a flag as a dict."""
    pairs: dict[str, str] = {}
    for index, word in enumerate(words):
        faults.attempt(None, _add_pair, pairs, name, flag, word, index == 0)
    return pairs


def _add_pair(pairs: dict[str, str], name: str, flag: Flag, word: str, is_first: bool) -> None:
    """Add one of a flag's words to ``pairs``; ``plies`` of an engine becomes ``depth``."""
    all_keys = [f"{key}=" for key in flag.keys if key != OPTION]
    key, equals, value = word.partition("=")
    if not equals and flag.first_key and is_first:
        key, value = flag.first_key, word
    elif not equals and key in SWITCHES and key in flag.keys:
        value = "true"
    elif not equals:
        keys, hint = all_keys, suggestion(word, all_keys)
        if name == "-engine" and is_first and not hint:
            keys, hint = keys[:1], f"; did you mean {shell_text([f'cmd={word}'])}?"
        raise InputError(word, f"expected {', '.join(keys)} after {name}{hint}")
    if key.startswith(OPTION) and OPTION in flag.keys:
        if key == OPTION:
            raise InputError(word, "expected option.Name=value")
    elif key not in flag.keys:
        hint = suggestion(key, flag.keys) or f"; expected {', '.join(all_keys)}"
        raise InputError(f"{key}=", f"unknown key for {name}{hint}")
    if key == "plies" and "depth" in flag.keys:
        key = "depth"
    if key in pairs and key in PROGRAM_KEYS:
        raise InputError(word, f"{key}= is given twice; begin each engine with -engine")
    pairs[key] = value
