"""The compiled solver, which builds and verifies tables; core reads them.

Like core.pyx it is assembled from .pxi files. The files of the game and of probing are also part of
core; both extensions load their look-up tables. solver.pyi documents the functions for Python.
"""

from _thread import allocate_lock
from cpython.pycapsule cimport PyCapsule_GetPointer
from cython cimport final, internal
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from merels.engine.core import core
from merels.engine.game import board

include "platform.pxi"
include "bitboard.pxi"
include "board.pxi"
include "movegen.pxi"
include "tablebase/index.pxi"
include "tablebase/blocks.pxi"
include "tablebase/probe.pxi"
include "tablebase/depths.pxi"
include "shared.pxi"
include "borrowed.pxi"
include "solving/packing.pxi"
include "solving/retrograde_sector.pxi"
include "solving/retrograde_removals.pxi"
include "solving/retrograde_start.pxi"
include "solving/retrograde_levels.pxi"
include "solving/retrograde.pxi"
include "solving/placing_bitmaps.pxi"
include "solving/placing_slice.pxi"
include "solving/placing_tables.pxi"
include "solving/placing_build.pxi"
include "solving/verify.pxi"

load_geometry()
load_steps()
