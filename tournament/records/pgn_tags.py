"""The tags by which a game in a PGN file is known as one of ours, in every run and every file."""

from __future__ import annotations

import re

ID_TAG = "GameId"
"""The tournament's id and the game's number."""
PAIR_TAG = "PairId"
"""The tournament's id and the pair's number: the games of one opening share it."""
IDENTITY = re.compile(r"[0-9a-f]{16}-\d{1,18}")
"""A value of these tags; what other runners write into a tag of this name does not match."""
