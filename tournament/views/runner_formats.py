"""Output in the formats of fastchess and cutechess-cli, for scripts that parse it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TextIO

from merels.engine.common.errors import printable
from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.games import Entrant, clock_text, seconds_text
from merels.tournament.records.output import Intervals, OutputFormat
from merels.tournament.records.settings import Settings
from merels.tournament.report.summary import score_line, summary_lines
from merels.tournament.run.plan import Plan
from merels.tournament.statistics.counts import MatchCounts, counts_between
from merels.tournament.statistics.elo import Estimate, from_cells
from merels.tournament.statistics.sprt import match_llr
from merels.tournament.views.plain import PlainView

DASHES = "-" * 50


class RunnerView(PlainView):
    """Prints starts, ends and interim estimates in the format of fastchess or cutechess-cli."""

    def __init__(
        self, settings: Settings, plan: Plan, intervals: Intervals, form: OutputFormat, out: TextIO
    ) -> None:
        super().__init__(settings, plan, intervals, out)
        self._form = form

    def over(self, end: str, why: str = "") -> None:
        """Print no empty line, unlike the base class."""

    def _standings_lines(self, row: Row, standings: Standings) -> list[str]:
        lines = []
        names, games, interval = standings.names, standings.finished, self._intervals.rating
        score_interval = self._intervals.score
        is_due = score_interval and games % score_interval == 0
        if self._form == "cutechess" and len(names) == 2 and is_due:
            lines.append(score_line(standings.counts(*names), *names))
        if interval and games % interval == 0:
            lines += BLOCKS[self._form](self._settings, standings, None)
        return lines


def last_lines(
    form: OutputFormat, settings: Settings, standings: Standings, verdict: str | None, is_over: bool
) -> list[str]:
    """Return the final estimates and, if the run ``is_over``, a last line that states this."""
    end = "Finished match" if form == "cutechess" else "Tournament finished"
    if form == "fastchess" and verdict is not None and (sprt := settings.sprt) is not None:
        end = f"SPRT ([{sprt.elo0:.2f}, {sprt.elo1:.2f}]) completed - {verdict} was accepted"
    return BLOCKS[form](settings, standings, verdict) + [end] * is_over


def _fastchess(settings: Settings, standings: Standings, verdict: str | None) -> list[str]:
    names = standings.names
    if len(names) != 2:
        lines = _ranks(settings, standings)
    else:
        counts = standings.counts(*names)
        _, *lines = summary_lines(counts, *names, settings.sprt, settings.by_pairs)
        lines = [line for line in lines if not line.startswith("Too few")]
        if not settings.by_pairs:
            lines = [line.partition(", PairsRatio: ")[0] for line in lines]
        conditions = [
            _both(settings.engines, of) for of in (_limit, _option("Threads", "t"),
                                                   _option("Hash", "MB"))
        ]
        if settings.openings.file:
            conditions.append(printable(os.path.basename(settings.openings.file)))
        first, second = map(printable, names)
        lines.insert(0, f"Results of {first} vs {second} ({', '.join(conditions)}):")
    return [DASHES, *lines, DASHES]


def _cutechess(settings: Settings, standings: Standings, verdict: str | None) -> list[str]:
    names = standings.names
    if len(names) != 2:
        lines = _ranks(settings, standings, short=True)
    else:
        counts = standings.counts(*names)
        estimate = from_cells(counts.trinomial)
        lines = [
            f"Elo difference: {estimate.elo:.1f} +/- {estimate.elo_error:.1f}, "
            f"LOS: {estimate.los:.1f} %, DrawRatio: {100 * counts.drawn_games_ratio:.1f} %"
        ]
        if (sprt := settings.sprt) is not None:
            llr = match_llr(sprt, counts, settings.by_pairs)
            # Games that ended after the decision may have moved the ratio back.
            verdict = verdict or sprt.verdict(llr)
            lines.append(
                f"SPRT: llr {llr:.3g} ({100 * llr / sprt.upper:.1f}%), lbound {sprt.lower:.3g}, "
                f"ubound {sprt.upper:.3g}" + (f" - {verdict} was accepted" if verdict else "")
            )
    return lines


BLOCKS: dict[OutputFormat, Callable[[Settings, Standings, str | None], list[str]]] = {
    "fastchess": _fastchess, "cutechess": _cutechess
}  # fmt: skip


def _ranks(settings: Settings, standings: Standings, short: bool = False) -> list[str]:
    """Return a table of the engines by pooled score; ``short``: in cutechess-cli's format."""
    rows: list[tuple[str, MatchCounts, Estimate]] = []
    by_pairs = settings.by_pairs and not short
    for name in standings.names:
        counts = [
            counts_between(standings.matches, name, other)
            for other in standings.names if other != name
        ]
        total = sum(counts, MatchCounts())
        rows.append((name, total, from_cells(total.pentanomial if by_pairs else total.trinomial)))
    rows.sort(key=lambda row: -row[2].elo)
    widest = max(25, *(len(name) for name in standings.names))
    head = f"{'Rank':<4} {'Name':<{widest}} "
    if short:
        lines = [head + f"{'Elo':>7} {'+/-':>7} {'Games':>7} {'Score':>7} {'Draw':>7} "]
    else:
        heads = ("Elo", "+/-", "nElo", "+/-", "Games", "Score", "Draw")
        lines = [head + " ".join(f"{word:>10}" for word in heads) + f" {'Ptnml(0-2)':>20}"]
    for rank, (name, total, estimate) in enumerate(rows, 1):
        line = f"{rank:>4} {printable(name):<{widest}} "
        drawn = total.drawn_pairs_ratio if by_pairs else total.drawn_games_ratio
        if short:
            line += (
                f"{estimate.elo:>7.0f} {estimate.elo_error:>7.0f} {total.games:>7} "
                f"{100 * total.score:>6.1f}% {100 * drawn:>6.1f}% "
            )
        else:
            line += (
                f"{estimate.elo:>10.2f} {estimate.elo_error:>10.2f} {estimate.nelo:>10.2f} "
                f"{estimate.nelo_error:>10.2f} {total.games:>10} {100 * total.score:>9.1f}% "
                f"{100 * drawn:>9.1f}% {str(list(total.pentanomial)) if by_pairs else '':>20}"
            )
        lines.append(line)
    return lines


def _both(engines: Sequence[Entrant], of: Callable[[Entrant], str]) -> str:
    """Return the texts of a setting of two engines, or one text if both are equal."""
    return " - ".join(dict.fromkeys(map(of, engines)))


def _limit(entrant: Entrant) -> str:
    limit = entrant.limit
    if limit.time is not None:
        return clock_text(limit)
    if limit.per_move is not None:
        return f"{seconds_text(limit.per_move)}/move"
    return f"{limit.depth} plies" if limit.depth is not None else f"{limit.nodes} nodes"


def _option(name: str, unit: str) -> Callable[[Entrant], str]:
    def text(entrant: Entrant) -> str:
        options = {key.lower(): value for key, value in entrant.engine.options}
        return f"{options[name.lower()]}{unit}" if name.lower() in options else "NULL"

    return text
