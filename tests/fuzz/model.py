"""What the protocol loop should be at after some lines: a slow, single-threaded reading of them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field

from merels.engine.game.errors import InputError
from merels.engine.game.notation import format_position
from merels.engine.game.position import Position
from merels.engine.game.rules import FIELDS
from merels.protocol.uci.dialects import Uci
from merels.protocol.uci.go_command import parse_go
from merels.protocol.uci.options import RULE_OPTIONS, Settings, split_setting
from merels.protocol.uci.position_command import Setup, read_setup, replay
from merels.protocol.uci.session import COMMANDS

BEHIND_NOISE = (
    "uci", "ugi", "debug", "isready", "setoption", "position", "go", "stop", "ponderhit"
)
MOST_STATES = 64


@dataclass
class State:
    """A position on the board and the options that made it."""

    setup: Setup = field(default_factory=Setup)
    options: Settings = field(default_factory=Settings)

    @property
    def signature(self) -> tuple[str, str]:
        """Position and rules as the command ``d`` prints them."""
        rules = self.setup.position.rules
        fields = " ".join(f"{f.name}={getattr(rules, f.attribute)}" for f in FIELDS)
        return format_position(self.setup.position), f"{rules.variant} {fields}"


class Model:
    """The states that the loop may be in, and how many answers of each kind it owes.

    There is one state, except behind a ``setoption`` that came while a bounded search may still
    have been running: then the loop was free to refuse it.
    """

    def __init__(self) -> None:
        self.states = [State()]
        self.dialect = "uci"
        self.readies = 0
        self.best_moves = 0
        self.accepted = 0
        self.rejected = 0
        self.searching = "no"
        """Whether a search runs: no, maybe, or yes (until it is told to stop)."""

    def line(self, data: bytes) -> None:
        """Take a line without its end."""
        text = data.decode("utf-8", "replace").strip("\ufeff\0 \t\r\n")
        words = text.split()
        start = 0
        while start < len(words) and words[start].lower() not in (
            BEHIND_NOISE if start else COMMANDS
        ):
            start += 1
        if start == len(words):
            self.rejected += 1
            return
        rest = (text.split(None, start + 1)[start + 1 :] or [""])[0]
        try:
            self._command(words[start].lower(), rest)
            self.accepted += 1
        except InputError:
            self.rejected += 1

    def _command(self, name: str, rest: str) -> None:
        if name in ("uci", "ugi"):
            self.dialect = name
        elif name == "isready":
            self.readies += 1
        elif name == "position":
            self._each(lambda state: read_setup(rest.split(), state.options.rules))
        elif name in ("ucinewgame", "uginewgame"):
            self.searching = "no"
            self._each(lambda state: Setup().under(state.options.rules))
        elif name == "flip":
            self._each(_flipped)
        elif name == "setoption":
            self._set_option(rest)
        elif name in ("go", "perft"):
            self._go(f"perft {rest}" if name == "perft" else rest, name)
        elif name == "stop":
            self.searching = "no"
        elif name == "ponderhit" and self.searching == "yes":
            self.searching = "maybe"

    def _each(self, change: object) -> None:
        """Change every state; an error that all of them meet is the line's."""
        errors = []
        for state in self.states:
            try:
                state.setup = change(state)  # type: ignore[operator]
            except InputError as error:
                errors.append(error)
        if len(errors) == len(self.states):
            raise errors[0]

    def _set_option(self, rest: str) -> None:
        if self.searching == "yes":
            raise InputError(rest, "a search is running")
        states = []
        for state in self.states:
            after = State(state.setup, deepcopy(state.options))
            option = after.options.set(*split_setting(rest))
            if option.name in RULE_OPTIONS:
                rules = after.options.rules
                try:
                    after.setup = after.setup.under(rules)
                except InputError:
                    after.setup = Setup().under(rules)
            elif option.name == "Debug Log File" and after.options[option.name]:
                raise InputError(rest, "the fuzzer lets no log be opened")
            states.append(after)
        if self.searching == "maybe":
            states += self.states
        kept = {state.signature: state for state in states}
        assert len(kept) <= MOST_STATES
        self.states = list(kept.values())

    def _go(self, rest: str, name: str) -> None:
        go = parse_go(rest.split(), self.states[0].setup.position, Uci())
        if name == "perft" and go.perft is None:
            raise InputError(rest, "perft without its number")
        if go.perft is None:
            self.best_moves += 1
        endless = go.infinite or go.ponder
        self.searching = "yes" if endless and go.perft is None else "maybe"


def _flipped(state: State) -> Setup:
    old: Position = state.setup.position
    flipped = Position(
        old.rules, old.men[::-1], old.hands[::-1], 1 - old.side, old.plies, old.number
    )
    return replay(format_position(flipped), (), old.rules)
