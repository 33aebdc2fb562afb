"""merels: a Nine Men's Morris engine, the protocol it speaks, and tournaments of engines.

>>> import merels
>>> merels.__version__
'0.1.0.dev0'
"""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """Return ``__version__``.

    This module imports nothing, so that Ctrl-C during the command's imports meets `__main__.main`.
    """
    if name == "__version__":
        from merels.engine import __version__

        return __version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
