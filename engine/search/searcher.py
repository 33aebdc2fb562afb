"""The player: limits in, information on the way, a move out. Threads and time live here."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from merels.engine.core import core, weights
from merels.engine.core.convert import (
    core_board,
    core_history,
    core_moves,
    core_rules,
    decode_move,
    decode_score,
    encode_move,
)
from merels.engine.game.board import SIZE
from merels.engine.game.errors import InputError
from merels.engine.game.position import BLACK, WHITE, Move, Outcome, Position
from merels.engine.game.rules import Rules
from merels.engine.game.score import TABLE_CP, PovScore, Score
from merels.engine.search.levels import Level
from merels.engine.search.limits import Info, Limit, Result
from merels.engine.search.time_management import TimeManager

if TYPE_CHECKING:
    from merels.engine.tablebase.probe import Tables
    from merels.engine.tablebase.root_ranking import Choice

DEFAULT_HASH = 16
MAXIMUM_DEPTH = core.MAX_DEPTH

class _Root(NamedTuple):
    """Where a search begins: the moves to choose from, as the core numbers them, and its tables."""

    moves: list[int]
    tables: Tables | None
    table_men: int
    """The search asks the tables for boards with fewer men than this."""
    ranks: tuple[int, ...] = ()
    """The order that the tables put the moves in; equal ones are left to the search."""
    choices: dict[int, Choice] = {}
    """What the tables say of each move."""
    hits: int = 0
    """How many moves they were asked of."""


_Report = Callable[[int, list[tuple[int, int, list[int]]]], bool]
"""Takes a depth and its lines as the core has them; a true answer ends the search."""


def _line_score(score: Score, choice: Choice | None) -> Score:
    """A line's score from the search, held to what tables know of its move."""
    if choice is None or score.win_in is not None:
        return score
    if choice.certain:
        return Score(cp=choice.value * (TABLE_CP - (choice.depth or 0)))
    # The win or the loss that the tables know may still become a draw, but nothing else.
    estimate = score.cp or 0
    return Score(cp=max(estimate, 0) if choice.value > 0 else min(estimate, 0))


def _final_score(outcome: Outcome, side: int) -> Score:
    """The score of a finished game for the side to move."""
    if outcome.winner is None:
        return Score(cp=0)
    # A side that has already won, with the move at hand, is a plain win: nothing is left to play.
    return Score(win_in=0) if outcome.winner != side else Score(win_in=1)


class Searcher:
    """A player with its memory: one search at a time, from any thread.

    ``hash_mb`` is in MiB; ValueError for that or ``threads`` below 1.
    """

    def __init__(self, hash_mb: int = DEFAULT_HASH, threads: int = 1) -> None:
        if hash_mb < 1 or threads < 1:
            raise ValueError(f"at least 1 MiB and 1 thread, not {hash_mb} and {threads}")
        self.threads = threads
        self._hash_mb = hash_mb
        self._table: core.TranspositionTable | None = None
        self._workers: list[core.SearchWorker] = []
        self._context: object = None
        self._stopped = threading.Event()
        self._woken = threading.Event()
        self.tables: Tables | None = None
        """Tables of perfect play, used in positions of their rules."""
        self._clock: TimeManager | None = None
        self._lock = threading.Lock()
        self._ponderhit = False

    @property
    def hash_mb(self) -> int:
        """The transposition table's size in MiB."""
        return self._hash_mb

    def resize(self, hash_mb: int) -> None:
        """Give the transposition table a new size in MiB; it is allocated when first needed."""
        self._hash_mb = hash_mb
        self._table = None
        self._workers = []

    def prepare(self) -> None:
        """Allocate what a search needs.

        `InputError` when memory does not suffice; the next call asks for `DEFAULT_HASH`.
        """
        weights.ensure()
        if self._table is None:
            try:
                if self._hash_mb > _memory_mb():
                    raise MemoryError
                self._table = core.TranspositionTable(self._hash_mb)
            except (MemoryError, OverflowError):
                wanted = self._hash_mb
                self._hash_mb = DEFAULT_HASH
                raise InputError(f"{wanted} MiB", "not enough memory for Hash") from None
            self._workers = []
        while len(self._workers) < self.threads:
            try:
                worker = core.SearchWorker(self._table)
            except MemoryError:
                if self._workers:
                    break  # They search without it.
                raise
            worker.clear()
            self._workers.append(worker)

    def clear(self) -> None:
        """Forget everything learnt: a new game starts as in a new process."""
        if self._table is not None:
            self._table.clear()
        for worker in self._workers:
            worker.clear()

    def arm(self) -> None:
        """Forget an earlier `stop` or `ponderhit`; call before handing a search to a thread."""
        self._ponderhit = False
        self._stopped.clear()
        self._woken.clear()
        for worker in self._workers:
            worker.arm()

    def stop(self) -> None:
        """End the running search, or the one just handed to a thread, as soon as may be."""
        self._stopped.set()
        self._woken.set()
        for worker in self._workers:
            worker.stop()

    def ponderhit(self) -> None:
        """The opponent played the expected move: the pondering search's limits count from now."""
        with self._lock:
            self._ponderhit = True
            clock = self._clock
            if clock is None or not clock.pondering:
                return
            clock.pondering = False
            clock.started = time.monotonic_ns()
            self._set_deadlines(clock)
        self._woken.set()

    def _set_deadlines(self, clock: TimeManager) -> None:
        """Tell every worker when to end."""
        deadline = clock.deadline()
        for worker in self._workers:
            worker.set_deadline(deadline)

    def search(
        self,
        position: Position,
        limit: Limit = Limit(),
        on_info: Callable[[Info], None] | None = None,
        *,
        root_moves: Sequence[Move] = (),
        infinite: bool = False,
        ponder: bool = False,
        multipv: int = 1,
        overhead: float = 0.01,
        level: Level | None = None,
    ) -> Result:
        """Search a position until a limit or `stop`; the interpreter's lock is free meanwhile.

        ``on_info`` is called at least once, and after each iteration for each of ``multipv``
        lines. ``root_moves`` are the only ones to choose from, all where it is empty. An
        ``infinite`` search ends by `stop` alone, so does one to ``ponder``, until `ponderhit` lets
        its limit count. ``overhead`` is the seconds that a move may lose outside of the search. A
        search without any limit runs to the greatest depth. The same position, limit by depth or
        nodes and one thread give the same answer after `clear`.
        """
        clock = TimeManager(limit, position.side, overhead, infinite)
        with self._lock:
            # The opponent may have been faster than this thread.
            clock.pondering = ponder and not self._ponderhit
            self._clock = clock
        report = on_info or _ignore
        outcome = position.outcome()
        if outcome is not None:
            score = _final_score(outcome, position.side)
            info = Info(
                PovScore(score, position.side), depth=0, seldepth=0, nodes=0, nps=0, time=0.0,
                hashfull=0, tbhits=0, wdl=score.wdl(),
            )
            report(info)
            self._wait_if_asked(clock)
            self.arm()
            return Result(None, None, info)
        self.prepare()
        assert self._table is not None
        root = self._root(position, root_moves, level, multipv)
        self._enter(position.rules, level, root.tables)
        last: list[Info] = []
        deepest = max(1, min(limit.depth or MAXIMUM_DEPTH, MAXIMUM_DEPTH))
        if len(root.moves) == 1 and limit.clock(position.side) is not None:
            # A forced move needs no thought; one look gives it a score.
            deepest = 1 if not infinite and not ponder else deepest

        def measured(info: Info) -> Info:
            """An info with what the search has spent by now."""
            assert self._table is not None
            nodes = sum(worker.nodes for worker in self._workers[: self.threads])
            elapsed = time.monotonic_ns() - clock.asked
            return replace(
                info,
                nodes=nodes,
                time=elapsed / 1e9,
                nps=nodes * 1_000_000_000 // max(elapsed, 1),
                hashfull=self._table.full(),
                tbhits=sum(worker.table_hits for worker in self._workers[: self.threads])
                + root.hits,
            )

        def finished(depth: int, lines: list[tuple[int, int, list[int]]]) -> bool:
            last.clear()
            scores = [
                _line_score(decode_score(value), root.choices.get(pv[0])) for value, _, pv in lines
            ]
            for number, (score, (_, seldepth, pv)) in enumerate(zip(scores, lines), 1):
                last.append(measured(Info(
                    PovScore(score, position.side), depth=depth, seldepth=seldepth,
                    multipv=number, wdl=score.wdl(), pv=tuple(map(decode_move, pv)),
                )))
            for info in last:
                report(info)
            return clock.enough(lines[0][2][0], depth, scores[0])

        with self._lock:
            self._set_deadlines(clock)
        if self._stopped.is_set():
            deepest = 1
        cut, missing = self._run(position, root, finished, deepest, limit.nodes, multipv, level)
        self._wait_if_asked(clock)
        self._clock = None
        self.arm()
        best = last[0]
        if cut:
            best = measured(best)
            report(best)
        reply = best.pv[1] if len(best.pv) > 1 else None
        return Result(best.pv[0], reply, best, cut, missing)

    def tables_for(self, rules: Rules) -> Tables | None:
        """The tables, if they hold for these rules."""
        if self.tables is None or rules.repetition == 1:
            return None
        from merels.engine.tablebase.files import rules_folder

        if rules_folder(self.tables.rules) != rules_folder(rules):
            return None
        return self.tables

    def _enter(self, rules: Rules, level: Level | None, tables: Tables | None) -> None:
        """Start a search: scores of other rules, eyes or knowledge are worth nothing."""
        assert self._table is not None
        context = (core_rules(rules), _taste(level), tables)
        if context != self._context:
            if self._context is not None:
                self.clear()
            self._context = context
        self._table.new_search()

    def _run(
        self,
        position: Position,
        root: _Root,
        finished: _Report,
        deepest: int,
        nodes: int | None,
        multipv: int,
        level: Level | None,
    ) -> tuple[bool, int]:
        """Run all workers; the first one reports, and its end ends the others.

        Returns whether an iteration was cut short, and how many threads were not to be had.
        """
        rules, board = core_rules(position.rules), core_board(position)
        history = core_history(position)
        if level is not None:
            nodes = min(nodes or level.nodes, level.nodes)
        # The limit is the whole search's: each thread gets its share, the first one what is left.
        nodes = min(nodes, 1 << 63) if nodes else 0
        share = max(1, nodes // self.threads) if nodes else 0
        noise, noise_seed, greed, freedom = _taste(level)
        core_tables = root.tables.core if root.tables else None

        def run(worker: core.SearchWorker, report: _Report, **own: int) -> bool:
            return worker.run(
                rules, board, history, root.moves, report,
                tables=core_tables,
                ranks=root.ranks,
                table_men=root.table_men,
                noise=noise,
                noise_seed=noise_seed,
                greed=greed,
                freedom=freedom,
                **own,
            )

        def help_search(worker: core.SearchWorker, index: int) -> None:
            run(worker, lambda depth, lines: False, first_depth=1 + index % 2, node_limit=share)

        helpers: list[threading.Thread] = []
        try:
            for index, worker in enumerate(self._workers[1 : self.threads], 1):
                thread = threading.Thread(target=help_search, args=(worker, index), daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    break  # The system allows no more threads.
                helpers.append(thread)
            rest = max(1, nodes - share * len(helpers)) if nodes else 0
            cut = run(
                self._workers[0], finished, max_depth=deepest, lines=multipv, node_limit=rest
            )
            return cut, self.threads - 1 - len(helpers)
        finally:
            for worker in self._workers[1:]:
                worker.stop()
            for thread in helpers:
                thread.join()
            for worker in self._workers[1:]:
                worker.arm()

    def _root(
        self, position: Position, wanted: Sequence[Move], level: Level | None, multipv: int
    ) -> _Root:
        """The root: the legal moves among those wanted, or all, less those that tables rule out."""
        moves = core_moves(position)
        codes = {encode_move(move) for move in wanted}
        moves = [move for move in moves if move in codes] or moves
        # A level has no perfect knowledge.
        tables = self.tables_for(position.rules) if level is None else None
        if tables is None:
            return _Root(moves, None, SIZE)
        from merels.engine.tablebase.root_ranking import guide

        # Before a man is taken positions of the game may recur, of which the tables know nothing,
        # and they tell moves of one value from each other no better: both are the search's matter.
        men = sum(position.total(side) for side in (WHITE, BLACK))
        guidance = guide(tables, position, [decode_move(move) for move in moves], multipv)
        if guidance is None:
            return _Root(moves, tables, SIZE if any(position.hands) else men)
        ranked = [(rank, one) for rank, group in enumerate(guidance.groups) for one in group]
        choices = {encode_move(choice.move): choice for _, choice in ranked}
        ranks = tuple(rank for rank, _ in ranked)
        return _Root(list(choices), tables, men, ranks, choices, guidance.hits)

    def _wait_if_asked(self, clock: TimeManager) -> None:
        """Hold the answer back while pondering or searching without end."""
        while not self._stopped.is_set() and clock.waits:
            self._woken.wait()
            if not self._stopped.is_set():
                self._woken.clear()


def _memory_mb() -> float:
    """The machine's memory in MiB; a system may promise more, and end who uses it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (AttributeError, ValueError, OSError):  # Not every system tells.
        return math.inf


def _taste(level: Level | None) -> tuple[int, int, int, int]:
    """What bends the evaluation: noise and its seed, the worth of a man more and of a step more."""
    return (level.noise, level.seed, level.greed, level.freedom) if level else (0, 0, 0, 0)


def _ignore(info: Info) -> None:
    """Take no notice of a search's information."""
