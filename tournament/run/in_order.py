"""Putting things that come in any order back into order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class InOrder(Generic[T]):
    """Holds numbered things back until those expected before them have come."""

    def __init__(self) -> None:
        self._expected: deque[int] = deque()
        self._waiting: dict[int, T] = {}

    def expect(self, number: int) -> None:
        """Announce the next number of the order."""
        self._expected.append(number)

    def put(self, number: int, thing: T) -> None:
        """Take a thing, in whatever order."""
        self._waiting[number] = thing

    def release(self) -> Iterator[tuple[int, T]]:
        """The things that nothing is missing before, each once."""
        while self._expected and self._expected[0] in self._waiting:
            number = self._expected.popleft()
            yield number, self._waiting.pop(number)

    def release_all(self) -> dict[int, T]:
        """Everything that is held back, by number, whatever is missing in between."""
        held, self._waiting = self._waiting, {}
        self._expected.clear()
        return held
