"""Counts of moves that keep or lose a proven value, and their rows in a report."""

from __future__ import annotations

import random
from dataclasses import asdict

from merels.engine.game.notation import parse_move
from merels.engine.tablebase.verdict import PHASES, PlayedMove, Verdict
from merels.tournament.report.accuracy_report import csv_rows, rows
from merels.tournament.statistics.accuracy import (
    Accuracy,
    Coverage,
    GameName,
    MoveCounts,
    total,
)

HELD = Verdict(1, 1, 1, 3, True)
"""The only one of three moves that keeps the win."""
UNCERTAIN_BLUNDER = Verdict(1, -1, 2, 5, False)
CERTAIN_BLUNDER = Verdict(0, -1, 4, 5, True)
GAME = GameName("g.pgn", 3, "A", "B")


def played(number: int, side: int, verdict: Verdict | None, phase: str = "moving") -> PlayedMove:
    return PlayedMove(number, side, parse_move("d6"), phase, verdict)


def test_moves_are_counted_by_loss_of_value() -> None:
    counts = MoveCounts()
    assert set(asdict(counts).values()) == {0}
    for verdict in (
        None, HELD, UNCERTAIN_BLUNDER, CERTAIN_BLUNDER, HELD._replace(legal=2),
    ):
        counts.add(verdict)
    assert asdict(counts) == {
        "moves": 5, "judged": 4, "held": 2, "critical": 1, "critical_held": 1, "win_to_draw": 0,
        "win_to_loss": 1, "draw_to_loss": 1, "in_doubt": 1,
    }
    assert asdict(total([counts, counts])) == {
        name: 2 * count for name, count in asdict(counts).items()
    }


def test_the_worst_move_is_a_certain_blunder() -> None:
    accuracy = Accuracy()
    accuracy.add(GAME, [
        played(1, 0, UNCERTAIN_BLUNDER), played(2, 0, CERTAIN_BLUNDER), played(3, 1, HELD)
    ])
    worst = accuracy.engines["A"].worst_move
    assert worst is not None and (worst.game, worst.verdict) == (GAME, CERTAIN_BLUNDER)
    game = accuracy.engines["A"].worst_game
    assert game is not None and (game.wins, game.draws, game.in_doubt) == (1, 1, 1)
    assert accuracy.engines["B"].worst_move is accuracy.engines["B"].worst_game is None


def test_a_table_has_a_row_for_each_phase_played_and_a_total() -> None:
    accuracy = Accuracy()
    accuracy.add(GAME, [
        played(1, 0, HELD, "placing"), played(2, 0, CERTAIN_BLUNDER), played(2, 1, None)
    ])
    table = [row[:5] + row[7:] for row in rows(accuracy, str)[1:]]
    assert table == [
        ["A", "placing", "1", "1", "100.0%", "0", "0", "0", "0"],
        ["A", "moving", "1", "1", "0.0%", "0", "0", "1", "0"],
        ["A", "all", "2", "2", "50.0%", "0", "0", "1", "0"],
        ["B", "moving", "1", "0", "-", "0", "0", "0", "0"],
        ["B", "all", "1", "0", "-", "0", "0", "0", "0"],
    ]


def random_games(chance: random.Random, names: str) -> list[tuple[GameName, list[PlayedMove]]]:
    """Return games between engines named by one letter, with verdicts of all kinds."""

    def verdict() -> Verdict | None:
        value, after = chance.choice([(1, 1), (1, 0), (1, -1), (0, 0), (0, -1), (-1, -1)])
        judged = Verdict(value, after, chance.randint(1, 4), 5, chance.random() < 0.5)
        return chance.choice([judged, judged, None])

    return [
        (
            GameName("g.pgn", number, *chance.sample(names, 2)),
            [played(ply, ply % 2, verdict(), chance.choice(PHASES)) for ply in range(6)],
        )
        for number in range(1, 7)
    ]


def counted(games: list[tuple[GameName, list[PlayedMove]]]) -> Accuracy:
    accuracy = Accuracy()
    for game, moves in games:
        accuracy.add(game, moves)
    return accuracy


def test_merged_parts_equal_the_counts_of_all_games() -> None:
    chance = random.Random(3)
    for _ in range(100):
        games = random_games(chance, "ABC")
        first, second = counted(games[:3]), counted(games[3:])
        first.coverage, second.coverage = {"mill": Coverage(7, False)}, {"loc": Coverage(9, True)}
        second.depths = chance.random() < 0.5
        whole = counted(games)
        whole.coverage = first.coverage | second.coverage
        whole.depths = second.depths
        first.merge(second)
        assert first == whole


def test_relabelled_counts_equal_counts_of_renamed_games() -> None:
    chance = random.Random(4)
    labels = {"A": "X", "B": "Y", "C": "X"}
    for _ in range(100):
        games = random_games(chance, "ABC")
        renamed = counted([(game.relabelled(labels), moves) for game, moves in games])
        original = counted(games)
        accuracy = original.relabelled(labels)
        assert original == counted(games), "relabelled changed the original"
        assert accuracy.games == renamed.games
        assert {name: engine.total for name, engine in accuracy.engines.items()} == {
            name: engine.total for name, engine in renamed.engines.items()
        }
        for name, engine in accuracy.engines.items():
            expected = renamed.engines[name]
            for worst, worst_renamed in ((engine.worst_move, expected.worst_move),
                                         (engine.worst_game, expected.worst_game)):
                assert (worst is None) == (worst_renamed is None)
                assert worst is None or {worst.game.white, worst.game.black} <= {"X", "Y"}


def test_rows_of_csv_name_the_worst_move_and_game_of_all_phases() -> None:
    accuracy = Accuracy()
    accuracy.add(GAME, [
        played(1, 0, UNCERTAIN_BLUNDER, "placing"), played(2, 0, CERTAIN_BLUNDER),
        played(2, 1, HELD),
    ])  # fmt: skip
    head, *table = csv_rows(accuracy)
    columns = [name for name in head if name.startswith("worst")]
    assert len(columns) == 6 and len(table) == 5
    for row in (dict(zip(head, cells)) for cells in table):
        worst = [row[name] for name in columns]
        if (row["name"], row["phase"]) == ("A", "all"):
            assert worst == ["3", "g.pgn", "2. d6", "draw_to_loss", "3", "g.pgn"]
        else:
            assert worst == [""] * 6
