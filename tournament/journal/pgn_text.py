"""A PGN file of any runner, game by game, before its moves are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from merels.engine.game.pgn.tokens import GameText, split_games
from merels.tournament.records.files import read_lines


def pgn_texts(path: str, lines: Iterable[str] | None = None) -> Iterator[GameText]:
    """Yield the games of a PGN file, which may be larger than memory; - is standard input.

    ``lines`` are those of the file, where it is being read already.
    """
    return split_games(read_lines(path) if lines is None else lines, path)
