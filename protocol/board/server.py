"""The board's web server: the page's files, its requests, and one event stream per page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from merels.engine.common.errors import InputError, printable
from merels.engine.common.messages import joined, with_templates
from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.actions.games import last_unfinished
from merels.protocol.board.game_store import GameStore
from merels.protocol.board.session import Session
from merels.protocol.board.sessions import Sessions
from merels.protocol.board.table_build import TableBuild
from merels.protocol.board.view import about_view, event_data
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.process.errors import EngineError
from merels.protocol.puzzles.training import Trainer
from merels.protocol.web.access import GuardedHandler, GuardedServer
from merels.protocol.web.server import TYPES, Refusal, read_page, unexpected

LARGEST_BODY = 1 << 20
"""Bytes of a request, at most."""
LARGEST_TEXT = 1 << 25
"""Bytes of a request with a file of games, at most."""
_GAMES_REQUESTS = ("api/load", "api/keep")


class BoardServer(GuardedServer):
    """Serves boards until `shutdown`, to the browsers that have opened its start address."""

    def __init__(
        self, host: str, port: int, choices: Sequence[EngineSpec], store: GameStore | None = None,
        trainer: Trainer | None = None, warning: str = "", table_build: TableBuild | None = None,
    ) -> None:
        """Listen on a port; 0 selects a free port.

        Every page shows ``warning``. The other arguments are those of `Sessions`.
        """
        self.warning = warning
        self.page = (
            read_page("merels.protocol.web", "page") | read_page("merels.protocol.board", "page")
        )
        languages = [name for name in self.page if name.startswith("languages/")]
        self.public = {"theme.css", "look.js", "denied.js", "text.js", *languages}
        self.sessions = Sessions(choices, store, trainer, table_build)
        super().__init__(host, port, Handler)

    def server_close(self) -> None:
        """Stop listening, and close every board with its engines."""
        super().server_close()
        self.sessions.close()
        if self.sessions.store is not None:
            self.sessions.store.disown()


class Handler(GuardedHandler):
    """Handles a connection of a browser that has the cookie."""

    server: BoardServer

    def get(self, name: str, query: str) -> None:
        """Send a file of the page, or a board's event stream."""
        if name == "events":
            self._stream(query)
        else:
            self.send_file(self.server.page, name)

    def post(self, name: str) -> None:
        """Answer a request of the page."""
        body = self._body(LARGEST_TEXT if name in _GAMES_REQUESTS else LARGEST_BODY)
        folder, _, action = name.partition("/")
        if folder != "api" or not action:
            raise Refusal(HTTPStatus.NOT_FOUND, "no such request")
        try:
            data = json.dumps(with_templates(self._act(action, body))).encode()
        except InputError as error:
            raise Refusal(HTTPStatus.BAD_REQUEST, _reason(error, body)) from None
        except EngineError as error:
            raise Refusal(HTTPStatus.BAD_GATEWAY, str(error)) from None
        except Exception as error:  # Including OSError, which elsewhere means a closed connection.
            raise Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, unexpected(error)) from None
        self.send(HTTPStatus.OK, data)

    def _act(self, action: str, body: dict[str, Any]) -> dict[str, Any]:
        """Open a board, or perform an action on the board that the request names."""
        sessions = self.server.sessions
        session = sessions.get(body.get("session"))
        if action == "open":
            unfinished, warning = None, self.server.warning
            try:
                unfinished = None if session else last_unfinished(sessions.store)
            except Exception as error:  # The board works without stored games.
                warning = joined(" ", (warning, unexpected(error)))
            session = session or sessions.open()
            return {
                "session": session.name, "about": about_view(sessions.choices),
                "unfinished": unfinished, "warning": warning,
            }
        if session is None:
            raise InputError("board", "this board is gone; reload the page")
        return act(session, action, body)

    def _body(self, most: int) -> dict[str, Any]:
        """Return the request's JSON object; refuse a body of more than ``most`` bytes."""
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
        """Send a board's events until the browser disconnects or the board is closed."""
        try:
            names = parse_qs(query, max_num_fields=4).get("session", [])
        except ValueError:
            names = []
        session = self.server.sessions.get(names[0]) if names else None
        if session is None:
            # After status 204 an EventSource does not reconnect.
            self.send(HTTPStatus.NO_CONTENT, b"", TYPES["html"])
            return
        feed = session.subscribe()

        def take(seconds: float) -> bytes | None:
            """Return the pending events as text, or None if the stream is closed."""
            kinds = feed.take(seconds)
            if kinds is None:
                return None
            with session.lock:  # The page gets moves and state of the same moment.
                return "".join(_event(session, kind) for kind in sorted(kinds)).encode()

        try:
            self.send_events(take)
        finally:
            session.unsubscribe(feed)


def _reason(error: InputError, body: dict[str, Any]) -> str:
    """Return an error's text; it quotes the invalid text only if the request contains it."""
    entered = {name: value for name, value in body.items() if name not in ("session", "key")}
    if error.token and any(error.token in text for text in _texts(entered)):
        return str(error)
    return printable(error.expected)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value of JSON; a field is its name and its value."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from (f"{name} {part}", f"{name}={part}", *_texts(part))
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    else:
        yield str(value)


def _event(session: Session, kind: str) -> str:
    """Return an event in the stream's format; on an error, report it on the page and return ''."""
    try:
        data = json.dumps(with_templates(event_data(session, kind)))
        return f"event: {kind}\ndata: {data}\n\n"
    except Exception as error:
        session.report_error(error)
        return ""
