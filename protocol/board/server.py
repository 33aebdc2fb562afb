"""The board's web server: a few files, a few requests, and a stream of news.

It serves the browsers that have a cookie. A browser gets the cookie for a random code in an address
that works once: neither the page's own address nor a link to it lets another browser in.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from merels.engine.common.errors import InputError
from merels.protocol.board.actions.games import last_unfinished
from merels.protocol.board.actions.table import act
from merels.protocol.board.local_server import TYPES, LocalHandler, LocalServer, Refusal, read_page
from merels.protocol.board.news import Feed, unexpected
from merels.protocol.board.session import Session
from merels.protocol.board.sessions import Sessions
from merels.protocol.board.view import about_view, news_view
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.games.kept import Kept
from merels.protocol.process.errors import EngineError
from merels.protocol.puzzles.training import Trainer

LARGEST_BODY = 1 << 20
LARGEST_TEXT = 1 << 25
"""Bytes of a request that brings a file of games."""
_WITH_TEXT = ("api/load", "api/keep")
PING_SECONDS = 3.0
"""How often a quiet stream is written to: a vanished browser is noticed by writing to it."""


_START = "start/"
"""The path of the addresses that let a browser in; a code follows."""


class BoardServer(LocalServer):
    """Serves boards until `shutdown`, to the browsers that have opened a `new_address`."""

    def __init__(
        self, host: str, port: int, choices: Sequence[EngineSpec], kept: Kept | None = None,
        trainer: Trainer | None = None, warning: str = "",
    ) -> None:
        """Listen on a port, or with 0 on a free one; players can be any engine of ``choices``.

        ``kept`` is where games are kept, if they are; ``trainer`` gives puzzles. Every page shows
        the ``warning``.
        """
        self.warning = warning
        self.on_entry: Callable[[str], None] = lambda address: None
        """Called with the address that has just let a browser in."""
        self.secret = secrets.token_urlsafe(24)
        """The cookie's value."""
        self._codes: set[str] = set()
        self.page = read_page("merels.protocol.board", "page")
        self.sessions = Sessions(choices, kept, trainer)
        super().__init__(host, port, Handler)

    @property
    def cookie(self) -> str:
        """The cookie's name; a browser sends it to any port, so that boards need different ones."""
        return f"merels-{self.port}"

    def new_address(self) -> str:
        """Return an address that lets one browser in."""
        code = secrets.token_urlsafe(24)
        self._codes.add(code)
        return f"{self.root}{_START}{code}"

    def take_code(self, code: str) -> bool:
        """Use a code up; whether there was one."""
        try:
            self._codes.remove(code)
        except KeyError:
            return False
        return True

    def server_close(self) -> None:
        """Stop listening, and end every board with its engines."""
        super().server_close()
        self.sessions.close()


LINK_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0;url={address}">
<title>merels</title>
<p><a href="{address}">Open the board</a></p>
</html>
"""
"""A page that opens another ``address``."""
_WELCOME = LINK_PAGE.format(address="/")
"""Opens the board as a link would: after an HTTP redirect from the file that the browser was
started with, the browser would not send its new cookie."""
_NOT_LET_IN = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>merels: the board is not open here</title>
<h1>The board is not open in this browser</h1>
<p>Look at the terminal in which <code>merels board</code> runs, and open the last address that it
has printed. Each address lets one browser in, once; then the terminal shows another one. If
<code>merels board</code> does not run any more, start it again.</p>
<p>Your games are not lost: they are in <b>My games</b>.</p>
</html>
"""


class _NotLetIn(Refusal):
    """A request without the cookie."""


class Handler(LocalHandler):
    """One connection of a browser."""

    server: BoardServer

    def do_GET(self) -> None:
        """Send a file of the page, or the stream of news."""
        self.answer(self._get)

    def do_POST(self) -> None:
        """Carry out a request of the page."""
        self.answer(self._post)

    def _get(self) -> None:
        path, query = self.split_path()
        name = path.removeprefix("/")
        try:
            if name.startswith(_START):
                self._let_in(name.removeprefix(_START))
                return
            self._check_browser()
        except _NotLetIn as refusal:
            if "text/html" not in self.headers.get("Accept", ""):
                raise refusal
            self.close_connection = True
            self.send(HTTPStatus.FORBIDDEN, _NOT_LET_IN.encode(), TYPES["html"])
            return
        if name == "events":
            self._stream(query)
        else:
            self.send_file(self.server.page, name)

    def _let_in(self, code: str) -> None:
        """Give the cookie for a code that was not used yet, and lead on to the page.

        The browser may come from a file, another site. It may come again, if it has the cookie.
        """
        self.check_host()
        server = self.server
        if server.take_code(code):
            server.on_entry(f"{server.root}{_START}{code}")
            cookie = f"{server.cookie}={server.secret}; Path=/; HttpOnly; SameSite=Strict"
            self.send(HTTPStatus.OK, _WELCOME.encode(), TYPES["html"], {"Set-Cookie": cookie})
        else:
            self._check_browser()
            self.send(HTTPStatus.OK, _WELCOME.encode(), TYPES["html"])

    def _check_browser(self) -> None:
        """Raise a `Refusal` of a request from another site, or without the cookie."""
        self.check_site()
        # The other cookies of this host may be in no form that the library's parser reads.
        pairs = [
            pair.strip().partition("=")
            for line in self.headers.get_all("Cookie", []) for pair in line.split(";")
        ]
        secret = self.server.secret.encode()
        if not any(
            name == self.server.cookie and hmac.compare_digest(value.encode(), secret)
            for name, _, value in pairs
        ):
            reason = "this browser has no access; open the last address that the terminal shows"
            raise _NotLetIn(HTTPStatus.FORBIDDEN, reason)

    def _post(self) -> None:
        name = self.split_path()[0].removeprefix("/")
        self._check_browser()
        body = self._body(LARGEST_TEXT if name in _WITH_TEXT else LARGEST_BODY)
        folder, _, action = name.partition("/")
        if folder != "api" or not action:
            raise Refusal(HTTPStatus.NOT_FOUND, "no such request")
        try:
            data = json.dumps(self._act(action, body)).encode()
        except InputError as error:
            raise Refusal(HTTPStatus.BAD_REQUEST, str(error)) from None
        except EngineError as error:
            raise Refusal(HTTPStatus.BAD_GATEWAY, str(error)) from None
        except Exception as error:  # Also of a kind that means elsewhere that a browser is gone.
            raise Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, unexpected(error)) from None
        self.send(HTTPStatus.OK, data)

    def _act(self, action: str, body: dict[str, Any]) -> dict[str, Any]:
        """Carry out an action on the board that the request names."""
        sessions = self.server.sessions
        session = sessions.get(body.get("session"))
        if action == "open":
            unfinished, warning = None, self.server.warning
            try:
                unfinished = None if session else last_unfinished(sessions.kept)
            except Exception as error:  # The board can be used without the games that are kept.
                warning = f"{warning} {unexpected(error)}".lstrip()
            session = session or sessions.open()
            return {
                "session": session.name, "about": about_view(sessions.choices),
                "unfinished": unfinished, "warning": warning,
            }
        if session is None:
            raise InputError("board", "this board is gone; reload the page")
        return act(session, action, body)

    def _body(self, most: int) -> dict[str, Any]:
        """The request's JSON object, of at most so many bytes."""
        if self.headers.get_content_type() != "application/json":
            raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "expected JSON")
        data = self.read_body(most)
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise Refusal(HTTPStatus.BAD_REQUEST, "expected a JSON object")
        return body

    def _stream(self, query: str) -> None:
        """Send news of a board until the browser or the board is gone."""
        try:
            names = parse_qs(query, max_num_fields=4).get("session", [])
        except ValueError:
            names = []
        session = self.server.sessions.get(names[0]) if names else None
        if session is None:
            # This status tells a browser not to reconnect.
            self.send(HTTPStatus.NO_CONTENT, b"", TYPES["html"])
            return
        self.close_connection = True
        feed = session.subscribe()
        try:
            self.server.begin_stream(self.connection)
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.send_header("Connection", "close")
            self.end_headers()
            while (kinds := feed.take(PING_SECONDS)) is not None:
                parts = [_event(session, kind, feed) for kind in sorted(kinds)]
                self.wfile.write("".join(parts or [": still here\n\n"]).encode())
        finally:
            session.unsubscribe(feed)


def _event(session: Session, kind: str, feed: Feed) -> str:
    """The latest news of a kind as the stream has it; empty after an error, itself news."""
    try:
        return f"event: {kind}\ndata: {json.dumps(news_view(session, kind, feed))}\n\n"
    except Exception as error:
        session.failed(error)
        return ""
