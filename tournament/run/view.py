"""What the runner tells those who show a tournament."""

from __future__ import annotations

from collections.abc import Mapping

from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.run.tasks import Progress


class View:
    """Someone who shows a tournament; this one shows nothing.

    Games come in the order of their numbers, when they are in the journal and the standings.
    """

    def paired(self) -> None:
        """A round was drawn up, in a format that pairs by results; some of it is to be played."""

    def started(self, spec: GameSpec) -> None:
        """A game began."""

    def progress(self, progress: Progress) -> None:
        """Moves were played in a game in progress; only of interest to those who show them live."""

    def finished(self, row: Row, standings: Standings) -> None:
        """A game ended."""

    def found(self, row: Row, standings: Standings) -> None:
        """A game had been played by an earlier run."""

    def notice(self, text: str) -> None:
        """Something happened that a person should know."""

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        """A moment has passed: called several times a second while games are in progress.

        ``playing``: these games by their numbers, the one that began first in front.
        """

    def close(self) -> None:
        """The run is over."""
