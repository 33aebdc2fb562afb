"""A workload for sanitizer builds, which uses all compiled code and checks known results.

    python -m tests.sanitize.workload [--assertions] [PART ...]

The last line, `signature N`, is the same for every build of one source. An assertion that fails in
code without the GIL ends the program at once.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import tempfile
import threading
import time
from array import array
from collections.abc import Callable
from pathlib import Path

from merels.engine.core import core, trainer
from merels.engine.core.convert import (
    core_board,
    core_history,
    core_moves,
    core_rules,
    encode_move,
)
from merels.engine.game.notation import parse_position
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import PRESETS, Rules, make_rules, parse_rules
from merels.engine.search.clock import Clock
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.pack import Packer
from merels.engine.tablebase.probe import Tables, open_tables
from merels.engine.tablebase.sectors import Sector, kept_placing_sectors
from merels.engine.tablebase.verdict import PHASES
from merels.engine.tablebase.verify import Verifier
from merels.engine.tools import bench, perft, suite
from merels.engine.training.samples import random_position
from merels.protocol.client.scanner import last_answer, last_score, parse_summary
from tests.engine.random_games import random_positions
from tests.protocol.client.readable_scanner import find_answer, find_score, random_lines

DATA = Path(__file__).parent.parent / "data"
UNLIMITED = make_rules("morris", ["Repetition=0", "NoRemovalPlies=0"])
# Together they have every value of Flying, double removals, locked mills and blocked draws. Each
# function of the solver that threads run at the same time works for one of the first two.
BUILT = (UNLIMITED, make_rules("mill", ["Flying=never", "DoubleMill=each", "NoRemovalPlies=6"]))
ALL_FLY = make_rules("loc", ["Flying=both", "DoubleMill=each", "Blocked=draws", "NoRemovalPlies=0"])
MEN = 7
PATIENCE = 600.0
"""Seconds after which a search counts as hung; sanitizers slow everything down."""
PUBLISHED = {
    Sector(3, 3): [(140_621, 28_736, 269)],
    Sector(4, 3): [(75_397, 3_095, 681_906), (102_281, 0, 658_117)],
}
"""Canonical states won, lost and drawn under ``UNLIMITED``, from engine/tablebase/RESULTS.md."""


def counts() -> list[object]:
    """Check perft counts against those of independent programs."""
    results: list[object] = []
    for row in json.loads((DATA / "perft.json").read_text()):
        position = parse_position(row["position"], parse_rules(row["rules"]))
        for depth, known in enumerate(row["perft"], 1):
            if known <= 30_000:
                assert perft.count(position, depth, lambda: False) == known, (row, depth)
                results.append(known)
    for rules in PRESETS.values():
        assert perft.count(Position(rules=rules), 4, lambda: False) == 24 * 23 * 22 * 21
    return results


def lines() -> list[object]:
    """Check the compiled scanner of engine output against one in readable Python."""
    chance = random.Random(15)
    results: list[object] = []
    for _ in range(20_000):
        text, end = random_lines(chance), chance.randrange(300)
        info = last_score(text, end)
        summary = parse_summary(info or text, 0)
        assert info == find_score(text, end), (text, end)
        assert last_answer(text, False) == find_answer(text, False), text
        results.append((info, summary.score, summary.win_in, summary.depth, summary.nodes))
    return results


def games() -> list[object]:
    """Check moves and outcomes of random games against the readable rules; evaluate them."""
    results: list[object] = []
    for position in random_positions(seed=7, number=1500):
        rules, board = core_rules(position.rules), core_board(position)
        codes = core_moves(position)
        assert {encode_move(move) for move in position.legal_moves()} == set(codes)
        outcome = position.outcome()
        reason, _ = core.outcome(rules, board, core_history(position))
        assert reason == (outcome.reason if outcome else ""), position
        core.terms(rules, board)
        results.append((codes, core.evaluate(rules, board)))
    return results


def searches() -> list[object]:
    """Search the benchmark's positions to smaller depths: determinism, and legal variations."""
    results: list[object] = []
    searcher = Searcher(3)
    for rules, text, depth in bench.POSITIONS:
        position = parse_position(text, parse_rules(rules))
        seen = []
        for _ in range(2):
            searcher.clear()
            info = searcher.search(position, Limit(depth=depth - 5)).info
            seen.append((info.nodes, info.score, info.pv))
            assert is_playable(position, info.pv)
        assert seen[0] == seen[1], text
        lines = searcher.search(position, Limit(nodes=3000), multipv=3)
        results.append((seen[0], lines.nodes))
    # A second search that uses more of the table clears it first.
    searcher.clear()
    before = searcher.search(Position(), Limit(nodes=10_000)).nodes
    results.append((before, searcher.search(Position(), Limit(depth=8)).nodes))
    return results


def is_playable(position: Position, line: tuple[Move, ...]) -> bool:
    """Return whether a line is not empty and all its moves are legal."""
    for move in line:
        if move not in position.legal_moves():
            return False
        position = position.play(move)
    return bool(line)


def problems() -> list[object]:
    """Solve some problems of the suite, in every phase."""
    chosen = suite.load(DATA / "positions.json", parse_rules("morris"))[::40]
    assert {problem.phase for problem in chosen} == set(PHASES)
    played = suite.play(chosen, Limit(nodes=2000), Searcher(1))
    results = [(str(move), held) for _, move, held in played]
    assert sum(held for _, held in results) > 0.9 * len(results)
    return [*results]


def built(root: Path, rules: Rules) -> Tables:
    """Build tables of up to seven men with three threads; return them, opened from their files."""
    Builder(root, rules, threads=3, depths=True).build(MEN)
    tables = open_tables(root, rules, check=True)
    assert not tables.problems and tables.men == MEN
    if rules == UNLIMITED:
        for sector, published in PUBLISHED.items():
            assert counted(tables, sector) == published, sector
    return tables


def placing(root: Path) -> list[object]:
    """Solve and verify the placing phase of up to six men under rules with double removals."""
    rules = parse_rules("multi")
    Builder(root, rules, threads=3).build(6, placing=True)
    tables = open_tables(root, rules, check=True)
    verifier = Verifier(tables, 3)
    placed = [sector for sector in tables.headers if sector.hand]
    assert len(placed) == len(kept_placing_sectors(rules, 6)) == 3
    assert [table.errors for sector in placed for table in verifier.check(sector)] == (
        [0] * len(placed))
    verifier.free()
    return [header.checksum for header in tables.headers.values()]


def packed(root: Path, rules: Rules) -> Tables:
    """Pack tables; return the packed ones."""
    Packer(root, root / "packed", rules, threads=3).pack()
    tables = open_tables(root / "packed", rules)
    assert not tables.problems and tables.men == MEN
    return tables


def counted(tables: Tables, sector: Sector) -> list[tuple[int, int, int]]:
    """Return the numbers of won, lost and drawn states of a sector's tables."""
    return [(tally.won, tally.lost, tally.drawn) for tally in tables.headers[sector].tallies]


def of_tables() -> list[object]:
    """Use tables of two rule sets, solve a placing phase, and fit weights."""
    results: list[object] = []
    with tempfile.TemporaryDirectory() as folder:
        for rules in BUILT:
            results += use_tables(Path(folder), rules)
        results.append(placing(Path(folder)))
        results.append(fitting(open_tables(Path(folder), BUILT[-1])))
    return results


def of_flyers() -> list[object]:
    """Use tables in which both sides always fly."""
    with tempfile.TemporaryDirectory() as folder:
        return use_tables(Path(folder), ALL_FLY)


def use_tables(root: Path, rules: Rules) -> list[object]:
    """Build, verify, probe, pack and search with tables."""
    tables = built(root, rules)
    # Verifying three against three is quick; probes check the other sector.
    assert [table.errors for table in Verifier(tables, 3).check(Sector(3, 3))] == [0]
    results: list[object] = [[header.checksum for header in tables.headers.values()]]
    results.append(probes(tables))
    check_moves_keep_values(tables)
    check_moves_keep_values(packed(root, rules))
    return results


def probes(tables: Tables) -> list[object]:
    """Check that the values of random states follow from those of their moves."""
    chance = random.Random(5)
    results: list[object] = []
    for _ in range(300):
        position = random_position(tables.rules, *chance.choice(((3, 3), (4, 3), (3, 4))), chance)
        known = tables.probe(position)
        assert known is not None
        moves = [after.value for _, after in tables.moves(position) if after is not None]
        # Under a limit on plies a win may come too late.
        if moves and not tables.rules.no_removal_plies:
            assert known.value == max(moves), position
        later = Position.of(position.rules, position.men, (0, 0), position.side, plies=3)
        results.append((known, tables.bounds(later)))
    return results


def check_moves_keep_values(tables: Tables) -> None:
    """Check that the moves of a search with tables and threads keep the value."""
    searcher = Searcher(1, threads=3)
    searcher.tables = tables
    chance = random.Random(11)
    for _ in range(10):
        position = random_position(tables.rules, 4, 3, chance)
        known = tables.probe(position)
        assert known is not None
        result = searcher.search(position, Limit(nodes=3000), multipv=2)
        assert result.move in position.legal_moves()
        assert result.info.tbhits
        after = dict(tables.moves(position))[result.move]
        assert after is not None and after.value == known.value


def threads() -> list[object]:
    """Search with several threads on one table, while another thread sends clock."""
    for number in (2, 3, 4):
        searcher = Searcher(1, threads=number)
        for rules, text, _ in bench.POSITIONS[:: 5 - number]:
            position = parse_position(text, parse_rules(rules))
            result = searcher.search(position, Limit(nodes=20_000))
            assert result.move in position.legal_moves()
        position = Position(rules=parse_rules("mill"))
        ended_by(Clock.stop, searcher, position, Limit(), ponder=False)
        ended_by(Clock.ponderhit, searcher, position, Limit(time=0.03), ponder=True)
    return []


def ended_by(
    signal: Callable[[Clock], None], searcher: Searcher, position: Position, limit: Limit,
    ponder: bool,
) -> None:
    """Search on a thread until an iteration is done, then end the search by a signal."""
    clock = Clock()
    started = threading.Event()
    moves: list[Move | None] = []

    def search() -> None:
        result = searcher.search(
            position, limit, lambda info: started.set(), ponder=ponder, infinite=not ponder,
            clock=clock,
        )
        moves.append(result.move)

    thread = threading.Thread(target=search, daemon=True)
    thread.start()
    assert started.wait(PATIENCE)
    time.sleep(0.05)
    signal(clock)
    thread.join(PATIENCE)
    assert moves, "the search does not end"
    assert moves[0] in position.legal_moves()


def fitting(tables: Tables) -> list[object]:
    """Make, label and shuffle samples, and fit weights to them."""
    chance = random.Random(3)
    samples = bytearray()
    for _ in range(300):
        position = random_position(tables.rules, chance.randint(3, 4), 3, chance)
        known = tables.probe(position)
        assert known is not None
        points = (1 + known.value) / 2
        samples += trainer.pack_sample(core_board(position), 1, points, points)
    samples += trainer.draw_samples(tables.core, 4, 3, 0, 50, 1)
    worker = core.SearchWorker(core.TranspositionTable(1))
    leaves = trainer.leaf_samples(tables.core, worker, samples, 50)
    assert leaves
    samples = trainer.label_samples(tables.core, samples)
    assert len(trainer.labelled_samples(samples)) == len(samples)
    samples += trainer.labelled_samples(trainer.label_samples(tables.core, leaves))
    samples = trainer.select_samples(samples, array("Q"), False)
    trainer.shuffle(samples, 5)
    made = bytearray(core.WEIGHTS_SIZE)
    for quarter, part in enumerate(trainer.split_samples(samples)):
        fit = trainer.Fit(0.5, quarter)
        assert 0 <= fit.epoch(part, 0.1, 0.1) < 1 and 0 <= fit.epoch(part, 0.0) < 1
        fit.write(made)
    assert any(made)
    return [bytes(samples)]


def require_assertions() -> None:
    """End the program unless assertions are compiled in."""
    failures = []
    sys.unraisablehook = lambda failure: failures.append(failure.exc_type)
    core.fail_assertion()
    if AssertionError not in failures:
        raise SystemExit("this build has no assertions")


def end_at_once(failure: object) -> None:
    """End the program, because results after a failed assertion are meaningless."""
    sys.__unraisablehook__(failure)     # type: ignore[arg-type]
    sys.stderr.flush()
    os._exit(1)


PARTS: dict[str, Callable[[], list[object]]] = {
    "counts": counts,
    "lines": lines,
    "games": games,
    "searches": searches,
    "problems": problems,
    "tables": of_tables,
    "flyers": of_flyers,
    "threads": threads,
}


def main() -> None:
    """Run some parts, or all, and print their signature."""
    parser = argparse.ArgumentParser(description="Run the compiled code and check its results.")
    parser.add_argument("--assertions", action="store_true", help="require compiled assertions")
    parser.add_argument("part", nargs="*", metavar="PART", help="default: all")
    arguments = parser.parse_args()
    if arguments.assertions:
        require_assertions()
    sys.unraisablehook = end_at_once
    digest = hashlib.sha256()
    for name in arguments.part or PARTS:
        if name not in PARTS:
            raise SystemExit(f"{name}: expected one of {', '.join(PARTS)}")
        started = time.process_time()
        digest.update(repr(PARTS[name]()).encode())
        print(f"{name:<10}{time.process_time() - started:6.1f} s", flush=True)
    print(f"signature {digest.hexdigest()[:16]}")


if __name__ == "__main__":
    main()
