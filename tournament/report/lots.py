"""Games for pages, in lots: a column for each figure, and the moves."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from merels.engine.common.errors import InputError, printable
from merels.engine.game.notation import START
from merels.engine.game.rules import FLYING_MEN, Rules
from merels.engine.tablebase.verdict import PHASES
from merels.tournament.journal.rows import Row
from merels.tournament.records.games import MILLISECOND, MoveRecord
from merels.tournament.statistics.ratings import Ratings
from merels.tournament.statistics.terminations import Ending

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
UNKNOWN = -1
"""Index of the phase, opening and text of a game without a row."""
ARCHIVE_SIZE = 100
"""Games of a lot of a `GameArchive`: a page unpacks the moves of a lot together."""
FIGURES = ("n", "white", "black", "result", "reason", "phase", "plies", "opening", "text")
"""Columns of a lot: numbers of games and of plies, and indices in lists.

``reason`` is the kind of a game's end, ``text`` its description."""

Column = list[int]
JSON = dict[str, Any]


class Lot:
    """Games in columns; the lists of players, reasons, texts and openings grow with them."""

    def __init__(self) -> None:
        self.columns: dict[str, Column] = {name: [] for name in FIGURES}
        self.players: dict[str, int] = {}
        self.moves: list[list[list[Any]]] = []
        """The moves of each game, as in `moves_view`."""
        self._reasons: dict[str, int] = {}
        self._texts: dict[str, int] = {}
        self._openings: dict[tuple[str, str, str], int] = {}

    def __len__(self) -> int:
        return len(self.moves)

    def add(self, row: Row, rules: Rules) -> None:
        """Add a game of a journal."""
        self.add_game(row.number, row.result, row.ending, row, rules)

    def add_game(
        self, number: int, result: str, ending: Ending, row: Row | None, rules: Rules | None
    ) -> None:
        """Add a game by number, result and ending; without a row it cannot be replayed."""
        phase = opening = text = plies = UNKNOWN
        if row is not None:
            opening = _index(self._openings, opening_of(row))
            text = _index(self._texts, printable(row.reason))
            plies = len(row.opening.split()) + len(row.moves.split())
            if rules is not None:
                phase = PHASES.index(final_phase(row, rules))
        figures = (
            number, _index(self.players, ending.white), _index(self.players, ending.black),
            RESULTS.index(result if result in RESULTS else "*"),
            _index(self._reasons, printable(ending.reason)), phase, plies, opening, text,
        )
        for column, figure in zip(self.columns.values(), figures):
            column.append(figure)
        self.moves.append([] if row is None else game_moves(row))

    def data(self) -> JSON:
        """Return the games without their moves, for `gamesOf` of game.js."""
        return {
            "players": list(map(printable, self.players)), "reasons": list(self._reasons),
            "texts": list(self._texts), "openings": list(self._openings), **self.columns,
        }


class GameArchive:
    """The first games of some files, for a page.

    A game of 70 plies takes about 600 bytes of memory: moves are compressed when a lot is full.
    """

    def __init__(self, limit: int) -> None:
        """Make an empty archive that keeps the first ``limit`` games and only counts later ones."""
        self.offered = 0
        """Number of games added, kept or not."""
        self._limit = limit
        self._lot = Lot()
        self._packed: list[tuple[list[str], JSON]] = []
        """Keys of the players in each full lot, and its data."""

    def __len__(self) -> int:
        """Return the number of games kept."""
        return ARCHIVE_SIZE * len(self._packed) + len(self._lot)

    def add(
        self, number: int, result: str, ending: Ending, row: Row | None, rules: Rules | None
    ) -> None:
        """Add a game as in `Lot.add_game`; ``ending`` has the keys of the players."""
        self.offered += 1
        if len(self) < self._limit:
            self._lot.add_game(number, result, ending, row, rules)
            if len(self._lot) == ARCHIVE_SIZE:
                self._packed.append(_packed(self._lot))
                self._lot = Lot()

    def json(self, ratings: Ratings, labels: Mapping[str, str]) -> str:
        """Return the archive as JSON for an HTML element; empty without games.

        ``labels``: names of the players, by key.
        """
        if not len(self):
            return ""
        players: dict[str, tuple[str, float | None, int]] = {
            player.name: (printable(player.name), round(player.elo, 1), player.group)
            for player in ratings.players
        }
        lots = []
        for keys, data in (*self._packed, *([_packed(self._lot)] if len(self._lot) else [])):
            names = [labels[key] for key in keys]
            for name in names:
                players.setdefault(name, (printable(name) or "?", None, -1))
            lots.append(data | {"players": [players[name][0] for name in names]})
        return in_element(compact(
            {"count": self.offered, "players": list(players.values()), "lots": lots}
        ))


def _packed(lot: Lot) -> tuple[list[str], JSON]:
    return list(lot.players), lot.data() | {"moves": pack(lot.moves)}


def _index(indices: dict[Any, int], value: Any) -> int:
    """Return the index of a value; a new value is appended to ``indices``."""
    return indices.setdefault(value, len(indices))


def opening_of(row: Row) -> tuple[str, str, str]:
    """Return a game's opening: its name, or else its moves or position; its position; its moves."""
    position = "start" if row.position == START else row.position
    return printable(row.opening_name or row.opening or position), row.position, row.opening


def final_phase(row: Row, rules: Rules) -> str:
    """Return the phase of a game's last position.

    It is the flying phase if no man is in hand, flying is allowed and a side has at most three men.
    """
    board, side, white_hand, black_hand, *_ = row.position.split()
    men, held = [board.count("O"), board.count("@")], [int(white_hand), int(black_hand)]
    mover = int(side == "b")
    for move in (*row.opening.split(), *row.moves.split()):
        if "-" not in move:
            held[mover] -= 1
            men[mover] += 1
        mover = 1 - mover
        men[mover] -= move.count("x")
    if any(held):
        return PHASES[0]
    can_fly = rules.flying != "never" and min(men) <= FLYING_MEN
    return PHASES[2 if can_fly else 1]


def game_moves(row: Row) -> list[list[Any]]:
    """Return `moves_view` of a game's moves, without measurements if these are damaged."""
    try:
        return moves_view(row.played())
    except InputError:
        return [[word, None, None, None, None] for word in row.moves.split()]


def moves_view(moves: Sequence[MoveRecord]) -> list[list[Any]]:
    """Return each move's text, score, depth, time used and time left (both in milliseconds).

    A score is in hundredths of a man, ``#5`` or ``#-4`` (plies to a win or a loss), or None.
    """
    return [
        [
            move.move,
            move.score if move.win_in is None else f"#{move.win_in}",
            move.depth, move.elapsed // MILLISECOND,
            None if move.clock is None else move.clock // MILLISECOND,
        ]
        for move in moves
    ]


def pack(data: Any) -> str:
    """Return the JSON of ``data``, compressed, as text for `unpack` of game.js."""
    return b64encode(zlib.compress(compact(data).encode())).decode()


def compact(data: Any) -> str:
    """Return the JSON of ``data`` without spaces."""
    return json.dumps(data, separators=(",", ":"))


def in_element(text: str) -> str:
    """Return JSON in which the characters that could end its HTML element are escaped."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
