"""The interface between the runner and the views of a tournament."""

from __future__ import annotations

from collections.abc import Mapping

from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.run.tasks import Played


class View:
    """A view of a tournament; this base class shows nothing.

    Starts and ends are reported twice: at once (`game_began`, `game_ended`), and in the order
    of the games' numbers (`started`, `finished`), when they are in the journal and the standings.
    """

    incomplete = False
    """Whether a file is incomplete; the run goes on, and its exit status is 1."""

    def paired(self) -> None:
        """A round was drawn up, in a format that pairs by results; some of it is to be played."""

    def game_began(self, spec: GameSpec) -> None:
        """A game began, in whatever order."""

    def game_went_on(self, played: Played) -> None:
        """Moves were played in a started game; reported only if a view needs them."""

    def game_ended(self, row: Row) -> None:
        """A game ended, in whatever order; it began before, if only in name."""

    def started(self, spec: GameSpec) -> None:
        """A game began."""

    def finished(self, row: Row, standings: Standings) -> None:
        """A game ended."""

    def found(self, row: Row, standings: Standings) -> None:
        """A game had been played by an earlier run."""

    def notice(self, text: str) -> None:
        """A notice for the user."""

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        """A moment has passed: called several times a second while games are in progress.

        ``playing``: these games by their numbers, the one that began first in front.
        """

    def over(self, end: str, why: str = "") -> None:
        """The run is over in the way of a `runner.End`, or else ``failed``; ``why``: the reason."""

    def close(self) -> None:
        """Nothing more comes."""
