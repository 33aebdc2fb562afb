"""Openings of a tournament: an endless, reproducible sequence, random or from a file."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from itertools import count

from merels.engine.common.errors import InputError, printable
from merels.engine.game.board import LINE_MASKS, NAMES, SIZE, least_image, mask_of
from merels.engine.game.notation import START, format_position
from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.game.rules import Rules, preset
from merels.engine.tablebase.files import rule_fields
from merels.protocol.common.files import errors_at, file_error, read_lines
from merels.protocol.formats.files import find_games, find_lines
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.record import Record, drawn_notice
from merels.tournament.records.games import Opening
from merels.tournament.records.settings import OpeningSettings

BOOK = "book"
"""File name that stands for the balanced openings shipped with merels."""
MAX_PLIES = 12
"""Largest length of a random opening; on fuller boards, one side can nearly always close a mill."""
GAME_PLIES = 8
"""Moves taken from a whole game: as many as in the longest default random opening."""
MAX_TRIES = 2000
"""Failed tries in a row after which the openings of a length count as used up."""


class Openings:
    """Openings by index, from 0 without an upper bound.

    Equal settings, rules and seed give the same sequence on every machine.
    """

    def __init__(self, settings: OpeningSettings, rules: Rules, seed: int) -> None:
        self.notices: list[str] = []
        """Notices of `load_openings`."""
        if settings.file is None:
            self._source = _random_openings(seed, settings.plies)
            self.trial = next(_random_openings(0, settings.plies))
            """Opening with which `preflight` tries the engines: the same for every seed."""
        else:
            loaded = load_openings(settings, rules, self.notices)
            self._source = _in_order(loaded, settings, seed)
            self.trial = loaded[settings.start - 1]
        self._made = [next(self._source)]
        """Openings so far. The first is made now, to report mistakes in the settings early."""

    def __getitem__(self, index: int) -> Opening:
        while len(self._made) <= index:
            self._made.append(next(self._source))
        return self._made[index]


def _random_openings(seed: int, plies: int | None) -> Iterator[Opening]:
    """Yield random quiet openings of ``plies`` placements, or of 4 to 8 if it is None.

    No two openings lead to symmetric positions until `MAX_TRIES` tries in a row find no new
    position; then positions may repeat. With 0 plies, every game starts from the empty board.
    """
    if plies is not None and not 0 <= plies <= MAX_PLIES:
        raise InputError(str(plies), f"expected plies from 0 to {MAX_PLIES}, or a file=")
    while plies == 0:
        yield Opening(START)
    rng = random.Random(f"merels openings {seed}")
    seen: set[tuple[int, int]] = set()
    for number in count(1):
        length = plies or 4 + _below(rng, 5)
        points = new_placements(rng, length, seen)
        if points is None:
            seen.clear()
            points = new_placements(rng, length, seen)
        assert points is not None, "every placement is new while `seen` is empty"
        yield Opening(START, tuple(NAMES[point] for point in points), f"random {number}")


def new_placements(rng: random.Random, length: int, seen: set[tuple[int, int]]) -> list[int] | None:
    """Return the points of a new quiet opening of this length, and add its position to ``seen``.

    A position is new if neither it nor a symmetric image is in ``seen``. In a quiet position no
    mill is closed, and neither side can close one with its next man. Returns None after `MAX_TRIES`
    failures.
    """
    for _ in range(MAX_TRIES):
        points = _shuffled(rng, range(SIZE))[:length]
        men = (mask_of(points[WHITE::2]), mask_of(points[BLACK::2]))
        if _is_quiet(men) and (board := least_image(men)) not in seen:
            seen.add(board)
            return points
    return None


def _below(rng: random.Random, bound: int) -> int:
    """Return a random number from 0 to ``bound`` - 1.

    Only the sequence of ``random()`` is one that Python promises not to change.
    """
    return int(rng.random() * bound)


def _shuffled(rng: random.Random, items: Sequence[int]) -> list[int]:
    """Return the items in random order (Fisher and Yates)."""
    order = list(items)
    for index in range(len(order) - 1, 0, -1):
        other = _below(rng, index + 1)
        order[index], order[other] = order[other], order[index]
    return order


def _is_quiet(men: tuple[int, int]) -> bool:
    """Return whether no line has two or more men of one side and no man of the other."""
    return not any(
        (own & line).bit_count() >= 2 and not other & line
        for line in LINE_MASKS
        for own, other in (men, men[::-1])
    )


def _in_order(openings: list[Opening], settings: OpeningSettings, seed: int) -> Iterator[Opening]:
    """Yield the openings of a file endlessly.

    The first pass begins at ``start``. With random order, each pass has a new order.
    """
    rng = random.Random(f"merels book {seed}")
    start = settings.start - 1
    while True:
        order = list(range(len(openings)))
        if settings.order == "random":
            order = _shuffled(rng, order)
        for index in order[start:]:
            yield openings[index]
        start = 0


def shipped_book(rules: Rules) -> str:
    """Return the path of the balanced openings shipped with merels for a rule set.

    Fields set on top of the rule set do not change its book.
    """
    return os.path.join(os.path.dirname(__file__), "books", f"{rules.variant}.pos")


def proof_limits(settings: OpeningSettings, rules: Rules) -> str:
    """Return why the proofs of ``-openings book`` do not cover these rules; '' if they do.

    Repetition limits do not matter: a proven draw stays a draw, since repetitions only add draws.
    """
    proven = preset(rules.variant)
    if settings.file != BOOK or rule_fields(rules) == rule_fields(proven):
        return ""
    return f"proven drawn under {proven}, not under {rules}"


def load_openings(
    settings: OpeningSettings, rules: Rules, notices: list[str] | None = None
) -> list[Opening]:
    """Return the openings of a file, all checked; InputError names the file and the line or game.

    A sentence is appended to ``notices`` for each opening that was cut before a draw after which
    its game continued.
    """
    path = shipped_book(rules) if settings.file == BOOK else settings.file or ""
    if settings.format == "pgn":
        openings = _load_records(path, rules, settings.plies, [] if notices is None else notices)
    else:
        openings = _load_positions(path, rules, settings.plies)
    if not openings:
        raise file_error(path, "expected at least one opening in this file, found none")
    if not 1 <= settings.start <= len(openings):
        raise InputError(
            str(settings.start),
            f"expected start= from 1 to {len(openings)}, the number of openings in {path}",
        )
    return openings


def _load_positions(path: str, rules: Rules, plies: int | None) -> list[Opening]:
    """Return the openings of a file with one position per line, each name after ``;``."""
    if plies is not None:
        raise InputError(str(plies), f"plies= is for games and random openings, not for {path}")
    openings = []
    for found in find_lines(read_lines(path), "positions", printable(path)):
        record = found.read(RecordRules(rules))
        assert isinstance(record, Record)
        openings.append(_checked(record.start, (), found.comment, found.place))
    return openings


def _load_records(
    path: str, rules: Rules, plies: int | None, notices: list[str]
) -> list[Opening]:
    """Return the first ``plies`` moves of each game, played under the tournament's rules.

    If ``plies`` is None, all moves are taken. But if any record is a whole game (`_is_game`), only
    `GAME_PLIES` moves of each record are taken, fewer if the game ends there, and duplicates are
    removed. If a game continues after a draw by a counting rule, the opening ends before this draw.
    """
    record_rules = RecordRules(rules, rules.variant)
    found = find_games(read_lines(path), printable(path))
    games = [(game.place, game.read(record_rules)) for game in found]
    are_games = plies is None and any(_is_game(record) for _, record in games)
    openings = []
    for place, record in games:
        moves = tuple(record.moves[: GAME_PLIES if are_games else plies])
        if record.drawn is not None and len(moves) >= record.drawn[0] > 0:
            moves = moves[: record.drawn[0] - 1]
            notices.append(
                f"{place}: {drawn_notice(record, False)}; the opening ends before this draw"
            )
        while are_games and moves and _played(record.start, moves, place).outcome() is not None:
            moves = moves[:-1]
        openings.append(_checked(record.start, moves, record.tags.get("Opening", ""), place))
    return list(dict.fromkeys(openings)) if are_games else openings


def _is_game(record: Record) -> bool:
    """Return whether a record reaches the end of a game or of its placing phase."""
    final = record.final()
    return final.outcome() is not None or any(record.start.hands) and not any(final.hands)


def _played(position: Position, moves: Sequence[Move], place: str) -> Position:
    """Return the position after legal moves; InputError names ``place`` otherwise."""
    with errors_at(place):
        for move in moves:
            position = position.push(move)
    return position


def _checked(position: Position, moves: tuple[Move, ...], name: str, place: str) -> Opening:
    """Return the opening; InputError if a move is illegal or the game is over."""
    final = _played(position, moves, place)
    outcome = final.outcome()
    if outcome is not None:
        hint = "; use fewer plies=" if moves else ""
        raise InputError(
            format_position(final), f"the game is over here: {outcome} ({place}){hint}"
        )
    return Opening(format_position(position), tuple(map(str, moves)), name)
