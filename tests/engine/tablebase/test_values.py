"""Values of the tables against published counts and the readable rules."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from merels.engine.game.board import POINTS
from merels.engine.game.notation import parse_position
from merels.engine.game.position import BLACK, Position
from merels.engine.game.rules import Rules, make_rules
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.probe import TableValue, Tables
from merels.engine.tablebase.sectors import Sector, sectors
from merels.engine.tablebase.verify import Verifier
from merels.engine.training.samples import random_position
from tests.sanitize.workload import PUBLISHED, UNLIMITED, counted

pytestmark = pytest.mark.thorough

RULE_SETS = (
    make_rules("loc"),
    make_rules("mill"),
    make_rules("multi"),
    make_rules("morris"),
    UNLIMITED,
    make_rules("mill", ["Blocked=draws", "Flying=never", "ThreeThreePlies=0"]),
    make_rules("mill", ["DoubleMill=each", "NoRemovalPlies=6"]),
    make_rules("loc", ["Flying=both", "DoubleMill=each", "Blocked=draws", "NoRemovalPlies=0"]),
    make_rules("multi", ["Flying=never", "LockedMills=any", "ThreeThreePlies=3"]),
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[Rules, Tables]:
    """Tables of up to seven men with depths for each rule set."""
    root = tmp_path_factory.mktemp("tables")
    return {rules: Builder(root, rules, depths=True).build(7) for rules in RULE_SETS}


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


@pytest.mark.parametrize("rules", RULE_SETS, ids=str)
def test_values_follow_from_moves(built: dict[Rules, Tables], rules: Rules) -> None:
    """Random states of every sector agree with their successors under the readable rules."""
    tables = built[rules]
    chance = random.Random(str(rules))
    for sector in sectors(7):
        limit = sector.plies_limit(rules)
        for own, opponent in sector.sides:
            for _ in range(250):
                position = random_position(tables.rules, own, opponent, chance)
                assert tables.probe(position) == bellman(tables, position, limit), position


@pytest.mark.parametrize("rules", RULE_SETS, ids=str)
def test_every_state_verifies(built: dict[Rules, Tables], rules: Rules) -> None:
    """Every state of every sector agrees with its successors by the search's move generator."""
    tables = built[rules]
    for sector in sectors(7):
        for result in Verifier(tables).check(sector):
            assert result.errors == 0, result
            assert result.complete


def test_verification_finds_a_wrong_value_or_depth(built: dict[Rules, Tables]) -> None:
    rules = UNLIMITED
    sound = built[rules]
    header = sound.headers[Sector(3, 3)]
    for wrong_part in (0, 1):
        stored = sound.core.open_values[3, 3, 0], sound.core.open_depths[3, 3] or b""
        parts = [bytearray(part) for part in stored]
        parts[wrong_part][777] ^= 1
        tables = Tables(rules)
        tables.add(header, [memoryview(parts[0])], [memoryview(parts[1])])
        [result] = Verifier(tables).check(Sector(3, 3))
        assert result.errors > 0
        assert result.example is not None


def test_published_counts(built: dict[Rules, Tables]) -> None:
    """Counts of canonical states on which three solvers agree, and the greatest depths."""
    tables = built[UNLIMITED]
    for sector, counts in PUBLISHED.items():
        assert counted(tables, sector) == counts, sector
    assert tables.headers[Sector(3, 3)].tallies[0].longest_loss == 26
    assert tables.headers[Sector(4, 3)].tallies[1].longest_win == 11
    deepest = Position(UNLIMITED, _masks("d7 g7 g1", "a4 g4 d5"), (0, 0), BLACK)
    assert tables.probe(deepest) == TableValue(-1, 26)


def _masks(white: str, black: str) -> tuple[int, int]:
    """Return the masks of men on points given by name."""
    return (
        sum(1 << POINTS[name] for name in white.split()),
        sum(1 << POINTS[name] for name in black.split()),
    )


# RESULTS.md has these counts and compares them with Gasser's.
LARGER_SECTORS = {
    Sector(5, 3): [(580_660, 0, 1_999_730), (6_301, 9_677, 2_564_412)],
    Sector(4, 4): [(159, 29, 3_225_409)],
    Sector(6, 3): [(2_752_371, 0, 4_122_949), (0, 192_000, 6_683_320)],
    Sector(5, 4): [(9_889, 8, 10_300_599), (51, 1_510, 10_308_935)],
    Sector(7, 3): [(13_411_581, 0, 1_314_107), (0, 6_965_784, 7_759_904)],
    Sector(6, 4): [(5_985_293, 4, 19_780_495), (22, 1_649_972, 24_115_798)],
    Sector(5, 5): [(28_819, 4_289, 30_881_316)],
}


@pytest.mark.slow
def test_published_counts_of_ten_men(tmp_path: Path) -> None:
    """Sectors of up to ten men, because wrong counts of symmetric moves show only from 6-4 on."""
    tables = Builder(tmp_path, UNLIMITED, threads=2).build(10)
    for sector, counts in (PUBLISHED | LARGER_SECTORS).items():
        assert counted(tables, sector) == counts, sector
    assert tables.headers[Sector(6, 4)].tallies[0].longest_win == 153
    assert tables.headers[Sector(6, 4)].tallies[1].longest_loss == 152
    men = _masks("d6 b4 e4 d3 f2", "d5 c4 f4 d2")
    every_move_draws = Position(UNLIMITED, men, (0, 0), BLACK)
    assert tables.probe(every_move_draws) == TableValue(0, None)
    assert {stored and stored.value for _, stored in tables.moves(every_move_draws)} == {0}


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


def test_values_under_a_limit_agree_with_the_referee(tmp_path: Path) -> None:
    """With a limit of two plies, every game of three against three can be searched to its end."""
    rules = make_rules("mill", ["ThreeThreePlies=2", "Repetition=0"])
    tables = Builder(tmp_path, rules, depths=True).build(6)
    chance = random.Random(3)
    seen = set()
    for _ in range(60):
        position = random_position(tables.rules, 3, 3, chance)
        stored = tables.probe(position)
        assert stored is not None and stored.value == minimax(position), position
        seen.add(stored.value)
        later = Position(rules, position.men, (0, 0), position.side, plies=1)
        assert tables.bounds(later) == (minimax(later),) * 2
    assert seen == {-1, 0, 1}


def test_without_depths_the_bounds_of_a_late_win_include_a_draw(tmp_path: Path) -> None:
    """After some plies a win may come too late; without depths the bounds must allow for that."""
    rules = make_rules("mill", ["Repetition=0"])
    tables = Builder(tmp_path, rules).build(7)
    chance = random.Random(1)
    for own, opponent in [(3, 3), (3, 4), (4, 3)] * 60:
        position = random_position(rules, own, opponent, chance)
        stored = tables.probe(position)
        assert stored is not None
        value = stored.value
        assert tables.bounds(position) == (value, value)
        later = Position(rules, position.men, (0, 0), position.side, plies=3)
        assert tables.bounds(later) == (min(value, 0), max(value, 0))


def test_exactly_two_moves_keep_the_draw_in_a_known_position(tmp_path: Path) -> None:
    position = parse_position("****O*@*/********/****@OO@ w 0 0 0 1", UNLIMITED)
    tables = Builder(tmp_path, UNLIMITED).build(6)
    assert tables.probe(position) == TableValue(0, None)
    holding = {str(move) for move, stored in tables.moves(position) if stored and stored.value == 0}
    assert holding == {"a1-c3", "a4-c3"}
