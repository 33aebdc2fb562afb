"""The compiled core as Python sees it. Rules, boards and moves are plain numbers (see convert.py).

rules    (flying 0 never 1 own 2 both, locked mills safe, two men for two mills, blocked draws,
         repetition, no-removal plies, three-three plies)
board    (own men, opponent's men, own hand, opponent's hand, plies without a removal), the men as
         masks; own is the side to move
move     to | origin << 5 | removed << 10 | second removed << 15, with NO_POINT for none
value    -1, 0 or 1 for a loss, a draw or a win of the side to move

Whatever is given is checked. `ValueError` where it cannot be, as impossible rules or boards;
`TypeError` where it is of another type; `OverflowError` for a number that nothing can be;
`RuntimeError` where an object is in use: by a search of its own, or by threads that still read it.
"""

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

_Rules = tuple[int, bool, bool, bool, int, int, int]
_Board = tuple[int, int, int, int, int]
_Line = tuple[int, int, list[int]]

# Of the game.
NO_POINT: int
MEN_PER_SIDE: int
FLYING_MEN: int
MINIMUM_MEN: int

# Of the search: scores, the largest depth and the largest number of lines.
WIN: int
PROVEN: int
TABLE_WIN: int
FAR: int
MAX_DEPTH: int
MAX_LINES: int

# Of the evaluation: bytes of its weights, names of a position's rows, and where the rows of each
# kind begin.
WEIGHTS_SIZE: int
ROW_NAMES: tuple[str, ...]
PHASES: int
HIDDEN: int
QUARTERS: int
AT_CORNERS: int
AT_OUTER: int
AT_MEN: int
AT_KINDS: int
ROWS: int

BLOCK_BYTES: int                         # of an unpacked block of a packed table
SHARED_LAYOUT: tuple[int, ...]           # bytes of the structures lent to the other extensions

def monotonic_ns() -> int:
    """The clock of every deadline, in nanoseconds: `time.monotonic_ns` may be another one."""

def perft(rules: _Rules, fields: _Board, depth: int) -> int:
    """The number of legal move sequences of ``depth`` plies; draws by counting do not end them.

    ``depth`` is at most `MAX_DEPTH`.
    """

def legal_moves(rules: _Rules, fields: _Board) -> list[int]:
    """All legal moves; draws by counting do not matter."""

def is_legal_move(rules: _Rules, fields: _Board, move: int) -> bool:
    """Whether `legal_moves` has a move, any number of 20 bits; for tests."""

def fail_assertion() -> None:
    """Fail an assertion in a build with assertions; do nothing in others."""

def outcome(rules: _Rules, fields: _Board, history: Sequence[int]) -> tuple[str, int]:
    """Why the game is over ("": it is not) and its value; ``history`` as in `SearchWorker.run`."""

def evaluate(rules: _Rules, fields: _Board) -> int:
    """The static evaluation for the side to move, in hundredths of a man."""

def terms(rules: _Rules, fields: _Board) -> list[float]:
    """The parts of `evaluate`: each row's, as in ``ROW_NAMES``, and the hidden layer's."""

def parameters() -> list[tuple[str, int, int, int]]:
    """The numbers that options set, in a build for tuning: name, value and bounds of each."""

def set_parameter(index: int, value: int) -> None:
    """Set one of the `parameters`, by its place among them, within its bounds."""

def load_weights(data: bytes) -> None:
    """Use these 16-bit little-endian numbers; `ValueError` for another size, or sums too large."""

class TranspositionTable:
    """A hash table of results, shared by the workers of one searcher.

    `ValueError` for less than 1 MiB, `MemoryError` for more than there is.
    """

    @property
    def shared(self) -> object:
        """A capsule for the other extensions."""

    def __init__(self, megabytes: int, used: int = 0) -> None:
        """``used`` is what `clear` takes."""

    def clear(self, megabytes: int = 0) -> None:
        """Forget all results, and use up to this many MiB from now on; 0: the whole table."""

    def used(self) -> int:
        """The MiB in use."""

    def new_search(self) -> None:
        """Begin a generation: entries of earlier searches are replaced first."""

    def full(self) -> int:
        """How many entries in a thousand are this search's."""

    # For tests.
    def read_entry(self, place: int) -> tuple[int, int]:
        """Return an entry's check (its key ^ its data) and its data; both are 0 if it is empty."""

    def write_entry(self, place: int, check: int, data: int) -> None:
        """Replace an entry, whatever another thread does with it."""

class Deadline:
    """When the searches that share it end, also those that run already; at first never."""

    def set(self, at: int | None) -> None:
        """End them at this time (`monotonic_ns`), or never; from any thread."""

class SearchWorker:
    """One thread's search, which keeps its move-ordering history for the next.

    nodes       visited by the running or last search
    table_hits  positions that the running or last search found in the tablebase
    better      a line of the iteration that was cut short, whose move proved better than that of
                the last report; its score is a lower bound. Or None
    """

    nodes: int
    table_hits: int
    better: _Line | None

    @property
    def shared(self) -> object:
        """A capsule for the other extensions."""

    def __init__(self, table: TranspositionTable) -> None: ...
    def clear(self) -> None:
        """Forget the move-ordering history."""

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
    ) -> bool:
        """Search by iterative deepening until a limit or ``report`` ends it.

        history         the keys of the game's earlier positions that may recur, oldest first
        root_moves      the moves to choose from
        report          called after each iteration with its depth and its lines, the best first:
                        score, selective depth, principal variation; ends the search by True;
                        None: this worker only fills the table for another one
        side            the colour to move, 0 or 1: whose moves are whose in the history
        ranks           of the root moves, rising: none comes before one of lower rank, whatever
                        the search thinks of it
        tables          the tablebase, asked with empty hands and fewer than ``table_men`` men
        first_depth     the depth of the first iteration, which is always finished
        max_depth       the depth of the last one, at most ``MAX_DEPTH``
        node_limit      of this worker; 0: none
        deadline        when to end; another thread stops the search by a deadline in the past
        lines           principal variations, at most ``MAX_LINES``
        errors          what a level sees wrongly: its insight, greed, freedom, noise and
                        oversight, and a seed that chooses the errors

        Returns whether an iteration was cut short.
        """

# For tests.
def bucket_after(results: Iterable[tuple[int, int, int, int, int, int]]) -> list[tuple[int, int]]:
    """The four entries of a bucket, as keys and data, in which results were stored in turn.

    A result is its search's generation, a key, a move (only none: 0xFFFFF), score, depth and bound.
    """

def ordered_moves(
    rules: _Rules,
    fields: _Board,
    table_move: int = ...,
    cutoffs: Iterable[tuple[int, int, int, Sequence[int]]] = (),
    ply: int = 1,
) -> list[int]:
    """All moves in the order in which a node at a ply searches them.

    ``cutoffs`` are earlier ones: ply, depth, the quiet move that cut off, those that did not.
    """

def table_classes(men: int) -> int:
    """Number of classes that sets of ``men`` points (up to 9) form under the 16 symmetries."""

def table_limit(rules: _Rules, own: int, opponent: int) -> int:
    """Plies without a removal that make a draw with these numbers of men; 0: no limit."""

def table_places(own: int, opponent: int, hand: int = 0) -> int:
    """The places of the table of ``own`` men to move against ``opponent``, ``hand`` in hand."""

def table_place(own: int, opponent: int, hand: int = 0) -> tuple[int, int]:
    """The class and the rank of a board of up to 9 men a side (masks), as FORMAT.md defines them.

    ``hand`` is the men in hand of both sides together. `ValueError` for masks that overlap or lie
    beyond the board.
    """

def table_board(
    own: int, opponent: int, found: int, rank: int, hand: int = 0
) -> tuple[int, int]:
    """The men (own, opponent) at a class and rank: the inverse of `table_place`.

    ``own`` and ``opponent`` are numbers of men. `ValueError` where there is no such place.
    """

class _Blocks(Protocol):
    """A packed table."""

    def block(self, number: int, /) -> bytes:
        """A block, unpacked, of `BLOCK_BYTES` bytes or, at the end, less."""

class TableSet:
    """Open tables of one rule set, by men on the board (own, opponent) and men in hand together.

    kept        the values that `add` was given, by own men, opponent's men and men in hand
    kept_depths the lists of depths, by own men and opponent's men

    Nothing is added or removed while anything reads it: `RuntimeError`.
    """

    @property
    def shared(self) -> object:
        """A capsule for the other extensions."""

    @property
    def kept(self) -> dict[tuple[int, int, int], memoryview]: ...
    @property
    def kept_depths(self) -> dict[tuple[int, int], memoryview | None]: ...

    def __init__(self, rules: _Rules) -> None: ...
    def add(
        self,
        own: int,
        opponent: int,
        values: memoryview,
        depths: memoryview | None = None,
        hand: int = 0,
    ) -> None:
        """Add a table, and its depths if any; `ValueError` where they are cut off."""

    def add_depths(self, own: int, opponent: int, depths: memoryview | None) -> None:
        """Use a list of depths, or none; `ValueError` where it is cut off or not in order."""

    def add_packed(self, own: int, opponent: int, table: _Blocks, hand: int = 0) -> None:
        """Add a table that is read through a cache of unpacked blocks.

        A block that cannot be unpacked is unknown. `ValueError` where there is a table already.
        """

    def remove(self, own: int, opponent: int, hand: int) -> None:
        """Forget a table; `KeyError` where it is not here."""

    def has(self, own: int, opponent: int, hand: int = 0) -> bool: ...
    def has_depths(self, own: int, opponent: int) -> bool: ...
    def probe(self, fields: _Board) -> tuple[int, int] | None:
        """The value and the depth to conversion as if just after a removal; None without a table.

        With an odd number of men in hand the value is the best of the moves'. The depth is in
        plies: -1 for a draw and where there is none, 255 for 255 or more.
        """

    def bounds(self, fields: _Board) -> tuple[int, int] | None:
        """The least and the greatest value, given the plies since the last removal, or None."""
