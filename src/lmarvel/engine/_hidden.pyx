# cython: language_level=3, boundscheck=True, wraparound=False, cdivision=True
# distutils: language = c++
"""The compiled search over hidden nodes, and the projection of what it finds.

The twins are `lmarvel.search.hidden.HiddenSearch` and `lmarvel.graph.projection.project`. Nothing from Python is
trusted: positions, lengths and shapes are checked here, before the C++ code sees them.
"""

from libc.stdint cimport int8_t
from libcpp cimport bool as flag
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

import math
from operator import index

import numpy as np

include "caller.pxi"

cdef extern from "hidden.hpp" namespace "lmarvel" nogil:
    const int most_new_nodes
    ctypedef flag (*Report "lmarvel::Watch::Report")(void*, int, int) noexcept

    cdef cppclass Watch:
        Watch(double seconds, Poll poll, Report report, void* caller) except +

    cdef cppclass FlatModel:
        vector[vector[int]] parents, selections
        vector[int] order
        vector[double] B, log_variance, V
        double score

    cdef cppclass MissedNode:
        int kind
        vector[int] nodes
        double by

    cdef enum class Ended "lmarvel::Ended"(int):
        NO
        LATE
        INTERRUPTED

    cdef cppclass AnyHidden:
        int capacity()
        FlatModel fitted(const FlatModel& model) except +
        Ended simplified(const FlatModel& model, double limit, const Watch& watch, FlatModel& simpler, flag& changed,
                         vector[MissedNode]& kept) except +
        size_t n_met()
        FlatModel met(size_t i) except +

    Ending run_hidden(AnyHidden& search, const FlatModel& model, const Watch& watch, Ended& ended)

    unique_ptr[AnyHidden] make_hidden(const double* R, int p, double n, double price, double noise,
                                      vector[int] kinds) except +

cdef extern from "projection.hpp" namespace "lmarvel" nogil:
    cdef cppclass Projection:
        Projection(const vector[vector[int]]& parents, int observed, int selections) except +
        void marks(int8_t* out) except +

MAX_VARIABLES = 1024 - most_new_nodes
KINDS = ("latent", "selection")
_MOST_NODES = 10_000


cdef flag report(void* listener, int done, int total) noexcept with gil:
    cdef Caller caller = <Caller> (<const Listener*> listener).caller
    return caller.failed(caller.progress, (done, total))


cdef class HiddenSearch:
    """The search over DAGs with latent and selection nodes; one thread at a time."""

    cdef unique_ptr[AnyHidden] _search
    cdef readonly int p
    cdef bint _busy

    def __cinit__(self, correlation, double n, double price, double noise, kinds):
        cdef double[:, ::1] R = np.ascontiguousarray(correlation, dtype=np.float64)
        cdef vector[int] allowed
        if R.shape[0] != R.shape[1] or not 0 < R.shape[0] <= MAX_VARIABLES:
            raise ValueError(f"a correlation matrix of 1 to {MAX_VARIABLES} variables is needed")
        if not np.isfinite(R).all():
            raise ValueError("a correlation is not a finite number")
        if not (n > 0 and price > 0 and math.isfinite(n) and math.isfinite(price)):
            raise ValueError("rows and price must be positive")
        if not (noise >= 0 and math.isfinite(noise)):
            raise ValueError("noise cannot be negative")
        for kind in kinds:
            allowed.push_back(KINDS.index(kind))
        self.p = <int>R.shape[0]
        self._search = make_hidden(&R[0, 0], self.p, n, price, noise, allowed)

    cdef FlatModel _taken(self, model, int room) except *:
        """Check a model: (parents, selections, order, B, log_variance, V, score), sets as integers."""
        cdef FlatModel taken
        parents, selections, order, B, log_variance, V, score = model
        m, s = len(parents), len(selections)
        if not self.p <= m <= self._search.get().capacity() - room:
            raise ValueError(f"a model of {m} nodes does not fit a search over {self.p} variables")
        taken.parents, taken.selections = _sets(parents, m), _sets(selections, m)
        where = [-1] * m
        for place, v in enumerate(map(index, order)):
            if not 0 <= v < m or where[v] >= 0:
                raise ValueError(f"an order names each node once, not {v!r}")
            where[v] = place
            taken.order.push_back(v)
        if min(where) < 0:
            raise ValueError("an order names each node once: one is missing")
        for v in range(m):
            for i in range(taken.parents[v].size()):
                if where[taken.parents[v][i]] >= where[v]:
                    raise ValueError(f"a parent of node {v} comes after it")
        taken.B, taken.log_variance = _numbers(B, (m, m)), _numbers(log_variance, (m,))
        taken.V, taken.score = _numbers(V, (m, s)), score
        return taken

    def fitted(self, model):
        """Return the model with the parameters of a maximum of the likelihood, from those that it has."""
        cdef FlatModel taken = self._taken(model, 0), found
        self._enter()
        try:
            with nogil:
                found = self._search.get().fitted(taken)
        finally:
            self._busy = False
        return _model(found)

    def run(self, model, double seconds, progress=None, cancel=None):
        """Put hidden nodes into a model while the score falls; tell whether there was time enough. See `met`."""
        cdef FlatModel taken = self._taken(model, most_new_nodes)
        cdef Caller caller = Caller(cancel, progress)
        cdef Report tell = NULL
        cdef unique_ptr[Watch] watch
        cdef Ended ended = Ended.NO
        cdef Ending ending
        if progress is not None:
            tell = report
        watch.reset(new Watch(seconds, poll, tell, &caller.listener))
        self._enter()
        try:
            with nogil:
                ending = run_hidden(self._search.get()[0], taken, watch.get()[0], ended)
        finally:
            self._busy = False
        caller.check(ending)
        if ended == Ended.INTERRUPTED:
            caller.raised()
        return ended == Ended.NO

    def met(self):
        """Return the models that were looked at closely, in the order in which they were met."""
        if self._busy:
            raise RuntimeError("a search is under way: its models can be read when it has ended")
        return [_model(self._search.get().met(i)) for i in range(self._search.get().n_met())]

    def simplified(self, model, double limit, cancel=None):
        """Drop hidden nodes that the score does not miss; return the model, None if it is the same, and the others."""
        cdef FlatModel taken = self._taken(model, 0), simpler
        cdef Caller caller = Caller(cancel)
        cdef unique_ptr[Watch] watch
        cdef vector[MissedNode] kept
        cdef flag changed = False
        cdef Ended ended
        watch.reset(new Watch(math.inf, poll, NULL, &caller.listener))
        self._enter()
        try:
            with nogil:
                ended = self._search.get().simplified(taken, limit, watch.get()[0], simpler, changed, kept)
        finally:
            self._busy = False
        if ended == Ended.INTERRUPTED:
            caller.raised()
        nodes = [(KINDS[kept[i].kind], _integer(kept[i].nodes), kept[i].by) for i in range(kept.size())]
        return (_model(simpler) if changed else None), nodes

    cdef int _enter(self) except -1:
        if self._busy:
            raise RuntimeError("a search is under way: another thread needs a search of its own")
        self._busy = True
        return 0


cdef object _integer(const vector[int]& nodes):
    cdef object value = 0, one = 1, v  # Python's integers: those of C end at 64 bits
    for i in range(nodes.size()):
        v = nodes[i]
        value |= one << v
    return value


cdef vector[vector[int]] _sets(masks, Py_ssize_t n) except *:
    cdef vector[vector[int]] result
    cdef vector[int] nodes
    for mask in map(index, masks):
        if mask < 0 or mask >> n:
            raise ValueError(f"there are {n} nodes: {mask} is no set of them")
        nodes.clear()
        while mask:
            low = mask & -mask
            nodes.push_back(low.bit_length() - 1)
            mask ^= low
        result.push_back(nodes)
    return result


cdef vector[double] _numbers(values, tuple shape) except *:
    cdef vector[double] result
    cdef const double[::1] flat
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"parameters of shape {shape} are needed, not {array.shape}")
    flat = array.reshape(-1)
    result.reserve(flat.shape[0])
    for i in range(flat.shape[0]):
        result.push_back(flat[i])
    return result


cdef object _array(const vector[double]& values, tuple shape):
    cdef double[::1] flat
    array = np.empty(values.size())
    flat = array
    for i in range(flat.shape[0]):
        flat[i] = values[i]
    return array.reshape(shape)


cdef tuple _model(const FlatModel& model):
    m, s = model.parents.size(), model.selections.size()
    return (
        tuple([_integer(model.parents[v]) for v in range(m)]),
        tuple([_integer(model.selections[j]) for j in range(s)]),
        tuple(model.order),
        _array(model.B, (m, m)),
        _array(model.log_variance, (m,)),
        _array(model.V, (m, s)),
        model.score,
    )


cdef int _check_acyclic(const vector[vector[int]]& parents) except -1:
    """Refuse a node that is its own ancestor, by taking nodes away whose parents were."""
    cdef vector[vector[int]] children
    cdef vector[int] left, ready
    cdef size_t v, i, n_taken = 0
    children.resize(parents.size())
    for v in range(parents.size()):
        left.push_back(<int> parents[v].size())
        if parents[v].empty():
            ready.push_back(<int> v)
        for i in range(parents[v].size()):
            children[parents[v][i]].push_back(<int> v)
    while not ready.empty():
        v = ready.back()
        ready.pop_back()
        n_taken += 1
        for i in range(children[v].size()):
            left[children[v][i]] -= 1
            if left[children[v][i]] == 0:
                ready.push_back(children[v][i])
    if n_taken < parents.size():
        raise ValueError("a DAG has no cycle: a node is its own ancestor here")
    return 0


def project(parents, int observed, int selections):
    """Return the marks of the MAG over the first nodes of a DAG; its last nodes are selection nodes."""
    n = len(parents)
    if not 0 < n <= _MOST_NODES or observed < 0 or selections < 0 or observed + selections > n:
        raise ValueError(f"a DAG of 1 to {_MOST_NODES} nodes is needed, each of one role")
    cdef vector[vector[int]] sets = _sets(parents, n)
    _check_acyclic(sets)
    cdef int8_t[:, ::1] marks
    cdef unique_ptr[Projection] projection
    found = np.zeros((observed, observed), dtype=np.int8)
    if observed:
        marks = found
        projection.reset(new Projection(sets, observed, selections))
        with nogil:
            projection.get().marks(&marks[0, 0])
    return found
