# cython: language_level=3, boundscheck=True, wraparound=False, cdivision=True
# cython: show_performance_hints=False
# distutils: language = c++
"""The one door between Python and the engine: it checks what comes in, and copies out what was found.

Nothing from Python is trusted: every position, length and size is checked here, before the engine sees it, and a
wrong one raises ValueError. Numbers that are no numbers change results, never memory.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr, unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector
cimport cython

import math
from operator import index
from threading import get_ident, main_thread
from types import MappingProxyType

import numpy as np

include "door/names.pxi"
include "door/caller.pxi"
include "door/sets.pxi"
include "door/glm.pxi"
include "door/columns.pxi"
include "door/statements.pxi"
include "door/independence.pxi"
include "door/skeleton.pxi"
include "door/boundaries.pxi"
include "door/orient.pxi"
include "door/legality.pxi"
include "door/lift.pxi"
include "door/evidence.pxi"
include "door/kinds.pxi"
