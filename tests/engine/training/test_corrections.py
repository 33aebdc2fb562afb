"""Making of corrections: the moves of both players, and resuming."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from merels.engine.game.position import Move, Position
from merels.engine.game.rules import preset
from merels.engine.search import corrections
from merels.engine.tablebase.probe import Tables
from merels.engine.training.corrections import (
    ENGINE, MAX_REPLIES, PERFECT, Explorer, Work, explore, main, moves_that_hold,
)
from tests.kit.tables import built_tables


@pytest.fixture(scope="module")
def tables() -> Tables:
    """Tables of up to six men, in hand and on the board."""
    return built_tables(preset(corrections.VARIANTS[0]), 6, placing=True)


def positions(number: int) -> list[Position]:
    """Return random positions of three men a side, some of them in hand."""
    chance = random.Random(5)
    unfinished = []
    while len(unfinished) < number:
        hands = chance.choice([(1, 1), (2, 2), (1, 2)])
        own, opponent = (3 - hand for hand in hands)
        points = chance.sample(range(24), own + opponent)
        men = sum(1 << point for point in points[:own]), sum(1 << point for point in points[own:])
        position = Position.of(preset(corrections.VARIANTS[0]), men, hands, 0)
        if position.outcome() is None:
            unfinished.append(position)
    return unfinished


def test_both_players_keep_the_value_and_blunders_are_corrected(tables: Tables) -> None:
    explorer = Explorer(tables, nodes=20)
    corrected = 0
    for position in positions(250):
        values = {move: stored.value for move, stored in tables.moves(position) if stored}
        best = max(values.values(), default=-1)
        is_usable = best >= 0 and set(values) == set(position.legal_moves())
        holding = moves_that_hold(tables, position)
        assert set(holding) == {move for move in values if is_usable and values[move] == best}
        for player in (ENGINE, PERFECT):
            node = explorer.examine(position, player)
            moves = [Move.from_text(text) for text in node.moves]
            assert bool(moves) == bool(holding)
            if moves:
                assert sum(node.moves.values()) == pytest.approx(1)
            assert set(moves) <= set(holding)
            if node.correction:
                corrected += 1
                assert player == ENGINE and list(node.moves) == [node.correction]
        if holding:
            final = explorer.search(position, 20)[-1][1]
            assert final in holding or explorer.examine(position, ENGINE).correction
    assert corrected


def test_perfect_play_may_choose_what_the_engine_prefers(tables: Tables) -> None:
    """In a former version, only the best moves of a short search were followed."""
    explorer = Explorer(tables, nodes=20)
    others = 0
    for position in positions(30):
        holding = moves_that_hold(tables, position)
        if holding:
            replies = explorer.replies(position, holding)
            preferred = explorer.search(position, explorer.nodes, holding)[-1][1]
            assert preferred in replies and set(replies) <= set(holding)
            others += len(replies) > MAX_REPLIES
    assert others


def test_an_interrupted_run_resumes_with_the_same_result(tables: Tables, tmp_path: Path) -> None:
    openings = [(position, 1.0) for position in positions(6)]

    def run(path: Path, number: int, threads: int = 1) -> list[object]:
        explorers = [Explorer(tables, nodes=20) for _ in range(threads)]
        return list(explore(openings, explorers, Work(path), number))

    complete = run(tmp_path / "complete", 20)
    assert len(complete) == 20
    parts = tmp_path / "parts"
    assert run(parts, 7) == complete[:7]
    # A run that was killed while it wrote leaves half a line.
    parts.write_bytes(parts.read_bytes()[:-5])
    assert run(parts, 20) == complete
    assert len((tmp_path / "complete").read_bytes().splitlines()) == 20
    assert run(tmp_path / "threads", 20, threads=3) == complete


def test_the_command_names_missing_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    openings = tmp_path / "openings.pos"
    openings.write_text("not a position\n")
    with pytest.raises(SystemExit):
        main(["-tables", str(tmp_path), "-openings", str(openings)])
    assert "expected all tables; make them with merels tables build" in capsys.readouterr().err


def test_each_number_of_nodes_needs_its_number_of_positions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["-tables", str(tmp_path), "-openings", str(tmp_path), "-nodes", "10", "20"]
    with pytest.raises(SystemExit):
        main([*words, "-positions", "5"])
    assert "expected as many -positions as -nodes, found 1 and 2" in capsys.readouterr().err
