"""The console script ``merels``: the protocol loop without arguments, or a command by name."""

from __future__ import annotations

import sys
from importlib import import_module

from merels.engine.errors import printable
from merels.protocol.streams import make_usable

COMMANDS: dict[str, tuple[str, str]] = {
    "tournament": (
        "merels.tournament.tournament_cli:main", "engines play, the better one is found"
    ),
    "ratings": ("merels.tournament.ratings_cli:main", "rating list of journals and PGN files"),
    "stats": ("merels.tournament.stats_cli:main", "Elo, errors and tests from counts"),
    "merge": ("merels.tournament.merge_cli:main", "join the journals of one tournament"),
    "book": ("merels.tournament.book_cli:main", "make a file of balanced openings"),
    "check": ("merels.protocol.check.cli:main", "whether an engine keeps to the protocol"),
    "board": ("merels.protocol.board.command:main", "play, watch and analyse in a browser"),
    "play": ("merels.protocol.play:main", "play against the engine in the terminal"),
    "analyse": ("merels.protocol.shell:analyse", "what the engine thinks of a position"),
    "review": ("merels.protocol.review_cli:main", "what each turn of a recorded game lost"),
    "eval": ("merels.protocol.shell:evaluate", "the static evaluation, term by term"),
    "perft": ("merels.protocol.shell:perft", "count turn sequences"),
    "bench": ("merels.protocol.shell:bench", "nodes of fixed searches, the same everywhere"),
    "suite": ("merels.protocol.suite_cli:main", "positions with known best turns"),
    "tables": (
        "merels.protocol.tables_cli:main",
        "tables of perfect play: build, verify, stats, probe, solve",
    ),
    "bot": ("merels.protocol.bot_cli:main", "turns for programs, by lines of JSON"),
    "d": ("merels.protocol.shell:display", "draw a position"),
}
FAILURE, USAGE_ERROR, INTERRUPTED = 1, 2, 130


def main(argv: list[str] | None = None) -> int:
    """Run ``merels`` with ``argv``, the process's own when None; returns the exit status.

    Ctrl-C and a standard output that is closed or full are answered here, for every command.
    """
    make_usable()
    try:
        try:
            return _run(sys.argv[1:] if argv is None else argv)
        finally:
            # What finds no room is found out here, where it can still be said.
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        status = 0  # Whoever read our output has enough.
    except OSError as error:
        what = error.filename or "standard output cannot be written"
        print(f"merels: {what}: {error.strerror or error}", file=sys.stderr)
        status = FAILURE
    sys.stdout = None  # What is left in its buffer has nowhere to go.
    return status


def _run(words: list[str]) -> int:
    """Run the command that the words name."""
    if not words:
        from merels.protocol.loop import main as loop

        return loop()
    name, *rest = words
    if name in ("-h", "-help", "--help", "help"):
        print(_help())
        return 0
    if name in ("-V", "-version", "--version", "version"):
        from merels.engine import __version__

        print(f"merels {__version__}")
        return 0
    if name not in COMMANDS:
        from merels.tournament.flags import suggestion

        hint = suggestion(name, COMMANDS) or "; merels --help lists the commands"
        print(f"merels: unknown command '{printable(name)}'{hint}", file=sys.stderr)
        return USAGE_ERROR
    module, _, function = COMMANDS[name][0].partition(":")
    return int(getattr(import_module(module), function)(rest))


def _help() -> str:
    lines = [
        "merels                     speak the engine protocol (uci, ugi) on stdin and stdout",
        "merels COMMAND [flags]     run a command; each explains itself with --help",
        "",
    ]
    lines += [f"  {name:<12} {text}" for name, (_, text) in COMMANDS.items()]
    return "\n".join([*lines, "", "merels --version prints the version."])


if __name__ == "__main__":
    sys.exit(main())
