"""The games of a run: journaled as they end, counted and shown in the order of their numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from merels.tournament.journal.journal import Journal
from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.run.plan import Plan
from merels.tournament.run.tasks import Played
from merels.tournament.run.view import View
from merels.tournament.statistics.sprt import match_llr

T = TypeVar("T")


class _InOrder(Generic[T]):
    """Holds numbered things back until those expected before them have come."""

    def __init__(self) -> None:
        self._expected: deque[int] = deque()
        self._waiting: dict[int, T] = {}
        self._skipped: set[int] = set()
        self._late: deque[int] = deque()
        """Numbers that were skipped, whose things have come."""

    def expect(self, number: int) -> None:
        """Announce the next number of the order."""
        self._expected.append(number)

    def skip(self, number: int) -> None:
        """Stop holding later numbers back for this one, which may still come."""
        if number not in self._waiting:
            self._skipped.add(number)

    def put(self, number: int, thing: T) -> None:
        """Take a thing, in whatever order."""
        self._waiting[number] = thing
        if number in self._skipped:
            self._late.append(number)

    def release(self) -> Iterator[tuple[int, T]]:
        """The things that nothing is missing before, each once."""
        while self._late or self._expected:
            number = self._late[0] if self._late else self._expected[0]
            if number in self._waiting:
                (self._late or self._expected).popleft()
                yield number, self._waiting.pop(number)
            elif number in self._skipped:
                self._expected.popleft()
            else:
                break

    def release_all(self) -> dict[int, T]:
        """Everything that is held back, by number, whatever is missing in between."""
        held, self._waiting = self._waiting, {}
        self._expected.clear()
        self._late.clear()
        return held


class Scoreboard:
    """Keeps the score of a tournament, tells its views, and decides its test."""

    def __init__(self, plan: Plan, journal: Journal, views: Iterable[View] = ()) -> None:
        self.settings = plan.settings
        self.plan = plan
        self.journal = journal
        self.views = list(views)
        self.standings = Standings(tuple(engine.name for engine in plan.settings.engines))
        self.playing: dict[int, GameSpec] = {}
        """The games in progress by number, the one that began first in front."""
        self.verdict: str | None = journal.meta().get("verdict")
        """The hypothesis that the settings' test accepted, H0 or H1."""
        self.llr = 0.0
        """The log-likelihood ratio of the test, if there is one, after the games counted."""
        self.played = set(journal.numbers())
        """The numbers of the games in the journal."""
        self.waiting: dict[int, GameSpec] = {}
        """The games that are expected and have not started."""
        self.open: set[int] = set()
        """The numbers of the games that are expected and not counted yet."""
        self._unshown = set(self.played)
        """The numbers of the games in the journal that are not counted yet."""
        self._starts = _InOrder[GameSpec]()
        self._ends = _InOrder[Row | None]()
        self._judged_pairs = 0

    def expect(self, spec: GameSpec) -> None:
        """Announce the next game of the plan, whether it is in the journal or yet to be played."""
        self.open.add(spec.number)
        self._ends.expect(spec.number)
        if spec.number in self.played:
            self._ends.put(spec.number, None)
        else:
            self.waiting[spec.number] = spec
            self._starts.expect(spec.number)

    def begin(self, number: int) -> None:
        """Show that a game started, unless it had started before with a worker that died."""
        spec = self.waiting.pop(number, None)
        if spec is not None:
            self.playing[number] = spec
            for view in self.views:
                view.game_began(spec)
            self._starts.put(number, spec)
            self._show_starts()

    def _show_starts(self) -> None:
        """Show the games that began, in their order."""
        for _, begun in self._starts.release():
            for view in self.views:
                view.started(begun)

    def skip(self, games: Iterable[GameSpec]) -> None:
        """Stop holding later games back for these, whose time is unknown."""
        for spec in games:
            self._starts.skip(spec.number)
            self._ends.skip(spec.number)
        self._show_starts()

    def go_on(self, played: Played) -> None:
        """Show moves of a game in progress, unless they come after its end."""
        if played.number in self.playing:
            for view in self.views:
                view.game_went_on(played)

    def end(self, row: Row) -> None:
        """Journal a finished game that is not in the journal; `show` counts it in its turn."""
        self.journal.append(row)
        self.played.add(row.number)
        self._unshown.add(row.number)
        self._ends.put(row.number, row)
        self.begin(row.number)
        del self.playing[row.number]
        for view in self.views:
            view.game_ended(row)

    def show(self) -> None:
        """Count and show the games whose turn it is, until a test is decided."""
        for number, row in self._ends.release():
            self._count(number, row)
            if self.verdict is None and self._decide():
                break

    def show_rest(self) -> None:
        """Count and show the games out of turn too: nothing more will come before them."""
        waiting = self._ends.release_all()
        for number in sorted(self._unshown):
            self._count(number, waiting.get(number))

    def _count(self, number: int, row: Row | None) -> None:
        """Add a game to the standings and show it; None: an earlier run played it."""
        self._unshown.discard(number)
        self.open.discard(number)
        game = self.journal.row(number) if row is None else row
        self.standings.add(game)
        self.plan.score(number, game.white_score)
        self._judge()
        for view in self.views:
            (view.found if row is None else view.finished)(game, self.standings)

    def _judge(self) -> None:
        """Compute the test's log-likelihood ratio; in a test of pairs, from complete pairs only."""
        sprt = self.settings.sprt
        if sprt is None:
            return
        counts = self.standings.counts(*self.standings.names)
        if self.settings.by_pairs:
            if counts.pairs == self._judged_pairs:
                return
            self._judged_pairs = counts.pairs
        self.llr = match_llr(sprt, counts, self.settings.by_pairs)

    def _decide(self) -> bool:
        """Whether the games counted have decided the test."""
        sprt = self.settings.sprt
        if sprt is None:
            return False
        self.verdict = sprt.verdict(self.llr)
        if self.verdict is not None:
            self.journal.set_meta({"verdict": self.verdict})
        return self.verdict is not None

    def paired(self) -> None:
        """Show that a round was drawn up."""
        for view in self.views:
            view.paired()

    def tick(self) -> None:
        """Tell the views that a moment has passed."""
        for view in self.views:
            view.tick(self.standings, self.playing)

    def over(self, end: str, why: str = "") -> None:
        """Tell the views how the run ended."""
        for view in self.views:
            view.over(end, why)

    def notice(self, text: str) -> None:
        """Tell the views what a person should know."""
        for view in self.views:
            view.notice(text)
