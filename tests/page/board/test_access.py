"""Access of a real browser to the board."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from merels.protocol.board.server import Handler
from merels.protocol.web.access import LINK_PAGE
from tests.kit.waiting import wait
from tests.kit.webdriver import Browser
from tests.protocol.board.server import Client, Server, serving_here


@pytest.fixture(scope="module")
def board() -> Iterator[Client]:
    """A client of a board's server that runs in this process."""
    with serving_here() as client:
        yield client


def test_the_start_file_admits_a_real_browser(tmp_path: Path, chromium: Browser) -> None:
    with Server() as server:
        file = tmp_path / "start.html"
        file.write_text(LINK_PAGE.format(address=server.start_address))
        chromium.set_view(1280, 860)
        chromium.open(file.as_uri())
        chromium.wait_for_count(".target", 24)
        assert chromium.run("return location.href") == server.address
        assert chromium.run("return document.cookie") == ""



@contextmanager
def other_site(html: str) -> Iterator[str]:
    """Serve a page on another port, and yield its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield str(server.server_port)
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_link_of_another_site_leads_to_the_board_in_two_clicks(
    chromium: Browser, host: str
) -> None:
    # To the board, localhost is cross-site; another port of 127.0.0.1 is only cross-origin.
    chromium.set_view(1280, 860)
    with Server() as server, other_site(f"<a id=go href={server.address}>A board</a>") as port:
        server.let_in(chromium)
        chromium.open(f"http://{host}:{port}/")
        chromium.click("#go")
        chromium.wait("document.querySelector('h1')?.textContent.startsWith('The board is not')")
        chromium.click("a")
        chromium.wait_for_count(".target", 24)


def test_a_link_shows_instructions_to_a_browser_without_the_cookie(chromium: Browser) -> None:
    with Server() as server, other_site(f'<a id=go href={server.address}>A</a>') as port:
        chromium.open(f"http://127.0.0.1:{port}/")
        chromium.click("#go")
        chromium.wait("document.querySelector('h1')?.textContent.startsWith('The board is not')")
        assert chromium.run("return location.href") == server.address


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("attack", [
    "location = '{address}'", "frame.src = '{address}'", "open('{address}')",
    "form.submit()", "fetch('{address}', {{mode: 'no-cors', credentials: 'include'}})",
])
def test_another_site_opens_no_board_without_a_click(
    board: Client, chromium: Browser, monkeypatch: pytest.MonkeyPatch, host: str, attack: str
) -> None:
    statuses: list[int] = []
    send_response = Handler.send_response

    def note_status(handler: Handler, status: int, message: str | None = None) -> None:
        if handler.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site"):
            statuses.append(status)
        send_response(handler, status, message)

    monkeypatch.setattr(Handler, "send_response", note_status)
    board.open_page(chromium)
    sessions = board.server.sessions._sessions
    earlier_sessions = set(sessions)
    html = f"""<iframe id=frame></iframe><form id=form action="{board.address}" method=post></form>
      <script>setTimeout(() => {{ {attack.format(address=board.address)} }})</script>"""
    tabs = chromium.tabs()
    with other_site(html) as port:
        chromium.open(f"http://{host}:{port}/")
        wait(lambda: statuses, 60, "a request of the attack")
        # Without a page that is served, no board is opened.
        assert set(statuses) == {403}
        assert set(sessions) == earlier_sessions
        assert not any(session.game.record.moves for session in sessions.values())
        chromium.keep_tab(tabs[0])
        chromium.open("about:blank")


def test_two_boards_of_one_host_do_not_log_each_other_out(chromium: Browser) -> None:
    with Server() as first, Server() as second:
        for server in (first, second):
            server.let_in(chromium)
        for server in (first, second):
            chromium.open(server.address)
            chromium.wait_for_count(".target", 24)
