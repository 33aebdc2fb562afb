"""The lines about a match that scripts scrape; their form stays.

Numbers are never nan: infinite ones print as ``inf``, a ratio of nothing to nothing as ``1.00``.
"""

from __future__ import annotations

from merels.engine.game.errors import printable
from merels.tournament.statistics.counts import MatchCounts
from merels.tournament.statistics.elo import from_cells
from merels.tournament.statistics.sprt import Sprt, match_llr


def score_line(counts: MatchCounts, first: str, second: str) -> str:
    """``Score of A vs B: wins - losses - draws  [score] games``."""
    return (
        f"Score of {printable(first)} vs {printable(second)}: {counts.wins} - {counts.losses} - "
        f"{counts.draws}  [{counts.score:.3f}] {counts.games}"
    )


def summary_lines(
    counts: MatchCounts, first: str, second: str, sprt: Sprt | None = None, penta: bool = True
) -> list[str]:
    """The block of lines after a rating interval, without line ends.

    With ``penta`` the estimates come from opening pairs, and games outside a finished pair count
    in the score alone; without, from single games, and the ``Ptnml`` line is left out.
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
    return lines


def _interval(value: float, error: float) -> str:
    """``value +/- error`` with two decimals, and no minus before a zero."""
    return f"{value:z.2f} +/- {error:.2f}"


def llr_line(sprt: Sprt, llr: float) -> str:
    """``LLR: value (share of the bound) (lower, upper) [elo0, elo1]``."""
    return (
        f"LLR: {llr:z.2f} ({100 * sprt.fraction(llr):z.1f}%) ({sprt.lower:.2f}, {sprt.upper:.2f}) "
        f"{hypotheses(sprt)}"
    )


def hypotheses(sprt: Sprt) -> str:
    """``[elo0, elo1]``."""
    return f"[{sprt.elo0:z.2f}, {sprt.elo1:z.2f}]"
