"""Tables of the placing phase: values, probing, search and verification."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from merels.engine.game.position import WHITE, Position
from merels.engine.game.rules import Rules, make_rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.probe import TableValue, Tables
from merels.engine.tablebase.root_ranking import values_of_moves
from merels.engine.tablebase.sectors import Sector, kept_placing_sectors, placing_sectors
from merels.engine.tablebase.verify import Verifier
from tests.engine.tablebase.readable_placing import ReadableSolver, least_image, positions_of
from tests.kit.tables import built_tables, table_rows

MULTI = make_rules("multi")


@pytest.fixture(scope="module")
def tables() -> Tables:
    """All tables of up to six men under `multi`, where a double mill removes two men."""
    return built_tables(MULTI, 6, depths=True, placing=True)


def test_an_odd_number_of_men_in_hand_is_valued_by_a_search_of_one_ply(tables: Tables) -> None:
    """Random boards of every sector, stored or not, against the readable solver."""
    solver, chance = ReadableSolver(tables), random.Random(1)
    assert {sector.hand for sector in placing_sectors(MULTI, 6)} == {1, 2, 3, 4, 5, 6}
    seen = set()
    for sector in placing_sectors(MULTI, 6):
        places = list(positions_of(sector, tables))
        for _, position in chance.sample(places, min(25, len(places))):
            stored = tables.probe(position)
            assert stored is not None and stored.depth is None
            assert stored.value == solver.value(position)
            seen.add(stored.value)
            for move, after in tables.moves(position):
                assert after is not None
                assert after.value == -solver.value(position.play(move))
    assert len(seen) > 1


def test_hands_that_play_cannot_reach_are_unknown(tables: Tables) -> None:
    """In play the side to move has as many men in hand as its opponent, or one more."""
    drawn = Tables(MULTI)
    for sector in (Sector(1, 1, 6), Sector(1, 3, 6)):
        table = memoryview(bytes((sector.places + 3) // 4))
        drawn.core.add([(*sector, table, None)])
    for hands in ((3, 3), (4, 2), (2, 4)):
        stored = drawn.probe(Position.of(MULTI, (0b1, 0b10), hands))
        assert stored == (TableValue(0, None) if hands == (3, 3) else None)
    for hands in ((4, 3), (3, 4), (5, 2)):
        stored = drawn.probe(Position.of(MULTI, (0b101, 0b10), hands))
        assert stored == (TableValue(0, None) if hands == (4, 3) else None)


def test_a_side_with_two_men_in_all_has_lost(tables: Tables) -> None:
    for men, value in (((0b1, 0b1010), -1), ((0b101, 0b10), 1)):
        stored = tables.probe(Position.of(MULTI, men, (1, 1)))
        assert stored is not None and stored.value == value


def test_plies_do_not_count_while_men_are_in_hand(tables: Tables) -> None:
    """A position with men in hand may be set up with plies, which then have no effect."""
    fresh, old = (Position.of(MULTI, (0b101, 0b1010), (1, 1), plies=plies) for plies in (0, 79))
    assert tables.bounds(fresh) == tables.bounds(old) is not None
    assert tables.probe(fresh) == tables.probe(old)


def test_a_value_is_unknown_if_a_table_after_a_move_is_missing(tables: Tables) -> None:
    """Without the values of all children, only a winning move gives a value."""
    partial = Tables(MULTI)
    rows = table_rows(MULTI, 6, depths=True, placing=True)
    partial.core.add(row for row in rows if row[:3] != (3, 3, 0))
    assert partial.probe(Position.of(MULTI, (0b10001, 0b111 << 16), (1, 0))) is None
    assert partial.probe(Position.of(MULTI, (0b101, 0b1010), (1, 1))) == tables.probe(
        Position.of(MULTI, (0b101, 0b1010), (1, 1))
    )


def test_a_search_of_one_node_keeps_the_value(tables: Tables) -> None:
    searcher, chance = Searcher(1), random.Random(2)
    searcher.tables = tables
    with_blunders = 0
    for sector in placing_sectors(MULTI, 6):
        places = list(positions_of(sector, tables))
        for _, position in chance.sample(places, min(20, len(places))):
            result = searcher.search(position, Limit(nodes=1))
            choices = values_of_moves(tables, position)
            assert choices is not None and result.move is not None
            values = {choice.move: choice.value for choice in choices}
            assert values[result.move] == max(values.values())
            with_blunders += min(values.values()) < max(values.values())
    assert with_blunders > 20


def test_the_search_uses_the_tables_below_the_root(tables: Tables) -> None:
    """With more men than the tables have, the search probes them after a removal."""
    position = Position.of(MULTI, (1 << 7 | 1 << 0, 0b1010 << 8 | 1 << 20), (1, 1), WHITE)
    assert tables.probe(position) is None
    searcher = Searcher(1)
    searcher.tables = tables
    result = searcher.search(position, Limit(depth=3))
    assert result.info.tbhits


@pytest.mark.parametrize("sample", (0, 500))
def test_every_place_verifies(tables: Tables, sample: int) -> None:
    """A ``sample`` of 0 checks all places. The verifier recomputes values that are not stored."""
    verifier = Verifier(tables, threads=2, sample=sample)
    for sector in kept_placing_sectors(MULTI, 6):
        [result] = verifier.check(sector)
        assert result.errors == 0 and result.complete and result.table == sector
        assert result.places == (min(sample, sector.places) or sector.places)
    verifier.free()
    odd = [sector for sector in placing_sectors(MULTI, 6) if sector.hand % 2]
    assert not any(tables.core.has(*sector) for sector in odd)


def test_verification_finds_wrong_values_of_the_placing_phase(tables: Tables) -> None:
    """Verification finds a wrong value, and right values that contradict wrong successors."""
    spoilt = Tables(MULTI)
    changed = Sector(2, 2, 2)
    for *counts, values, depths in table_rows(MULTI, 6, depths=True, placing=True):
        data = bytes(values)
        if Sector(*counts) == changed:
            # Exchange wins and losses in the first place of each byte.
            data = bytes(byte ^ 0b11 if byte & 0b11 in (1, 2) else byte for byte in data)
        spoilt.core.add([(*counts, data, depths)])
    for sample in (0, 400):
        verifier = Verifier(spoilt, sample=sample)
        [result] = verifier.check(changed)
        assert result.errors and result.example is not None
        stored = spoilt.probe(result.example)
        assert stored is not None and stored.value == -ReadableSolver(tables).value(result.example)
        [result] = verifier.check(Sector(1, 1, 4))
        assert result.errors
        [result] = verifier.check(Sector(0, 0, 6))
        assert not result.errors, "its successors are unchanged"
        verifier.free()


def test_verification_names_a_missing_table(tables: Tables) -> None:
    partial = Tables(MULTI)
    partial.core.add(row for row in table_rows(MULTI, 6, depths=True, placing=True) if row[2])
    with pytest.raises(ValueError, match="table 3-3 is missing$"):
        Verifier(partial).check(Sector(2, 2, 2))
    message = r"^cannot check 2-2\+2: a table after a move in 2-3\+1 is missing$"
    with pytest.raises(ValueError, match=message):
        Verifier(partial, sample=10).check(Sector(2, 2, 2))


def check_all_values_and_counts(rules: Rules, men: int = 6) -> None:
    """Compare all tables of the placing phase with the readable solver."""
    built = built_tables(rules, men, placing=True)
    solver = ReadableSolver(built)
    assert kept_placing_sectors(rules, men)
    for sector in kept_placing_sectors(rules, men):
        states = {}
        for _, position in positions_of(sector, built):
            value = solver.value(position)
            stored = built.probe(position)
            assert stored is not None and stored.value == value, position
            states[least_image(*position.men)] = value
        [tally] = built.headers[sector].tallies
        counts = Counter(states.values())
        assert (tally.drawn, tally.won, tally.lost) == (counts[0], counts[1], counts[-1])
