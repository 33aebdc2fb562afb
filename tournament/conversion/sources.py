"""Positions, games and rules read from files in any form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from merels.engine.game.errors import InputError, printable
from merels.engine.game.mif_1_0.manifest import LONGEST_MANIFEST, parse_manifest
from merels.engine.game.notation import parse_position
from merels.engine.game.record import Record
from merels.engine.game.record_reader import parse_record
from merels.engine.game.rules import PRESETS, Rules, parse_rules
from merels.protocol.formats import is_position, read_record
from merels.protocol.formats.playok import parse_playok
from merels.tournament.conversion.forms import GAMES, JOURNAL, POSITIONS
from merels.tournament.journal.import_games import is_journal
from merels.tournament.journal.open import read_journal
from merels.tournament.journal.pgn_text import pgn_texts
from merels.tournament.records.files import file_error, naming, read_lines
from merels.tournament.records.settings import read_settings
from merels.tournament.views.pgn import GameWriter

_PARSERS: dict[str | None, Callable[[str, Rules, int], Record]] = {
    None: read_record, "pgn": parse_record, "wmd": parse_record, "playok": parse_playok
}
_FIELDS = {"six": "six fields", "seventeen": "17 fields", "mfen": "MFEN"}


class Item(NamedTuple):
    """A position, game or rule set, and where in its file it stands."""

    value: Record | Rules
    place: str


def read_items(path: str, form: str | None, rules: Rules) -> Iterator[Item]:
    """The positions, games or rules of a file, one at a time; - is standard input.

    A position is a game without moves. ``form`` None is guessed from the first line; ``rules``
    hold where the text names none. `InputError` names the place of a fault, or that there is
    nothing.
    """
    if form == JOURNAL or form is None and is_journal(path):
        items = _journaled(path)
    else:
        items = _written(path, form, rules)
    item = None
    for item in items:
        yield item
    if item is None:
        raise file_error(_shown(path), "expected positions, games or rules here, found none")


def _journaled(path: str) -> Iterator[Item]:
    """The games of a journal, which a stranger may have written, with all that is told of them."""
    with read_journal(path) as journal:
        notes = journal.meta()
        with naming(_shown(path)):
            writer = GameWriter(read_settings(notes["settings"]), notes["id"])
        for row in journal.rows():
            place = f"game {row.number} of {_shown(path)}"
            record = writer.record(row)
            position = record.start
            with naming(place):
                for move in record.moves:
                    position = position.push(move)
            yield Item(record, place)


def _written(path: str, form: str | None, rules: Rules) -> Iterator[Item]:
    """What stands in a text file."""
    lines = read_lines(path)
    skipped = []
    for line in lines:
        skipped.append(line)
        if _bare(line):
            break
    else:
        return iter(())
    lines = chain(skipped, lines)
    kind = form or _guess(_bare(line))
    if kind in POSITIONS:
        return _positions(path, lines, form, rules)
    if kind in GAMES:
        return _games(path, lines, _PARSERS[form], rules)
    if kind == "rules":
        return _each_line(path, lines, parse_rules)
    return iter([_manifest(path, lines)])


def _guess(line: str) -> str:
    """The form of a text whose first line this is."""
    if line[0] == "{" and line[1:].lstrip()[:1] in ("", '"'):
        return "manifest"
    if line.split()[0].lower() in PRESETS:
        return "rules"
    return "six" if is_position(line) else "pgn"


def _bare(line: str) -> str:
    """A line without the comment behind a semicolon."""
    return line.partition(";")[0].strip()


def _positions(
    path: str, lines: Iterable[str], form: str | None, rules: Rules
) -> Iterator[Item]:
    """A position in each line."""

    def read(text: str) -> Record:
        count = len(text.split())
        found = "mfen" if text.startswith("MFEN") else "six" if count == 6 else "seventeen"
        if form not in (None, found):
            raise InputError(text, f"expected a position as {_FIELDS[form or found]}")
        return Record(parse_position(text, rules))

    return _each_line(path, lines, read)


def _each_line(
    path: str, lines: Iterable[str], read: Callable[[str], Record | Rules]
) -> Iterator[Item]:
    """What each line says that is not empty."""
    for number, line in enumerate(lines, 1):
        if text := _bare(line):
            place = f"line {number} of {_shown(path)}"
            with naming(place):
                value = read(text)
            yield Item(value, place)


def _games(
    path: str, lines: Iterable[str], parse: Callable[[str, Rules, int], Record], rules: Rules
) -> Iterator[Item]:
    """The game records of a text."""
    for number, game in enumerate(pgn_texts(path, lines), 1):
        place = f"game {number} of {_shown(path)}"
        with naming(place):
            record = parse(game.text, rules, game.line)
        yield Item(record, place)


def _manifest(path: str, lines: Iterable[str]) -> Item:
    """The rules of a text that is one manifest."""
    text = ""
    for line in lines:
        text += line
        if len(text) > LONGEST_MANIFEST:
            break
    with naming(_shown(path)):
        return Item(parse_manifest(text), _shown(path))


def _shown(path: str) -> str:
    return "standard input" if path == "-" else printable(path)
