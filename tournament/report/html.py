"""The report as one self-contained page: standings, crosstable, plots, games on a board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files

from merels.engine.common.errors import printable
from merels.engine.game.board import NAMES
from merels.tournament.journal.standings import TimeLosses
from merels.tournament.report.crosstable import (
    Crosstable,
    by_rank,
    left_out,
    notes,
    results_rows,
)
from merels.tournament.report.rounds import STAGE
from merels.tournament.report.summary import ending_tables
from merels.tournament.report.svg import rating_plot, spread_plot
from merels.tournament.report.text_table import Table, percent, shorten_apart
from merels.tournament.report.time_report import MoveTimes, times_table
from merels.tournament.statistics.counts import Tally
from merels.tournament.statistics.terminations import Terminations

MAX_GAMES = 20_000
"""Default limit on the number of games in a page."""
MAX_RECORDS = 20
"""Largest number of engines whose crosstable shows wins–draws–losses; for more, percent."""
RATING_NOTE = (
    "Elo ratings compare engines of this list only: they depend on its opponents, limits and "
    "openings. A lead of 100 Elo predicts 64 % of the points, 200 predicts 76 %, 400 predicts "
    "91 %. Another list of the same engines can show larger or smaller differences, most of all "
    "where few games or scores near 100 % leave wide errors."
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""Content security policy: the page loads nothing, since part of its text is from engines."""
STYLES = (
    "protocol/web/page/theme.css", "tournament/report/tables.css", "tournament/report/replay.css",
    "tournament/report/report.css",
)
"""The style sheets of a page with tables and games."""
MODULES = (
    "protocol/web/page/dom.js", "protocol/web/page/drawing.js", "tournament/report/game.js",
    "tournament/report/replay.js", "tournament/report/sort.js", "tournament/report/tables.js",
    "tournament/report/games.js",
)
"""The scripts of such a page, each after the modules it imports; each import takes one line."""
_SCRIPTS = (*MODULES, "tournament/report/report.js")


def page(title: str, body: str, games: str = "") -> str:
    """Return a page; ``body`` is the HTML of its sections, ``games`` JSON of a `GameArchive`."""
    return document(title, POLICY, merged(STYLES), [
        f"<main>\n{body}\n</main>",
        f'<section id="head-to-head" data-points="{" ".join(NAMES)}" hidden></section>',
        f'<script type="application/json" id="games">{games}</script>',
        f'<script type="module">\n{script(_SCRIPTS)}</script>',
    ])


def document(title: str, policy: str, style: str, body: Sequence[str]) -> str:
    """Return an HTML document with a heading; ``policy`` is its content security policy."""
    return "\n".join([
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        # Without a minimum scale, a phone shrinks the page until its widest table fits.
        '<meta name="viewport" content="width=device-width, initial-scale=1, minimum-scale=1">',
        f"<title>{text_html(title)}</title>",
        f"<style>{style}</style></head><body>",
        f"<h1>{text_html(title)}</h1>",
        *body,
        "</body></html>\n",
    ])


def summary(
    facts: Iterable[tuple[str, str]], table: Crosstable | None, reasons: Terminations,
    rounds: Sequence[Sequence[str]] = (), match: Sequence[str] = (),
    conditions: Sequence[Sequence[str]] = (),
) -> str:  # fmt: skip
    """Return the tables and the plot of a tournament as HTML.

    ``reasons`` counts the games by reason. ``rounds`` are the rows of `round_rows`, ``match`` the
    lines of `match_lines`, ``conditions`` the rows of `condition_rows`; each may be empty.
    """
    if table is not None:
        reasons = replace(reasons, lost=by_rank(table.ratings, reasons.lost))
        ranks = {player.name: rank for rank, player in enumerate(table.ratings.players)}
        ranked = sorted(conditions[1:], key=lambda row: ranks.get(row[0], len(ranks)))
        conditions = [*conditions[:1], *ranked]
    parts = ['<dl class="facts">']
    parts += [f"<dt>{text_html(name)}</dt><dd>{text_html(value)}</dd>" for name, value in facts]
    parts.append("</dl>")
    if match:
        items = (f"<li>{text_html(line)}</li>" for line in match)
        parts += ["<h2>Match</h2>", '<ul class="match">', *items, "</ul>"]
    if rounds:
        is_bracket = rounds[0][0] == STAGE
        parts.append("<h2>Bracket</h2>" if is_bracket else "<h2>Points, byes included</h2>")
        parts.append(text_table(rows=rounds, css="bracket" if is_bracket else "ranked",
                                names=2 if is_bracket else 1))
    if table is not None:
        plot = f'<div class="wide">{rating_plot(table.ratings.players)}</div>'
        parts += ["<h2>Standings</h2>", '<div class="row">', _standings(table), plot, "</div>"]
        parts += map(note, (" ".join(notes(table.ratings)), RATING_NOTE))
        parts += ["<h2>Crosstable</h2>", _cross_table(table)]
    if reasons.games:
        parts += ["<h2>How games ended</h2>", '<div class="row">']
        parts += [*map(as_html, ending_tables(reasons, "Reason")), "</div>"]
    if conditions:
        parts += ["<h2>Engines</h2>", text_table(conditions, "conditions")]
    return "\n".join(parts)


def times_section(times: Mapping[str, MoveTimes], losses: TimeLosses) -> str:
    """Return the times of moves and the numbers of games lost on time, as HTML."""
    labels = shorten_apart(times, 14)
    spreads = [
        (f"{labels[name]} {kind}", spread)
        for name, engine in times.items() for kind, spread in engine.spreads().items()
    ]  # fmt: skip
    return "\n".join([
        "\n<h2>Milliseconds a move</h2>", '<div class="row">',
        as_html(times_table(times)),
        f'<div class="wide">{spread_plot(spreads)}</div>', "</div>",
        note("The thick bar reaches from the median to the 90th percentile, the thin line to the "
             "99th; the point is the longest time."),
        *map(note, losses.lines()),
    ])


def script(modules: Iterable[str]) -> str:
    """Return modules as one script, because a page that is opened from disk cannot import them."""
    lines = merged(modules).splitlines()
    kept = (line.removeprefix("export ") for line in lines if not line.startswith("import "))
    return "\n".join(kept)


def merged(names: Iterable[str]) -> str:
    """Return the joined text of data files, each named by layer, package and path."""
    return "\n" + "".join(map(_resource, names))


def _resource(name: str) -> str:
    layer, package, path = name.split("/", 2)
    return files(f"merels.{layer}.{package}").joinpath(path).read_text("utf-8")


def text_html(text: str) -> str:
    """Return text, which another program may have written, made printable and escaped for HTML."""
    return escape(printable(text))


def note(text: str) -> str:
    """Return a paragraph of remarks; empty without text."""
    return f'<p class="note">{text_html(text)}</p>' if text else ""



def table_html(rows: Sequence[Sequence[str]], css: str, names: int = 0) -> str:
    """Return a table of a head and rows, whose cells are HTML.

    The cells of the column with index ``names`` are row headers, which stay in view.
    """
    def line(row: Sequence[str], tag: str, name_tag: str) -> str:
        cells = (
            f"<{name_tag}>{cell}</th>" if column == names else f"<{tag}>{cell}</{tag}>"
            for column, cell in enumerate(row)
        )
        return f"<tr>{''.join(cells)}</tr>"

    head = line(rows[0], "th", 'th class="name"')
    body = "\n".join(line(row, "td", 'th scope="row"') for row in rows[1:])
    return (f'<div class="wide"><table class="{css}"><thead>{head}</thead><tbody>\n{body}</tbody>'
            "</table></div>")


def text_table(rows: Iterable[Sequence[str]], css: str, names: int = 0) -> str:
    """Return a table of a head and rows of plain text."""
    return table_html([[text_html(cell) for cell in row] for row in rows], css, names)


def as_html(table: Table) -> str:
    """Return a table as HTML, without its title."""
    return text_table(table.rows, table.css)


def _standings(table: Crosstable) -> str:
    rows = [["#", "Name", "Elo", "95 %", "Games", "Points", "Score", "Won", "Drawn", "Lost"]]
    for rank, player in enumerate(table.ratings.players, 1):
        rows.append([
            str(rank), player.name, f"{player.elo:z.1f}", f"± {player.error:.1f}",
            str(player.games), f"{player.points:.1f}",
            percent(player.points, player.games),
            str(player.wins), str(player.draws), str(player.losses),
        ])
    return text_table(rows, "ranked standings", names=1)


def _cross_table(table: Crosstable) -> str:
    """Return the crosstable, or the sentence of `left_out` in its place."""
    if not table.is_whole:
        return note(left_out(table.ratings))
    players = table.ratings.players
    is_large = len(players) > MAX_RECORDS

    def cell(record: Tally) -> str:
        """Return wins, draws and losses, or percent, shaded by the score in tenths."""
        if not record.games:
            return "–"
        text, title = f"{record.wins}–{record.draws}–{record.losses}", ""
        if is_large:
            text, title = f"{100 * record.score:.0f}", f' title="{text}"'
        return f'<span class="cell share-{round(10 * record.score)}"{title}>{text}</span>'

    head, *rows = results_rows(table, text_html, cell)
    titles = [f'<abbr title="{text_html(player.name)}">' for player in players]
    head[3:] = [f"{title}{rank}</abbr>" for title, rank in zip(titles, head[3:])]
    unit = "the score in percent" if is_large else "wins–draws–losses"
    legend = f"Cells: {unit} of the row&#x27;s engine against the column&#x27;s."
    return (table_html([head, *rows], "ranked cross", names=1)
            + f'\n<p class="note legend">{legend}</p>')
