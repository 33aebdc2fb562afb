"""Those who show a tournament while it runs."""

from __future__ import annotations

from merels.tournament.spec import GameSpec
from merels.tournament.standings import Standings
from merels.tournament.store import Row


class View:
    """Someone who shows a tournament; this one shows nothing.

    Games come in the order of their numbers, when they are in the journal and the standings.
    """

    def started(self, spec: GameSpec) -> None:
        """A game began."""

    def finished(self, row: Row, standings: Standings) -> None:
        """A game ended."""

    def found(self, row: Row, standings: Standings) -> None:
        """A game had been played by an earlier run."""

    def notice(self, text: str) -> None:
        """Something happened that a person should know."""

    def tick(self, standings: Standings) -> None:
        """A moment has passed: called often, several times a second at least."""

    def close(self) -> None:
        """The run is over."""
