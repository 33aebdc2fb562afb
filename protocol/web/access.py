"""A server that admits browsers by a cookie.

The start address contains a token, and gives the cookie to a browser that opens it. The page's own
address contains no token, so sharing it admits no other browser.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection
from http import HTTPStatus

from merels.protocol.web.server import TYPES, LocalHandler, LocalServer, Page, Refusal

_START_FOLDER = "start/"
"""Folder in the path of the start address; the token follows."""
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
"""The answer to the token: a page, not an HTTP redirect.

A program may open the start address through a local HTML file. A browser that follows a redirect
from there does not send a cookie with SameSite=Strict."""


class GuardedServer(LocalServer):
    """A server for browsers that have opened its start address.

    Other browsers get the file ``denied.html`` of ``page``, and the files named in ``public``.
    """

    page: Page
    public: Collection[str] = ()

    def __init__(self, host: str, port: int, handler: type[GuardedHandler]) -> None:
        self.token = secrets.token_urlsafe(24)
        """The secret part of the start address, until the server ends."""
        self.secret = secrets.token_urlsafe(24)
        """The cookie's value."""
        self.cookie_seconds: int | None = None
        """Seconds for which browsers keep the cookie; None: until the browser is closed."""
        super().__init__(host, port, handler)

    @property
    def cookie(self) -> str:
        """The cookie's name. It contains the port, as browsers send a cookie to all ports."""
        return f"merels-{self.port}"

    @property
    def start_address(self) -> str:
        """The address that admits a browser."""
        return f"{self.root}{_START_FOLDER}{self.token}"


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
        if name.startswith(_START_FOLDER) and self._is_token(name.removeprefix(_START_FOLDER)):
            self._admit()
            return
        self.check_host()
        try:
            self._check_browser()
        except Refusal:
            if name in self.server.public:
                self.send_file(self.server.page, name)
                return
            if "text/html" not in self.headers.get("Accept", ""):
                raise
            self.close_connection = True
            kind, data = self.server.page["denied.html"]
            self.send(HTTPStatus.FORBIDDEN, data, kind)
            return
        self.get(name, query)

    def _post(self) -> None:
        name = self.split_path()[0].removeprefix("/")
        self._check_browser()
        self.post(name)

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self.server.token.encode())

    def _admit(self) -> None:
        """Send the cookie, and a page that redirects to the server's root.

        The page that opened the address may be a local file, so the origin is not checked.
        """
        self.check_host()
        server = self.server
        cookie = f"{server.cookie}={server.secret}; Path=/; HttpOnly; SameSite=Strict"
        if server.cookie_seconds is not None:
            cookie += f"; Max-Age={server.cookie_seconds}"
        self.send(HTTPStatus.OK, _WELCOME.encode(), TYPES["html"], {"Set-Cookie": cookie})

    def _check_browser(self) -> None:
        """Raise `Refusal` for a request from another site or without the cookie."""
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
            reason = "this browser has no access; open the address that the terminal shows"
            raise Refusal(HTTPStatus.FORBIDDEN, reason)
