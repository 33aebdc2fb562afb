"""Self-play: games of the engine against itself, and samples of their positions."""

from __future__ import annotations

import random
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from math import exp
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from merels.engine.common.saving import write_whole
from merels.engine.core import core, trainer
from merels.engine.core.convert import (
    PROVEN,
    core_board,
    core_history,
    core_moves,
    core_rules,
    decode_move,
)
from merels.engine.game.position import Position
from merels.engine.game.rules import FLYING_MEN, MEN_PER_SIDE, Rules, make_rules
from merels.engine.training.samples import PER_LOGIT, SCORED_NODES, random_position

CHUNK = 500
"""Number of games in one task."""
MIN_CHUNKS = 2
"""Least number of tasks in a round."""
RULES: tuple[tuple[str, int], ...] = (("morris", 84), ("loc", 8), ("multi", 8))
"""Rule sets and their percentages of games, one rule set for each value of Flying."""

MAX_HASH_SAMPLES = 2000
"""Maximum number of samples of a game from positions of the hash table and their children."""

_HASH_MB = 1
_MAX_MOVES = 120
"""Number of moves after which a game is scored as a draw."""
_RULE_FIELDS = ["NoRemovalPlies=50"]
"""Fields that replace those of each rule set, so that drawn games end early."""


class Round(NamedTuple):
    """One round of self-play.

    games     number of games; whole tasks of `CHUNK` games are played, at least `MIN_CHUNKS`
    nodes     node limit of each search
    leaves    whether leaves of critical positions become samples, and the fit also uses the
              samples of all earlier rounds with leaves
    """

    games: int
    nodes: int
    leaves: bool = False


class _Chunk(NamedTuple):
    """A task: the games of one file of samples."""

    path: Path
    payload: bytes
    """The weights."""
    seed: int
    games: int
    nodes: int
    """Node limit of each search."""
    hash_samples: int
    """Maximum number of samples of a game from the hash table."""


class _Player:
    """A search with a node limit."""

    def __init__(self, rules: Rules, nodes: int) -> None:
        self.table = core.TranspositionTable(_HASH_MB)
        self.worker = core.SearchWorker(self.table)
        self.rules = core_rules(rules)
        self.nodes = nodes

    def search(self, position: Position) -> tuple[int, int]:
        """Return the core's score and move code for a position."""
        best = [0, 0]

        # The last iteration's line is the search's result.
        def record(depth: int, lines: list[tuple[int, int, list[int]]]) -> bool:
            best[:] = lines[0][0], lines[0][2][0]
            return False

        self.worker.run(
            self.rules, core_board(position), core_history(position), core_moves(position), record,
            node_limit=self.nodes,
        )
        return best[0], best[1]


def _random_counts(chance: random.Random) -> tuple[int, int]:
    """Return random numbers of men of both sides; one of them is often `FLYING_MEN`."""
    least = chance.choice((3, 4, 5, 6, 7))
    counts = [chance.randint(least, MEN_PER_SIDE), chance.randint(least, MEN_PER_SIDE)]
    if chance.random() < 0.35:
        counts[chance.randint(0, 1)] = FLYING_MEN
    return counts[0], counts[1]


def _first_position(player: _Player, rules: Rules, chance: random.Random) -> Position:
    """Return a game's first position: random, or reached by an opening of partly random moves."""
    if chance.random() < 0.35:
        return random_position(rules, *_random_counts(chance), chance)
    position = Position(rules=rules)
    for _ in range(chance.randint(1, 10)):
        if chance.random() < 0.5:
            position = position.play(decode_move(player.search(position)[1]))
        else:
            position = position.play(chance.choice(position.legal_moves()))
    return position


def _play_game(player: _Player, rules: Rules, chance: random.Random) -> Iterator[bytes]:
    """Play a game; yield the samples of its positions.

    The game ends early when a search has proved its result, and as a draw after `_MAX_MOVES`.
    """
    position = _first_position(player, rules, chance)
    searched: list[tuple[Position, int]] = []
    random_share = chance.choice((0.0, 0.03, 0.1))
    winner: int | None = None
    while position.number <= _MAX_MOVES:
        outcome = position.outcome()
        if outcome is not None:
            winner = outcome.winner
            break
        score, move = player.search(position)
        searched.append((position, score))
        if abs(score) >= PROVEN:
            winner = position.side if score > 0 else 1 - position.side
            break
        play_random = chance.random() < random_share
        position = position.play(
            chance.choice(position.legal_moves()) if play_random else decode_move(move)
        )
    for position, score in searched:
        result = 0.5 if winner is None else float(winner == position.side)
        if abs(score) >= PROVEN:
            expected = float(score > 0)
        else:
            # `exp` differs between machines in its last bits; a sample stores only 15 bits.
            expected = 1 / (1 + exp(-max(-4000, min(4000, score)) / PER_LOGIT))
        yield trainer.pack_sample(core_board(position), player.rules[0], expected, result)


def _play_chunk(chunk: _Chunk) -> Path:
    """Play games and write their samples to a file, unless it exists; return the file."""
    if chunk.path.exists():
        return chunk.path
    core.load_weights(chunk.payload)
    chance = random.Random(chunk.seed)
    players = [
        (rules, _Player(rules, chunk.nodes))
        for rules in (make_rules(name, _RULE_FIELDS) for name, _ in RULES)
    ]
    samples = bytearray()
    for _ in range(chunk.games):
        rules, player = chance.choices(players, [percentage for _, percentage in RULES])[0]
        player.table.clear()
        player.worker.clear()
        for sample in _play_game(player, rules, chance):
            samples += sample
        searched = trainer.hash_samples(
            player.table, player.rules, chunk.hash_samples, chance.getrandbits(64)
        )
        samples += trainer.score_samples(
            player.worker, player.rules, searched, SCORED_NODES, PER_LOGIT
        )
    write_whole(chunk.path, [samples])
    return chunk.path


def file_prefix(payload: bytes, *constants: object) -> str:
    """Return the prefix of names of files that are made with these weights and constants."""
    return f"{zlib.crc32(repr(constants).encode(), zlib.crc32(payload)):08x}"


def self_play(
    work: Path, payload: bytes, round_: Round, seed: int, processes: int
) -> list[bytes]:
    """Play a round; return its samples, one item for each `CHUNK` games, cached in ``work``."""
    prefix = file_prefix(
        payload, round_.nodes, seed, CHUNK, RULES, MAX_HASH_SAMPLES, _MAX_MOVES, _RULE_FIELDS,
        SCORED_NODES, PER_LOGIT,
    )
    tasks = [
        _Chunk(work / f"{prefix}-{number}.samples", payload, seed * 1_000_000 + number, CHUNK,
               round_.nodes, MAX_HASH_SAMPLES)
        for number in range(max(MIN_CHUNKS, round_.games // CHUNK))
    ]
    pieces = []
    started = time.monotonic()
    # Not by fork: a process with threads, such as the fit's, must not fork.
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for path in pool.map(_play_chunk, tasks):
            pieces.append(path.read_bytes())
            if len(pieces) % 20 == 0 or len(pieces) == len(tasks):
                seconds = time.monotonic() - started
                print(f"  {len(pieces) * CHUNK} games, {seconds:.0f} s", flush=True)
    return pieces
