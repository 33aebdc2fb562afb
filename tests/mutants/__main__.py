"""The command line: tries mutants of the sources, and names the test that catches each."""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Sequence

from tests.mutants.mutate import LAYERS, Mutant, choose
from tests.mutants.trial import ROOT, Copy, nearest


def main(argv: list[str]) -> int:
    """Try mutants one after another; return 1 if any survives."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants",
        description="Makes random mutants of the Python sources (operators, constants, deleted "
        "statements, forced conditions) in a copy of the checkout, and runs the default tests "
        "on each, the nearest first, until one fails.",
    )
    parser.add_argument("-seed", metavar="N", type=int, default=1, help="default: 1")
    parser.add_argument("-count", metavar="N", type=int, default=20, help="mutants (default: 20)")
    parser.add_argument("-from", metavar="N", dest="first", type=int, default=1,
                        help="number of the first mutant (default: 1)")  # fmt: skip
    parser.add_argument("-layer", metavar="FOLDER", nargs="+", default=LAYERS,
                        help="such as engine or protocol/board (default: all layers)")  # fmt: skip
    parser.add_argument("-core", action="store_true",
                        help="mutants of the Cython sources; each is built")  # fmt: skip
    parser.add_argument("-near", action="store_true",
                        help="only the mirror package, and tests that name the module")  # fmt: skip
    parser.add_argument("-tests", metavar="FILE", nargs="+",
                        help="only these test files, or tests in them")  # fmt: skip
    parser.add_argument("-list", action="store_true", help="print the mutants, and run nothing")
    parser.add_argument("-limit", metavar="SECONDS", type=float, default=300.0,
                        help="seconds without output after which a mutant counts as hanging "
                        "and as caught (default: 300)")  # fmt: skip
    options = parser.parse_args(argv)
    for layer in options.layer:
        if layer.partition("/")[0] not in LAYERS or not (ROOT / layer).is_dir():
            parser.error(f"-layer {layer}: no folder of {', '.join(LAYERS)}")
    if hasattr(os, "nice") and os.nice(0) < 10:
        os.nice(10)
    mutants = choose(ROOT, options.layer, options.seed, options.core)
    chosen = itertools.islice(mutants, options.first - 1, options.first - 1 + options.count)
    numbered = list(enumerate(chosen, options.first))
    if options.list:
        for number, mutant in numbered:
            print(f"{number:>4} {mutant}")
        return 0
    print(f"mutants: seed {options.seed}, commit {commit()}", flush=True)
    survived = 0
    with Copy(options.limit) as copy:
        for number, mutant in numbered:
            begin = time.monotonic()
            near, others = nearest(mutant.path)
            runs = [options.tests] if options.tests else [near] if options.near else [near, others]
            verdict = try_mutant(copy, mutant, options.core, runs)
            survived += verdict is None
            end = f"caught by {verdict}" if verdict else "SURVIVED"
            print(f"{number:>4} {mutant}: {end} ({time.monotonic() - begin:.0f} s)", flush=True)
    caught = len(numbered) - survived
    share = f", {caught / len(numbered):.0%} caught" if numbered else ""
    print(f"mutants: seed {options.seed}, {caught} caught, {survived} survived{share}")
    return 1 if survived else 0


def commit() -> str:
    """Return the commit of the checkout, with ``-dirty`` if tracked files differ from it."""
    describe = ["git", "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    try:
        done = subprocess.run(describe, cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        return "unknown, without git"
    return done.stdout.strip() or "unknown"


def try_mutant(
    copy: Copy, mutant: Mutant, core: bool, runs: Sequence[Sequence[str]]
) -> str | None:
    """Return the test that catches a mutant, or None.

    Each of ``runs`` lists tests or test files. A test counts only if it fails twice with the mutant
    and, unless the mutant is compiled, passes without it.
    """
    ignored: list[str] = []
    try:
        copy.put(mutant, mutant.path)
        if core and not copy.build(mutant.path):
            return "the compiler"
        for tests in runs:
            while tests and (name := copy.first_failure(tests, ignored)) is not None:
                if not name.startswith("tests/"):
                    return name  # The mutant hangs, or ended pytest itself.
                if copy.first_failure([name]) is not None:
                    if core:
                        return name
                    copy.put(None, mutant.path)
                    unchanged = copy.first_failure([name])
                    copy.put(mutant, mutant.path)
                    if unchanged is None:
                        return name
                ignored.append(name)
        return None
    finally:
        copy.put(None, mutant.path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
