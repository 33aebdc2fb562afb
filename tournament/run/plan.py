"""From pairings to games: numbers, pairs, openings, colours and seeds, round after round."""

from __future__ import annotations

import hashlib
from collections.abc import Container
from functools import cached_property
from typing import NamedTuple

from merels.engine.common.numbers import counted
from merels.engine.game.rules import parse_rules
from merels.tournament.journal.journal import Journal
from merels.tournament.openings.reading import Openings
from merels.tournament.pairing import knockout
from merels.tournament.pairing.past import PastRounds
from merels.tournament.pairing.schedule import colours, is_in_part, pair_of, schedule_for
from merels.tournament.records.games import GameSpec, Pairing, PairingResult, PairTask
from merels.tournament.records.settings import Settings


class Progress(NamedTuple):
    """How far a run is: in words, as a share from 0 to 1, and how many games are left.

    The total in the words is the same from the first game to the last. ``left`` is None where the
    number of games depends on results; ``is_bound`` is True if they may be fewer.
    """

    text: str
    share: float
    left: int | None
    is_bound: bool = False


class Plan:
    """The games of a tournament, drawn up one round at a time.

    All of it follows from the settings and, in formats that pair by standing, from the results of
    the rounds before, which `score` takes. Settings that make no sense are an `InputError` at once.
    ``part`` (i, n): this run plays the i-th of every n game pairs. ``keep_info``: moves are
    recorded with the engines' last lines of ``info``. ``pause``: seconds between two games of a
    worker.
    """

    def __init__(
        self, settings: Settings, part: tuple[int, int] = (1, 1), keep_info: bool = False,
        pause: float = 0.0,
    ) -> None:
        self.settings = settings
        self.entrants = settings.engines
        """The engines, in the order of the settings, as they play in the round drawn up last."""
        self.waits = schedule_for(settings).waits
        self.games = schedule_for(settings).games(settings)
        """How many games there are at most."""
        self._part, self._keep_info, self._pause = part, keep_info, pause
        self.openings = Openings(settings.openings, parse_rules(settings.rules), settings.seed)
        self._round = 0
        self.results: list[list[PairingResult]] = []
        """Of the rounds that are over, where ``waits`` is set."""
        self._points: list[list[float]] = []
        self._pairings: list[Pairing] = []
        self._places: dict[int, tuple[int, bool]] = {}
        """By game number: the index of its pairing, and whether its first engine has White."""
        self._games = self._pairs = 0

    @cached_property
    def share(self) -> int:
        """How many games this run has at most."""
        games, (index, count) = self.settings.games, self._part
        if count == 1:
            return self.games
        a_match = (games + 1) // 2
        pairs = range(index, self.games // games * a_match + 1, count)
        # The last pair of an odd number of games is but one game.
        single = sum(pair % a_match == 0 for pair in pairs) if games % 2 else 0
        return 2 * len(pairs) - single

    def progress(self, done: int) -> Progress:
        """This run's progress with ``finished`` finished games."""
        if self.settings.format == "knockout":
            matches = len(self.settings.engines) - 1
            decided = knockout.decided(self.settings, self.so_far, self.is_open)
            share = decided / matches
            text = f"{counted(done, 'game')}, {decided} of {counted(matches, 'match')} decided"
            return Progress(text, share, None)
        is_bound, total = self.settings.sprt is not None, self.share
        text = f"{done} of {'at most ' if is_bound else ''}{counted(total, 'game')}"
        return Progress(text, done / (total or 1), total - done, is_bound)

    @property
    def is_open(self) -> bool:
        """Whether the last round of `so_far` is being played."""
        return bool(self._pairings)

    @property
    def so_far(self) -> list[list[PairingResult]]:
        """The results, where ``waits`` is set, with those of the round that is being played."""
        return [*self.results, self._current()] if self._pairings else self.results

    def _current(self) -> list[PairingResult]:
        """The results of the latest round so far."""
        return [
            PairingResult(pairing, (points[0], points[1]))
            for pairing, points in zip(self._pairings, self._points)
        ]

    def must_wait(self, open_games: int) -> bool:
        """Whether the next round depends on games that are not scored yet."""
        return self.waits and open_games > 0

    def can_pair_without(self, names: Container[str]) -> bool:
        """Whether games that are not drawn up yet may be without these engines."""
        free = [entrant.name not in names for entrant in self.entrants]
        if self.settings.format == "gauntlet":
            return any(free[: self.settings.seeds]) and any(free[self.settings.seeds :])
        return sum(free) > 1

    def is_ours(self, task: PairTask) -> bool:
        """Whether a task is in this run's part."""
        return is_in_part(task.games[0].pair, self._part)

    def has_left(self, journal: Journal) -> bool:
        """Whether a game of this run is not in its journal; reads no moves."""
        if "verdict" in journal.meta():
            return False
        if self.settings.format == "knockout":  # Its number of games depends on results.
            past = PastRounds(self.settings)
            for row in journal.results():
                past.add(row)
            matches = len(self.settings.engines) - 1
            return knockout.decided(self.settings, *past.results()) < matches
        numbers = journal.numbers()
        if self._part[1] > 1:
            numbers = [n for n in numbers if is_in_part(pair_of(self.settings, n), self._part)]
        return len(numbers) < self.share

    def next_round(self) -> list[PairTask]:
        """The tasks of the next round, for which nothing `must_wait`; empty when all is over."""
        schedule = schedule_for(self.settings)
        if self._pairings and self.waits:
            self.results.append(self._current())
        self._pairings = schedule.pair(self.settings, self._round, self.results)
        if not self._pairings:
            return []
        self._round += 1
        self._points = [[0.0, 0.0] for _ in self._pairings]
        self._places = {}
        return [
            task
            for index, pairing in enumerate(self._pairings)
            for task in self._tasks(self._round, index, pairing)
        ]

    def score(self, number: int, white_score: float | None) -> None:
        """Note a game's result; one broken off, or of no round of ours, gives no points."""
        if not self.waits or white_score is None or number not in self._places:
            return
        index, first_is_white = self._places[number]
        first = white_score if first_is_white else 1 - white_score
        self._points[index][0] += first
        self._points[index][1] += 1 - first

    def _tasks(self, round_number: int, index: int, pairing: Pairing) -> list[PairTask]:
        """The tasks of a pairing: its games, two by two."""
        settings = self.settings
        tasks = []
        for start in range(0, settings.games, 2):
            opening = self.openings[self._pairs]
            self._pairs += 1
            games = []
            for game in range(start, min(start + 2, settings.games)):
                self._games += 1
                white, black = colours(settings, pairing, game)
                self._places[self._games] = (index, white == pairing.first)
                games.append(GameSpec(
                    self._games, round_number, self._pairs,
                    self.entrants[white], self.entrants[black], opening,
                    settings.rules, settings.adjudication, derive_seed(settings.seed, self._games),
                    settings.replays, self._keep_info,
                ))
            tasks.append(PairTask(tuple(games), self._pause))
        return tasks


def derive_seed(seed: int, number: int) -> int:
    """A game's own seed, 31 bits, from the tournament's."""
    digest = hashlib.sha256(f"merels game {seed} {number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
