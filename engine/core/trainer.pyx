"""The compiled trainer, which draws, scores and labels samples and fits the evaluation to them.

Like core.pyx it is assembled from .pxi files. The files of the game, the features and probing are
also part of core. Searches run in core. trainer.pyi documents the functions for Python.
"""

from _thread import allocate_lock
from cpython.pycapsule cimport PyCapsule_GetPointer
from cython cimport final, internal
from libc.math cimport sqrtf
from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
)
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memmove, memset

from merels.engine.core import core
from merels.engine.game import board

include "platform.pxi"
include "bitboard.pxi"
include "board.pxi"
include "movegen.pxi"
include "evaluation/features.pxi"
include "tablebase/index.pxi"
include "tablebase/blocks.pxi"
include "tablebase/probe.pxi"
include "shared.pxi"
include "borrowed.pxi"
include "training/samples.pxi"
include "training/draw.pxi"
include "training/fit.pxi"
include "training/score.pxi"

load_geometry()
load_steps()
load_patterns()
