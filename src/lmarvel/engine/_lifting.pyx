# cython: language_level=3, boundscheck=True, wraparound=False, cdivision=True
# distutils: language = c++
"""The compiled order search and the compiled search over ancestral graphs, each in one call without Python's lock.

The twins are `lmarvel.search.orders.search_orders` and `lmarvel.search.lifting.Lifting`. Nothing from Python is
trusted: positions, lengths and shapes are checked here, before the C++ code sees them.
"""

from libc.stdint cimport int8_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp cimport bool as flag
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

import math
from operator import index

import numpy as np

include "caller.pxi"

cdef extern from "watch.hpp" namespace "lmarvel" nogil:
    cdef cppclass Clock:
        Clock(double seconds, Poll poll, void* caller)

    cdef enum class Ended(int):
        DONE
        LATE
        INTERRUPTED

cdef extern from "order_search.hpp" namespace "lmarvel" nogil:
    cdef cppclass FoundOrder:
        vector[int] order
        vector[uint64_t] parents
        double score

    cdef cppclass OrderSettings:
        double n, noise
        int max_sweeps, family_sweeps, family_rounds

    cdef cppclass OrderSearch:
        OrderSearch(const double* covariance, int m, double price, const OrderSettings& settings) except +
        int words()
        vector[FoundOrder] settled
        FoundOrder found
        Ended run(const double* precision, const vector[vector[int]]& more, const Clock& clock) except +

cdef extern from "lifting.hpp" namespace "lmarvel" nogil:
    cdef cppclass Met "lmarvel::Seen::Met":
        double score
        vector[uint32_t] edges

    cdef cppclass Seen:
        double best
        vector[Met] met

    cdef cppclass Sets6:
        int n, n_edges
        vector[uint64_t] parents, children, spouses, neighbors, ancestors, descendants

    cdef cppclass Steps:
        double noise
        flag selection, latents

    cdef cppclass AnyLifting:
        int words()
        flag is_ancestral(const Sets6& sets) except +
        double score(const Sets6& sets) except +
        Ended climb(Sets6& sets, const Steps& steps, const Clock& clock, Seen& seen, double* score) except +
        void direct(Sets6& sets) except +
        void mag(const Sets6& sets, int8_t* marks) except +
        flag converged()

    unique_ptr[AnyLifting] make_lifting(const double* R, int m, double n, double price, const char* near) except +

MAX_VARIABLES = 1024


cdef const double[:, ::1] _square(matrix, str name):
    cdef const double[:, ::1] found = np.ascontiguousarray(matrix, dtype=np.float64)
    if found.shape[0] != found.shape[1] or not 0 < found.shape[0] <= MAX_VARIABLES:
        raise ValueError(f"{name} of 1 to {MAX_VARIABLES} variables is needed")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} holds something that is not a finite number")
    return found


cdef int _check_numbers(double n, double price, double noise) except -1:
    if not (n > 0 and price > 0 and math.isfinite(n) and math.isfinite(price)):
        raise ValueError("rows and price must be positive")
    if not noise >= 0.0:
        raise ValueError("noise cannot be negative")
    return 0


def search_orders(
    covariance,
    precision,
    double n,
    double price,
    double noise,
    more=(),
    sweeps=(30, 6, 2),
    double seconds=math.inf,
    cancel=None,
):
    """Search for the best order from the fixed starts and ``more``.

    ``sweeps`` are those from a start, those after a family was turned, and the rounds over families. Returns how the
    search ended, what each start led to, and the best of all (None if the search did not end by itself), each as
    order, parents and score.
    """
    cdef const double[:, ::1] S = _square(covariance, "a covariance matrix")
    cdef const double[:, ::1] K = _square(precision, "an inverse covariance matrix")
    cdef int m = <int>S.shape[0]
    _check_numbers(n, price, noise)
    if K.shape[0] != m:
        raise ValueError("the two matrices must be of one size")
    cdef OrderSettings settings
    settings.n, settings.noise = n, noise
    settings.max_sweeps, settings.family_sweeps, settings.family_rounds = sweeps
    cdef vector[vector[int]] starts
    cdef vector[int] start
    for order in more:
        start = _order(order, m)
        starts.push_back(start)
    cdef Caller caller = Caller(cancel)
    cdef unique_ptr[OrderSearch] search
    search.reset(new OrderSearch(&S[0, 0], m, price, settings))
    cdef Clock* clock = new Clock(seconds, poll, &caller.listener)
    cdef Ended ended
    try:
        with nogil:
            ended = search.get().run(&K[0, 0], starts, clock[0])
    finally:
        del clock
    if ended == Ended.INTERRUPTED:
        caller.raised()
    cdef size_t i
    settled = []
    for i in range(search.get().settled.size()):
        settled.append(_found(search.get().settled[i], search.get().words()))
    if ended == Ended.LATE:
        return False, settled, None
    return True, settled, _found(search.get().found, search.get().words())


cdef vector[int] _order(order, int m) except *:
    cdef vector[int] places
    positions = [index(v) for v in order]
    if sorted(positions) != list(range(m)):
        raise ValueError(f"an order names each of the {m} variables once")
    for v in positions:
        places.push_back(v)
    return places


cdef tuple _found(const FoundOrder& found, int words):
    cdef list order = [found.order[i] for i in range(found.order.size())]
    return order, _integers(found.parents, words), found.score


cdef list _integers(const vector[uint64_t]& rows, int words):
    cdef size_t i
    if words == 1:
        return [rows[i] for i in range(rows.size())]
    cdef bytes raw = (<const char*>rows.data())[: 8 * rows.size()]
    return [int.from_bytes(raw[at : at + 8 * words], "little") for at in range(0, len(raw), 8 * words)]


cdef int _rows(sets, int n, int words, vector[uint64_t]& out) except -1:
    """Read the sets of a graph, one a node."""
    cdef bytes raw
    if len(sets) != n:
        raise ValueError(f"a graph of {n} nodes needs {n} sets, not {len(sets)}")
    out.resize(n * words)
    for v, mask in enumerate(map(index, sets)):
        if mask < 0 or mask >> n or mask >> v & 1:
            raise ValueError(f"these are no neighbours of node {v}: {mask}")
        raw = mask.to_bytes(8 * words, "little")
        memcpy(&out[v * words], <const char*>raw, 8 * words)
    return 0


cdef class Lifting:
    """The search over ancestral graphs, with a memory of the blocks that were scored."""

    cdef unique_ptr[AnyLifting] _search
    cdef readonly int n_variables
    cdef int _words
    cdef bint _busy

    def __cinit__(self, correlation, double n, double price, near):
        cdef const double[:, ::1] R = _square(correlation, "a correlation matrix")
        cdef const unsigned char[:, ::1] looked_at = np.ascontiguousarray(near, dtype=np.uint8)
        _check_numbers(n, price, 0.0)
        if looked_at.shape[0] != R.shape[0] or looked_at.shape[1] != R.shape[0]:
            raise ValueError("near must be a matrix of the same size")
        self.n_variables = <int>R.shape[0]
        self._search = make_lifting(&R[0, 0], self.n_variables, n, price, <const char*>&looked_at[0, 0])
        self._words = self._search.get().words()

    cdef int _read(self, parents, spouses, neighbors, Sets6& sets) except -1:
        sets.n = self.n_variables
        _rows(parents, self.n_variables, self._words, sets.parents)
        _rows(spouses, self.n_variables, self._words, sets.spouses)
        _rows(neighbors, self.n_variables, self._words, sets.neighbors)
        if not self._search.get().is_ancestral(sets):
            raise ValueError("this is not an ancestral graph")
        return 0

    @property
    def converged(self):
        """Whether all fits so far came to their end."""
        return self._search.get().converged()

    cdef tuple _graph(self, const Sets6& sets):
        return (
            _integers(sets.parents, self._words),
            _integers(sets.children, self._words),
            _integers(sets.spouses, self._words),
            _integers(sets.neighbors, self._words),
            _integers(sets.ancestors, self._words),
            _integers(sets.descendants, self._words),
            sets.n_edges,
        )

    def score(self, parents, spouses, neighbors):
        """Return the score of a graph."""
        cdef Sets6 sets
        self._read(parents, spouses, neighbors, sets)
        self._begin()
        try:
            return self._search.get().score(sets)
        finally:
            self._busy = False

    def climb(
        self,
        parents,
        spouses,
        neighbors,
        double noise,
        flag selection,
        flag latents,
        double best=math.inf,
        double seconds=math.inf,
        cancel=None,
    ):
        """Climb from a graph.

        Returns whether the climb came to its end; the graph and its score; and the graphs that were met within reach
        of the best one, ``best`` at the start, each as its score and its edges.
        """
        cdef Sets6 sets
        cdef Seen seen
        cdef Steps steps
        cdef double score = math.nan
        cdef Ended ended
        _check_numbers(1.0, 1.0, noise)
        self._read(parents, spouses, neighbors, sets)
        steps.noise, steps.selection, steps.latents = noise, selection, latents
        seen.best = best
        cdef Caller caller = Caller(cancel)
        self._begin()
        cdef Clock* clock = new Clock(seconds, poll, &caller.listener)
        try:
            with nogil:
                ended = self._search.get().climb(sets, steps, clock[0], seen, &score)
        finally:
            self._busy = False
            del clock
        if ended == Ended.INTERRUPTED:
            caller.raised()
        cdef size_t i
        met = []
        for i in range(seen.met.size()):
            met.append((seen.met[i].score, (<const char*>seen.met[i].edges.data())[: 4 * seen.met[i].edges.size()]))
        return ended == Ended.DONE, self._graph(sets) if ended == Ended.DONE else None, score, met

    cdef int _begin(self) except -1:
        """Keep a second thread out: what is remembered is shared, and Python's lock is not held."""
        if self._busy:
            raise RuntimeError("this search is under way in another thread")
        self._busy = True
        return 0

    def directed(self, parents, spouses, neighbors):
        """Return the graph with its chordal undirected components directed."""
        cdef Sets6 sets
        self._read(parents, spouses, neighbors, sets)
        self._search.get().direct(sets)
        return self._graph(sets)

    def mag(self, parents, spouses, neighbors):
        """Return the marks of the same graph, made maximal."""
        cdef Sets6 sets
        cdef int8_t[:, ::1] marks = np.zeros((self.n_variables, self.n_variables), dtype=np.int8)
        self._read(parents, spouses, neighbors, sets)
        self._search.get().mag(sets, &marks[0, 0])
        return np.asarray(marks)
