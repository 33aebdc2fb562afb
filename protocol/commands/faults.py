"""Warnings and the exit status of commands that read games."""

from __future__ import annotations

from merels.engine.common.errors import InputError
from merels.protocol.commands.exit_status import FAILED, OK, USAGE_ERROR
from merels.protocol.common.notices import notify
from merels.protocol.games.record import Record, notices_of


class Faults:
    """Faults in a command's input files, and the exit status that follows from them."""

    def __init__(self, strict: bool) -> None:
        """With ``strict`` the first fault ends the command."""
        self.read = 0
        """Number of games, positions and rule sets read without a fault, counted by the caller."""
        self._strict = strict
        self._skipped = False

    def skip(self, error: InputError) -> None:
        """Report ``error`` and that its game or position is skipped; with ``strict`` raise it."""
        if self._strict:
            raise error
        self._skipped = True
        notify(f"{error}; skipped")

    def notice(self, record: Record, place: str) -> None:
        """Report the notices of a record; ``place`` names its file and game."""
        for text in notices_of(record):
            notify(f"{place}: {text}")

    @property
    def status(self) -> int:
        """The exit status: `USAGE_ERROR` if everything was skipped, `FAILED` if a part was."""
        if not self._skipped:
            return OK
        return FAILED if self.read else USAGE_ERROR
