"""Mutants: small changes to a source. Each mutant should make a test fail."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

LAYERS = ("engine", "protocol", "tournament")
SKIPPED = {"protocol/process/guardian.py", "setup.py"}
"""Sources that are not mutated: a mutant of the guardian may kill every process of the user."""
KINDS = ("operator", "constant", "statement", "condition")
OPERATORS = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "//"), ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"), ast.Mod: ("%", "*"), ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.BitXor: ("^", "&"),
    ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip
CYTHON_OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
    "&": "|", "|": "&", "+=": "-=", "-=": "+=", "and": "or", "or": "and",
}  # fmt: skip
OTHER_SYSTEMS = re.compile(r"TYPE_CHECKING|__name__|os\.name|sys\.platform|hasattr\((os|signal)")
"""Conditions with one value in every run on a system, so that no test catches their mutants."""


class Mutant(NamedTuple):
    """One change: the bytes ``old`` at an offset of a file become ``new``."""

    path: str
    kind: str
    line: int
    offset: int
    old: bytes
    new: bytes

    def __str__(self) -> str:
        old, new = (" ".join(text.decode().split()) for text in (self.old, self.new))
        return f"{self.path}:{self.line}: {self.kind} '{old:.70}' becomes '{new:.70}'"

    def apply(self, source: bytes) -> bytes:
        """Return the source with the change in it."""
        end = self.offset + len(self.old)
        assert source[self.offset : end] == self.old
        return source[: self.offset] + self.new + source[end:]


def choose(root: Path, layers: Sequence[str], seed: int, core: bool) -> Iterator[Mutant]:
    """Yield all mutants of the layers in an order that depends on sources and seed only.

    All kinds are equally likely, and within a kind all places.
    """
    by_kind: dict[str, list[Mutant]] = {}
    for layer in layers:
        for file in sorted((root / layer).rglob("*.p*")):
            path = file.relative_to(root).as_posix()
            if file.suffix in ((".pxi", ".pyx") if core else (".py",)) and path not in SKIPPED:
                find = cython_mutants if core else python_mutants
                for mutant in find(path, file.read_bytes()):
                    by_kind.setdefault(mutant.kind, []).append(mutant)
    chance = random.Random(f"merels mutants {seed}")
    for mutants in by_kind.values():
        chance.shuffle(mutants)
    while by_kind:
        kind = chance.choice(sorted(by_kind))
        mutant = by_kind[kind].pop()
        if not by_kind[kind]:
            del by_kind[kind]
        if core or _compiles(mutant.apply((root / mutant.path).read_bytes())):
            yield mutant


def python_mutants(path: str, source: bytes) -> list[Mutant]:
    """Return the mutants of a Python source; a few of them do not compile."""
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    return finder.mutants


def _compiles(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


class _Finder(ast.NodeVisitor):
    """Collects the mutants of one file."""

    def __init__(self, path: str, source: bytes) -> None:
        self.mutants: list[Mutant] = []
        self._path = path
        self._source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def visit(self, node: ast.AST) -> None:
        """Visit a node and its children, except annotations and decorators."""
        if isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:]):
                self._operator(node.op, left, right)
        elif isinstance(node, ast.BinOp):
            self._operator(node.op, node.left, node.right)
        elif isinstance(node, ast.AugAssign):
            self._operator(node.op, node.target, node.value)
        elif isinstance(node, ast.Compare):
            for op, left, right in zip(node.ops, [node.left, *node.comparators], node.comparators):
                self._operator(op, left, right)
        elif isinstance(node, ast.Constant):
            self._constant(node)
        elif isinstance(node, (ast.If, ast.IfExp)):
            if not OTHER_SYSTEMS.search(ast.unparse(node.test)):
                self._replace("condition", node.test, "True")
                self._replace("condition", node.test, "False")
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                self._replace("condition", test, "True")
        if isinstance(node, ast.stmt) and _is_removable(node):
            self._replace("statement", node, "pass")
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list"):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        self.visit(child)

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _add(self, kind: str, line: int, start: int, end: int, new: str) -> None:
        old = self._source[start:end]
        self.mutants.append(Mutant(self._path, kind, line, start, old, new.encode()))

    def _replace(self, kind: str, node: ast.expr | ast.stmt, new: str) -> None:
        self._add(kind, node.lineno, *self._span(node), new)

    def _operator(self, op: ast.AST, left: ast.expr, right: ast.expr) -> None:
        if type(op) in OPERATORS:
            old, new = OPERATORS[type(op)]
            start, end = self._span(left)[1], self._span(right)[0]
            place = re.search(re.escape(old.encode()), self._source[start:end])
            if place is not None:
                line = self._source.count(b"\n", 0, start + place.start()) + 1
                self._add("operator", line, start + place.start(), start + place.end(), new)

    def _constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace("constant", node, str(not node.value))
        elif isinstance(node.value, (int, float)):
            self._replace("constant", node, repr(node.value + 1))


def _is_removable(node: ast.stmt) -> bool:
    """Return whether all names are still defined without the statement."""
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        return not any(isinstance(target, (ast.Name, ast.Tuple)) for target in node.targets)
    return isinstance(
        node, (ast.AugAssign, ast.Return, ast.Raise, ast.Continue, ast.Break, ast.Delete)
    )


def cython_mutants(path: str, source: bytes) -> list[Mutant]:
    """Return the mutants of a Cython source, found line by line."""
    mutants = []
    start = 0
    quoted = False
    for number, raw in enumerate(source.splitlines(keepends=True), 1):
        quotes = raw.count(b'"""')
        text = raw.decode().rstrip("\n")
        code = re.sub(r'"[^"]*"|\'[^\']*\'', lambda match: "_" * len(match[0]), text)
        code = code.partition("#")[0]
        # Declarations hold types and includes, not behaviour; assertions are not compiled.
        declares = re.match(
            r"\s*(cdef (?!.*=)|cimport|include|from|def|cpdef|@|ctypedef|assert|#)", code
        )
        if not quoted and not quotes and code.strip() and not declares and text.isascii():
            for kind, begin, size, new in _line_changes(code):
                place = start + begin
                old = text[begin : begin + size].encode()
                mutants.append(Mutant(path, kind, number, place, old, new.encode()))
        quoted ^= quotes % 2 == 1
        start += len(raw)
    return mutants


def _line_changes(code: str) -> Iterator[tuple[str, int, int, str]]:
    """Yield the kind, start, length and replacement of each change to a line of code."""
    for place in re.finditer(r"(?<=\s)(?:[<>=!+-]=|[<>+\-&|]|and|or)(?=\s)", code):
        yield "operator", place.start(), len(place[0]), CYTHON_OPERATORS[place[0]]
    for place in re.finditer(r"(?<![\w.\]])\d+(?![\w.])", code):
        yield "constant", place.start(), len(place[0]), str(int(place[0]) + 1)
    for place in re.finditer(r"^\s*(?:el)?if (.+):\s*$", code):
        for value in ("True", "False"):
            yield "condition", place.start(1), len(place[1]), value
    whole = re.match(r"^(\s+)((?:[\w.\[\]]+ [-+|&^]?= [^(]*|[\w.]+\(.*\)|continue|break))$", code)
    if whole is not None:
        yield "statement", whole.start(2), len(whole[2]), "pass"
