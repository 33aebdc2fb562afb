"""The tournament as a broadcast: a local page that shows games, standings and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from time import monotonic, thread_time

from merels.engine.common.errors import InputError, printable
from merels.engine.common.numbers import counted
from merels.engine.game.board import NAMES
from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.as_flags import condition_rows
from merels.tournament.records.games import GameSpec, Results
from merels.tournament.records.settings import Settings, facts
from merels.tournament.report.crosstable import crosstable
from merels.tournament.report.html import summary
from merels.tournament.report.rounds import round_lines
from merels.tournament.report.summary import match_lines
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.run.tasks import Played
from merels.tournament.run.view import View
from merels.tournament.statistics.counts import Counts
from merels.tournament.statistics.terminations import EndingCounter, Terminations
from merels.tournament.views.broadcast import JSON, Broadcast
from merels.tournament.views.output import SHARE_BESIDE, Background, Pace, Throttle, time_left
from merels.tournament.views.web_server import PageServer

NEWS_SECONDS = 0.3
STANDINGS_SECONDS = 2.0
BEAT_SECONDS = 3.0
"""Seconds between events even without changes, so that a page notices a silent runner."""
SHARE = 0.01
"""The most of the runner's time that news may take."""
ENDS = {
    "finished": "Finished: {all} played.",
    "decided": "Decided: {verdict} is accepted after {games}.",
    "interrupted": "Interrupted after {progress}.",
    "killed": "Stopped after {progress}; the games in progress were broken off.",
    "faulty": "Stopped after {progress}: an engine failed too often.",
    "stuck": "Stopped after {progress}: the other games could not be played.",
    "timed_out": "ParsedFlags up after {progress}: no worker could play.",
}
"""The page's text for an end, by `runner.End`."""


class WebView(View):
    """Serves the page at ``http://127.0.0.1:PORT/``; port 0 takes any that is free.

    The runner's thread makes each piece of news once and sends it to all pages that are open;
    standings are drawn in a thread beside it. While no page is open, nothing is made. ``is_told``:
    workers report the games in progress.
    """

    def __init__(self, board: Scoreboard, port: int, is_told: bool) -> None:
        self._board = board
        self._settings = board.settings
        self._is_told = is_told
        self._broadcast = Broadcast(self._about())
        self._reasons = EndingCounter(by_reason=True)
        self._pace = Pace()
        self._news = Throttle(NEWS_SECONDS, SHARE, thread_time)
        self._standings = Background[JSON](STANDINGS_SECONDS, SHARE_BESIDE)
        self._drawn = -1
        """The number of finished games when the standings were drawn; -1: they must be drawn."""
        self._last_word = 0.0
        self._is_over = False
        try:
            self._server = PageServer(port, self._broadcast.replay)
        except OSError as error:
            raise InputError(
                str(port), f"cannot serve at this port: {error.strerror}; name another for -serve"
            ) from None

    @property
    def address(self) -> str:
        """Where the page is."""
        return self._server.root

    def paired(self) -> None:
        """Show a new round."""
        self._drawn = -1

    def game_began(self, spec: GameSpec) -> None:
        """Show a game in progress, if its moves will be reported."""
        if self._is_told:
            self._broadcast.game_began(spec)

    def game_went_on(self, played: Played) -> None:
        """Show its moves."""
        self._broadcast.game_went_on(played)

    def game_ended(self, row: Row) -> None:
        """Show its end."""
        self._broadcast.game_ended(row)

    def finished(self, row: Row, standings: Standings) -> None:
        """Count a game."""
        self._pace.add()
        self._count(row, standings)

    def found(self, row: Row, standings: Standings) -> None:
        """Count a game, and keep it for replay."""
        self._broadcast.found(row)
        self._count(row, standings)

    def notice(self, text: str) -> None:
        """Show a notice."""
        self._broadcast.notice(text)

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        """Tell the pages what is new, if it is due and there are any."""
        if self._server.is_watched:
            if self._standings.update(self._drawing):
                self._show_standings()
            self._news.run(self._tell)

    def over(self, end: str, why: str = "") -> None:
        """Tell the pages how the run ended: they go on showing it when there is no runner."""
        if self._is_over:
            return
        self._is_over = True
        board = self._board
        done = board.standings.finished
        text = ENDS.get(end, "Ended after {progress}" + (": {why}" if why else ".")).format(
            all="the one game is" if done == 1 else f"all {done} games are",
            games=counted(done, "game"),
            progress=board.plan.progress(done).text, verdict=board.verdict, why=printable(why),
        )
        if end not in ("finished", "decided") and board.journal.path is not None:
            text += " Its journal can be continued with -resume."
        self._broadcast.show(over={"end": end, "text": text}, replays=self._broadcast.replays())
        self._standings.finish()
        if (draw := self._drawing()) is not None:
            self._standings.value = draw()
        self._show_standings()
        self._show_score()
        self._server.finish(self._broadcast.news(), self._broadcast.all)

    def close(self) -> None:
        """End the page's server."""
        self.over("failed")

    def _about(self) -> JSON:
        """The constant part."""
        settings, sprt = self._settings, self._settings.sprt
        return {
            "event": printable(settings.event),
            "points": NAMES,
            "isTold": self._is_told,
            "test": sprt and asdict(sprt) | {"lower": sprt.lower, "upper": sprt.upper},
        }

    def _count(self, row: Row, standings: Standings) -> None:
        self._reasons.add(row.ending)
        if self._settings.sprt is not None:
            self._broadcast.ratio(standings.finished, self._board.llr)

    def _tell(self) -> None:
        """Tell the pages what is new."""
        self._show_score()
        news = self._broadcast.news()
        now = monotonic()
        if news or now - self._last_word >= BEAT_SECONDS:
            self._last_word = now
            self._server.send(news)
        self._server.admit(self._broadcast.all)

    def _show_score(self) -> None:
        """Show how far the tournament is."""
        progress = self._board.plan.progress(self._board.standings.finished)
        self._broadcast.show(score={
            "text": progress.text, "share": round(progress.share, 4),
            "rate": round(self._pace.rate(), 5),
            "left": time_left(self._pace, progress).removeprefix(", "),
            "playing": len(self._board.playing),
        })

    def _drawing(self) -> Callable[[], JSON] | None:
        """Return a function that draws the standings in any thread; None if they are drawn."""
        standings, plan = self._board.standings, self._board.plan
        if self._drawn == standings.finished:
            return None
        self._drawn = standings.finished
        return partial(
            _draw, self._settings, dict(standings.matches), standings.names, self._board.verdict,
            list(plan.so_far), plan.is_open, self._reasons.counts(),
        )

    def _show_standings(self) -> None:
        """Show the standings that were drawn last."""
        if self._standings.value is not None:
            self._broadcast.show(**self._standings.value)


def _draw(
    settings: Settings, matches: Counts, names: Sequence[str], verdict: str | None,
    results: Results, is_open: bool, reasons: Terminations,
) -> JSON:
    """The standings as the page shows them."""
    match = match_lines(matches, names, settings, verdict)
    table = crosstable(matches) if matches else None
    return {
        "rounds": "\n".join(round_lines(settings, results, is_open)),
        "standings": summary(
            facts(settings.as_json()), table, reasons, match=match,
            conditions=condition_rows(settings.engines),
        ),
    }
