"""The command line of ``merels tournament`` or ``merels tune``, read and checked."""

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
from merels.protocol.client.engine_spec import OPTION, PLAYERS
from merels.protocol.process.command import shell_words
from merels.tournament.flags.quick import quick_flags
from merels.tournament.flags.table import FLAGS, Flag, Flags
from merels.tournament.openings.reading import BOOK
from merels.tournament.records.output import STANDARD_OUTPUT
from merels.tournament.statistics.sprt import MAX_ELO, MODELS, Sprt

NONE = "none"
"""The value that turns a flag off which the stored command line of a journal has."""
SWITCHES = ("ponder", "twosided")
"""Keys that mean true without a value, as in other runners."""


T = TypeVar("T")


class FlagFaults:
    """Faults of a command line: raised at once, or while ``collecting`` kept for `raise_all`."""

    def __init__(self, collecting: bool = False) -> None:
        self._collecting = collecting
        self._errors: list[InputError] = []

    def attempt(self, default: T, read: Callable[..., T], *arguments: object) -> T:
        """Return what ``read`` returns, or ``default`` where its `InputError` is kept."""
        try:
            return read(*arguments)
        except InputError as error:
            self.add(error)
            return default

    def add(self, error: InputError) -> None:
        """Keep the error, or raise it."""
        if not self._collecting:
            raise error
        self._errors.append(error)

    def raise_all(self) -> None:
        """Raise the collected errors as one, and raise later errors at once."""
        self._collecting = False
        if self._errors:
            raise self._errors[0] if len(self._errors) == 1 else SeveralErrors(self._errors)


@dataclass(slots=True)
class ParsedFlags:
    """The flags of a command line: each one's words or ``key=value`` pairs."""

    words: dict[str, list[str]] = field(default_factory=dict)
    pairs: dict[str, dict[str, str]] = field(default_factory=dict)
    engines: list[dict[str, str]] = field(default_factory=list)
    parameters: list[dict[str, str]] = field(default_factory=list)
    line: list[str] = field(default_factory=list)
    """The command line, each ``-config`` replaced by its file's flags."""
    configs: list[str] = field(default_factory=list)
    """The files of ``-config``."""
    faults: FlagFaults = field(default_factory=FlagFaults)

    def has(self, flag: str) -> bool:
        """Whether the flag was given."""
        return flag in self.words or flag in self.pairs

    def text(self, flag: str, default: str) -> str:
        """The one word of a flag."""
        return self.words[flag][0] if self.words.get(flag) else default

    def wanted(self, flag: str) -> str | None:
        """The one word of a flag; None without the flag, or where it is turned off by ``none``."""
        return None if self.text(flag, NONE) == NONE else self.text(flag, "")

    def number(self, flag: str, default: int, low: int = 0, high: int = 10**9) -> int:
        """The one word of a flag as a whole number."""
        text = self.text(flag, str(default))
        return self.faults.attempt(default, read_whole, text, low, high, flag)

    def key(self, flag: str, key: str, default: str) -> str:
        """The value of a key of a flag."""
        return self.pairs.get(flag, {}).get(key, default)

    def key_number(self, flag: str, key: str, default: int, low: int = 0, high: int = 10**9) -> int:
        """The value of a key of a flag as a whole number."""
        text = self.key(flag, key, str(default))
        return self.faults.attempt(default, read_whole, text, low, high, f"{flag} {key}=")

    def key_switch(self, flag: str, key: str, default: bool) -> bool:
        """The value of a key of a flag as yes or no."""
        text = self.key(flag, key, str(default))
        return self.faults.attempt(default, switch, text, f"{flag} {key}=")


def switch(text: str, what: str) -> bool:
    """True or false, in the words that people use."""
    if text.lower() in ("true", "on", "yes", "1"):
        return True
    if text.lower() in ("false", "off", "no", "0"):
        return False
    raise InputError(text, f"expected true or false for {what}")


def choice(text: str, what: str, choices: Sequence[str]) -> str:
    """One of some words."""
    if text.lower() in choices:
        return text.lower()
    raise InputError(text, f"expected {', '.join(choices)} for {what}{suggestion(text, choices)}")


def read_sprt(
    elo0: str, elo1: str, alpha: str = "0.05", beta: str = "0.05", model: str = MODELS[0],
    form: str = "{} of -sprt",
) -> Sprt:
    """Return the test of these texts; ``form`` is the command's spelling of a name."""
    chosen = choice(model, form.format("model"), MODELS)
    numbers = (
        read_real(elo0, -MAX_ELO, MAX_ELO, "elo0 of -sprt"),
        read_real(elo1, -MAX_ELO, MAX_ELO, "elo1 of -sprt"),
        read_real(alpha, 0, 1, form.format("alpha")),
        read_real(beta, 0, 1, form.format("beta")),
    )
    try:
        return Sprt(*numbers, next(known for known in MODELS if known == chosen))
    except ValueError as error:
        raise InputError("-sprt", str(error)) from None


def parse(
    argv: Sequence[str], flags: Flags = FLAGS, faults: FlagFaults | None = None
) -> ParsedFlags:
    """The flags of a command line; words that belong to none are ``faults``."""
    given = ParsedFlags(faults=faults or FlagFaults())
    for name, words in _expanded(argv, given.configs, flags, given.faults):
        given.line += [name, *words]
        flag = flags[name]
        if flag.keys:
            pairs = _pairs(name, flag, words, given.faults)
            if flag.repeats:
                (given.engines if name == "-engine" else given.parameters).append(pairs)
            else:
                given.pairs.setdefault(name, {}).update(pairs)
            continue
        fewest, most = flag.words
        if len(words) < fewest:
            given.faults.add(InputError(name, "expected a value behind this flag"))
            continue
        if len(words) > most:
            before = " ".join([name, *words[:most]])
            takes = f"expected a flag after {before}, which takes {'one' if most else 'no'} value"
            hint = suggestion(f"-{words[most]}", flags)
            given.faults.add(InputError(words[most], takes + hint))
        if flag.repeats:
            given.words.setdefault(name, []).extend(words)
        else:
            given.words[name] = words
    return given


def _expanded(
    argv: Sequence[str], files: list[str], flags: Flags, faults: FlagFaults
) -> Iterator[tuple[str, list[str]]]:
    """Each flag with its words, those of ``-config`` files (noted in ``files``) and ``-quick``."""
    none: list[tuple[str, list[str]]] = []
    groups = []
    for name, words in _grouped(argv, flags, faults):
        if name == "-config":
            groups += faults.attempt(none, _flags_in, name, words, files, flags)
        else:
            groups.append((name, words))
    # Any flag that is given itself takes the place of one of -quick.
    for name, words in sorted(groups, key=lambda group: group[0] != "-quick"):
        yield from faults.attempt(none, quick_flags, words) if name == "-quick" else [(name, words)]


def _flags_in(
    name: str, words: list[str], files: list[str], flags: Flags
) -> list[tuple[str, list[str]]]:
    """The flags of the file that a ``-config`` with these words names."""
    path = _pairs(name, flags[name], words, FlagFaults()).get("file", "")
    if not path:
        raise InputError(name, "expected file=, a text file of flags")
    files.append(path)
    inner = _words_in(path)
    try:
        inside = list(_grouped(inner, flags, FlagFaults()))
    except InputError as error:
        raise InputError(error.token, f"{error.expected} (in {path})") from None
    if any(name == "-config" for name, _ in inside):
        raise file_error(path, "a file of flags cannot name another with -config")
    return inside


def without(argv: Sequence[str], names: Container[str], flags: Flags = FLAGS) -> list[str]:
    """A command line without the flags of some names and their words."""
    grouped = _grouped(argv, flags, FlagFaults())
    kept = [[name, *words] for name, words in grouped if name not in names]
    return list(chain.from_iterable(kept))


def with_absolute_paths(argv: Sequence[str], flags: Flags = FLAGS) -> list[str]:
    """A command line that means the same files in any folder, engines apart."""
    line = []
    for name, words in _grouped(argv, flags, FlagFaults()):
        flag = flags[name]
        if name in ("-tb", "-out"):
            words = [os.path.abspath(word) for word in words]
        elif "file" in flag.keys:
            pairs = _pairs(name, flag, words, FlagFaults())
            path = pairs.get("file")
            if path and path not in (BOOK, STANDARD_OUTPUT):
                pairs["file"] = os.path.abspath(path)
            words = [f"{key}={value}" for key, value in pairs.items()]
        line += [name, *words]
    return line


def _words_in(path: str) -> list[str]:
    """The words of a file of flags, split as a shell splits them; ``#`` starts a comment."""
    text = read_text(path)
    if "\0" in text:
        raise file_error(path, "expected a text file of flags, found a zero byte in it")
    try:
        return shell_words(text, comments=True)
    except ValueError as error:
        raise file_error(path, f"cannot read the flags in this file: {error}") from None


def _grouped(
    words: Sequence[str], flags: Flags, faults: FlagFaults
) -> Iterator[tuple[str, list[str]]]:
    """Each flag with the words after it; unknown ones are left out."""
    index = 0
    while index < len(words):
        name = "-" + words[index].lstrip("-") if words[index].startswith("--") else words[index]
        if name not in flags:
            expected = f"unknown flag{suggestion(name, flags)}"
            if not name.startswith("-"):
                expected = "expected a flag such as -engine or -openings"
            faults.add(InputError(words[index], expected))
        end = index + 1
        while end < len(words) and not _looks_like_flag(words[end]):
            end += 1
        if name in flags:
            yield name, list(words[index + 1 : end])
        index = end


def _looks_like_flag(word: str) -> bool:
    """Whether a word is a flag: a dash and a letter, and no ``=``."""
    return word[:1] == "-" and word.lstrip("-")[:1].isalpha() and "=" not in word


def _pairs(name: str, flag: Flag, words: Sequence[str], faults: FlagFaults) -> dict[str, str]:
    """The ``key=value`` words of a flag; ``plies`` of an engine is its ``depth``."""
    pairs: dict[str, str] = {}
    for index, word in enumerate(words):
        faults.attempt(None, _add_pair, pairs, name, flag, word, index == 0)
    return pairs


def _add_pair(pairs: dict[str, str], name: str, flag: Flag, word: str, is_first: bool) -> None:
    """Read one of a flag's words."""
    known = [f"{key}=" for key in flag.keys if key != OPTION]
    key, equals, value = word.partition("=")
    if not equals and flag.plain and is_first:
        key, value = flag.plain, word
    elif not equals and key in SWITCHES and key in flag.keys:
        value = "true"
    elif not equals:
        keys, hint = known, suggestion(word, known)
        if name == "-engine" and is_first and not hint:
            keys, hint = keys[:1], f"; did you mean {shell_text([f'cmd={word}'])}?"
        raise InputError(word, f"expected {', '.join(keys)} after {name}{hint}")
    if key.startswith(OPTION) and OPTION in flag.keys:
        if key == OPTION:
            raise InputError(word, "expected option.Name=value")
    elif key not in flag.keys:
        hint = suggestion(key, flag.keys) or f"; expected {', '.join(known)}"
        raise InputError(f"{key}=", f"unknown key for {name}{hint}")
    if key == "plies" and "depth" in flag.keys:
        key = "depth"
    if key in pairs and key in PLAYERS:
        raise InputError(word, f"{key}= is given twice; begin each engine with -engine")
    pairs[key] = value
