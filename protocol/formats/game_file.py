"""The one reader of files of games: each game is found first, and read when it is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from io import StringIO
from itertools import chain

from merels.engine.common.errors import InputError, placed
from merels.engine.game.rules import DEFAULT_RULES, Rules
from merels.protocol.formats.detect import HEAD, detect, first_line
from merels.protocol.formats.mif_1_0.mfen import read_position
from merels.protocol.formats.pgn.reader import Spelling, build_record
from merels.protocol.formats.pgn.tokens import GameText, split_games
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.formats.playok import SPELLING, is_playok
from merels.protocol.games.record import Record

SPELLINGS = {"pgn": Spelling(), "wmd": Spelling(), "playok": SPELLING}
"""How moves are spelled in each form of games."""


@dataclass(frozen=True, slots=True)
class FoundGame:
    """A game of a file, its moves not read yet."""

    number: int
    """In the file, from 1."""
    text: GameText
    place: str
    """Where it is, in words."""

    def read(self, rules: RecordRules, form: str | None = None) -> Record:
        """Return the game, every move checked; an `InputError` names the place of a fault.

        ``form`` None is recognised by the first move.
        """
        if form is None:
            form = "playok" if is_playok(self.text.text) else "pgn"
        return build_record(self.text, rules, SPELLINGS[form], self.place)


def find_games(lines: Iterable[str], file: str = "") -> Iterator[FoundGame]:
    """Yield the games of a file, one at a time; a text that was pasted has no file."""
    for number, text in enumerate(split_games(lines, file or "text"), 1):
        yield FoundGame(number, text, f"game {number}" + (f" of {file}" if file else ""))


def recognised(lines: Iterable[str], file: str = "") -> tuple[str, Iterator[str]]:
    """Return a text's form, as `detect` names it, and all its lines; no form for a blank text.

    `InputError` names a form that is not read.
    """
    rest = iter(lines)
    above: list[str] = []
    head: list[str] = []
    size = 0
    for line in rest:
        if not head and not first_line(line):
            above.append(line)
            continue
        head.append(line)
        size += len(line)
        if size >= HEAD:
            break
    if not head:
        return "", iter(above)
    try:
        form = detect("".join(head))
    except InputError as error:
        line_number = f"line {len(above) + 1}"
        raise placed(error, f"{line_number} of {file}" if file else line_number) from None
    return form, chain(above, head, rest)


def pasted(text: str, rules: Rules) -> Record | list[FoundGame]:
    """Return the position of a text that was typed or pasted, as a record, or its games.

    ``rules`` hold for a position. `InputError` where there is neither.
    """
    form, lines = recognised(StringIO(text.removeprefix("\ufeff"), newline=None))
    if form == "positions":
        position, *others = filter(None, map(first_line, lines))
        if others:
            raise InputError(others[0], f"expected one position, found {len(others) + 1}")
        return Record(read_position(position, rules))
    games = list(find_games(lines))
    if form != "games" or not games:
        what = {"rules": "a rule set", "manifest": "a manifest of rules"}.get(form)
        found = f"; this is {what}" if what else ""
        raise InputError(text.strip(), f"expected a position or a game record{found}")
    return games


def read_game(text: str, rules: Rules = DEFAULT_RULES) -> Record:
    """Return the one position or game of a text in any form; a position is a game without moves.

    ``rules`` hold where the text names none. `InputError` names the place of a fault.
    """
    found = pasted(text, rules)
    if isinstance(found, Record):
        return found
    if len(found) > 1:
        raise InputError(text, f"expected one game, found {len(found)}")
    return replace(found[0], place="").read(RecordRules(rules))
