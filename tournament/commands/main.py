"""The console script ``merels``: runs a command by name or, without one, the protocol loop."""

from __future__ import annotations

import signal
import sys
from importlib import import_module

from merels.engine.common.errors import InputError, suggestion
from merels.protocol.commands.exit_status import INTERRUPTED, OK, run_command
from merels.protocol.uci.streams import repair_streams

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Play and learn": {
        "board": ("merels.protocol.commands.board:main", "play, watch and analyse in a browser"),
        "play": ("merels.protocol.commands.play:main", "play against the engine in the terminal"),
        "review": (
            "merels.tournament.commands.journal_games:review", "judge each move of recorded games"
        ),
        "puzzles": (
            "merels.protocol.commands.puzzles:main", "make puzzles from tables of perfect play"
        ),
    },
    "Match engines": {
        "tournament": (
            "merels.tournament.commands.tournament:main",
            "play engines against each other and rate them",
        ),
        "league": (
            "merels.tournament.commands.league:main", "keep a rating list of engines in a folder"
        ),
        "tune": (
            "merels.tournament.commands.tune:main", "tune an engine's options by playing games"
        ),
        "ratings": (
            "merels.tournament.commands.ratings:main", "rate engines from journals and PGN files"
        ),
        "accuracy": (
            "merels.tournament.commands.accuracy:main",
            "judge engines' moves by tables of perfect play",
        ),
        "merge": ("merels.tournament.commands.merge:main", "join the journals of one tournament"),
        "stats": (
            "merels.tournament.commands.stats:main", "compute Elo, errors and SPRT from counts"
        ),
        "book": ("merels.tournament.commands.book:main", "make a file of balanced openings"),
    },
    "Analyse": {
        "analyse": ("merels.protocol.commands.analyse:analyse", "draw and search a position"),
        "eval": ("merels.protocol.commands.analyse:evaluate", "explain the static evaluation"),
        "d": ("merels.protocol.commands.analyse:display", "draw a position"),
    },
    "Perfect play": {
        "tables": (
            "merels.protocol.commands.tables:main", "build and query tables of perfect play"
        ),
    },
    "Write and test an engine": {
        "check": (
            "merels.protocol.commands.check:main", "check that an engine keeps to the protocol"
        ),
        "suite": ("merels.protocol.commands.suite:main", "play positions with known best moves"),
        "perft": ("merels.protocol.commands.analyse:perft", "count move sequences"),
        "bench": (
            "merels.protocol.commands.analyse:bench", "search fixed positions and count the nodes"
        ),
    },
    "Connect": {
        "convert": (
            "merels.tournament.commands.journal_games:convert",
            "write positions, games, rules in another form",
        ),
    },
}
"""Purpose -> command name -> (``module:function``, line of help)."""
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


def main(argv: list[str] | None = None) -> int:
    """Run ``merels`` with ``argv``, by default ``sys.argv[1:]``; return the exit status."""
    repair_streams()
    words = sys.argv[1:] if argv is None else argv
    program = f"merels {words[0]}" if words and words[0] in COMMANDS else "merels"
    status = run_command(program, lambda: _run(words))
    if argv is None and status == INTERRUPTED:
        # One more Ctrl-C must not change the status while the interpreter ends.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if argv is None and program in ("merels tournament", "merels league", "merels tune"):
        from merels.tournament.run.executor import leave_soon

        leave_soon(status)
    return status


def _run(words: list[str]) -> int:
    """Run a command by its name; return the exit status."""
    if not words:
        from merels.protocol.uci.loop import main as loop

        return loop()
    name, *arguments = words
    if name == "help" and arguments:
        return _run([*arguments, "--help"])
    if name in ("-h", "-help", "--help", "help"):
        print(_help())
        return OK
    if name in ("-V", "-version", "--version", "version"):
        from merels.engine import full_version

        print(f"merels {full_version()}")
        return OK
    if name not in COMMANDS:
        hint = suggestion(name, COMMANDS) or "; merels --help lists the commands"
        raise InputError(name, f"unknown command{hint}")
    module, _, function = COMMANDS[name][0].partition(":")
    return int(getattr(import_module(module), function)(arguments))


def _help() -> str:
    lines = [
        "merels                     speak the engine protocol (uci, ugi) on stdin and stdout",
        "merels COMMAND [flags]     run a command",
        "merels help COMMAND        explain a command, as COMMAND --help does",
        "",
    ]
    for title, commands in GROUPS.items():
        lines.append(f"{title}:")
        lines += [f"  {name:<12} {text}" for name, (_, text) in commands.items()]
        lines.append("")
    return "\n".join([*lines, "merels --version prints the version."])


if __name__ == "__main__":
    sys.exit(main())
