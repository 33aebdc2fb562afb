"""The compiled core: bitboards, move generation, evaluation, search and tablebase probing.

One extension, assembled from .pxi files so that the compiler inlines across them. Each .pxi file
names the files that it needs. Arguments and results are the plain numbers of convert.py; core.pyi
documents the functions for Python.
"""

from _thread import allocate_lock
from cpython.pycapsule cimport PyCapsule_New
from cython cimport final, internal
from libc.math cimport log
from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
)
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from merels.engine.game import board

include "platform.pxi"
include "deadline.pxi"
include "bitboard.pxi"
include "board.pxi"
include "ends.pxi"
include "movegen.pxi"
include "perft.pxi"
include "evaluation/features.pxi"
include "evaluation/evaluate.pxi"
include "tablebase/index.pxi"
include "tablebase/blocks.pxi"
include "tablebase/probe.pxi"
include "tablebase/depths.pxi"
include "tablebase/move_values.pxi"
include "tablebase/table_set.pxi"
include "shared.pxi"
include "search/transposition.pxi"
include "search/parameters.pxi"
include "search/movepick.pxi"
include "search/state.pxi"
include "search/search.pxi"
include "search/proof.pxi"
include "search/root.pxi"
include "search/worker.pxi"

SHARED_LAYOUT = shared_layout()

load_geometry()
load_steps()
load_patterns()
load_materials()


# For tests: fail an assertion without the GIL, in a build with assertions.
def fail_assertion():
    with nogil:
        assert_false()


cdef void assert_false() noexcept nogil:
    assert False
