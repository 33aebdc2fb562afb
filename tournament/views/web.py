"""The tournament on a local page while it runs."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from merels.engine.game.errors import InputError
from merels.protocol.board.local_server import is_own_host
from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.records.settings import Settings, facts
from merels.tournament.report.crosstable import crosstable
from merels.tournament.report.html import page, summary
from merels.tournament.report.summary import summary_lines
from merels.tournament.run.plan import Plan
from merels.tournament.run.view import View
from merels.tournament.statistics.terminations import Ending, count_terminations
from merels.tournament.views.output import Pace, Throttle, time_left

ADDRESS = "127.0.0.1"
"""The page is for this machine alone, and read-only."""
READ_SECONDS = 30.0
"""How long a request may take to arrive."""
KEPT = 200
"""How many of the last games can be replayed."""
REFRESH = """
setInterval(async () => {
  try {
    const answer = await fetch("/summary");
    if (answer.ok) document.getElementById("summary").innerHTML = await answer.text();
  } catch { /* the tournament is over, or will answer next time */ }
}, 1500);
"""


class WebView(View):
    """Serves the standings at ``http://127.0.0.1:PORT/``; port 0 takes any that is free.

    The runner's thread draws them when a game begins or ends; those that answer requests only
    hand out what was drawn last.
    """

    def __init__(self, settings: Settings, plan: Plan, port: int) -> None:
        self._settings = settings
        self._plan = plan
        self._pace = Pace()
        self._throttle = Throttle(0.0)
        self._rows: deque[Row] = deque(maxlen=KEPT)
        self._endings: list[Ending] = []
        self._playing: tuple[int, ...] = ()
        self._is_old = False
        """Whether a game has begun or ended since the page was drawn."""
        self._draw(Standings(tuple(engine.name for engine in settings.engines)), {})
        try:
            self._server = ThreadingHTTPServer((ADDRESS, port), _handler(self))
        except OSError as error:
            raise InputError(
                str(port), f"cannot serve at this port: {error.strerror}; name another for -serve"
            ) from None
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self._server.server_address[1]}/"

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        """Draw the page again if a game has begun or ended, and it is due."""
        if self._is_old or tuple(playing) != self._playing:
            self._throttle.run(lambda: self._draw(standings, playing))

    def finished(self, row: Row, standings: Standings) -> None:
        """Count a game and keep it for replay."""
        self._pace.add()
        self.found(row, standings)

    def found(self, row: Row, standings: Standings) -> None:
        """Keep a game for replay."""
        self._rows.append(row)
        self._endings.append(Ending(row.white, row.black, row.white_score, row.termination))
        self._is_old = True

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def page(self) -> str:
        """The whole page."""
        summary, rows = self._shown
        return page(self._settings.event, summary, rows, REFRESH)

    def summary(self) -> str:
        """The part of the page that changes."""
        return self._shown[0]

    def _draw(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        """Show how things stand now."""
        games = ", ".join(f"{spec.white.name} – {spec.black.name}" for spec in playing.values())
        lines = [
            *facts(self._settings.as_json()),
            *self._progress(standings),
            ("In progress", games or "none"),
        ]
        table = crosstable(standings.matches) if standings.matches else None
        text = summary(lines, table, count_terminations(self._endings))
        # Replaced in one step, for the threads that read it.
        self._shown = text, tuple(self._rows)
        self._playing, self._is_old = tuple(playing), False

    def _progress(self, standings: Standings) -> list[tuple[str, str]]:
        """How far the tournament is, and of a match its estimates."""
        progress, pace = self._plan.progress(standings.finished), self._pace
        text = f"{progress.text}, {pace.rate():.1f} a second{time_left(pace, progress)}"
        lines = [("Games", text)]
        names = standings.names
        if len(names) == 2:
            counts = standings.counts(names[0], names[1])
            texts = summary_lines(
                counts, names[0], names[1], self._settings.sprt, self._settings.by_pairs
            )
            lines += [("Match" if text is texts[0] else "", text) for text in texts]
        return lines


def _handler(view: WebView) -> type[BaseHTTPRequestHandler]:
    """A class that answers requests with what a view shows."""

    class Handler(BaseHTTPRequestHandler):
        """Answers ``/`` with the page and ``/summary`` with its changing part."""

        server: ThreadingHTTPServer
        timeout = READ_SECONDS

        def handle(self) -> None:
            """Answer a request, unless the browser has gone."""
            with contextlib.suppress(ConnectionError):
                super().handle()

        def do_GET(self) -> None:
            port = self.server.server_address[1]
            if not is_own_host(self.headers.get("Host", ""), ADDRESS, int(port)):
                self.send_error(403)
                return
            make = {"/": view.page, "/summary": view.summary}.get(self.path)
            if make is None:
                self.send_error(404)
                return
            data = make().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Requests are not worth a line."""

        def version_string(self) -> str:
            return "merels"

    return Handler
