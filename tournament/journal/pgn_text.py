"""A PGN file of any runner, game by game, before its moves are read."""

from __future__ import annotations

from collections.abc import Iterator

from merels.engine.common.files import read_paragraphs
from merels.protocol.formats.pgn.tokens import GameText, split_games


def pgn_texts(path: str) -> Iterator[GameText]:
    """Yield the games of a PGN file, which may be larger than memory; - is standard input."""
    return split_games(read_paragraphs(path), path)
