"""Makes the evaluation's weights from nothing.

    python -m merels.engine.training.fit -tables DIR

The first weights are fitted to positions drawn from every table. Each round of self-play is then
played with what the last fitting taught: fast games with slips, whose positions, and others that
their searches met, are labelled by the tables and join those drawn. What tables do not tell, which
of two draws is the harder to hold, comes from the games: a searched score has part of the label,
and where no tables are, the game's result.

The last rounds add what decides between right and wrong moves: where few moves hold a value, the
positions by which short searches judge the best of them and the best of the others. Each of them
learns from the samples of those before, too.

The tables of the standard rules must be whole; those of other ways of flying (`loc`, `multi`) are
used if they are complete. Without ``-tables``, samples come from games only.

No fitting sees the positions of the files named by ``-unseen``, nor one position in 64, chosen by
its hash (`trainer.is_held_out`), nor an image of them: what is fitted can be measured on either.
The same command makes the same weights on every machine and however many processes share the work,
and resumes where an earlier one was interrupted: samples of games and leaves, and what was fitted
to them, are kept in ``-work``.
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

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import read_real, read_whole
from merels.engine.common.saving import write_named, write_whole
from merels.engine.core import core, trainer, weights
from merels.engine.training.samples import TableLabeller, open_labellers, read_unseen
from merels.engine.training.self_play import Round, mark_of, self_play

DRAWN = 100_000
"""Positions drawn from each table of the moving phase under the standard rules: nothing else shows
positions of every kind."""
DRAWN_ELSE = 1_000
"""Positions drawn from each other table."""
ROUNDS = (
    Round(2_000, 300),
    Round(20_000, 1_500),
    *[Round(15_000, 1_500, leaves=True)] * 4,
)
SHARE = 0.3
"""The part that a searched score has in a label, the result having the rest."""
EPOCHS = 4
RATE = 0.01
"""Of learning, at first. It falls with the square of what is left to do."""
STEPS = 32
"""Number of times that the rate falls in an epoch."""
DECAY = 1_900_000
"""Divided by the number of samples, the part of a parameter that decays in a step at a rate of 1:
the more samples there are, the less decay they need."""


def fit(pieces: Sequence[bytes], unseen: array[int], processes: int) -> bytes:
    """The weights that explain samples best, but for those held out and ``unseen``."""
    every = b"".join(pieces)
    held_out = trainer.split_samples(trainer.select_samples(every, unseen, True))
    samples = trainer.select_samples(every, unseen, False)
    del every
    trainer.shuffle(samples, 1)
    print(f"  fitting {len(samples) // trainer.SAMPLE_BYTES} samples", flush=True)
    quarters = trainer.split_samples(samples)
    del samples
    fits = [trainer.Fit(SHARE, quarter) for quarter in range(len(quarters))]
    with ThreadPoolExecutor(processes) as pool:
        for epoch in range(EPOCHS):
            started = time.monotonic()
            list(pool.map(lambda one, samples: _learn(one, samples, epoch), fits, quarters))
            errors = [one.epoch(samples, 0) for one, samples in zip(fits, held_out, strict=True)]
            print(
                f"  epoch {epoch + 1}: squared error of those held out, by quarters of the phases "
                f"{' '.join(f'{error:.5f}' for error in errors)}, "
                f"{time.monotonic() - started:.0f} s",
                flush=True,
            )
    made = bytearray(core.WEIGHTS_SIZE)
    for one in fits:
        one.write(made)
    return bytes(made)


def _fitted(work: Path, pieces: Sequence[bytes], unseen: array[int], processes: int) -> bytes:
    """Return the weights that ``fit`` makes of samples, cached in ``work``."""
    mark = zlib.crc32(unseen.tobytes())
    for piece in pieces:
        mark = zlib.crc32(piece, mark)
    path = work / f"{mark:08x}.weights"
    if not path.exists():
        write_whole(path, [fit(pieces, unseen, processes)])
    return path.read_bytes()


def _learn(one: trainer.Fit, samples: bytearray, epoch: int) -> None:
    """Learn once from samples, from later ones more slowly."""
    number = len(samples) // trainer.SAMPLE_BYTES
    ends = [number * step // STEPS * trainer.SAMPLE_BYTES for step in range(STEPS + 1)]
    decay = min(1, DECAY / max(1, number))
    for step in range(STEPS):
        left = 1 - (epoch + (step + 0.5) / STEPS) / EPOCHS
        one.epoch(memoryview(samples)[ends[step]:ends[step + 1]], RATE * left * left, decay)


def main(argv: list[str] | None = None) -> int:
    """Draw, play, fit, and write the weights."""
    parser = argparse.ArgumentParser(
        prog="python -m merels.engine.training.fit", description=__doc__
    )
    parser.add_argument("-out", type=Path, default=weights.PATH, help="where the weights go")
    parser.add_argument("-tables", type=Path, metavar="DIR", help="whole tables, for labels")
    parser.add_argument(
        "-unseen", type=Path, metavar="FILE", nargs="+", default=[],
        help="suites whose positions no fitting sees",
    )
    parser.add_argument("-scale", type=_share, default=1.0, help="this many times the samples")
    parser.add_argument("-processes", type=_count, default=os.cpu_count() or 1)
    parser.add_argument(
        "-work", type=Path, metavar="DIR", default=Path("build/fit"),
        help="where samples, and what was fitted to them, are kept",
    )
    args = parser.parse_args(argv)
    try:
        unseen = read_unseen(args.unseen)
        args.work.mkdir(parents=True, exist_ok=True)
        if not os.access(args.out.absolute().parent, os.W_OK):
            raise InputError(str(args.out), "expected a file in a folder that can be written")
        write_named(args.out, [weights.pack(_make(args, unseen))])
    except (InputError, OSError) as error:
        parser.error(str(error))
    print(f"{args.out}: written")
    return 0


def _share(text: str) -> float:
    """A flag's number from 0 up."""
    return read_real(text, 0, 1000)


def _count(text: str) -> int:
    """A flag's whole number from 1 up."""
    return read_whole(text, 1, 1000)


def _make(args: argparse.Namespace, unseen: array[int]) -> bytes:
    """The last round's weights."""
    labellers: list[TableLabeller] = [] if args.tables is None else open_labellers(args.tables)
    few = int(DRAWN_ELSE * args.scale)
    drawn = [
        (labeller, piece)
        for labeller in labellers
        for piece in labeller.draw(
            few if labeller is not labellers[0] else int(DRAWN * args.scale), few
        )
    ]
    payload = (
        _fitted(args.work, [piece for _, piece in drawn], unseen, args.processes) if drawn
        else bytes(core.WEIGHTS_SIZE)
    )
    pieces: list[bytes] = []
    for number, one in enumerate(ROUNDS, 1):
        one = one._replace(games=int(one.games * args.scale))
        print(f"round {number}: {one.games} games at {one.nodes} nodes", flush=True)
        played = self_play(args.work, payload, one, number, args.processes)
        core.load_weights(payload)
        with ThreadPoolExecutor(args.processes) as pool:
            scored = pool.map(lambda pair: pair[0].score(pair[1]), drawn)
            labelled = pool.map(lambda piece: _labelled(piece, labellers), played)
            added = list(labelled)
            if one.leaves:
                added += _leaves(args.work, payload, labellers, played, pool)
                pieces += added
            samples = [*scored, *(pieces if one.leaves else added)]
            payload = _fitted(args.work, samples, unseen, args.processes)
    return payload


def _leaves(
    work: Path, payload: bytes, labellers: list[TableLabeller], played: list[bytes], pool: Executor
) -> list[bytes]:
    """Labelled leaves of games' critical positions; those in ``work`` are not searched for."""
    mark = mark_of(payload)

    def leaves(number: int) -> bytes:
        path = work / f"{mark}-{number}.leaves"
        if not path.exists():
            write_whole(path, [labeller.leaves(played[number]) for labeller in labellers])
        return _labelled(path.read_bytes(), labellers)

    started = time.monotonic()
    found = list(pool.map(leaves, range(len(played))))
    number = sum(map(len, found)) // trainer.SAMPLE_BYTES
    print(f"  {number} leaves, {time.monotonic() - started:.0f} s", flush=True)
    return found


def _labelled(piece: bytes, labellers: list[TableLabeller]) -> bytes:
    """Return samples with labels from tables; leave out those without a label."""
    for labeller in labellers:
        piece = labeller.label(piece)
    return bytes(trainer.labelled_samples(piece))


if __name__ == "__main__":
    sys.exit(main())
