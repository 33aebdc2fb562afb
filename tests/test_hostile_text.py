"""Reading untrusted text takes a number of steps that is proportional to the text's length."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.position import Position
from merels.engine.game.rules import DEFAULT_RULES, parse_rules
from merels.protocol.board.game_store import GameStore
from merels.protocol.client.answers import read_bestmove
from merels.protocol.client.info import parse_info
from merels.protocol.common.options import parse_option
from merels.protocol.formats.files import pasted, read_file
from merels.protocol.formats.mfen import read_position
from merels.protocol.formats.pgn.reader import parse_record, parse_records
from merels.protocol.formats.pgn.tokens import read_tags, split_games
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.writer import format_record
from merels.protocol.process.command import shell_words
from merels.tournament.commands.journal_games import journaled
from merels.tournament.flags.command_line import parse
from merels.tournament.journal.import_games import GamesFile
from merels.tournament.journal.players import Roster
from merels.tournament.openings.reading import load_openings
from merels.tournament.records.settings import OpeningSettings
from tests.line_count import bytes_allocated, lines_run
from tests.test_sources import MODULES


def _read_and_format(text: str) -> None:
    for record in parse_records(text):
        format_record(record.copy())


def _read_all(path: str) -> None:
    for found in read_file(path, None, journaled):
        with suppress(InputError):
            found.read(RecordRules())


def _write(text: str, folder: Path) -> str:
    path = folder / "20200101-000000-000000-abcdef.pgn"
    path.write_text(text, encoding="utf-8")
    return str(path)


READERS: dict[str, Callable[[str, Path], Any]] = {
    "records": lambda text, _: list(parse_records(text)),
    "formatted": lambda text, _: _read_and_format(text),
    "pasted": lambda text, _: [found.read(RecordRules()) for found in pasted(text)],
    "split": lambda text, _: list(split_games(StringIO(text))),
    "tags": lambda text, _: read_tags(text),
    "saved": lambda text, folder: _write(text, folder) and GameStore(folder).entries(),
    "convert": lambda text, folder: _read_all(_write(text, folder)),
    "openings": lambda text, folder: load_openings(
        OpeningSettings(file=_write(text, folder), format="pgn"), DEFAULT_RULES
    ),
    "positions": lambda text, folder: load_openings(
        OpeningSettings(file=_write(text, folder)), DEFAULT_RULES
    ),
    "ratings": lambda text, folder: list(GamesFile(_write(text, folder)).games(Roster())),
    "position": lambda text, _: read_position(text),
    "rules": lambda text, _: parse_rules(text),
    "flags": lambda text, folder: parse(["-config", f"file={_write(text, folder)}"]),
    "words": lambda text, _: shell_words(text, comments=True),
    "option": lambda text, _: parse_option(text),
    "info": lambda text, _: parse_info(text.encode(), Position()),
    "answer": lambda text, _: read_bestmove(text.encode()),
}

_START = "1. g1 d6 d2 a7 g4 d5 d1 f6 b6 e5 c3 e3 b2 a4 c4 b4 d7 d3 "
_SHUFFLE = "c4-c5 e5-e4 c5-c4 e4-e5 "
HOSTILE: dict[str, Callable[[int], str]] = {
    "open comments": lambda n: "1. d6 " + "{" * n,
    "open marks": lambda n: "1. d6 {" + "[%clk 0 " * n + "}",
    "marks": lambda n: "1. d6 {" + "".join(f"[%m{i % 9} {i}] " for i in range(n)) + "}",
    "comments in comments": lambda n: "1. d6 " + "{ " * n + "} " * n,
    "empty comments": lambda n: "1. d6 " + "{}" * n,
    "comments over lines": lambda n: "1. d6 {" + "\n{" * n + "}" * n,
    "comments behind comments": lambda n: "1. d6 " + "{ { } } " * n,
    "line comments": lambda n: "1. d6 " + ";{\n" * n,
    "open variations": lambda n: "1. d6 " + "( 1. f4 " * n,
    "nested variations": lambda n: "1. d6 " + "( 1. f4 ( 1. d6 " * n + ") " * 2 * n + "f4 *",
    "equal variations": lambda n: "1. d6 " + "".join(f"(1. f4 ${i} {{c}}) " for i in range(n)),
    "closed variations": lambda n: "1. d6 " + ")" * n,
    "brackets": lambda n: "[" * n,
    "tags": lambda n: '[A "x"]' * n,
    "tags of a line": lambda n: "".join(f'[A{i} "x"]' for i in range(n)),
    "tags of lines": lambda n: '[A "x"]\n\n' * n,
    "different tags": lambda n: "".join(f'[A{i} "x"]\n' for i in range(n)),
    "different players": lambda n: "".join(
        f'[White "A{i}"]\n[Black "B{i}"]\n\n1. d6 1-0\n\n' for i in range(n)
    ),
    "different marks": lambda n: "1. d6 " + "".join(f"{{[%m{i} {i}]}} " for i in range(n)),
    "open tags": lambda n: '[A "x ' * n,
    "quotes in a tag": lambda n: '[A "' + '" ' * n,
    "quotes in tags": lambda n: '[" ' * n,
    "backslashes in a tag": lambda n: '[A "' + "\\" * n,
    "spaces in a tag": lambda n: "[A" + " " * n,
    "glyphs": lambda n: "1. d6 " + "".join(f"${i} " for i in range(n)),
    "dollars": lambda n: "1. d6 " + "$" * n,
    "results": lambda n: "* 1-0 1/2-1/2 " * n,
    "stars": lambda n: "*" * n,
    "numbers": lambda n: "1. " * n,
    "dots": lambda n: "1" + "." * n,
    "digits": lambda n: "1. " + "1" * n,
    "removals": lambda n: "1. d6" + " xf4" * n,
    "one removal": lambda n: "1. d6" + "xf4" * n,
    "dashes": lambda n: "d6" + "-" * n,
    "a long game": lambda n: _START + _SHUFFLE * n,
    "a game without a limit": lambda n: (
        '[Variant "mill Repetition=10000 NoRemovalPlies=0"]\n' + _START + _SHUFFLE * n
    ),
    "illegal moves": lambda n: "d6 " * n,
    "games": lambda n: "1. d6 f4 *\n" * n,
    "bad games": lambda n: "1. d6 d6 *\n" * n,
    "escapes": lambda n: "%\n" * n + "1. d6",
    "empty lines": lambda n: "\n" * n,
    "spaces": lambda n: " " * n + "x",
    "letters": lambda n: "a" * n,
    "words": lambda n: "a " * n,
    "slashes": lambda n: "/" * n,
    "rings": lambda n: "O" * n + "/@/* w 9 9 0 1",
    "fields": lambda n: "********/********/********" + " 0" * n,
    "positions": lambda n: "********/********/******** w 9 9 0 1 ; a\n" * n,
    "mfen": lambda n: "MFEN/1.0" + " -" * n,
    "numbers of a position": lambda n: "********/********/******** w 9 9 0 " + "9" * n,
    "equal members": lambda n: "{" + "".join(f'"a{i}": 1, ' for i in range(n)) + '"a0": 1}',
    "nested objects": lambda n: '{"a": ' * n,
    "nested lists": lambda n: '{"a": ' + "[" * n,
    "a long number": lambda n: '{"a": ' + "9" * n + "}",
    "quotes": lambda n: '"' * n,
    "single quotes": lambda n: "'a" * n,
    "a quoted word": lambda n: '-event "' + 'a\\"' * n,
    "a word": lambda n: "-event " + "a" * n,
    "backslashes": lambda n: "\\" * n,
    "settings": lambda n: "mill" + " Flying=own" * n,
    "a setting": lambda n: "mill Flying=" + "own" * n,
    "an option": lambda n: "option name " + "a type" * n,
    "different choices": lambda n: "option name a type combo" + "".join(
        f" var a{i}" for i in range(n)
    ),
    "option defaults": lambda n: "option name a type combo" + " default var a" * n,
    "info": lambda n: "info pv" + " d6 d7" * n,
    "info words": lambda n: "info" + " depth 1 score cp" * n,
}


_GAME = _START + _SHUFFLE * 8 + "*\n"


def _tried(read: Callable[[str, Path], Any], text: str, folder: Path) -> None:
    """Read a text, which may be refused."""
    with suppress(InputError, ValueError):
        read(text, folder)


def steps(read: Callable[[str, Path], Any], text: str, folder: Path) -> int:
    """Return the number of lines of Python that are executed to read a text."""
    return lines_run(lambda: _tried(read, text, folder))


@pytest.mark.parametrize("reader", READERS)
def test_twice_the_text_takes_twice_the_steps(reader: str, tmp_path: Path) -> None:
    slow = {}
    for name, make in HOSTILE.items():
        small, large = (steps(READERS[reader], make(n), tmp_path) for n in (60, 120))
        if large > 2.1 * small + 100:
            slow[name] = (small, large)
    assert slow == {}


@pytest.mark.parametrize("name", [name for name in HOSTILE if name.startswith("different")])
def test_twice_the_different_names_take_twice_the_memory(name: str, tmp_path: Path) -> None:
    """The count of lines does not show that each tag copies all earlier tags."""
    slow = {}
    number = 4000 // len(HOSTILE[name](1))
    for reader, read in READERS.items():
        small, large = (
            bytes_allocated(lambda: _tried(read, text, tmp_path))
            for text in map(HOSTILE[name], (number, 2 * number))
        )
        if large > 2.6 * small + 100_000:
            slow[reader] = (small, large)
    assert slow == {}


def test_an_empty_game_takes_fewer_steps_than_a_game(tmp_path: Path) -> None:
    empty, game = (steps(READERS["records"], text * 50, tmp_path) for text in ("* ", _GAME))
    assert empty < game / 35, "a game of 50 plies"


def test_steps_that_grow_faster_than_the_text_are_found(tmp_path: Path) -> None:
    def pairs(text: str, _: Path) -> None:
        for _first in text:
            for _second in text:
                pass

    small, large = (steps(pairs, "a" * n, tmp_path) for n in (60, 120))
    assert large > 3.5 * small


_SHORT = "it is searched only in the short head of a text"
_NEVER_RESCANS = {
    '\\{\\s*+(?:"[^"\\n]*+"\\s*+:|\\})': _SHORT,
    "(?mi)\\AGoldToken|^[ \\t]*+(?:\\d++[.)]?+[ \\t]++)?"
    "(?:Place to [a-g][1-7]|[a-g][1-7] -> [a-g])": _SHORT,
    '\\d*+[.…]++': "it is tried once per word",
    '\\[\\s*+(?P<name>[\\w+#=:-]++)\\s*+"(?P<value>(?>(?:[^"\\\\\\n]|\\\\.|"(?![ \\t]*+\\]))*))"'
    "[ \\t]*+\\]": "after a failure it is not tried again in the same line",
    '\\[\\s*+Event\\s*+"': "it is tried once per line",
    '^\\[([\\w+#=:-]++) "([^"\\\\\\n]*+)"\\]\\n': "it is tried once per line",
    "\\[%(\\w++) ([^\\[\\]]*+)\\]": "it stops at any other bracket",
    "(?:^|\\s)\\d++(?:\\.\\d++)?s\\b": "a match begins only after a space",
    "^[ \\t\\r]*bestmove(?![^\\s])([^\\n]*)\\n": "a match begins only at the start of a line",
    "^[ \\t\\r]*(?:info[ \\t](?:[^\\n]*?[ \\t])?)?"
    "(?:bestmove(?![^\\s])|(?=sanmill_error(?![^\\s])))([^\\n]*)\\n":
        "a match begins only at the start of a line",
    "[a-z]++-[a-z]++-[a-z]++-[a-z]++-\\d++-\\d++": "fullmatch of a folder's name",
    "player-\\d++\\.(html|js)|\\d++\\.(js|pgn)": "fullmatch of a file's name",
    "option name (.+?) type (.+)": "any text matches after type",
    "merels(?: \\((\\w++)\\))?": "it is matched with the short name of a player",
}
"""Patterns that `_parts_that_rescan` reports although they take linear time, with the reason."""


def _parts_that_rescan(pattern: Any, must_follow: bool = False) -> Iterator[str]:
    """Yield a pattern's unbounded repetitions after which a match may fail and be tried again."""
    for operation, argument in reversed(list(pattern)):
        repeats = (
            _constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT
        )
        bodies: list[Any] = []
        if operation in repeats:
            if argument[1] == _constants.MAXREPEAT and must_follow:
                yield str(argument)
            bodies = [argument[2]]
        elif operation == _constants.SUBPATTERN:
            bodies = [argument[3]]
        elif operation == _constants.BRANCH:
            bodies = argument[1]
        elif operation == _constants.ATOMIC_GROUP:
            bodies = [argument]
        elif operation in (_constants.ASSERT, _constants.ASSERT_NOT):
            yield from _parts_that_rescan(argument[1])
        for body in bodies:
            yield from _parts_that_rescan(body, must_follow)
        item = _parser.SubPattern(pattern.state, [(operation, argument)])
        checks = (_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT)
        must_follow = must_follow or item.getwidth()[0] > 0 or operation in checks


def _patterns() -> Iterator[tuple[str, str]]:
    """Yield module and text of the sources' regular expressions.

    These are the patterns of module-level values, and the literals in calls of `re`.
    """
    for name, path in MODULES.items():
        if path.stem == "__main__" or path.parent.name in ("examples", "merels"):
            continue
        texts = []
        for value in vars(importlib.import_module(f"merels.{name}")).values():
            for entry in value if isinstance(value, list) else [value]:
                pattern = entry[0] if isinstance(entry, tuple) and entry else entry
                if isinstance(pattern, re.Pattern):
                    texts.append(pattern.pattern)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and re.fullmatch(r"re\.\w+", ast.unparse(node.func)):
                if node.args and isinstance(node.args[0], ast.Constant):
                    texts.append(node.args[0].value)
        for text in texts:
            yield name, text.decode("latin-1") if isinstance(text, bytes) else text


def _possessive_groups(pattern: Any) -> Iterator[str]:
    """Yield a pattern's possessive repetitions of more than one character."""
    simple = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY)
    for operation, argument in pattern:
        if operation == _constants.POSSESSIVE_REPEAT:
            body = argument[2]
            if len(body) != 1 or body[0][0] not in simple:
                yield str(argument)
        for part in argument if isinstance(argument, tuple) else [argument]:
            for inner in part if isinstance(part, list) else [part]:
                if isinstance(inner, _parser.SubPattern):
                    yield from _possessive_groups(inner)


def test_no_group_is_repeated_possessively() -> None:
    """Python 3.11.2 matched such groups wrongly, and read no PGN tag. Use an atomic group."""
    assert list(_possessive_groups(_parser.parse("(?:ab|c)*+d"))) != []
    assert list(_possessive_groups(_parser.parse("a|(?P<x>(?:a++b?)++)"))) != []
    groups_of = {text: list(_possessive_groups(_parser.parse(text))) for _, text in _patterns()}
    assert {text: groups for text, groups in groups_of.items() if groups} == {}


def test_no_pattern_examines_a_text_twice() -> None:
    patterns = list(_patterns())
    assert len(patterns) > 20 and set(_NEVER_RESCANS) <= {text for _, text in patterns}
    assert {
        (name, text) for name, text in patterns
        if text not in _NEVER_RESCANS and list(_parts_that_rescan(_parser.parse(text)))
    } == set()


@pytest.mark.parametrize("text", ["\\{[^}]*\\}", "\\{[^}]*+\\}", "(a|b+)*c", '"(?:[^"]|\\\\.)*"'])
def test_a_pattern_that_examines_a_text_twice_is_found(text: str) -> None:
    assert list(_parts_that_rescan(_parser.parse(text)))
