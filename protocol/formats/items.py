"""Positions, games and rules read from text files in any form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from merels.engine.common.errors import InputError, placed
from merels.engine.common.files import read_lines, shown_path
from merels.engine.game.rules import Rules, parse_rules
from merels.protocol.formats.forms import GAMES, POSITIONS, RULES
from merels.protocol.formats.game_file import find_games, recognise
from merels.protocol.formats.mfen import read_position
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.record import Record

_KINDS = {
    **dict.fromkeys(POSITIONS, "positions"), **dict.fromkeys(GAMES, "games"), RULES: "rules"
}
"""By form, the kind of content, as `recognise` names it."""
_FORM_NAMES = {"six": "six fields", "seventeen": "17 fields", "mfen": "MFEN"}
OnInvalid = Callable[[InputError], None]
"""Called with the error about an invalid game, position or rule set, which is then skipped."""


class Item(NamedTuple):
    """A position, game or rule set, and its place in a file."""

    value: Record | Rules
    place: str


def text_items(
    path: str, form: str | None, rules: RecordRules, report: OnInvalid
) -> Iterator[Item]:
    """Yield the positions, games or rule sets of a text file; ``-`` is standard input.

    A position is a record without moves. ``form`` is one of `forms.FORMS`; None detects the
    form. ``rules`` apply to text that names no rules. ``report`` is called with the
    error about each invalid game or line. An error about the whole file is raised.
    """
    lines = read_lines(path)
    if form is None:
        kind, lines = recognise(lines, shown_path(path))
    else:
        kind = _KINDS[form]
    if kind == "positions":
        yield from _positions(path, lines, form, rules.default, report)
    elif kind == "games":
        yield from _games(path, lines, form, rules, report)
    elif kind == "rules":
        yield from _each_line(path, lines, parse_rules, report)


def _positions(
    path: str, lines: Iterable[str], form: str | None, rules: Rules, report: OnInvalid
) -> Iterator[Item]:
    """Return the positions of a text, one in each line."""

    def read(text: str) -> Record:
        count = len(text.split())
        actual = "mfen" if text[:4].upper() == "MFEN" else "six" if count == 6 else "seventeen"
        if form not in (None, actual):
            raise InputError(text, f"expected a position as {_FORM_NAMES[form or actual]}")
        return Record(read_position(text, rules))

    return _each_line(path, lines, read, report)


def _each_line(
    path: str, lines: Iterable[str], read: Callable[[str], Record | Rules], report: OnInvalid
) -> Iterator[Item]:
    """Yield an item for each line that is not empty; text after a semicolon is a comment."""
    for number, line in enumerate(lines, 1):
        if text := line.partition(";")[0].strip():
            place = f"line {number} of {shown_path(path)}"
            try:
                value = read(text)
            except InputError as error:
                report(placed(error, place))
            else:
                yield Item(value, place)


def _games(
    path: str, lines: Iterable[str], form: str | None, rules: RecordRules, report: OnInvalid
) -> Iterator[Item]:
    """Yield the games of a text."""
    for game in find_games(lines, shown_path(path)):
        try:
            record = game.read(rules, form)
        except InputError as error:
            report(error)
        else:
            yield Item(record, game.place)
