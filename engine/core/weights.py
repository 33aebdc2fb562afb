"""The evaluation's weights: a file beside this module, loaded when first needed.

The file is a header of 16 bytes, little-endian (magic, version, CRC-32 of the rest), and then the
numbers that `core.load_weights` takes.
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
    """The bytes of a file of these weights."""
    return _HEADER.pack(MAGIC, VERSION, zlib.crc32(payload)) + payload


def unpack(data: bytes) -> bytes:
    """Return the weights in a file's bytes; raise `ValueError` with the fault if invalid."""
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
    """Give the core the weights of a file; `InputError` where it cannot be used."""
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
    """Load the weights unless some are loaded already; from any thread."""
    if not _loaded:
        with _loading:  # No search may begin while another thread still writes them.
            if not _loaded:
                load()
