"""Parser of the command lines of ``merels tournament``, ``merels tune`` and ``merels league``."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from merels.engine.common.errors import InputError, SeveralErrors, suggestion
from merels.engine.common.shell import shell_text
from merels.protocol.client.engine_spec import (
    OPTION,
    PROGRAM_KEYS,
    engine_hint,
    repeated_program,
)
from merels.protocol.common.files import file_error, read_text
from merels.protocol.process.command import shell_words
from merels.tournament.openings.reading import BOOK
from merels.tournament.records.fields import Flag, Flags
from merels.tournament.records.output import STANDARD_OUTPUT
from merels.tournament.records.table import FLAGS, IGNORED

SWITCHES = ("ponder", "twosided", "min")
"""Keys that are true when given without a value, as in other runners."""
UNREAD = ("-engine", "-each", "-param")
"""Flags whose values are read later, when the engine is known."""


class FlagFaults:
    """Errors of a command line, kept so that all of them are reported together."""

    def __init__(self) -> None:
        self.errors: list[InputError] = []

    def add(self, *errors: InputError) -> None:
        """Keep errors."""
        self.errors += errors

    @contextmanager
    def collect(self, place: str = "") -> Iterator[None]:
        """Keep an `InputError` of the block; add ``place`` to all errors kept in the block."""
        first = len(self.errors)
        try:
            yield
        except InputError as error:
            self.add(error)
        if place:
            self.errors[first:] = [
                InputError(error.token, f"{error.expected} ({place})")
                for error in self.errors[first:]
            ]

    def raise_all(self) -> None:
        """Raise all errors as one."""
        if self.errors:
            raise self.errors[0] if len(self.errors) == 1 else SeveralErrors(self.errors)


@dataclass(slots=True)
class ParsedFlags:
    """The flags of a command line with their values."""

    flags: Flags
    """The flags of the command."""
    values: dict[str, Any] = field(default_factory=dict)
    """Values by flag, or by flag and key with a space between them."""
    present: set[str] = field(default_factory=set)
    """The flags and keys given, named as in ``values``."""
    engines: list[dict[str, str]] = field(default_factory=list)
    """Texts by key of each ``-engine``."""
    parameters: list[dict[str, str]] = field(default_factory=list)
    """Texts by key of each ``-param``."""
    each: dict[str, str] = field(default_factory=dict)
    """Texts by key of ``-each``."""
    line: list[str] = field(default_factory=list)
    """The command line, with each ``-config`` replaced by its flags."""
    configs: list[str] = field(default_factory=list)
    """Paths of the ``-config`` files."""
    ignored: list[str] = field(default_factory=list)
    """Words of `IGNORED`, with their flags."""
    faults: FlagFaults = field(default_factory=FlagFaults)

    def has(self, flag: str, key: str = "") -> bool:
        """Return whether a flag, or a key of it, was given."""
        return (f"{flag} {key}" if key else flag) in self.present

    def value(self, flag: str, key: str = "", default: Any = None) -> Any:
        """Return the value of a flag or a key; ``default`` replaces the default of the table."""
        name = f"{flag} {key}" if key else flag
        if name in self.values:
            return self.values[name]
        if default is not None:
            return default
        entry = self.flags.get(flag) or FLAGS[flag]
        return (entry.keys[key] if key else entry.value).default

    def record(self, prefix: str) -> dict[str, Any]:
        """Return the values or defaults of one record of the settings, by the names of its fields.

        ``prefix`` is the path of the record and a dot, such as ``sprt.``.
        """
        return {
            field.path.removeprefix(prefix): self.value(flag, key)
            for flag, entry in FLAGS.items()
            for key, field in (entry.keys or {"": entry.value}).items()
            if field.path.startswith(prefix) and flag not in UNREAD
        }


def parse(argv: Sequence[str], flags: Flags = FLAGS) -> ParsedFlags:
    """Parse a command line; its errors are in ``faults`` of the result."""
    given = ParsedFlags(flags)
    _add(given, argv)
    for name, flag in flags.items():
        for key in flag.required if given.has(name) else ():
            if not given.has(name, key) or given.value(name, key) == "":
                given.faults.add(InputError(name, f"expected {key}="))
    return given


def _add(given: ParsedFlags, argv: Sequence[str], is_config: bool = False) -> None:
    """Add the flags of a command line, or of a file."""
    for name, all_words in _grouped(argv, given.flags, given.faults):
        words = [word for word in all_words if not _is_ignored(name, word)]
        given.ignored += [f"{name} {word}" for word in all_words if word not in words]
        if name not in given.flags:
            given.ignored.append(name)
        elif name == "-config" and all_words and not words:
            continue  # fastchess names here only the session that it saves.
        elif name == "-config":
            with given.faults.collect():
                if is_config:
                    raise InputError(name, "a file of flags cannot name another with -config")
                path = _pairs(given, name, words).get("file", "")
                if not path:
                    raise InputError(name, "expected file=, a text file of flags")
                given.configs.append(path)
                file_words = _read_words(path)
                with given.faults.collect(f"in {path}"):
                    _add(given, file_words, is_config=True)
        else:
            given.line += [name, *words]
            _add_flag(given, name, words)


def _add_flag(given: ParsedFlags, name: str, words: list[str]) -> None:
    """Read the words of a flag, and keep its values."""
    flag = given.flags[name]
    if flag.keys:
        given.present.add(name)
        pairs = _pairs(given, name, words)
        if name == "-each":
            given.each.update(pairs)
        elif flag.repeats:
            (given.engines if name == "-engine" else given.parameters).append(pairs)
        for key, text in pairs.items() if name not in UNREAD else ():
            given.present.add(f"{name} {key}")
            with given.faults.collect():
                given.values[f"{name} {key}"] = flag.keys[key].read(text, f"{name} {key}=")
        return
    least, most = flag.words
    if len(words) < least:
        given.faults.add(InputError(name, "expected a value after this flag"))
        return
    if len(words) > most:
        start = " ".join([name, *words[:most]])
        text = f"expected a flag after {start}, which takes {'one' if most else 'no'} value"
        hint = suggestion(f"-{words[most]}", given.flags)
        given.faults.add(InputError(words[most], text + hint))
    given.present.add(name)
    for word in words[:most]:
        with given.faults.collect():
            value = flag.value.read(word, name)
            given.values[name] = (*given.value(name), value) if flag.repeats else value


def without_flags(argv: Sequence[str], names: Container[str], flags: Flags = FLAGS) -> list[str]:
    """Return a command line without the flags ``names`` and their words."""
    grouped = _grouped(argv, flags, None)
    return list(chain.from_iterable([name, *words] for name, words in grouped if name not in names))


def with_absolute_paths(argv: Sequence[str], flags: Flags = FLAGS) -> list[str]:
    """Return a command line with absolute paths, except for the paths of engines."""
    line = []
    for name, words in _grouped(argv, flags, None):
        if name in ("-tb", "-out"):
            words = [os.path.abspath(word) for word in words]
        elif name in flags and "file" in flags[name].keys:
            words = [_absolute(flags[name], word, index) for index, word in enumerate(words)]
        line += [name, *words]
    return line


def _absolute(flag: Flag, word: str, index: int) -> str:
    """Return a word of a flag, with an absolute path if it names a file."""
    path = word.removeprefix("file=")
    is_path = word.startswith("file=") or not index and flag.first_key and "=" not in word
    if not is_path or path in ("", BOOK, STANDARD_OUTPUT):
        return word
    return f"file={os.path.abspath(path)}"


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
    words: Sequence[str], flags: Flags, faults: FlagFaults | None
) -> Iterator[tuple[str, list[str]]]:
    """Yield each flag, also of `IGNORED`, with the words after it.

    Errors are added to ``faults``, without which the first is raised.
    """
    index = 0
    while index < len(words):
        name = "-" + words[index].lstrip("-") if words[index].startswith("--") else words[index]
        is_ignored = IGNORED.get(name) == ()  # Others are ignored only before certain words.
        is_known = name in flags or is_ignored
        if not is_known:
            expected = f"unknown flag{suggestion(name, flags)}"
            if not name.startswith("-"):
                expected = "expected a flag such as -engine or -openings"
                if not index:
                    expected += engine_hint(name)
            error = InputError(words[index], expected)
            if faults is None:
                raise error
            faults.add(error)
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


def _pairs(given: ParsedFlags, name: str, words: Sequence[str]) -> dict[str, str]:
    """Return the ``key=value`` words of a flag as a dict."""
    pairs: dict[str, str] = {}
    for index, word in enumerate(words):
        with given.faults.collect():
            key, value = _pair(name, given.flags[name], word, index == 0)
            if key in pairs and key in PROGRAM_KEYS:
                raise repeated_program(word, key)
            pairs[key] = value
    return pairs


def _pair(name: str, flag: Flag, word: str, is_first: bool) -> tuple[str, str]:
    """Return key and value of a flag's word; ``plies`` of an engine becomes ``depth``."""
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
    return ("depth" if key == "plies" and "depth" in flag.keys else key), value
