"""Running a command of merels in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def leave(main: Callable[[list[str]], int], argv: Sequence[str]) -> int:
    """The exit status of a command; ``argparse`` leaves by SystemExit, the rest by returning."""
    try:
        return main(list(argv))
    except SystemExit as leaving:
        return int(leaving.code or 0)
