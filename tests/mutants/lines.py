"""Map from lines of the sources to the tests that execute them."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import Self

from tests.mutants.recorder import CURRENT


class LineMap:
    """The lines that each test executes, and the seconds that each test takes."""

    def __init__(self, seconds: dict[str, float], lines: dict[str, dict[int, list[str]]]) -> None:
        self._seconds = seconds
        self._lines = lines

    @classmethod
    def read_records(cls, folder: Path) -> Self:
        """Return the map of a folder that `Recorder` has filled."""
        seconds: dict[str, float] = {}
        lines: dict[str, dict[int, set[str]]] = {}
        for file in folder.iterdir():
            if file.name == CURRENT:
                continue
            test, *records = file.read_text(encoding="utf-8").splitlines()
            for record in records:
                path, _, number = record.rpartition(":")
                if path:
                    lines.setdefault(path, {}).setdefault(int(number), set()).add(test)
                else:
                    seconds[test] = seconds.get(test, 0.0) + int(number) / 1000
        ordered = {
            path: {line: sorted(tests) for line, tests in of_file.items()}
            for path, of_file in lines.items()
        }
        return cls(seconds, ordered)

    @classmethod
    def read(cls, file: Path) -> Self:
        """Return the map that `write` has written to a file."""
        names, seconds, lines = json.loads(file.read_text(encoding="utf-8"))
        return cls(
            dict(zip(names, seconds)),
            {
                path: {int(line): [names[at] for at in tests] for line, tests in of_file.items()}
                for path, of_file in lines.items()
            },
        )

    def write(self, file: Path) -> None:
        """Write the map to a file."""
        names = {*self._seconds}
        for of_file in self._lines.values():
            for tests in of_file.values():
                names.update(tests)
        ordered = sorted(names)
        numbers = {name: number for number, name in enumerate(ordered)}
        lines = {
            path: {line: [numbers[name] for name in tests] for line, tests in of_file.items()}
            for path, of_file in self._lines.items()
        }
        seconds = [round(self._seconds.get(name, 0.0), 3) for name in ordered]
        file.write_text(json.dumps([ordered, seconds, lines]), encoding="utf-8")

    def tests_of(
        self, path: str, source: bytes, line: int, most: float = math.inf
    ) -> list[str]:
        """Return the tests that execute the statement around a line, for at most ``most`` seconds.

        The tests of the mirror package come first, then the quickest files. Code that runs at
        import belongs to every test that executes a line of the file.
        """
        of_file = self._lines.get(path, {})
        first, last = _statement(source, line)
        wanted = range(first, last + 1) if first else of_file
        tests = {test for number in wanted for test in of_file.get(number, ())}
        by_file: dict[str, list[str]] = {}
        for test in sorted(tests):
            by_file.setdefault(test.partition("::")[0], []).append(test)
        mirror = f"tests/{path.rpartition('/')[0]}/"
        files = sorted(
            by_file, key=lambda file: (not file.startswith(mirror), self._duration(by_file[file]))
        )
        ordered = [test for file in files for test in by_file[file]]
        seconds = accumulate((self._seconds.get(test, 0.0) for test in ordered), initial=0.0)
        return [test for test, before in zip(ordered, seconds) if before < most]

    def quickest_first(self, files: Iterable[str]) -> list[str]:
        """Return test files in the order of the seconds that their tests take together."""
        return sorted(
            files,
            key=lambda file: self._duration(
                test for test in self._seconds if test.startswith(f"{file}::")
            ),
        )

    def _duration(self, tests: Iterable[str]) -> float:
        return sum(self._seconds.get(test, 0.0) for test in tests)


def _statement(source: bytes, line: int) -> tuple[int, int]:
    """Return first and last line of the statement around a line; (0, 0) outside of functions."""
    span = (0, 0)
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for node in (node for child in function.body for node in ast.walk(child)):
                if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
                    body = getattr(node, "body", None)
                    last = body[0].lineno - 1 if body else node.end_lineno or 0
                    # The head of a compound statement, or one line such as `except`.
                    span = max(span, (node.lineno, last) if line <= last else (line, line))
    return span
