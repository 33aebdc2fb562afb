"""Make the file of corrections: placing positions in which short searches blunder.

    python -m merels.engine.training.corrections -tables DIR -openings FILE -work FILE \
        -nodes 100000 1000000 -positions 130000 25000 -threads 2

Each opening is played on by the engine against perfect play, once for each colour. The engine
follows its own search, or the correction if the search gives away the value. Perfect play chooses
any of the moves that keep the value and look best to a search. Each line of play has a probability,
and the most probable position is searched next.

A position gets a correction if its search to ``-nodes`` prefers a move that gives away the value,
at the end or after any iteration from `LEAST_NODES` nodes on. The correction is the move that the
search prefers among those that keep the value. Lines of play follow the first rule set of the file;
a correction that gives away the value under another rule set is left out. ``-tables`` needs the
complete tables of all these rule sets.

With several numbers of ``-nodes``, each of them explores lines of its own, and has its own number
of ``-positions``. If two of them correct one position, the correction of the first is written.

The result depends only on the openings, the tables, the engine's play and these numbers, not on the
number of ``-threads``, which also search positions that are likely to be next. An interrupted run
resumes: the positions searched with N nodes are stored in the file FILE.N, if ``-work`` is FILE.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple, TextIO

from merels.engine.common.errors import InputError, placed
from merels.engine.common.numbers import read_whole
from merels.engine.common.saving import write_named, write_whole
from merels.engine.game.notation import format_position, parse_position
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import Rules, preset
from merels.engine.search import corrections
from merels.engine.search.limits import Info, Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.probe import Tables, build_command, open_tables

LEAST_NODES = 1_000
"""Nodes of the search from which on the preferred move of an iteration counts."""
MAX_REPLIES = 3
"""Maximum number of moves of perfect play that a short search ranks."""
REPLY_NODES = 20_000
"""Nodes of this search."""
SPREAD = 12
"""Difference of scores, in hundredths of a man, that makes a reply less probable by a factor e."""
LATE_DIVISOR = 4
"""The engine, on a slower machine, may play what it prefers after ``-nodes`` divided by this."""
AHEAD = 8
"""Number of likely next positions, for each thread, whose searches are started."""
START_WEIGHT = 20
"""Weight of the start of the game; an opening has a weight of 1."""

ENGINE, PERFECT = 0, 1
"""Who is to move in a line of play."""


class Searched(NamedTuple):
    """The likely moves in a position with their probabilities, and its correction."""

    moves: dict[str, float]
    correction: str | None = None


def moves_that_hold(tables: Tables, position: Position) -> list[Move]:
    """Return the moves that keep a position's value; none if it is lost."""
    moves = list(tables.moves(position.under(tables.rules)))
    values = [stored.value for _, stored in moves if stored is not None]
    best = max(values, default=-1)
    if best < 0 or len(values) < len(moves):
        return []
    return [move for move, stored in moves if stored is not None and stored.value == best]


def _shares_of_late(preferred: list[tuple[int, Move]]) -> dict[Move, float]:
    """Return the shares of the moves that the last iterations of a search prefer."""
    last = preferred[-1][0]
    late = [move for nodes, move in preferred if nodes * LATE_DIVISOR >= last]
    return {move: late.count(move) / len(late) for move in set(late)}


class Explorer:
    """The search for positions that need a correction."""

    def __init__(self, tables: Tables, nodes: int) -> None:
        self.tables = tables
        self.nodes = nodes
        self.searcher = Searcher(64)
        self.searcher.corrections = False

    def search(
        self, position: Position, nodes: int, moves: Sequence[Move] = ()
    ) -> list[tuple[int, Move]]:
        """Return the nodes and the preferred move of each iteration, and of the whole search."""
        preferred: list[tuple[int, Move]] = []

        def follow(info: Info) -> None:
            if info.pv:
                preferred.append((info.nodes or 0, info.pv[0]))

        self.searcher.clear()
        result = self.searcher.search(position, Limit(nodes=nodes), follow, root_moves=moves)
        assert result.move is not None
        return [*preferred, (nodes, result.move)]

    def engine_moves(
        self, position: Position, holding: list[Move]
    ) -> tuple[Move | None, dict[Move, float]]:
        """Return the correction, if one is needed, and the moves that follow with their shares."""
        if len(holding) == len(position.legal_moves()):
            return None, _shares_of_late(self.search(position, self.nodes))
        preferred = self.search(position, self.nodes)
        final = preferred[-1][1]
        least = min(LEAST_NODES, self.nodes)
        if all(move in holding for nodes, move in preferred if nodes >= least):
            return None, _shares_of_late(preferred)
        if final not in holding:
            final = self.search(position, self.nodes, holding)[-1][1]
        return final, {final: 1.0}

    def replies(self, position: Position, holding: list[Move]) -> dict[Move, float]:
        """Return the likely moves of perfect play with their probabilities.

        Half of the probability is that of a short search's best moves, half that of the moves that
        the engine prefers among those that hold.
        """
        if len(holding) == 1:
            return {holding[0]: 1.0}
        lines: dict[int, tuple[int, Move]] = {}

        def follow(info: Info) -> None:
            if info.pv and info.score is not None:
                score = info.score.relative
                lines[info.multipv] = (score.cp or 0, info.pv[0])

        self.searcher.clear()
        self.searcher.search(
            position, Limit(nodes=REPLY_NODES), follow, root_moves=holding,
            multipv=min(MAX_REPLIES, len(holding)),
        )
        best = max(score for score, _ in lines.values())
        weights = {move: math.exp((score - best) / SPREAD) for score, move in lines.values()}
        ranked = {move: weight / sum(weights.values()) for move, weight in weights.items()}
        late = _shares_of_late(self.search(position, self.nodes, holding))
        return {
            move: (ranked.get(move, 0) + late.get(move, 0)) / 2 for move in {**ranked, **late}
        }

    def examine(self, position: Position, player: int) -> Searched:
        """Search a position; a lost position gets no moves, because no correction can help."""
        holding = moves_that_hold(self.tables, position)
        if not holding:
            return Searched({})
        correction = None
        if player == ENGINE:
            correction, moves = self.engine_moves(position, holding)
        else:
            moves = self.replies(position, holding)
        named = {str(move): moves[move] for move in sorted(moves)}
        return Searched(named, str(correction) if correction else None)


class Work:
    """The file of searched positions, one JSON line each; it resumes an interrupted run."""

    def __init__(self, path: Path) -> None:
        self.stored: dict[tuple[str, int], Searched] = {}
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        # A killed run may leave a part of a line.
        complete = text[: text.rfind("\n") + 1]
        for line in complete.splitlines():
            position, player, moves, correction = json.loads(line)
            self.stored[position, player] = Searched(moves, correction)
        write_whole(path, [complete.encode()])
        self._file: TextIO = path.open("a", encoding="utf-8")

    def get(self, position: Position, player: int) -> Searched | None:
        """Return a position's entry, or None."""
        return self.stored.get((format_position(position), player))

    def add(self, position: Position, player: int, searched: Searched) -> None:
        """Store a searched position."""
        self._file.write(json.dumps([format_position(position), player, *searched]) + "\n")
        self._file.flush()


class Examiner:
    """Threads, each with an explorer, that examine positions, and store results in a work file."""

    def __init__(self, explorers: Sequence[Explorer], work: Work) -> None:
        self._work = work
        self._threads = ThreadPoolExecutor(len(explorers))
        self._idle: SimpleQueue[Explorer] = SimpleQueue()
        for explorer in explorers:
            self._idle.put(explorer)
        self._futures: dict[tuple[Position, int], Future[Searched]] = {}

    def start(self, position: Position, player: int) -> None:
        """Submit a position to the threads, unless it is submitted or in the work file."""
        call = position, player
        if call not in self._futures and self._work.get(*call) is None:
            self._futures[call] = self._threads.submit(self._examine, *call)

    def _examine(self, position: Position, player: int) -> Searched:
        explorer = self._idle.get()
        try:
            return explorer.examine(position, player)
        finally:
            self._idle.put(explorer)

    def examine(self, position: Position, player: int) -> Searched:
        """Return a position's entry of the work file; examine and add the position if needed."""
        if (stored := self._work.get(position, player)) is not None:
            return stored
        self.start(position, player)
        searched = self._futures.pop((position, player)).result()
        self._work.add(position, player, searched)
        return searched

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(cancel_futures=True)


def explore(
    openings: Sequence[tuple[Position, float]], explorers: Sequence[Explorer], work: Work,
    positions: int,
) -> Iterator[tuple[Position, Searched]]:
    """Yield the most probable positions of the placing phase, each searched once."""
    heap: list[tuple[float, int, tuple[int, int], Position]] = []
    pending: defaultdict[tuple[int, int], float] = defaultdict(float)
    expanded: set[tuple[int, int]] = set()
    serial = itertools.count()

    def push(position: Position, player: int, probability: float) -> None:
        if not position.hands[position.side] or position.outcome() is not None:
            return
        place = corrections.key_of(position)[0], player
        if place not in expanded:
            pending[place] += probability
            heapq.heappush(heap, (-pending[place], next(serial), place, position))

    for opening, weight in openings:
        for player in (ENGINE, PERFECT):
            push(opening, player, weight)
    with closing(Examiner(explorers, work)) as examiner:
        while heap and len(expanded) < positions:
            # The first entries of a heap are likely to be next.
            for _, _, place, position in heap[: AHEAD * len(explorers)]:
                if place not in expanded:
                    examiner.start(position, place[1])
            _, _, place, position = heapq.heappop(heap)
            if place in expanded:
                continue
            expanded.add(place)
            player = place[1]
            searched = examiner.examine(position, player)
            yield position, searched
            for move, share in searched.moves.items():
                following = _without_history(position.push(move))
                push(following, 1 - player, pending[place] * share)


def _without_history(position: Position) -> Position:
    """Return a position without its history and counts, as the work file stores it."""
    return Position.of(position.rules, position.men, position.hands, position.side)


def read_openings(paths: Sequence[Path], rules: Rules) -> list[tuple[Position, float]]:
    """Return the start of the game and the positions of files of openings, with their weights.

    Text after ``;`` is a comment. `InputError` names the file and the line of an invalid position.
    """
    openings = [(Position(rules=rules), float(START_WEIGHT))]
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            text = line.partition(";")[0].strip()
            if not text:
                continue
            try:
                openings.append((parse_position(text, rules), 1.0))
            except InputError as error:
                raise placed(error, f"{path}, line {number}") from None
    return openings


def _count(text: str) -> int:
    """Return a flag's value, an integer from 1 to a billion."""
    return read_whole(text, 1, 10**9)


def main(argv: list[str] | None = None) -> int:
    """Run the command: search positions and write the file of corrections."""
    parser = argparse.ArgumentParser(
        prog="python -m merels.engine.training.corrections", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-tables", type=Path, metavar="DIR", required=True)
    parser.add_argument("-openings", type=Path, metavar="FILE", nargs="+", required=True)
    parser.add_argument("-work", type=Path, metavar="FILE", default=Path("corrections.work"))
    parser.add_argument("-out", type=Path, metavar="FILE", default=corrections.PATH)
    parser.add_argument(
        "-nodes", type=_count, nargs="+", default=[200_000], help="nodes of the engine's searches"
    )
    parser.add_argument(
        "-positions", type=_count, nargs="+", default=[100_000], help="positions to search"
    )
    parser.add_argument("-threads", type=_count, default=1, help="number of searches at once")
    args = parser.parse_args(argv)
    if len(args.nodes) != len(args.positions):
        parser.error(
            f"expected as many -positions as -nodes, found {len(args.positions)} and "
            f"{len(args.nodes)}"
        )
    try:
        rules = [preset(name) for name in corrections.VARIANTS]
        tables = [open_tables(args.tables, rule_set) for rule_set in rules]
        for opened in tables:
            if not opened.complete:
                command = build_command(opened.rules, args.tables)
                problem = f"expected all tables; make them with {command}"
                raise InputError(str(args.tables), problem)
        openings = read_openings(args.openings, rules[0])
        numbers: dict[int, int] = {}  # by position
        for nodes, positions in zip(args.nodes, args.positions):
            work = Work(args.work.with_name(f"{args.work.name}.{nodes}"))
            explorers = [Explorer(tables[0], nodes) for _ in range(args.threads)]
            explored = explore(openings, explorers, work, positions)
            for count, (position, examined) in enumerate(explored, 1):
                if examined.correction:
                    move = Move.from_text(examined.correction)
                    if all(move in moves_that_hold(other, position) for other in tables[1:]):
                        key, _ = corrections.key_of(position)
                        numbers.setdefault(key, corrections.number_of(position, move))
                if count % 1000 == 0:
                    print(f"{nodes} nodes: {count} positions, {len(numbers)} corrections",
                          flush=True)
        write_named(args.out, [corrections.pack(numbers.values())])
    except (InputError, OSError) as error:
        parser.error(str(error))
    print(f"{args.out}: {len(numbers)} corrections")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
