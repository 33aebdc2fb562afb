"""Schedule of a tournament: game numbers, pairs, openings, colours and seeds, round by round."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Container, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from merels.engine.common.numbers import counted
from merels.engine.game.rules import parse_rules
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.rows import Row
from merels.tournament.openings.reading import Openings
from merels.tournament.pairing import knockout
from merels.tournament.pairing.past import PastRounds
from merels.tournament.pairing.schedule import colours, is_in_part, pair_of, schedule_for
from merels.tournament.records.games import GameSpec, Pairing, PairingResult, PairTask
from merels.tournament.records.settings import Settings


class Progress(NamedTuple):
    """Progress of a run."""

    text: str
    """For example ``5 of 10 games``; the total does not change during a run."""
    share: float
    """Share of the run that is done, from 0 to 1."""
    left: int | None
    """Number of games left; None if it depends on results."""
    is_bound: bool = False
    """Whether ``left`` is an upper bound."""


class Plan:
    """The games of a tournament, paired one round at a time.

    The games depend only on the settings and, in formats that pair by results, on the results
    passed to `score`. The constructor raises `InputError` for invalid settings.
    ``part`` (i, n): this run plays the i-th of every n game pairs. ``keep_info``: record each move
    with the engine's last ``info`` line. ``pause``: seconds between two games of a worker.
    ``openings``: those of the settings, if they are already loaded.
    """

    shows_stored = True
    """Whether the games of earlier runs count in the standings of this one."""

    def __init__(
        self, settings: Settings, part: tuple[int, int] = (1, 1), keep_info: bool = False,
        pause: float = 0.0, openings: Openings | None = None,
    ) -> None:
        self.settings = settings
        self.entrants = settings.engines
        """The engines that play, in the order of the settings."""
        self.waits = schedule_for(settings).waits
        """Whether a round is paired by the results of the rounds before it."""
        self.games = schedule_for(settings).games(settings)
        """Maximum number of games of the tournament."""
        self._part, self._keep_info, self._pause = part, keep_info, pause
        self.openings = openings or Openings(
            settings.openings, parse_rules(settings.rules), settings.seed
        )
        self._round = 0
        self.results: list[list[PairingResult]] = []
        """Results of each finished round; empty unless the format pairs by results (``waits``)."""
        self._points: list[list[float]] = []
        self._pairings: list[Pairing] = []
        """Pairings of the current round, if the format pairs by results."""
        self._left: Iterator[Pairing] = iter(())
        """Pairings of the current round without tasks so far."""
        self._tasks = deque[PairTask]()
        """Pairs of the current round that `next` has not returned."""
        self._unscored: set[int] = set()
        """Games of the current round without a score, if the format pairs by results."""
        self._places: dict[int, tuple[int, bool]] = {}
        """Game number -> (index of its pairing, whether the pairing's first engine has White)."""
        self._games = self._pairs = 0
        self._opening = self._next_opening = 0
        """Index of the first opening of the current and of the next round, if they are shared."""

    @cached_property
    def own_games(self) -> int:
        """Maximum number of games of this run's part of the tournament."""
        games, (index, count) = self.settings.games, self._part
        if count == 1:
            return self.games
        pairs_per_pairing = (games + 1) // 2
        pairs = range(index, self.games // games * pairs_per_pairing + 1, count)
        # With an odd number of games, the last pair of a pairing has only one game.
        single = sum(pair % pairs_per_pairing == 0 for pair in pairs) if games % 2 else 0
        return 2 * len(pairs) - single

    def progress(self, done: int) -> Progress:
        """Return this run's progress after ``done`` finished games."""
        if self.settings.format == "knockout":
            matches = len(self.settings.engines) - 1
            decided = knockout.decided(self.settings, self.so_far, self.is_open)
            share = decided / matches
            text = f"{counted(done, 'game')}, {decided} of {counted(matches, 'match')} decided"
            return Progress(text, share, None)
        is_bound, total = self.settings.sprt is not None, self.own_games
        text = f"{done} of {'at most ' if is_bound else ''}{counted(total, 'game')}"
        return Progress(text, done / (total or 1), total - done, is_bound)

    @property
    def is_open(self) -> bool:
        """Whether the last round of `so_far` is in progress."""
        return bool(self._pairings)

    @property
    def so_far(self) -> list[list[PairingResult]]:
        """The results of the finished rounds and of the round in progress."""
        return [*self.results, self._current()] if self._pairings else self.results

    def _current(self) -> list[PairingResult]:
        """Return the results of the round in progress."""
        return [
            PairingResult(pairing, (points[0], points[1]))
            for pairing, points in zip(self._pairings, self._points)
        ]

    @property
    def is_time_up(self) -> bool:
        """Whether no further pair of games may start."""
        return False

    @property
    def _is_waiting(self) -> bool:
        """Whether the next pairs depend on games without a score."""
        return bool(self._unscored)

    def _can_pair_without(self, names: Container[str]) -> bool:
        """Return whether future rounds may contain games without the engines ``names``."""
        free = [entrant.name not in names for entrant in self.entrants]
        if self.settings.format == "gauntlet":
            return any(free[: self.settings.seeds]) and any(free[self.settings.seeds :])
        return sum(free) > 1

    def has_left(self, journal: Journal) -> bool:
        """Return whether games of this run are missing from its journal; read no moves."""
        if "verdict" in journal.meta():
            return False
        if self.settings.format == "knockout":  # Its number of games depends on results.
            past = PastRounds(self.settings)
            for row in journal.rows_without_moves():
                past.add(row)
            matches = len(self.settings.engines) - 1
            return knockout.decided(self.settings, *past.results()) < matches
        numbers = journal.numbers()
        if self._part[1] > 1:
            numbers = [n for n in numbers if is_in_part(pair_of(self.settings, n), self._part)]
        return len(numbers) < self.own_games

    def next(self, excluding: AbstractSet[str] = frozenset()) -> PairTask | None:
        """Return the next pair of this run's part, which an earlier run may have played, or None.

        None means that the tournament is over, that the next pair depends on results that `score`
        has not received, or that no pair can be played without the engines ``excluding``. The plan
        of a league chooses no pair of these engines; other plans keep the order of their pairs, so
        the caller must wait with pairs of these engines.
        """
        if excluding and not self._can_pair_without(excluding):
            return None
        while True:
            while self._tasks:
                task = self._tasks.popleft()
                if is_in_part(task.pair, self._part):
                    return task
            if self._is_waiting:
                return None
            self._tasks.extend(self._next_tasks())
            if not self._tasks:
                return None

    def _next_tasks(self) -> list[PairTask]:
        """Return the tasks of the next round, or [] after the last.

        Unless the format pairs by results, return only the tasks of the next pairing: a round of
        1,000 engines has half a million pairings.
        """
        per_pairing = (self.settings.games + 1) // 2
        pairings = list(islice(self._left, 1))
        if not pairings:
            schedule = schedule_for(self.settings)
            if self._pairings:
                self.results.append(self._current())
            self._left = iter(schedule.pair(self.settings, self._round, self.results))
            pairings = list(self._left if self.waits else islice(self._left, 1))
            self._pairings = pairings if self.waits else []
            if not pairings:
                return []
            self._opening = self._next_opening
            self._round += 1
            self._points = [[0.0, 0.0] for _ in self._pairings]
            self._places = {}
        tasks, encounters = [], Counter[frozenset[int]]()
        for index, pairing in enumerate(pairings):
            # A knockout plays a pairing several times in a round, each time with other openings.
            opening = self._opening + per_pairing * encounters[frozenset(pairing)]
            encounters[frozenset(pairing)] += 1
            tasks += self._tasks_of(self._round, index, pairing, opening)
        self._next_opening = self._opening + per_pairing * max(encounters.values())
        return tasks

    def objections(self, row: Row) -> Mapping[str, str]:
        """Return why a finished game does not count: name of an engine -> its fault.

        Such an engine plays no more games in this run.
        """
        return {}

    def skip(self, games: Iterable[GameSpec]) -> None:
        """Expect no results of these games for now, because the runner gave them up."""

    def score(self, number: int, white_score: float | None) -> None:
        """Add a game's result to its pairing.

        An unfinished game (``white_score`` None) and a game of another round give no points.
        """
        self._unscored.discard(number)
        if white_score is None or number not in self._places:
            return
        index, first_is_white = self._places[number]
        first = white_score if first_is_white else 1 - white_score
        self._points[index][0] += first
        self._points[index][1] += 1 - first

    def _tasks_of(
        self, round_number: int, index: int, pairing: Pairing, first_opening: int
    ) -> list[PairTask]:
        """Return the tasks of a pairing, of two games each; of an odd number, the last has one.

        ``first_opening``: index of the pairing's first opening, unless its openings are its own.
        """
        settings, is_shared = self.settings, self.settings.openings.policy == "round"
        tasks = []
        for start in range(0, settings.games, 2):
            opening = self.openings[first_opening + start // 2 if is_shared else self._pairs]
            self._pairs += 1
            games = []
            for game in range(start, min(start + 2, settings.games)):
                self._games += 1
                white, black = colours(settings, pairing, game)
                if self.waits:
                    self._places[self._games] = (index, white == pairing.first)
                    self._unscored.add(self._games)
                games.append(GameSpec(
                    self._games, round_number, self._pairs,
                    self.entrants[white], self.entrants[black], opening,
                    settings.rules, settings.adjudication, derive_seed(settings.seed, self._games),
                    self._keep_info,
                ))
            tasks.append(PairTask(tuple(games), self._pause))
        return tasks


def derive_seed(seed: int, number: int) -> int:
    """Return the 31-bit seed of game ``number`` of a tournament with ``seed``."""
    digest = hashlib.sha256(f"merels game {seed} {number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
