"""A person against the engine, in a terminal."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

from merels.engine.game.diagram import draw
from merels.engine.game.errors import InputError
from merels.engine.game.notation import format_moves, join_steps, parse_move
from merels.engine.game.position import BLACK, COLOURS, WHITE, Move, Position
from merels.engine.game.record import Record, format_record
from merels.engine.search.levels import LEVELS, Level, any_seed, level_named
from merels.engine.search.limits import Limit, Result
from merels.engine.search.searcher import Searcher
from merels.engine.tools.show import men
from merels.protocol.commands.arguments import (
    add_flag,
    add_rules_flags,
    make_parser,
    read_seconds,
    rules_of,
    search,
    setup_of,
)
from merels.protocol.uci.streams import refuse_pipe
from merels.protocol.uci.table_cache import TableCache, find_tables

_HINT_TIME = 1.0
_DEFAULT_SECONDS = 1.0

_MOVES_HELP = """\
A move is one word: a placement 'd6', a move 'd6-d5' (or 'd6d5'); when it closes a mill, name the
man it takes: 'd6-d5xc3'. Men are O (White) and @ (Black).
"""


def _edit_lines() -> None:
    """Gives `input` a line editor with a history, where there is one."""
    try:
        import readline  # noqa: F401
    except ImportError:
        pass


class Leave(Exception):
    """The person has gone."""


def main(argv: list[str]) -> int:
    """Plays a game in the terminal until the person leaves."""
    names = ", ".join(f"{level.name} {level.elo}" for level in LEVELS)
    parser = make_parser(
        "play",
        "Plays against you in this terminal. Type 'help' during the game for what you can say.",
        _MOVES_HELP,
    )
    add_flag(
        parser,
        "colour",
        choices=("white", "black", "random"),
        default="white",
        help="your men (default: white)",
    )
    add_flag(
        parser,
        "level",
        metavar="L",
        help=f"how strong it plays: {names}, or a rating between (default: full strength)",
    )
    add_flag(
        parser,
        "time",
        metavar="SECONDS",
        default=str(_DEFAULT_SECONDS),
        help=f"what it may think for each move (default: {_DEFAULT_SECONDS:g})",
    )
    add_rules_flags(parser)
    add_flag(
        parser,
        "position",
        metavar="P",
        default="startpos",
        help="where to begin: a position's text, quoted, with 'moves' and moves if you like",
    )
    add_flag(parser, "record", metavar="FILE", help="append the game's record to this file")
    return _play(parser.parse_args(argv))


def _play(arguments: argparse.Namespace) -> int:
    """Sets the game up as the flags say, and plays it."""
    setup = setup_of([arguments.position], rules_of(arguments))
    sides = {"white": WHITE, "black": BLACK, "random": random.choice((WHITE, BLACK))}
    game = Game(
        setup.position,
        human=sides[arguments.colour],
        level=None if arguments.level is None else read_level(arguments.level),
        seconds=read_seconds(arguments.time),
        path=arguments.record,
    )
    try:
        game.run()
    except (Leave, EOFError, KeyboardInterrupt):
        print("\nGoodbye.")
    game.keep()
    return 0


def read_level(text: str) -> Level | None:
    """A level from its name or rating; ``full`` is none."""
    if text.lower() == "full":
        return None
    try:
        return level_named(text)
    except InputError as error:
        raise InputError(text, f"{error.expected}, or full") from None


class Game:
    """A game at the terminal: its positions and moves, the person's side, the engine's limits.

    ``path`` is the file that every game is kept in, None where none is.
    """

    def __init__(
        self,
        start: Position,
        human: int,
        level: Level | None,
        seconds: float,
        path: str | None = None,
    ) -> None:
        self.positions = [start]
        self.moves: list[Move] = []
        self.human = human
        self.level = level
        self.seconds = seconds
        self.resigned: int | None = None
        self._path = path
        self._searcher = Searcher()
        self._table_cache = TableCache()
        self._seed = any_seed()

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self.positions[-1]

    @property
    def over(self) -> bool:
        """Whether nobody has anything left to play."""
        return self.resigned is not None or self.position.outcome() is not None

    def run(self) -> None:
        """Plays on until the person leaves, which raises `Leave`, `EOFError` or Ctrl-C."""
        if sys.stdin.isatty():
            _edit_lines()
        print(f"You play {COLOURS[self.human]} under {self.position.rules}. 'help' helps.\n")
        self._show()
        while True:
            if not self.over and self.position.side != self.human:
                self._engine_move()
            else:
                self._answer(input("game over> " if self.over else f"{COLOURS[self.human]}> "))

    def _answer(self, line: str) -> None:
        """Does what one line of the person's says."""
        words = line.split()
        if not words:
            return
        try:
            command = COMMANDS.get(words[0].lower())
            if command is not None:
                command[0](self, " ".join(words[1:]))
            else:
                self._human_move(words)
        except InputError as error:
            print(error)

    def _human_move(self, words: list[str]) -> None:
        """Plays the person's move, or says why it cannot be played."""
        try:
            (_, token), *more = join_steps(words)
            if more:
                raise InputError(more[0][1], "expected one move at a time")
            move = parse_move(token)
        except InputError as error:
            raise InputError(error.token, f"{error.expected}, or help") from None
        if self.over:
            raise InputError(token, "the game is over; undo, save FILE, new or quit")
        if not move.removed and not self.position.is_legal(move):
            closing = [full for full in self.position.legal_moves() if full[:2] == move[:2]]
            if closing:
                choice = ", ".join(map(str, closing))
                raise InputError(token, f"this closes a mill; say which man it takes: {choice}")
        self._play(move)

    def _engine_move(self) -> None:
        """Lets the engine think and play."""
        print("thinking ...", flush=True)
        limit = Limit(time=self.seconds)
        # A level that answers alike in every game could be beaten by one game learnt by heart.
        level = self.level and replace(self.level, seed=self._seed)
        result = self._search(limit, level)
        assert result.move is not None
        print(f"{COLOURS[self.position.side]} plays {result.move}\n")
        self._play(result.move)

    def _search(self, limit: Limit, level: Level | None = None) -> Result:
        """What the engine finds in the position on the board."""
        self._searcher.tables = find_tables(self._table_cache, self.position.rules, limit)
        result, interrupted = search(self._searcher, self.position, limit, level=level)
        if interrupted:
            raise KeyboardInterrupt
        return result

    def _play(self, move: Move) -> None:
        self.positions.append(self.position.push(move))
        self.moves.append(move)
        self._show()

    def _show(self, rest: str = "") -> None:
        print(draw(self.position))
        if self.resigned is not None:
            print(f"{COLOURS[self.resigned]} has resigned")
        elif self.position.outcome() is not None:
            print(f"The game is over: {self.position.outcome()}")
        print(flush=True)

    def _undo(self, rest: str) -> None:
        """Takes back the person's last move and what came after it."""
        if self.resigned is not None:
            self.resigned = None
            self._show()
            return
        own = [
            index for index, move in enumerate(self.moves)
            if self.positions[index].side == self.human
        ]
        if not own:
            raise InputError("undo", "you have not played a move yet")
        del self.moves[own[-1] :]
        del self.positions[own[-1] + 1 :]
        self._show()

    def _hint(self, rest: str) -> None:
        """Says what the engine would play at full strength."""
        if self.over:
            raise InputError("hint", "the game is over")
        result = self._search(Limit(time=_HINT_TIME))
        print(f"{result.move} looks best ({men(result.score)} for you)")

    def _moves(self, rest: str) -> None:
        print(format_moves(self.position.legal_moves()) or "none")

    def _resign(self, rest: str) -> None:
        if self.over:
            raise InputError("resign", "the game is over")
        self.resigned = self.human
        self._show()

    def _set_level(self, rest: str) -> None:
        if rest:
            self.level = read_level(rest)
        print(f"level: {self.level.name if self.level else 'full strength'}")

    def _set_time(self, rest: str) -> None:
        if rest:
            self.seconds = read_seconds(rest)
        print(f"time: {self.seconds:g} s a move")

    def _swap(self, rest: str) -> None:
        """Turns the board round: the engine plays on for the person, and the other way."""
        self.human = 1 - self.human
        print(f"You play {COLOURS[self.human]} now.")

    def _new(self, rest: str) -> None:
        try:
            self.keep()
        except InputError as error:
            print(error)  # Below the record itself.
        del self.positions[1:]
        self.moves.clear()
        self.resigned = None
        self._seed = any_seed()
        self._searcher.clear()
        self._show()

    def _save(self, rest: str) -> None:
        if not rest:
            raise InputError("save", "expected the name of a file behind it")
        self.save(rest)

    def keep(self) -> None:
        """Saves a game that was played, where a file was named for it."""
        if self._path is not None and self.moves:
            self.save(self._path)

    def save(self, path: str) -> None:
        """Appends the record to a file; where that fails, it is printed and the error raised."""
        text = format_record(self.record())
        try:
            refuse_pipe(path)
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(text)
        except (OSError, ValueError) as error:
            print(text)
            if isinstance(error, InputError):
                raise
            reason = getattr(error, "strerror", None) or error
            raise InputError(path, f"the record cannot be written there ({reason})") from None
        print(f"The game is in {path}")

    def record(self) -> Record:
        """The game as a record; who resigns has lost, what was left unfinished has no result."""
        outcome = self.position.outcome()
        if self.resigned is not None:
            result, comment = ("0-1", "1-0")[self.resigned], f"{COLOURS[self.resigned]} resigns"
        elif outcome is not None:
            result, comment = outcome.result, str(outcome)
        else:
            result, comment = "*", ""
        names = ["merels", "merels"]
        if self.level is not None:
            names = [f"merels ({self.level.name})"] * 2
        names[self.human] = "You"
        return Record(
            start=self.positions[0],
            moves=list(self.moves),
            comments=[""] * (len(self.moves) - 1) + [comment],
            result=result,
            tags={
                "Event": "A game in the terminal",
                "Date": date.today().strftime("%Y.%m.%d"),
                "White": names[WHITE],
                "Black": names[BLACK],
            },
        )

    def _help(self, rest: str) -> None:
        print(_MOVES_HELP)
        for name, (_, text) in COMMANDS.items():
            print(f"  {name:<8} {text}")

    def _quit(self, rest: str) -> None:
        raise Leave


COMMANDS: dict[str, tuple[Callable[[Game, str], None], str]] = {
    "help": (Game._help, "this text"),
    "moves": (Game._moves, "the moves you can play"),
    "hint": (Game._hint, "what the engine would play for you"),
    "undo": (Game._undo, "take your last move back"),
    "board": (Game._show, "draw the board again"),
    "level": (Game._set_level, "L: play at another level (a name, a rating, or full)"),
    "time": (Game._set_time, "SECONDS: let it think longer or shorter"),
    "swap": (Game._swap, "change sides"),
    "resign": (Game._resign, "give the game up"),
    "new": (Game._new, "begin again"),
    "save": (Game._save, "FILE: append the record of the game to a file"),
    "quit": (Game._quit, "leave"),
}
