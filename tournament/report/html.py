"""The report as one self-contained page: standings, crosstable, plot, games on a board."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from merels.engine.common.errors import InputError, printable
from merels.engine.game.board import NAMES
from merels.tournament.journal.rows import Row
from merels.tournament.records.games import MoveRecord
from merels.tournament.report.crosstable import Crosstable, left_out, notes, results_rows
from merels.tournament.report.rounds import STAGE
from merels.tournament.report.summary import losses_rows, terminations_rows
from merels.tournament.report.svg import rating_plot, spread_plot
from merels.tournament.report.text_table import percent, shorten
from merels.tournament.report.time_report import WORDS, MoveTimes, TimeLosses, times_rows
from merels.tournament.statistics.counts import Tally
from merels.tournament.statistics.terminations import BLAMELESS, Terminations

MOST_GAMES = 2000
"""The default number of games that a page holds for replay."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""The page loads nothing: part of what it shows comes from foreign programs."""
_STYLES = ("web/page/theme.css", "report.css", "tables.css", "replay.css")
_MODULES = ("web/page/dom.js", "web/page/drawing.js", "game.js", "replay.js", "report.js")
"""The scripts, each after those that it imports; an import is a line."""
_MILLION = 1_000_000


def page(title: str, body: str, games: Sequence[Row]) -> str:
    """A whole HTML page: a body that `summary` begins, and the games for replay."""
    return "\n".join([
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(printable(title))}</title>",
        f"<style>\n{''.join(map(_resource, _STYLES))}</style></head><body>",
        f"<h1>{escape(printable(title))}</h1>",
        f"<main>\n{body}\n</main>",
        f'<section id="replay" data-points="{" ".join(NAMES)}" hidden><h2>Games</h2></section>',
        f'<script type="application/json" id="games">{games_json(games)}</script>',
        f'<script type="module">\n{script()}</script>',
        "</body></html>\n",
    ])


def summary(
    facts: Iterable[tuple[str, str]], table: Crosstable | None, ends: Terminations,
    reasons: Terminations, rounds: Sequence[Sequence[str]] = (),
    match: Sequence[str] = (), conditions: Sequence[Sequence[str]] = (),
) -> str:  # fmt: skip
    """The tables and the plot, as HTML.

    ``ends`` and ``reasons`` count the same games by termination and by reason. ``rounds`` are the
    rows of `rounds.round_rows`, ``match`` the lines of `match_lines`, ``conditions`` the rows of
    `condition_rows`, if there are any.
    """
    parts = ['<dl class="facts">']
    parts += [f"<dt>{text_html(name)}</dt><dd>{text_html(value)}</dd>" for name, value in facts]
    parts.append("</dl>")
    if conditions:
        parts += ["<h2>Engines</h2>", text_table(conditions, "conditions")]
    if match:
        parts += ["<h2>Match</h2>", '<ul class="match">', *map(_item, match), "</ul>"]
    if rounds:
        is_bracket = rounds[0][0] == STAGE
        parts.append("<h2>Bracket</h2>" if is_bracket else "<h2>Points, byes included</h2>")
        parts.append(text_table(rounds, "bracket" if is_bracket else "points"))
    if table is not None:
        plot = f'<div class="wide">{rating_plot(table.ratings)}</div>'
        parts += ["<h2>Standings</h2>", _standings(table), plot]
        remarks = text_html(" ".join(notes(table.ratings)))
        parts += [f'<p class="note">{remarks}</p>'] if remarks else []
        parts += ["<h2>Crosstable</h2>", _cross_table(table)]
    if ends.games:
        parts.append("<h2>How games ended</h2>")
        parts += [text_table(rows, "ends") for rows in _ending_tables(ends, reasons)]
    return "\n".join(parts)


def times_section(times: Mapping[str, MoveTimes], losses: TimeLosses) -> str:
    """How long moves took and what kept them, and the games that were lost on time, as HTML."""
    labelled = [
        (f"{shorten(name, 14)} {WORDS[kind]}", found)
        for name, one in times.items() for kind, found in one.spreads().items()
    ]  # fmt: skip
    parts = [
        "\n<h2>Milliseconds a move</h2>", table_html(times_rows(times, text_html), "ends"),
        f'<div class="wide">{spread_plot(labelled)}</div>',
        '<p class="note">A bar reaches from the median to 90 %, its line to 99 %; the point is the'
        " longest.</p>",
    ]
    return "\n".join([*parts, *(f'<p class="note">{line}</p>' for line in losses.lines())])


def games_json(games: Iterable[Row]) -> str:
    """The games for the replay, as JSON that cannot end its element."""
    text = json.dumps(list(map(replay_view, games)), separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def result_view(row: Row) -> dict[str, Any]:
    """A finished game in a line."""
    return {
        "n": row.number, "white": printable(row.white), "black": printable(row.black),
        "result": row.result, "reason": printable(row.reason),
    }


def replay_view(row: Row) -> dict[str, Any]:
    """A finished game as the replay reads it, without measurements if they are damaged."""
    try:
        moves = moves_view(row.played())
    except InputError:
        moves = [[word, None, None, None, None] for word in row.moves.split()]
    return result_view(row) | {
        "round": row.round, "position": row.position, "opening": row.opening.split(),
        "clocks": [None, None], "moves": moves,
    }


def moves_view(moves: Sequence[MoveRecord]) -> list[list[Any]]:
    """Moves as the replay reads them: text, score, depth, time used and left in milliseconds.

    A score is in centi-men, ``#5`` or ``#-4`` (plies to a win or a loss), or None.
    """
    return [
        [
            move.move,
            move.score if move.win_in is None else f"#{move.win_in}",
            move.depth, move.elapsed // _MILLION,
            None if move.clock is None else move.clock // _MILLION,
        ]
        for move in moves
    ]


def script() -> str:
    """The page's modules as one: a page in one file has nothing to import from."""
    lines = "\n".join(map(_resource, _MODULES)).splitlines()
    kept = (line.removeprefix("export ") for line in lines if not line.startswith("import "))
    return "\n".join(kept)


def _resource(name: str) -> str:
    package = "merels.protocol" if "/" in name else "merels.tournament.report"
    return files(package).joinpath(name).read_text("utf-8")


def text_html(text: str) -> str:
    """Text that a foreign program may have written, safe on a page."""
    return escape(printable(text))


def _item(text: str) -> str:
    return f"<li>{text_html(text)}</li>"


def table_html(rows: Sequence[Sequence[str]], css: str) -> str:
    """A table of a head and rows, whose cells are HTML already."""
    head = "".join(f"<th>{cell}</th>" for cell in rows[0])
    body = ("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[1:])
    lines = [f'<table class="{css}"><thead><tr>{head}</tr></thead><tbody>', *body]
    return '<div class="wide">' + "\n".join(lines) + "</tbody></table></div>"


def text_table(rows: Iterable[Sequence[str]], css: str) -> str:
    """A table of a head and rows of plain text."""
    return table_html([[text_html(cell) for cell in row] for row in rows], css)


def _standings(table: Crosstable) -> str:
    rows = [["#", "Name", "Elo", "95 %", "Games", "Points", "Score", "Won", "Drawn", "Lost"]]
    for rank, player in enumerate(table.ratings.players, 1):
        rows.append([
            str(rank), text_html(player.name), f"{player.elo:z.1f}", f"± {player.error:.1f}",
            str(player.games), f"{player.points:.1f}",
            percent(player.points, player.games),
            str(player.wins), str(player.draws), str(player.losses),
        ])
    return table_html(rows, "standings")


def _cross_table(table: Crosstable) -> str:
    """The crosstable, or a sentence in its place."""
    if table.is_whole:
        return table_html(results_rows(table, text_html, _cell), "cross")
    return f'<p class="note">{text_html(left_out(table.ratings))}</p>'


def _cell(record: Tally) -> str:
    """Wins, draws and losses, shaded by the score in tenths."""
    if not record.games:
        return "–"
    text = f"{record.wins}–{record.draws}–{record.losses}"
    return f'<span class="cell share-{round(10 * record.score)}">{text}</span>'


def _ending_tables(ends: Terminations, reasons: Terminations) -> Iterator[list[list[str]]]:
    """How games ended, and who lost by a fault; then the same by reason, with all who lost."""
    yield terminations_rows(ends)
    faults = [name for name in ends.results if name not in BLAMELESS]
    if faults:
        head, *losers = losses_rows(ends, faults, str)
        yield [head, *(row for row in losers if set(row[1:]) != {"0"})]
    yield terminations_rows(reasons, "Reason")
    if reasons.losing:
        yield losses_rows(reasons, reasons.losing, str)
