"""Notices of commands that read games: skipped games, and draws that a record passes."""

from __future__ import annotations

import sys

from merels.engine.common.errors import InputError, printable
from merels.protocol.commands.exit_status import FAILED, OK, USAGE_ERROR
from merels.protocol.games.record import Record, drawn_notice


class Faults:
    """Faults in the files that a command reads, each reported in a line on standard error.

    ``read`` counts the games, positions and rule sets without a fault.
    """

    def __init__(self, command: str, strict: bool) -> None:
        """``strict``: the first fault ends the command."""
        self.read = 0
        self._command = command
        self._strict = strict
        self._skipped = False

    def skip(self, error: InputError) -> None:
        """Report that something is left out, or raise the error."""
        if self._strict:
            raise error
        self._skipped = True
        self.report(f"{error}; skipped")

    def notice(self, record: Record, place: str) -> None:
        """Report a draw by counting after which the moves of a record go on."""
        if text := drawn_notice(record):
            self.report(f"{place}: {text}")

    @property
    def status(self) -> int:
        """Exit status of the command."""
        if not self._skipped:
            return OK
        return FAILED if self.read else USAGE_ERROR

    def report(self, text: str) -> None:
        """Print a line on standard error, after all that was printed before."""
        sys.stdout.flush()
        print(f"merels {self._command}: {printable(text)}", file=sys.stderr)
