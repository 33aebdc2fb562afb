"""Where games start: an endless, repeatable sequence of openings, random or from a file."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from itertools import count

from merels.engine.common.errors import InputError, printable
from merels.engine.common.files import errors_at, file_error, read_lines
from merels.engine.game.board import LINE_MASKS, NAMES, SIZE, SYMMETRIES, points_of
from merels.engine.game.notation import START, format_position
from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.game.rules import Rules, preset
from merels.engine.tablebase.files import rule_fields
from merels.protocol.formats.game_file import find_games
from merels.protocol.formats.mif_1_0.mfen import read_position
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.record import Record, drawn_notice
from merels.tournament.records.games import Opening
from merels.tournament.records.settings import OpeningSettings

BOOK = "book"
"""Stands, instead of a file's name, for the balanced openings that come with merels."""
LONGEST_PLIES = 12
"""Longer random openings are refused: on fuller boards one side can nearly always close a mill."""
GAME_PLIES = 8
"""The moves that a whole game gives for an opening: as many as the longest usual random one has."""
TRIES = 2000
"""Failed tries in a row after which the random openings of a length count as used up."""


class Openings:
    """The openings of a tournament by index, from 0 without an upper bound.

    The same settings, rules and seed give the same sequence, on every machine.
    """

    def __init__(self, settings: OpeningSettings, rules: Rules, seed: int) -> None:
        self.notices: list[str] = []
        """Openings that end before a draw that their games pass."""
        if settings.file is None:
            self._source = _random_openings(seed, settings.plies)
            self.trial = next(_random_openings(0, settings.plies))
            """The opening that engines are tried with: the same for every seed."""
        else:
            loaded = load_openings(settings, rules, self.notices)
            self._source = _in_order(loaded, settings, seed)
            self.trial = loaded[settings.start - 1]
        self._known = [next(self._source)]
        """Those drawn so far; the first at once, since it shows a mistake in the settings."""

    def __getitem__(self, index: int) -> Opening:
        while len(self._known) <= index:
            self._known.append(next(self._source))
        return self._known[index]


def _random_openings(seed: int, plies: int | None) -> Iterator[Opening]:
    """Random openings of ``plies`` placements (4 to 8 when None), quiet and all different.

    Different: no two are the same under a symmetry of the board, until all have been used. With 0
    every game starts from the empty board.
    """
    if plies is not None and not 0 <= plies <= LONGEST_PLIES:
        raise InputError(str(plies), f"expected plies from 0 to {LONGEST_PLIES}, or a file=")
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
        assert points is not None, "an empty memory leaves every placement new"
        yield Opening(START, tuple(NAMES[point] for point in points), f"random {number}")


def new_placements(rng: random.Random, length: int, seen: set[tuple[int, int]]) -> list[int] | None:
    """Points for a quiet opening of that length whose position is not in ``seen``, then added.

    Quiet: no mill is closed, and neither side could close one with its next man. None when
    ``TRIES`` tries have found nothing new.
    """
    for _ in range(TRIES):
        points = _shuffled(rng, range(SIZE))[:length]
        men = (_mask(points[WHITE::2]), _mask(points[BLACK::2]))
        if _is_quiet(men) and (board := _canonical(men)) not in seen:
            seen.add(board)
            return points
    return None


def _below(rng: random.Random, bound: int) -> int:
    """A number from 0 to ``bound`` - 1, by the one method that Python promises not to change."""
    return int(rng.random() * bound)


def _shuffled(rng: random.Random, items: Sequence[int]) -> list[int]:
    """The items in random order (Fisher and Yates)."""
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        other = _below(rng, last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def _mask(points: Sequence[int]) -> int:
    return sum(1 << point for point in points)


def _is_quiet(men: tuple[int, int]) -> bool:
    """Whether neither side has a mill, or two men in a line whose third point is empty."""
    return not any(
        (own & line).bit_count() >= 2 and not other & line
        for line in LINE_MASKS
        for own, other in (men, men[::-1])
    )


def _canonical(men: tuple[int, int]) -> tuple[int, int]:
    """The least of the board's 16 symmetric images, which stands for all of them."""
    return min(
        (_mask([s[p] for p in points_of(men[0])]), _mask([s[p] for p in points_of(men[1])]))
        for s in SYMMETRIES
    )


def _in_order(openings: list[Opening], settings: OpeningSettings, seed: int) -> Iterator[Opening]:
    """The openings of a file, the first time from ``start`` on; each pass in a new random order."""
    rng = random.Random(f"merels book {seed}")
    first = settings.start - 1
    while True:
        order = list(range(len(openings)))
        if settings.order == "random":
            order = _shuffled(rng, order)
        for index in order[first:]:
            yield openings[index]
        first = 0


def shipped_book(rules: Rules) -> str:
    """The path of the balanced openings that come with merels for a rule set.

    Fields that are set on top of the rule set do not change its book.
    """
    return os.path.join(os.path.dirname(__file__), "books", f"{rules.variant}.pos")


def proof_limits(settings: OpeningSettings, rules: Rules) -> str:
    """Why openings of the book need not be drawn under some rules; empty: their proofs hold.

    The proofs are by tables, which hold for any number of repetitions: these only add draws.
    """
    proven = preset(rules.variant)
    if settings.file != BOOK or rule_fields(rules) == rule_fields(proven):
        return ""
    return f"proven drawn under {proven}, not under {rules}"


def load_openings(
    settings: OpeningSettings, rules: Rules, notices: list[str] | None = None
) -> list[Opening]:
    """The openings of a file, every one checked; an error names the file and the line.

    ``notices`` takes a sentence on each opening that ends before a draw that its game passes.
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
    """One position a line, ``;`` starting a comment, which then names the opening."""
    if plies is not None:
        raise InputError(str(plies), f"plies= is for games and random openings, not for {path}")
    openings = []
    for number, line in enumerate(read_lines(path), 1):
        fields, _, comment = line.partition(";")
        if not fields.strip():
            continue
        place = f"{path}, line {number}"
        with errors_at(place):
            position = read_position(fields, rules)
        openings.append(_checked(position, (), comment.strip(), place))
    return openings


def _load_records(
    path: str, rules: Rules, plies: int | None, notices: list[str]
) -> list[Opening]:
    """The first ``plies`` moves of each game, played under the tournament's rules.

    None: lines are taken whole. If any of them is a whole game rather than a line, `GAME_PLIES`
    moves of each are taken, or fewer that leave the game open, and what comes of that once. A game
    that passes a draw by counting gives the moves before the draw.
    """
    tournaments = RecordRules(rules, rules.variant)
    found = find_games(read_lines(path), printable(path))
    games = [(f"{path}, game {game.number}", game.read(tournaments)) for game in found]
    are_games = plies is None and any(_is_game(record) for _, record in games)
    openings = []
    for place, record in games:
        moves = tuple(record.moves[: GAME_PLIES if are_games else plies])
        if record.drawn is not None and len(moves) >= record.drawn[0] > 0:
            moves = moves[: record.drawn[0] - 1]
            notices.append(f"{place}: {drawn_notice(record, False)}; the opening ends before it")
        while are_games and moves and _played(record.start, moves, place).outcome() is not None:
            moves = moves[:-1]
        openings.append(_checked(record.start, moves, record.tags.get("Opening", ""), place))
    return list(dict.fromkeys(openings)) if are_games else openings


def _is_game(record: Record) -> bool:
    """Whether a record is of a whole game: to its end, or beyond the placing of the men."""
    final = record.final()
    return final.outcome() is not None or any(record.start.hands) and not any(final.hands)


def _played(position: Position, moves: Sequence[Move], place: str) -> Position:
    """The position after some moves, which are legal."""
    with errors_at(place):
        for move in moves:
            position = position.push(move)
    return position


def _checked(position: Position, moves: tuple[Move, ...], name: str, place: str) -> Opening:
    """The opening, checked to be legal and not to end the game."""
    final = _played(position, moves, place)
    outcome = final.outcome()
    if outcome is not None:
        hint = "; fewer plies= stop before" if moves else ""
        raise InputError(
            format_position(final), f"the game is over here: {outcome} ({place}){hint}"
        )
    return Opening(format_position(position), tuple(map(str, moves)), name)
