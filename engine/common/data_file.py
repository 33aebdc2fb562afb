"""Data files of the package: a header of 16 bytes, little-endian, and a payload.

The header has a magic of eight bytes, a version, and the CRC-32 of the payload.
"""

from __future__ import annotations

import os
import struct
import zlib
from typing import NamedTuple

from merels.engine.common.errors import InputError, quoted

_HEADER = struct.Struct("<8sII")


class DataFile(NamedTuple):
    """A kind of data file; ``content`` names what it has, in the plural."""

    content: str
    magic: bytes
    version: int

    def pack(self, payload: bytes) -> bytes:
        """Return the whole data of a file with this payload."""
        return _HEADER.pack(self.magic, self.version, zlib.crc32(payload)) + payload

    def unpack(self, data: bytes, size: int | None = None) -> bytes:
        """Return the payload of a file's data; `ValueError` states why the file is invalid.

        ``size`` is the length of every valid payload, or None if it varies.
        """
        if not data.startswith(self.magic):
            start = quoted(data[: len(self.magic)])
            raise ValueError(
                f"not a file of {self.content}: it begins with {start}, not {quoted(self.magic)}"
            )
        found = f"{len(data)} bytes"
        if size is not None:
            found += f" instead of {_HEADER.size + size}"
        if len(data) < _HEADER.size:
            raise ValueError(f"{found}: cut off within its header")
        _, version, stored = _HEADER.unpack_from(data)
        if version != self.version:
            raise ValueError(
                f"{self.content} of version {version}, this program reads {self.version}"
            )
        payload = data[_HEADER.size :]
        computed = zlib.crc32(payload)
        if computed != stored:
            if size is None or len(payload) != size:
                raise ValueError(f"{found}: cut off or damaged")
            raise ValueError(f"damaged data: CRC-32 {computed:08x} instead of {stored:08x}")
        return payload

    def read(self, path: str | os.PathLike[str]) -> bytes:
        """Return the data of a file of the package; `InputError` if it cannot be read."""
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            problem = f"cannot read the {self.content}: {error.strerror}; reinstall merels"
            raise InputError(str(path), problem) from None
