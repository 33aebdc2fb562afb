"""Tables in the player: what they prove at the root and within the search."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from merels.engine.limits import Limits
from merels.engine.notation import parse_position, parse_turn
from merels.engine.position import Position
from merels.engine.rules import Rules, make_rules
from merels.engine.search import Searcher
from merels.engine.tables.build import Builder
from merels.engine.tables.guide import guide
from merels.engine.tables.probe import Tables, open_tables

RULES = make_rules("morris", ["Repetition=0", "NoRemovalPlies=0"])
MEN = 7


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    root: Path = tmp_path_factory.mktemp("tables")
    Builder(root, RULES, threads=2, depths=True).build(MEN)
    return open_tables(root, RULES)


def random_position(
    chance: random.Random, own: int, opponent: int, rules: Rules = RULES
) -> Position:
    while True:
        points = chance.sample(range(24), own + opponent)
        men = (sum(1 << p for p in points[:own]), sum(1 << p for p in points[own:]))
        position = Position(rules, men, (0, 0), chance.randint(0, 1))
        if position.outcome() is None:
            return position


def test_no_turn_throws_a_value_away(tables: Tables) -> None:
    chance = random.Random(4)
    searcher = Searcher(4)
    searcher.tables = tables
    for own, opponent in ((3, 3), (3, 4), (4, 3)):
        for _ in range(60):
            position = random_position(chance, own, opponent)
            known = tables.probe(position)
            assert known is not None
            result = searcher.search(position, Limits(depth=2))
            assert result.turn is not None and result.info.tbhits > 0
            after = dict(tables.turns(position))[result.turn]
            assert after is not None and after.value == known.value


def test_a_win_is_won_in_the_plies_that_its_depth_promises(tables: Tables) -> None:
    chance = random.Random(5)
    searcher = Searcher(4)
    searcher.tables = tables
    won = 0
    while won < 10:
        position = random_position(chance, 3, 3)
        known = tables.probe(position)
        assert known is not None
        if known.value != 1 or known.depth is None or known.depth < 5:
            continue
        won += 1
        for _ in range(known.depth):
            assert position.outcome() is None
            turn = searcher.search(position, Limits(depth=1)).turn
            assert turn is not None
            position = position.play(turn)
        assert position.outcome() is not None


def test_without_depths_a_win_is_won_all_the_same(tmp_path: Path) -> None:
    """What a removal leads to is known, and the search finds its way to the right one."""
    rules = make_rules("morris")
    tables = Builder(tmp_path, rules).build(8)
    chance = random.Random(9)
    winner, loser = Searcher(4), Searcher(4)
    winner.tables = loser.tables = tables
    won = 0
    while won < 8:
        position = random_position(chance, 5, 3, rules)
        known = tables.probe(position)
        assert known is not None and known.depth is None
        if known.value != 1 or any(turn.taken for turn in position.legal_turns()):
            continue
        side = position.side
        while position.outcome() is None:
            searcher = winner if position.side == side else loser
            turn = searcher.search(position, Limits(nodes=3000)).turn
            assert turn is not None
            position = position.push(turn)
        outcome = position.outcome()
        assert outcome is not None and outcome.winner == side
        won += 1


def test_scores_tell_what_is_known(tables: Tables) -> None:
    chance = random.Random(6)
    searcher = Searcher(4)
    searcher.tables = tables
    for _ in range(100):
        position = random_position(chance, 3, 4)
        known = tables.probe(position)
        assert known is not None
        score = searcher.search(position, Limits(depth=2)).info.score
        number = score.cp if score.cp is not None else 1 if (score.win_in or 0) > 0 else -1
        assert (number > 0) - (number < 0) == known.value


def test_the_search_sees_tables_ahead(tables: Tables) -> None:
    # Four against four: every removal leads to a table.
    position = parse_position("O*O*****/*@*@*O**/**@O**@* w 0 0 0 30", RULES)
    searcher = Searcher(4)
    blind = searcher.search(position, Limits(depth=8))
    assert blind.info.tbhits == 0
    searcher.tables = tables
    seeing = searcher.search(position, Limits(depth=8))
    assert seeing.info.tbhits > 0


def test_tables_of_other_rules_are_never_used(tables: Tables) -> None:
    searcher = Searcher(4)
    searcher.tables = tables
    position = Position(make_rules("mill"), random_position(random.Random(1), 3, 3).men, (0, 0))
    assert searcher.search(position, Limits(depth=3)).info.tbhits == 0


def test_among_drawing_turns_the_hardest_to_answer_stay(tables: Tables) -> None:
    chance = random.Random(8)
    narrowed = 0
    for _ in range(200):
        position = random_position(chance, 3, 4)
        known = tables.probe(position)
        assert known is not None
        if known.value != 0:
            continue
        guidance = guide(tables, position, position.legal_turns())
        assert guidance is not None and guidance.value == 0
        values = dict(tables.turns(position))
        drawing = [turn for turn, value in values.items() if value and value.value == 0]
        assert set(guidance.turns) <= set(drawing)
        narrowed += len(guidance.turns) < len(drawing)
    assert narrowed > 20


def test_searchmoves_are_kept(tables: Tables) -> None:
    position = random_position(random.Random(2), 3, 4)
    searcher = Searcher(4)
    searcher.tables = tables
    wanted = tuple(position.legal_turns()[-2:])
    assert searcher.search(position, Limits(depth=3, turns=wanted)).turn in wanted
    assert parse_turn(str(wanted[0])) == wanted[0]
