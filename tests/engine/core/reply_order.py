"""The order in which a node searches its moves, seen from outside.

The node is the position after a root move. Results in the table make each reply refute the move or
lose. The node then ends with the first reply that refutes the move, and stores this reply. An
earlier root move, of no worth, gives the window that a refutation exceeds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from merels.engine.core import core
from merels.engine.core.convert import core_moves
from merels.engine.game.position import WHITE, Position
from merels.engine.game.rules import make_rules
from tests.engine.core.known_values import (
    EXACT,
    LOWER,
    NO_MOVE,
    QUIET,
    UPPER,
    Entry,
    Search,
    after,
    key_of,
)

REFUTES, LOSES = Entry(-500, 99, EXACT), Entry(core.WIN - 50, 99, EXACT)
"""Results after a reply. Late moves are not pruned while the earlier ones lose."""


def put_results(search: Search, position: Position, refuting: Collection[int]) -> None:
    """Store results by which some moves of a position refute the move before, and others lose.

    No move may end the game.
    """
    for move in core_moves(position):
        search.put(after(position, move), REFUTES if move in refuting else LOSES)


def first_reply(
    search: Search, position: Position, refuting: Collection[int], depth: int
) -> int:
    """Return the reply that a search has stored for a node of this depth, one of ``refuting``."""
    entry = search.get(position)
    assert entry is not None and entry[1:3] == (depth, LOWER) and entry.move in refuting
    return entry.move


class Player:
    """Searches that keep their history of move ordering, with a root of the moving phase.

    The first root move repeats a position for the third time. It is a draw without any search, so
    the history has only the refutations that a test asks for.
    """

    RULES = make_rules("morris", ["Repetition=3", "NoRemovalPlies=0", "ThreeThreePlies=0"])
    ROOT = Position.of(RULES, QUIET.men, (0, 0), WHITE, plies=8)
    MOVES = core_moves(ROOT)[1:]

    def __init__(self, root: Position = ROOT) -> None:
        """``root`` has `RULES`, White to move and at least eight plies without a removal."""
        self.search, self.root, self.draw = Search(), root, core_moves(root)[0]
        self._occurred = [0, key_of(after(root, self.draw)), 0, 0] * 2

    def first_reply(
        self, move: int, refuting: Collection[int], depth: int = 2,
        refuted: Mapping[int, int] = MappingProxyType({}),
    ) -> int:
        """Return the first of some replies that refute a move, in a node of this depth.

        Earlier root moves are ``refuted`` by one reply each. Killers last for one call.
        """
        wanted = {**{earlier: [reply] for earlier, reply in refuted.items()}, move: refuting}
        self.search.table.clear()
        for root_move, replies in wanted.items():
            put_results(self.search, after(self.root, root_move), replies)
        self.search.run(self.root, depth + 1, [self.draw, *wanted], keep_history=True,
                        game=self._occurred)
        for root_move, replies in wanted.items():
            first = first_reply(self.search, after(self.root, root_move), replies, depth)
        return first


def start_of(root: Position, move: int) -> int | None:
    """Return another root move, for the start of a search that shows the order of replies.

    Neither this move nor a reply ends the game or leads to a position two plies after ``move``.
    None: there is no such move.
    """

    def ends(first: int) -> list[Position]:
        child = after(root, first)
        return [child, *(after(child, reply) for reply in core_moves(child))]

    reached = {key_of(end) for end in ends(move)}
    for other in core_moves(root):
        if all(end.outcome() is None and key_of(end) not in reached for end in ends(other)):
            return other
    return None


def order_of_replies(root: Position, move: int, table_move: int = NO_MOVE) -> list[int]:
    """Return all replies to a move in the order in which a search without history tries them.

    The root may be of any phase. No line of two plies may end the game.
    """
    start, child = start_of(root, move), after(root, move)
    assert start is not None
    search, left, order = Search(), core_moves(child), list[int]()
    while left:
        search.table.clear()
        put_results(search, child, left)
        if table_move != NO_MOVE:
            search.put(child, Entry(0, 0, UPPER, table_move))
        search.run(root, 3, [start, move])
        order.append(first_reply(search, child, left, 2))
        left.remove(order[-1])
    return order
