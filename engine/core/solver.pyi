"""Interface of the compiled solver. Arguments and their checks are those of core.pyi."""

from collections.abc import Sequence

from merels.engine.core.core import TableSet, _Rules

def sector_memory(larger: int, smaller: int, with_depths: bool) -> int:
    """Return the maximum memory of `Retrograde` for a sector, in bytes."""

def slice_memory(rules: _Rules, own: int) -> int:
    """Return the maximum memory of `PlacingSlice`, in bytes."""

def verify_places(
    tables: TableSet, own: int, opponent: int, hand: int, first: int, last: int
) -> tuple[int, int]:
    """Recompute values at the places ``first`` to ``last`` - 1 from their successors.

    Return the number of places whose stored value is wrong, and the first such place, or 0. Under
    a limit on plies, tables without depths may have the value with all wins in time, or with none
    but by a removal. Successors with an odd number of men in hand, which are not stored, are
    searched one ply deep. `ValueError` if a table that moves lead to is missing.
    """

def recompute_places(
    tables: TableSet, own: int, opponent: int, hand: int, first: int, last: int, values: bytearray
) -> None:
    """Write the recomputed values of states with men in hand into ``values``, a table of zeros.

    ``first`` must be a multiple of 4: threads that fill parts of one table then share no byte.
    """

class _Solver:
    """A computation in stages, each shared by any number of threads.

    One thread calls `advance`, then any number of threads call `work`, and so on until `advance`
    returns False. `RuntimeError` if the stage is not done.

    done        estimated share of all stages that is done, from 0 to 1
    """

    done: float

    def advance(self) -> bool:
        """Begin the next stage; return False if all stages are done."""

    def work(self) -> None:
        """Work on the current stage until no work is left to take."""

    def stop(self) -> None:
        """Make every call of `work` return early; the result is then useless."""

class Retrograde(_Solver):
    """Retrograde analysis of one sector.

    The larger side is to move in table 0, the smaller side in table 1.

    level       depth in plies of the states that the current stage settles; 0 in other stages
    """

    level: int

    def __init__(
        self, rules: _Rules, larger: int, smaller: int, with_depths: bool, lower: TableSet
    ) -> None:
        """Allocate the sector; ``lower`` must have the tables that removals lead to, unpacked.

        `ValueError` if a table is missing or packed.
        """

    def tally(self, table: int) -> tuple[int, int, int, int | None, int | None]:
        """Return a solved table's numbers of states drawn, won and lost, and its greatest depths.

        Symmetric states count once. The depths, in plies, are those of a win and a loss; None if
        there is no such state.
        """

    def values(self, table: int) -> memoryview:
        """Return a solved table's packed values."""

    def depths(self, table: int) -> memoryview:
        """Return a solved table's list of long losses with their depths."""

class PlacingSlice(_Solver):
    """Solver of a slice: placing positions with given men in hand and own men on the board.

    written     the sector that the current stage writes: the opponent's men, numbers of states
                drawn, won and lost (symmetric states count once), packed values. None before
    """

    written: tuple[int, tuple[int, int, int], memoryview] | None

    def __init__(
        self, rules: _Rules, hand: int, own: int, opponents: Sequence[int], tables: TableSet
    ) -> None:
        """Set the slice: ``hand`` men in hand (even, 2 to 18), ``own`` men of the side to move.

        Sectors are written for each number of the opponent's men in ``opponents``. ``tables`` must
        have the positions two placements later, unpacked; `ValueError` if they are missing.
        """
