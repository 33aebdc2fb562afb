"""What a step raises when an engine does not do as it should."""

from __future__ import annotations

LONGEST_QUOTE = 160
"""Characters of an engine's line that are shown."""


class Fault(Exception):
    """The engine broke the protocol; ``line`` is the line at fault, if there is one."""

    def __init__(self, reason: str, line: bytes | None = None) -> None:
        self.reason = reason
        self.line = line
        super().__init__(reason)


class Skip(Exception):
    """The engine lacks what the step is about."""


def quoted(line: bytes, limit: int = LONGEST_QUOTE) -> str:
    """A line in quotation marks, with its control characters made visible."""
    text = line[: 4 * limit].decode("utf-8", "backslashreplace")
    shown = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )
    return f"'{shown}'" if len(shown) <= limit else f"'{shown[:limit]}…'"
