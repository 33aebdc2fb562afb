"""The open boards, one for each browser tab."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from math import inf
from threading import Event, Lock, Thread
from time import monotonic

from merels.engine.common.errors import InputError
from merels.engine.common.messages import message
from merels.protocol.board.game_store import GameStore
from merels.protocol.board.reviewing import TABLE_CACHE
from merels.protocol.board.session import Session
from merels.protocol.board.table_build import TableBuild
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.puzzles.training import Trainer

MAX_SESSIONS = 32
"""Boards that can be open at a time."""
IDLE_SECONDS = 86_400.0
"""Seconds after which an idle board is closed."""
_RETRY_SECONDS = 1.0
"""Seconds from an unexpected error of `Session.tick` to its next call."""


class Sessions:
    """The open boards by name, and the thread that calls them when they are due. Thread-safe.

    ``choices`` are the engines that can play. Games are saved to ``store`` unless it is None.
    ``trainer`` selects and rates puzzles. The pages show the progress of ``table_build``.
    """

    def __init__(
        self, choices: Sequence[EngineSpec], store: GameStore | None, trainer: Trainer | None,
        table_build: TableBuild | None = None,
    ) -> None:
        self.choices = choices
        self._table_build = table_build
        TABLE_CACHE.on_built = self._announce_tables
        if table_build is not None:
            table_build.on_change = self._announce_tables
        self.store = store
        self.trainer = trainer
        self._sessions: dict[str, Session] = {}
        self._lock = Lock()
        self._closed = False
        self._wake = Event()
        """Set when a board may be due earlier than the thread expects."""
        Thread(target=self._keep_time, name="timer", daemon=True).start()

    def get(self, name: object) -> Session | None:
        """Return the board with a name, or None if there is none."""
        with self._lock:
            return self._sessions.get(name) if isinstance(name, str) else None

    def open(self) -> Session:
        """Return a new board; at the limit, close the board that was unwatched for longest.

        Raise `InputError` if the limit is reached and all boards are watched.
        """
        with self._lock:
            closing = None
            if len(self._sessions) >= MAX_SESSIONS:
                idle = [session for session in self._sessions.values() if not session.watched]
                if not idle:
                    fault = "{count} boards are open; close one of their tabs"
                    raise InputError("board", message(fault, count=MAX_SESSIONS))
                closing = min(idle, key=lambda session: session.idle_since)
                del self._sessions[closing.name]
            name = secrets.token_urlsafe(12)
            session = Session(name, self.choices, self.store, self.trainer, self._wake.set)
            session.table_build = self._table_build
            self._sessions[session.name] = session
        self._wake.set()
        if closing is not None:
            closing.close()
        return session

    def _announce_tables(self) -> None:
        for session in self._all():
            session.announce("state")

    def _all(self) -> list[Session]:
        with self._lock:
            return list(self._sessions.values())

    def close(self) -> None:
        """Close every board and end its engines."""
        self._closed = True
        self._wake.set()
        if self._table_build is not None:
            self._table_build.close()
        with self._lock:
            sessions = list(self._sessions.values())
            self._sessions.clear()
        threads = [Thread(target=session.close) for session in sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _keep_time(self) -> None:
        """Call `Session.tick` of all boards whenever one of them may be due."""
        while True:
            self._wake.clear()
            if self._closed:
                return
            due = min(map(self._tick, self._all()), default=inf)
            self._wake.wait(None if due == inf else max(0.0, due - monotonic()))

    def _tick(self, session: Session) -> float:
        """Return when a board is due again; close a board that was idle for `IDLE_SECONDS`."""
        try:
            end = session.idle_since + IDLE_SECONDS
            if monotonic() < end:
                return min(end, session.tick())
            with self._lock:
                self._sessions.pop(session.name, None)
            session.close()
        except Exception as error:  # An error of one board must not stop the others.
            session.report_error(error)
            return monotonic() + _RETRY_SECONDS
        return inf
