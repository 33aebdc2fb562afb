"""Makes the evaluation's weights from nothing: ``python -m merels.engine.training.fit``.

Rounds of self-play begin with an evaluation that knows nothing; each round is played with what the
last one taught. Positions are labelled by what their search found and how their game ended. With
``-tables DIR`` the tablebase replaces the game's end where it knows the value, and random positions
join in. The same command makes the same weights, however many processes share the work, and resumes
where an earlier one was interrupted: the games' samples are kept in ``-work``.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from merels.engine.core import core, weights
from merels.engine.game.errors import InputError
from merels.engine.game.numbers import read_real, read_whole
from merels.engine.tablebase.storage import write_whole
from merels.engine.training.samples import Truth
from merels.engine.training.self_play import Round, self_play

ROUNDS = (
    Round(20_000, 500, 0.0),
    Round(30_000, 2_000, 0.5),
    Round(60_000, 5_000, 0.6),
    Round(300_000, 5_000, 0.6),
)
EPOCHS = 6
RATE = 0.15
HELD_OUT = 20
"""One chunk in this many is held out, to measure how well the fit generalizes."""
RANDOM = 8_000_000
"""Random positions that join the games' where tables label them."""


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
    parser.add_argument("-scale", type=_share, default=1.0, help="play this many times the games")
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
        write_whole(args.out, [weights.pack(_make(args))])
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


def _make(args: argparse.Namespace) -> bytes:
    """The last round's weights."""
    payload = bytes(core.WEIGHTS_SIZE)
    pieces: list[bytes] = []
    more: list[bytes] = []
    truth = None if args.tables is None else Truth(args.tables)
    if truth is not None:
        truth.check_whole(args.tables)
        number = int(RANDOM * args.scale) // HELD_OUT
        more = [truth.anywhere(number, seed) for seed in range(1, HELD_OUT + 1)]
    for number, one in enumerate(ROUNDS, 1):
        one = one._replace(games=int(one.games * args.scale))
        print(f"round {number}: {one.games} games at {one.nodes} nodes", flush=True)
        played = self_play(args.work, payload, one, number, args.processes)
        if truth is not None:
            with ThreadPoolExecutor(args.processes) as pool:
                played = list(pool.map(truth.label, played))
            print("  labelled", flush=True)
        # What the first two rounds played is worth less than the memory it takes.
        pieces = played if number <= 3 else pieces + played
        payload = fit(pieces + more, one.share)
    return payload


if __name__ == "__main__":
    sys.exit(main())
