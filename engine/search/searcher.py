"""The player: a search on one or more threads, with its hash table and time management."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from merels.engine.common.errors import (
    InputError,
    required,
    required_function,
    required_items,
)
from merels.engine.common.numbers import whole_number
from merels.engine.core import core, weights
from merels.engine.core.convert import core_board, core_history, core_rules
from merels.engine.game.position import Move, Position, read_move, required_position
from merels.engine.game.rules import MEN_PER_SIDE, Rules, required_rules
from merels.engine.search.clock import Clock
from merels.engine.search.helpers import Helpers
from merels.engine.search.levels import Errors, Level, errors_of, read_level
from merels.engine.search.limits import MAX_COUNT, Info, Limit, Result
from merels.engine.search.reporting import Lines, Reporter, final_info
from merels.engine.search.root import Root, make_root

if TYPE_CHECKING:
    from merels.engine.tablebase.probe import Tables

MAX_THREADS = 256
"""Largest number of threads of one search."""
DEFAULT_HASH = 16
"""Default size of the transposition table, in MiB."""
_LEAST_MB = 1
"""Smallest part of the table that a search uses, in MiB."""
_CLEARED_MB = 16
"""Size in use above which allocating a new table is faster than clearing the old, in MiB."""
_NODES_A_SECOND = 10_000_000
"""Upper estimate of the nodes that one thread searches in a second."""
_RANKING_NS = 5_000_000
"""Time for ranking the root moves by tables before limits interrupt it, in nanoseconds."""
_NODE_BYTES = 16
"""Table size for each node searched, in bytes: ample, because most nodes store no entry."""
_MAX_NODES = 1 << 63


class Searcher:
    """A player that keeps its hash table and history between searches.

    Any thread may search, one at a time. ``hash_mb`` is in MiB; `InputError` if it or ``threads``
    is below 1.
    """

    def __init__(self, hash_mb: int = DEFAULT_HASH, threads: int = 1) -> None:
        self.threads = whole_number(threads, 1, MAX_THREADS, "threads")
        self._tables: Tables | None = None
        self.opening = True
        """Whether to use the package's tables of the opening, too."""
        self.hash_mb = whole_number(hash_mb, 1, MAX_COUNT, "hash_mb")
        """Maximum size of the transposition table in MiB; `resize` changes it."""
        self._table: core.TranspositionTable | None = None
        self._workers: list[core.SearchWorker] = []
        self._helpers = Helpers()
        self._context: object = None
        self._reported_win: tuple[Position, int] | None = None
        """If the last search reported a win: the position after its move, and the plies left."""

    @property
    def tables(self) -> Tables | None:
        """Tablebases, which are used in positions of their rules."""
        return self._tables

    @tables.setter
    def tables(self, tables: Tables | None) -> None:
        if tables is not None:
            # Imported here, because the import would delay an engine's handshake.
            from merels.engine.tablebase.probe import Tables

            required(tables, Tables, "Tables from open_tables, or None")
        self._tables = tables

    def resize(self, hash_mb: int) -> None:
        """Set the transposition table's size in MiB; the next search allocates it."""
        self.hash_mb = whole_number(hash_mb, 1, MAX_COUNT, "hash_mb")
        self._table = None
        self._workers = []

    def prepare(self) -> None:
        """Allocate the memory of a search.

        `InputError` if there is too little memory for ``hash_mb``, which is then set to
        `DEFAULT_HASH` or 1 for the next call; `MemoryError` if there is too little for 1 MiB or for
        one thread.
        """
        whole_number(self.threads, 1, MAX_THREADS, "threads")
        whole_number(self.hash_mb, 1, MAX_COUNT, "hash_mb")
        weights.ensure()
        if self._table is None:
            try:
                if self.hash_mb > _memory_mb():
                    raise MemoryError
                self._table = core.TranspositionTable(self.hash_mb, _LEAST_MB)
            except (MemoryError, OverflowError):
                wanted = self.hash_mb
                if wanted == _LEAST_MB:
                    raise MemoryError("not enough memory to search") from None
                self.hash_mb = DEFAULT_HASH if wanted > DEFAULT_HASH else _LEAST_MB
                expected = "not enough memory; choose a smaller Hash"
                raise InputError(f"{wanted} MiB", expected) from None
            self._workers = []
        while len(self._workers) < self.threads:
            try:
                worker = core.SearchWorker(self._table)
            except MemoryError:
                if self._workers:
                    break  # Search on fewer threads.
                raise
            self._workers.append(worker)

    def clear(self) -> None:
        """Clear the hash table and history, so that a game starts as in a new process."""
        self._context = self._reported_win = None
        self._clear_memory()

    def _clear_memory(self) -> None:
        """Clear the hash table, reduce it to its smallest size, and clear the workers' history."""
        table = self._table
        if table is not None and table.megabytes_in_use() > _CLEARED_MB:
            with suppress(MemoryError):  # The old and the new table may exceed the memory.
                self._table = core.TranspositionTable(self.hash_mb, _LEAST_MB)
                self._workers = []
        if table is not None and table is self._table:
            table.clear(_LEAST_MB)
        for worker in self._workers:
            worker.clear()

    def tables_for(self, rules: Rules) -> Tables | None:
        """Return the tablebases if they are valid for these rules, else None."""
        required_rules(rules)
        return self.tables if self.tables and self.tables.valid_for(rules) else None

    def opening_for(self, position: Position) -> Tables | None:
        """Return the package's tables if they have the values of a position's moves, else None."""
        required_position(position)
        if not self.opening or sum(position.hands) <= MEN_PER_SIDE:
            return None
        # Imported here, because the import would delay an engine's handshake.
        from merels.engine.tablebase.opening import opening_tables

        return opening_tables(position)

    def search(
        self,
        position: Position,
        limit: Limit = Limit(),
        on_info: Callable[[Info], None] | None = None,
        *,
        root_moves: Iterable[Move | str] = (),
        infinite: bool = False,
        ponder: bool = False,
        multipv: int = 1,
        overhead: float = 0.01,
        level: Level | str | None = None,
        clock: Clock | None = None,
        asked: int | None = None,
    ) -> Result:
        """Search a position until a limit or a signal of its clock, with the GIL released.

        on_info     called after each iteration for each of ``multipv`` lines, and at least once
        root_moves  the moves to choose from; all legal moves if empty
        infinite    returns only after `Clock.stop`, and needs ``clock``
        ponder      returns only after `Clock.stop` or `Clock.ponderhit`, which starts the clock,
                    and needs ``clock``
        overhead    seconds that a move may lose outside of the search
        clock       a new `Clock`, through which other threads send signals
        asked       time of the request, from which time limits count, in nanoseconds of
                    `core.monotonic_ns`; None: now

        A search without a limit runs to the maximum depth. After `clear`, a search on one thread
        that is limited only by depth or nodes always gives the same result. `InputError` for an
        argument of another type, and for numbers below their minimum.
        """
        required_position(position)
        moves = tuple(map(read_move, required_items(root_moves, "moves to choose from")))
        level = read_level(level)
        multipv = whole_number(multipv, 1, core.MAX_LINES, "multipv")
        required_function(on_info, "on_info")
        if clock is None and (infinite or ponder):
            raise InputError(
                "infinite" if infinite else "ponder", "expected clock=Clock() with it, through "
                "which another thread ends the search",
            )  # fmt: skip
        clock = Clock() if clock is None else required(clock, Clock, "a new Clock for clock")
        clock.begin(limit, position.side, overhead, infinite=infinite, ponder=ponder, asked=asked)
        on_info = on_info or (lambda info: None)
        outcome = position.outcome()
        if outcome is None:
            result = self._choose_move(position, clock, on_info, moves, multipv, level)
        else:
            result = Result(None, None, final_info(outcome, position.side))
            on_info(result.info)
        clock.wait()
        return result

    def _choose_move(
        self,
        position: Position,
        clock: Clock,
        on_info: Callable[[Info], None],
        root_moves: Sequence[Move],
        multipv: int,
        level: Level | None,
    ) -> Result:
        """Search a position of an unfinished game."""
        # Strength levels play without tables.
        tables = None if level else self.tables_for(position.rules)
        reported_win = self._plies_left(position)
        root = make_root(
            position, root_moves, tables, multipv, clock.deadline,
            core.monotonic_ns() + _RANKING_NS,
            opening=None if level else self.opening_for(position), equal_wins=reported_win > 0,
        )
        clock.decided = root.decided
        errors = errors_of(level, position)
        context = (core_rules(position.rules), level is None, errors, root.tables)
        if context != self._context:
            # Hash entries are valid only for the rules, errors and tables that made them.
            if self._context is not None or level is not None:
                self._clear_memory()
            self._context = context
        self.prepare()
        assert self._table is not None
        megabytes = (
            min(1 + level.nodes // 50_000, self.hash_mb) if level else self._useful_mb(clock)
        )
        if megabytes > self._table.megabytes_in_use():
            # Growing clears the table, but is rare: in a game with a clock the first move needs the
            # largest table, and each growth at least doubles the size.
            self._table.clear(max(megabytes, 2 * self._table.megabytes_in_use()))
        self._table.new_search()
        reporter = Reporter(self._table, self._workers[: self.threads], root, clock, on_info)
        nodes = min(
            (count for count in (clock.limit.nodes, level and level.nodes) if count), default=0
        )
        interrupted, missing = self._run(
            position, root, clock, reporter.report_iteration, multipv, nodes, errors,
            reported_win,
        )
        if interrupted:
            reporter.report_interruption()
        best = reporter.lines[0]
        assert best.score is not None
        plies = best.score.relative.win_in or 0
        self._reported_win = (position.play(best.pv[0]), plies - 1) if plies > 1 else None
        ponder = best.pv[1] if len(best.pv) > 1 else None
        return Result(best.pv[0], ponder, best, interrupted, missing)

    def _plies_left(self, position: Position) -> int:
        """Return the plies left to the win that the last search reported; 0: none."""
        last, plies = self._reported_win or (position, 0)
        follows = plies > 1 and position.rules == last.rules and any(
            last.play(move).key == position.key for move in last.legal_moves()
        )
        return plies - 1 if follows else 0

    def _useful_mb(self, clock: Clock) -> int:
        """Return the MiB of the table that a search can fill; a larger part is only slower."""
        nodes: list[float] = []
        if clock.limit.nodes:
            nodes.append(clock.limit.nodes)
        seconds = [clock.time, clock.budget and clock.budget.hard]
        if not clock.waits:
            nodes += [_NODES_A_SECOND * self.threads * limit for limit in seconds if limit]
        wanted = min(nodes, default=math.inf) * _NODE_BYTES / (1 << 20)
        return math.ceil(min(wanted, self.hash_mb))

    def _max_depth(self, clock: Clock) -> int:
        """Return the depth limit in plies."""
        if clock.stopped:
            return 1
        wanted = clock.limit.depth
        return core.MAX_DEPTH if wanted is None else max(1, min(wanted, core.MAX_DEPTH))

    def _run(
        self,
        position: Position,
        root: Root,
        clock: Clock,
        report: Callable[[int, Lines], bool],
        multipv: int,
        nodes: int,
        errors: Errors | None,
        reported_win: int,
    ) -> tuple[bool, int]:
        """Run all workers until the first worker, which reports, has ended.

        Return whether its last iteration was interrupted, and how many threads could not start.
        """
        rules, board = core_rules(position.rules), core_board(position)
        history = core_history(position)
        tables = root.tables.core if root.tables else None
        nodes = min(nodes, _MAX_NODES)
        # ``nodes`` limits the whole search. A helper gets a share, the first worker the remainder.
        share = max(1, nodes // self.threads) if nodes else 0

        def run(
            worker: core.SearchWorker, report: Callable[[int, Lines], bool] | None, **own: int
        ) -> bool:
            return worker.run(
                rules, board, history, root.moves, report, side=position.side,
                ranks=root.ranks, tables=tables, table_men=root.table_men, errors=errors,
                deadline=clock.deadline, **own,
            )

        def help_search(worker: core.SearchWorker, index: int) -> None:
            run(worker, None, first_depth=1 + index % 2, node_limit=share)

        others = self._workers[1 : self.threads]
        for worker in others:
            worker.reset_counts()  # A thread may begin late, or not at all.
        try:
            helpers = self._helpers.start([
                partial(help_search, worker, index)
                for index, worker in enumerate(others, 1)
            ])
            interrupted = run(
                self._workers[0],
                report,
                max_depth=self._max_depth(clock),
                lines=multipv,
                node_limit=max(1, nodes - share * helpers) if nodes else 0,
                reported_win=reported_win,
            )
            return interrupted, self.threads - 1 - helpers
        finally:
            clock.end()
            self._helpers.join()


def _memory_mb() -> float:
    """Return the machine's memory in MiB.

    A system may grant more, and later kill the process that uses it.
    """
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (AttributeError, ValueError, OSError):  # Not every system has these names.
        return math.inf
