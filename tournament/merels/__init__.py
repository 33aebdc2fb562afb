"""merels: a Nine Men's Morris engine, the protocol it speaks, and tournaments of engines.

merels.engine      positions, moves, rules, the search, the tables of perfect play
merels.protocol    engines as Python objects, game records
merels.tournament  ratings, Elo and sequential tests from counts of results

>>> import merels
>>> merels.__version__
'0.1.0.dev0'
"""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """Return ``__version__``; `AttributeError` for any other name names the package that has it.

    This module imports nothing, so that Ctrl-C during the command's imports meets `__main__.main`.
    """
    if name == "__version__":
        from merels.engine import __version__

        return __version__
    text = f"module {__name__!r} has no attribute {name!r}"
    if not name.startswith("_"):
        from importlib import import_module

        for package in ("merels.engine", "merels.protocol", "merels.tournament"):
            if name in import_module(package).__all__:
                text += f"; it is in {package}"
                break
    raise AttributeError(text)
