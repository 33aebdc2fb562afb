"""Entries of a transposition table, which tests read and damage behind the engine's back."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from merels.engine.core import core

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _Table(ctypes.Structure):
    """The structure `Table` of engine/core/shared.pxi."""

    _fields_ = [
        ("memory", ctypes.c_void_p), ("entries", ctypes.POINTER(ctypes.c_uint64 * 2)),
        ("buckets", ctypes.c_uint64), ("generation", ctypes.c_int),
    ]  # fmt: skip


class Entries:
    """The entries of the part of a table that is in use: check (key ^ data) and data.

    The data of an empty entry are 0.
    """

    def __init__(self, table: core.TranspositionTable) -> None:
        self._owner = table
        address = _pointer_of(table.shared, b"merels.Table")
        self._table = ctypes.cast(address, ctypes.POINTER(_Table)).contents

    def __len__(self) -> int:
        return 4 * self._table.buckets

    def __getitem__(self, index: int) -> tuple[int, int]:
        if not 0 <= index < len(self):
            raise IndexError(index)
        check, data = self._table.entries[index]
        return check, data

    def __setitem__(self, index: int, entry: tuple[int, int]) -> None:
        self[index]
        self._table.entries[index][:] = entry

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return (self[index] for index in range(len(self)))
