"""Counts of moves that keep or lose a proven value, and their rows in a report."""

from __future__ import annotations

from dataclasses import asdict

from merels.engine.game.notation import parse_move
from merels.engine.tablebase.verdict import PlayedMove, Verdict
from merels.tournament.report.accuracy_report import table
from merels.tournament.statistics.accuracy import Accuracy, MoveCounts, sum_counts

HELD = Verdict(1, 1, 1, 3, True)
"""The only one of three moves that keeps the win."""
UNCERTAIN_BLUNDER = Verdict(1, -1, 2, 5, False)
CERTAIN_BLUNDER = Verdict(0, -1, 4, 5, True)


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
    assert asdict(sum_counts([counts, counts])) == {
        name: 2 * count for name, count in asdict(counts).items()
    }


def test_a_table_has_a_row_for_each_phase_played_and_a_total() -> None:
    accuracy = Accuracy()
    accuracy.add("A", "B", [
        played(1, 0, HELD, "placing"), played(2, 0, CERTAIN_BLUNDER), played(2, 1, None)
    ])
    lines = [line.split() for line in table(accuracy).text().splitlines()[1:]]
    assert [line[:5] + line[7:] for line in lines] == [
        ["A", "placing", "1", "1", "100.0%", "0", "0", "0", "0"],
        ["A", "moving", "1", "1", "0.0%", "0", "0", "1", "0"],
        ["A", "all", "2", "2", "50.0%", "0", "0", "1", "0"],
        ["B", "moving", "1", "0", "-", "0", "0", "0", "0"],
        ["B", "all", "1", "0", "-", "0", "0", "0", "0"],
    ]
