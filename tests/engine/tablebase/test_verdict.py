"""Verdicts of the tables on played moves."""

from __future__ import annotations

import random

import pytest

from merels.engine.game.notation import parse_move, parse_position, play_moves
from merels.engine.game.position import WHITE, Move, Outcome, Position
from merels.engine.game.rules import Rules, make_rules
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.verdict import judge, phase_of, verdict
from merels.engine.training.samples import random_position
from tests.kit.tables import built_tables


def tables_of(rules: Rules, men: int = 7, depths: bool = True) -> Tables:
    return built_tables(rules, men, depths=depths)


def careless_game(
    tables: Tables, chance: random.Random
) -> tuple[Position, list[Move], Outcome | None]:
    """Return a finished game from a random ending, with one random move in eight."""
    own, opponent = chance.choice([(3, 3), (4, 3), (3, 4)])
    start = position = random_position(tables.rules, own, opponent, chance)
    played: list[Move] = []
    while position.outcome() is None:
        moves = dict(tables.moves(position))
        if chance.random() < 0.875:
            best = max(value.value for value in moves.values() if value)
            moves = {move: value for move, value in moves.items() if value and value.value == best}
        played.append(chance.choice(list(moves)))
        position = position.play(played[-1])
    return start, played, position.outcome()


@pytest.mark.parametrize(
    "fields",
    [["Repetition=0"], ["Repetition=3"], ["Repetition=0", "NoRemovalPlies=9", "ThreeThreePlies=0"]],
    ids=" ".join,
)
def test_the_values_thrown_away_add_up_to_the_result(fields: list[str]) -> None:
    """Every change from the first position's value to the result belongs to one move."""
    tables = tables_of(make_rules("mill", fields))
    chance = random.Random(3)
    thrown = 0
    for _ in range(12):
        start, moves, outcome = careless_game(tables, chance)
        stored = tables.probe(start)
        assert stored is not None
        value = stored.value if start.side == WHITE else -stored.value
        for move in judge(tables, start, moves):
            assert move.verdict is not None and move.verdict.certain
            change = move.verdict.after - move.verdict.value
            assert change <= 0 and (change == 0) == move.verdict.held
            thrown += change < 0
            value += change if move.side == WHITE else -change
        assert outcome is not None and value == outcome.value(WHITE)
    assert thrown > 1


def test_the_moves_that_keep_the_value_are_counted() -> None:
    tables = tables_of(make_rules("morris"))
    position = parse_position("OO******/*****@**/@@***O** w 0 0 0 20", tables.rules)
    judged = verdict(tables, position, parse_move("a1-g1"))
    assert judged is not None
    # White wins by closing a mill on c5 and removing one of three men. Otherwise Black closes a
    # mill on a7.
    assert (judged.value, judged.after, judged.legal) == (1, -1, 3 * 18 + 2)
    winning = [move for move, stored in tables.moves(position) if stored and stored.value == 1]
    assert 3 <= judged.holding == len(winning) and judged.critical
    assert judged.certain and not judged.held


def test_a_win_spoilt_by_a_limit_on_plies_is_no_fault() -> None:
    tables = tables_of(make_rules("morris", ["Repetition=0"]))
    chance = random.Random(4)
    while True:
        position = random_position(tables.rules, 3, 3, chance)
        stored = tables.probe(position)
        if stored is not None and stored.value == 1 and (stored.depth or 0) > 3:
            break
    late = Position.of(position.rules, position.men, (0, 0), position.side, plies=78)
    moves = late.legal_moves()
    assert {verdict(tables, late, move) for move in moves} == {(0, 0, len(moves), len(moves), True)}
    early = verdict(tables, position, position.legal_moves()[0])
    assert early is not None and early.value == 1


def test_without_depths_a_limit_on_plies_makes_verdicts_uncertain() -> None:
    chance = random.Random(5)
    for fields, doubtful in ([], True), (["NoRemovalPlies=0"], False):
        tables = tables_of(make_rules("morris", fields), 6, depths=False)
        positions = [random_position(tables.rules, 3, 3, chance) for _ in range(6)]
        faults = [
            judged for position in positions for move in position.legal_moves()
            if (judged := verdict(tables, position, move)) and not judged.held
        ]
        assert faults and any(not judged.certain for judged in faults) == doubtful


def test_a_repetition_that_the_opponent_can_force_throws_a_win_away() -> None:
    tables = tables_of(make_rules("morris"))
    start = parse_position("@OO**O**/******@*/***@**** w 0 0 0 1", tables.rules)
    position = play_moves(start, "e5-d2 d5-d3 d2-e5 d3-d5 e5-d2 d5-d3".split())
    judged = verdict(tables, position, parse_move("d2-e5"))
    # The tables still have a win, but Black draws by d3-d5.
    assert judged is not None and (judged.value, judged.after, judged.held) == (1, 0, False)


def test_unknown_and_finished_positions_have_no_verdict() -> None:
    tables = tables_of(make_rules("morris"))
    placing = Position(rules=tables.rules)
    assert verdict(tables, placing, placing.legal_moves()[0]) is None
    nine_men = random_position(tables.rules, 5, 4, random.Random(6))
    assert verdict(tables, nine_men, nine_men.legal_moves()[0]) is None
    finished = Position.of(tables.rules, (0b111, 0b111 << 8), (0, 0), plies=80)
    assert verdict(tables, finished, finished.legal_moves()[0]) is None
    six_men_tables = built_tables(tables.rules, 6)
    removal = random_position(tables.rules, 4, 3, random.Random(7))
    assert verdict(six_men_tables, removal, removal.legal_moves()[0]) is None


def test_the_phase_depends_on_men_in_hand_and_on_the_rule_of_flying() -> None:
    four_men, three_men = 0b1111, 0b111 << 8
    assert phase_of(Position()) == "placing"
    assert phase_of(Position.of(men=(four_men, four_men << 8), hands=(0, 0))) == "moving"
    assert phase_of(Position.of(men=(four_men, three_men), hands=(0, 0))) == "flying"
    assert phase_of(Position.of(make_rules("loc"), (four_men, three_men), (0, 0))) == "moving"
