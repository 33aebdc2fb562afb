"""Lists the messages that users of merels meet: ``python -m tests.messages``.

One line a message: file, line, and the text with {} for each value. Read them in a row: each states
what was wrong, where, and how to go on. The texts of the page are in its language tables.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAYERS = ("engine", "protocol", "tournament")
CALLS = re.compile(r"(\w*(Error|Timeout|Terminated|Refusal|NotStarted|Failure)|\w*fault|_no_\w+|"
                   r"placed|notify|warn|file_error|system_error|describe\w*)")
INTERNAL = ("AttributeError", "FrozenInstanceError", "IndexError", "KeyError", "TypeError",
            "AssertionError", "NotImplementedError", "StopIteration")
"""Errors of programmers."""


def template(node: ast.expr) -> str:
    """Return the text of an expression, with {} for each value; empty if it has no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else "{}" for part in node.values
        )
    if isinstance(node, ast.BinOp):
        return template(node.left) + template(node.right)
    if isinstance(node, ast.IfExp):
        return f"{template(node.body)}|{template(node.orelse)}"
    return ""


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of the messages in a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        if not CALLS.fullmatch(name) or name in INTERNAL:
            continue
        texts = [template(argument) for argument in node.args]
        text = ": ".join(text for text in texts if text)
        if " " in text:
            yield node.lineno, text


def all_messages() -> Iterator[tuple[str, int, str]]:
    """Yield file, line and text of all messages."""
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            yield from ((name, line, text) for line, text in messages(path))


if __name__ == "__main__":
    for name, line, text in all_messages():
        print(f"{name}:{line}: {text}")
