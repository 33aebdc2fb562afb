"""The log of unexpected errors, written to the terminal."""

from __future__ import annotations

import logging

from merels.engine.common.errors import printable


class _Printable(logging.Formatter):
    """Formats a log record with its traceback, and makes each line printable."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the printable lines of a log record."""
        return "\n".join(map(printable, super().format(record).splitlines()))


def log_to_terminal() -> None:
    """Write warnings and errors to standard error, unless the log is configured already."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Printable("merels: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
