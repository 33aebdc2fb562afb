"""Makes the evaluation's weights from nothing: ``python -m merels.engine.training.fit``.

Rounds of self-play begin with an evaluation that knows nothing; each round's games are played with
what the last one taught. Positions are labelled by what their search found and how their game
ended. With ``-tables DIR`` the truth replaces the game's end where the tables know it, or soon
prove it with men in hand, and random positions join in. The same command gives the same weights,
however many processes share the work, and goes on where an earlier one was interrupted: what was
played is kept in ``-work``.
"""

from __future__ import annotations

import argparse
import os
import random
import struct
import sys
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from math import exp
from pathlib import Path
from typing import NamedTuple

from merels.engine.core import core, weights
from merels.engine.core.convert import (
    PROVEN,
    core_board,
    core_history,
    core_moves,
    core_rules,
    decode_move,
)
from merels.engine.game.board import SIZE
from merels.engine.game.errors import InputError
from merels.engine.game.numbers import read_whole
from merels.engine.game.position import WHITE, Position
from merels.engine.game.rules import MEN_PER_SIDE, Rules, make_rules
from merels.engine.tablebase.files import write_whole

SAMPLE = struct.Struct("<IIBBBxff")
"""Both sides' men and hands, who may fly, the searched and the final score of the side to move."""

CHUNK = 500
"""Games that one task plays."""
LEAST_CHUNKS = 2
"""Of a round: one to learn from and one to hold out."""
EPOCHS = 6
RATE = 0.15
HELD_OUT = 20
"""Every so many chunks one is kept out of the fitting and tells how well the rest carries over."""

_HASH_MB = 8
_LONGEST = 120
"""Moves after which a game of self-play is a draw."""
_LIMIT = ["NoRemovalPlies=50"]
_PER_LOGIT = 250.0
"""Hundredths of a man that are worth 73 % of the points, in a searched score. The weights
themselves are scaled to 130 (``PER_LOGIT`` in fit.pxi): what a search says is taken with doubt."""

RANDOM = 8_000_000
"""Random positions that join the games' where tables label them."""

PROVEN_HANDS = 8
"""Men in hand up to which a position's value is proven; with each man more a proof takes twice as
long. One in three of these positions has another value than its game's result."""

RULES: tuple[tuple[str, int], ...] = (("morris", 84), ("loc", 8), ("multi", 8))
"""Rule sets that are played and their parts in a hundred games: each way of flying."""


class Round(NamedTuple):
    """One round of self-play: its games, the nodes of each search, and the part that a searched
    score has in a label, the result having the rest."""

    games: int
    nodes: int
    share: float


ROUNDS = (
    Round(20_000, 500, 0.0),
    Round(30_000, 2_000, 0.5),
    Round(60_000, 5_000, 0.6),
    Round(300_000, 5_000, 0.6),
)


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


def _random_men(rules: Rules, chance: random.Random) -> Position:
    """A position of the moving phase with men anywhere."""
    while True:
        least = chance.choice((3, 4, 5, 6, 7))
        counts = [chance.randint(least, 9), chance.randint(least, 9)]
        if chance.random() < 0.35:
            counts[chance.randint(0, 1)] = 3
        points = chance.sample(range(SIZE), sum(counts))
        men = (
            sum(1 << point for point in points[: counts[0]]),
            sum(1 << point for point in points[counts[0] :]),
        )
        position = Position(rules, men, (0, 0), chance.randint(0, 1))
        if position.outcome() is None:
            return position


def _start(player: _Player, rules: Rules, chance: random.Random) -> Position:
    """Where a game of self-play begins: after a half-random opening, or anywhere."""
    if chance.random() < 0.35:
        return _random_men(rules, chance)
    position = Position(rules)
    for _ in range(chance.randint(1, 10)):
        if chance.random() < 0.5:
            position = position.play(decode_move(player.think(position)[1]))
        else:
            position = position.play(chance.choice(position.legal_moves()))
    return position


def _game(player: _Player, rules: Rules, chance: random.Random) -> Iterator[bytes]:
    """The samples of one game, which ends early where a result is proven."""
    position = _start(player, rules, chance)
    seen: list[tuple[Position, int]] = []
    slips = chance.choice((0.0, 0.03, 0.1))
    winner: int | None = None
    while position.number <= _LONGEST:
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
        own, other, own_hand, other_hand, _ = core_board(position)
        result = 0.5 if winner is None else float(winner == position.side)
        if abs(score) >= PROVEN:
            expected = float(score > 0)
        else:
            expected = 1 / (1 + exp(-max(-4000, min(4000, score)) / _PER_LOGIT))
        yield SAMPLE.pack(
            own, other, own_hand, other_hand, player.rules[0], expected, result
        )


def _play_chunk(task: tuple[Path, bytes, int, int, int]) -> Path:
    """The file with the samples of so many games at so many nodes, with these weights."""
    path, data, seed, games, nodes = task
    if path.exists() and path.stat().st_size % SAMPLE.size == 0:
        return path
    core.load_weights(data)
    chance = random.Random(seed)
    players = []
    for name, _ in RULES:
        rules = make_rules(name, _LIMIT)
        players.append((rules, _Player(rules, nodes)))
    samples = bytearray()
    for _ in range(games):
        rules, player = chance.choices(players, [part for _, part in RULES])[0]
        player.table.clear()
        player.worker.clear()
        for sample in _game(player, rules, chance):
            samples += sample
    write_whole(path, [samples])
    return path


def self_play(
    work: Path, data: bytes, one: Round, seed: int, processes: int
) -> list[bytes]:
    """A round's samples, one piece for each chunk of games; those in ``work`` are not played."""
    mark = f"{zlib.crc32(data):08x}"
    tasks = [
        (work / f"{mark}-{number}.samples", data, seed * 1_000_000 + number, CHUNK, one.nodes)
        for number in range(max(LEAST_CHUNKS, one.games // CHUNK))
    ]
    pieces = []
    started = time.monotonic()
    with ProcessPoolExecutor(processes) as pool:
        for path in pool.map(_play_chunk, tasks):
            pieces.append(path.read_bytes())
            if len(pieces) % 20 == 0 or len(pieces) == len(tasks):
                print(
                    f"  {len(pieces) * CHUNK} games, {time.monotonic() - started:.0f} s",
                    flush=True,
                )
    return pieces


class Truth:
    """Tables of morris, whose values replace the results of games."""

    def __init__(self, folder: Path) -> None:
        from merels.engine.tablebase.probe import open_tables
        from merels.engine.tablebase.solve import Prover

        self.rules = make_rules("morris")
        self.tables = open_tables(folder, self.rules)
        self.flying = core_rules(self.rules)[0]
        self._prover = Prover(self.tables, 1024)

    def label(self, piece: bytes) -> bytes:
        """Samples with the proven value as the result, where it is known or soon proven."""
        samples = bytearray(piece)
        core.label(samples, self.tables.core, self.flying)
        for place in range(0, len(samples), SAMPLE.size):
            own, other, own_hand, other_hand, flying, score, _ = SAMPLE.unpack_from(samples, place)
            if flying == self.flying and 0 < own_hand + other_hand <= PROVEN_HANDS:
                position = Position(self.rules, (own, other), (own_hand, other_hand), WHITE)
                result = (1 + self._prover.value(position)) / 2
                SAMPLE.pack_into(
                    samples, place, own, other, own_hand, other_hand, flying, score, result
                )
        return bytes(samples)

    def anywhere(self, number: int, seed: int) -> bytes:
        """So many random positions of the moving phase, those that no table knows left out."""
        samples = core.random_samples(number, seed, self.flying)
        core.label(samples, self.tables.core, self.flying)
        return b"".join(
            SAMPLE.pack(*sample) for sample in SAMPLE.iter_unpack(samples) if sample[-1] >= 0
        )


def fit(pieces: list[bytes], share: float) -> bytes:
    """The weights that explain samples best."""
    held_out = b"".join(pieces[::HELD_OUT])
    samples = bytearray().join(
        piece for number, piece in enumerate(pieces) if number % HELD_OUT
    )
    core.shuffle(samples, 1)
    fitting = core.Fit(share)
    for epoch in range(EPOCHS):
        error = fitting.epoch(samples, RATE * 0.5 ** (4 * epoch / EPOCHS))
        print(
            f"  epoch {epoch + 1}: squared error {error:.5f}, held out "
            f"{fitting.epoch(held_out, 0):.5f}",
            flush=True,
        )
    return fitting.weights()


def main(argv: list[str] | None = None) -> int:
    """Play, fit, and write the weights."""
    parser = argparse.ArgumentParser(
        prog="python -m merels.engine.training.fit", description=__doc__
    )
    parser.add_argument("-out", type=Path, default=weights.PATH, help="where the weights go")
    parser.add_argument("-tables", type=Path, metavar="DIR", help="tables of morris, for labels")
    parser.add_argument("-scale", type=_share, default=1.0, help="play so many times the games")
    parser.add_argument("-processes", type=_count, default=os.cpu_count() or 1)
    parser.add_argument(
        "-work", type=Path, metavar="DIR", default=Path("build/fit"),
        help="where the games' samples are kept",
    )
    args = parser.parse_args(argv)
    try:
        args.work.mkdir(parents=True, exist_ok=True)
        if not os.access(args.out.absolute().parent, os.W_OK):
            raise InputError(str(args.out), "expected a file in a folder that can be written")
        write_whole(args.out, [_make(args)])
    except (InputError, OSError) as error:
        parser.error(str(error))
    print(f"{args.out}: {core.WEIGHTS_SIZE} bytes")
    return 0


def _share(text: str) -> float:
    """A flag's number from 0 up."""
    number = float(text)
    if not 0 <= number <= 1000:
        raise ValueError(text)
    return number


def _count(text: str) -> int:
    """A flag's whole number from 1 up."""
    return read_whole(text, 1, 1000)


def _make(args: argparse.Namespace) -> bytes:
    """The last round's weights."""
    data = bytes(core.WEIGHTS_SIZE)
    pieces: list[bytes] = []
    more: list[bytes] = []
    truth = None if args.tables is None else Truth(args.tables)
    if truth is not None:
        if truth.tables.men < 2 * MEN_PER_SIDE:
            raise InputError(
                str(args.tables), "expected all tables: merels tables build -all -variant morris"
            )
        number = int(RANDOM * args.scale) // HELD_OUT
        more = [truth.anywhere(number, seed) for seed in range(1, HELD_OUT + 1)]
    for number, one in enumerate(ROUNDS, 1):
        one = one._replace(games=int(one.games * args.scale))
        print(f"round {number}: {one.games} games at {one.nodes} nodes", flush=True)
        played = self_play(args.work, data, one, number, args.processes)
        if truth is not None:
            with ThreadPoolExecutor(args.processes) as pool:
                played = list(pool.map(truth.label, played))
            print("  labelled", flush=True)
        # What the first two rounds played is worth less than the room it takes.
        pieces = played if number <= 3 else pieces + played
        data = fit(pieces + more, one.share)
    return data


if __name__ == "__main__":
    sys.exit(main())
