"""Values of the tables against published counts and the readable rules."""

from __future__ import annotations

import random
from collections import Counter

from merels.engine.core import core, solver
from merels.engine.game.board import POINTS
from merels.engine.game.notation import parse_position
from merels.engine.game.position import BLACK, Position
from merels.engine.game.rules import Rules, make_rules
from merels.engine.tablebase.probe import TableValue, Tables
from merels.engine.tablebase.sectors import Sector, sectors
from merels.engine.tablebase.verify import Verifier
from merels.engine.training.samples import random_position
from tests.kit.rows import check_rows
from tests.kit.tables import built_tables, table_rows
from tests.sanitize.workload import PUBLISHED, UNLIMITED, counted

def bellman(tables: Tables, position: Position, limit: int) -> tuple[int, int | None]:
    """Return a position's value and depth, computed from the table values of its moves."""
    outcome = position.outcome()
    if outcome is not None:
        return (0, None) if outcome.winner is None else (-1, 0)
    wins, losses, draws = [], [], 0
    for _, stored in tables.moves(position):
        assert stored is not None
        value, depth = stored
        if value and depth is not None and limit and depth > limit:
            value = 0
        if value > 0:
            wins.append(depth or 0)
        elif value < 0:
            losses.append(depth or 0)
        else:
            draws += 1
    if wins:
        return 1, min(wins)
    return (0, None) if draws else (-1, max(losses))


def check_values_follow_from_moves(rules: Rules) -> None:
    """Compare random states of every sector with their successors under the readable rules."""
    tables = built_tables(rules, 7, depths=True)
    chance = random.Random(str(rules))
    for sector in sectors(7):
        limit = sector.plies_limit(rules)
        for own, opponent, _ in sector.tables:
            for _ in range(250):
                position = random_position(tables.rules, own, opponent, chance)
                assert tables.probe(position) == bellman(tables, position, limit), position


def test_values_follow_from_moves() -> None:
    """Tables of other rules: tests/system/test_tables.py."""
    check_rows([UNLIMITED, make_rules("mill")], check_values_follow_from_moves)


def test_verification_finds_a_wrong_value() -> None:
    for rules in (UNLIMITED, make_rules("mill")):
        stored = next(row for row in table_rows(rules, 7, depths=True) if row[:3] == (3, 3, 0))
        values = bytearray(stored[3])
        values[777] ^= 1
        tables = Tables(rules)
        tables.core.add([(3, 3, 0, values, stored[4])])
        [result] = Verifier(tables).check(Sector(3, 3))
        assert result.errors > 0
        assert result.example is not None


def with_value(values: memoryview, place: int, value: int) -> bytearray:
    """Return a copy of a table in which one place has another value."""
    changed = bytearray(values)
    changed[place >> 2] = changed[place >> 2] & ~(3 << 2 * (place & 3)) | value << 2 * (place & 3)
    return changed


def test_verification_under_a_limit_knows_which_wins_and_losses_are_in_time() -> None:
    """With depths each other value is wrong; without, a draw may stand for a late win or loss."""
    rules = make_rules("mill")
    rows = [*table_rows(rules, 7, depths=True)]
    tables, bare = built_tables(rules, 7, depths=True), Tables(rules)
    bare.core.add((*row[:4], None) for row in rows)
    assert all(
        result.errors == 0 and result.complete == (one is tables)
        for one in (tables, bare) for sector in sectors(7) for result in Verifier(one).check(sector)
    )
    chance, accepted = random.Random(4), Counter[tuple[int, int]]()
    for own, opponent in ((3, 3), (4, 3), (3, 4)):
        row = next(row for row in rows if row[:2] == (own, opponent))
        for place in chance.sample(range(core.table_places(own, opponent)), 60):
            stored = row[3][place >> 2] >> 2 * (place & 3) & 3
            for value in {0, 1, 2} - {stored}:
                for depths in (row[4], None):
                    one = Tables(rules)
                    one.core.add((*other[:4], other[4] if depths else None) for other in rows)
                    changed = with_value(row[3], place, value)
                    one.core.add([(own, opponent, 0, changed, depths)])
                    wrong, first = solver.verify_places(
                        one.core, own, opponent, 0, place, place + 1
                    )
                    assert (wrong, first) == (1, place) or not wrong and depths is None
                    accepted[stored, value] += not wrong
    assert accepted[1, 2] == accepted[2, 1] == 0 and accepted[1, 0] and accepted[2, 0]


def test_published_counts() -> None:
    """Counts of canonical states on which three solvers agree, and the greatest depths."""
    tables = built_tables(UNLIMITED, 7, depths=True)
    for sector, counts in PUBLISHED.items():
        assert counted(tables, sector) == counts, sector
    assert tables.headers[Sector(3, 3)].tallies[0].longest_loss == 26
    assert tables.headers[Sector(4, 3)].tallies[1].longest_win == 11
    deepest = Position.of(UNLIMITED, masks("d7 g7 g1", "a4 g4 d5"), (0, 0), BLACK)
    assert tables.probe(deepest) == TableValue(-1, 26)


def masks(white: str, black: str) -> tuple[int, int]:
    """Return the masks of men on points given by name."""
    return (
        sum(1 << POINTS[name] for name in white.split()),
        sum(1 << POINTS[name] for name in black.split()),
    )


def minimax(position: Position) -> int:
    """Return the value for the side to move by minimax with the referee, including its limits."""
    outcome = position.outcome()
    if outcome is not None:
        return outcome.value(position.side)
    best = -1
    for move in position.legal_moves():
        best = max(best, -minimax(position.play(move)))
        if best == 1:
            break
    return best


def test_values_under_a_limit_agree_with_the_referee() -> None:
    """With a limit of two plies, every game of three against three can be searched to its end."""
    rules = make_rules("mill", ["ThreeThreePlies=2", "Repetition=0"])
    tables = built_tables(rules, 6, depths=True)
    chance = random.Random(3)
    seen = set()
    for _ in range(60):
        position = random_position(tables.rules, 3, 3, chance)
        stored = tables.probe(position)
        assert stored is not None and stored.value == minimax(position), position
        seen.add(stored.value)
        later = Position.of(rules, position.men, (0, 0), position.side, plies=1)
        assert tables.bounds(later) == (minimax(later),) * 2
    assert seen == {-1, 0, 1}


def test_without_depths_the_bounds_of_a_late_win_include_a_draw() -> None:
    """After some plies a win may come too late; without depths the bounds must allow for that."""
    rules = make_rules("mill", ["Repetition=0"])
    tables = built_tables(rules, 7)
    chance = random.Random(1)
    for own, opponent in [(3, 3), (3, 4), (4, 3)] * 60:
        position = random_position(rules, own, opponent, chance)
        stored = tables.probe(position)
        assert stored is not None
        value = stored.value
        assert tables.bounds(position) == (value, value)
        later = Position.of(rules, position.men, (0, 0), position.side, plies=3)
        assert tables.bounds(later) == (min(value, 0), max(value, 0))


def test_exactly_two_moves_keep_the_draw_in_a_known_position() -> None:
    position = parse_position("****O*@*/********/****@OO@ w 0 0 0 1", UNLIMITED)
    tables = built_tables(UNLIMITED, 6)
    assert tables.probe(position) == TableValue(0, None)
    holding = {str(move) for move, stored in tables.moves(position) if stored and stored.value == 0}
    assert holding == {"a1-c3", "a4-c3"}
