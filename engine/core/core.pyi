"""Interface of the compiled core. Rules, boards and moves are plain numbers (see convert.py).

rules    (flying 0 never 1 own 2 both, locked mills safe, two men for two mills, blocked draws,
         repetition, no-removal plies, three-three plies)
board    (own men, opponent's men, own hand, opponent's hand, plies without a removal), the men as
         masks; own is the side to move
move     to | origin << 5 | removed << 10 | second removed << 15, with NO_POINT for none
value    -1, 0 or 1 for a loss, a draw or a win of the side to move

All arguments are checked. `ValueError` for impossible values, such as overlapping men; `TypeError`
for a wrong type; `OverflowError` for an integer out of range; `RuntimeError` for an object that is
in use, by another thread or by the search that calls back.
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

# Constants of the search: scores, maximum depth, maximum number of lines.
WIN: int
PROVEN: int
TABLE_WIN: int
FAR: int
MAX_DEPTH: int
MAX_LINES: int

# Constants of the evaluation: size of the weights in bytes, names of a position's rows, and the
# first row of each kind.
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

BLOCK_BYTES: int                         # size of an unpacked block of a packed table
SHARED_LAYOUT: tuple[int, ...]           # sizes in bytes of structures used by other extensions

def monotonic_ns() -> int:
    """Return the time in nanoseconds on the clock of all deadlines.

    It may differ from `time.monotonic_ns`.
    """

def perft(rules: _Rules, fields: _Board, depth: int) -> int:
    """Return the number of legal move sequences of ``depth`` plies, at most `MAX_DEPTH`.

    Draws by repetition or by a limit on plies do not end a sequence.
    """

def legal_moves(rules: _Rules, fields: _Board) -> list[int]:
    """Return all legal moves, also after a draw by counting."""

def is_legal_move(rules: _Rules, fields: _Board, move: int) -> bool:
    """For tests: return whether `legal_moves` contains a move, which may be any 20-bit number."""

def fail_assertion() -> None:
    """Fail an assertion in a build with assertions; do nothing in others."""

def outcome(rules: _Rules, fields: _Board, history: Sequence[int]) -> tuple[str, int]:
    """Return the reason why the game is over ("": it is not) and its value.

    ``history`` is as in `SearchWorker.run`.
    """

def evaluate(rules: _Rules, fields: _Board) -> int:
    """Return the static evaluation for the side to move, in hundredths of a man."""

def terms(rules: _Rules, fields: _Board) -> list[float]:
    """Return the parts of `evaluate`: one for each of ``ROW_NAMES``, then the hidden layer's."""

def parameters() -> list[tuple[str, int, int, int]]:
    """Return name, value, minimum and maximum of each search parameter.

    The list is empty except in a build for tuning.
    """

def set_parameter(index: int, value: int) -> None:
    """Set a parameter by its index in `parameters`; `ValueError` if the value is out of bounds."""

def load_weights(data: bytes) -> None:
    """Use these weights, `WEIGHTS_SIZE` bytes long.

    `ValueError` for another size, or for weights whose sums may overflow.
    """

class TranspositionTable:
    """A transposition table, shared by the workers of one searcher.

    `ValueError` for less than 1 MiB, `MemoryError` for more than the available memory.
    """

    @property
    def shared(self) -> object:
        """Capsule for the other extensions."""

    def __init__(self, megabytes: int, used: int = 0) -> None:
        """Allocate a table of ``megabytes`` MiB and use ``used`` MiB of it; 0: all of it."""

    def clear(self, megabytes: int = 0) -> None:
        """Clear the table, and use ``megabytes`` MiB of it from now on; 0: the whole table."""

    def used(self) -> int:
        """Return the size in use, in MiB."""

    def new_search(self) -> None:
        """Start a new generation, so that entries of earlier searches are replaced first."""

    def full(self) -> int:
        """Return the permille of entries that are from this search."""

    # For tests.
    def read_entry(self, place: int) -> tuple[int, int]:
        """Return an entry's check (key ^ data) and data; both are 0 if it is empty."""

    def write_entry(self, place: int, check: int, data: int) -> None:
        """Replace an entry without regard to other threads."""

class Deadline:
    """The time at which all searches end that share this object; initially never."""

    def set(self, at: int | None) -> None:
        """Set the time, as of `monotonic_ns`; None: never. Any thread may call it."""

class SearchWorker:
    """The search of one thread, which keeps its move-ordering history between searches.

    nodes       number of nodes of the running or last search
    table_hits  number of tablebase hits of the running or last search
    better      best line of an iteration that a limit interrupted, if its move proved better than
                the one last reported; its score is a lower bound. Otherwise None
    """

    nodes: int
    table_hits: int
    better: _Line | None

    @property
    def shared(self) -> object:
        """Capsule for the other extensions."""

    def __init__(self, table: TranspositionTable) -> None: ...
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
    ) -> bool:
        """Search by iterative deepening until a limit or ``report`` ends it.

        history         keys of the game's earlier positions that may recur, oldest first
        root_moves      moves to choose from
        report          called after each iteration with its depth and its lines, the best first
                        (score, selective depth, principal variation); True ends the search.
                        None: a helper, which only fills the transposition table
        side            colour to move, 0 or 1, which selects the move-ordering history
        ranks           ranks of the root moves in rising order; a move of a lower rank is always
                        reported before one of a higher rank
        tables          tablebase, which is probed with fewer than ``table_men`` men
        first_depth     depth of the first iteration, which is always completed
        max_depth       depth of the last iteration, at most ``MAX_DEPTH``
        node_limit      node limit of this worker; 0: none
        deadline        time of the end; another thread stops the search by a deadline in the past
        lines           number of principal variations, at most ``MAX_LINES``
        errors          errors of a strength level: insight, greed, freedom, noise, oversight, seed

        Return whether the last iteration was interrupted before it was complete.
        """

# For tests.
def bucket_after(results: Iterable[tuple[int, int, int, int, int, int]]) -> list[tuple[int, int]]:
    """Store results in one bucket; return its four entries as keys and data.

    A result is a generation, a key, a move (only ``0xFFFFF``, none), score, depth and bound.
    """

def ordered_moves(
    rules: _Rules,
    fields: _Board,
    table_move: int = ...,
    cutoffs: Iterable[tuple[int, int, int, Sequence[int]]] = (),
    ply: int = 1,
) -> list[int]:
    """Return all moves in the order in which a node at ``ply`` searches them.

    ``cutoffs`` are recorded first. Each is a ply, a depth, the quiet move that cut off, and the
    quiet moves searched before that move.
    """

def table_classes(men: int) -> int:
    """Return the number of classes of sets of ``men`` points (up to 9) under the 16 symmetries."""

def table_limit(rules: _Rules, own: int, opponent: int) -> int:
    """Return the plies without a removal that draw with these numbers of men; 0: no limit."""

def table_places(own: int, opponent: int, hand: int = 0) -> int:
    """Return the number of places in a table.

    ``own`` men are to move against ``opponent`` men; ``hand`` men are in hand of both sides
    together.
    """

def table_place(own: int, opponent: int, hand: int = 0) -> tuple[int, int]:
    """Return a board's class and rank, which FORMAT.md defines.

    ``own`` and ``opponent`` are masks of up to 9 men; ``hand`` is the number of men in hand of both
    sides together. `ValueError` if the masks overlap or have other bits than points.
    """

def table_board(
    own: int, opponent: int, cls: int, rank: int, hand: int = 0
) -> tuple[int, int]:
    """Return the masks (own, opponent) at a class and rank: the inverse of `table_place`.

    ``own`` and ``opponent`` are numbers of men. `ValueError` if there is no such place.
    """

class _Blocks(Protocol):
    """A packed table."""

    def block(self, number: int, /) -> bytes:
        """Return an unpacked block of `BLOCK_BYTES` bytes; the last block may be shorter."""

class TableSet:
    """Open tables of one rule set, by own men, opponent's men, and men in hand of both together.

    kept        values of the tables, by own men, opponent's men and men in hand
    kept_depths lists of depths, by own men and opponent's men

    `RuntimeError` if a table is added or removed while another thread reads the set.
    """

    @property
    def shared(self) -> object:
        """Capsule for the other extensions."""

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
        """Add a table of values with its depths, if any; `ValueError` if they are truncated."""

    def add_depths(self, own: int, opponent: int, depths: memoryview | None) -> None:
        """Set a table's list of depths; None: no depths.

        `ValueError` if the list is truncated or not in order.
        """

    def add_packed(self, own: int, opponent: int, table: _Blocks, hand: int = 0) -> None:
        """Add a packed table, which is read through a cache of unpacked blocks.

        Positions in a block that cannot be unpacked are unknown. `ValueError` if there is a packed
        table already.
        """

    def remove(self, own: int, opponent: int, hand: int) -> None:
        """Remove a table; `KeyError` if there is none."""

    def has(self, own: int, opponent: int, hand: int = 0) -> bool: ...
    def has_depths(self, own: int, opponent: int) -> bool: ...
    def probe(self, fields: _Board) -> tuple[int, int] | None:
        """Return a board's value and depth to conversion with no plies since the last removal.

        None without a table. With an odd number of men in hand the value is the best of the
        moves. The depth is in plies: -1 for a draw or without depths in
        the table, 255 for 255 or more.
        """

    def bounds(self, fields: _Board) -> tuple[int, int] | None:
        """Return the least and the greatest value after the board's plies; None without a table."""
