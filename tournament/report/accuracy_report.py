"""Report on the accuracy of play, judged by tables: text, CSV, JSON values or HTML section."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, fields
from textwrap import fill
from typing import Any

from merels.engine.common.errors import printable
from merels.engine.game.position import WHITE
from merels.engine.tablebase.verdict import PlayedMove
from merels.tournament.report.crosstable import csv_text
from merels.tournament.report.html import note, table_html, text_html, text_table
from merels.tournament.report.text_table import grid, percent, shorten
from merels.tournament.statistics.accuracy import (
    BLUNDERS,
    Accuracy,
    EngineAccuracy,
    GameName,
    MoveCounts,
)

HEAD = ["Name", "Phase", "Moves", "Judged", "Held", "Critical", "Held", "W>D", "W>L", "D>L",
        "Doubt"]
LEGEND = (
    "Held: judged moves that keep the proven value. Critical: judged moves where at most a third "
    "of the legal moves keep it. W>D, W>L, D>L: moves that turn a win into a draw, a win into a "
    "loss, a draw into a loss. Doubt: those that a repetition or a limit on plies may excuse."
)
COLUMNS = 80
"""Greatest width of a paragraph, in columns."""
_COUNTS = [field.name for field in fields(MoveCounts)]
_WORST_COLUMNS = [
    "worst_game", "worst_game_file", "worst_move", "worst_move_threw", "worst_move_game",
    "worst_move_file",
]
_VALUES = {1: "win", 0: "draw", -1: "loss"}

Review = Callable[[GameName], str]
"""Returns the command that reviews a game."""


def text(accuracy: Accuracy, review: Review) -> str:
    """Return the report as text."""
    lines = [fill(" ".join(coverage(accuracy)), COLUMNS), ""]
    lines += [grid(rows(accuracy, shorten), left=0), fill(LEGEND, COLUMNS)]
    for name, engine in accuracy.engines.items():
        blunders = [f"{sentence}\n  {review(game)}" for sentence, game in worst(engine)]
        lines += ["", f"{shorten(name)}", *blunders] if blunders else []
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
        limit = "" if accuracy.depths else "the limit on plies or "
        yield (
            f"{all_moves.in_doubt:,} of the values thrown away {are} in doubt: {limit}a repetition "
            "may excuse the move."
        )
        if not accuracy.depths:
            yield "Tables built with -depths take that limit into account."


def rows(accuracy: Accuracy, show_name: Callable[[str], str]) -> list[list[str]]:
    """Return a head, and for each engine a row per phase with moves and one for all phases."""
    table = [HEAD]
    for name, engine in accuracy.engines.items():
        for phase, counts in _by_phase(engine):
            table.append([
                show_name(name), phase, f"{counts.moves:,}", f"{counts.judged:,}",
                percent(counts.held, counts.judged), f"{counts.critical:,}",
                percent(counts.critical_held, counts.critical),
                *(str(getattr(counts, field)) for field in (*BLUNDERS.values(), "in_doubt")),
            ])
    return table


def phase_rows(engine: EngineAccuracy) -> list[list[str]]:
    """Return a head, a row per phase in which the engine moved, and one for all phases."""
    return [row[1:] for row in rows(Accuracy({"": engine}), str)]


def _by_phase(engine: EngineAccuracy) -> Iterator[tuple[str, MoveCounts]]:
    yield from ((phase, counts) for phase, counts in engine.phases.items() if counts.moves)
    yield "all", engine.total


def worst(engine: EngineAccuracy) -> Iterator[tuple[str, GameName]]:
    """Yield texts on the engine's worst move and worst game, each with the game's name."""
    move, game = engine.worst_move, engine.worst_game
    if move is not None:
        verdict = move.verdict
        yield (
            f"worst move: {played(move.move)} in {_name(move.game)}: "
            f"{_VALUES[verdict.value]} to {_VALUES[verdict.after]}, where {verdict.holding} of "
            f"{verdict.legal} moves kept the {_VALUES[verdict.value]}"
            + ", in doubt" * (not verdict.certain)
        ), move.game
    if game is not None:
        counts = ((game.wins, "win"), (game.draws, "draw"))
        thrown = " and ".join(f"{n} {word}{'s' * (n > 1)}" for n, word in counts if n)
        doubt = f", {game.in_doubt} in doubt" * bool(game.in_doubt)
        yield f"worst game: {_name(game.game)}: {thrown} thrown away{doubt}", game.game


def played(move: PlayedMove) -> str:
    """Return ``12. a1-a4`` for White's move, ``12... a1-a4`` for Black's."""
    return f"{move.number}{'.' if move.side == WHITE else '...'} {move.move}"


def _name(game: GameName) -> str:
    return f"game {game.number} ({shorten(game.white)} - {shorten(game.black)})"


def section(accuracy: Accuracy, review: Review) -> str:
    """Return the report as HTML, a section of a page."""
    blunders = [["Name", "Worst", "Review it with"]]
    for name, engine in accuracy.engines.items():
        for sentence, game in worst(engine):
            command = f"<code>{text_html(review(game))}</code>"
            blunders.append([text_html(name), text_html(sentence), command])
    return "\n".join([
        "\n<h2>Accuracy</h2>", note(" ".join(coverage(accuracy))),
        text_table(rows(accuracy, str), "accuracy"), note(LEGEND),
        table_html(blunders, "worst") if len(blunders) > 1 else "",
    ])


def csv_rows(accuracy: Accuracy) -> list[list[str]]:
    """Return a head and a row per engine and phase; only ``all`` rows name worst game and move."""
    table = [["name", "phase", *_COUNTS, *_WORST_COLUMNS]]
    for name, engine in accuracy.engines.items():
        for phase, counts in _by_phase(engine):
            numbers = (str(getattr(counts, field)) for field in _COUNTS)
            cells = _worst_cells(engine) if phase == "all" else [""] * len(_WORST_COLUMNS)
            table.append([csv_text(name), phase, *numbers, *cells])
    return table


def _worst_cells(engine: EngineAccuracy) -> list[str]:
    move, game = engine.worst_move, engine.worst_game
    cells = [str(game.game.number), csv_text(game.game.path)] if game else ["", ""]
    if move is None:
        return [*cells, "", "", "", ""]
    return [
        *cells, played(move.move), BLUNDERS[move.verdict.value, move.verdict.after],
        str(move.game.number), csv_text(move.game.path),
    ]


def as_dict(accuracy: Accuracy) -> dict[str, Any]:
    """Return the counts as JSON values; ``value`` and ``after`` are 1, 0 or -1 for the mover."""
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
                "worst_move": _worst_move(engine),
                "worst_game": _worst_game(engine),
            }
            for name, engine in accuracy.engines.items()
        ],
    }


def _worst_move(engine: EngineAccuracy) -> dict[str, Any] | None:
    worst = engine.worst_move
    if worst is None:
        return None
    move, verdict = worst.move, worst.verdict
    return {
        **_game(worst.game), "number": move.number, "side": ("white", "black")[move.side],
        "move": str(move.move), "value": verdict.value, "after": verdict.after,
        "holding": verdict.holding, "legal": verdict.legal,
        "in_doubt": not verdict.certain,
    }


def _worst_game(engine: EngineAccuracy) -> dict[str, Any] | None:
    worst = engine.worst_game
    return worst and {**_game(worst.game), "wins": worst.wins, "draws": worst.draws,
                       "in_doubt": worst.in_doubt}


def _game(game: GameName) -> dict[str, Any]:
    return {"file": printable(game.path), "game": game.number, "white": game.white,
            "black": game.black}
