"""The report as one self-contained page: standings, crosstable, plots, games on a board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files

from merels.engine.game.board import NAMES
from merels.tournament.journal.standings import TimeLosses
from merels.tournament.report.crosstable import (
    MAX_RECORDS,
    Crosstable,
    by_rank,
    left_out,
    notes,
    rating_table,
    results_table,
)
from merels.tournament.report.summary import conditions_table, ending_tables
from merels.tournament.report.table import Table, text_html
from merels.tournament.report.time_report import MoveTimes, times_table
from merels.tournament.statistics.terminations import Terminations

MAX_GAMES = 20_000
"""Default limit on the number of games in a page."""
RATING_NOTE = (
    "Elo ratings compare engines of this list only: they depend on its opponents, limits and "
    "openings. A lead of 100 Elo predicts 64 % of the points, 200 predicts 76 %, 400 predicts "
    "91 %. Another list of the same engines can show larger or smaller differences, most of all "
    "where few games or scores near 100 % leave wide errors."
)
STYLES = ("protocol/web/page/theme.css", "tournament/report/page/page.css")
SCRIPTS = tuple(f"protocol/web/page/{name}.js" for name in ("dom", "drawing")) + tuple(
    f"tournament/report/page/{name}.js"
    for name in ("game", "tables", "viewer", "games", "crosstable", "live", "page")
)
"""The scripts of a page, each after the modules it imports; each import takes one line."""
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">"
)
"""Content security policy: the page loads nothing, since part of its text is from engines."""


def page(title: str, body: str, games: str = "") -> str:
    """Return a page in one file; ``games`` is JSON of a `GameArchive`."""
    parts = [body]
    if games:
        parts.append('<section id="games"></section>'
                     f'<script type="application/json" id="archive">{games}</script>')
    end = f'<script type="module">{script()}</script>'
    return document(title, f"{_POLICY}\n<style>{style()}</style>", parts, end)


def document(
    title: str, head: str, body: Iterable[str], end: str = "", heading: str = ""
) -> str:
    """Return an HTML document from HTML: elements of its head, of its main part, and after it.

    ``heading`` is shown in place of the title.
    """
    return "\n".join([
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8">{head}',
        # Without a minimum scale, a phone shrinks the page until its widest table fits.
        '<meta name="viewport" content="width=device-width, initial-scale=1, minimum-scale=1">',
        f'<title>{text_html(title)}</title></head><body data-points="{" ".join(NAMES)}">',
        heading or f"<h1>{text_html(title)}</h1>",
        "<main>", *body, "</main>", end,
        "</body></html>\n",
    ])


@cache
def script() -> str:
    """Return the pages' scripts as one, because a page that is opened from disk imports none."""
    lines = _merged(SCRIPTS).splitlines()
    return "\n".join(
        line.removeprefix("export ") for line in lines if not line.startswith("import ")
    )


@cache
def style() -> str:
    """Return the pages' style sheet."""
    return _merged(STYLES)


def _merged(names: Iterable[str]) -> str:
    """Return the joined text of data files, each named by layer, package and path."""
    return "\n" + "".join(
        files(f"merels.{layer}.{package}").joinpath(path).read_text("utf-8")
        for layer, package, path in (name.split("/", 2) for name in names)
    )


def standings(
    table: Crosstable | None, rounds: Table | None = None, match: Sequence[str] = ()
) -> str:
    """Return the result of a tournament as HTML: match, rounds and rating list.

    ``rounds`` is a `rounds_table`, ``match`` the lines of `match_lines`; each may be empty.
    """
    parts = []
    if match:
        items = (f"<li>{text_html(line)}</li>" for line in match)
        parts += ["<h2>Match</h2>", '<ul class="match">', *items, "</ul>"]
    if rounds is not None:
        parts.append(table_section(rounds))
    if table is not None:
        remarks = note(" ".join(notes(table.ratings)))
        parts.append(table_section(rating_table(table.ratings), remarks))
    return "\n".join(parts)


def details(
    table: Crosstable | None, reasons: Terminations, conditions: Sequence[Sequence[str]] = ()
) -> str:
    """Return the other tables of a tournament as HTML: crosstable, ends of games and engines.

    ``reasons`` counts the games by reason; ``conditions`` are the rows of `condition_rows`.
    """
    parts = []
    if table is not None:
        reasons = replace(reasons, lost=by_rank(table.ratings, reasons.lost))
        ranks = {player.name: rank for rank, player in enumerate(table.ratings.players)}
        conditions = sorted(conditions, key=lambda row: ranks.get(row[0], len(ranks)))
        parts += [note(RATING_NOTE), _cross_table(table)]
    if reasons.games:
        first, *others = ending_tables(reasons, "Reason")
        parts.append(table_section(first, *(other.html() for other in others)))
    if conditions:
        parts.append(table_section(conditions_table(conditions)))
    return "\n".join(parts)


def facts_list(lines: Iterable[tuple[str, str]]) -> str:
    """Return labels and texts as HTML."""
    items = "".join(
        f"<dt>{text_html(name)}</dt><dd>{text_html(value)}</dd>" for name, value in lines
    )
    return f'<dl class="facts">{items}</dl>'


def table_section(table: Table, *others: str) -> str:
    """Return a table below its title as HTML, with other elements after it."""
    return "\n".join([f"<h2>{text_html(table.title)}</h2>", table.html(), *others])


def times_section(times: Mapping[str, MoveTimes], losses: TimeLosses) -> str:
    """Return the times of moves and the numbers of games lost on time, as HTML."""
    legend = note("The thick bar reaches from the median to the 90th percentile, the thin line to "
                  "the 99th; the point is the longest time. The scale is logarithmic.")
    return table_section(times_table(times), legend, *map(note, losses.lines()))


def note(text: str) -> str:
    """Return a paragraph of remarks; empty without text."""
    return f'<p class="note">{text_html(text)}</p>' if text else ""


def _cross_table(table: Crosstable) -> str:
    """Return the crosstable, or the sentence of `left_out` in its place."""
    if not table.is_whole:
        return note(left_out(table.ratings))
    is_large = len(table.ratings.players) > MAX_RECORDS
    unit = "the score in percent" if is_large else "wins–draws–losses"
    legend = f"Cells: {unit} of the row&#x27;s engine against the column&#x27;s."
    return table_section(results_table(table), f'<p class="note legend">{legend}</p>')
