# The tests other than Fisher's z, one question at a time or one search at a time.

cdef extern from "independence/tests.hpp" namespace "lmarvel" nogil:
    cppclass Test:
        void start(int32_t, int32_t, size_t)
        void push(size_t, int32_t)
        double pvalue(size_t, double)
        cbool affords(int32_t, int32_t, const vector[int32_t]&)
        double statistic
        int64_t df
    cppclass BlockGaussian(Test):
        BlockGaussian(const Blocks&) except +
        double given_rest(const double*, int32_t, int32_t)
    cppclass GSquare(Test):
        GSquare(const Counts&) except +
    double chi_square_tail(double, int64_t)

cdef extern from "independence/margins.hpp" namespace "lmarvel" nogil:
    cppclass Cumulants:
        double mean, variance, third
    double tail_from_zero(double, const Cumulants&)

cdef extern from *:
    """
    #include <new>
    #include "base/watch.hpp"
    static void lmarvel_stopped() {
        try { throw; }
        catch (const lmarvel::Interrupted&) { PyErr_SetNone(PyExc_KeyboardInterrupt); }
        catch (const std::bad_alloc&) { PyErr_NoMemory(); }
    }
    """
    void stopped "lmarvel_stopped"()

cdef extern from "independence/subsets.hpp" namespace "lmarvel" nogil:
    struct Known:
        vector[uint8_t] allowed, needed
        int64_t n_needed, smallest, largest, n_stop
        vector[int32_t] stop, extra
        double level
    struct Query:
        int32_t x, y
        vector[int32_t] pool, always
        int64_t smallest, top, max_tests
        double alpha, seconds
        vector[Known] known
    struct Found:
        int state
        cbool cut, any
        double pvalue
        vector[int32_t] here, closest
        vector[int64_t] counts
    Found run_search "lmarvel::search"(Test&, const Query&, Poll, void*) except +stopped


def tail(double statistic, int64_t df):
    """Return the probability that a chi-square variable with df degrees of freedom is larger."""
    return chi_square_tail(statistic, df)


def tail_by_chance(double statistic, double mean, double variance, double third):
    """Return the tail of the distribution from zero on that has these cumulants."""
    cdef Cumulants expected
    expected.mean, expected.variance, expected.third = mean, variance, third
    return tail_from_zero(statistic, expected)


cdef class Kernel:
    """A test made of blocks of columns, or of columns of levels. Threads may ask it at the same time."""

    cdef Columns columns
    cdef vector[Test*] idle    # a test at work remembers its set: each thread has one of its own

    def __cinit__(self, R, long long n, blocks=None, counts=None):
        self.columns = Columns(R, n, blocks, counts)

    def __dealloc__(self):
        cdef Test* test
        for test in self.idle:
            del test

    cdef Test* take(self) except NULL:
        cdef Test* test
        if self.idle.empty():
            if self.columns.of_counts.codes != NULL:
                return new GSquare(self.columns.of_counts)
            return new BlockGaussian(self.columns.of_blocks)
        test = self.idle.back()
        self.idle.pop_back()
        return test

    cdef int32_t position(self, v) except -1:
        cdef Py_ssize_t at = v
        if not 0 <= at < self.columns.p:
            raise IndexError(f"there is no variable at position {v}")
        return <int32_t> at

    cdef vector[int32_t] positions(self, nodes) except *:
        cdef vector[int32_t] found
        for v in nodes:
            found.push_back(self.position(v))
        return found

    def result(self, x, y, given):
        """Return p-value, statistic and degrees of freedom; None where there are too few rows for the set."""
        cdef int32_t a = self.position(x), b = self.position(y)
        cdef vector[int32_t] members = self.positions(given)
        cdef size_t d
        cdef double p = 0.0
        cdef Test* test = self.take()
        cdef cbool enough
        with nogil:
            enough = test.affords(a, b, members)
            if enough:
                test.start(a, b, members.size())
                for d in range(members.size()):
                    test.push(d, members[d])
                test.statistic, test.df = 0.0, 0
                p = test.pvalue(members.size(), -1.0)
        answer = (p, test.statistic, test.df) if enough else None
        self.idle.push_back(test)
        return answer

    def affords(self, x, y, given):
        """Tell whether there are rows enough for a set."""
        cdef Test* test = self.take()
        try:
            return test.affords(self.position(x), self.position(y), self.positions(given))
        finally:
            self.idle.push_back(test)

    def given_rest(self, precision):
        """Return the p-value of each pair given all other variables, from the precision matrix of all columns."""
        cdef const double[:, ::1] K = square(precision, "the precision matrix")
        cdef Py_ssize_t x, y, p = self.columns.p
        if self.columns.of_blocks.R == NULL or K.shape[0] != self.columns.R.shape[0]:
            raise ValueError("the precision matrix does not fit the blocks")
        found = np.zeros((p, p))
        cdef double[:, ::1] pvalues = found
        cdef BlockGaussian* blocks = new BlockGaussian(self.columns.of_blocks)
        with nogil:
            for x in range(p):
                for y in range(x + 1, p):
                    pvalues[x, y] = pvalues[y, x] = blocks.given_rest(&K[0, 0], <int32_t> x, <int32_t> y)
        del blocks
        return found

    def search(self, query, int64_t top, double seconds):
        """Search as the query says, at most `top` members from the pool; return what a SepsetAnswer is made of."""
        cdef Query q
        cdef Found found
        q.x, q.y = self.position(query.x), self.position(query.y)
        q.pool, q.always = self.positions(query.pool), self.positions(query.always)
        q.smallest, q.top, q.alpha, q.seconds = query.min_size, top, query.alpha, seconds
        q.max_tests = -1 if query.max_tests is None else min(query.max_tests, 1 << 62)
        if q.smallest < 0 or q.top > <int64_t> q.pool.size():
            raise ValueError("the sizes do not fit the pool")
        for family in query.tried:
            add_tried(q, family, query.pool, query.always)
        cdef Caller caller = Caller(None)
        cdef Test* test = self.take()
        try:
            with nogil:
                found = run_search(test[0], q, poll, &caller.listener)
        except KeyboardInterrupt:
            caller.raised()
        finally:
            self.idle.push_back(test)
        return found.state, found.cut, found.any, found.pvalue, found.here, found.closest, found.counts


cdef add_tried(Query& q, family, tuple pool, tuple always):
    """Translate a family that was tried into positions, unless it cannot hold any subset of this search."""
    cdef Known g
    must, members, smallest, largest, stop, level = family
    inside, mine = set(members), set(always)
    if not all(v in inside or v in must for v in always) or not all(v in mine or v in pool for v in must):
        return
    shift = len(always) - len(must)  # free members there, less the size here
    g.n_needed = 0
    for v in pool:
        g.needed.push_back(v in must)
        g.n_needed += v in must
        g.allowed.push_back(v in inside)
    g.smallest, g.largest, g.n_stop, g.level = smallest - shift, largest - shift, -1, level
    if stop is not None:
        g.n_stop, g.stop = len(stop) - shift, stop
        g.extra = [v for v in always if v not in must]
    q.known.push_back(g)
