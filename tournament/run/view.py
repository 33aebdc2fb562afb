"""The interface between the runner and the views of a tournament."""

from __future__ import annotations

from collections.abc import Mapping

from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.run.tasks import Played


class View:
    """A view of a tournament; this base class shows nothing.

    The runner reports the start and the end of a game twice. `game_started` and `game_ended` come
    immediately. `started_in_order` and `finished_in_order` come in the order of the game numbers,
    the latter only when the game is in the journal and the standings.
    """

    incomplete = False
    """Whether a file could not be written in full; the exit status of the run is then 1."""

    def paired(self) -> None:
        """Handle a new round with unplayed games, in a format that pairs by results."""

    def game_started(self, spec: GameSpec) -> None:
        """Handle the start of a game, immediately."""

    def game_continued(self, played: Played) -> None:
        """Handle new moves of a game in progress; called only if a view needs them."""

    def game_ended(self, row: Row) -> None:
        """Handle the end of a game, immediately; `game_started` was always called before."""

    def started_in_order(self, spec: GameSpec) -> None:
        """Handle the start of a game, in the order of game numbers."""

    def finished_in_order(self, row: Row, standings: Standings) -> None:
        """Handle the end of a game, in the order of game numbers."""

    def found_in_journal(self, row: Row, standings: Standings) -> None:
        """Handle a game that an earlier run played, in the order of game numbers."""

    def notice(self, text: str) -> None:
        """Show a notice to the user."""

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        """Update the view; called several times a second while games are in progress.

        ``playing``: the games in progress by number, in the order in which they started.
        """

    def over(self, end: str, why: str = "") -> None:
        """Handle the end of the run: ``end`` is a `runner.End` or ``failed``, ``why`` its cause."""

    def close(self) -> None:
        """Release files and threads; no other method is called afterwards."""
