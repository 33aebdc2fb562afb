"""Positions, games and rules read from files in any form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from merels.engine.common.errors import InputError, placed, printable
from merels.engine.common.files import file_error, naming, read_lines
from merels.engine.game.mif_1_0.manifest import LONGEST_MANIFEST, parse_manifest
from merels.engine.game.notation import parse_position
from merels.engine.game.pgn.variants import RecordRules
from merels.engine.game.record import Record
from merels.engine.game.record_reader import check_record
from merels.engine.game.rules import Rules, parse_rules
from merels.protocol.formats.game_file import find_games, recognised
from merels.tournament.conversion.forms import GAMES, JOURNAL, POSITIONS
from merels.tournament.journal.import_games import is_journal
from merels.tournament.journal.open import read_journal
from merels.tournament.records.settings import read_settings
from merels.tournament.views.pgn import GameWriter

_FIELDS = {"six": "six fields", "seventeen": "17 fields", "mfen": "MFEN"}
Fault = Callable[[InputError], None]
"""Called with what is wrong with one game, position or rule set, which is then left out."""


class Item(NamedTuple):
    """A position, game or rule set, and where in its file it stands."""

    value: Record | Rules
    place: str


def read_items(
    path: str, form: str | None, rules: RecordRules, on_fault: Fault | None = None
) -> Iterator[Item]:
    """The positions, games or rules of a file, one at a time; - is standard input.

    A position is a game without moves. ``form`` None is recognised by the text's beginning;
    ``rules`` hold where the text names none. `InputError` names the place of the first fault,
    unless ``on_fault`` takes it, or that there is nothing.
    """
    faults = 0

    def report(error: InputError) -> None:
        nonlocal faults
        faults += 1
        if on_fault is None:
            raise error
        on_fault(error)

    if form == JOURNAL or form is None and is_journal(path):
        items = _journaled(path, rules, report)
    else:
        items = _written(path, form, rules, report)
    item = None
    for item in items:
        yield item
    if item is None and not faults:
        raise file_error(_shown(path), "expected positions, games or rules here, found none")


def _journaled(path: str, rules: RecordRules, report: Fault) -> Iterator[Item]:
    """The games of a journal, which a stranger may have written, with all that it holds of them."""
    with read_journal(path) as journal:
        notes = journal.meta()
        with naming(_shown(path)):
            settings = read_settings(notes["settings"])
            stated = rules.of(settings.rules)
            writer = GameWriter(replace(settings, rules=str(stated)), notes["id"])
        for row in journal.rows():
            place = f"game {row.number} of {_shown(path)}"
            try:
                record = writer.record(row)
                check_record(record, rules)
            except InputError as error:
                report(placed(error, place))
            else:
                yield Item(record, place)


def _written(
    path: str, form: str | None, rules: RecordRules, report: Fault
) -> Iterator[Item]:
    """What stands in a text file."""
    lines: Iterator[str] = read_lines(path)
    kind: str | None = {"rules": "rules", "manifest": "manifest"}.get(form or "")
    if form is None:
        kind, lines = recognised(lines, _shown(path))
    elif form in POSITIONS:
        kind = "positions"
    elif form in GAMES:
        kind = "games"
    if kind == "positions":
        yield from _positions(path, lines, form, rules.default, report)
    elif kind == "games":
        yield from _games(path, lines, form, rules, report)
    elif kind == "rules":
        yield from _each_line(path, lines, parse_rules, report)
    elif kind == "manifest":
        yield from _manifest(path, lines)


def _bare(line: str) -> str:
    """A line without the comment behind a semicolon."""
    return line.partition(";")[0].strip()


def _positions(
    path: str, lines: Iterable[str], form: str | None, rules: Rules, report: Fault
) -> Iterator[Item]:
    """A position in each line."""

    def read(text: str) -> Record:
        count = len(text.split())
        found = "mfen" if text[:4].upper() == "MFEN" else "six" if count == 6 else "seventeen"
        if form not in (None, found):
            raise InputError(text, f"expected a position as {_FIELDS[form or found]}")
        return Record(parse_position(text, rules))

    return _each_line(path, lines, read, report)


def _each_line(
    path: str, lines: Iterable[str], read: Callable[[str], Record | Rules], report: Fault
) -> Iterator[Item]:
    """What each line holds that is not empty."""
    for number, line in enumerate(lines, 1):
        if text := _bare(line):
            place = f"line {number} of {_shown(path)}"
            try:
                value = read(text)
            except InputError as error:
                report(placed(error, place))
            else:
                yield Item(value, place)


def _games(
    path: str, lines: Iterable[str], form: str | None, rules: RecordRules, report: Fault
) -> Iterator[Item]:
    """The game records of a text."""
    for game in find_games(lines, _shown(path)):
        try:
            record = game.read(rules, form)
        except InputError as error:
            report(error)
        else:
            yield Item(record, game.place)


def _manifest(path: str, lines: Iterable[str]) -> Iterator[Item]:
    """The rules of a text that is one manifest; nothing of a blank one."""
    text = ""
    for line in lines:
        text += line
        if len(text) > LONGEST_MANIFEST:
            break
    if text.strip():
        with naming(_shown(path)):
            yield Item(parse_manifest(text), _shown(path))


def _shown(path: str) -> str:
    return "standard input" if path == "-" else printable(path)
