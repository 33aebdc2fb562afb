"""Interface of the compiled core. Rules, boards and moves are plain numbers (see convert.py).

rules    (flying, locked mills safe, two men for two mills, blocked draws, repetition, no-removal
         plies, three-three plies). Flying is 0 for never, 1 for own, 2 for both.
board    (own men, opponent's men, own hand, opponent's hand, plies without a removal). Men on the
         board are a mask of points. Own men are those of the side to move.
move     to | origin << 5 | removed << 10 | second removed << 15. A field without a point has
         NO_POINT.
value    -1, 0 or 1 for a loss, a draw or a win of the side to move

All arguments are checked. Functions raise `ValueError` for an impossible value, such as overlapping
men, `TypeError` for a wrong type, and `OverflowError` for an integer out of range. They raise
`RuntimeError` for a worker in use, for a change to a set of tables in use, and for a use of a set
that is being changed. A search uses both until it returns, also while it calls its callback.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

_Rules = tuple[int, bool, bool, bool, int, int, int]
_Board = tuple[int, int, int, int, int]
_Line = tuple[int, int, list[int]]

# Constants of the game.
NO_POINT: int
MEN_PER_SIDE: int
FLYING_MEN: int
MINIMUM_MEN: int

# Constants of the search.
WIN: int                                 # a win n plies from the root has the score WIN - n
PROVEN: int                              # least score of a proven win
TABLE_WIN: int                           # a table win n plies from the root scores TABLE_WIN - n
LEAST_WIN: int                           # least score of a table win
MAX_DEPTH: int                           # plies
MAX_LINES: int                           # principal variations of one search

# Constants of the evaluation.
WEIGHTS_SIZE: int                        # size of the weights in bytes
ROW_NAMES: tuple[str, ...]               # names of a position's rows of weights

BLOCK_BYTES: int                         # size of an unpacked block of a packed table
SHARED_LAYOUT: tuple[int, ...]           # sizes in bytes of structures used by other extensions

def monotonic_ns() -> int:
    """Return the time in nanoseconds on the clock of all deadlines.

    It may differ from `time.monotonic_ns`.
    """

def perft(rules: _Rules, fields: _Board, depth: int) -> int:
    """Return the number of legal move sequences of ``depth`` plies, 0 to `MAX_DEPTH`.

    Draws by repetition or by a limit on plies do not end a sequence.
    """

def legal_moves(rules: _Rules, fields: _Board) -> list[int]:
    """Return all legal moves; draws by repetition or by a limit on plies are ignored."""

def fail_assertion() -> None:
    """For tests: fail an assertion in a build with assertions; do nothing in other builds."""

def outcome(rules: _Rules, fields: _Board, history: Sequence[int]) -> tuple[str, int]:
    """Return the reason why the game is over, or "", and the game's value.

    ``history`` is as in `SearchWorker.run`.
    """

def evaluate(rules: _Rules, fields: _Board) -> int:
    """Return the static evaluation for the side to move, in hundredths of a man."""

def terms(rules: _Rules, fields: _Board) -> list[float]:
    """Return the parts of `evaluate`: for each of ``ROW_NAMES``, then for the hidden layer."""

def parameters() -> list[tuple[str, int, int, int]]:
    """Return name, value, minimum and maximum of each search parameter.

    The list is empty except in a build for tuning.
    """

def set_parameter(index: int, value: int) -> None:
    """Set a parameter by its index in `parameters`; `ValueError` if the value is out of bounds."""

def load_weights(data: bytes) -> None:
    """Set the weights of the evaluation; `ValueError` for a wrong size, or if sums may overflow."""

class TranspositionTable:
    """A transposition table, shared by the workers of one searcher.

    A search may use only a part of the table. The table is not locked: do not clear it during a
    search. `ValueError` for less than 1 MiB, `MemoryError` if the system refuses the memory.
    """

    @property
    def shared(self) -> object:
        """Capsule for the other extensions."""

    def __init__(self, megabytes: int, megabytes_in_use: int = 0) -> None:
        """Allocate a table; searches use only the given part, or the whole table if it is 0."""

    def clear(self, megabytes_in_use: int = 0) -> None:
        """Clear the table, and set the part in use; 0: the whole table."""

    def megabytes_in_use(self) -> int:
        """Return the size of the part in use."""

    def new_search(self) -> None:
        """Start a new generation, so that entries of earlier searches are replaced sooner."""

    def full(self) -> int:
        """Estimate from 1000 entries the permille of the whole table that this search filled."""

class Deadline:
    """A time at which the searches that share this object end; initially never."""

    def set(self, at: int | None, for_proofs: int | None = None) -> None:
        """Set the time, on the clock of `monotonic_ns`; None: never. Any thread may call this.

        A proof of a shortest win or longest loss ends at ``for_proofs``, or at ``at`` if None.
        """

class SearchWorker:
    """The search of one thread, which keeps its move-ordering history between searches.

    A new worker has no history.

    nodes       number of nodes of the running or last search
    table_hits  number of tablebase hits of the running or last search
    better      best line of an interrupted iteration, if it beats the last report by a better move
                or by a new or shorter proven win; its score is a lower bound. Otherwise None
    """

    nodes: int
    table_hits: int
    better: _Line | None

    @property
    def shared(self) -> object:
        """Capsule for the other extensions."""

    def __init__(self, table: TranspositionTable) -> None: ...
    def reset_counts(self) -> None:
        """Set ``nodes`` and ``table_hits`` to 0."""

    def clear(self) -> None:
        """Clear the move-ordering history."""

    def run(
        self,
        rules: _Rules,
        fields: _Board,
        history: Sequence[int],
        root_moves: Sequence[int],
        report: Callable[[int, list[_Line]], bool] | None,
        *,
        side: int = 0,
        ranks: Sequence[int] = (),
        tables: TableSet | None = None,
        table_men: int = 24,
        first_depth: int = 1,
        max_depth: int = ...,
        node_limit: int = 0,
        deadline: Deadline | None = None,
        lines: int = 1,
        errors: tuple[int, int, int, int, int, int] | None = None,
        reported_win: int = 0,
    ) -> bool:
        """Search by iterative deepening until a limit or ``report`` ends it.

        history         keys of the game's earlier positions that may recur, oldest first
        root_moves      legal moves to choose from
        report          called after each completed iteration with its depth and lines, the best
                        first; a line is (score, selective depth, principal variation). The search
                        ends if `report` returns True. None: only fill the transposition table
        side            colour to move, 0 or 1, which selects the move-ordering history
        ranks           ranks of the root moves in rising order; a move of a lower rank is always
                        reported before one of a higher rank
        tables          tablebase, probed in positions with fewer than ``table_men`` men, those in
                        hand included
        first_depth     depth of the first iteration, which is always completed
        max_depth       depth of the last iteration; more than ``MAX_DEPTH`` counts as ``MAX_DEPTH``
        node_limit      node limit of this worker; 0: none
        deadline        time at which the search ends. Any thread may change it at any time; a
                        time in the past stops the search
        lines           number of principal variations; there are at most ``MAX_LINES``
        errors          errors of a strength level: insight, greed, freedom, noise, oversight, seed
        reported_win    plies within which an earlier search reported a win here; 0: none. The
                        search takes this win from the transposition table, if still stored

        Return whether the last iteration was interrupted before it was complete.
        """

def table_limit(rules: _Rules, own: int, opponent: int) -> int:
    """Return the limit on plies without a removal with these numbers of men; 0: no limit."""

def table_places(own: int, opponent: int, hand: int = 0) -> int:
    """Return the number of places in a table.

    ``own`` is the number of men of the side to move, ``opponent`` that of the other side, ``hand``
    the number of men in hand of both sides together.
    """

def table_board(own: int, opponent: int, place: int, hand: int = 0) -> tuple[int, int]:
    """Return the masks (own, opponent) at a place, as FORMAT.md defines it.

    The other arguments are as in `table_places`. `ValueError` if there is no such place.
    """

class _Blocks(Protocol):
    """A packed table."""

    def block(self, number: int, /) -> bytes:
        """Return an unpacked block of `BLOCK_BYTES` bytes; the last block may be shorter."""

_Values = memoryview | bytearray | bytes | _Blocks

class TableSet:
    """Open tables of one rule set.

    A table is identified by the numbers of own men, opponent's men, and men in hand of both sides
    together. `RuntimeError` if a table is added or removed while another thread reads the set.
    """

    @property
    def shared(self) -> object:
        """Capsule for the other extensions."""

    def __init__(self, rules: _Rules) -> None: ...
    def add(
        self,
        tables: Iterable[tuple[int, int, int, _Values, memoryview | bytearray | bytes | None]],
    ) -> None:
        """Add or replace tables, all at the same time.

        A table is (own, opponent, hand, values, depths): unpacked values, or a packed table, which
        is read through a cache of unpacked blocks; and a list of depths, or None. Positions in a
        block that cannot be unpacked have no value. `ValueError` for truncated values, and for a
        list that is truncated, not in order, or of positions with men in hand.
        """

    def remove(self, own: int, opponent: int, hand: int) -> None:
        """Remove the values of an unpacked table; `KeyError` if there are none."""

    def has(self, own: int, opponent: int, hand: int = 0) -> bool: ...
    def has_depths(self, own: int, opponent: int) -> bool: ...
    def probe(self, fields: _Board) -> tuple[int, int] | None:
        """Return a board's value and depth to conversion in plies; None if no table has the board.

        The board's plies without a removal are ignored. With an odd number of men in hand, the
        value is the best value of the moves. The depth is -1 for a draw or if the table has no
        depths, and 255 for 255 or more.
        """

    def moves(
        self,
        rules: _Rules,
        fields: _Board,
        history: Sequence[int],
        root_moves: Iterable[int] | None = None,
        *,
        deadline: Deadline | None = None,
        not_before: int = 0,
        equal_wins: bool = False,
    ) -> list[tuple[int, int | None, int | None, bool, bool, bool, int]]:
        """Return a row for each of ``root_moves``, or for each legal move, the best first.

        A row is (move, value, depth, certain, nearly drawn, repeats, rank). The value, None if
        unknown, is for the side that plays the move, and accounts for the repetitions and plies of
        the game; ``rules`` and ``history`` are as in `SearchWorker.run`. The depth counts the move
        and is 1 for a move that removes a man or ends the game; None for a draw, and if unknown.
        A win or loss is not *certain* if a limit on plies or a repetition may turn it into a draw.
        *Nearly drawn* marks a loss for which that may happen soon, *repeats* a draw that ends the
        game or repeats one of its positions.

        Wins rank before draws, draws before losses, unknown values last. Certain wins rank before
        uncertain ones and, if all wins have a depth, short wins before long ones; ``equal_wins``:
        all wins have one rank. Draws that repeat rank after other draws, nearly drawn losses before
        other losses.

        If ``deadline`` has passed, but not before the time ``not_before`` of `monotonic_ns`, only
        the moves looked up until then have rows.
        """

    def bounds(self, fields: _Board) -> tuple[int, int] | None:
        """Return the least and the greatest value that a board may have; None as in `probe`.

        They differ if the plies without a removal may turn a win or loss into a draw, and the table
        has no depths that decide this.
        """
