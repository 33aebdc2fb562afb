"""Scoreboard of a run: stores games as they end, counts and shows them in number order in views."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping

from merels.engine.common.errors import Failure, InputError
from merels.protocol.common.files import file_error
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.rows import Row
from merels.tournament.journal.standings import Standings
from merels.tournament.play.game import utc_now
from merels.tournament.records.games import GameSpec, PairTask
from merels.tournament.run.plan import Plan
from merels.tournament.run.tasks import Played
from merels.tournament.statistics.sprt import match_llr

READ_AHEAD = 1000
"""Stored games that are read at once."""


class View:
    """A view of a tournament; this base class shows nothing.

    The runner reports the end of a game twice. `game_ended` comes immediately. `finished_in_order`
    comes in the order of the game numbers, when the game is in the journal and the standings.
    """

    incomplete = False
    """Whether a file could not be written in full; the exit status of the run is then 1."""

    def attach(self, board: Scoreboard) -> None:
        """Take the scoreboard of the run, before any event."""

    def round_paired(self) -> None:
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

        The row has only its first moves, see `Journal.rows_without_moves`.
        """

    def notice(self, text: str) -> None:
        """Show a notice to the user."""

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        """Update the view; called several times a second while games are in progress.

        ``playing``: the games in progress by number, in the order in which they started.
        """

    def run_ended(self, end: str, why: str = "") -> None:
        """Handle the end of the run: ``end`` is a `runner.End` or ``failed``, ``why`` its cause."""

    def stay(self) -> None:
        """Stay in use after the last output of the run, until Ctrl-C; called after `close`."""

    def close(self) -> None:
        """Release files and threads; may be called again, but no other method afterwards."""


class Scoreboard:
    """Keeps the standings of a tournament, updates its views, and evaluates its SPRT."""

    def __init__(self, plan: Plan, journal: Journal, views: Iterable[View] = ()) -> None:
        self.settings = plan.settings
        self.plan = plan
        self.journal = journal
        self.views: list[View] = []
        self._failed_views: list[View] = []
        self.standings = Standings(tuple(engine.name for engine in plan.settings.engines))
        self.playing: dict[int, GameSpec] = {}
        """The games in progress by number, in the order in which they started."""
        self.verdict: str | None = journal.meta().get("verdict")
        """The hypothesis that the SPRT accepted, ``H0`` or ``H1``, or None."""
        self.llr = 0.0
        """Log-likelihood ratio of the SPRT after the counted games; 0 without an SPRT."""
        self.played = set(journal.numbers())
        """The numbers of the games in the journal."""
        self.waiting: dict[int, GameSpec] = {}
        """The announced games that have not started, by number."""
        self.uncounted: set[int] = set()
        """The numbers of the announced games that are not counted yet."""
        self._unshown = set(self.played) if plan.shows_stored else set[int]()
        """The numbers of the games in the journal that are not counted yet."""
        self._stored: dict[int, Row] = {}
        """Games read ahead from the journal, without moves, by number."""
        self._order = deque[int]()
        """The announced games in the order in which they are counted."""
        self._ended: dict[int, Row | None] = {}
        """The rows of announced games that are not counted; None for a game of an earlier run."""
        self._skipped: set[int] = set()
        """The games without which later ones are counted; they may still end."""
        self._pairs_in_llr = 0
        for view in views:
            self.add_view(view)

    def add_view(self, view: View, first: bool = False) -> None:
        """Add a view after all others, or before them if ``first``."""
        view.attach(self)
        self.views.insert(0 if first else len(self.views), view)

    @property
    def is_incomplete(self) -> bool:
        """Whether a file could not be written in full."""
        return any(view.incomplete for view in self.views)

    def check(self, task: PairTask) -> None:
        """Raise InputError if a stored game is of other engines than the game of the plan.

        Another version of merels may pair by other rules.
        """
        for spec in task.games:
            if spec.number not in self.played:
                continue
            names = spec.white.name, spec.black.name
            if (stored := self.journal.players(spec.number)) != names:
                raise file_error(
                    self.journal.path or "",
                    f"game {spec.number} of this journal is {' vs '.join(stored)}, where this "
                    f"version of merels pairs {' vs '.join(names)}; continue it with the version "
                    "that wrote it, or name another file",
                )

    def expect(self, spec: GameSpec) -> None:
        """Announce the next game of the plan, which may already be in the journal."""
        self.uncounted.add(spec.number)
        self._order.append(spec.number)
        if spec.number in self.played:
            self._ended[spec.number] = None
        else:
            self.waiting[spec.number] = spec

    def begin(self, number: int, time: str = "") -> None:
        """Show that a game started, unless the start of an earlier attempt was shown.

        ``time``: ISO 8601 in UTC, by default now.
        """
        spec = self.waiting.pop(number, None)
        if spec is not None:
            self.playing[number] = spec
            self._show(lambda view: view.game_started(spec, time or utc_now()))

    def skip(self, games: Collection[GameSpec]) -> None:
        """Show later games without waiting for these games; `show` counts them."""
        self.plan.skip(games)
        self._skipped.update(spec.number for spec in games)

    def show_moves(self, played: Played) -> None:
        """Show new moves of a game; ignore moves that arrive after its end."""
        if played.number in self.playing:
            self._show(lambda view: view.game_continued(played))

    def end(self, row: Row, time: str = "") -> None:
        """Append a game that ended at ``time``, by default now, to the journal.

        `show` counts it in the order of numbers.
        """
        self.journal.append(row)
        self.played.add(row.number)
        self._unshown.add(row.number)
        self._ended[row.number] = row
        if row.number in self._skipped:  # `show` may have passed this game.
            self._order.appendleft(row.number)
        self.begin(row.number, row.started)
        del self.playing[row.number]
        self._show(lambda view: view.game_ended(row, time or utc_now()))

    def show(self) -> None:
        """Count and show the games that no missing game precedes, until the SPRT is decided."""
        while self._order:
            number = self._order[0]
            if number not in self._ended and number not in self._skipped:
                break
            self._order.popleft()
            if number in self._ended:
                self._count(number)
                if self.verdict is None and self._decide():
                    break

    def show_rest(self) -> None:
        """Count and show all remaining games of the journal, because the run has ended."""
        self._order.clear()
        for number in sorted(self._unshown):
            self._count(number)

    def _count(self, number: int) -> None:
        """Add a game that has ended to the standings, and show it."""
        row = self._ended.pop(number, None)
        self._unshown.discard(number)
        self.uncounted.discard(number)
        game = self._read_result(number) if row is None else row
        self.standings.add(game)
        self.plan.score(number, game.white_score)
        self._update_llr()
        if row is None:
            self._show(lambda view: view.found_in_journal(game, self.standings))
        else:
            self._show(lambda view: view.finished_in_order(game, self.standings))

    def _read_result(self, number: int) -> Row:
        """Return a game of the journal without its moves, and read the games after it ahead."""
        if number not in self._stored:
            rows = self.journal.rows_without_moves(number, READ_AHEAD)
            self._stored = {row.number: row for row in rows}
        return self._stored.pop(number)

    def _update_llr(self) -> None:
        """Update the log-likelihood ratio of an SPRT; with ``by_pairs`` only after whole pairs."""
        sprt = self.settings.sprt
        if sprt is None:
            return
        counts = self.standings.counts(*self.standings.names)
        if self.settings.by_pairs:
            if counts.pairs == self._pairs_in_llr:
                return
            self._pairs_in_llr = counts.pairs
        self.llr = match_llr(sprt, counts, self.settings.by_pairs)

    def _decide(self) -> bool:
        """Store the verdict if the counted games decide the SPRT; return whether they do."""
        sprt = self.settings.sprt
        if sprt is None:
            return False
        self.verdict = sprt.verdict(self.llr)
        if self.verdict is not None:
            self.journal.set_meta({"verdict": self.verdict})
        return self.verdict is not None

    def round_paired(self) -> None:
        self._show(lambda view: view.round_paired())

    def tick(self) -> None:
        self._show(lambda view: view.tick(self.standings, self.playing))

    def run_ended(self, end: str, why: str = "") -> None:
        self._show(lambda view: view.run_ended(end, why))

    def notice(self, *texts: str) -> None:
        """Pass notices for the user to the views."""
        for text in texts:
            self._show(lambda view: view.notice(text))

    def _show(self, event: Callable[[View], None]) -> None:
        """Pass an event to the views, without a view that raised an unexpected error.

        Such an error does not end the run, whose games do not depend on views.
        """
        for view in self.views:
            if view in self._failed_views:
                continue
            try:
                event(view)
            except (Failure, InputError):
                raise
            except Exception as error:
                text = f"{type(view).__name__} failed and shows no more: {error!r}"
                with contextlib.suppress(Exception):
                    view.notice(text)
                view.incomplete = True
                self._failed_views.append(view)
                self.notice(text)
