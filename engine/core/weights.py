"""The evaluation's weights: a file in this package, loaded when they are first needed.

The file has a header of 16 bytes, little-endian: a magic of eight bytes, a version, and the CRC-32
of the rest, which is the argument of `core.load_weights`.
"""

from __future__ import annotations

import os
import struct
import threading
import zlib

from merels.engine.common.errors import InputError, quoted
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
    if not data.startswith(MAGIC):
        start = quoted(data[: len(MAGIC)])
        raise ValueError(f"not a weights file: it begins with {start}, not {quoted(MAGIC)}")
    version, stored = struct.unpack_from("<II", data.ljust(_HEADER.size), len(MAGIC))
    size = _HEADER.size + core.WEIGHTS_SIZE
    if len(data) >= _HEADER.size and version != VERSION:
        raise ValueError(f"weights format version {version}; this program reads version {VERSION}")
    if len(data) != size:
        raise ValueError(f"{len(data)} bytes instead of {size}: cut off or damaged")
    payload = data[_HEADER.size :]
    if zlib.crc32(payload) != stored:
        raise ValueError(f"damaged data: CRC-32 {zlib.crc32(payload):08x} instead of {stored:08x}")
    return payload


def load(path: str | os.PathLike[str] = PATH) -> None:
    """Load a file's weights into the core; `InputError` if the file cannot be used."""
    global _loaded
    try:
        with open(path, "rb") as file:
            core.load_weights(unpack(file.read()))
    except OSError as error:
        problem = f"cannot read the weights: {error.strerror}; reinstall merels"
        raise InputError(str(path), problem) from None
    except ValueError as error:
        raise InputError(str(path), f"{error}; reinstall merels") from None
    _loaded = True


def ensure() -> None:
    """Load the weights unless weights are loaded already; callable from any thread."""
    if not _loaded:
        with _loading:  # A search must not start while another thread still writes the weights.
            if not _loaded:
                load()
