"""Lines of a match, in a format that scripts parse, and tables of terminations and faults.

Infinite numbers print as ``inf``; PairsRatio and WL/DD Ratio print 0/0 as ``1.00``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from merels.engine.common.errors import printable
from merels.tournament.journal.standings import Health
from merels.tournament.records.settings import Settings
from merels.tournament.report.table import Column, Table, number_columns, share, text_columns
from merels.tournament.statistics.counts import Counts, MatchCounts, counts_between
from merels.tournament.statistics.elo import FEW_GAMES, from_cells
from merels.tournament.statistics.sprt import Sprt, match_llr
from merels.tournament.statistics.terminations import Terminations

OUTCOMES = ("white", "drawn", "black", "unfinished")
"""Keys of the counts in ``Terminations.results``."""


def score_line(counts: MatchCounts, first: str, second: str) -> str:
    """Return ``Score of A vs B: wins - losses - draws  [score] games``."""
    return (
        f"Score of {printable(first)} vs {printable(second)}: {counts.wins} - {counts.losses} - "
        f"{counts.draws}  [{counts.score:.3f}] {counts.games}"
    )


def summary_lines(
    counts: MatchCounts, first: str, second: str, sprt: Sprt | None = None, penta: bool = True
) -> list[str]:
    """Return the lines of a match, without line ends.

    With ``penta``, Elo, nElo, LOS, DrawRatio and the LLR come from opening pairs, without ``penta``
    from single games; then there is no ``Ptnml`` line. The LLR of the bayesian model always comes
    from games. A last line warns if the pairs or games are too few.
    """
    estimate = from_cells(counts.pentanomial if penta else counts.trinomial)
    drawn = counts.drawn_pairs_ratio if penta else counts.drawn_games_ratio
    lines = [
        score_line(counts, first, second),
        f"Elo: {_interval(estimate.elo, estimate.elo_error)}, "
        f"nElo: {_interval(estimate.nelo, estimate.nelo_error)}",
        f"LOS: {estimate.los:.2f} %, DrawRatio: {100 * drawn:.2f} %, "
        f"PairsRatio: {counts.pairs_ratio:.2f}",
        f"Games: {counts.games}, Wins: {counts.wins}, Losses: {counts.losses}, "
        f"Draws: {counts.draws}, Points: {counts.points:.1f} ({100 * counts.score:.2f} %)",
    ]
    if penta:
        lines.append(
            f"Ptnml(0-2): {list(counts.pentanomial)}, WL/DD Ratio: {counts.wl_dd_ratio:.2f}"
        )
    if sprt is not None:
        lines.append(llr_line(sprt, match_llr(sprt, counts, penta)))
    if estimate.too_few:
        lines.append(
            f"Too few pairs for a conclusion: {counts.pairs} (below {FEW_GAMES // 2})" if penta
            else f"Too few games for a conclusion: {counts.games} (below {FEW_GAMES})"
        )
    return lines


def match_lines(
    matches: Counts, names: Sequence[str], settings: Settings | None, verdict: str | None = None
) -> list[str]:
    """Return `summary_lines` and the verdict of a match; empty unless there are two engines.

    ``settings`` is None if the games may come from several matches; then no SPRT is reported.
    """
    if len(names) != 2:
        return []
    counts, sprt, penta = _match(matches, names, settings)
    lines = summary_lines(counts, names[0], names[1], sprt, penta)
    if sprt is not None and verdict is not None:
        lines.append(f"SPRT ({hypotheses(sprt)}) completed - {verdict} was accepted")
    return lines


def match_dict(
    matches: Counts, names: Sequence[str], settings: Settings | None, verdict: str | None
) -> dict[str, Any]:
    """Return the figures of `match_lines` as JSON values; infinite ones are None."""
    counts, sprt, penta = _match(matches, names, settings)
    estimate = from_cells(counts.pentanomial if penta else counts.trinomial)
    llr = None if sprt is None else match_llr(sprt, counts, penta)
    figures = {"score": counts.score, **asdict(estimate), "wl_dd_ratio": counts.wl_dd_ratio,
               "pairs_ratio": counts.pairs_ratio}
    test = None if sprt is None else asdict(sprt) | {
        "llr": llr, "lower": sprt.lower, "upper": sprt.upper, "verdict": verdict,
    }
    return {
        "first": names[0], "second": names[1],
        "wins": counts.wins, "losses": counts.losses, "draws": counts.draws,
        "pentanomial": list(counts.pentanomial) if penta else None,
        **{key: value if isfinite(value) else None for key, value in figures.items()},
        "sprt": test,
    }  # fmt: skip


def _match(
    matches: Counts, names: Sequence[str], settings: Settings | None
) -> tuple[MatchCounts, Sprt | None, bool]:
    """Return the counts of a match, its SPRT, and whether estimates count pairs."""
    counts = counts_between(matches, *names)
    if settings is None:
        return counts, None, counts.pairs > 0
    return counts, settings.sprt, settings.by_pairs


def _interval(value: float, error: float) -> str:
    """Return ``value +/- error`` with two decimals, without a minus before zero."""
    return f"{value:z.2f} +/- {error:.2f}"


def llr_line(sprt: Sprt, llr: float) -> str:
    """Return ``LLR: value (share of the bound) (lower, upper) [elo0, elo1]``."""
    return (
        f"LLR: {llr:z.2f} ({100 * sprt.fraction(llr):z.1f}%) ({sprt.lower:.2f}, {sprt.upper:.2f}) "
        f"{hypotheses(sprt)}"
    )


def hypotheses(sprt: Sprt) -> str:
    """Return ``[elo0, elo1]``."""
    return f"[{sprt.elo0:z.2f}, {sprt.elo1:z.2f}]"


def ending_tables(stats: Terminations, kind: str = "Termination") -> list[Table]:
    """Return the tables by termination or reason: all games, and the losses of each engine.

    The second lists the terminations of all games, or only the reasons by which games were lost.
    """
    head = [
        Column(kind, None, left=True), Column("Games"), Column("Share", form="{:.1%}"),
        *(Column(outcome.title(), outcome) for outcome in OUTCOMES),
    ]
    rows = [
        [name, sum(results), share(sum(results), stats.games), *results]
        for name, results in stats.results.items()
    ]
    names = list(stats.results) if kind == "Termination" else stats.losing
    losses = [
        [player, *(counts.get(name, 0) for name in names)] for player, counts in stats.lost.items()
    ]
    lost = Table("", [*text_columns("Lost by"), *map(Column, names)], losses, "ends")
    tables = [Table("How games ended", head, rows, "ends"), lost]
    return tables if names or kind == "Termination" else tables[:1]


def endings_text(stats: Terminations, kind: str = "Termination") -> str:
    """Return `ending_tables` as text."""
    return "\n".join(table.text() for table in ending_tables(stats, kind))


def health_table(healths: Mapping[str, Health]) -> Table:
    """Return a table of each engine's games and faults."""
    heads = ("Games", "Crashes", "Stalls", "Time", "Illegal", "Late", "Junk")
    rows = [[name, *health.as_dict().values()] for name, health in healths.items()]
    return Table("Health", [*text_columns("Health"), *number_columns(*heads)], rows, "health")


def conditions_table(rows: Sequence[Sequence[str]]) -> Table:
    """Return the rows of `condition_rows` as a table."""
    head = [
        Column("Engine", "name", left=True), Column("Time control", "time_control", left=True),
        Column("Command and options", "command", left=True),
    ]
    return Table("Engines", head, rows, "conditions")


def reasons_dict(stats: Terminations) -> list[dict[str, Any]]:
    """Return the counts by reason as JSON values."""
    return [
        row | {"lost": {player: counts[row["reason"]] for player, counts in stats.lost.items()
                        if row["reason"] in counts}}
        for row in ending_tables(stats, "Reason")[0].json()
    ]


def terminations_dict(stats: Terminations) -> dict[str, Any]:
    """Return the counts by termination as JSON values."""
    return {
        "games": stats.games, "terminations": ending_tables(stats)[0].json(),
        "lost": {player: dict(counts) for player, counts in stats.lost.items()},
    }
