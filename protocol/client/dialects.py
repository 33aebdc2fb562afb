"""The dialects of the protocol: UCI, UGI and Sanmill's.

An adapter has no state. It writes the commands for an engine and reads the engine's answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from merels.engine.common.errors import InputError
from merels.engine.game.notation import (
    START,
    format_moves,
    format_position,
    format_seventeen,
    parse_move,
)
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import DEFAULT_VARIANT, FIELDS, PRESETS, Rules, make_rules
from merels.engine.search.limits import Info, Limit
from merels.protocol.client.answers import SANMILL_ERROR, Answer, RunSearch
from merels.protocol.client.info import parse_info
from merels.protocol.client.scanner import InfoSummary, parse_summary
from merels.protocol.common.options import Options
from merels.protocol.process.errors import EngineError


class UciAdapter:
    """The UCI dialect, and the base class of the other dialects."""

    name = "uci"
    hello = b"uci\n"
    ready = b"uciok"
    """The engine's answer to ``hello``."""
    new_game = b"ucinewgame\n"
    inside = False
    """Whether ``bestmove`` may come at the end of an info line."""
    white_view = False
    """Whether scores are White's view, not the mover's."""
    mate_in_plies = False
    """Whether mate scores count plies, not moves."""
    in_steps = False
    """Whether the engine needs a search for each step of a move: the placement, each removal."""
    own_rules: Rules | None = None
    """The rules that an engine plays by default; None: those of its variant."""
    can_ponder = True
    has_template = True
    """Whether `go` returns the `go_template` with the clocks filled in."""
    clock_words = ("wtime", "btime", "winc", "binc")
    """Words of ``go``: White's and Black's clock, White's and Black's increment."""

    def position(self, start: Position, moves: Sequence[Move] = ()) -> bytes:
        """Return the ``position`` line for ``moves`` played from ``start``, without a line feed."""
        line = b"position " + self._start_text(start)
        for index, move in enumerate(moves):
            line = self.append(line, move, index == 0)
        return line

    def append(self, line: bytes, move: Move, first: bool) -> bytes:
        """Return a ``position`` line with one more move; ``first`` if the line has no move yet."""
        # "moves" is sent only with a move: a bare "moves" is legal, but some engines crash on it.
        return line + (b" moves " if first else b" ") + self.token(move)

    def token(self, move: Move) -> bytes:
        """Return a move as the engine reads it."""
        return move_bytes(move)

    def _start_text(self, start: Position) -> bytes:
        text = format_position(start)
        return b"startpos" if text == START else b"fen " + text.encode()

    def go(
        self, limit: Limit, side: int, *, root_moves: Sequence[Move] = (),
        infinite: bool = False, ponder: bool = False,
    ) -> bytes:  # fmt: skip
        """Return the ``go`` line for ``side``, with line feed, and any line to send before it."""
        template = self.go_template(limit, root_moves=root_moves, infinite=infinite, ponder=ponder)
        clocks = (limit.white_clock, limit.black_clock)
        return template % tuple(milliseconds(clock) for clock in clocks if clock is not None)

    def go_template(
        self, limit: Limit, *, root_moves: Sequence[Move] = (), infinite: bool = False,
        ponder: bool = False,
    ) -> bytes:  # fmt: skip
        """Return the ``go`` line with ``%d`` in place of each clock's value."""
        words = ["go"]
        if ponder:
            words.append("ponder")
        if infinite:
            words.append("infinite")
        for word, clock in zip(self.clock_words, (limit.white_clock, limit.black_clock)):
            if clock is not None:
                words += (word, "%d")
        for word, value in (
            (self.clock_words[2], milliseconds(limit.white_inc)),
            (self.clock_words[3], milliseconds(limit.black_inc)),
            ("movestogo", limit.remaining_moves),
            ("movetime", thinking_time(limit)),
            ("depth", limit.depth),
            ("nodes", limit.nodes),
            ("mate", limit.mate),
        ):
            if value is not None:
                words += (word, str(value))
        if root_moves:
            words += ("searchmoves", format_moves(root_moves))
        return " ".join(words).encode() + b"\n"

    def ask(
        self, search: RunSearch, position: Position, line: bytes, go: bytes, timeout: int
    ) -> Answer | None:
        """Return the answer for a whole move, from a search for the step and for each removal.

        All searches together take at most ``timeout`` nanoseconds. ``line`` is the ``position``
        line for ``position``. Called only if ``in_steps`` is True.
        """
        raise NotImplementedError

    def info_summary(self, info: bytes, side: int) -> InfoSummary:
        """Return score, depth and nodes of an info line about a search for ``side``."""
        return parse_summary(info, side, self.white_view, self.mate_in_plies)

    def info(self, info: bytes, position: Position) -> Info:
        """Return the contents of an info line about a search of ``position``."""
        return parse_info(info, position, self.white_view, self.mate_in_plies)

    def rule_options(self, field: str) -> tuple[str, ...]:
        """Return the names of the engine options that set a rule field."""
        return (field,)

    def settings(self, rules: Rules, offered: Options) -> list[tuple[str, str]]:
        """Return names and values of the options to set for ``rules``, of those ``offered``."""
        chosen: list[tuple[str, str]] = []
        preset: Rules | None = None
        variants = offered.get("UCI_Variant")
        if variants is not None and rules.variant in variants.choices:
            chosen.append((variants.name, rules.variant))
            preset = PRESETS[rules.variant]
        for field in FIELDS:
            value = getattr(rules, field.attribute)
            if field.name in offered and value != getattr(preset, field.attribute, None):
                chosen.append((offered[field.name].name, str(value)))
        return chosen

    def missing_rules(self, rules: Rules, offered: Options) -> list[str]:
        """Return the rule fields that cannot be set in an engine, as ``Name=value``.

        A field without an option is not missing if the engine assumes its value anyway: those of
        mill, unless the engine has the option UCI_Variant, or `own_rules`. A field whose option
        rejects the value is listed with the reason.
        """
        sent = {name.lower(): value for name, value in self.settings(rules, offered)}
        variant = offered.get("UCI_Variant")
        name = sent.get("uci_variant", DEFAULT_VARIANT if variant is None else variant.default)
        assumed = [each for each in (PRESETS.get(name.lower()), self.own_rules) if each]
        missing = []
        for field in FIELDS:
            value = getattr(rules, field.attribute)
            options = [name for name in self.rule_options(field.name) if name.lower() in sent]
            text = f"{field.name}={value}"
            try:
                for option in options:
                    offered[option].check(sent[option.lower()])
            except InputError as error:
                missing.append(f"{text} ({error.expected})")
                continue
            if not options and all(value != getattr(each, field.attribute) for each in assumed):
                missing.append(text)
        return missing


class UgiAdapter(UciAdapter):
    """The dialect of the Universal Game Interface: clocks of players 1 and 2, mates in plies."""

    name = "ugi"
    hello = b"ugi\n"
    ready = b"ugiok"
    new_game = b"uginewgame\n"
    mate_in_plies = True
    can_ponder = False
    clock_words = ("p1time", "p2time", "p1inc", "p2inc")


class SanmillAdapter(UciAdapter):
    """Sanmill's dialect: a removal is a separate token and a separate search."""

    name = "sanmill"
    inside = True
    in_steps = True
    white_view = True
    own_rules = make_rules("morris", ["NoRemovalPlies=100"])
    can_ponder = False
    has_template = False

    OVERRUN = 3
    """Assumed ratio of Sanmill's thinking time to MoveTimeMs; 1.7 to 3.2 were measured."""
    MOVES_LEFT = 30
    """Moves over which a clock is divided if the limit has no ``remaining_moves``."""

    def _start_text(self, start: Position) -> bytes:
        if format_position(start) == START:
            return b"startpos"
        return b"fen " + format_seventeen(start).encode()

    def token(self, move: Move) -> bytes:
        """Return the move with a token for each step: ``d6-d5 xc3``."""
        return str(move).replace("x", " x").encode()

    def go(
        self, limit: Limit, side: int, *, root_moves: Sequence[Move] = (),
        infinite: bool = False, ponder: bool = False,
    ) -> bytes:  # fmt: skip
        """Return ``go``, after a ``setoption`` line if ``limit`` has a time or the mover's clock.

        That line sets MoveTimeMs, which also ends searches by depth or nodes. ``mate`` and
        ``searchmoves`` are left out, because Sanmill has neither. Older builds ignore ``nodes``.
        """
        words = b"go infinite" if infinite else b"go"
        if limit.depth is not None and not infinite:
            words += b" depth %d" % limit.depth
        if limit.nodes is not None and not infinite:
            words += b" nodes %d" % limit.nodes
        budget = thinking_time(limit)
        clock = milliseconds(limit.clock(side))
        if budget is None and clock is not None:
            moves_left = limit.remaining_moves or self.MOVES_LEFT
            budget = min(clock, clock // moves_left + (milliseconds(limit.increment(side)) or 0))
        if budget is None:
            return words + b"\n"
        move_time = max(1, budget // self.OVERRUN)
        return b"setoption name MoveTimeMs value %d\n%s\n" % (move_time, words)

    def ask(
        self, search: RunSearch, position: Position, line: bytes, go: bytes, timeout: int
    ) -> Answer | None:
        answer = search(line + b"\n" + go, timeout)
        if answer is None:
            return None
        words = answer.text.split()
        if words[:1] == [SANMILL_ERROR.encode()]:
            return answer
        text, elapsed = words[0] if words else b"", answer.elapsed
        for _ in range(self._removals(position, text)):
            line += (b" " if b" moves " in line else b" moves ") + text.rpartition(b" ")[2]
            removal = search(line + b"\n" + go, timeout - elapsed)
            if removal is None:
                return None
            elapsed += removal.elapsed
            words = removal.text.split()
            text += b" " + (words[0] if words else b"")
        return Answer(text, answer.info, elapsed)

    def _removals(self, position: Position, text: bytes) -> int:
        """Return the number of men to remove after a step.

        0 for an illegal step, and for a step whose text includes its removals.
        """
        try:
            origin, to, taken = parse_move(text.decode("ascii", "replace"))
        except InputError:
            return 0
        for move in position.legal_moves():
            if move.origin == origin and move.to == to:
                return 0 if taken else len(move.removed)
        return 0

    def rule_options(self, field: str) -> tuple[str, ...]:
        return ("NMoveRule", "EndgameNMoveRule") if field == "NoRemovalPlies" else ()

    def settings(self, rules: Rules, offered: Options) -> list[tuple[str, str]]:
        """Return Sanmill's two options for NoRemovalPlies; none if the rules have no limit."""
        plies = str(rules.no_removal_plies)
        return [
            (offered[name].name, plies)
            for name in self.rule_options("NoRemovalPlies")
            if name in offered and rules.no_removal_plies
        ]


DIALECTS: Mapping[str, UciAdapter] = {
    adapter.name: adapter for adapter in (UciAdapter(), UgiAdapter(), SanmillAdapter())
}


def milliseconds(seconds: float | None) -> int | None:
    """Return a time in whole milliseconds, the unit of the protocol; None for None."""
    return None if seconds is None else round(seconds * 1000)


def thinking_time(limit: Limit) -> int | None:
    """Return the time limit in milliseconds, at least 1, since 0 leaves no time to search."""
    time = milliseconds(limit.time)
    return None if time is None else max(1, time)


@lru_cache(maxsize=1 << 14)
def move_bytes(move: Move) -> bytes:
    """Return a move as a token of the protocol; cached, since games repeat moves."""
    return str(move).encode()


def dialect(name: str) -> UciAdapter:
    """Return the adapter of the named dialect; `EngineError` for an unknown name."""
    adapter = DIALECTS.get(str(name).lower())
    if adapter is None:
        raise EngineError(f"no such protocol: '{name}'; expected {', '.join(DIALECTS)}")
    return adapter
