"""Report on the accuracy of play, judged by tables: text, JSON values or HTML section."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from textwrap import fill
from typing import Any

from merels.tournament.report.html import note, table_section
from merels.tournament.report.table import Column, Table, number_columns, share, text_columns
from merels.tournament.statistics.accuracy import BLUNDERS, Accuracy, EngineAccuracy, MoveCounts

HEAD = [
    *text_columns("Name"), *number_columns("Phase"), Column("Moves", form="{:,}"),
    Column("Judged", form="{:,}"), Column("Held", form="{:.1%}"), Column("Critical", form="{:,}"),
    Column("Held", form="{:.1%}"), *number_columns("W>D", "W>L", "D>L", "Doubt"),
]
LEGEND = (
    "Held: judged moves that keep the proven value. Critical: judged moves where at most a third "
    "of the legal moves keep it. W>D, W>L, D>L: moves that turn a win into a draw, a win into a "
    "loss, a draw into a loss. Doubt: those that a repetition or a limit on plies may excuse."
)
COLUMNS = 80
"""Greatest width of a paragraph, in columns."""


def text(accuracy: Accuracy) -> str:
    """Return the report as text."""
    lines = [fill(" ".join(coverage(accuracy)), COLUMNS), ""]
    lines += [table(accuracy).text(), fill(LEGEND, COLUMNS)]
    return "\n".join(lines) + "\n"


def coverage(accuracy: Accuracy) -> Iterator[str]:
    """Yield sentences on the number of judged moves and on the tables that judged them."""
    all_moves = accuracy.total
    games = "1 game" if accuracy.games == 1 else f"{accuracy.games:,} games"
    tables = ", ".join(
        (
            "every position" if whole
            else f"every position of up to {men} men, none in hand" if men
            else "only some sectors"
        )
        + f" ({rules})" * (len(accuracy.coverage) > 1)
        for rules, (men, whole) in accuracy.coverage.items()
    )
    yield (
        f"{all_moves.judged:,} of {all_moves.moves:,} moves in {games} judged; "
        f"the tables cover {tables}."
    )
    if all_moves.in_doubt:
        are = "is" if all_moves.in_doubt == 1 else "are"
        limit = "" if accuracy.has_all_depths else "the limit on plies or "
        yield (
            f"{all_moves.in_doubt:,} of the values thrown away {are} in doubt: {limit}a repetition "
            "may excuse the move."
        )
        if not accuracy.has_all_depths:
            yield "Tables built with -depths take that limit into account."


def table(accuracy: Accuracy) -> Table:
    """Return a table with, for each engine, a row per phase with moves and one for all phases."""
    rows = [
        [
            name, phase, counts.moves, counts.judged, share(counts.held, counts.judged),
            counts.critical, share(counts.critical_held, counts.critical),
            *(getattr(counts, field) for field in (*BLUNDERS.values(), "in_doubt")),
        ]
        for name, engine in accuracy.engines.items() for phase, counts in _by_phase(engine)
    ]
    return Table("Accuracy", HEAD, rows, "accuracy")


def phase_table(engine: EngineAccuracy) -> Table:
    """Return a table with a row per phase in which the engine moved, and one for all phases."""
    rows = [row[1:] for row in table(Accuracy({"": engine})).rows]
    return Table("Accuracy by tables of perfect play", HEAD[1:], rows, "accuracy")


def _by_phase(engine: EngineAccuracy) -> Iterator[tuple[str, MoveCounts]]:
    yield from ((phase, counts) for phase, counts in engine.phases.items() if counts.moves)
    yield "all", engine.total


def section(accuracy: Accuracy) -> str:
    """Return the report as HTML, a section of a page."""
    return table_section(table(accuracy), note(" ".join(coverage(accuracy))), note(LEGEND))


def as_dict(accuracy: Accuracy) -> dict[str, Any]:
    """Return the counts as JSON values."""
    return {
        "games": accuracy.games,
        **asdict(accuracy.total),
        "tables": [
            {"rules": rules, **covered._asdict()} for rules, covered in accuracy.coverage.items()
        ],
        "engines": [
            {
                "name": name,
                **asdict(engine.total),
                "phases": {phase: asdict(counts) for phase, counts in engine.phases.items()},
            }
            for name, engine in accuracy.engines.items()
        ],
    }
