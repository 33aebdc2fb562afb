"""The interface between the runner and the views of a tournament."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.run.tasks import Played

if TYPE_CHECKING:
    from merels.tournament.run.scoreboard import Scoreboard


class View:
    """A view of a tournament; this base class shows nothing.

    The runner reports the end of a game twice. `game_ended` comes immediately. `finished_in_order`
    comes in the order of the game numbers, when the game is in the journal and the standings.
    """

    incomplete = False
    """Whether a file could not be written in full; the exit status of the run is then 1."""

    def attach(self, board: Scoreboard) -> None:
        """Take the scoreboard of the run, before any event."""

    def paired(self) -> None:
        """Handle a new round with unplayed games, in a format that pairs by results."""

    def game_started(self, spec: GameSpec, time: str) -> None:
        """Handle the start of a game, immediately; ``time``: ISO 8601 in UTC."""

    def game_continued(self, played: Played) -> None:
        """Handle new moves of a game in progress; called only if a view needs them."""

    def game_ended(self, row: Row, time: str) -> None:
        """Handle the end of a game, immediately; `game_started` was always called before."""

    def finished_in_order(self, row: Row, standings: Standings) -> None:
        """Handle the end of a game, in the order of game numbers."""

    def found_in_journal(self, row: Row, standings: Standings) -> None:
        """Handle a game that an earlier run played, in the order of numbers.

        The row is without its moves, see `Journal.results`.
        """

    def notice(self, text: str) -> None:
        """Show a notice to the user."""

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        """Update the view; called several times a second while games are in progress.

        ``playing``: the games in progress by number, in the order in which they started.
        """

    def over(self, end: str, why: str = "") -> None:
        """Handle the end of the run: ``end`` is a `runner.End` or ``failed``, ``why`` its cause."""

    def close(self) -> None:
        """Release files and threads; may be called again, but no other method afterwards."""
