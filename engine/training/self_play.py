"""Games of the engine against itself, and the samples of what was played and searched."""

from __future__ import annotations

import random
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from math import exp
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
from merels.engine.training.samples import PER_LOGIT, SCORED_NODES, Sample, random_position

CHUNK = 500
"""Games that one task plays."""
MIN_CHUNKS = 2
"""Of a round: one to learn from and one to hold out."""
RULES: tuple[tuple[str, int], ...] = (("morris", 84), ("loc", 8), ("multi", 8))
"""Rule sets that are played and their parts in a hundred games: each way of flying."""

MET = 2000
"""Positions that the searches of a game met, at most, or that are one ply beyond them."""

_HASH_MB = 1
_MAX_MOVES = 120
"""Moves after which a game is a draw."""
_LIMIT = ["NoRemovalPlies=50"]


class Round(NamedTuple):
    """One round of self-play.

    games     its number of games
    nodes     of each search
    leaves    whether its critical positions give leaves, and fitting sees the samples of all
              such rounds so far
    """

    games: int
    nodes: int
    leaves: bool = False


class _Player:
    """Searches to a number of nodes, for one thread of self-play."""

    def __init__(self, rules: Rules, nodes: int) -> None:
        self.table = core.TranspositionTable(_HASH_MB)
        self.worker = core.SearchWorker(self.table)
        self.worker.clear()
        self.rules = core_rules(rules)
        self.nodes = nodes

    def think(self, position: Position) -> tuple[int, int]:
        """The score and the move for a position."""
        found = [0, 0]

        def note(depth: int, lines: list[tuple[int, int, list[int]]]) -> bool:
            found[:] = lines[0][0], lines[0][2][0]
            return False

        self.worker.run(
            self.rules, core_board(position), core_history(position), core_moves(position), note,
            node_limit=self.nodes,
        )
        return found[0], found[1]


def _random_counts(chance: random.Random) -> tuple[int, int]:
    """Men of both sides; three men and nearly as few are more likely than others."""
    least = chance.choice((3, 4, 5, 6, 7))
    counts = [chance.randint(least, MEN_PER_SIDE), chance.randint(least, MEN_PER_SIDE)]
    if chance.random() < 0.35:
        counts[chance.randint(0, 1)] = FLYING_MEN
    return counts[0], counts[1]


def _start(player: _Player, rules: Rules, chance: random.Random) -> Position:
    """Where a game of self-play begins: after a half-random opening, or anywhere."""
    if chance.random() < 0.35:
        return random_position(rules, *_random_counts(chance), chance)
    position = Position(rules)
    for _ in range(chance.randint(1, 10)):
        if chance.random() < 0.5:
            position = position.play(decode_move(player.think(position)[1]))
        else:
            position = position.play(chance.choice(position.legal_moves()))
    return position


def _game(player: _Player, rules: Rules, chance: random.Random) -> Iterator[Sample]:
    """The samples of one game, which ends early once a search has proved the result."""
    position = _start(player, rules, chance)
    seen: list[tuple[Position, int]] = []
    slips = chance.choice((0.0, 0.03, 0.1))
    winner: int | None = None
    while position.number <= _MAX_MOVES:
        outcome = position.outcome()
        if outcome is not None:
            winner = outcome.winner
            break
        score, move = player.think(position)
        seen.append((position, score))
        if abs(score) >= PROVEN:
            winner = position.side if score > 0 else 1 - position.side
            break
        slip = chance.random() < slips
        position = position.play(
            chance.choice(position.legal_moves()) if slip else decode_move(move)
        )
    for position, score in seen:
        result = 0.5 if winner is None else float(winner == position.side)
        if abs(score) >= PROVEN:
            expected = float(score > 0)
        else:
            # The last bits of `exp` differ between machines; a sample keeps the first fifteen.
            expected = 1 / (1 + exp(-max(-4000, min(4000, score)) / PER_LOGIT))
        yield Sample.of(position, player.rules[0], expected, result)


def _play_chunk(task: tuple[Path, bytes, int, int, int]) -> Path:
    """The file with the samples of games at a number of nodes each, with these weights."""
    path, payload, seed, games, nodes = task
    if path.exists():
        return path
    core.load_weights(payload)
    chance = random.Random(seed)
    players = [
        (rules, _Player(rules, nodes)) for rules in (make_rules(name, _LIMIT) for name, _ in RULES)
    ]
    samples = bytearray()
    for _ in range(games):
        rules, player = chance.choices(players, [part for _, part in RULES])[0]
        player.table.clear()
        player.worker.clear()
        for sample in _game(player, rules, chance):
            samples += sample.pack()
        met = trainer.met_samples(player.table, player.rules, MET, chance.getrandbits(64))
        samples += trainer.score_samples(player.worker, player.rules, met, SCORED_NODES, PER_LOGIT)
    write_whole(path, [samples])
    return path


def mark_of(payload: bytes) -> str:
    """Prefix of the names of files that these weights have made."""
    return f"{zlib.crc32(payload):08x}"


def self_play(
    work: Path, payload: bytes, one: Round, seed: int, processes: int
) -> list[bytes]:
    """A round's samples, one piece for each chunk of games; those in ``work`` are not played."""
    mark = mark_of(payload)
    tasks = [
        (work / f"{mark}-{number}.samples", payload, seed * 1_000_000 + number, CHUNK, one.nodes)
        for number in range(max(MIN_CHUNKS, one.games // CHUNK))
    ]
    pieces = []
    started = time.monotonic()
    with ProcessPoolExecutor(processes) as pool:
        for path in pool.map(_play_chunk, tasks):
            pieces.append(path.read_bytes())
            if len(pieces) % 20 == 0 or len(pieces) == len(tasks):
                seconds = time.monotonic() - started
                print(f"  {len(pieces) * CHUNK} games, {seconds:.0f} s", flush=True)
    return pieces
