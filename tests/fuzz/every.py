"""All fuzzers by name, each with the number of inputs that a quick run gives it."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.boards import Boards
from tests.fuzz.flags import Flags
from tests.fuzz.harness import Fuzzer
from tests.fuzz.journals import GameFiles, Journals
from tests.fuzz.streams import Streams
from tests.fuzz.tables import Headers, TableFiles
from tests.fuzz.texts import Games, Moves, Positions

FUZZERS: dict[str, tuple[Callable[[], Fuzzer], int]] = {
    "protocol": (Streams, 3_000),
    "positions": (Positions, 800),
    "moves": (Moves, 2_000),
    "games": (Games, 200),
    "headers": (Headers, 2_000),
    "tables": (TableFiles, 150),
    "journals": (Journals, 60),
    "gamefiles": (GameFiles, 100),
    "flags": (Flags, 200),
    "board": (Boards, 150),
}
