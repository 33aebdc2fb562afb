"""The reader of files of games, which splits a file into games and reads each on request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from io import StringIO
from itertools import chain

from merels.engine.common.errors import InputError, placed
from merels.engine.game.rules import DEFAULT_RULES, Rules
from merels.protocol.formats.detect import HEAD_LENGTH, detect, first_line
from merels.protocol.formats.mfen import read_position
from merels.protocol.formats.pgn.reader import Spelling, build_record
from merels.protocol.formats.pgn.tokens import GameText, split_games
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.formats.playok import SPELLING, is_playok
from merels.protocol.games.record import Record

SPELLINGS = {"pgn": Spelling(), "wmd": Spelling(), "playok": SPELLING}
"""The spelling of moves in each form of games."""


@dataclass(frozen=True, slots=True)
class FoundGame:
    """A game of a file whose moves have not been read yet."""

    number: int
    """Number of the game in the file, from 1."""
    text: GameText
    place: str
    """The game's place for messages, such as ``game 3 of a.pgn``."""

    def read(self, rules: RecordRules, form: str | None = None) -> Record:
        """Return the record of the game; `InputError` names an invalid token and its place.

        ``form`` is a key of `SPELLINGS`; None detects PGN or PlayOK by the first move.
        """
        if form is None:
            form = "playok" if is_playok(self.text.text) else "pgn"
        return build_record(self.text, rules, SPELLINGS[form], self.place)


def find_games(lines: Iterable[str], file: str = "") -> Iterator[FoundGame]:
    """Yield the games of a text, one at a time; ``file`` is its name, '' for pasted text."""
    for number, text in enumerate(split_games(lines, file or "text"), 1):
        yield FoundGame(number, text, f"game {number}" + (f" of {file}" if file else ""))


def recognise(lines: Iterable[str], file: str = "") -> tuple[str, Iterator[str]]:
    """Return the form of a text, as `detect` names it, and all its lines.

    The form is '' if the text has only comments and empty lines. `InputError` names a form that
    merels does not read.
    """
    unread = iter(lines)
    before_head: list[str] = []
    head: list[str] = []
    size = 0
    for line in unread:
        if not head and not first_line(line):
            before_head.append(line)
            continue
        head.append(line)
        size += len(line)
        if size >= HEAD_LENGTH:
            break
    if not head:
        return "", iter(before_head)
    try:
        form = detect("".join(head))
    except InputError as error:
        line_number = f"line {len(before_head) + 1}"
        raise placed(error, f"{line_number} of {file}" if file else line_number) from None
    return form, chain(before_head, head, unread)


def pasted(text: str, rules: Rules) -> Record | list[FoundGame]:
    """Return the games of a typed or pasted text, or a record of its only position.

    ``rules`` apply to a position. `InputError` for any other text.
    """
    form, lines = recognise(StringIO(text.removeprefix("\ufeff"), newline=None))
    if form == "positions":
        position, *others = filter(None, map(first_line, lines))
        if others:
            raise InputError(others[0], f"expected one position, found {len(others) + 1}")
        return Record(read_position(position, rules))
    games = list(find_games(lines))
    if form != "games" or not games:
        actual = "; this is a rule set" if form == "rules" else ""
        raise InputError(text.strip(), f"expected a position or a game record{actual}")
    return games


def read_game(text: str, rules: Rules = DEFAULT_RULES) -> Record:
    """Return the only game of a text in any form; a position becomes a game without moves.

    ``rules`` apply to a text that names no rules. `InputError` names an invalid token and its
    place.
    """
    content = pasted(text, rules)
    if isinstance(content, Record):
        return content
    if len(content) > 1:
        raise InputError(text, f"expected one game, found {len(content)}")
    return replace(content[0], place="").read(RecordRules(rules))
