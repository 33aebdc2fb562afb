"""Broadcast of a tournament: a local web page with games in progress, standings and results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from threading import Event, Thread
from time import monotonic, sleep, thread_time

from merels.engine.common.errors import InputError, printable
from merels.engine.common.numbers import counted
from merels.engine.game.rules import parse_rules
from merels.protocol.common.notices import notify
from merels.protocol.web.server import TYPES, LocalHandler, LocalServer, Page, read_page
from merels.tournament.journal.rows import Row
from merels.tournament.journal.standings import Standings
from merels.tournament.records.as_flags import condition_rows
from merels.tournament.records.games import GameSpec, Results
from merels.tournament.records.settings import LEAGUE, Settings, facts
from merels.tournament.report.crosstable import crosstable
from merels.tournament.report.html import details, document, facts_list, script, standings, style
from merels.tournament.report.rounds import rounds_table
from merels.tournament.report.summary import hypotheses, match_lines
from merels.tournament.report.svg import line_plot
from merels.tournament.report.table import text_html
from merels.tournament.run.scoreboard import Scoreboard, View
from merels.tournament.run.tasks import Played
from merels.tournament.statistics.counts import Counts
from merels.tournament.statistics.sprt import Sprt
from merels.tournament.statistics.terminations import EndingCounter, Terminations
from merels.tournament.views.broadcast import Broadcast
from merels.tournament.views.output import BACKGROUND_SHARE, Background, Pace

ADDRESS = "127.0.0.1"
"""The page is served only to this machine."""
EVENT_SECONDS = 0.3
"""Shortest time between two events, in seconds."""
EVENT_SHARE = 0.02
"""Largest share of the time that a stream may use for events, because their code holds the GIL."""
STANDINGS_SECONDS = 2.0
"""Shortest time between two updates of the standings, in seconds."""
END_SECONDS = 2.0
"""Seconds in which all streams must have written the last event."""
MAX_LLR_POINTS = 400
"""Largest number of points of the SPRT graph; with more, every second point is dropped."""
ENDS = {
    "finished": "Finished: {all} played.",
    "decided": "Decided: {verdict} is accepted after {games}.",
    "interrupted": "Interrupted after {progress}.",
    "killed": "Stopped after {progress}; the games in progress were broken off.",
    "faulty": "Stopped after {progress}: an engine failed too often.",
    "stuck": "Stopped after {progress}: the other games could not be played.",
    "timed_out": "Given up after {progress}: no worker could play.",
}
"""Texts of the page for each `runner.End`; for other ends see `WebView.run_ended`."""
HEADER = """\
<header>
<h1>{title}</h1>
<p id="state" class="state">connecting</p>
<progress id="bar" max="1" value="0" aria-label="Games played"></progress>
<p id="score"></p>
</header>
<p id="banner" class="banner" role="status" hidden></p>
<ul id="notices" class="notices" aria-label="Notices"></ul>"""
BODY = """\
<div class="stage">
<section aria-labelledby="cards-title">
<h2 id="cards-title">Games in progress</h2>
{note}
<div id="cards" class="cards"></div>
</section>
<section id="standings" aria-label="Standings"></section>
</div>
<section id="details" aria-label="Crosstable and other tables"></section>
<section id="games"></section>"""
NO_MOVES = (
    '<p class="note">This executor does not report games in progress: each game appears among the '
    "games below when it is over.</p>"
)


class WebView(View):
    """Serves the page at ``http://127.0.0.1:PORT/``; port 0 chooses a free port.

    Each open page has a thread, which sends the changes of the state. Another thread makes the
    standings during the run, while a page is open. ``has_moves``: whether workers report the moves
    of games in progress.
    """

    def __init__(self, settings: Settings, port: int, has_moves: bool) -> None:
        self._board: Scoreboard
        self._settings = settings
        self._has_moves = has_moves
        title = printable(self._settings.event)
        self._broadcast = Broadcast(parse_rules(self._settings.rules), title)
        self._reasons = EndingCounter(by_reason=True)
        self._pace = Pace()
        self._standings = Background[dict[str, str]](STANDINGS_SECONDS, BACKGROUND_SHARE)
        self._games_in_standings = -1
        """Number of games in the latest standings; -1 if these must be made again."""
        self._points: list[tuple[int, float]] = []
        """Points of the SPRT graph: number of games and log-likelihood ratio."""
        self._stride = 1
        """Smallest number of games between two of the `_points`."""
        self._is_running = False
        """Whether the run has started and is not over."""
        self._stays = False
        """Whether the page stays after the run: false after Ctrl-C or an exception."""
        note = "" if has_moves else NO_MOVES
        try:
            self._server = _PageServer(port, self._broadcast, _page(title, note))
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
        self._is_running = True
        self._show_progress()

    def round_paired(self) -> None:
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
        self._broadcast.game_ended(self._board.journal.row(row.number))
        self._count(row, standings)

    def notice(self, text: str) -> None:
        self._broadcast.notice(text)

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        """Update the progress, and the standings if a page is open."""
        self._show_progress()
        if self._server.readers and self._standings.update(self._standings_task):
            self._show_standings()

    def run_ended(self, end: str, why: str = "") -> None:
        """Show the end of the run; pages that have received it need no server afterwards."""
        if not self._is_running:
            return
        self._is_running = False
        self._stays = end not in ("interrupted", "killed", "failed")
        board = self._board
        done = board.standings.finished
        failure = "Ended after {progress}: {why}." if why else "Ended after {progress}."
        text = ENDS.get(end, failure).format(
            all="the one game is" if done == 1 else f"all {done} games are",
            games=counted(done, "game"),
            progress=board.plan.progress(done).text, verdict=board.verdict,
            why=printable(why).rstrip("."),
        )
        can_resume = board.journal.path is not None and self._settings.format != LEAGUE
        if end not in ("finished", "decided") and can_resume:
            text += " Its journal can be continued with -resume."
        self._standings.finish()
        if (task := self._standings_task()) is not None:
            self._standings.value = task()
        self._show_standings()
        self._show_progress()
        self._broadcast.show(over={"end": end, "text": text})
        self._server.finish()

    def stay(self) -> None:
        """Serve the page until Ctrl-C, unless Ctrl-C or an exception has ended the run."""
        if not self._stays:
            return
        try:
            notify(f"the page stays at {self.address} until Ctrl-C")
            Event().wait()
        except KeyboardInterrupt:
            pass

    def close(self) -> None:
        """Show the end, if `run_ended` was not called: then the run counts as failed."""
        self.run_ended("failed")

    def _count(self, row: Row, standings: Standings) -> None:
        self._reasons.add(row.ending)
        games = standings.finished
        if self._settings.sprt is not None and games % self._stride == 0:
            self._points.append((games, self._board.llr))
            if len(self._points) > MAX_LLR_POINTS:
                self._points = self._points[1::2]
                self._stride *= 2

    def _show_progress(self) -> None:
        """Update the progress and the pace on the page."""
        progress = self._board.plan.progress(self._board.standings.finished)
        parts = [self._pace.text(progress)]
        if not self._has_moves:
            parts.append(f"{counted(len(self._board.playing), 'game')} submitted")
        self._broadcast.show(score={
            "text": progress.text, "share": round(progress.share, 4), "pace": " · ".join(parts),
        })

    def _standings_task(self) -> Callable[[], dict[str, str]] | None:
        """Return a thread-safe function that makes the standings; None if they are up to date.

        The caller must call the function: this method makes it only once for the same games.
        """
        board = self._board
        if self._games_in_standings == board.standings.finished:
            return None
        self._games_in_standings = games = board.standings.finished
        points = [(0, 0.0), *self._points, *([(games, board.llr)] if games else [])]
        return partial(
            _make_standings, self._settings, dict(board.standings.matches), board.standings.names,
            board.verdict, list(board.plan.so_far), board.plan.is_open, self._reasons.counts(),
            points,
        )

    def _show_standings(self) -> None:
        """Update the standings on the page."""
        if self._standings.value is not None:
            self._broadcast.show(**self._standings.value)


def _make_standings(
    settings: Settings, matches: Counts, names: Sequence[str], verdict: str | None,
    results: Results, is_open: bool, reasons: Terminations, points: Sequence[tuple[int, float]],
) -> dict[str, str]:  # fmt: skip
    """Return the standings and the other tables as HTML."""
    table = crosstable(matches) if matches else None
    match = match_lines(matches, names, settings, verdict)
    result = standings(table, rounds_table(settings, results, is_open), match)
    if settings.sprt is not None:
        result += f"\n<h2>Sequential test</h2>\n{_test_plot(settings.sprt, points)}"
    return {
        "standings": result,
        "details": details(table, reasons, condition_rows(settings.engines))
        + f"\n{facts_list(facts(settings.as_json()))}",
    }


def _test_plot(sprt: Sprt, points: Sequence[tuple[int, float]]) -> str:
    """Return the graph of the log-likelihood ratio, with the bounds of the test."""
    games, llr = points[-1]
    text = (f"LLR {llr:.2f} after {counted(games, 'game')}; bounds {sprt.lower:.2f} and "
            f"{sprt.upper:.2f} for {hypotheses(sprt)}")
    levels = [("H1", sprt.upper), ("H0", sprt.lower)]
    return line_plot(text, points, max(20, games), levels)


def _page(title: str, note: str) -> Page:
    """Return the files of the page."""
    head = ('<meta name="color-scheme" content="light dark"><link rel="icon" href="icon.svg">'
            '<link rel="stylesheet" href="page.css">')
    text = document(
        title, head, [BODY.format(note=note)], '<script type="module" src="page.js"></script>',
        HEADER.format(title=text_html(title)),
    )
    stream = files("merels.tournament.report").joinpath("page/stream.js").read_text("utf-8")
    texts = {"": ("html", text), "page.css": ("css", style()), "page.js": ("js", script()),
             "stream.js": ("js", stream)}
    page = {name: (TYPES[kind], content.encode()) for name, (kind, content) in texts.items()}
    return page | read_page("merels.protocol.web", "page", ["icon.svg"])


class _PageServer(LocalServer):
    """Serves the page's files, and streams of events, each with the changes since the last."""

    def __init__(self, port: int, broadcast: Broadcast, page: Page) -> None:
        self.broadcast, self.page = broadcast, page
        self.ended = Event()
        """Set when the run is over."""
        self.readers: set[_Handler] = set()
        """Open streams."""
        super().__init__(ADDRESS, port, _Handler)
        Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()

    def finish(self) -> None:
        """End the streams: wait until all have sent the last event, at most `END_SECONDS`."""
        self.ended.set()
        end = monotonic() + END_SECONDS
        while self.readers and monotonic() < end:
            sleep(0.01)


class _Handler(LocalHandler):
    """Answers with a file of the page, or the event stream."""

    server: _PageServer

    def do_GET(self) -> None:
        self.answer(self._get)

    do_HEAD = do_GET  # The answer then has no body.

    def _get(self) -> None:
        self.check_site()
        name = self.split_path()[0].removeprefix("/")
        if name == "events":
            self._stream()
        else:
            self.send_file(self.server.page, name)

    def _stream(self) -> None:
        """Send the whole state and then its changes, until the page is closed or the run is over.

        Without changes, an empty event shows that the runner is alive.
        """
        server = self.server
        version, pause, is_last = 0, 0.0, False

        def next_event(seconds: float) -> bytes | None:
            """Wait for the pause, then at most ``seconds`` for changes; None after the last."""
            nonlocal version, pause, is_last
            if is_last:
                return None
            server.ended.wait(pause)  # The end of the run ends the pause.
            began = thread_time()
            version, changes = server.broadcast.since(version, seconds)
            is_last = "over" in changes
            event = f"data: {json.dumps(changes)}\n\n".encode()
            pause = max(EVENT_SECONDS, (thread_time() - began) / EVENT_SHARE)
            return event

        server.readers.add(self)
        try:
            self.send_events(next_event)
        finally:
            server.readers.discard(self)
