"""The log of unexpected errors, as a terminal gets it."""

from __future__ import annotations

import logging

from merels.engine.common.errors import printable


class _Printable(logging.Formatter):
    """Writes a record with its traceback; no text in it moves the cursor."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        return "\n".join(map(printable, super().format(record).splitlines()))


def log_to_terminal() -> None:
    """Write the log to standard error, unless the program has set up its log already."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Printable("merels: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
