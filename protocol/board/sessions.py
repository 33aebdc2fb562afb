"""The boards that are open, one for each browser tab."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from threading import Event, Lock, Thread
from time import monotonic

from merels.engine.common.errors import InputError
from merels.protocol.board.game_store import GameStore
from merels.protocol.board.session import Session
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.puzzles.training import Trainer

MOST_SESSIONS = 32
FORGET_SECONDS = 86_400.0
"""How long an unwatched board is kept."""
TICK_SECONDS = 0.1


class Sessions:
    """The boards by name; ``choices`` are the engines that their players can be.

    ``store`` keeps their games, if it is not None; ``trainer`` gives them puzzles.
    """

    def __init__(
        self, choices: Sequence[EngineSpec], store: GameStore | None, trainer: Trainer | None
    ) -> None:
        self.choices = choices
        self.store = store
        self.trainer = trainer
        self._sessions: dict[str, Session] = {}
        self._lock = Lock()
        self._over = Event()
        Thread(target=self._tick, name="ticks", daemon=True).start()

    def get(self, name: object) -> Session | None:
        """The board with that name, if it still exists."""
        with self._lock:
            return self._sessions.get(name) if isinstance(name, str) else None

    def open(self) -> Session:
        """A new board; if there are too many, it replaces the one unwatched for longest."""
        with self._lock:
            closing = None
            if len(self._sessions) >= MOST_SESSIONS:
                idle = [session for session in self._sessions.values() if not session.watched]
                if not idle:
                    raise InputError("board", f"{MOST_SESSIONS} boards are open; close one")
                closing = min(idle, key=lambda session: session.idle_since)
                del self._sessions[closing.name]
            session = Session(secrets.token_urlsafe(12), self.choices, self.store, self.trainer)
            self._sessions[session.name] = session
        if closing is not None:
            closing.close()
        return session

    def close(self) -> None:
        """Close every board and end its engines."""
        self._over.set()
        with self._lock:
            sessions = list(self._sessions.values())
            self._sessions.clear()
        threads = [Thread(target=session.close) for session in sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _tick(self) -> None:
        """Have boards check their clocks and engines, and close those long unwatched."""
        while not self._over.wait(TICK_SECONDS):
            with self._lock:
                sessions = list(self._sessions.values())
            for session in sessions:
                try:
                    session.tick()
                    if monotonic() - session.idle_since > FORGET_SECONDS:
                        with self._lock:
                            self._sessions.pop(session.name, None)
                        session.close()
                except Exception as error:  # The other boards' clocks go on.
                    session.failed(error)
