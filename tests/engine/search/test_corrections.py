"""Corrections: their file, their symmetric images, and their use by the searcher."""

from __future__ import annotations

import random
from array import array
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.board import SIZE, SYMMETRIES
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import PRESETS, make_rules, preset
from merels.engine.search import corrections
from merels.engine.search.levels import LEVELS
from merels.engine.search.limits import Info, Limit
from merels.engine.search.searcher import Searcher
from tests.engine.images import image_of
from tests.engine.random_games import random_positions
from tests.kit.tables import built_tables

MORRIS = preset("morris")


def images(position: Position) -> list[Position]:
    """Return the 16 symmetric images of a position."""
    return [image_of(position, symmetry) for symmetry in SYMMETRIES]


def placing_positions(number: int) -> list[Position]:
    """Return random positions in which a man must be placed."""
    positions = random_positions(seed=3, number=40 * number)
    return [
        Position.of(MORRIS, position.men, position.hands, position.side)
        for position in positions
        if position.hands[position.side] and position.outcome() is None
    ][:number]


def stored_position(number: int) -> Position:
    """Return the position that a correction's number encodes, White to move."""
    image, hands = divmod(number >> 10, 100)
    men = [0, 0]
    for point in range(SIZE):
        image, digit = divmod(image, 3)
        if digit:
            men[digit - 1] |= 1 << point
    return Position.of(MORRIS, (men[0], men[1]), divmod(hands, 10), 0)


def test_one_stored_number_corrects_all_images_of_its_position() -> None:
    chance = random.Random(8)
    positions = placing_positions(60)
    assert len(positions) == 60
    for position in positions:
        move = chance.choice(position.legal_moves())
        numbers = array("Q", [corrections.number_of(position, move)])
        key_after_move = corrections.key_of(position.play(move))[0]
        for image in images(position):
            correction = corrections.corrected_move(image, numbers)
            assert correction in image.legal_moves()
            assert corrections.key_of(image.play(correction))[0] == key_after_move


def test_other_positions_have_no_correction() -> None:
    first, *others = placing_positions(60)
    numbers = array("Q", [corrections.number_of(first, first.legal_moves()[0])])
    key = corrections.key_of(first)[0]
    others = [other for other in others if corrections.key_of(other)[0] != key]
    assert len(others) > 50
    assert all(corrections.corrected_move(other, numbers) is None for other in others)
    # The same board with fewer men in hand is another position.
    fewer = Position.of(MORRIS, first.men, (first.hands[0] - 1, first.hands[1] - 1), first.side)
    assert corrections.corrected_move(fewer, numbers) is None


def test_every_correction_of_the_package_is_a_legal_move_of_a_least_image() -> None:
    numbers = corrections.load()
    assert len(numbers) > 100 and list(numbers) == sorted(set(numbers))
    assert len({number >> 10 for number in numbers}) == len(numbers)
    for number in numbers:
        position = stored_position(number)
        assert corrections.key_of(position)[0] == number >> 10
        assert corrections.corrected_move(position) in position.legal_moves()


def test_corrections_are_valid_for_rules_that_differ_only_in_limits() -> None:
    valid = {name for name, rules in PRESETS.items() if corrections.are_valid_for(rules)}
    assert valid == {"mill", "morris", "roman"}
    assert corrections.are_valid_for(make_rules("morris", ["Repetition=0", "NoRemovalPlies=0"]))
    assert not corrections.are_valid_for(make_rules("morris", ["Flying=never"]))
    assert not corrections.are_valid_for(make_rules("morris", ["Blocked=draws"]))


@pytest.fixture(scope="module")
def blunder() -> tuple[Position, Move]:
    """A position of the file in which a short search blunders, and its correction."""
    searcher = Searcher(1)
    searcher.corrections = False
    for number in corrections.load():
        position = stored_position(number)
        move = corrections.corrected_move(position)
        assert move is not None
        searcher.clear()
        if searcher.search(position, Limit(nodes=1_000)).move != move:
            return position, move
    raise AssertionError("no search blunders in a position of the file")


def test_the_searcher_plays_the_correction_unless_switched_off(
    blunder: tuple[Position, Move]
) -> None:
    position, move = blunder
    for image in images(position):
        searcher = Searcher(1)
        assert searcher.search(image, Limit(nodes=1_000)).move == corrections.corrected_move(image)
    searcher = Searcher(1)
    searcher.corrections = False
    assert searcher.search(position, Limit(nodes=1_000)).move != move


def test_a_correction_is_only_played_if_it_may_be_chosen(blunder: tuple[Position, Move]) -> None:
    position, move = blunder
    others = [other for other in position.legal_moves() if other != move]
    assert Searcher(1).search(position, Limit(nodes=1_000), root_moves=others).move in others
    first_moves: dict[int, Move] = {}

    def store(info: Info) -> None:
        first_moves[info.multipv] = info.pv[0]

    Searcher(1).search(position, Limit(nodes=3_000), store, multipv=3)
    assert first_moves[1] == move and len(set(first_moves.values())) == 3


def test_levels_and_other_rules_ignore_corrections(blunder: tuple[Position, Move]) -> None:
    position, move = blunder
    flightless = make_rules("morris", ["Flying=never"])
    other_rules = Position.of(flightless, position.men, position.hands, position.side)
    assert corrections.corrected_move(other_rules) is None
    plain, corrected = Searcher(1), Searcher(1)
    plain.corrections = False
    for level in LEVELS:
        plain.clear()
        corrected.clear()
        assert plain.search(position, Limit(nodes=1_000), level=level).move == corrected.search(
            position, Limit(nodes=1_000), level=level
        ).move


def test_tables_take_precedence_over_corrections(tmp_path: Path) -> None:
    tables = built_tables(MORRIS, 6, placing=True)
    position = Position.of(MORRIS, (0b11, 0b1100 << 8), (1, 1), 0)
    ranked = {move: stored.value for move, stored in tables.moves(position) if stored}
    assert len(set(ranked.values())) > 1
    worst = min(ranked, key=lambda move: ranked[move])
    file = tmp_path / "corrections.bin"
    file.write_bytes(corrections.pack([corrections.number_of(position, worst)]))
    numbers = corrections.load(str(file))
    assert corrections.corrected_move(position, numbers) == worst
    searcher = Searcher(1)
    searcher.tables = tables
    best = searcher.search(position, Limit(nodes=1_000)).move
    assert best is not None and ranked[best] == max(ranked.values())


def test_a_damaged_file_is_reported_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "corrections.bin"
    path.write_bytes(Path(corrections.PATH).read_bytes()[:-3])
    with pytest.raises(InputError, match="cut off or damaged; reinstall merels"):
        corrections.load(str(path))
