"""Tables in the searcher: ranking of root moves, and probes within the search."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from merels.engine.core import core
from merels.engine.core.convert import core_moves
from merels.engine.game.notation import parse_position, play_moves
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import make_rules
from merels.engine.game.score import TABLE_CP
from merels.engine.search.clock import Clock
from merels.engine.search.levels import LEVELS, errors_of
from merels.engine.search.limits import Info, Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.files import PACKED, file_name, rules_folder
from merels.engine.tablebase.pack import Packer
from merels.engine.tablebase.packed import PackedTable, open_packed
from merels.engine.tablebase.probe import TableValue, Tables
from merels.engine.tablebase.root_ranking import Choice, Ranking, rank_moves
from merels.engine.tablebase.sectors import Sector
from merels.engine.training.samples import random_position
from tests.kit.tables import built_folder, built_tables

RULES = make_rules("morris", ["Repetition=0", "NoRemovalPlies=0"])
"""Rules without draws by repetition or by a limit on plies: the tables' values are exact."""
MORRIS = make_rules("morris")


@pytest.fixture(scope="module")
def tables() -> Tables:
    """Tables with depths of `RULES`."""
    return built_tables(RULES, 7, depths=True)


@pytest.fixture(scope="module")
def no_depths() -> Tables:
    """Tables without depths, under a limit on plies."""
    return built_tables(MORRIS, 9)


@pytest.fixture
def searcher(tables: Tables) -> Searcher:
    """A searcher with ``tables``."""
    searcher = Searcher(4)
    searcher.tables = tables
    return searcher


def moves_of(ranking: Ranking) -> list[Move]:
    """Return the moves of a ranking in order."""
    return [choice.move for choice in ranking.choices]


def random_entry(
    tables: Tables, chance: random.Random, own: int, opponent: int
) -> tuple[Position, TableValue]:
    """Return a random position and its value in the tables."""
    position = random_position(RULES, own, opponent, chance)
    stored = tables.probe(position)
    assert stored is not None
    return position, stored


def won_positions(
    tables: Tables, chance: random.Random, number: int, least: int
) -> Iterator[tuple[Position, int]]:
    """Yield ``number`` won positions of three against three with a depth of at least ``least``."""
    while number:
        position, stored = random_entry(tables, chance, 3, 3)
        if stored.value == 1 and stored.depth is not None and stored.depth >= least:
            number -= 1
            yield position, stored.depth


@pytest.mark.parametrize(("depth", "settled"), [(254, True), (255, True), (256, False)])
def test_wins_of_equal_depth_are_settled_up_to_the_greatest_exact_depth(
    depth: int, settled: bool
) -> None:
    """A move of depth 256 leads to the greatest stored depth, 255, which means 255 or more."""
    choices = [Choice(move, 1, depth, True) for move in (1, 2)]
    assert Ranking(choices, 2).settled == settled


def test_every_move_keeps_the_value_and_every_score_agrees_with_it(
    tables: Tables, searcher: Searcher
) -> None:
    chance = random.Random(4)
    for own, opponent in ((3, 3), (3, 4), (4, 3)):
        for _ in range(60):
            position, stored = random_entry(tables, chance, own, opponent)
            result = searcher.search(position, Limit(depth=2))
            assert result.move is not None and result.info.tbhits
            after = dict(tables.moves(position))[result.move]
            assert after is not None and after.value == stored.value
            number = result.score.cp if result.score.win_in is None else result.score.win_in
            assert number is not None and (number > 0) - (number < 0) == stored.value


def test_a_win_takes_as_many_plies_as_its_depth(tables: Tables, searcher: Searcher) -> None:
    """The winner searches one node a move; the loser chooses the greatest depth."""
    chance = random.Random(5)
    for position, depth in won_positions(tables, chance, 10, 5):
        for ply in range(depth):
            assert position.outcome() is None
            if ply % 2 == 0:
                move = searcher.search(position, Limit(nodes=1)).move
            else:
                moves = tables.moves(position)
                depths = {move: stored.depth or 0 for move, stored in moves if stored}
                move = max(depths, key=depths.__getitem__)
            assert move is not None
            position = position.play(move)
        assert position.outcome() is not None


def test_wins_are_converted_without_depths(no_depths: Tables) -> None:
    """The search finds a winning removal: the tables have the values of positions after it."""
    chance = random.Random(9)
    winner, loser = Searcher(4), Searcher(4)
    winner.tables = loser.tables = no_depths
    won = 0
    while won < 8:
        position = random_position(MORRIS, 5, 3, chance)
        stored = no_depths.probe(position)
        assert stored is not None and stored.depth is None
        if stored.value != 1 or any(move.removed for move in position.legal_moves()):
            continue
        side = position.side
        while position.outcome() is None:
            searcher = winner if position.side == side else loser
            move = searcher.search(position, Limit(nodes=3000)).move
            assert move is not None
            position = position.push(move)
        outcome = position.outcome()
        assert outcome is not None and outcome.winner == side
        won += 1


def test_each_of_several_lines_has_the_score_of_its_own_move(
    tables: Tables, searcher: Searcher
) -> None:
    """The winner plays a shortest win."""
    chance = random.Random(12)
    for position, depth in won_positions(tables, chance, 6, 7):
        remaining = depth
        while remaining:
            lines: dict[int, Info] = {}
            move = searcher.search(
                position, Limit(depth=2), lambda info: lines.update({info.multipv: info}), multipv=3
            ).move
            assert move is not None
            values = dict(tables.moves(position))
            for info in lines.values():
                assert info.score is not None
                value, score = values[info.pv[0]], info.score.relative
                assert value is not None
                if score.win_in is None:
                    expected = value.value * (TABLE_CP - (value.depth or 0))
                    assert score.cp == expected, "not the value of the line's own move"
            played = values[move]
            assert played is not None and played.depth is not None
            if played.value > 0:
                assert played.depth == remaining, "not the shortest win"
            remaining = played.depth - 1
            position = position.play(move)
        assert position.outcome() is not None


def test_the_scores_of_several_lines_fall_from_line_to_line(
    tables: Tables, searcher: Searcher
) -> None:
    """Also among lost moves, and with a mate that the search finds after a longer conversion."""
    chance, searched = random.Random(3), {1: 0, -1: 0}
    while min(searched.values()) < 20:
        position, stored = random_entry(tables, chance, 3, 3)
        if stored.value == 0 or searched[stored.value] > 40:
            continue
        searched[stored.value] += 1
        for depth in (2, 5):
            lines: list[Info] = []
            result = searcher.search(position, Limit(depth=depth), lines.append, multipv=4)
            keys = [info.score.relative for info in lines[-4:] if info.score]
            assert keys == sorted(keys, reverse=True)
            assert result.move == lines[-4].pv[0]


# In the first game the winning side must not play the shortest win: the opponent could then repeat
# a position for the third time. In the other games a repetition saves the losing side.
GAMES_WITH_REPETITIONS = [
    ("@OO**O**/******@*/***@**** w 0 0 0 1", "e5-d2 d5-d3 d2-e5 d3-d5 e5-d2 d5-d3", 1),
    ("O*O@****/****@***/**O*@*** w 0 0 0 1", "g4-d6 d2-c4 d6-g4 c4-d2 g4-d6 d2-c4 d6-g4", 0),
    ("O@**@*O@/O*******/******** w 0 0 0 1", "d6-a1 e5-e4 a1-d6 e4-e5 d6-a1 e5-e4 a1-d6", 0),
]


@pytest.mark.parametrize("lines", [1, 3])
@pytest.mark.parametrize(("start", "moves", "value"), GAMES_WITH_REPETITIONS)
def test_repetitions_of_positions_of_the_game_count(
    start: str, moves: str, value: int, lines: int
) -> None:
    searcher = Searcher(4)
    searcher.tables = built_tables(MORRIS, 6, depths=True)
    position = play_moves(parse_position(start, MORRIS), moves.split())
    result = searcher.search(position, Limit(depth=8), multipv=lines)
    assert result.move is not None
    after = position.play(result.move)
    drawn = [reply for reply in map(after.play, after.legal_moves()) if reply.outcome()]
    if value:
        score = result.score
        assert not drawn and (score.win_in or score.cp or 0) > 0 and not score.known
    else:
        outcome = after.outcome()
        assert outcome is not None and outcome.winner is None
        assert result.score.cp == 0


class SlowTable:
    """A packed table on a slow disk."""

    def __init__(self, table: PackedTable) -> None:
        self.table = table

    def block(self, number: int) -> bytes:
        """Return a block after a pause."""
        time.sleep(0.01)
        return self.table.block(number)


@pytest.mark.parametrize("stopped", [True, False])
def test_a_slow_table_does_not_delay_the_search(tmp_path: Path, stopped: bool) -> None:
    Packer(built_folder(RULES, 7, depths=True), tmp_path, RULES).pack()
    path = tmp_path / rules_folder(RULES) / file_name(Sector(4, 3), PACKED)
    header, (table, _) = open_packed(path, RULES, True, [])
    tables, searcher = Tables(RULES), Searcher(4)
    tables.core.add([(4, 3, 0, SlowTable(table), None)])
    tables.headers[Sector(4, 3)] = header
    searcher.tables = tables
    position = random_position(RULES, 3, 4, random.Random(5))
    clock = Clock()
    if stopped:
        clock.stop()
    limit = Limit() if stopped else Limit(time=0.001)
    result = searcher.search(position, limit, clock=clock)
    # A search that is stopped or out of time looks up only one move.
    assert result.move in position.legal_moves() and result.info.tbhits == 1
    hits = searcher.search(position, Limit(depth=1)).info.tbhits
    assert hits == len(position.legal_moves()) > 20


def test_an_interrupted_ranking_is_used_if_it_has_found_a_win_or_a_draw(tables: Tables) -> None:
    chance, passed, values = random.Random(7), core.Deadline(), set[int | None]()
    passed.set(0)
    while values != {1, 0, -1}:
        position, _ = random_entry(tables, chance, *chance.choice([(3, 3), (3, 4)]))
        code = core_moves(position)[0]
        value = next(row[1] for row in tables.move_rows(position) if row[0] == code)
        ranking = rank_moves(tables, position, core_moves(position), 1, passed)
        if value == -1:
            assert ranking is None
        else:
            assert ranking is not None and ranking.hits == 1
            assert [choice.code for choice in ranking.choices] == [code]
        values.add(value)


def test_a_search_takes_its_time_only_where_tables_leave_a_choice(
    tables: Tables, searcher: Searcher
) -> None:
    """Wins of equal depth need no search; among draws, some are harder for a fallible opponent."""
    clock, chance = Limit(white_clock=60.0, black_clock=60.0, nodes=20_000), random.Random(7)
    searched = {1: 0, 0: 0}
    while min(searched.values()) < 5:
        position, stored = random_entry(tables, chance, *chance.choice([(3, 3), (3, 4)]))
        ranking = rank_moves(tables, position, core_moves(position))
        assert ranking is not None
        if stored.value >= 0 and len(ranking.choices) > 1:
            searched[stored.value] += 1
            depth = searcher.search(position, clock).info.depth or 0
            assert (depth == 1) if stored.value else (depth > 1)


def test_a_position_without_history_is_certain_under_any_repetition_limit(tables: Tables) -> None:
    chance = random.Random(13)
    for _ in range(40):
        position = random_position(RULES.with_field("Repetition", "2"), 3, 3, chance)
        stored = tables.probe(position)
        assert stored is not None
        ranking = rank_moves(tables, position, core_moves(position))
        assert ranking is not None
        best = ranking.choices[0]
        assert (best.value, best.certain) == (stored.value, True)


def test_hits_below_the_root_are_counted(tables: Tables) -> None:
    # The position has eight men and the tables have seven: only removals lead into the tables.
    position = parse_position("O*O*****/*@*@*O**/**@O**@* w 0 0 0 30", RULES)
    assert tables.probe(position) is None
    searcher = Searcher(4)
    assert searcher.search(position, Limit(depth=8)).info.tbhits == 0
    searcher.tables = tables
    hits: list[int] = []
    searcher.search(position, Limit(depth=8), lambda info: hits.append(info.tbhits or 0))
    assert hits[-1] > 0 and hits == sorted(hits)


def test_tables_of_other_rules_are_never_used(searcher: Searcher) -> None:
    position = random_position(make_rules("mill"), 3, 3, random.Random(1))
    assert searcher.search(position, Limit(depth=3)).info.tbhits == 0


@pytest.mark.parametrize("value", [0, -1])
def test_only_the_search_chooses_among_draws_and_among_losses(
    tables: Tables, searcher: Searcher, value: int
) -> None:
    """Among the moves that keep the value, the engine chooses as it does without tables."""
    chance, plain = random.Random(8), Searcher(4)
    chosen = narrowed = 0
    while chosen < 60:
        position, stored = random_entry(tables, chance, 3, 4)
        if value < 0:
            position, stored = random_entry(tables, chance, 3, 3)
        if stored.value != value:
            continue
        chosen += 1
        values = dict(tables.moves(position))
        holding = [move for move, after in values.items() if after and after.value == value]
        narrowed += len(holding) < len(values)
        searcher.clear()
        plain.clear()
        move = searcher.search(position, Limit(depth=4)).move
        assert move == plain.search(position, Limit(depth=4), root_moves=holding).move
    assert narrowed > 20 or value < 0  # All moves of a lost position are losses.


def test_a_draw_that_repeats_a_position_ranks_after_other_draws(tables: Tables) -> None:
    chance, checked = random.Random(4), 0
    while checked < 5:
        position, stored = random_entry(tables, chance, 3, 4)
        start = Position.of(MORRIS, position.men, position.hands, position.side)
        ranking = rank_moves(tables, start, core_moves(start))
        if stored.value or ranking is None or any(move.removed for move in start.legal_moves()):
            continue
        # Both sides move a man and take it back: the game is in the same position again.
        out = moves_of(ranking)
        after = start.play(out[0])
        free = [move for move in after.legal_moves() if move.to != out[0].origin]
        reply = next((move for move in free if not move.removed), None)
        if len(out) < 2 or reply is None:
            continue
        moves = [out[0], reply] + [Move(move.to, move.origin or 0) for move in (out[0], reply)]
        repeated = play_moves(start, [str(move) for move in moves])
        ranking = rank_moves(tables, repeated, core_moves(repeated), len(out))
        assert repeated.key == start.key and ranking is not None
        checked += 1
        assert moves_of(ranking)[-1] == out[0]
        ranks = [choice.rank for choice in ranking.choices]
        assert ranks[-1] > ranks[-2] == ranks[0]


def test_a_removal_ranks_no_lower_because_it_makes_a_loss_certain(no_depths: Tables) -> None:
    """The search chooses among losses, also between a removal and waiting for the limit."""
    chance, searcher, plain = random.Random(3), Searcher(4), Searcher(4)
    searcher.tables = no_depths
    lost = removals = 0
    while lost < 20 or removals < 3:
        shape = random_position(MORRIS, 3, 6, chance)
        position = Position.of(MORRIS, shape.men, (0, 0), shape.side, 2)
        if no_depths.bounds(position) != (-1, 0):
            continue
        lost += 1
        searcher.clear()
        plain.clear()
        result = searcher.search(position, Limit(depth=4))
        assert result.move is not None and result.score.known == 0
        assert result.move == plain.search(position, Limit(depth=4)).move
        removals += bool(result.move.removed)


def test_a_losing_side_avoids_removals_before_a_near_draw_by_counting(no_depths: Tables) -> None:
    """A removal resets the count of plies."""
    chance, searcher = random.Random(4), Searcher(4)
    searcher.tables = no_depths
    waited = 0
    while waited < 20:
        shape = random_position(MORRIS, 3, 6, chance)
        position = Position.of(MORRIS, shape.men, (0, 0), shape.side, 78)
        stored = no_depths.probe(position)
        moves = position.legal_moves()
        removals = [move for move in moves if move.removed]
        if stored is None or stored.value != -1 or len(removals) in (0, len(moves)):
            continue
        if all(no_depths.bounds(position.play(move)) == (1, 1) for move in moves):
            continue
        waited += 1
        searcher.clear()
        result = searcher.search(position, Limit(depth=4))
        assert result.move is not None and not result.move.removed


def test_searchmoves_are_obeyed(searcher: Searcher) -> None:
    position = random_position(RULES, 3, 4, random.Random(2))
    wanted = tuple(position.legal_moves()[-2:])
    assert searcher.search(position, Limit(depth=3), root_moves=wanted).move in wanted


def test_no_win_is_claimed_that_a_limit_on_plies_forbids() -> None:
    """Under `mill`, three against three is a draw after four plies without a removal."""
    rules = make_rules("mill")
    with_limit = built_tables(rules, 6, depths=True)
    chance, searcher = random.Random(1), Searcher(4)
    searcher.tables = with_limit
    forbidden = certain = 0
    while forbidden < 40 or certain < 40:
        shape = random_position(rules, 3, 3, chance)
        position = Position.of(rules, shape.men, (0, 0), shape.side, chance.randint(0, 3))
        stored, bounds = with_limit.probe(position), with_limit.bounds(position)
        assert stored is not None and bounds is not None
        if stored.value == 0 and bounds == (0, 0):
            continue
        assert bounds in ((0, 0), (1, 1), (-1, -1)), "with depths the value is exact"
        forbidden += bounds == (0, 0)
        certain += bounds != (0, 0)
        score = searcher.search(position, Limit(depth=2)).score
        assert score.win_in is not None or score.known == bounds[0]
        if score.win_in is not None:
            assert (score.win_in > 0) == (bounds[0] > 0) and bounds[0]
        best = max(stored.value for _, stored in with_limit.moves(position) if stored is not None)
        assert best == bounds[0]


def test_without_depths_an_uncertain_value_is_not_reported_as_known() -> None:
    rules = make_rules("mill")
    small = built_tables(rules, 6)
    chance, searcher = random.Random(2), Searcher(4)
    searcher.tables = small
    uncertain = 0
    while uncertain < 40:
        shape = random_position(rules, 3, 3, chance)
        position = Position.of(rules, shape.men, (0, 0), shape.side, 2)
        least, greatest = small.bounds(position) or (0, 0)
        if least == greatest:
            continue
        uncertain += 1
        score = searcher.search(position, Limit(depth=2)).score
        assert score.known == 0


def test_tables_are_valid_with_any_repetition_limit(tables: Tables, searcher: Searcher) -> None:
    for limit in ("0", "2", "3"):
        assert searcher.tables_for(RULES.with_field("Repetition", limit)) is tables


def test_a_level_without_errors_uses_no_tables(tables: Tables) -> None:
    """The level searches at full strength, but without tables and without results from tables."""
    champion = LEVELS[-1]
    assert errors_of(champion, random_position(RULES, 4, 3, random.Random(6))) is None
    chance, strong = random.Random(6), Searcher(4)
    strong.tables = tables
    for _ in range(40):
        position = random_position(RULES, 4, 3, chance)
        strong.search(position, Limit(depth=4))
        after = strong.search(position, Limit(depth=4), level=champion).info
        plain = Searcher(4).search(position, Limit(depth=4), level=champion).info
        assert (after.score, after.nodes, after.tbhits) == (plain.score, plain.nodes, 0)
