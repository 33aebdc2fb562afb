"""The games of a league's site, in lots of `LOT_SIZE` game numbers.

A lot has a script and a PGN file of the same games. A page loads the script when it shows a game of
the lot; it is a script because a page that is opened from disk can load only scripts. The script's
first line has the figures of the games, from which the site makes all its statistics. The second
line holds the moves, compressed. Both files are written again only if one is missing or if the
script is out of date: in its format, in its games, or because this machine's tables cover more than
those that judged the games.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, replace
from functools import cached_property, reduce
from itertools import starmap
from typing import Any

from merels.engine.common.errors import InputError
from merels.engine.common.regular_file import open_regular_file
from merels.engine.game.position import Position
from merels.engine.game.rules import parse_rules
from merels.engine.tablebase.probe import Tables, default_root, open_tables
from merels.engine.tablebase.verdict import PHASES, judge
from merels.tournament.journal.rows import Row, record_of
from merels.tournament.league.league import League
from merels.tournament.records.settings import UNKNOWN_COMMAND
from merels.tournament.report import lots
from merels.tournament.report.lots import Column, Lot, compact, pack
from merels.tournament.statistics.accuracy import (
    Accuracy,
    Coverage,
    EngineAccuracy,
    MoveCounts,
)
from merels.tournament.views.output import Throttle
from merels.tournament.views.pgn import GameWriter

LOT_SIZE = 500
"""Game numbers per lot: the first lot holds games 1 to `LOT_SIZE`."""
VERSION = 2
"""Format of a lot."""
NOTICE_SECONDS = 10.0
LOTS_FOLDER = "games"
"""Folder of the lots in the site."""
FIGURES = (*(name for name in lots.FIGURES if name != "text"), "fault")
"""Columns of all games. ``fault`` is 1 if White lost by its own fault, 2 if Black did, else 0.

Only the pages need the texts of games' ends; they read them from the lots."""
UNJUDGED = Coverage(0, False)
"""Coverage without tables."""


class Games:
    """The games of the site in the order of their numbers, with a column for each figure.

    The columns ``white`` and ``black`` hold the values of ``players``; ``reason`` and ``opening``
    hold those of ``reasons`` and ``openings``.
    """

    def __init__(self) -> None:
        self.columns: dict[str, Column] = {name: [] for name in FIGURES}
        self.players: dict[str, int] = {}
        self.reasons: dict[str, int] = {}
        self.openings: dict[str, int] = {}
        self.oddities: list[tuple[int, list[int]]] = []
        """Index of a game, and its counts: junk lines and late answers of White, then of Black."""
        self.accuracy: dict[str, EngineAccuracy] = {}
        """Accuracy of players by tables, in the lots that were judged."""

    def __len__(self) -> int:
        return len(self.columns["n"])

    def add(self, head: dict[str, Any]) -> None:
        """Add the games of a lot from the data of its first line."""
        start = len(self)
        players = _index(self.players, head["names"])
        indices_of = {
            "white": players, "black": players, "reason": _index(self.reasons, head["reasons"]),
            "opening": _index(self.openings, (name for name, *_ in head["openings"])),
        }
        for name in FIGURES:
            values = head[name]
            indices = indices_of.get(name)
            self.columns[name] += values if indices is None else map(indices.__getitem__, values)
        self.oddities += [(start + int(index), counts) for index, counts in head["odd"].items()]
        for index, phases in head.get("accuracy", {}).items():
            counts = {phase: MoveCounts(*values) for phase, values in zip(PHASES, phases)}
            accuracy = self.accuracy.setdefault(head["names"][int(index)], EngineAccuracy())
            accuracy.merge(EngineAccuracy(counts))


def _index(indices: dict[str, int], names: Iterable[str]) -> list[int]:
    """Return the indices of names; new names are appended to ``indices``."""
    return [indices.setdefault(name, len(indices)) for name in names]


def update_lots(
    league: League, folder: str, put: Callable[[str, str], None], keep: Callable[[str], None],
    notice: Callable[[str], None],
) -> Games:
    """Write the lots that are missing or out of date; return all games.

    ``put`` writes a file of the site, ``keep`` marks an unchanged file as part of the site; both
    take names within ``folder``. ``notice`` prints the progress of a long run.
    """
    games, source = Games(), _Lots(league)
    throttle = Throttle(NOTICE_SECONDS)
    throttle.run(lambda: None)  # The first notice is due after `NOTICE_SECONDS`.
    for lot, numbers in source.numbers.items():
        throttle.run(lambda: notice(f"writing games: lot {lot} of {max(source.numbers)}"))
        script, pgn = f"{LOTS_FOLDER}/{lot}.js", f"{LOTS_FOLDER}/{lot}.pgn"
        head = _read_head(os.path.join(folder, script), source.league_id)
        if (
            head is None or head["n"] != numbers or source.judges_better(head)
            or not _is_regular(os.path.join(folder, pgn))
        ):
            rows = list(source.rows(lot))
            head, moves = source.lot(rows)
            # The script is written last, because it marks the lot as complete.
            put(pgn, "".join(map(source.writer.text, rows)))
            put(script, f"data(Object.assign({compact(head)},\n"
                        f'{{"moves":"{moves}"}}));\n')
        else:
            keep(script)
            keep(pgn)
        games.add(head)
    return games


def _is_regular(path: str) -> bool:
    """Return whether a file exists and is neither a symbolic link nor another special file."""
    return os.path.isfile(path) and not os.path.islink(path)


def _read_head(path: str, league_id: str) -> dict[str, Any] | None:
    """Return the data of a lot's first line; None if it is no lot of this league and format."""
    try:
        with open_regular_file(path) as file:
            line = file.readline().decode()
        head: dict[str, Any] = json.loads(line[line.index("{") : line.rindex("}") + 1])
        is_complete = all(len(head[name]) == len(head["n"]) for name in (*FIGURES, "text"))
        is_valid = (head["v"], head["league"]) == (VERSION, league_id)
        return head if is_complete and is_valid else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


class _Lots:
    """The lots of a league's journal."""

    def __init__(self, league: League) -> None:
        self._league = league
        listed = set(league.listed)
        self._rules = parse_rules(league.settings.rules)
        self.league_id = league.journal.meta()["id"]
        self.writer = _writer(league, self.league_id)
        numbers: dict[int, list[int]] = defaultdict(list)
        for number, white, black in league.journal.query(
            "SELECT number, white, black FROM games ORDER BY number"
        ):
            if white in listed and black in listed:
                numbers[(number - 1) // LOT_SIZE + 1].append(number)
        self.numbers = dict(numbers)
        """Number of each lot that is not empty, from 1 -> numbers of its games."""

    @cached_property
    def _tables(self) -> Tables | None:
        """Tables in the default folder, or None if there are none."""
        with suppress(InputError):  # Without a home folder, there is no default folder.
            tables = open_tables(default_root(), self._rules)
            if tables.men:
                return tables
        return None

    @property
    def _coverage(self) -> Coverage:
        tables = self._tables
        return UNJUDGED if tables is None else Coverage(tables.men, tables.complete)

    def judges_better(self, head: dict[str, Any]) -> bool:
        """Return whether the tables of this machine cover more than those that judged the lot."""
        men, whole = head.get("tables", UNJUDGED)
        if whole:
            return False
        coverage = self._coverage
        return (coverage.whole, coverage.men) > (whole, men)

    def rows(self, number: int) -> Iterator[Row]:
        """Yield the games of a lot."""
        numbers = set(self.numbers[number])
        for row in starmap(Row, self._league.journal.query(
            "SELECT * FROM games WHERE number BETWEEN ? AND ? ORDER BY number",
            LOT_SIZE * (number - 1) + 1, LOT_SIZE * number,
        )):
            if row.number in numbers:
                yield row

    def lot(self, rows: Sequence[Row]) -> tuple[dict[str, Any], str]:
        """Return the data of a lot's first line, and its moves."""
        lot, faults = Lot(), list[int]()
        odd: dict[int, list[int]] = {}
        for index, row in enumerate(rows):
            lot.add(row, self._rules)
            culprit = row.culprit
            faults.append((culprit == row.white) + 2 * (culprit == row.black))
            if row.oddities:
                odd[index] = [count for counts in row.both_oddities() for count in counts]
        return {
            "v": VERSION, "league": self.league_id, **lot.data(), "names": list(lot.players),
            "fault": faults, "odd": odd,
            "tables": self._coverage, "accuracy": self._accuracy(rows, lot.players),
        }, pack(lot.moves)

    def _accuracy(
        self, rows: Sequence[Row], players: Mapping[str, int]
    ) -> dict[int, list[tuple[int, ...]]]:
        """Return the counts of `MoveCounts` in each phase, by index of the player."""
        if self._tables is None:
            return {}
        accuracy = Accuracy()
        for row in rows:
            record = record_of(row, self._rules)
            try:
                reduce(Position.push, record.moves, record.start)
            except InputError:
                continue  # Another program may have written illegal moves to the journal.
            moves = judge(self._tables, record.start, record.moves, len(row.opening.split()))
            accuracy.add(row.white, row.black, moves)
        return {
            players[name]: [astuple(engine.phases[phase]) for phase in PHASES]
            for name, engine in accuracy.engines.items()
        }


def _writer(league: League, league_id: str) -> GameWriter:
    """Return a PGN writer that omits engine commands, which name folders of this machine."""
    engines = tuple(
        replace(entrant, engine=replace(entrant.engine, command=UNKNOWN_COMMAND))
        for entrant in league.settings.engines
    )
    settings = replace(league.settings, engines=engines)
    return GameWriter(settings, league_id)
