"""How a run is shown and what it writes, which decides nothing about its games."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

ID_TAG = "GameId"
"""The PGN tag by which a game is known in every file: the tournament's id and its number."""
PAIR_TAG = "PairId"
"""The tournament's id and the pair's number: the games of one opening share it."""
ENGINE_TAGS = ("WhiteEngine", "BlackEngine")
"""The names and versions that the engines announced."""
SETTINGS_TAGS = ("WhiteSettings", "BlackSettings")
"""The engines' options and limits, in the words of the command line."""
CAUSE_TAG = "Cause"
"""What ended the game: one of `CAUSES`."""
CONTROL_TAGS = ("WhiteTimeControl", "BlackTimeControl")
"""The time controls of a game whose sides have different ones."""
IDENTITY = re.compile(r"[0-9a-f]{16}-\d{1,18}")
"""A value of these tags; what other runners write into a tag of this name does not match."""
STANDARD_OUTPUT = "-"
"""Stands, instead of a file's name, for standard output."""
OutputFormat = Literal["fastchess", "cutechess"]
"""The runner whose lines are printed instead of our own."""
OUTPUT_FORMATS: tuple[OutputFormat, ...] = get_args(OutputFormat)
LOG_LEVELS = ("trace", "info", "warn", "err", "fatal")


@dataclass(frozen=True, slots=True)
class Intervals:
    """After how many games the score and the estimates are printed; 0: never."""

    score: int = 1
    rating: int = 10


@dataclass(frozen=True, slots=True)
class PgnStyle:
    """Contents of a move's comment: none if ``minimal``, else the parts that are True."""

    minimal: bool = False
    nodes: bool = False
    clock: bool = False
    latency: bool = False
    seldepth: bool = False
    nps: bool = False
    hashfull: bool = False
    pv: bool = False

    @property
    def needs_info(self) -> bool:
        """Whether it shows figures of the engines' last lines of ``info``."""
        return self.latency or self.seldepth or self.nps or self.hashfull or self.pv


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Where the log goes; ``engines`` adds every line sent to and received from the engines."""

    file: str
    level: str = "warn"
    """The least important of `LOG_LEVELS` that is logged."""
    engines: bool = False
    append: bool = True
    compress: bool = False
    """Whether it moves into the file ``packed`` when the run ends."""

    @property
    def packed(self) -> str:
        """The compressed file."""
        return f"{self.file}.gz"
