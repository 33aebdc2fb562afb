"""``merels board``: the server of the board, and the start of a browser."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import webbrowser
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from merels.engine.common.errors import InputError, shorten
from merels.engine.common.folders import user_folder
from merels.engine.common.messages import joined
from merels.engine.common.numbers import read_whole
from merels.engine.common.saving import write_whole
from merels.engine.game.rules import DEFAULT_RULES, PRESETS
from merels.protocol.board.game_store import GameStore
from merels.protocol.board.kept_cookie import kept_secret
from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.server import BoardServer
from merels.protocol.board.table_build import MEN, TableBuild
from merels.protocol.client.dialects import DIALECTS
from merels.protocol.client.engine_spec import EngineSpec, program_name
from merels.protocol.commands.arguments import (
    add_engine_flag,
    add_flag,
    make_parser,
    read_engine_flag,
)
from merels.protocol.common.notices import notify
from merels.protocol.puzzles.puzzle import load
from merels.protocol.puzzles.training import Trainer
from merels.protocol.terminal.log import log_to_terminal
from merels.protocol.web.access import LINK_PAGE

COOKIE_SECONDS = 400 * 86_400
"""Seconds for which browsers keep the cookie of a fixed port: the most that browsers allow."""
_EPILOG = """\
The page offers merels and the engines given here, and can start no other program:
  merels board -engine cmd='./mill uci' name=Mill proto=sanmill -engine cmd=./new option.Hash=64
The page cannot set an option that takes text, such as TablePath, because it may name a file. Set
such options here.

The printed address admits a browser, by a cookie, until the board ends. Each game is saved as a PGN
file in your data folder, or in the folder MERELS_GAMES. Your rating in puzzles is saved there, too,
or in the folder MERELS_PUZZLES.
"""


def main(argv: list[str]) -> int:
    """Serve the board until Ctrl-C."""
    parser = make_parser(
        "board", "Opens a board in your browser to play, watch engines, analyse and solve puzzles.",
        _EPILOG,
    )
    add_engine_flag(parser, "an engine that the page offers", action="append", default=[])
    add_flag(
        parser, "port", metavar="N", default="0",
        help="TCP port (default: any free port); with a fixed port, a browser that was admitted "
        "once can open the same address after every restart, for example from a bookmark",
    )
    add_flag(
        parser, "host", metavar="ADDRESS", default="127.0.0.1",
        help="address to listen on (default: this machine only; nothing is encrypted)",
    )
    add_flag(
        parser, "puzzles", metavar="FILE", type=Path,
        help="file of puzzles (default: the puzzles of the default rules that come with merels)",
    )
    add_flag(
        parser, "no-tables", action="store_true",
        help=f"build no tables; by default the first start builds tables of up to {MEN} men in the "
        "background, which takes seconds and 67 MB of disk space",
    )
    add_flag(
        parser, "no-open", action="store_true", help="print the address and start no browser"
    )
    return _serve(parser.parse_args(argv))


def _serve(arguments: argparse.Namespace) -> int:
    log_to_terminal()
    choices = [OWN_ENGINE, *map(_read_choice, arguments.engine)]
    port = read_whole(arguments.port, 0, 65535, what="a port")
    if not arguments.host:
        raise InputError("-host", "expected an address to listen on, such as 0.0.0.0 for all")
    puzzles = load(arguments.puzzles) if arguments.puzzles is not None else []
    if arguments.puzzles is not None and not puzzles:
        raise InputError(str(arguments.puzzles), "expected puzzles, found none")
    games_folder, games_warning = _folder("games", "games are", "MERELS_GAMES")
    rating_folder, rating_warning = _folder("puzzles", "the puzzle rating is", "MERELS_PUZZLES")
    trainer = Trainer(rating_folder, puzzles, standard=True)
    store = None if games_folder is None else GameStore(games_folder)
    if store is not None:
        games_warning = store.own()
        if games_warning:
            notify(games_warning)
    table_build = None if arguments.no_tables else TableBuild()
    try:
        server = BoardServer(
            arguments.host, port, choices, store, trainer,
            joined(" ", (games_warning, rating_warning)), table_build,
        )
    except (OSError, TypeError, UnicodeError) as error:
        # TypeError and UnicodeError are raised for an invalid host name.
        reason = error.strerror if isinstance(error, OSError) else None
        where = f"{arguments.host}:{port}"
        raise InputError(where, f"cannot listen on this address: {reason or error}") from None
    if port:
        _keep_cookie(server, store.folder if store is not None else None)
    address = server.start_address
    file = None if arguments.no_open else _start_file(address)
    if table_build is not None:
        table_build.start()
    try:
        print(f"The board is at {address}")
        print("Whoever opens this address can use the board. Ctrl-C ends the board.", flush=True)
        if file is not None:
            # With some browsers `webbrowser.open` returns only when the browser ends.
            threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        print(file=sys.stderr)
    finally:
        if file is not None:
            file.unlink(missing_ok=True)
        server.server_close()
    return 0


def _keep_cookie(server: BoardServer, folder: Path | None) -> None:
    """Let the cookie stay valid after a restart: keep its secret in the folder of games, if any.

    Print a warning if that fails.
    """
    try:
        if folder is not None:
            server.secret = kept_secret(folder, server.port)
            server.cookie_seconds = COOKIE_SECONDS
    except OSError as error:
        reason = error.strerror or error
        notify(f"a bookmark will not work after a restart ({reason})")


def _start_file(address: str) -> Path | None:
    """Create a page, readable only by the user, that redirects to an address.

    All users of a machine can see the command line of a browser, so the address must not be in it.
    Return None, after a warning, if the file cannot be created.
    """
    name = ""
    try:
        descriptor, name = tempfile.mkstemp(prefix="merels-board-", suffix=".html")
        os.close(descriptor)
        write_whole(name, [LINK_PAGE.format(address=address).encode()])
    except OSError as error:
        with suppress(OSError):
            os.unlink(name)
        reason = error.strerror or error
        notify(f"cannot create a temporary file ({reason}); open the address yourself")
        return None
    return Path(name)


def _folder(name: str, what: str, variable: str) -> tuple[Path | None, str]:
    """Return a folder of the user's data and ''; or None and a warning, which is also printed.

    ``what`` is the subject and verb of the warning, ``variable`` the environment variable that
    names another folder.
    """
    try:
        folder = user_folder(name, variable, cache=False)
        with suppress(FileNotFoundError):  # The first file saved creates the folder.
            os.scandir(folder).close()
        return folder, ""
    except InputError as error:
        reason = str(error)
    except OSError as error:
        reason = f"'{shorten(str(folder))}': cannot be read as a folder ({error.strerror})"
    warning = f"{what} not saved: {reason}"
    notify(warning)
    return None, f"{warning[:1].upper()}{warning[1:]}."


def _read_choice(words: list[str]) -> EngineSpec:
    """Parse an ``-engine``; without ``name=``, the engine gets the name of its program."""
    default_first = sorted(PRESETS.values(), key=DEFAULT_RULES.__ne__)
    spec = read_engine_flag(words, tuple(DIALECTS), default_first)
    return replace(spec, name=spec.name or program_name(spec.command))
