"""``merels review``: what each move of a game gave away."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence

from merels.engine.game.errors import InputError, printable
from merels.engine.game.notation import format_position
from merels.engine.game.position import BLACK, COLOURS, WHITE
from merels.engine.game.record import Record, format_record
from merels.engine.search.searcher import Searcher
from merels.protocol.commands.arguments import (
    add_flag,
    add_rules_flags,
    make_parser,
    rules_of,
    whole_from,
)
from merels.protocol.formats import read_game
from merels.protocol.review.review import (
    DEFAULT_NODES,
    MARKS,
    NAMES,
    Judgement,
    as_json,
    judge_with,
    review,
    score_text,
)
from merels.protocol.uci.table_cache import TableCache

BAR = 20
"""Characters of the graph, from lost to won for White."""
LARGEST_FILE = 1 << 24
"""Bytes of the largest file that is read."""

_EPILOG = f"""\
GAME holds one game as PGN or as PlayOK writes it. Rules that the record names override -variant
and -set.

A move's loss is in percent of expected score: a win is 100, a draw 50. A loss of
{NAMES[2][0]:.0%} or more is an {NAMES[2][1]} (?!), of {NAMES[1][0]:.0%} a {NAMES[1][1]} (?), of \
{NAMES[0][0]:.0%} a {NAMES[0][1]} (??).
'Proven' means that tables of perfect play say so or that the search saw the end of the game.
"""


def main(argv: list[str]) -> int:
    """Judge the moves of a recorded game."""
    parser = make_parser(
        "review", "Judges each move of a game: what it lost and what was better.", _EPILOG
    )
    parser.add_argument("game", metavar="GAME", help="the record's file, or - for standard input")
    add_flag(
        parser, "nodes", metavar="N", type=whole_from(1), default=DEFAULT_NODES,
        help=f"positions to search for each move (default: {DEFAULT_NODES})",
    )
    add_flag(
        parser, "tables", metavar="DIR", default="",
        help="the folder of tables of perfect play (default: the user's cache)",
    )
    form = parser.add_mutually_exclusive_group()
    add_flag(form, "json", action="store_true", help="print JSON")
    add_flag(form, "pgn", action="store_true", help="print the record with judgements as comments")
    add_rules_flags(parser)
    return _review(parser.parse_args(argv))


def _review(arguments: argparse.Namespace) -> int:
    rules, text = rules_of(arguments), read_text(arguments.game)
    try:
        record = read_game(text, rules)
    except InputError as error:
        expected = f"{error.expected}, in {printable(arguments.game)}"
        raise InputError(error.token, expected, error.index) from None
    if not record.moves:
        raise InputError(arguments.game, "expected a game with moves in it")
    searcher = Searcher()
    searcher.tables, problems = TableCache().fetch(
        record.start.rules, arguments.tables, wait=True
    )
    for problem in problems:
        print(f"merels review: {problem}", file=sys.stderr)
    judgements = review(record, judge_with(searcher, arguments.nodes))
    if arguments.json:
        print(json.dumps(to_json(record, list(judgements)), indent=1))
    elif arguments.pgn:
        print(annotated(record, list(judgements)), end="")
    else:
        for line in lines(record, judgements):
            print(line, flush=True)
    return 0


def read_text(path: str) -> str:
    """A file's text, or standard input's for ``-``."""
    try:
        if path == "-":
            data = sys.stdin.buffer.read(LARGEST_FILE + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise InputError(path, f"expected one game, of at most {LARGEST_FILE >> 20} MiB")
        return data.decode("utf-8")
    except OSError as error:
        raise InputError(path, f"cannot read this file ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise InputError(path, f"expected text in UTF-8; byte {error.start} is not") from None


def lines(record: Record, judgements: Iterator[Judgement]) -> Iterator[str]:
    """The review for a person: a line with a graph for each move, then the sums.

    The graph's bar is White's expected score after the move.
    """
    judged: list[Judgement] = []
    yield f"{'move':<17}{'loss':>5}  {'score':<18}{'White':<{BAR + 2}}"
    for judgement in judgements:
        judged.append(judgement)
        yield _line(judgement).rstrip()
    yield ""
    for side in (WHITE, BLACK):
        yield summary(side, judged)


def _line(judgement: Judgement) -> str:
    dots = "." if judgement.side == WHITE else "..."
    move = f"{judgement.number}{dots} {judgement.move}{MARKS.get(judgement.name, '')}"
    loss = f"{judgement.loss * 100:.0f}" if judgement.loss >= 0.005 else ""
    filled = round(judgement.after.white * BAR)
    graph = "[" + "#" * filled + " " * (BAR - filled) + "]"
    score = score_text(judgement.after.score)
    return f"{move:<17}{loss:>5}  {score:<18}{graph} {judgement.sentence}"


def summary(side: int, judged: Sequence[Judgement]) -> str:
    """One side's moves in numbers."""
    own = [judgement for judgement in judged if judgement.side == side]
    counts = []
    for _, name in NAMES:
        number = sum(judgement.name == name for judgement in own)
        plural = name[:-1] + "ies" if name.endswith("y") else name + "s"
        counts.append(f"{number} {name if number == 1 else plural}")
    average = 100 * sum(judgement.loss for judgement in own) / len(own) if own else 0.0
    return f"{COLOURS[side]}: {', '.join(counts)}; {average:.1f} lost a move on average"


def annotated(record: Record, judged: Sequence[Judgement]) -> str:
    """The record with each judgement added to its move's comment."""
    for judgement in judged:
        own = [record.comments[judgement.ply], score_text(judgement.after.score)]
        own.append(judgement.sentence)
        record.comments[judgement.ply] = "; ".join(text for text in own if text)
    return format_record(record)


def to_json(record: Record, judged: Sequence[Judgement]) -> dict[str, object]:
    """The review for a program. ``loss`` and ``value`` are expected scores from 0 to 1.

    Version 1 called a move a turn.
    """
    return {
        "version": 2,
        "rules": str(record.start.rules),
        "position": format_position(record.start),
        "result": record.result,
        "moves": [as_json(judgement) for judgement in judged],
    }
