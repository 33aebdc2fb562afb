"""The game and the player: rules, positions, notation, search and tablebases.

>>> from merels.engine import Limit, Position, Searcher
>>> position = Position("********/**O*@***/O*@***** w 7 7 0 3")
>>> Searcher().search(position, Limit(nodes=1000)).move in position.legal_moves()
True
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

__all__ = [
    "BLACK", "COLOURS", "DEFAULT_RULES", "FIELDS", "LEVELS", "PRESETS", "START", "WHITE", "Clock",
    "Info", "InputError", "Level", "Limit", "Move", "Outcome", "Position", "PovScore", "Result",
    "Rules", "Score", "Searcher", "Tables", "evaluate", "format_moves", "format_position",
    "format_seventeen", "level_named", "make_rules", "open_tables", "parse_move", "parse_position",
    "parse_rules", "play_moves",
]  # fmt: skip


@cache
def full_version() -> str:
    """Return the version, with the commit if the build has one, as in ``0.1.0.dev0+1a2b3c4d5e``.

    setup.py writes the commit into builds of development versions. An editable installation has no
    commit, because its sources change after the build.
    """
    try:
        with open(os.path.join(os.path.dirname(__file__), "commit"), encoding="utf-8") as file:
            return f"{__version__}+{file.read().strip()}"
    except OSError:
        return __version__


def on_demand(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for ``package`` that imports a module when one of its names is used.

    ``names`` maps each module, without ``merels.``, to the public names that it defines.
    """

    def load(name: str) -> Any:
        for module in names:
            if name in names[module]:
                return getattr(import_module(f"merels.{module}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load


def __dir__() -> list[str]:
    """Return the public names, which tools complete."""
    return __all__


if TYPE_CHECKING:
    from merels.engine.common.errors import InputError
    from merels.engine.game.notation import (
        START,
        format_moves,
        format_position,
        format_seventeen,
        parse_move,
        parse_position,
        play_moves,
    )
    from merels.engine.game.position import BLACK, COLOURS, WHITE, Move, Outcome, Position
    from merels.engine.game.rules import (
        DEFAULT_RULES,
        FIELDS,
        PRESETS,
        Rules,
        make_rules,
        parse_rules,
    )
    from merels.engine.game.score import PovScore, Score
    from merels.engine.search.clock import Clock
    from merels.engine.search.evaluation import evaluate
    from merels.engine.search.levels import LEVELS, Level, level_named
    from merels.engine.search.limits import Info, Limit, Result
    from merels.engine.search.searcher import Searcher
    from merels.engine.tablebase.probe import Tables, open_tables
else:  # A program that uses only the rules does not load the search.
    __getattr__ = on_demand(__name__, {
        "engine.common.errors": ("InputError",),
        "engine.game.notation": (
            "START", "format_moves", "format_position", "format_seventeen", "parse_move",
            "parse_position", "play_moves",
        ),
        "engine.game.position": ("BLACK", "COLOURS", "WHITE", "Move", "Outcome", "Position"),
        "engine.game.rules": (
            "DEFAULT_RULES", "FIELDS", "PRESETS", "Rules", "make_rules", "parse_rules",
        ),
        "engine.game.score": ("PovScore", "Score"),
        "engine.search.clock": ("Clock",),
        "engine.search.evaluation": ("evaluate",),
        "engine.search.levels": ("LEVELS", "Level", "level_named"),
        "engine.search.limits": ("Info", "Limit", "Result"),
        "engine.search.searcher": ("Searcher",),
        "engine.tablebase.probe": ("Tables", "open_tables"),
    })  # fmt: skip
