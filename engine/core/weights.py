"""The evaluation's weights: a file in this package, loaded when they are first needed.

The payload of the file is the argument of `core.load_weights`.
"""

from __future__ import annotations

import os
import threading

from merels.engine.common.data_file import DataFile
from merels.engine.common.errors import InputError
from merels.engine.core import core

PATH = os.path.join(os.path.dirname(__file__), "weights.bin")
FILE = DataFile("weights", b"MERELSEW", 5)

_loaded = False
_loading = threading.Lock()


def load(path: str | os.PathLike[str] = PATH) -> None:
    """Load a file's weights into the core; `InputError` if the file cannot be used."""
    global _loaded
    data = FILE.read(path)
    try:
        core.load_weights(FILE.unpack(data, core.WEIGHTS_SIZE))
    except ValueError as error:
        raise InputError(str(path), f"{error}; reinstall merels") from None
    _loaded = True


def ensure() -> None:
    """Load the weights unless weights are loaded already; callable from any thread."""
    if not _loaded:
        with _loading:  # A search must not start while another thread still writes the weights.
            if not _loaded:
                load()
