"""merels: a Nine Men's Morris engine, the protocol it speaks, and tournaments of engines.

>>> import merels
>>> merels.__version__
'0.1.0.dev0'
"""

from merels.engine import __version__

__all__ = ["__version__"]
