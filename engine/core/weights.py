"""The evaluation's weights: a file in this package, loaded when they are first needed.

The file has a header of 16 bytes, little-endian (magic, version, CRC-32 of the rest), followed by
the argument of `core.load_weights`.
"""

from __future__ import annotations

import os
import struct
import threading
import zlib

from merels.engine.common.errors import InputError
from merels.engine.core import core

PATH = os.path.join(os.path.dirname(__file__), "weights.bin")
MAGIC = b"MERELSEW"
VERSION = 5

_HEADER = struct.Struct("<8sII")
_loaded = False
_loading = threading.Lock()


def pack(payload: bytes) -> bytes:
    """Return the content of a file with these weights."""
    return _HEADER.pack(MAGIC, VERSION, zlib.crc32(payload)) + payload


def unpack(data: bytes) -> bytes:
    """Return the weights in a file's content; `ValueError` states why it is invalid."""
    if len(data) < _HEADER.size or data[: len(MAGIC)] != MAGIC:
        raise ValueError("not a file of weights")
    _, version, checksum = _HEADER.unpack_from(data)
    if version != VERSION:
        raise ValueError(f"weights of version {version}, this program reads {VERSION}")
    payload = data[_HEADER.size :]
    if zlib.crc32(payload) != checksum:
        raise ValueError("cut off or damaged (checksum differs)")
    return payload


def load(path: str | os.PathLike[str] = PATH) -> None:
    """Load a file's weights into the core; `InputError` if the file cannot be used."""
    global _loaded
    try:
        with open(path, "rb") as file:
            core.load_weights(unpack(file.read()))
    except OSError as error:
        what = f"the evaluation's weights cannot be read: {error.strerror}; reinstall merels"
        raise InputError(str(path), what) from None
    except ValueError as error:
        raise InputError(str(path), f"{error}; reinstall merels") from None
    _loaded = True


def ensure() -> None:
    """Load the weights unless weights are loaded already; callable from any thread."""
    if not _loaded:
        with _loading:  # A search must not start while another thread still writes the weights.
            if not _loaded:
                load()
