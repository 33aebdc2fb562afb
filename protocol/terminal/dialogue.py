"""Games between a person and the engine in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from merels.engine.common.errors import InputError
from merels.engine.common.saving import append_whole
from merels.engine.game.notation import format_moves, join_steps, parse_move
from merels.engine.game.position import BLACK, COLOURS, WHITE, Move, Position
from merels.engine.search.levels import Level, any_seed, level_named
from merels.engine.search.limits import Limit, Result
from merels.engine.tools.show import men
from merels.protocol.games.game import Game
from merels.protocol.games.record import Record
from merels.protocol.games.writer import format_record
from merels.protocol.terminal.search import TerminalEngine, read_seconds
from merels.protocol.uci.streams import refuse_pipe

_HINT_TIME = 1.0
"""Thinking time for a hint, in seconds."""
_LOST_RESULTS = ("0-1", "1-0")
"""The result of a game, by the side that loses it."""
_OVER = "the game is over; type undo, save FILE, new or quit"

MOVES_HELP = """\
A move is one word: a placement 'd6' or a move 'd6-d5' (or 'd6d5'). If it closes a mill, name the
man to remove: 'd6-d5xc3'. Men are O (White) and @ (Black).
"""


def read_level(text: str) -> Level | None:
    """Return the level with a name or rating; None for ``full``, `InputError` if unknown."""
    return None if text.lower() == "full" else level_named(text, also="full")


class Dialogue:
    """Games between a person, who plays the side ``human``, and the engine.

    The engine thinks at most ``seconds`` for each move at ``level``, None for full strength.
    `auto_save` appends the game to the file ``path``.
    """

    def __init__(
        self, start: Position, human: int, level: Level | None, seconds: float,
        path: str | None = None,
    ) -> None:
        self.game = Game(start)
        self.human = human
        self.level = level
        self.seconds = seconds
        self._undo_asked = self._undo_confirmed = False
        """Whether the present command asked for a second undo, and whether the last command did."""
        self._path = path
        self._engine = TerminalEngine()
        self._seed = any_seed()

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self.game.last

    def run(self) -> None:
        """Play until the person leaves, which raises `EOFError` or `KeyboardInterrupt`."""
        if sys.stdin.isatty():
            with suppress(ImportError):
                import readline  # noqa: F401  (Adds line editing and a history to `input`.)
        print(f"You play {COLOURS[self.human]} under {self.position.rules}.")
        print("Type 'help' for the commands.\n")
        self._show()
        while True:
            if not self.game.over and self.position.side != self.human:
                self._engine_move()
            else:
                self._answer(input("game over> " if self.game.over else f"{COLOURS[self.human]}> "))

    def _answer(self, line: str) -> None:
        """Execute a line that the person typed; print an `InputError`."""
        words = line.split()
        if not words:
            return
        self._undo_asked, self._undo_confirmed = False, self._undo_asked
        try:
            command = COMMANDS.get(words[0].lower())
            if command is not None:
                command[0](self, " ".join(words[1:]))
            else:
                self._human_move(words)
        except InputError as error:
            print(error)

    def _human_move(self, words: list[str]) -> None:
        """Play the person's move; `InputError` if it is illegal."""
        try:
            (_, token), *more = join_steps(words)
            if more:
                raise InputError(more[0][1], "expected one move at a time")
            move = parse_move(token)
        except InputError as error:
            raise InputError(error.token, f"{error.expected}, or help") from None
        if self.game.over:
            raise InputError(token, _OVER)
        if not move.removed and not self.position.is_legal(move):
            closing = [each for each in self.position.legal_moves() if each[:2] == move[:2]]
            if closing:
                choice = ", ".join(map(str, closing))
                raise InputError(token, f"this closes a mill; name the man to remove: {choice}")
        self._play(move)

    def _engine_move(self) -> None:
        """Search and play the engine's move."""
        print("thinking ...", flush=True)
        limit = Limit(time=self.seconds)
        # With a fixed seed, a person could win every game by repeating the moves of a won game.
        level = self.level and replace(self.level, seed=self._seed)
        result = self._search(limit, level)
        assert result.move is not None
        print(f"{COLOURS[self.position.side]} plays {result.move}\n")
        self._play(result.move)

    def _search(self, limit: Limit, level: Level | None = None) -> Result:
        """Return the engine's result in the current position; KeyboardInterrupt on Ctrl-C."""
        self._engine.level = level
        result, interrupted = self._engine.search(self.position, limit)
        if interrupted:
            raise KeyboardInterrupt
        return result

    def _play(self, move: Move) -> None:
        self.game.play(move)
        self._show()

    def _show(self, argument: str = "") -> None:
        if self.game.over:  # A later change of level or side must not change the players' names.
            self.game.record.tags = self.record().tags
        print(self.position)
        result, reason = self.game.result()
        if self.game.ended is not None:
            print(f"{COLOURS[_LOST_RESULTS.index(result)]} has resigned")
        elif reason:
            print(f"The game is over: {reason}")
        print(flush=True)

    def _undo(self, argument: str) -> None:
        """Take back the person's last move and the moves after it, or a resignation.

        After the end of the game, the person must type ``undo`` twice; then `auto_save` saves the
        game before its end is taken back.
        """
        if self.game.over and not self._undo_confirmed:
            self._undo_asked = True
            raise InputError("undo", "the game is over; type undo again to take the end back")
        live = self.game.live
        own_nodes = [node for node in live.line()
                     if node.parent is not None and node.parent.position.side == self.human]
        if self.game.ended is None and not own_nodes:
            raise InputError("undo", "you have not played a move yet")
        if self.game.over:
            self._auto_save_or_print()
        if self.game.ended is not None:
            self.game.take_back(live)
        elif own_nodes[-1].parent is not None:
            self.game.take_back(own_nodes[-1].parent)
            self.game.record.remove(own_nodes[-1])
        self._show()

    def _hint(self, argument: str) -> None:
        """Print the best move that the engine finds at full strength in `_HINT_TIME`."""
        if self.game.over:
            raise InputError("hint", _OVER)
        result = self._search(Limit(time=_HINT_TIME))
        print(f"{result.move} looks best ({men(result.score)} for you)")

    def _moves(self, argument: str) -> None:
        print(format_moves(self.position.legal_moves()) or "none")

    def _resign(self, argument: str) -> None:
        if self.game.over:
            raise InputError("resign", _OVER)
        self.game.resign(self.human)
        self._show()

    def _set_level(self, argument: str) -> None:
        if argument:
            self.level = read_level(argument)
        print(f"level: {self.level.name if self.level else 'full strength'}")

    def _set_time(self, argument: str) -> None:
        if argument:
            self.seconds = read_seconds(argument)
        print(f"time: {self.seconds:g} s a move")

    def _swap(self, argument: str) -> None:
        """Change sides with the engine."""
        self.human = 1 - self.human
        print(f"You play {COLOURS[self.human]} now.")

    def _new(self, argument: str) -> None:
        self._auto_save_or_print()
        self.game = Game(self.game.record.start)
        self._seed = any_seed()
        self._engine.new_game()
        self._show()

    def _save(self, argument: str) -> None:
        if not argument:
            raise InputError("save", "expected the name of a file, as in save FILE")
        self.save(argument)

    def _auto_save_or_print(self) -> None:
        """Save the game as `auto_save` does; print the error if that fails."""
        try:
            self.auto_save()
        except InputError as error:
            print(error)

    def auto_save(self) -> None:
        """Append the game to the file ``path``, if one was named and the game has a move."""
        if self._path is not None and self.game.live.moves:
            self.save(self._path)

    def save(self, path: str) -> None:
        """Append the record to a file; if that fails, print the record and raise `InputError`."""
        text = format_record(self.record())
        try:
            refuse_pipe(path)
            append_whole(path, text.encode())
        except (OSError, ValueError) as error:
            print(text)
            if isinstance(error, InputError):
                raise
            reason = getattr(error, "strerror", None) or error
            raise InputError(path, f"cannot write the record to this file: {reason}") from None
        print(f"The game was saved to {path}")

    def record(self) -> Record:
        """Return the game as a record, with the result ``*`` if it is unfinished."""
        names = [f"merels ({self.level.name})" if self.level else "merels"] * 2
        names[self.human] = "You"
        record = self.game.snapshot((names[WHITE], names[BLACK]))
        record.tags["Event"] = "A game in the terminal"
        return record

    def _help(self, argument: str) -> None:
        print(MOVES_HELP)
        for name, (_, text) in COMMANDS.items():
            print(f"  {name:<8} {text}")

    def _quit(self, argument: str) -> None:
        raise EOFError


COMMANDS: dict[str, tuple[Callable[[Dialogue, str], None], str]] = {
    "help": (Dialogue._help, "print this text"),
    "moves": (Dialogue._moves, "print your legal moves"),
    "hint": (Dialogue._hint, "print the best move that the engine finds at full strength"),
    "undo": (Dialogue._undo, "take back your last move, or if typed twice, the end of the game"),
    "board": (Dialogue._show, "draw the board again"),
    "level": (Dialogue._set_level, "L: change the engine's level (a name, a rating, or full)"),
    "time": (Dialogue._set_time, "SECONDS: change the engine's time for each move"),
    "swap": (Dialogue._swap, "change sides"),
    "resign": (Dialogue._resign, "give up the game"),
    "new": (Dialogue._new, "start a new game"),
    "save": (Dialogue._save, "FILE: append the game's record to a file"),
    "quit": (Dialogue._quit, "leave"),
}
