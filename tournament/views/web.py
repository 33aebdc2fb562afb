"""Broadcast of a tournament: a local web page with games in progress, results and standings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from time import monotonic, thread_time

from merels.engine.common.errors import InputError, printable
from merels.engine.common.numbers import counted
from merels.engine.game.board import NAMES
from merels.tournament.journal.rows import Row
from merels.tournament.journal.standings import Standings
from merels.tournament.records.as_flags import condition_rows
from merels.tournament.records.games import GameSpec, Results
from merels.tournament.records.settings import LEAGUE, Settings, facts
from merels.tournament.report.crosstable import crosstable
from merels.tournament.report.html import summary
from merels.tournament.report.rounds import round_lines
from merels.tournament.report.summary import match_lines
from merels.tournament.run.scoreboard import Scoreboard, View
from merels.tournament.run.tasks import Played
from merels.tournament.statistics.counts import Counts
from merels.tournament.statistics.terminations import EndingCounter, Terminations
from merels.tournament.views.broadcast import JSON, Broadcast
from merels.tournament.views.output import BACKGROUND_SHARE, Background, Pace, Throttle, time_left
from merels.tournament.views.web_server import PageServer

EVENT_SECONDS = 0.3
"""Shortest time between two events, in seconds."""
STANDINGS_SECONDS = 2.0
"""Shortest time between two updates of the standings, in seconds."""
HEARTBEAT_SECONDS = 3.0
"""Longest time between two events, in seconds, so that a page can detect a stalled runner."""
EVENT_SHARE = 0.01
"""Largest share of the time that the runner's thread may use for events."""
ENDS = {
    "finished": "Finished: {all} played.",
    "decided": "Decided: {verdict} is accepted after {games}.",
    "interrupted": "Interrupted after {progress}.",
    "killed": "Stopped after {progress}; the games in progress were broken off.",
    "faulty": "Stopped after {progress}: an engine failed too often.",
    "stuck": "Stopped after {progress}: the other games could not be played.",
    "timed_out": "Given up after {progress}: no worker could play.",
}
"""Texts of the page for each `runner.End`; a failed run has another text, see `WebView.over`."""


class WebView(View):
    """Serves the page at ``http://127.0.0.1:PORT/``; port 0 chooses a free port.

    The runner's thread makes each event once and queues it for all open pages. While no page is
    open, it makes only the last event. A background thread makes the standings during the run.
    ``has_moves``: whether workers report the moves of games in progress.
    """

    def __init__(self, settings: Settings, port: int, has_moves: bool) -> None:
        self._board: Scoreboard
        self._settings = settings
        self._has_moves = has_moves
        self._broadcast = Broadcast(self._about())
        self._reasons = EndingCounter(by_reason=True)
        self._pace = Pace()
        self._events = Throttle(EVENT_SECONDS, EVENT_SHARE, thread_time)
        self._standings = Background[JSON](STANDINGS_SECONDS, BACKGROUND_SHARE)
        self._games_in_standings = -1
        """Number of games in the latest standings; -1 if these must be made again."""
        self._last_event = 0.0
        """Monotonic time of the last event, in seconds."""
        self._is_open = False
        """Whether the run has begun and is not over."""
        try:
            self._server = PageServer(port, self._broadcast.replay)
        except OSError as error:
            raise InputError(
                str(port), f"cannot serve at this port: {error.strerror}; name another for -serve"
            ) from None

    @property
    def address(self) -> str:
        """URL of the page."""
        return self._server.root

    def attach(self, board: Scoreboard) -> None:
        self._board = board
        self._is_open = True

    def paired(self) -> None:
        """Request new standings, with the new round."""
        self._games_in_standings = -1

    def game_started(self, spec: GameSpec, time: str) -> None:
        """Show a game in progress, if workers report its moves."""
        if self._has_moves:
            self._broadcast.game_started(spec)

    def game_continued(self, played: Played) -> None:
        self._broadcast.game_continued(played)

    def game_ended(self, row: Row, time: str) -> None:
        self._broadcast.game_ended(row)

    def finished_in_order(self, row: Row, standings: Standings) -> None:
        self._pace.add()
        self._count(row, standings)

    def found_in_journal(self, row: Row, standings: Standings) -> None:
        """Count a game of an earlier run, and keep it for replay."""
        self._broadcast.add_stored(self._board.journal.row(row.number))
        self._count(row, standings)

    def notice(self, text: str) -> None:
        self._broadcast.notice(text)

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        """Send changes to the open pages, if an event is due."""
        if self._server.is_watched:
            if self._standings.update(self._standings_task):
                self._show_standings()
            self._events.run(self._send_changes)

    def over(self, end: str, why: str = "") -> None:
        """Send the end of the run and all kept games, so that pages need no server afterwards."""
        if not self._is_open:
            return
        self._is_open = False
        board = self._board
        done = board.standings.finished
        text = ENDS.get(end, "Ended after {progress}" + (": {why}" if why else ".")).format(
            all="the one game is" if done == 1 else f"all {done} games are",
            games=counted(done, "game"),
            progress=board.plan.progress(done).text, verdict=board.verdict, why=printable(why),
        )
        can_resume = board.journal.path is not None and self._settings.format != LEAGUE
        if end not in ("finished", "decided") and can_resume:
            text += " Its journal can be continued with -resume."
        self._broadcast.show(over={"end": end, "text": text}, replays=self._broadcast.replays())
        self._standings.finish()
        if (task := self._standings_task()) is not None:
            self._standings.value = task()
        self._show_standings()
        self._show_score()
        self._server.finish(self._broadcast.news(), self._broadcast.all)

    def close(self) -> None:
        """Stop the server; if `over` was not called, the run counts as failed."""
        self.over("failed")
        self._server.shutdown()  # It may never have been attached.
        self._server.server_close()

    def _about(self) -> JSON:
        """Return the constant part of the page's state."""
        settings, sprt = self._settings, self._settings.sprt
        return {
            "event": printable(settings.event),
            "points": NAMES,
            "hasMoves": self._has_moves,
            "test": sprt and asdict(sprt) | {"lower": sprt.lower, "upper": sprt.upper},
        }

    def _count(self, row: Row, standings: Standings) -> None:
        self._reasons.add(row.ending)
        if self._settings.sprt is not None:
            self._broadcast.add_llr(standings.finished, self._board.llr)

    def _send_changes(self) -> None:
        """Send changes, or a heartbeat, to the open pages, and everything to new ones."""
        self._show_score()
        changes = self._broadcast.news()
        now = monotonic()
        if changes or now - self._last_event >= HEARTBEAT_SECONDS:
            self._last_event = now
            self._server.send(changes)
        self._server.admit(self._broadcast.all)

    def _show_score(self) -> None:
        """Update the progress on the page."""
        progress = self._board.plan.progress(self._board.standings.finished)
        self._broadcast.show(score={
            "text": progress.text, "share": round(progress.share, 4),
            "rate": round(self._pace.rate(), 5),
            "left": time_left(self._pace, progress).removeprefix(", "),
            "playing": len(self._board.playing),
        })

    def _standings_task(self) -> Callable[[], JSON] | None:
        """Return a thread-safe function that makes the standings; None if they are up to date."""
        standings, plan = self._board.standings, self._board.plan
        if self._games_in_standings == standings.finished:
            return None
        self._games_in_standings = standings.finished
        return partial(
            _make_standings, self._settings, dict(standings.matches), standings.names,
            self._board.verdict, list(plan.so_far), plan.is_open, self._reasons.counts(),
        )

    def _show_standings(self) -> None:
        """Update the standings on the page."""
        if self._standings.value is not None:
            self._broadcast.show(**self._standings.value)


def _make_standings(
    settings: Settings, matches: Counts, names: Sequence[str], verdict: str | None,
    results: Results, is_open: bool, reasons: Terminations,
) -> JSON:
    """Return the standings as HTML and the rounds as text."""
    match = match_lines(matches, names, settings, verdict)
    table = crosstable(matches) if matches else None
    return {
        "rounds": "\n".join(round_lines(settings, results, is_open)),
        "standings": summary(
            facts(settings.as_json()), table, reasons, match=match,
            conditions=condition_rows(settings.engines),
        ),
    }
