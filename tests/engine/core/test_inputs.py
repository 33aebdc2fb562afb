"""The compiled core's checks of impossible values and of objects in use."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from merels.engine.core import core, solver, trainer
from merels.engine.core.convert import core_moves, core_rules
from merels.engine.game.position import Position
from merels.engine.game.rules import PRESETS

ROOT = Path(__file__).parents[3]
RULES = core_rules(PRESETS["mill"])
START = (0, 0, 9, 9, 0)


def drawn_table(own: int, opponent: int) -> memoryview:
    """Return the values of a table in which all positions are draws."""
    return memoryview(bytes((core.table_places(own, opponent) + 3) // 4))


def tables() -> core.TableSet:
    """Return a table set with a table of draws for three men against three."""
    tables = core.TableSet(RULES)
    tables.add([(3, 3, 0, drawn_table(3, 3), None)])
    return tables


def solved(with_depths: bool) -> solver.Retrograde:
    """Return the solved sector of three men against three."""
    retrograde = solver.Retrograde(RULES, 3, 3, with_depths, tables())
    while retrograde.advance():
        retrograde.work()
    return retrograde


def later_tables() -> core.TableSet:
    """Return a table of drawn positions, to which one own man and 16 in hand lead."""
    tables = core.TableSet(RULES)
    tables.add([(2, 1, 14, bytes((core.table_places(2, 1, 14) + 3) // 4), None)])
    return tables


def worker() -> core.SearchWorker:
    """Return a worker with a small transposition table."""
    return core.SearchWorker(core.TranspositionTable(1))


def run(moves: list[int], **extra: object) -> bool:
    """Search the start with these root moves for one iteration."""
    return worker().run(
        RULES, START, [], moves, lambda *_: True, **extra)  # type: ignore[arg-type]


INVALID_CALLS: dict[str, Callable[[], object]] = {
    "men on one point": lambda: core.evaluate(RULES, (7, 7, 6, 6, 0)),
    "men beyond the board": lambda: core.evaluate(RULES, (1 << 24, 0, 6, 6, 0)),
    "no such flying": lambda: core.legal_moves((3, *RULES[1:]), START),
    "no such rules": lambda: core.TableSet((0, False, False, False, -1, 0, 0)),
    "a depth beyond the stack": lambda: core.perft(RULES, START, 100_000),
    "no such men": lambda: core.table_places(10, 0),
    "no such place": lambda: core.table_board(3, 3, core.table_places(3, 3)),
    "a table of no men": lambda: core.TableSet(RULES).add([(99, 99, 0, b"", None)]),
    "no table there": lambda: solver.verify_places(tables(), 4, 3, 0, 0, 1),
    "a place beyond the table": lambda: solver.verify_places(tables(), 3, 3, 0, 0, 1 << 40),
    "no moves": lambda: run([]),
    "an illegal move": lambda: run([0xFFFFF]),
    "more moves than there are": lambda: run([0] * 5000),
    "fewer ranks than moves": lambda: run(core_moves(Position(rules=PRESETS["mill"])), ranks=[1]),
    "no depth": lambda: run(core_moves(Position(rules=PRESETS["mill"])), first_depth=-3),
    "too much noise": lambda: run(
        core_moves(Position(rules=PRESETS["mill"])), errors=(90, 0, 0, 2**31, 0, 1)),
    "depths before packing": lambda: solver.Retrograde(RULES, 3, 3, True, tables()).depths(0),
    "values before packing": lambda: solver.Retrograde(RULES, 3, 3, True, tables()).values(0),
    "depths that are not computed": lambda: solved(False).depths(0),
    "a third table": lambda: solved(True).values(2),
    "a slice without a table to read": lambda: solver.PlacingSlice(RULES, 18, 0, [0], tables()),
    "a sector of too many men": lambda: solver.PlacingSlice(RULES, 16, 1, [9], later_tables()),
}
@pytest.mark.parametrize("name", INVALID_CALLS)
def test_impossible_values_raise_value_error(name: str) -> None:
    with pytest.raises(ValueError):
        INVALID_CALLS[name]()


def test_parameters_are_constants_in_a_usual_build() -> None:
    assert core.parameters() == []


def test_none_instead_of_an_object_raises_type_error() -> None:
    calls: list[Callable[[Any], object]] = [
        core.SearchWorker,
        core.TableSet,
        tables().probe,
        lambda none: solver.Retrograde(RULES, 3, 3, False, none),
        lambda none: solver.PlacingSlice(RULES, 18, 0, [0], none),
        lambda none: solver.verify_places(none, 3, 3, 0, 0, 1),
        lambda none: trainer.draw_samples(none, 3, 3, 0, 1, 1),
        lambda none: trainer.hash_samples(none, RULES, 1, 1),
        lambda none: trainer.score_samples(none, RULES, b"", 1, 250.0),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call(None)


def test_a_worker_and_its_tables_are_locked_during_a_search() -> None:
    moves = core_moves(Position(rules=PRESETS["mill"]))
    busy_worker, table_set = worker(), tables()
    refused = []

    def report(depth: int, lines: object) -> bool:
        for call in (
            lambda: busy_worker.run(RULES, START, [], moves, report),
            busy_worker.clear,
            lambda: table_set.remove(3, 3, 0),
            lambda: table_set.add([(3, 3, 0, drawn_table(3, 3), None)]),
        ):
            with pytest.raises(RuntimeError) as caught:
                call()
            refused.append(str(caught.value))
        return True

    busy_worker.run(RULES, START, [], moves, report, tables=table_set)
    assert refused == ["this worker is in use"] * 2 + ["the set of tables is in use"] * 2
    busy_worker.clear()
    table_set.remove(3, 3, 0)
    assert not table_set.has(3, 3)


def test_a_history_whose_slice_is_too_long_is_refused() -> None:
    class LongSlices:
        def __getitem__(self, part: object) -> Iterator[int]:
            return iter(range(100_000))

    with pytest.raises(ValueError, match="has 100000 keys, more than 2000"):
        core.outcome(RULES, START, LongSlices())  # type: ignore[arg-type]


def test_solved_tables_outlive_their_solver() -> None:
    retrograde = solved(False)
    values = retrograde.values(0)
    copied = bytes(values)
    del retrograde
    assert bytes(values) == copied and any(copied)


def test_a_stage_begins_only_after_the_stage_before() -> None:
    for solving in (
        solver.Retrograde(RULES, 3, 3, False, tables()),
        solver.PlacingSlice(RULES, 16, 1, [1], later_tables()),
    ):
        assert solving.advance() and solving.done == 0
        with pytest.raises(RuntimeError, match="the stage is not done"):
            solving.advance()
        solving.work()
        done = solving.done
        assert 0 < done < 1 and solving.advance() and solving.done == pytest.approx(done)


@pytest.mark.parametrize("name", ["solver", "trainer"])
def test_an_extension_from_another_build_is_refused(name: str) -> None:
    program = (
        "from merels.engine.core import core\n"
        "core.SHARED_LAYOUT = (*core.SHARED_LAYOUT[:-1], 0)\n"
        f"from merels.engine.core import {name}\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: merels.engine.core.{name} and merels.engine.core.core come from different "
        "builds: reinstall merels, or in a checkout run python setup.py build_ext --inplace"
    )


LOAD_INDEX = """
import threading
from merels.engine.core import core

gate = threading.Barrier(4)

def load():
    gate.wait(60)
    print(f"{core.table_places(9, 9)}\\n", end="")

for _ in range(4):
    threading.Thread(target=load).start()
"""


def test_threads_may_load_the_index_at_the_same_time() -> None:
    """A new process has not loaded the index yet."""
    done = subprocess.run([sys.executable, "-c", LOAD_INDEX], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{core.table_places(9, 9)}\n" * 4, "")


NEW_PROCESS = """
from array import array
from merels.engine.core import core, solver, trainer
from tests.kit.samples import Sample
from tests.engine.core.test_inputs import RULES, tables, worker

sample = Sample(0b10101, 0b10101 << 8, 0, 0, 1, 0.5, 0.5).pack()
"""

WHOLE_INDEX = """
core.table_places(9, 9)
solver.Retrograde(RULES, 3, 3, False, tables())
trainer.label_samples(tables(), sample)
"""


@pytest.mark.parametrize("call", [
    "core.table_places(3, 9)",
    "core.table_board(9, 3, 10_000)",
    "core.table_board(3, 9, 10_000)",
    "core.table_board(2, 7, 1_000, 1)",
    "tables().probe((0b10101, 0b10101 << 8, 0, 0, 0))",
    "solver.sector_memory(9, 4, True)",
    "solver.slice_memory(RULES, 8)",
    "trainer.board_key((0x1FF, 0x1FF << 12, 0, 0, 0))",
    "trainer.select_samples(sample, array('Q'), False)",
    "trainer.label_samples(tables(), sample)",
    "trainer.leaf_samples(tables(), worker(), sample, 9)",
])
def test_the_first_call_of_a_process_loads_what_it_needs_of_the_index(call: str) -> None:
    """Each extension has an index of its own, for the numbers of men that were needed so far."""
    script = f"{NEW_PROCESS}print({call})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    names: dict[str, object] = {}
    exec(f"{NEW_PROCESS}{WHOLE_INDEX}", names)
    assert done.stdout == f"{eval(call, names)}\n"


def test_all_tables_of_a_sector_are_replaced_in_one_step() -> None:
    seen = list[tuple[object, bool]]()

    class Owner(bytearray):
        """A list of depths that looks at both tables when it is freed."""

        def __del__(self) -> None:
            for own, opponent in sides:
                board = (1 << own) - 1, (1 << opponent) - 1 << 8, 0, 0, 0
                seen.append((tables.probe(board), tables.has_depths(own, opponent)))

    tables, sides, drawn = core.TableSet(RULES), ((4, 3), (3, 4)), drawn_table(4, 3)
    won = b"\x55" * len(drawn)
    # An empty list has an index of zeros only.
    size = 4 * (core.table_places(4, 3) // (1 << 16) + 2)
    tables.add((*men, 0, won, Owner(size) if men == (4, 3) else bytes(size)) for men in sides)
    assert tables.has_depths(4, 3) and tables.has_depths(3, 4)
    tables.add((*men, 0, drawn, None) for men in sides)
    assert seen == [((0, -1), False)] * 2
