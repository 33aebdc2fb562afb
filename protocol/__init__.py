"""The text protocol, for engines and for clients.

>>> from merels.engine import Position
>>> from merels.protocol import Limit, InProcessEngine
>>> with InProcessEngine() as engine:
...     move = engine.play(Position(), Limit(nodes=1000)).move
>>> move in Position().legal_moves()
True
"""

from typing import TYPE_CHECKING

from merels.engine import on_demand

__all__ = [
    "Analysis", "AnalysisComplete", "AsyncAnalysis", "AsyncEngine", "Engine", "EngineError",
    "EngineSpec", "EngineTerminated", "EngineTimeout", "InProcessEngine", "Info", "InputError",
    "Limit", "Node", "Option", "Options", "PlayResult", "PovScore", "Record", "ResourceLimits",
    "Score", "Stop", "format_record", "parse_record", "parse_records",
]  # fmt: skip


def __dir__() -> list[str]:
    """Return the public names, which tools complete."""
    return __all__


if TYPE_CHECKING:
    from merels.engine.common.errors import InputError
    from merels.engine.game.score import PovScore, Score
    from merels.engine.search.limits import Info, Limit
    from merels.protocol.client.any_engine import (
        Analysis,
        AnalysisComplete,
        PlayResult,
        Stop,
    )
    from merels.protocol.client.async_engine import AsyncAnalysis, AsyncEngine
    from merels.protocol.client.engine import Engine
    from merels.protocol.client.engine_spec import EngineSpec
    from merels.protocol.client.in_process import InProcessEngine
    from merels.protocol.common.options import Option, Options
    from merels.protocol.formats.pgn.reader import parse_record, parse_records
    from merels.protocol.games.record import Record
    from merels.protocol.games.tree import Node
    from merels.protocol.games.writer import format_record
    from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout
    from merels.protocol.process.limits import ResourceLimits
else:  # The engine's own loop starts without loading the client.
    __getattr__ = on_demand(__name__, {
        "engine.common.errors": ("InputError",),
        "engine.game.score": ("PovScore", "Score"),
        "engine.search.limits": ("Info", "Limit"),
        "protocol.client.any_engine": ("Analysis", "AnalysisComplete", "PlayResult", "Stop"),
        "protocol.client.async_engine": ("AsyncAnalysis", "AsyncEngine"),
        "protocol.client.engine": ("Engine",),
        "protocol.client.engine_spec": ("EngineSpec",),
        "protocol.client.in_process": ("InProcessEngine",),
        "protocol.common.options": ("Option", "Options"),
        "protocol.formats.pgn.reader": ("parse_record", "parse_records"),
        "protocol.games.record": ("Record",),
        "protocol.games.tree": ("Node",),
        "protocol.games.writer": ("format_record",),
        "protocol.process.errors": ("EngineError", "EngineTerminated", "EngineTimeout"),
        "protocol.process.limits": ("ResourceLimits",),
    })  # fmt: skip
