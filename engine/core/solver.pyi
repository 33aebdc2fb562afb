"""The compiled solver as Python sees it: rules and boards, and what is checked, are the core's."""

from array import array

from merels.engine.core.core import TableSet, _Rules

STAGES: tuple[int, int, int, int, int]   # of `Retrograde`; the fourth is repeated for every level
PLACING_STAGES: tuple[int, int, int, int, int]

def sector_memory(larger: int, smaller: int, with_depths: bool) -> int:
    """Bytes that `Retrograde` needs for a sector at most."""

def slice_memory(rules: _Rules, own: int) -> int:
    """Bytes that `PlacingSlice` needs at most."""

def verify_places(
    tables: TableSet, own: int, opponent: int, hand: int, first: int, last: int
) -> tuple[int, int]:
    """Recompute the states at the places from ``first`` to before ``last`` by their successors.

    Returns how many stored values or depths differ, and the place of the first one. `ValueError`
    where a table that moves lead to is missing. With an odd number of men in hand, where there is
    no table, it looks one ply further ahead.
    """

def verify_sample(
    tables: TableSet, own: int, opponent: int, hand: int, places: array[int]
) -> tuple[int, int]:
    """The same for some places, 64-bit numbers."""

def recompute_places(
    tables: TableSet, own: int, opponent: int, hand: int, first: int, last: int, values: bytearray
) -> None:
    """Write the values of states with men in hand into a table of zeros, as `verify_places` does.

    ``first`` is a multiple of four, so that several threads may fill one table.
    """

class Retrograde:
    """The retrograde analysis of one sector: the larger side is to move in table 0, not in table 1.

    One thread begins each stage; then any number of threads work on it until none of it is left.
    `ValueError` for one that is not next, `RuntimeError` before the last one is done.

    done        share of the stage that was started, from 0 to 1
    settled     for each table: states won and lost at the last level
    tallies     for each table, after packing: canonical states drawn, won and lost
    places      in each table
    """

    done: float
    settled: tuple[tuple[int, int], tuple[int, int]]
    tallies: tuple[tuple[int, int, int], tuple[int, int, int]]
    places: int

    def __init__(
        self, rules: _Rules, larger: int, smaller: int, with_depths: bool, lower: TableSet
    ) -> None:
        """``lower`` has the tables that removals lead to: `ValueError` where it has not."""

    def begin(self, stage: int, level: int = 0) -> None:
        """Make one of `STAGES` ready for `work`; ``level`` counts the plies of the fourth."""

    def work(self) -> None:
        """Work on the stage until none of it is left."""

    def stop(self) -> None:
        """Let every `work` return early; the tables are then of no use."""

    def blocked(self) -> tuple[bool, bool]:
        """Whether a state of each table is lost at once; to be asked before the second level."""

    def values(self, table: int) -> memoryview:
        """A packed table."""

    def depths(self, table: int) -> memoryview:
        """The list of a table's long losses and their depths, to be asked for once packed."""

class PlacingSlice:
    """A slice of the placing phase: one number of men in hand, and of men of the side to move.

    One thread begins each stage; then any number of threads work on it until none of it is left.
    `ValueError` for one that is not next, `RuntimeError` before the last one is done.

    done        share of the stage that was started, from 0 to 1
    tally       of the sector that was written: canonical states drawn, won and lost
    values      its packed table
    """

    done: float
    tally: tuple[int, int, int]
    values: memoryview

    def __init__(self, rules: _Rules, hand: int, own: int, tables: TableSet) -> None:
        """``hand`` is even, 2 to 18; ``own`` men of the side to move are on the board."""

    def begin(self, stage: int, others: int = 0, removed: int = 0) -> None:
        """Make one of `PLACING_STAGES` ready for `work`.

        The first reads a table from ``tables``: ``others`` men of the opponent's, and after both
        sides have placed and ``removed`` men of the side to move are gone. The last writes the
        sector with ``others`` men.
        """

    def work(self) -> None:
        """Work on the stage until none of it is left."""

    def stop(self) -> None:
        """Let every `work` return early; what was solved is then of no use."""
