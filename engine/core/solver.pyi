"""Interface of the compiled solver. Arguments and their checks are those of core.pyi."""

from array import array

from merels.engine.core.core import TableSet, _Rules

# Stages of `Retrograde`; the fourth stage is repeated for each level.
STAGES: tuple[int, int, int, int, int]
# Stages of `PlacingSlice`; the first and the last stage are repeated for each table.
PLACING_STAGES: tuple[int, int, int, int, int]

def sector_memory(larger: int, smaller: int, with_depths: bool) -> int:
    """Return the maximum memory of `Retrograde` for a sector, in bytes."""

def slice_memory(rules: _Rules, own: int) -> int:
    """Return the maximum memory of `PlacingSlice`, in bytes."""

def verify_places(
    tables: TableSet, own: int, opponent: int, hand: int, first: int, last: int
) -> tuple[int, int]:
    """Recompute values and depths at the places ``first`` to ``last`` - 1 from their successors.

    Return the number of places whose stored value or depth is wrong, and the first such place, or
    0. Only a sample of the depths in large tables is recomputed. Successors with an odd number of
    men in hand, which are not stored, are searched one ply deep. `ValueError` if a table that moves
    lead to is missing.
    """

def verify_sample(
    tables: TableSet, own: int, opponent: int, hand: int, places: array[int]
) -> tuple[int, int]:
    """Verify the given places, an array of 64-bit numbers, as `verify_places` does."""

def recompute_places(
    tables: TableSet, own: int, opponent: int, hand: int, first: int, last: int, values: bytearray
) -> None:
    """Write the recomputed values of states with men in hand into ``values``, a table of zeros.

    ``first`` must be a multiple of 4: threads that fill parts of one table then share no byte.
    """

class Retrograde:
    """Retrograde analysis of one sector.

    The larger side is to move in table 0, the smaller side in table 1. One thread calls `begin` for
    each stage, then any number of threads call `work`. `ValueError` for a stage out of order,
    `RuntimeError` if the previous stage is not done.

    done        share of the stage's work that threads have taken, from 0 to 1
    settled     for each table, numbers of states found to be won and lost at the last level
    tallies     for each table, after packing, numbers of states drawn, won and lost; symmetric
                states count once
    places      number of places in each table
    """

    done: float
    settled: tuple[tuple[int, int], tuple[int, int]]
    tallies: tuple[tuple[int, int, int], tuple[int, int, int]]
    places: int

    def __init__(
        self, rules: _Rules, larger: int, smaller: int, with_depths: bool, lower: TableSet
    ) -> None:
        """Allocate the sector; ``lower`` must have the tables that removals lead to, unpacked.

        `ValueError` if a table is missing or packed.
        """

    def begin(self, stage: int, level: int = 0) -> None:
        """Prepare one of `STAGES`; ``level`` is the depth in plies, for the fourth stage."""

    def work(self) -> None:
        """Work on the current stage until no work is left to take."""

    def stop(self) -> None:
        """Make every call of `work` return early; the tables are then useless."""

    def blocked(self) -> tuple[bool, bool]:
        """Return for each table whether it has a blocked loss; call it before the second level."""

    def values(self, table: int) -> memoryview:
        """Return a table's packed values; call it after packing."""

    def depths(self, table: int) -> memoryview:
        """Return a table's list of long losses with their depths; call it after packing."""

class PlacingSlice:
    """Solver of a slice: placing positions with given men in hand and own men on the board.

    One thread calls `begin` for each stage, then any number of threads call `work`. `ValueError`
    for a stage out of order, `RuntimeError` if the previous stage is not done.

    done        share of the stage's work that threads have taken, from 0 to 1
    tally       numbers of states drawn, won and lost in the sector written last; symmetric states
                count once
    values      packed values of that sector
    """

    done: float
    tally: tuple[int, int, int]
    values: memoryview

    def __init__(self, rules: _Rules, hand: int, own: int, tables: TableSet) -> None:
        """Set the slice: ``hand`` men in hand (even, 2 to 18), ``own`` men of the side to move."""

    def begin(self, stage: int, others: int = 0, removed: int = 0) -> None:
        """Prepare one of `PLACING_STAGES`.

        The first stage reads a table of the positions two placements later, with ``others`` men of
        the opponent, and after the removal of ``removed`` men of the side to move. The last stage
        writes the sector with ``others`` men of the opponent.
        """

    def work(self) -> None:
        """Work on the current stage until no work is left to take."""

    def stop(self) -> None:
        """Make every call of `work` return early; the result is then useless."""
