# Lift's search over DAGs with hidden nodes, the fits of their blocks, and the MAGs that they have over what is observed.
#
# The twins are `lmarvel.search.hidden.HiddenSearch`, `lmarvel.search.hidden_model.BlockProblem` and
# `lmarvel.graph.projection.project`.

cdef extern from "lift/hidden/hidden.hpp" namespace "lmarvel" nogil:
    const int most_new_nodes

    cdef cppclass FlatModel:
        vector[vector[int]] parents, selections
        vector[int] order
        vector[double] B, log_variance, V
        double score

    cdef cppclass MissedNode:
        int kind
        vector[int] nodes
        double by

    cdef cppclass AnyHidden:
        int capacity()
        FlatModel fitted(const FlatModel& model) except +
        Ended run(const FlatModel& model, const Watch& watch) except +
        Ended simplified(const FlatModel& model, double limit, const Watch& watch, FlatModel& simpler, cbool& changed,
                         vector[MissedNode]& kept) except +
        size_t n_met()
        FlatModel met(size_t i) except +

    unique_ptr[AnyHidden] make_hidden(const double* R, int p, double n, double price, double noise,
                                      vector[int] kinds) except +

cdef extern from "lift/hidden/blocks.hpp" namespace "lmarvel" nogil:
    cdef cppclass Block:
        size_t k, seen, own, selections
        vector[size_t] heads, tails, loaded, loads_on
        vector[double] S

    cdef cppclass BlockFit:
        BlockFit(const Block& block) except +
        double value(const double* x) except +
        void fit(vector[double]& x, double tolerance, int max_steps) except +

cdef extern from "lift/hidden/projection.hpp" namespace "lmarvel" nogil:
    cdef cppclass Projection:
        Projection(const vector[vector[int]]& parents, int observed, int selections) except +
        void marks(int8_t* out) except +

MAX_BESIDE_HIDDEN = most_variables - most_new_nodes  # observed variables, so that hidden nodes have room

cdef enum:
    MOST_BLOCK_NODES = 4096  # hidden ones included
    MOST_DAG_NODES = 10000


cdef class HiddenSearch:
    """The search over DAGs with latent and selection nodes; one thread at a time."""

    cdef unique_ptr[AnyHidden] _search
    cdef readonly int p
    cdef bint _busy

    def __cinit__(self, correlation, double n, double price, double noise, kinds):
        cdef const double[:, ::1] R = finite_square(correlation, "a correlation matrix", most_variables - most_new_nodes)
        cdef vector[int] allowed
        check_numbers(n, price, noise)
        for kind in kinds:
            allowed.push_back(<int> number("hidden_kinds", kind))
        self.p = <int>R.shape[0]
        self._search = make_hidden(&R[0, 0], self.p, n, price, noise, allowed)

    cdef FlatModel _taken(self, model, int room) except *:
        """Check a model: (parents, selections, order, B, log_variance, V, score), sets as integers."""
        cdef FlatModel taken
        parents, selections, order, B, log_variance, V, score = model
        m, s = len(parents), len(selections)
        if not self.p <= m <= self._search.get().capacity() - room:
            raise ValueError(f"a model of {m} nodes does not fit a search over {self.p} variables")
        taken.parents, taken.selections = sets_of_nodes(parents, m), sets_of_nodes(selections, m)
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
        taken.B, taken.log_variance = parameters(B, (m, m)), parameters(log_variance, (m,))
        taken.V, taken.score = parameters(V, (m, s)), score
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
        return model_of(found)

    def run(self, model, double seconds, progress=None, cancel=None):
        """Put hidden nodes into a model while the score falls; tell whether there was time enough. See `met`."""
        cdef FlatModel taken = self._taken(model, most_new_nodes)
        cdef Caller caller = Caller(cancel, None if progress is None else lambda _, done, total: progress(done, total))
        cdef Teller teller
        cdef Ended ended
        if progress is not None:
            teller.report, teller.caller = report, &caller.listener
        cdef Watch watch = Watch(Clock(seconds, poll, &caller.listener), teller)
        self._enter()
        try:
            with nogil:
                ended = self._search.get().run(taken, watch)
        finally:
            self._busy = False
        if ended == Ended.INTERRUPTED:
            caller.raised()
        return ended == Ended.DONE

    def met(self):
        """Return the models that were looked at closely, in the order in which they were met."""
        if self._busy:
            raise RuntimeError("a search is under way: its models can be read when it has ended")
        return [model_of(self._search.get().met(i)) for i in range(self._search.get().n_met())]

    def simplified(self, model, double limit, cancel=None):
        """Drop hidden nodes that the score does not miss; return the model, None if it is the same, and the others."""
        cdef FlatModel taken = self._taken(model, 0), simpler
        cdef Caller caller = Caller(cancel)
        cdef Watch watch = Watch(Clock(math.inf, poll, &caller.listener))
        cdef vector[MissedNode] kept
        cdef cbool changed = False
        cdef Ended ended
        self._enter()
        try:
            with nogil:
                ended = self._search.get().simplified(taken, limit, watch, simpler, changed, kept)
        finally:
            self._busy = False
        if ended == Ended.INTERRUPTED:
            caller.raised()
        kinds = NAMES["hidden_kinds"]
        nodes = [(kinds[kept[i].kind], mask_of_nodes(kept[i].nodes), kept[i].by) for i in range(kept.size())]
        return (model_of(simpler) if changed else None), nodes

    cdef int _enter(self) except -1:
        if self._busy:
            raise RuntimeError("a search is under way: another thread needs a search of its own")
        self._busy = True
        return 0


cdef object mask_of_nodes(const vector[int]& nodes):
    cdef object value = 0, one = 1, v  # Python's integers: those of C end at 64 bits
    for i in range(nodes.size()):
        v = nodes[i]
        value |= one << v
    return value


cdef vector[vector[int]] sets_of_nodes(masks, Py_ssize_t n) except *:
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


cdef vector[double] parameters(values, tuple shape) except *:
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


cdef object array_of(const vector[double]& values, tuple shape):
    cdef double[::1] flat
    array = np.empty(values.size())
    flat = array
    for i in range(flat.shape[0]):
        flat[i] = values[i]
    return array.reshape(shape)


cdef tuple model_of(const FlatModel& model):
    m, s = model.parents.size(), model.selections.size()
    return (
        tuple([mask_of_nodes(model.parents[v]) for v in range(m)]),
        tuple([mask_of_nodes(model.selections[j]) for j in range(s)]),
        tuple(model.order),
        array_of(model.B, (m, m)),
        array_of(model.log_variance, (m,)),
        array_of(model.V, (m, s)),
        model.score,
    )


def project(parents, int observed, int selections):
    """Return the marks of the MAG over the first nodes of a DAG; its last nodes are selection nodes."""
    n = len(parents)
    if not 0 < n <= MOST_DAG_NODES or observed < 0 or selections < 0 or observed + selections > n:
        raise ValueError(f"a DAG of 1 to {MOST_DAG_NODES} nodes is needed, each of one role")
    cdef vector[vector[int]] sets = sets_of_nodes(parents, n)
    cdef int8_t[:, ::1] marks
    cdef unique_ptr[Projection] projection
    found = np.zeros((observed, observed), dtype=np.int8)
    if observed:
        marks = found
        projection.reset(new Projection(sets, observed, selections))
        with nogil:
            projection.get().marks(&marks[0, 0])
    return found


cdef vector[size_t] node_places(values, size_t end) except *:
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
        if n_nodes > MOST_BLOCK_NODES or n_selections > MOST_BLOCK_NODES:
            raise ValueError(f"a block has at most {MOST_BLOCK_NODES} nodes")
        if len(heads) != len(tails) or len(loaded) != len(loads_on):
            raise ValueError("each edge and each loading has two ends")
        self._block.k, self._block.seen, self._block.own = n_nodes, S.shape[0], n_own
        self._block.selections = n_selections
        self._block.heads, self._block.tails = node_places(heads, n_nodes), node_places(tails, n_nodes)
        self._block.loaded, self._block.loads_on = node_places(loaded, n_nodes), node_places(loads_on, n_selections)
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
            result = block_value(self._block, at)
        return result

    def fit(self, x, double tolerance, int max_steps):
        """Return the parameters of a maximum of the likelihood, by damped Fisher scoring."""
        cdef vector[double] at = self._parameters(x)
        with nogil:
            fit_block(self._block, at, tolerance, max_steps)
        return np.array(at)


cdef double block_value(const Block& block, const vector[double]& x) except? -1.0 nogil:
    cdef BlockFit* fitter = new BlockFit(block)
    try:
        return fitter.value(x.data())
    finally:
        del fitter


cdef int fit_block(const Block& block, vector[double]& x, double tolerance, int max_steps) except -1 nogil:
    cdef BlockFit* fitter = new BlockFit(block)
    try:
        fitter.fit(x, tolerance, max_steps)
        return 0
    finally:
        del fitter
