# Lift's search over ancestral graphs. The twin is `lmarvel.search.lifting.Lifting`.

cdef extern from "lift/climb/lifting.hpp" namespace "lmarvel" nogil:
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
        cbool selection, latents

    cdef cppclass AnyLifting:
        int words()
        cbool is_ancestral(const Sets6& sets) except +
        double score(const Sets6& sets) except +
        Ended climb(Sets6& sets, const Steps& steps, const Clock& clock, Seen& seen, double* score) except +
        void direct(Sets6& sets) except +
        void mag(const Sets6& sets, int8_t* marks) except +

    unique_ptr[AnyLifting] make_lifting(const double* R, int m, double n, double price, const char* near) except +


cdef int read_masks(sets, int n, int words, vector[uint64_t]& out) except -1:
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
        cdef const double[:, ::1] R = finite_square(correlation, "a correlation matrix", most_variables)
        cdef const unsigned char[:, ::1] looked_at = np.ascontiguousarray(near, dtype=np.uint8)
        check_numbers(n, price, 0.0)
        if looked_at.shape[0] != R.shape[0] or looked_at.shape[1] != R.shape[0]:
            raise ValueError("near must be a matrix of the same size")
        self.n_variables = <int>R.shape[0]
        self._search = make_lifting(&R[0, 0], self.n_variables, n, price, <const char*>&looked_at[0, 0])
        self._words = self._search.get().words()

    cdef int _read(self, parents, spouses, neighbors, Sets6& sets) except -1:
        sets.n = self.n_variables
        read_masks(parents, self.n_variables, self._words, sets.parents)
        read_masks(spouses, self.n_variables, self._words, sets.spouses)
        read_masks(neighbors, self.n_variables, self._words, sets.neighbors)
        if not self._search.get().is_ancestral(sets):
            raise ValueError("this is not an ancestral graph")
        return 0

    cdef tuple _graph(self, const Sets6& sets):
        return (
            masks(sets.parents, self._words),
            masks(sets.children, self._words),
            masks(sets.spouses, self._words),
            masks(sets.neighbors, self._words),
            masks(sets.ancestors, self._words),
            masks(sets.descendants, self._words),
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
        cbool selection,
        cbool latents,
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
        check_numbers(1.0, 1.0, noise)
        self._read(parents, spouses, neighbors, sets)
        steps.noise, steps.selection, steps.latents = noise, selection, latents
        seen.best = best
        cdef Caller caller = Caller(cancel)
        cdef Clock clock = Clock(seconds, poll, &caller.listener)
        self._begin()
        try:
            with nogil:
                ended = self._search.get().climb(sets, steps, clock, seen, &score)
        finally:
            self._busy = False
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
