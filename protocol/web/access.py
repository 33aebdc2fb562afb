"""A server that admits browsers by a cookie.

A start address contains a code and gives the cookie to the first browser that opens it. The page's
own address contains no code, so sharing it admits no other browser.

A browser withholds the SameSite cookie from a request that follows a link on another site. Such a
request is refused with a page without data, whose script requests the board with the cookie.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from http import HTTPStatus

from merels.protocol.web.server import TYPES, LocalHandler, LocalServer, Refusal

_START_FOLDER = "start/"
"""Folder in the path of a start address; the code follows."""
LINK_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0;url={address}">
<title>merels</title>
<p><a href="{address}">Open the board</a></p>
</html>
"""
"""A page that redirects to ``address``."""
_WELCOME = LINK_PAGE.format(address="/")
"""The answer to a valid code: a page, not an HTTP redirect.

A program may open a start address through a local HTML file. A browser that follows a redirect from
there does not send a cookie with SameSite=Strict."""
_ACCESS_DENIED = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>merels: the board is not open here</title>
<h1>The board is not open in this browser</h1>
<p>Look at the terminal in which <code>merels board</code> runs, and open the last address that it
has printed. Each address works once, for one browser; then the terminal prints the next one. If
<code>merels board</code> no longer runs, start it again.</p>
<p>Your games are not lost: they are in <b>My games</b>.</p>
</html>
"""
_LINK_FOLLOWED = _ACCESS_DENIED.replace("<h1>", '<script src="/enter.js"></script>\n<h1>')
"""The answer to a followed link: a script, and instructions in case the script has no access."""


class GuardedServer(LocalServer):
    """A server for browsers that have opened a start address."""

    def __init__(self, host: str, port: int, handler: type[GuardedHandler]) -> None:
        self.on_entry: Callable[[str], None] = lambda address: None
        """Called with a start address when a browser uses it for the first time."""
        self.secret = secrets.token_urlsafe(24)
        """The cookie's value."""
        self.cookie_seconds: int | None = None
        """Seconds for which browsers keep the cookie; None: until the browser is closed."""
        self._codes: set[str] = set()
        """Codes of unused start addresses."""
        super().__init__(host, port, handler)

    @property
    def cookie(self) -> str:
        """The cookie's name. It contains the port, as browsers send a cookie to all ports."""
        return f"merels-{self.port}"

    def new_address(self) -> str:
        """Return a new start address, which admits one browser."""
        code = secrets.token_urlsafe(24)
        self._codes.add(code)
        return f"{self.root}{_START_FOLDER}{code}"

    def take_code(self, code: str) -> bool:
        """Invalidate a code; return whether it was valid."""
        try:
            self._codes.remove(code)
        except KeyError:
            return False
        return True


class _AccessDenied(Refusal):
    """Refusal of a request without the cookie."""

    page = _ACCESS_DENIED


class _LinkFollowed(_AccessDenied):
    """Refusal of a link from another site, which a user has followed."""

    page = _LINK_FOLLOWED


class GuardedHandler(LocalHandler):
    """A connection of a browser; subclasses answer the requests that have the cookie."""

    server: GuardedServer

    def get(self, name: str, query: str) -> None:
        """Answer a GET request for the path ``name``."""
        raise NotImplementedError

    def post(self, name: str) -> None:
        """Answer a POST request for the path ``name``."""
        raise NotImplementedError

    def do_GET(self) -> None:
        """Answer a start address, or a request that has the cookie."""
        self.answer(self._get)

    def do_POST(self) -> None:
        """Answer a request that has the cookie."""
        self.answer(self._post)

    def _get(self) -> None:
        path, query = self.split_path()
        name = path.removeprefix("/")
        try:
            if name.startswith(_START_FOLDER):
                self._admit(name.removeprefix(_START_FOLDER))
                return
            self._check_browser()
        except _AccessDenied as refusal:
            if "text/html" not in self.headers.get("Accept", ""):
                raise refusal
            self.close_connection = True
            self.send(HTTPStatus.FORBIDDEN, refusal.page.encode(), TYPES["html"])
            return
        self.get(name, query)

    def _post(self) -> None:
        name = self.split_path()[0].removeprefix("/")
        self._check_browser()
        self.post(name)

    def _admit(self, code: str) -> None:
        """Send the cookie for an unused code, and the page that redirects to the server's root.

        The page that opened the address may be a local file, so the origin is checked only if the
        code is not valid. Then the browser needs the cookie, for example on reloading.
        """
        self.check_host()
        server = self.server
        if server.take_code(code):
            server.on_entry(f"{server.root}{_START_FOLDER}{code}")
            cookie = f"{server.cookie}={server.secret}; Path=/; HttpOnly; SameSite=Strict"
            if server.cookie_seconds is not None:
                cookie += f"; Max-Age={server.cookie_seconds}"
            self.send(HTTPStatus.OK, _WELCOME.encode(), TYPES["html"], {"Set-Cookie": cookie})
        else:
            self._check_browser()
            self.send(HTTPStatus.OK, _WELCOME.encode(), TYPES["html"])

    def _check_link(self) -> None:
        """Raise `_LinkFollowed` if a user has followed a link from another site to the page."""
        followed = {
            "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Fetch-User": "?1",
        }
        is_link = all(self.headers.get(name) == value for name, value in followed.items())
        site = self.headers.get("Sec-Fetch-Site", "none")
        if self.path == "/" and is_link and site in ("cross-site", "same-site"):
            raise _LinkFollowed(HTTPStatus.FORBIDDEN, "requests from other sites are refused")

    def _check_browser(self) -> None:
        """Raise `Refusal` for a request from another site or without the cookie."""
        if self.command == "GET":
            self.check_host()
            self._check_link()
        self.check_site()
        # `http.cookies` may drop all cookies if another cookie of this host is malformed.
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
            raise _AccessDenied(HTTPStatus.FORBIDDEN, reason)
