"""Games as JSON for the scripts of pages, and an archive of many games."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from merels.engine.common.errors import InputError, printable
from merels.engine.game.notation import START
from merels.tournament.journal.import_games import PlayedGame
from merels.tournament.journal.rows import Row
from merels.tournament.records.games import MoveRecord
from merels.tournament.statistics.ratings import Ratings

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
LOT_SIZE = 100
"""Number of games in a lot: a page unpacks the moves of a lot together."""
_MILLION = 1_000_000


class GameArchive:
    """Archive of the first games of some files, for a page: players, results, reasons and moves.

    A game of 70 plies takes about 500 bytes of memory: moves are compressed when a lot is full.
    """

    def __init__(self, most: int) -> None:
        """Make an empty archive that keeps the first ``most`` games and only counts later ones."""
        self.offered = 0
        """Number of games added, kept or not."""
        self._most = most
        self._numbers: list[int] = []
        self._results: list[int] = []
        self._players: list[tuple[str, str]] = []
        self._openings: dict[tuple[str, str, str], int] = {}
        self._opening_of: list[int] = []
        self._reasons: dict[str, int] = {}
        self._reason_of: list[int] = []
        self._lots: list[str] = []
        self._lot: list[list[list[Any]] | None] = []

    def __len__(self) -> int:
        """Return the number of games kept."""
        return len(self._numbers)

    def add(self, game: PlayedGame, number: int) -> None:
        """Add a game; a game without a row (from a PGN file) cannot be replayed."""
        self.offered += 1
        if len(self) >= self._most:
            return
        row = game.row
        # A comment in PGN may mix the reason with a score, so the cause or termination is used.
        reason = printable(game.ending.reason if row is None else row.reason)
        self._numbers.append(number)
        self._results.append(result_index(game.result))
        self._players.append((game.white, game.black))
        self._reason_of.append(self._reasons.setdefault(reason, len(self._reasons)))
        opening = -1
        if row is not None:
            opening = self._openings.setdefault(opening_of(row), len(self._openings))
        self._opening_of.append(opening)
        self._lot.append(None if row is None else game_moves(row))
        if len(self._lot) == LOT_SIZE:
            self._pack()

    def _pack(self) -> None:
        if self._lot:
            self._lots.append(pack(self._lot))
            self._lot = []

    def json(self, ratings: Ratings, labels: Mapping[str, str]) -> str:
        """Return the archive as JSON for an HTML element; empty without games.

        ``labels``: names of the players, by key. Players, reasons and openings are indices.
        """
        if not self._numbers:
            return ""
        self._pack()
        players: dict[str, list[Any]] = {
            player.name: [printable(player.name), round(player.elo, 1), player.group]
            for player in ratings.players
        }
        for key in dict.fromkeys(key for pair in self._players for key in pair):
            players.setdefault(labels[key], [printable(labels[key]) or "?", None, -1])
        index_of = {name: index for index, name in enumerate(players)}
        white, black = (
            [index_of[labels[keys[side]]] for keys in self._players] for side in (0, 1)
        )
        return in_element(compact({
            "offered": self.offered, "players": list(players.values()),
            "reasons": list(self._reasons), "openings": list(self._openings),
            "n": self._numbers, "white": white, "black": black, "result": self._results,
            "reason": self._reason_of, "opening": self._opening_of, "lot": LOT_SIZE,
            "lots": self._lots,
        }))


def result_index(result: str) -> int:
    """Return the index in `RESULTS`; an unknown result counts as unfinished."""
    return RESULTS.index(result if result in RESULTS else "*")


def opening_of(row: Row) -> tuple[str, str, str]:
    """Return a game's opening: its name, or else its moves or position; its position; its moves."""
    position = "start" if row.position == START else row.position
    return printable(row.opening_name or row.opening or position), row.position, row.opening


def pack(data: Any) -> str:
    """Return the JSON of ``data``, compressed, as text for `unpack` of game.js."""
    return b64encode(zlib.compress(compact(data).encode())).decode()


def compact(data: Any) -> str:
    """Return the JSON of ``data`` without spaces."""
    return json.dumps(data, separators=(",", ":"))


def in_element(text: str) -> str:
    """Return JSON in which the characters that could end its HTML element are escaped."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def result_view(row: Row) -> dict[str, Any]:
    """Return a finished game's number, players, result and reason."""
    return {
        "n": row.number, "white": printable(row.white), "black": printable(row.black),
        "result": row.result, "reason": printable(row.reason),
    }


def replay_view(row: Row) -> dict[str, Any]:
    """Return a finished game with its moves, for `Game` of game.js."""
    return result_view(row) | {
        "position": row.position, "opening": row.opening.split(), "clocks": [None, None],
        "moves": game_moves(row),
    }


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
            move.depth, move.elapsed // _MILLION,
            None if move.clock is None else move.clock // _MILLION,
        ]
        for move in moves
    ]
