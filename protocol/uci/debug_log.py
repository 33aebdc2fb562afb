"""The log of both directions of the protocol, for whoever debugs a client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merels.engine.game.errors import InputError
from merels.protocol.uci.streams import refuse_pipe

if TYPE_CHECKING:
    import logging


class DebugLog:
    """A file that each line of the conversation is appended to, with the time it passed.

    ``failed`` says that it can no longer be written (a full disk), which must not cost the game.
    """

    def __init__(self, path: str) -> None:
        # Few runs ask for a log, and importing logging costs a tenth of the whole start-up.
        import logging

        refuse_pipe(path)
        try:
            handler = logging.FileHandler(path, encoding="utf-8", errors="replace")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(path, f"expected a file that can be written ({reason})") from None
        line = "%(asctime)s.%(msecs)03d %(message)s"
        handler.setFormatter(logging.Formatter(line, "%Y-%m-%d %H:%M:%S"))
        handler.handleError = self._give_up  # type: ignore[method-assign]
        self.failed = False
        self._handler = handler
        self._logger = logging.Logger("merels.protocol")
        self._logger.addHandler(handler)

    def received(self, line: str) -> None:
        """Logs a line from the client."""
        self._logger.info("> %s", line)

    def sent(self, line: str) -> None:
        """Logs a line to the client."""
        self._logger.info("< %s", line)

    def close(self) -> None:
        """Ends the log."""
        self._logger.removeHandler(self._handler)
        try:
            self._handler.close()
        except OSError:
            pass

    def _give_up(self, record: logging.LogRecord) -> None:
        self._logger.removeHandler(self._handler)
        self.failed = True
