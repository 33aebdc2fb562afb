"""Result of a tune: a table for the terminal, and an HTML page with a plot of each parameter."""

from __future__ import annotations

from collections.abc import Sequence

from merels.engine.common.errors import printable
from merels.protocol.client.engine_spec import OPTION
from merels.tournament.journal.journal import Journal
from merels.tournament.records.as_flags import condition_rows, typed
from merels.tournament.records.settings import Parameter, Settings, facts
from merels.tournament.report.html import note, page, summary, text_html, text_table
from merels.tournament.report.svg import tick_step
from merels.tournament.report.text_table import grid
from merels.tournament.statistics.terminations import count_terminations
from merels.tournament.tuning.spsa_state import SpsaState

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 170, 60, 20, 10, 34
ERROR_NOTE = "Error: one standard error of the tuned value; -: the results show no best value."


def tuned_values(state: SpsaState) -> list[int]:
    """Return the current values, rounded for the engine."""
    return [round(value) for value in state.values]


def value_rows(state: SpsaState) -> list[list[str]]:
    """Return the cells of a table: a head, and a row for each parameter."""
    rows = [["Parameter", "Start", "Tuned", "Error", "Bounds", "c_end"]]
    for parameter, value, error in zip(state.parameters, state.values, state.errors()):
        rows.append([
            parameter.name, str(parameter.start), f"{value:.1f}",
            "-" if error is None else f"{error:.1f}",
            f"{parameter.minimum} to {parameter.maximum}", f"{parameter.c_end:g}",
        ])
    return rows


def option_words(state: SpsaState) -> str:
    """Return the tuned values as keys for ``-engine``, such as ``option.Window=24``."""
    values = zip(state.parameters, tuned_values(state))
    return typed({OPTION + parameter.name: str(value) for parameter, value in values})


def final_lines(state: SpsaState) -> list[str]:
    """Return a table of the values with their errors, and the option keys that set the values."""
    count = len(state.results)
    rows = [[printable(cell) for cell in row] for row in value_rows(state)]
    return [
        f"After {count} of {state.pairs} pairs:", "",
        *grid(rows, 0).splitlines(), "",
        ERROR_NOTE, "", option_words(state),
    ]


def html_report(
    settings: Settings, state: SpsaState, journal: Journal, match: Sequence[str]
) -> str:
    """Return the page; ``match``: the lines of the final SPRT, empty before it starts."""
    parts = ["<h2>Parameters</h2>", text_table(value_rows(state), "conditions"), note(ERROR_NOTE),
             f'<p class="note"><code>{text_html(option_words(state))}</code></p>']
    for index, (parameter, error) in enumerate(zip(state.parameters, state.errors())):
        points = [(pair, values[index]) for pair, values in state.points]
        plot = parameter_plot(parameter, points, state.pairs, error)
        parts += [f"<h3>{text_html(parameter.name)}</h3>", f'<div class="wide">{plot}</div>']
    properties = [*facts(settings.as_json()), ("Begun", journal.meta().get("created", "?")),
                  ("Pairs", f"{len(state.results)} of {state.pairs}")]
    endings = [row.ending for row in journal.results()]
    parts.append(summary(
        properties, None, count_terminations(endings, by_reason=True), (), match,
        condition_rows(settings.engines),
    ))
    return page(settings.event, "\n".join(parts))


def parameter_plot(
    parameter: Parameter, points: Sequence[tuple[int, float]], pairs: int, error: float | None
) -> str:
    """Return an SVG plot of a parameter's value over the pairs.

    ``points``: (number of pairs, value). A dashed line marks the start value; a vertical bar at the
    last point marks the error.
    """
    last = points[-1][1]
    shown = [value for _, value in points] + [parameter.start - parameter.c_end,
                                              parameter.start + parameter.c_end]
    if error is not None:
        shown += [max(parameter.minimum, last - error), min(parameter.maximum, last + error)]
    step = tick_step(max(shown) - min(shown))
    low, high = min(shown) // step * step, -(-max(shown) // step) * step
    bottom = HEIGHT - BOTTOM

    def x(pair: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * pair / pairs

    def y(value: float) -> float:
        return TOP + (bottom - TOP) * (high - min(high, max(low, value))) / (high - low)

    label = text_html(f"{parameter.name} over {pairs} pairs")
    parts = [f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">']
    for index in range(round((high - low) / step) + 1):
        value = low + index * step
        parts.append(
            f'<line class="grid" x1="{LEFT}" y1="{y(value):.1f}" x2="{WIDTH - RIGHT}" '
            f'y2="{y(value):.1f}"/>'
            f'<text class="name" x="{LEFT - 8}" y="{y(value) + 4:.1f}">{value:g}</text>'
        )
    for index in range(5):
        pair = pairs * index // 4
        parts.append(f'<text class="tick" x="{x(pair):.1f}" y="{bottom + 20}">{pair}</text>')
    line = " ".join(f"{x(pair):.1f},{y(value):.1f}" for pair, value in points)
    start, end = f"{y(parameter.start):.1f}", f"{x(points[-1][0]):.1f}"
    parts.append(
        f'<line class="start" x1="{LEFT}" y1="{start}" x2="{WIDTH - RIGHT}" y2="{start}"/>'
        f'<polyline class="course" points="{line}"/>'
    )
    if error is not None:
        parts.append(
            f'<line class="error" x1="{end}" y1="{y(last - error):.1f}" x2="{end}" '
            f'y2="{y(last + error):.1f}"/>'
        )
    title = f"{last:.1f}" + ("" if error is None else f" ± {error:.1f}")
    parts.append(
        f'<circle class="elo" cx="{end}" cy="{y(last):.1f}" r="4.5"><title>{title}</title></circle>'
    )
    return "\n".join([*parts, "</svg>"])
