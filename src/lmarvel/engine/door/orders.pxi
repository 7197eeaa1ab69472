# Lift's search over orders, and the regressions with their moves within an order that it is made of.
#
# The twins are `lmarvel.search.orders.search_orders` and `lmarvel.search.regressions.Regressions`.

cdef extern from "base/bits.hpp" namespace "lmarvel" nogil:
    const int most_variables

cdef extern from "lift/orders/orders.hpp" namespace "lmarvel" nogil:
    cdef cppclass AnySweeper:
        cbool move(int v, double noise) except +
        void result(int* order, double* scores, uint64_t* parents) except +

    cdef cppclass AnyRegressions:
        int words()
        void family(int v, const uint64_t* before, double* score, uint64_t* sets) except +
        unique_ptr[AnySweeper] sweeper(vector[int] order) except +

    unique_ptr[AnyRegressions] make_regressions(const double* S, int m, double n, double price) except +

cdef extern from "lift/orders/order_search.hpp" namespace "lmarvel" nogil:
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

MAX_VARIABLES = most_variables  # of a search


cdef int check_numbers(double n, double price, double noise) except -1:
    if not (n > 0 and price > 0 and math.isfinite(n) and math.isfinite(price)):
        raise ValueError("rows and price must be positive")
    if not (noise >= 0 and math.isfinite(noise)):
        raise ValueError("noise cannot be negative")
    return 0


cdef class Regressions:
    """Grow-shrink regressions of every variable on any set of predecessors; no step is computed twice."""

    cdef unique_ptr[AnyRegressions] _search
    cdef readonly int n_variables
    cdef readonly double price
    cdef int _words

    def __cinit__(self, covariance, double n, double price):
        cdef const double[:, ::1] S = finite_square(covariance, "a covariance matrix", most_variables)
        check_numbers(n, price, 0.0)
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
        return (score, *[mask(&sets[i * self._words], self._words) for i in range(3)])

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
        found = [mask(&parents[v * words], words) for v in range(m)]
        return [order[i] for i in range(self._length)], found, sum([scores[i] for i in range(self._length)])


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
    cdef const double[:, ::1] S = finite_square(covariance, "a covariance matrix", most_variables)
    cdef const double[:, ::1] K = finite_square(precision, "an inverse covariance matrix", most_variables)
    cdef int m = <int>S.shape[0]
    check_numbers(n, price, noise)
    if K.shape[0] != m:
        raise ValueError("the two matrices must be of one size")
    cdef OrderSettings settings
    settings.n, settings.noise = n, noise
    settings.max_sweeps, settings.family_sweeps, settings.family_rounds = sweeps
    cdef vector[vector[int]] starts
    cdef vector[int] start
    for order in more:
        start = checked_order(order, m)
        starts.push_back(start)
    cdef Caller caller = Caller(cancel)
    cdef unique_ptr[OrderSearch] search
    search.reset(new OrderSearch(&S[0, 0], m, price, settings))
    cdef Clock clock = Clock(seconds, poll, &caller.listener)
    cdef Ended ended
    with nogil:
        ended = search.get().run(&K[0, 0], starts, clock)
    if ended == Ended.INTERRUPTED:
        caller.raised()
    cdef size_t i
    settled = []
    for i in range(search.get().settled.size()):
        settled.append(found_order(search.get().settled[i], search.get().words()))
    if ended == Ended.LATE:
        return False, settled, None
    return True, settled, found_order(search.get().found, search.get().words())


cdef vector[int] checked_order(order, int m) except *:
    cdef vector[int] places
    positions = [index(v) for v in order]
    if sorted(positions) != list(range(m)):
        raise ValueError(f"an order names each of the {m} variables once")
    for v in positions:
        places.push_back(v)
    return places


cdef tuple found_order(const FoundOrder& found, int words):
    cdef list order = [found.order[i] for i in range(found.order.size())]
    return order, masks(found.parents, words), found.score


cdef object mask(const uint64_t* words, int length):
    value = 0
    for i in reversed(range(length)):
        value = value << 64 | words[i]
    return value


cdef list masks(const vector[uint64_t]& rows, int words):
    cdef size_t i
    if words == 1:
        return [rows[i] for i in range(rows.size())]
    cdef bytes raw = (<const char*>rows.data())[: 8 * rows.size()]
    return [int.from_bytes(raw[at : at + 8 * words], "little") for at in range(0, len(raw), 8 * words)]
