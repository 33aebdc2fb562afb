"""Fuzzing of the compiled extensions: every function that Python can call, with any arguments.

Invalid arguments must raise an exception. A crash ends the process; a build with assertions or
sanitizers shows its place.
"""

from __future__ import annotations

import json
import os
import random
import sys
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from threading import Lock
from types import ModuleType
from typing import Any

from merels.engine.core import core, solver, trainer
from merels.engine.core.convert import core_rules
from merels.engine.game.rules import PRESETS
from merels.protocol.client import scanner
from merels.protocol.process import round_trip as trip
from tests.fuzz.harness import Case, Defect, Fuzzer, Tally

MODULES: tuple[ModuleType, ...] = (core, solver, trainer, scanner, trip)
REFUSALS = (
    TypeError, AttributeError, ValueError, OverflowError, RuntimeError, KeyError, MemoryError,
    BufferError, OSError,
)
"""Exceptions that a call may raise; `core.pyi` documents when. OSError comes from pipes."""
NUMBERS = (
    0, 1, 2, 3, 4, 5, 8, 9, 10, 18, 19, 24, 31, 255, -1, -2, 0x7FFF, 0xFFFF, 0xFFFFFF, 0x1000000,
    2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**64 - 1, 2**64, -(2**31), -(2**63), 10**30,
)


@cache
def pipe_ends() -> tuple[int, int]:
    """Return the ends to read from and to write to of a non-blocking pipe."""
    source, sink = os.pipe()
    for end in (source, sink):
        os.set_blocking(end, False)
    return source, sink


def empty_source() -> int:
    """Return the pipe's end to read from, and empty the pipe."""
    with suppress(BlockingIOError):
        while os.read(pipe_ends()[0], 1 << 16):
            pass
    return pipe_ends()[0]


OTHERS: dict[str, Callable[[], object]] = {
    "none": lambda: None, "text": lambda: "7", "float": lambda: 2.5, "nan": lambda: float("nan"),
    "empty": tuple, "list": lambda: [1, 2, 3], "info": lambda: b"info depth 3 score cp 5\n",
    "answer": lambda: b"info depth 3 score cp 5\nbestmove d6 ponder f4\n", "bytes": bytes,
    "zeros": lambda: bytearray(100_000), "long": lambda: [7] * 3000,
    "places": lambda: array("Q", [0, 7, 99]), "far": lambda: array("Q", [2**64 - 1]),
    "nowhere": lambda: array("Q"), "texts": lambda: ["x"] * 5, "report": lambda: lambda *_: True,
    "lock": Lock, "source": empty_source, "sink": lambda: pipe_ends()[1],
    "samples": lambda: trainer.draw_samples(_tables({}), 3, 3, 0, 50, 1),
    "grows": lambda: Grows(), "block": lambda: Block(None),
    "weights": lambda: bytes(core.WEIGHTS_SIZE), "made": lambda: bytearray(core.WEIGHTS_SIZE),
}
"""Functions that make arguments other than numbers."""
Value = Any
"""An argument as JSON: a number, a list for a tuple, or ``{"a": NAME}``.

NAME is a key of `OTHERS` or the name of a class; a case has one object of each class."""


class Grows:
    """A sequence that returns more items than its length."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: object) -> object:
        return [5] * 2000


class Block:
    """A packed table with damaged blocks, which changes its table set while it is read."""

    def __init__(self, tables: core.TableSet | None) -> None:
        self._tables = tables

    def block(self, number: int) -> bytes:
        """Return a block of a wrong size; sometimes remove a table."""
        if number % 3 == 1 and self._tables is not None:
            self._tables.remove(3, 3, 0)
        return b"\x9c" * (number % 3 * 5000)


def some_rules(chance: random.Random) -> Value:
    """Return a random rule set in the core's format."""
    return list(core_rules(PRESETS[chance.choice(("mill", "multi", "loc", "morris"))]))


def some_board(chance: random.Random) -> Value:
    """Return a random board in the core's format."""
    hand = chance.choice((0, 0, 3))
    points = chance.sample(range(24), chance.randint(6, 18 - 2 * hand))
    own, opponent = points[::2], points[1::2]
    return [*(sum(1 << point for point in men) for men in (own, opponent)), hand, hand,
            chance.choice((0, 5, 60))]


def some_search(chance: random.Random) -> Value:
    """Return the arguments of a short search."""
    rules, board = some_rules(chance), some_board(chance)
    moves = core.legal_moves(decode(rules, {}), decode(board, {})) or [7]
    extra = {
        "ranks": [0] * len(moves), "tables": {"a": "TableSet"}, "table_men": 9, "first_depth": 1,
        "max_depth": 2, "node_limit": 500, "deadline": {"a": "Deadline"}, "lines": 2,
        "errors": [90, 3, 2, 5, 7, 1],
    }
    chosen = chance.sample(sorted(extra), chance.randint(0, 5))
    report = {"a": "report"} if chance.random() < 0.8 else None
    if report is None:
        chosen.append("max_depth")
    return [rules, board, [], moves, report, {key: extra[key] for key in chosen}]


def _fixed(*values: Value) -> Callable[[random.Random], Value]:
    return lambda chance: list(values)


def _on_board(*values: Value) -> Callable[[random.Random], Value]:
    return lambda chance: [some_rules(chance), some_board(chance), *values]


_A_TABLE = {"a": "TableSet"}
ENTRIES: dict[str, Callable[[random.Random], Value]] = {
    "perft": _on_board(2), "legal_moves": _on_board(),
    "outcome": _on_board([]),
    "evaluate": _on_board(), "terms": _on_board(), "fail_assertion": _fixed(),
    "load_weights": _fixed({"a": "weights"}), "shuffle": _fixed({"a": "zeros"}, 3),
    "table_limit": lambda chance: [some_rules(chance), 3, 3],
    "table_places": _fixed(4, 3, 2),
    "table_board": _fixed(3, 3, 5, 0), "sector_memory": _fixed(4, 3, 1),
    "slice_memory": lambda chance: [some_rules(chance), 4],
    "verify_places": _fixed(_A_TABLE, 3, 3, 0, 0, 40),
    "recompute_places": _fixed(_A_TABLE, 0, 0, 18, 0, 1, {"a": "zeros"}),
    "TableSet": lambda chance: [some_rules(chance)],
    "TableSet.add": _fixed(
        [[3, 3, 0, {"a": "zeros"}, {"a": "none"}], [4, 4, 0, {"a": "block"}, {"a": "none"}]]
    ),
    "TableSet.remove": _fixed(3, 3, 0), "TableSet.has": _fixed(3, 3, 0),
    "TableSet.has_depths": _fixed(3, 3), "TableSet.probe": lambda chance: [some_board(chance)],
    "TableSet.bounds": lambda chance: [some_board(chance)], "TableSet.shared": _fixed(),
    "TableSet.moves": _on_board([]),
    "TranspositionTable": _fixed(1),
    "TranspositionTable.shared": _fixed(), "SearchWorker.shared": _fixed(),
    "TranspositionTable.clear": _fixed(2),
    "TranspositionTable.megabytes_in_use": _fixed(),
    "TranspositionTable.new_search": _fixed(),
    "TranspositionTable.full": _fixed(), "SearchWorker": _fixed({"a": "TranspositionTable"}),
    "SearchWorker.clear": _fixed(), "SearchWorker.nodes": _fixed(),
    "SearchWorker.reset_counts": _fixed(),
    "SearchWorker.better": _fixed(),
    "monotonic_ns": _fixed(), "Deadline": _fixed(), "Deadline.set": _fixed(2**60),
    "SearchWorker.table_hits": _fixed(), "SearchWorker.run": some_search,
    "Retrograde": lambda chance: [some_rules(chance), 3, 3, 1, _A_TABLE],
    "Retrograde.advance": _fixed(), "Retrograde.work": _fixed(), "Retrograde.stop": _fixed(),
    "Retrograde.values": _fixed(1), "Retrograde.depths": _fixed(0), "Retrograde.done": _fixed(),
    "Retrograde.level": _fixed(), "Retrograde.tally": _fixed(1),
    "PlacingSlice": lambda chance: [some_rules(chance), 18, 0, [0], _A_TABLE],
    "PlacingSlice.advance": _fixed(), "PlacingSlice.work": _fixed(),
    "PlacingSlice.stop": _fixed(), "PlacingSlice.done": _fixed(),
    "PlacingSlice.written": _fixed(),
    "draw_samples": _fixed(_A_TABLE, 3, 3, 0, 20, 1),
    "pack_sample": lambda chance: [some_board(chance), 1, 0.5, {"a": "none"}],
    "hash_samples": lambda chance: [
        {"a": "TranspositionTable"}, some_rules(chance), 20, 1],
    "score_samples": lambda chance: [
        {"a": "SearchWorker"}, some_rules(chance), {"a": "samples"}, 20, 250.0],
    "leaf_samples": _fixed(_A_TABLE, {"a": "SearchWorker"}, {"a": "samples"}, 20),
    "label_samples": _fixed(_A_TABLE, {"a": "samples"}),
    "labelled_samples": _fixed({"a": "samples"}),
    # In a tuning build these change search constants; other builds have none to change.
    "parameters": _fixed(), "set_parameter": _fixed({"a": "text"}, 1),
    "board_key": lambda chance: [some_board(chance)],
    "is_held_out": lambda chance: [some_board(chance)],
    "split_samples": _fixed({"a": "samples"}),
    "select_samples": _fixed({"a": "samples"}, {"a": "places"}, 1),
    "Fit": _fixed(0.5, 3, 1), "Fit.epoch": _fixed({"a": "samples"}, 0.1, 0.5),
    "Fit.write": _fixed({"a": "made"}),
    "parse_summary": _fixed({"a": "info"}, 0, 1, 0), "last_score": _fixed({"a": "answer"}, 20),
    "last_answer": _fixed({"a": "answer"}, 0), "count_junk": _fixed({"a": "answer"}),
    "InfoSummary": _fixed(), "InfoSummary.score": _fixed(),
    "InfoSummary.win_in": _fixed(), "InfoSummary.depth": _fixed(), "InfoSummary.nodes": _fixed(),
    # The request comes back as the answer.
    "round_trip": _fixed(
        {"a": "lock"}, {"a": "sink"}, {"a": "info"}, {"a": "source"}, -1, -1, 9, 9
    ),
}
"""Valid arguments of every entry: function, class, method or property."""
SCRIPTS: tuple[tuple[float, list[list[Value]], tuple[str, ...]], ...] = (
    (0.03, [["Retrograde.advance"], ["Retrograde.work"]] * 40,
     ("Retrograde.values", "Retrograde.depths", "Retrograde.tally")),
    (0.15, [["PlacingSlice.advance"], ["PlacingSlice.work"]] * 6, ("PlacingSlice.written",)),
)
"""Calls in an order that only chance seldom makes, and entries that are valid only after them.

Each has the share of cases that have it. Solving a sector takes as long as a thousand other calls,
so only few cases do it.
"""
CALLS_AFTER_SCRIPT = 10
_DRAWN = sorted(ENTRIES.keys() - {"fail_assertion"})
"""Entries to draw from, without the one that always fails."""


class Core(Fuzzer):
    """Sequences of calls of the extensions, on objects that live as long as the case.

    A piece of a case is one call: an entry's name and its arguments, as JSON.
    """

    name = "core"
    unit = "calls"

    def __enter__(self) -> Core:
        self._broken: list[str] = []
        self._hooks = sys.unraisablehook, sys.excepthook
        # A failed assertion in code without the GIL calls excepthook, then unraisablehook.
        sys.unraisablehook = lambda failure: self._broken.append(f"{failure.object}")
        sys.excepthook = lambda *_: None
        return self

    def __exit__(self, *_: object) -> None:
        sys.unraisablehook, sys.excepthook = self._hooks

    def make(self, chance: random.Random) -> Case:
        """Return random calls with often damaged arguments, sometimes mixed with a script."""
        calls: list[list[Value]] = []
        for share, script, entries in SCRIPTS:
            if chance.random() < share:
                calls += script
                calls += [some_call(chance, entries) for _ in range(CALLS_AFTER_SCRIPT)]
        for _ in range(chance.randint(1, 30)):
            calls.insert(chance.randint(0, len(calls)), some_call(chance, _DRAWN))
        return [json.dumps(call) for call in calls]

    def check(self, case: Case) -> Tally:
        """Make the calls."""
        objects: dict[str, object] = {}
        accepted = 0
        for piece in case:
            self._broken.clear()
            try:
                accepted += bool(make_call(objects, *json.loads(piece)))
            except REFUSALS:
                continue
            finally:
                if self._broken:
                    raise Defect(f"a broken assertion: {self._broken[0]}")
        return Tally(accepted, len(case) - accepted)


def some_call(chance: random.Random, names: Sequence[str]) -> list[Value]:
    """Return a call of one of some entries, often with damaged arguments."""
    name = chance.choice(names)
    arguments = ENTRIES[name](chance)
    for _ in range(chance.choice((0, 1, 1, 2))):
        arguments = spoilt(arguments, chance) if arguments else [chance.choice(NUMBERS)]
    return [name, *arguments]


def spoilt(value: Value, chance: random.Random) -> Value:
    """Return a value with a part of it replaced, left out or repeated."""
    draw = chance.random()
    if isinstance(value, dict) and "a" not in value and value:
        key = chance.choice(sorted(value))
        return {**value, key: spoilt(value[key], chance)}
    if not isinstance(value, list) or not value:
        return chance.choice(NUMBERS) if draw < 0.6 else {"a": chance.choice(sorted(OTHERS))}
    at = chance.randrange(len(value))
    if draw < 0.85:
        return [*value[:at], spoilt(value[at], chance), *value[at + 1 :]]
    return value[:at] + value[at + 1 :] if draw < 0.95 else value[:at] + value[at:] * 2


def make_call(objects: dict[str, object], name: str, *arguments: Value) -> bool:
    """Make a call, unless it would take much time or memory; return whether it was made."""
    values = [decode(word, objects) for word in arguments if not _is_keywords(word)]
    extra = {key: decode(value, objects)
             for words in arguments if _is_keywords(words) for key, value in words.items()}
    if _is_expensive(name, values, extra):
        return False
    owner, _, attribute = name.partition(".")
    if attribute:
        member = getattr(live(owner, objects), attribute)
        if callable(member):
            member(*values, **extra)
        return True
    entry = next(getattr(module, name) for module in MODULES if hasattr(module, name))
    result = entry(*values, **extra)
    if isinstance(entry, type):
        objects[name] = result
    return True


def _is_keywords(value: Value) -> bool:
    return isinstance(value, dict) and "a" not in value


def _is_expensive(name: str, values: list[Any], extra: dict[str, Any]) -> bool:
    numbers = [n for n in values if isinstance(n, int)]
    return (
        name == "perft" and any(2 < n <= core.MAX_DEPTH for n in numbers)
        or name == "SearchWorker.run" and not 0 <= _number(extra.get("first_depth")) <= 3
        or name == "SearchWorker.run" and None in values and (
            not 0 < _number(extra.get("max_depth")) <= 3)
        or name == "TranspositionTable" and any(2 < n < 2**40 for n in numbers)
        or name == "Retrograde" and any(3 < n <= 9 for n in numbers)
        or name == "PlacingSlice" and any(0 < n < 18 for n in numbers)
        or name in ("draw_samples", "hash_samples") and any(n > 10**6 for n in numbers)
        or name in ("score_samples", "leaf_samples") and any(n > 1000 for n in numbers)
        or name == "round_trip" and len(values) == 8 and (
            # Other descriptors may be anything, and a negative wait never ends.
            any(_number(values[i]) not in (-1, -2, *pipe_ends()) for i in (1, 3, 4, 5))
            or not 0 <= _number(values[6]) <= 9)
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def decode(value: Value, objects: dict[str, object]) -> Any:
    """Return the argument that a JSON value represents."""
    if isinstance(value, list):
        return tuple(decode(item, objects) for item in value)
    if not isinstance(value, dict):
        return value
    name = value["a"]
    return OTHERS[name]() if name in OTHERS else live(name, objects)


def live(name: str, objects: dict[str, object]) -> object:
    """Return the case's object of a class; make it at first use."""
    if name not in objects:
        objects[name] = _MAKERS[name](objects)
    return objects[name]


def _tables(objects: dict[str, object]) -> core.TableSet:
    """Return tables of draws: one packed table, one unpacked, and those that a slice reads."""
    tables = core.TableSet(core_rules(PRESETS["multi"]))
    numbers = [(3, 3, 0), (1, 0, 16), (1, 1, 16)]
    unpacked = [(*men, bytes((core.table_places(*men) + 3) // 4), None) for men in numbers]
    tables.add([*unpacked, (4, 3, 0, Block(tables), None)])
    return tables


def _retrograde(objects: dict[str, object]) -> solver.Retrograde:
    tables: Any = live("TableSet", objects)
    return solver.Retrograde(core_rules(PRESETS["multi"]), 3, 3, True, tables)


def _slice(objects: dict[str, object]) -> solver.PlacingSlice:
    tables: Any = live("TableSet", objects)
    return solver.PlacingSlice(core_rules(PRESETS["multi"]), 18, 0, [0], tables)


def _worker(objects: dict[str, object]) -> core.SearchWorker:
    table: Any = live("TranspositionTable", objects)
    return core.SearchWorker(table)


_MAKERS: dict[str, Callable[[dict[str, object]], object]] = {
    "TableSet": _tables, "Retrograde": _retrograde, "PlacingSlice": _slice,
    "SearchWorker": _worker, "TranspositionTable": lambda objects: core.TranspositionTable(1),
    "Deadline": lambda objects: core.Deadline(), "Fit": lambda objects: trainer.Fit(0.5, 3),
    "InfoSummary": lambda objects: scanner.parse_summary(b"info depth 3 score cp 5", 0),
}
