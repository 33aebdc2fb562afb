"""Result of a tune: a table for the terminal, and an HTML page with a plot of each parameter."""

from __future__ import annotations

from collections.abc import Sequence

from merels.protocol.client.engine_spec import OPTION
from merels.tournament.journal.journal import Journal
from merels.tournament.records.as_flags import condition_rows, typed
from merels.tournament.records.settings import Parameter, Settings, facts
from merels.tournament.report.html import details, facts_list, note, page, standings, table_section
from merels.tournament.report.svg import line_plot
from merels.tournament.report.table import Column, Table, number_columns, text_columns, text_html
from merels.tournament.statistics.terminations import count_terminations
from merels.tournament.tuning.spsa_state import SpsaState

ERROR_NOTE = "Error: one standard error of the tuned value; -: the results show no best value."


def tuned_values(state: SpsaState) -> list[int]:
    """Return the current values, rounded for the engine."""
    return [round(value) for value in state.values]


def value_table(state: SpsaState) -> Table:
    """Return a table with a row for each parameter."""
    rows = [
        [
            parameter.name, parameter.start, value, error,
            f"{parameter.minimum} to {parameter.maximum}", f"{parameter.c_end:g}",
        ]
        for parameter, value, error in zip(state.parameters, state.values, state.errors())
    ]
    head = [*text_columns("Parameter"), *number_columns("Start"), Column("Tuned", form="{:.1f}"),
            Column("Error", form="{:.1f}"), *number_columns("Bounds", "c_end")]
    return Table("Parameters", head, rows, "conditions")


def option_words(state: SpsaState) -> str:
    """Return the tuned values as keys for ``-engine``, such as ``option.Window=24``."""
    values = zip(state.parameters, tuned_values(state))
    return typed({OPTION + parameter.name: str(value) for parameter, value in values})


def final_lines(state: SpsaState) -> list[str]:
    """Return a table of the values with their errors, and the option keys that set the values."""
    return [
        f"After {len(state.results)} of {state.pairs} pairs:", "",
        *value_table(state).text().splitlines(), "",
        ERROR_NOTE, "", option_words(state),
    ]


def html_report(
    settings: Settings, state: SpsaState, journal: Journal, match: Sequence[str]
) -> str:
    """Return the page; ``match``: the lines of the final SPRT, empty before it starts."""
    words = f'<p class="note"><code>{text_html(option_words(state))}</code></p>'
    parts = [table_section(value_table(state), note(ERROR_NOTE), words)]
    for index, (parameter, error) in enumerate(zip(state.parameters, state.errors())):
        points = [(pair, values[index]) for pair, values in state.points]
        plot = parameter_plot(parameter, points, state.pairs, error)
        parts += [f"<h3>{text_html(parameter.name)}</h3>", f'<div class="wide">{plot}</div>']
    properties = [*facts(settings.as_json()), ("Begun", journal.meta().get("created", "?")),
                  ("Pairs", f"{len(state.results)} of {state.pairs}")]
    endings = (row.ending for row in journal.rows_without_moves())
    reasons = count_terminations(endings, by_reason=True)
    parts += [facts_list(properties), standings(None, None, match),
              details(None, reasons, condition_rows(settings.engines))]
    return page(settings.event, "\n".join(parts))


def parameter_plot(
    parameter: Parameter, points: Sequence[tuple[int, float]], pairs: int, error: float | None
) -> str:
    """Return an SVG plot of a parameter's value over the pairs.

    ``points``: (number of pairs, value). A dashed line marks the start value; a vertical bar at the
    last point marks the error.
    """
    start = parameter.start
    return line_plot(
        f"{parameter.name} over {pairs} pairs", points, pairs, [("start", start)],
        [start - parameter.c_end, start + parameter.c_end], error,
        (parameter.minimum, parameter.maximum),
    )
