"""The rules of the game in readable Python: positions, legal moves and outcomes.

Tournaments use this module as their referee, and tests compare the compiled core with it: the two
share no move generation. A position is immutable; playing a move returns a new one.
"""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from merels.engine.common.errors import InputError, required, required_text, shown
from merels.engine.common.messages import message
from merels.engine.common.numbers import whole_number
from merels.engine.game.board import (
    ALL_POINTS,
    NAMES,
    NEIGHBOURS,
    PARTNERS,
    POINTS,
    SIZE,
    draw_board,
    format_board,
    in_mills,
    points_of,
)
from merels.engine.game.board import BLACK as BLACK
from merels.engine.game.board import COLOURS as COLOURS
from merels.engine.game.board import WHITE as WHITE
from merels.engine.game.drawing import draw_svg
from merels.engine.game.fields import START, Fields, read_fields
from merels.engine.game.rules import (
    DEFAULT_RULES,
    FLYING_MEN,
    MEN_PER_SIDE,
    MINIMUM_MEN,
    Rules,
    required_rules,
)

COUNTING_RULES = {
    "repetition": "Repetition", "three": "ThreeThreePlies", "norem": "NoRemovalPlies",
}  # fmt: skip
"""Reason of a draw by counting, and the rule field that sets its limit."""
_MOVE_TEXT = "a move such as d6, d6xb4, d6-d5 or d6-d5xc3"
_MOVE = re.compile(r"(?:([a-g][1-7])-?)?([a-g][1-7])((?:x[a-g][1-7]){0,2})")
LARGEST_COUNT = 1 << 31
"""Largest plies and move number of a position; a long game may exceed the limits of a text."""
LONGEST_HISTORY = 2_000
"""Maximum number of earlier positions that a position keeps, so that long games stay fast."""


class Move(NamedTuple):
    """A complete move: a man placed or moved, and the men removed for the mills that it closes.

    ``origin`` is None for a placement; ``removed`` are points in alphabetical order of their names.
    A move is made millions of times, so its fields are checked by the functions that take a move.
    """

    origin: int | None
    to: int
    removed: tuple[int, ...] = ()

    @classmethod
    def from_text(cls, text: str) -> Move:
        """Return the move of a token such as ``d6``, ``d6xb4``, ``d6-d5`` or ``d6-d5xc3``.

        Upper case and a missing dash are accepted; legality is not checked. `InputError` if the
        text is no move.
        """
        match = _MOVE.fullmatch(required_text(text, _MOVE_TEXT).lower())
        if match is None:
            raise InputError(text, message("expected {form}", form=_MOVE_TEXT))
        names = [name for name in (match[1], match[2], *match[3].split("x")[1:]) if name]
        for name in names:
            if name not in POINTS:
                raise InputError(text, f"expected points of the board, found {name}")
        if len(set(names)) != len(names):
            raise InputError(text, "expected each point once")
        origin = None if match[1] is None else POINTS[match[1]]
        removed = tuple(POINTS[name] for name in sorted(match[3].split("x")[1:]))
        return cls(origin, POINTS[match[2]], removed)

    def __str__(self) -> str:
        try:
            start = "" if self.origin is None else NAMES[self.origin] + "-"
            text = start + NAMES[self.to]
            for point in self.removed:
                text += "x" + NAMES[point]
            return text
        except (TypeError, IndexError):
            raise _no_move(self) from None

    def __repr__(self) -> str:
        return f"<Move {self if _has_points(self) else tuple(self)}>"


def _has_points(move: Move) -> bool:
    """Return whether a move consists of points of the board."""
    origin, to, removed = move
    return (
        (origin is None or type(origin) is int and 0 <= origin < SIZE)
        and type(to) is int and 0 <= to < SIZE and type(removed) is tuple
        and (not removed or all(type(point) is int and 0 <= point < SIZE for point in removed))
    )  # fmt: skip


def required_position(position: object) -> Position:
    """Return an argument that must be a `Position`; `InputError` if it is not."""
    return required(position, Position, "a Position; Position(text) reads one from a string")


def required_side(side: int) -> int:
    """Return an argument that must be WHITE or BLACK; `InputError` if it is not."""
    if type(side) is not int or side not in (WHITE, BLACK):
        raise InputError(shown(side), "expected a side: WHITE (0) or BLACK (1)")
    return side


def read_move(move: object) -> Move:
    """Return a `Move` or the move of a text; `InputError` for anything else."""
    if isinstance(move, Move) and _has_points(move):
        return move
    if isinstance(move, str):
        return Move.from_text(move)
    raise _no_move(move)


def _no_move(value: object) -> InputError:
    return InputError(shown(value), f"expected a Move, or {_MOVE_TEXT}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended: ``winner`` is WHITE, BLACK or None for a draw.

    ``reason`` is ``men`` (reduced to two), ``blocked``, ``repetition``, ``three`` (three against
    three without a removal) or ``norem`` (too long without a removal). `InputError` for others.
    """

    winner: int | None
    reason: str

    def __post_init__(self) -> None:
        if self.winner is not None:
            required_side(self.winner)
        if self.reason not in ("men", "blocked", *COUNTING_RULES):
            raise InputError(shown(self.reason), "expected the reason of an outcome, such as men")

    @property
    def result(self) -> str:
        """The result in PGN: ``1-0``, ``0-1`` or ``1/2-1/2``."""
        return "1/2-1/2" if self.winner is None else ("1-0", "0-1")[self.winner]

    def value(self, side: int) -> int:
        """Return 1 if that side has won, -1 if it has lost, 0 for a draw."""
        required_side(side)
        return 0 if self.winner is None else 1 if self.winner == side else -1

    def __str__(self) -> str:
        if self.winner is None:
            return {
                "blocked": "Draw, no move left",
                "repetition": "Draw by repetition",
                "three": "Draw, three against three",
                "norem": "Draw by the no-removal rule",
            }[self.reason]
        winner, loser = COLOURS[self.winner], COLOURS[1 - self.winner]
        if self.reason == "men":
            return message("{winner} wins, {loser} has two men", winner=winner, loser=loser)
        return message("{winner} wins, {loser} is blocked", winner=winner, loser=loser)


@dataclass(slots=True, init=False, repr=False)
class Position:
    """A position with everything that its legal moves and outcome depend on.

    ``Position(text, rules)`` reads six fields, or the 17 fields of Sanmill; ``Position(rules)`` is
    the starting position. `of` takes the fields. `InputError` for what is no position.

    ``men`` and ``hands`` are pairs (White's, Black's): masks of points, and numbers of men to
    place. ``plies`` counts plies without a removal since the last placement; ``number`` is the
    move number, which rises after Black's move. ``history`` holds the keys of at most
    `LONGEST_HISTORY` earlier positions since the last placement or removal, then this position's
    key. It holds only this position's key if the rules have no draw by repetition.
    """

    rules: Rules
    men: tuple[int, int]
    hands: tuple[int, int]
    side: int
    plies: int
    number: int
    history: tuple[int, ...]

    def __init__(self, text: str | Rules = START, rules: Rules = DEFAULT_RULES) -> None:
        if isinstance(text, Rules):
            position = Position.of(text)
        elif isinstance(text, str):
            position = Position.of(rules, *read_fields(text))
        else:
            raise InputError(
                shown(text), f"expected the text of a position, such as {START}; "
                "Position.of(rules, men, hands, side) takes its fields"
            )  # fmt: skip
        for name in self.__slots__:
            object.__setattr__(self, name, getattr(position, name))

    @classmethod
    def of(
        cls, rules: Rules = DEFAULT_RULES, men: tuple[int, int] = (0, 0),
        hands: tuple[int, int] = (MEN_PER_SIDE, MEN_PER_SIDE), side: int = WHITE, plies: int = 0,
        number: int = 1, history: tuple[int, ...] = (),
    ) -> Position:
        """Return the position of these fields."""
        required_rules(rules)
        for name, pair, high in (("men", men, ALL_POINTS), ("hands", hands, MEN_PER_SIDE)):
            if not isinstance(pair, tuple) or len(pair) != 2:
                expected = f"expected a tuple: White's {name}, Black's {name}"
                raise InputError(f"{name}={shown(pair)}", expected)
            for value in pair:
                whole_number(value, 0, high, name)
        if men[0] & men[1]:
            raise InputError(f"men={men!r}", "expected at most one man on each point")
        for colour, mask, hand in zip(COLOURS, men, hands):
            if mask.bit_count() + hand > MEN_PER_SIDE:
                found = f"{mask.bit_count()} on the board and {hand} in hand"
                raise InputError(
                    f"hands={hands!r}", f"expected at most {MEN_PER_SIDE} men for {colour}, "
                    f"found {found}",
                )  # fmt: skip
        whole_number(side, WHITE, BLACK, "side")
        whole_number(plies, 0, LARGEST_COUNT, "plies")
        whole_number(number, 1, LARGEST_COUNT, "number")
        key = make_key(men, hands, side)
        if not isinstance(history, tuple) or history and history[-1] != key:
            raise InputError("history", "expected a tuple of keys, the last one this position's")
        return _Draft(rules, men, hands, side, plies, number, history or (key,))

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: object) -> None:
            raise FrozenInstanceError(f"cannot set {name}: a position never changes")

        def __delattr__(self, name: str) -> None:
            raise FrozenInstanceError(f"cannot delete {name}: a position never changes")

    def __reduce__(self) -> tuple[type[Position], tuple[object, ...]]:
        return _Draft, tuple(getattr(self, name) for name in self.__slots__)

    @property
    def turn(self) -> int:
        """The side to move, WHITE or BLACK, as in ``side``."""
        return self.side

    def man_at(self, point: str) -> int | None:
        """Return whose man is on a point, such as ``d6``: WHITE, BLACK, or None if it is empty."""
        index = POINTS.get(point.lower()) if isinstance(point, str) else None
        if index is None:
            raise InputError(str(point), "expected a point of the board, such as d6")
        return WHITE if self.men[0] >> index & 1 else BLACK if self.men[1] >> index & 1 else None

    def fen(self) -> str:
        """Return the six fields of the position as text; ``Position(text, rules)`` reads them."""
        return str(Fields(self.men, self.hands, self.side, self.plies, self.number))

    @property
    def key(self) -> int:
        """Board, hands and side to move in 57 bits; positions with equal keys are repetitions."""
        return make_key(self.men, self.hands, self.side)

    def total(self, side: int) -> int:
        """Return a side's men, on the board and in hand."""
        required_side(side)
        return self.men[side].bit_count() + self.hands[side]

    def flies(self, side: int) -> bool:
        """Return whether a side, having no man in hand, may move to any empty point."""
        return self._flies(required_side(side))

    def _flies(self, side: int) -> bool:
        flying = self.rules.flying
        if flying == "never" or self.hands[side]:
            return False
        if flying == "own":
            return self.men[side].bit_count() == FLYING_MEN
        return self.hands == (0, 0) and any(men.bit_count() == FLYING_MEN for men in self.men)

    def _targets(self, origin: int | None) -> int:
        """Return the mask of points that a man may move to; ``origin`` is None for a placement."""
        empty = ALL_POINTS & ~(self.men[0] | self.men[1])
        if origin is None or self._flies(self.side):
            return empty
        return NEIGHBOURS[origin] & empty

    def _mills_closed(self, origin: int | None, to: int) -> int:
        """Return the number of mills that a move or placement closes: 0, 1 or 2."""
        own = self.men[self.side]
        if origin is not None:
            own &= ~(1 << origin)
        first, second = PARTNERS[to]
        return (own & first == first) + (own & second == second)

    def _removable(self, men: int) -> int:
        """Return the mask of those of a side's ``men`` that the opponent may remove next."""
        mills = in_mills(men)
        if mills == men and self.rules.locked_mills == "any":
            return men
        return men & ~mills

    def _removals(self, mills: int) -> list[tuple[int, ...]]:
        """Return each set of men that a move closing ``mills`` mills may remove.

        A set lists its points in alphabetical order of their names.
        """
        if mills == 0:
            return [()]
        count = mills if self.rules.double_mill == "each" else 1
        opponent = self.men[1 - self.side]
        sets: dict[tuple[int, ...], int] = {(): opponent}
        for _ in range(count):
            # Each man must be removable after the earlier ones are gone. Orders that remove the
            # same men share a key; all orders remove the same number of men.
            larger = {
                tuple(sorted((*removed, point), key=NAMES.__getitem__)): remaining & ~(1 << point)
                for removed, remaining in sets.items()
                for point in points_of(self._removable(remaining))
            }
            if not larger:
                break
            sets = larger
        return list(sets)

    def legal_moves(self) -> list[Move]:
        """Return every legal move, even after a draw; none if a side has fewer than three men."""
        if self._side_below_minimum() is not None:
            return []
        placing = self.hands[self.side] > 0
        origins = [None] if placing else points_of(self.men[self.side])
        return [
            Move(origin, to, removed)
            for origin in origins
            for to in points_of(self._targets(origin))
            for removed in self._removals(self._mills_closed(origin, to))
        ]

    def is_legal(self, move: Move | str) -> bool:
        """Return whether a move is legal here, even after a draw."""
        return self.objection(move) is None

    def objection(self, move: Move | str) -> str | None:
        """Return the reason why a move is illegal here, or None if it is legal.

        `InputError` if it is no move.
        """
        # Only ``removed`` is checked: the rules below find an invalid origin or destination.
        if type(move) is not Move or move.removed and not _has_points(move):
            move = read_move(move)
        try:
            origin, to, removed = move
            own = self.men[self.side]
            if self._side_below_minimum() is not None:
                return "the game is over"
            if self.hands[self.side]:
                if origin is not None:
                    return message("{side} still has men to place", side=COLOURS[self.side])
            elif origin is None:
                return message("{side} has no man in hand to place", side=COLOURS[self.side])
            elif not own >> origin & 1:
                wanted = ("no white man is on {point}", "no black man is on {point}")[self.side]
                return message(wanted, point=NAMES[origin])
            if not self._targets(origin) >> to & 1:
                if (self.men[0] | self.men[1]) >> to & 1:
                    return message("{point} is occupied", point=NAMES[to])
                if origin is None:  # Every empty point is a target of a placement.
                    raise _no_move(move)
                origin_name = NAMES[origin]
                return message("{to} is not next to {origin}", to=NAMES[to], origin=origin_name)
            mills = self._mills_closed(origin, to)
            if not mills:
                return "the move closes no mill and removes nothing" if removed else None
            return self._removal_objection(mills, removed)
        except (TypeError, ValueError, IndexError):
            # A point that is not on the board; a check in advance would slow down the referee.
            raise _no_move(move) from None

    def _removal_objection(self, mills: int, removed: tuple[int, ...]) -> str | None:
        """Return why a move closing ``mills`` mills may not remove these men, or None."""
        legal = self._removals(mills)
        if removed in legal:
            return None
        count = len(legal[0])
        if len(removed) != count:
            return (
                "the move must remove nothing", "the move must remove one man",
                "the move must remove two men",
            )[count]  # fmt: skip
        for point in removed:
            if not self.men[1 - self.side] >> point & 1:
                return message("no man of the opponent is on {point}", point=NAMES[point])
        men = " and ".join(NAMES[point] for point in removed)
        return message(
            "{men} may not be removed: a man in a mill is safe while others are not", men=men
        )

    def play(self, move: Move) -> Position:
        """Return the position after a move that is known to be legal; `push` checks any move.

        Illegal moves give impossible positions. `InputError` for anything but a `Move`.
        """
        if type(move) is not Move:
            raise InputError(shown(move), "expected a Move; push takes a text, too, and checks it")
        origin, to, removed = move
        side = self.side
        own = self.men[side] | 1 << to
        opponent = self.men[1 - side]
        hands = self.hands
        plies = self.plies + 1
        if origin is None:
            hands = (hands[0] - 1, hands[1]) if side == WHITE else (hands[0], hands[1] - 1)
        else:
            own &= ~(1 << origin)
        for point in removed:
            opponent &= ~(1 << point)
        if origin is None or removed or hands != (0, 0):
            plies = 0
        men = (own, opponent) if side == WHITE else (opponent, own)
        key = make_key(men, hands, 1 - side)
        if origin is None or removed or not self.rules.repetition:
            history: tuple[int, ...] = (key,)
        else:
            history = self.history[-LONGEST_HISTORY:] + (key,)
        return _Draft(self.rules, men, hands, 1 - side, plies, self.number + side, history)

    def push(self, move: Move | str) -> Position:
        """Return the position after a legal move, such as ``d6-d5xc3``.

        `InputError` states the reason if the text is no move or the move is illegal.
        """
        if isinstance(move, str):
            move = Move.from_text(move)
        objection = self.objection(move)
        if objection is not None:
            raise InputError(str(move), message("illegal move, {reason}", reason=objection))
        return self.play(move)

    def retrace(self) -> tuple[Position, tuple[Move, ...]]:
        """Return the first position of ``history``, and the moves from it to this one."""
        moves = []
        for (before, _, mover), (after, _, _) in pairwise(map(split_key, self.history)):
            # A move without a removal: one man has changed its point.
            old, new = before[mover], after[mover]
            moves.append(Move((old & ~new).bit_length() - 1, (new & ~old).bit_length() - 1))
        men, hands, side = split_key(self.history[0])
        count = len(moves)
        first = Position.of(
            self.rules, men, hands, side, self.plies - count if hands == (0, 0) else 0,
            self.number - (count + side) // 2,
        )
        return first, tuple(moves)

    def can_move(self) -> bool:
        """Return whether the side to move can place or move any man."""
        if self.hands[self.side]:
            return True
        empty = ALL_POINTS & ~(self.men[0] | self.men[1])
        men = self.men[self.side]
        while men:  # Faster than `points_of`: a referee calls this after every move.
            point = men.bit_length() - 1
            if NEIGHBOURS[point] & empty:
                return True
            men ^= 1 << point
        return self._flies(self.side)

    def _side_below_minimum(self) -> int | None:
        """Return the side that has two men or fewer, or None."""
        (white, black), (white_hand, black_hand) = self.men, self.hands
        # The common case first: a referee calls this twice a move.
        if white.bit_count() + white_hand >= MINIMUM_MEN <= black.bit_count() + black_hand:
            return None
        return self.side if self.total(self.side) < MINIMUM_MEN else 1 - self.side

    def outcome(self) -> Outcome | None:
        """Return the outcome if the game is over here, else None."""
        rules = self.rules
        loser = self._side_below_minimum()
        if loser is not None:
            return Outcome(1 - loser, "men")
        if not self.can_move():
            return Outcome(None if rules.blocked == "draws" else 1 - self.side, "blocked")
        if self.hands != (0, 0):
            return None
        # A position recurs after four plies at the earliest.
        if rules.repetition and len(self.history) > 4 * (rules.repetition - 1):
            if self.history.count(self.history[-1]) >= rules.repetition:
                return Outcome(None, "repetition")
        if rules.three_three_plies and self.plies >= rules.three_three_plies:
            white, black = self.men
            if white.bit_count() == FLYING_MEN == black.bit_count():
                return Outcome(None, "three")
        if rules.no_removal_plies and self.plies >= rules.no_removal_plies:
            return Outcome(None, "norem")
        return None

    def is_game_over(self) -> bool:
        """Return whether the game has an `outcome`."""
        return self.outcome() is not None

    def played_on(self) -> Position:
        """Return this position, without the counting rules if one of them has drawn the game.

        Records of programs that do not enforce such draws continue after them.
        """
        outcome = self.outcome()
        if outcome is None or outcome.reason not in COUNTING_RULES:
            return self
        return self.under(_without_counting(self.rules))

    def under(self, rules: Rules) -> Position:
        """Return this position under ``rules``; if they differ, without its history."""
        if rules == self.rules:
            return self
        return Position.of(rules, self.men, self.hands, self.side, self.plies, self.number)

    def svg(self, size: int = 400) -> str:
        """Return an SVG drawing of the board, ``size`` pixels wide."""
        return draw_svg(self.men, size)

    def _repr_svg_(self) -> str:
        """Return the drawing that a notebook shows."""
        return self.svg()

    def __hash__(self) -> int:
        return hash((self.key, self.plies, self.number))

    def __str__(self) -> str:
        """Return a diagram of the board, the side to move and the men in hand."""
        hands = f"in hand: White {self.hands[WHITE]}, Black {self.hands[BLACK]}"
        return f"{draw_board(self.men)}\n{COLOURS[self.side]} to move; {hands}"

    def __repr__(self) -> str:
        return (
            f"<Position {format_board(self.men)} {COLOURS[self.side]} {self.hands} {self.plies} "
            f"{self.number} ({self.rules})>"
        )


class _Draft(Position):
    """A position whose fields are still being set; then it becomes a `Position`.

    The referee makes one for every ply, and this is the fastest way to set read-only fields.
    """

    __slots__ = ()
    if not TYPE_CHECKING:  # Only with both methods does CPython use its fast setter.
        __setattr__ = object.__setattr__
        __delattr__ = object.__delattr__

    def __init__(
        self, rules: Rules, men: tuple[int, int], hands: tuple[int, int], side: int, plies: int,
        number: int, history: tuple[int, ...],
    ) -> None:
        self.rules = rules
        self.men = men
        self.hands = hands
        self.side = side
        self.plies = plies
        self.number = number
        self.history = history
        self.__class__ = Position  # type: ignore[assignment]


@lru_cache(maxsize=64)
def _without_counting(rules: Rules) -> Rules:
    """Return the rules with every draw by counting switched off."""
    return replace(rules, repetition=0, no_removal_plies=0, three_three_plies=0)


def make_key(men: tuple[int, int], hands: tuple[int, int], side: int) -> int:
    """Return the 57-bit key: two masks of 24 bits, two hands of 4 bits, 1 bit for the side."""
    hands_and_side = hands[0] | hands[1] << 4 | side << 8
    return men[0] | (men[1] | hands_and_side << SIZE) << SIZE


def split_key(key: int) -> tuple[tuple[int, int], tuple[int, int], int]:
    """Return the men, hands and side of a key of `make_key`."""
    hands_and_side = key >> 2 * SIZE
    hands = hands_and_side & 15, hands_and_side >> 4 & 15
    return (key & ALL_POINTS, key >> SIZE & ALL_POINTS), hands, hands_and_side >> 8
