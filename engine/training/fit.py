"""Makes the evaluation's weights from nothing.

    python -m merels.engine.training.fit -tables DIR

The first weights are fitted to positions drawn from every table. Each round of self-play is then
played with what the last fitting taught: fast games with slips, whose positions, and others that
their searches met, are labelled by the tables and join those drawn. What tables do not tell, which
of two draws is the harder to hold, comes from the games: a searched score has part of the label,
and where no tables are, the game's result.

The last rounds go on from the weights that played them, with what decides between right and wrong
moves: where few moves hold a value, the positions by which short searches judge the best of them
and the best of the others.

The tables of the standard rules must be whole; those of other ways of flying (`loc`, `multi`) are
used where they are whole. Without ``-tables`` games alone teach.

No fitting sees the positions of the files named by ``-unseen``, nor one position in 64, chosen by
its hash (`core.is_held_out`), nor an image of them: what is fitted can be measured on either. The
same command makes the same weights on every machine and however many processes share the work, and
resumes where an earlier one was interrupted: samples of games and leaves are kept in ``-work``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from array import array
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

from merels.engine.core import core, weights
from merels.engine.game.errors import InputError
from merels.engine.game.numbers import read_real, read_whole
from merels.engine.tablebase.storage import write_whole
from merels.engine.training.samples import Truth, open_truths, read_unseen
from merels.engine.training.self_play import Round, mark_of, self_play

DRAWN = 100_000
"""Positions drawn from each table of the moving phase under the standard rules: nothing else shows
positions of every kind."""
DRAWN_ELSE = 1_000
"""Positions drawn from each other table."""
ROUNDS = (
    Round(2_000, 300),
    Round(100_000, 1_500),
    *[Round(15_000, 1_500, continues=True)] * 4,
)
SHARE = 0.3
"""The part that a searched score has in a label, the result having the rest."""
EPOCHS = 3
RATE = 0.15
STEPS = 8
"""The rate falls so many times in an epoch, to a sixteenth in all."""


def fit(
    pieces: Sequence[bytes], unseen: array[int], processes: int, start: bytes | None = None
) -> bytes:
    """The weights that explain samples best, but for those held out and ``unseen``.

    They are fitted from nothing, or on from ``start``.
    """
    every = b"".join(pieces)
    held_out = core.select_samples(every, unseen, True)
    samples = core.select_samples(every, unseen, False)
    del every
    core.shuffle(samples, 1)
    number = len(samples) // core.SAMPLE_BYTES
    print(f"  fitting {number} samples", flush=True)
    ends = [number * step // STEPS * core.SAMPLE_BYTES for step in range(STEPS + 1)]
    fitting = core.Fit(SHARE, start=start)
    steps = [
        core.split_samples(memoryview(samples)[ends[step]:ends[step + 1]]) for step in range(STEPS)
    ]
    del samples
    with ThreadPoolExecutor(processes) as pool:
        for epoch in range(EPOCHS):
            started = time.monotonic()
            list(pool.map(lambda parts: _learn(fitting, parts, epoch), zip(*steps, strict=True)))
            print(
                f"  epoch {epoch + 1}: squared error of those held out "
                f"{fitting.epoch(held_out, 0):.5f}, {time.monotonic() - started:.0f} s",
                flush=True,
            )
    return fitting.weights()


def _learn(fitting: core.Fit, steps: Sequence[bytearray], epoch: int) -> None:
    """Learn once from the samples of each step, from later ones more slowly."""
    for step, samples in enumerate(steps):
        fitting.epoch(samples, RATE * 0.5 ** (4 * (epoch + step / STEPS) / EPOCHS))


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
        help="where samples of games and leaves are kept",
    )
    args = parser.parse_args(argv)
    try:
        unseen = read_unseen(args.unseen)
        args.work.mkdir(parents=True, exist_ok=True)
        if not os.access(args.out.absolute().parent, os.W_OK):
            raise InputError(str(args.out), "expected a file in a folder that can be written")
        write_whole(args.out, [weights.pack(_make(args, unseen))])
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
    truths: list[Truth] = [] if args.tables is None else open_truths(args.tables)
    few = int(DRAWN_ELSE * args.scale)
    drawn = [
        (truth, piece)
        for truth in truths
        for piece in truth.draw(few if truth is not truths[0] else int(DRAWN * args.scale), few)
    ]
    payload = (
        fit([piece for _, piece in drawn], unseen, args.processes) if drawn
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
            labelled = pool.map(lambda piece: _labelled(piece, truths), played)
            if one.continues:
                pieces += [*labelled, *_leaves(args.work, payload, truths, played, pool)]
                payload = fit([*scored, *pieces], unseen, args.processes, payload)
            else:
                payload = fit([*scored, *labelled], unseen, args.processes)
    return payload


def _leaves(
    work: Path, payload: bytes, truths: list[Truth], played: list[bytes], pool: Executor
) -> list[bytes]:
    """Labelled leaves of games' critical positions; those in ``work`` are not searched for."""
    mark = mark_of(payload)

    def leaves(number: int) -> bytes:
        path = work / f"{mark}-{number}.leaves"
        if not path.exists():
            write_whole(path, [truth.leaves(played[number]) for truth in truths])
        return _labelled(path.read_bytes(), truths)

    started = time.monotonic()
    found = list(pool.map(leaves, range(len(played))))
    number = sum(map(len, found)) // core.SAMPLE_BYTES
    print(f"  {number} leaves, {time.monotonic() - started:.0f} s", flush=True)
    return found


def _labelled(piece: bytes, truths: list[Truth]) -> bytes:
    """Samples with what tables tell of them; those that nobody has labelled are left out."""
    for truth in truths:
        piece = truth.label(piece)
    return bytes(core.labelled_samples(piece))


if __name__ == "__main__":
    sys.exit(main())
