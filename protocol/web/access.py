"""A server for browsers that have its cookie, which an address gives to one browser, once.

Neither the page's own address nor a link to it lets another browser in.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from http import HTTPStatus

from merels.protocol.web.server import TYPES, LocalHandler, LocalServer, Refusal

_START = "start/"
"""The path of the addresses that let a browser in; a code follows."""
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


class GuardedServer(LocalServer):
    """Serves the browsers that have opened a `new_address`."""

    def __init__(self, host: str, port: int, handler: type[GuardedHandler]) -> None:
        self.on_entry: Callable[[str], None] = lambda address: None
        """Called with the address that has just let a browser in."""
        self.secret = secrets.token_urlsafe(24)
        """The cookie's value."""
        self._codes: set[str] = set()
        super().__init__(host, port, handler)

    @property
    def cookie(self) -> str:
        """The cookie's name: a browser sends it to any port, so each server needs its own."""
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


class _NotLetIn(Refusal):
    """A request without the cookie."""


class GuardedHandler(LocalHandler):
    """One connection of a browser; subclasses answer the requests that have the cookie."""

    server: GuardedServer

    def get(self, name: str, query: str) -> None:
        """Answer a GET request for the path ``name``."""
        raise NotImplementedError

    def post(self, name: str) -> None:
        """Answer a POST request for the path ``name``."""
        raise NotImplementedError

    def do_GET(self) -> None:
        """Let a browser in, or answer one that has the cookie."""
        self.answer(self._get)

    def do_POST(self) -> None:
        """Answer a browser that has the cookie."""
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
        self.get(name, query)

    def _post(self) -> None:
        name = self.split_path()[0].removeprefix("/")
        self._check_browser()
        self.post(name)

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
