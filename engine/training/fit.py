"""Train the evaluation's weights from scratch.

    python -m merels.engine.training.fit -tables DIR

The first weights are fitted to random positions of every table. Each round of self-play then uses
the weights of the previous round. Its games are fast and contain random moves. Their positions, and
positions in the hash tables of their searches, are fitted together with the random positions.

A label is the weighted mean of a result and a search's score. The result is the tables' value or,
without tables, the result of the game. The score shows which of two draws is harder to defend.

The last rounds add samples that separate right from wrong moves. In a position where at most a
third of the moves keep the value, one short search follows the best of these moves and one the best
of the other moves; the leaves of both searches become samples. A round with leaves also uses the
samples of all earlier rounds with leaves.

The tables of the standard rules in ``-tables`` must be complete. Tables of other rules on flying
(`loc`, `multi`) are used if they are complete. Without ``-tables``, all samples come from games.

Two sets of positions, with all their symmetric images, are held out from every fit and can be used
to test the result: those in the files of ``-unseen``, and one position in 64, chosen by its hash
(`trainer.is_held_out`). The command is deterministic: the weights depend neither on the machine nor
on the number of processes. An interrupted run resumes, because the samples and weights of each step
are stored in ``-work``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import zlib
from array import array
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

from merels.engine.common.errors import InputError, shortage
from merels.engine.common.numbers import read_real, read_whole
from merels.engine.common.saving import write_named, write_whole
from merels.engine.core import core, trainer, weights
from merels.engine.tablebase.probe import Tables
from merels.engine.training.samples import (
    LEAF_NODES,
    PER_LOGIT,
    SCORED_NODES,
    Samples,
    draw,
    leaves,
    open_labelling,
    score,
    suite_keys,
)
from merels.engine.training.self_play import Round, file_prefix, self_play

PER_MOVING_TABLE = 100_000
"""Random positions from each table of the moving phase under the standard rules."""
PER_OTHER_TABLE = 1_000
"""Random positions from each other table."""
ROUNDS = (
    Round(games=2_000, nodes=300),
    Round(games=20_000, nodes=1_500),
    *[Round(games=15_000, nodes=1_500, leaves=True)] * 4,
)
SHARE = 0.3
"""Weight of the search's score in a label; the weight of the result is 1 - SHARE."""
EPOCHS = 4
RATE = 0.01
"""Initial learning rate. It falls with the square of the remaining share of the fit."""
STEPS = 32
"""Number of learning rates in an epoch."""
DECAY = 1_900_000
"""Weight decay for a learning rate of 1, times the number of samples: the more samples, the less
decay they need."""


def fit(pieces: Sequence[Samples], unseen: array[int], processes: int) -> bytes:
    """Return weights fitted to samples, except held-out ones and those of ``unseen`` positions.

    Each piece is a concatenation of samples; ``unseen`` are keys of `suite_keys`;
    ``processes`` is the number of threads. Each quarter of the evaluation's phases has weights of
    its own and is fitted separately.
    """
    all_samples = b"".join(pieces)
    held_out = trainer.split_samples(trainer.select_samples(all_samples, unseen, True))
    samples = trainer.select_samples(all_samples, unseen, False)
    del all_samples
    trainer.shuffle(samples, 1)
    print(f"  fitting {len(samples) // trainer.SAMPLE_BYTES} samples", flush=True)
    quarters = trainer.split_samples(samples)
    del samples
    fits = [trainer.Fit(SHARE, quarter) for quarter in range(len(quarters))]
    with ThreadPoolExecutor(processes) as pool:
        for epoch in range(EPOCHS):
            started = time.monotonic()
            list(pool.map(lambda part, samples: _learn(part, samples, epoch), fits, quarters))
            errors = [part.epoch(samples, 0) for part, samples in zip(fits, held_out, strict=True)]
            print(
                f"  epoch {epoch + 1}: squared error of held-out samples, by quarter of the phases "
                f"{' '.join(f'{error:.5f}' for error in errors)}, "
                f"{time.monotonic() - started:.0f} s",
                flush=True,
            )
    payload = bytearray(core.WEIGHTS_SIZE)
    for part in fits:
        part.write(payload)
    return bytes(payload)


def _cached_fit(
    work: Path, pieces: Sequence[Samples], unseen: array[int], processes: int
) -> bytes:
    """Return the weights that `fit` makes of samples, cached in ``work``."""
    crc = zlib.crc32(repr((SHARE, EPOCHS, RATE, STEPS, DECAY)).encode())
    crc = zlib.crc32(unseen.tobytes(), crc)
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
    path = work / f"{crc:08x}.weights"
    if not path.exists():
        write_whole(path, [fit(pieces, unseen, processes)])
    return path.read_bytes()


def _learn(part: trainer.Fit, samples: bytearray, epoch: int) -> None:
    """Fit one epoch, in steps with falling learning rates."""
    number = len(samples) // trainer.SAMPLE_BYTES
    ends = [number * step // STEPS * trainer.SAMPLE_BYTES for step in range(STEPS + 1)]
    decay = min(1, DECAY / max(1, number))
    for step in range(STEPS):
        remaining = 1 - (epoch + (step + 0.5) / STEPS) / EPOCHS
        rate = RATE * remaining * remaining
        part.epoch(memoryview(samples)[ends[step]:ends[step + 1]], rate, decay)


def main(argv: list[str] | None = None) -> int:
    """Run the command: draw positions, play games, fit and write the weights."""
    parser = argparse.ArgumentParser(
        prog="python -m merels.engine.training.fit", description=__doc__
    )
    parser.add_argument("-out", type=Path, default=weights.PATH, help="file for the weights")
    parser.add_argument("-tables", type=Path, metavar="DIR", help="complete tables, for labels")
    parser.add_argument(
        "-unseen", type=Path, metavar="FILE", nargs="+", default=[],
        help="suites whose positions are held out",
    )
    parser.add_argument("-scale", type=_scale, default=1.0, help="factor of the number of samples")
    parser.add_argument("-processes", type=_count, default=os.cpu_count() or 1)
    parser.add_argument(
        "-work", type=Path, metavar="DIR", default=Path("build/fit"),
        help="folder for samples and weights of each step",
    )
    args = parser.parse_args(argv)
    try:
        unseen = suite_keys(args.unseen)
        args.work.mkdir(parents=True, exist_ok=True)
        if not os.access(args.out.absolute().parent, os.W_OK):
            raise InputError(str(args.out), "cannot write to the folder of this file")
        write_named(args.out, [weights.pack(_make(args, unseen))])
    except InputError as error:
        parser.error(str(error))
    except MemoryError as error:
        parser.error(shortage(error))
    except OSError as error:
        parser.error(f"{error.filename or args.work}: {error.strerror or error}")
    print(f"{args.out}: written")
    return 0


def _scale(text: str) -> float:
    """Return a flag's value, a number from 0 to 1000."""
    return read_real(text, 0, 1000)


def _count(text: str) -> int:
    """Return a flag's value, an integer from 1 to 1000."""
    return read_whole(text, 1, 1000)


def _make(args: argparse.Namespace, unseen: array[int]) -> bytes:
    """Return the weights that the last round makes."""
    labelling = [] if args.tables is None else open_labelling(args.tables)
    per_moving, per_other = (
        int(number * args.scale) for number in (PER_MOVING_TABLE, PER_OTHER_TABLE)
    )
    random_pieces = [
        (tables, piece)
        for index, tables in enumerate(labelling)  # The first has the standard rules.
        for piece in draw(tables, per_other if index else per_moving, per_other)
    ]
    payload = (
        _cached_fit(args.work, [piece for _, piece in random_pieces], unseen, args.processes)
        if random_pieces else bytes(core.WEIGHTS_SIZE)
    )
    pieces: list[bytearray] = []
    for number, round_ in enumerate(ROUNDS, 1):
        round_ = round_._replace(games=int(round_.games * args.scale))
        print(f"round {number}: {round_.games} games at {round_.nodes} nodes", flush=True)
        played = self_play(args.work, payload, round_, number, args.processes)
        core.load_weights(payload)
        with ThreadPoolExecutor(args.processes) as pool:
            scored = pool.map(lambda pair: score(*pair), random_pieces)
            labelled = pool.map(lambda piece: _labelled(piece, labelling), played)
            added = list(labelled)
            if round_.leaves:
                added += _leaves(args.work, payload, labelling, played, pool)
                pieces += added
            samples = [*scored, *(pieces if round_.leaves else added)]
            payload = _cached_fit(args.work, samples, unseen, args.processes)
    return payload


def _leaves(
    work: Path, payload: bytes, labelling: list[Tables], played: list[bytes], pool: Executor
) -> list[bytearray]:
    """Return the labelled leaves of the critical positions of games, cached in ``work``."""
    rules = [tables.rules for tables in labelling]
    checksums = [zlib.crc32(piece) for piece in played]
    prefix = file_prefix(payload, checksums, rules, LEAF_NODES, SCORED_NODES, PER_LOGIT)

    def labelled_leaves(number: int) -> bytearray:
        path = work / f"{prefix}-{number}.leaves"
        if not path.exists():
            write_whole(path, [leaves(tables, played[number]) for tables in labelling])
        return _labelled(path.read_bytes(), labelling)

    started = time.monotonic()
    pieces = list(pool.map(labelled_leaves, range(len(played))))
    number = sum(map(len, pieces)) // trainer.SAMPLE_BYTES
    print(f"  {number} leaves, {time.monotonic() - started:.0f} s", flush=True)
    return pieces


def _labelled(piece: Samples, labelling: list[Tables]) -> bytearray:
    """Return samples with results from the tables; samples without any result are dropped."""
    for tables in labelling:
        piece = trainer.label_samples(tables.core, piece)
    return trainer.labelled_samples(piece)


if __name__ == "__main__":
    sys.exit(main())
