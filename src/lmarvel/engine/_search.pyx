# cython: language_level=3, boundscheck=True, wraparound=False, cdivision=True
# distutils: language = c++
"""The compiled part of Lift: regressions with their moves within an order, and fits of blocks with hidden nodes.

The twins are `lmarvel.search.regressions.Regressions` and `lmarvel.search.hidden_model.BlockProblem`. Nothing from
Python is trusted: positions, lengths and shapes are checked here, before the C++ code sees them.
"""

from libc.stdint cimport uint64_t
from libcpp cimport bool as flag
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

import math
from operator import index

import numpy as np

cdef extern from "orders.hpp" namespace "lmarvel" nogil:
    cdef cppclass AnySweeper:
        flag move(int v, double noise) except +
        void result(int* order, double* scores, uint64_t* parents) except +

    cdef cppclass AnyRegressions:
        int words()
        void family(int v, const uint64_t* before, double* score, uint64_t* sets) except +
        unique_ptr[AnySweeper] sweeper(vector[int] order) except +

    unique_ptr[AnyRegressions] make_regressions(const double* S, int m, double n, double price) except +

cdef extern from "blocks.hpp" namespace "lmarvel" nogil:
    cdef cppclass Block:
        size_t k, seen, own, selections
        vector[size_t] heads, tails, loaded, loads_on
        vector[double] S

    cdef cppclass BlockFit:
        BlockFit(const Block& block) except +
        double value(const double* x) except +
        void fit(vector[double]& x, double tolerance, int max_steps) except +

MAX_VARIABLES = 1024
MOST_NODES = 4 * MAX_VARIABLES  # of a block, hidden ones included


cdef class Regressions:
    """Grow-shrink regressions of every variable on any set of predecessors; no step is computed twice."""

    cdef unique_ptr[AnyRegressions] _search
    cdef readonly int n_variables
    cdef readonly double price
    cdef int _words

    def __cinit__(self, covariance, double n, double price):
        cdef double[:, ::1] S = np.ascontiguousarray(covariance, dtype=np.float64)
        if S.shape[0] != S.shape[1] or not 0 < S.shape[0] <= MAX_VARIABLES:
            raise ValueError(f"a covariance matrix of 1 to {MAX_VARIABLES} variables is needed")
        if not (n > 0 and price > 0 and math.isfinite(n) and math.isfinite(price)):
            raise ValueError("rows and price must be positive")
        if not np.isfinite(S).all():
            raise ValueError("a covariance is not a finite number")
        self.n_variables = <int>S.shape[0]
        self.price = price
        self._search = make_regressions(&S[0, 0], self.n_variables, n, price)
        self._words = self._search.get().words()

    def __call__(self, int v, predecessors):
        """Return score, parents, taken and tempting of v with these predecessors."""
        if not 0 <= v < self.n_variables:
            raise ValueError(f"there is no variable number {v}")
        if predecessors < 0 or predecessors >> self.n_variables or predecessors >> v & 1:
            raise ValueError(f"these are no predecessors of variable {v}: {predecessors}")
        cdef uint64_t before[16]
        cdef uint64_t sets[48]
        cdef double score
        cdef int i
        for i in range(self._words):
            before[i] = <uint64_t>(predecessors >> 64 * i & 0xFFFFFFFFFFFFFFFF)
        self._search.get().family(v, before, &score, sets)
        return (score, *[_integer(&sets[i * self._words], self._words) for i in range(3)])

    def sweeper(self, order):
        """Return an order in which variables can be moved."""
        return Sweeper(self, order)


cdef class Sweeper:
    """An order with the family of each variable, while variables are moved."""

    cdef Regressions _best
    cdef unique_ptr[AnySweeper] _sweeper
    cdef int _length

    def __cinit__(self, Regressions best not None, order):
        cdef vector[int] places
        seen = set()
        for v in map(index, order):
            if not 0 <= v < best.n_variables or v in seen:
                raise ValueError(f"an order names each variable once, not {v!r}")
            seen.add(v)
            places.push_back(v)
        self._best = best
        self._length = <int>places.size()
        self._sweeper = best._search.get().sweeper(places)

    def move(self, int v, double noise):
        """Move v to its best place; tell whether it moved."""
        if not noise >= 0.0:
            raise ValueError("noise cannot be negative")
        return self._sweeper.get().move(v, noise)  # with Python's lock: sweepers share what the regressions remember

    def result(self):
        """Return the order, the parents of each variable, and the score."""
        cdef int m = self._best.n_variables, words = self._best._words
        cdef int[::1] order = np.zeros(max(self._length, 1), dtype=np.intc)
        cdef double[::1] scores = np.zeros(max(self._length, 1))
        cdef uint64_t[::1] parents = np.zeros(m * words, dtype=np.uint64)
        self._sweeper.get().result(&order[0], &scores[0], &parents[0])
        found = [_integer(&parents[v * words], words) for v in range(m)]
        return [order[i] for i in range(self._length)], found, sum([scores[i] for i in range(self._length)])


cdef object _integer(const uint64_t* words, int length):
    value = 0
    for i in reversed(range(length)):
        value = value << 64 | words[i]
    return value


cdef vector[size_t] _places(values, size_t end) except *:
    cdef vector[size_t] result
    for value in values.tolist():
        if not 0 <= value < end:
            raise ValueError(f"there is no node number {value} in this block")
        result.push_back(value)
    return result


cdef class BlockLikelihood:
    """The likelihood of a block given its outside parents, and its fit. Nodes: own, outside, latent."""

    cdef Block _block
    cdef size_t _length

    def __cinit__(self, covariance, int n_own, int n_nodes, int n_selections, heads, tails, loaded, loads_on):
        cdef double[:, ::1] S = np.ascontiguousarray(covariance, dtype=np.float64)
        cdef Py_ssize_t i, j
        if S.shape[0] != S.shape[1] or not 0 < n_own <= S.shape[0] <= n_nodes or n_selections < 0:
            raise ValueError("the sizes of this block do not fit together")
        if n_nodes > MOST_NODES or n_selections > MOST_NODES:
            raise ValueError(f"a block has at most {MOST_NODES} nodes")
        if len(heads) != len(tails) or len(loaded) != len(loads_on):
            raise ValueError("each edge and each loading has two ends")
        self._block.k, self._block.seen, self._block.own = n_nodes, S.shape[0], n_own
        self._block.selections = n_selections
        self._block.heads, self._block.tails = _places(heads, n_nodes), _places(tails, n_nodes)
        self._block.loaded, self._block.loads_on = _places(loaded, n_nodes), _places(loads_on, n_selections)
        edges = list(zip(self._block.heads, self._block.tails))
        loadings = list(zip(self._block.loaded, self._block.loads_on))
        if len(set(edges)) < len(edges) or len(set(loadings)) < len(loadings) or any([v == u for v, u in edges]):
            raise ValueError("each edge and each loading is named once, and no node is its own parent")
        for i in range(S.shape[0]):
            for j in range(S.shape[0]):
                self._block.S.push_back(S[i, j])
        self._length = len(heads) + n_own + len(loaded)

    cdef vector[double] _parameters(self, x) except *:
        cdef vector[double] result
        cdef double[::1] values = np.ascontiguousarray(x, dtype=np.float64)
        if <size_t>values.shape[0] != self._length:
            raise ValueError(f"this block has {self._length} parameters, not {values.shape[0]}")
        for i in range(values.shape[0]):
            result.push_back(values[i])
        return result

    def value(self, x):
        """Return minus two log-likelihood per row, without log 2 pi."""
        cdef vector[double] at = self._parameters(x)
        cdef double result
        with nogil:
            result = _value(self._block, at)
        return result

    def fit(self, x, double tolerance, int max_steps):
        """Return the parameters of a maximum of the likelihood, by damped Fisher scoring."""
        cdef vector[double] at = self._parameters(x)
        with nogil:
            _fit(self._block, at, tolerance, max_steps)
        return np.array(at)


cdef double _value(const Block& block, const vector[double]& x) except? -1.0 nogil:
    cdef BlockFit* fitter = new BlockFit(block)
    try:
        return fitter.value(x.data())
    finally:
        del fitter


cdef int _fit(const Block& block, vector[double]& x, double tolerance, int max_steps) except -1 nogil:
    cdef BlockFit* fitter = new BlockFit(block)
    try:
        fitter.fit(x, tolerance, max_steps)
        return 0
    finally:
        del fitter
