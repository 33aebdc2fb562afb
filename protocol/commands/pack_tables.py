"""``merels tables pack``: make packed tables of those that were built."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from merels.engine.game.rules import Rules
from merels.engine.tablebase.pack import Packer
from merels.protocol.commands.arguments import Parser, add_flag
from merels.protocol.commands.exit_status import FAILED, OK
from merels.protocol.commands.probe_tables import root_of
from merels.protocol.terminal.progress import ProgressLine, show_progress


def add_pack_flags(parser: Parser) -> None:
    """The flags of ``merels tables pack``."""
    add_flag(
        parser, "out", type=Path, metavar="D",
        help="where packed tables go (default: beside the others)",
    )


def pack(arguments: argparse.Namespace, rules: Rules) -> int:
    """Pack all tables of the rules."""
    bar = ProgressLine()
    root = root_of(arguments)
    packer = Packer(
        root, arguments.out or root, rules, threads=arguments.threads,
        report=lambda progress: show_progress(bar, progress),
    )
    started = time.monotonic()
    try:
        files = packer.pack()
    except KeyboardInterrupt:
        bar.clear()
        print("merels tables: interrupted; all packed sectors are kept", file=sys.stderr)
        raise
    finally:
        bar.clear()
    for problem in packer.rebuilt:
        print(f"merels tables: packed again: {problem}", file=sys.stderr)
    for problem in packer.problems:
        print(f"merels tables: not packed: {problem}", file=sys.stderr)
    size = sum(file.stat().st_size for file in files)
    print(
        f"{len(files)} sectors, {size:,} bytes in {packer.folder}, "
        f"{time.monotonic() - started:.1f} s"
    )
    return FAILED if packer.problems else OK
