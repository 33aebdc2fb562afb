"""Names of PGN tags, and options of printed output and output files."""

from __future__ import annotations

import re
from dataclasses import dataclass

ID_TAG = "GameId"
"""PGN tag that identifies a game in all files: the tournament's id and the game's number."""
PAIR_TAG = "PairId"
"""PGN tag with the tournament's id and the pair's number, shared by the games of one opening."""
ENGINE_TAGS = ("WhiteEngine", "BlackEngine")
"""PGN tags with the names and versions that the engines announced."""
SETTINGS_TAGS = ("WhiteSettings", "BlackSettings")
"""PGN tags with the engines' options and limits, as words of the command line."""
CAUSE_TAG = "Cause"
"""PGN tag with the cause of the game's end, one of the keys of `CAUSES`."""
CONTROL_TAGS = ("WhiteTimeControl", "BlackTimeControl")
"""PGN tags with the time controls, if White's and Black's differ."""
IDENTITY = re.compile(r"[0-9a-f]{16}-\d{1,18}")
"""Pattern of the values of `ID_TAG` and `PAIR_TAG` that merels writes."""
STANDARD_OUTPUT = "-"
"""File name that stands for standard output."""
LOG_LEVELS = ("trace", "info", "warn", "err", "fatal")


@dataclass(frozen=True, slots=True)
class Intervals:
    """Games from one printed line of results to the next; 0: such lines are never printed."""

    score: int = 1
    """Interval of the score of a match."""
    rating: int = 10
    """Interval of the estimates of a match or of the rating list, which replace the score."""


@dataclass(frozen=True, slots=True)
class PgnStyle:
    """Contents of a move's comment: score, depth, time and the parts that are True.

    With ``minimal``, only the last move has a comment: the reason of the game's end.
    """

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
        """Whether a part is read from recorded ``info`` lines."""
        return self.latency or self.seldepth or self.nps or self.hashfull or self.pv


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Options of the log; ``engines`` adds every line sent to and received from the engines."""

    file: str
    level: str = "warn"
    """Least important level that is logged, one of `LOG_LEVELS`."""
    engines: bool = False
    append: bool = True
