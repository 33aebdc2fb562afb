"""``merels review``: judge each move of recorded games."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from merels.engine.common.errors import InputError, printable
from merels.engine.common.numbers import counted
from merels.engine.game.position import COLOURS
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.cache import TableCache
from merels.protocol.commands.arguments import (
    add_flag,
    add_rules_flags,
    leave_variant_open,
    make_parser,
    record_rules,
    whole_from,
)
from merels.protocol.commands.faults import Faults
from merels.protocol.common.notices import notify
from merels.protocol.formats.files import FileItem, Journals, read_file
from merels.protocol.games.record import Record
from merels.protocol.review.review import DEFAULT_NODES, GRADES, Judgement, judge_with, review
from merels.protocol.review.text import Sums, annotated, lines, to_json

VERSION = 2
"""Version of the JSON format."""

DESCRIPTION = """\
Judges each move of the games in a file: how much it lost, and which move was better."""
_EPILOG = f"""\
FILE is a journal of merels tournament, or has games in PGN or in PlayOK's format. A game is read by
the rules that it names; -variant overrides these rules, and -set changes fields of them. Among
several games, one that cannot be read is skipped with a line on standard error, and the exit status
is 1.

A move's loss is in percent of expected score: a win is 100, a draw 50. A loss of
{GRADES[2][0]:.0%} or more is an {GRADES[2][1]} (?!), of {GRADES[1][0]:.0%} a {GRADES[1][1]} (?), \
of {GRADES[0][0]:.0%} a {GRADES[0][1]} (??).
'Proven' means by tables of perfect play, or by a search that reached the end of the game.

The JSON of one game is an object with its moves. The JSON of several games is an object whose field
games is the list of their objects.
"""


def main(argv: list[str], journals: Journals) -> int:
    """Run ``merels review``; return the exit status. ``journals`` opens journals."""
    parser = make_parser("review", DESCRIPTION, _EPILOG)
    parser.add_argument(
        "file", metavar="FILE", help="a journal, or a file of games, or - for standard input"
    )
    add_flag(
        parser, "game", metavar="N", type=whole_from(1),
        help="review only one game: the Nth game of a file, or game number N of a journal",
    )
    add_flag(
        parser, "nodes", metavar="N", type=whole_from(1), default=DEFAULT_NODES,
        help=f"positions to search for each move (default: {DEFAULT_NODES})",
    )
    add_flag(
        parser, "tables", metavar="DIR", default="",
        help="the folder of tables (default: MERELS_TABLES, or the user's cache folder)",
    )
    form = parser.add_mutually_exclusive_group()
    add_flag(form, "json", action="store_true", help="print JSON")
    add_flag(
        form, "pgn", action="store_true",
        help="print the records with [%%eval], glyphs and comments",
    )
    add_flag(
        parser, "strict", action="store_true", help="stop at the first game that cannot be read"
    )
    add_rules_flags(parser)
    leave_variant_open(parser)
    arguments = parser.parse_args(argv)
    games = read_file(arguments.file, journals=journals, games_only=True)
    if arguments.game is None:
        first_two = list(islice(games, 2))
        return _review(chain(first_two, games), len(first_two) > 1, arguments)
    return _review([_chosen(games, arguments)], False, arguments)


def _chosen(games: Iterable[FileItem], arguments: argparse.Namespace) -> FileItem:
    """Return the game that ``-game`` selects; raise `InputError` with the valid numbers."""
    numbers = []
    for game in games:
        if game.number == arguments.game:
            return game
        numbers.append(game.number)
    count = len(numbers)
    contents = f"it has {counted(count, 'game')}"
    if numbers and (numbers[0], numbers[-1]) != (1, count):
        contents += f", with numbers from {numbers[0]} to {numbers[-1]}"
    where = printable(arguments.file)
    raise InputError(f"-game {arguments.game}", f"no such game in {where}: {contents}")


def _review(games: Iterable[FileItem], several: bool, arguments: argparse.Namespace) -> int:
    """Print the review of the games as text, JSON or PGN; return the exit status."""
    reviewer, rules = _Reviewer(arguments), record_rules(arguments)
    results: list[dict[str, Any]] = []
    players: dict[str, Sums] = {}
    faults = Faults(arguments.strict or not several)
    for game in games:
        try:
            record = game.read(rules)
        except InputError as error:
            faults.skip(error)
            continue
        assert isinstance(record, Record), "read_file refuses a file of rule sets"
        if not record.moves and not several:
            raise InputError(arguments.file, "expected a game with moves in it")
        faults.read += 1
        faults.notice(record, game.place)
        white, black = names = record.tags.get("White", "?"), record.tags.get("Black", "?")
        judgements = _add_to_sums(reviewer.judge(record), names, players)
        if arguments.json:
            head = {"game": game.number, "white": white, "black": black}
            results.append(head | to_json(record, list(judgements)))
        elif arguments.pgn:
            print(annotated(record, list(judgements)), end="", flush=True)
        else:
            if several or arguments.game is not None:
                text = f"Game {game.number}: {white} - {black}, {record.result}"
                ending = record.tags.get("Termination", "normal")
                print(printable(text if ending == "normal" else f"{text} ({ending})"))
            for line in lines(judgements) if record.moves else ["no moves"]:
                print(line, flush=True)
            if several:
                print()
    if arguments.json:
        answer = {"games": results} if several else results[0]
        print(json.dumps({"version": VERSION} | answer, indent=1))
    elif several and not arguments.pgn:
        print(f"All {faults.read} games:")
        for name, sums in players.items():
            print(f"{printable(name)}: {sums}")
    return faults.status


class _Reviewer:
    """Judges games, each with an empty hash table, so that the order of games has no effect."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._folder, self._nodes = arguments.tables, arguments.nodes
        self._searcher, self._cache = Searcher(), TableCache()

    def judge(self, record: Record) -> Iterator[Judgement]:
        """Yield the judgement of each move of a game."""
        rules = record.start.rules
        self._searcher.clear()
        self._searcher.tables, problems = self._cache.fetch(rules, self._folder, wait=True)
        for problem in problems:
            notify(problem)
        return review(record, judge_with(self._searcher, self._nodes))


def _add_to_sums(
    judgements: Iterator[Judgement], names: tuple[str, str], players: dict[str, Sums]
) -> Iterator[Judgement]:
    """Yield the judgements, and add each to the sums of its player.

    A player without a name is counted as ``White`` or ``Black``.
    """
    for judgement in judgements:
        name = names[judgement.side]
        player = COLOURS[judgement.side] if name == "?" else name
        players.setdefault(player, Sums()).add(judgement)
        yield judgement
