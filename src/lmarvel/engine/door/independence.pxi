# The tests, one question at a time or one search at a time.

cdef extern from "independence/tests.hpp" namespace "lmarvel" nogil:
    cppclass View:
        View()
        View(const vector[int32_t]&)
    cbool are_distinct(int32_t, int32_t, View, View) except +
    cppclass Family:
        Family() except +
        cbool fill(View, View, View, View, int64_t, int64_t, const View*, double) except +
    struct Level:
        double alpha
        const double* critical
    struct Query:
        int32_t x, y
        View always, pool
        int64_t smallest, top, max_tests
        Level level
        Family* known
        size_t n_known
    cdef enum State "lmarvel::Found::State":
        GOING "lmarvel::Found::GOING"
        FOUND "lmarvel::Found::FOUND"
        ENDED "lmarvel::Found::ENDED"
    struct Found:
        State state
        cbool cut, any
        double pvalue
        vector[int32_t] chosen, closest
        vector[int64_t] counts
    cppclass Test:
        double statistic
        int64_t df
    cppclass FisherZ(Test):
        FisherZ(const double*, int32_t, int64_t) except +
    cppclass BlockGaussian(Test):
        BlockGaussian(const Blocks&) except +
    cppclass GSquare(Test):
        GSquare(const Counts&) except +
    double chi_square_tail(double, int64_t)

cdef extern from "glm/test.hpp" namespace "lmarvel" nogil:
    cppclass CppGlmTest "lmarvel::GlmTest"(Test):
        CppGlmTest(const GlmColumns&) except +

cdef extern from "independence/asking.hpp" namespace "lmarvel" nogil:
    Ending ask(Test&, int32_t, int32_t, const vector[int32_t]&, cbool& enough, double& pvalue)
    Ending find(Test&, Query&, double seconds, Poll, void*, Found&)
    Ending find_given_rest(const Blocks&, const double* precision, double* pvalues)

cdef extern from "glm/asking.hpp" namespace "lmarvel" nogil:
    Ending ask_by_target(CppGlmTest&, int32_t, int32_t, const vector[int32_t]&, double& pvalue)

cdef extern from "independence/margins.hpp" namespace "lmarvel" nogil:
    cppclass Cumulants:
        double mean, variance, third
    double tail_from_zero(double, const Cumulants&)


def tail(double statistic, int64_t df):
    """Return the probability that a chi-square variable with df degrees of freedom is larger."""
    return chi_square_tail(statistic, df)


def tail_by_chance(double statistic, double mean, double variance, double third):
    """Return the tail of the distribution from zero on that has these cumulants."""
    cdef Cumulants expected
    expected.mean, expected.variance, expected.third = mean, variance, third
    return tail_from_zero(statistic, expected)


cdef class Kernel:
    """Fisher's z, or a test made of blocks of columns, of columns of levels, or of models. Threads may ask it at the same time."""

    cdef Columns columns
    cdef int64_t n
    cdef tuple made_of
    cdef vector[Test*] idle    # a test at work remembers its set: each thread has one of its own

    def __cinit__(self, R, long long n, blocks=None, counts=None, glm=None):
        self.columns, self.n = Columns(R, n, blocks, counts, glm), n
        self.made_of = R, n, blocks, counts, glm

    def __reduce__(self):
        return Kernel, self.made_of

    def __dealloc__(self):
        cdef Test* test
        for test in self.idle:
            del test

    cdef Test* take(self) except NULL:
        cdef Test* test
        if self.idle.empty():
            if self.columns.of_glm.basis != NULL:
                return new CppGlmTest(self.columns.of_glm)
            if self.columns.of_counts.codes != NULL:
                return new GSquare(self.columns.of_counts)
            if self.columns.of_blocks.R != NULL:
                return new BlockGaussian(self.columns.of_blocks)
            return new FisherZ(&self.columns.R[0, 0], <int32_t> self.columns.p, self.n)
        test = self.idle.back()
        self.idle.pop_back()
        return test

    cdef bint is_fisher_z(self):
        return (
            self.columns.of_counts.codes == NULL and self.columns.of_blocks.R == NULL and self.columns.of_glm.basis == NULL
        )

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
        """Return p-value, statistic and degrees of freedom; None where there are too few rows for the set.

        With Fisher's z the statistic is the squared partial correlation.
        """
        cdef int32_t a = self.position(x), b = self.position(y)
        cdef vector[int32_t] members = self.positions(given)
        cdef double p = 0.0
        cdef cbool enough = False
        cdef Ending ending
        check_distinct(a, b, View(members), View())
        if b < a and not self.is_fisher_z():  # whose last digits are those of the order that is asked for
            a, b = b, a
        cdef Test* test = self.take()
        with nogil:
            ending = ask(test[0], a, b, members, enough, p)
        answer = (p, test.statistic, test.df) if enough else None
        self.idle.push_back(test)
        if ending.status != DONE:
            Caller(None).check(ending)
        return answer

    def by_target(self, target, other, given):
        """Return the same by the model of the target alone, for a test made of models."""
        cdef int32_t a = self.position(target), b = self.position(other)
        cdef vector[int32_t] members = self.positions(given)
        cdef double p = 0.0
        cdef Ending ending
        if self.columns.of_glm.basis == NULL:
            raise ValueError("the test is not made of models")
        check_distinct(a, b, View(members), View())
        cdef Test* test = self.take()
        with nogil:
            ending = ask_by_target((<CppGlmTest*> test)[0], a, b, members, p)
        answer = (p, test.statistic, test.df) if p >= 0.0 else None
        self.idle.push_back(test)
        if ending.status != DONE:
            Caller(None).check(ending)
        return answer

    def given_rest(self, precision):
        """Return the p-value of each pair given all other variables, from the precision matrix of all columns."""
        cdef const double[:, ::1] K = square(precision, "the precision matrix")
        cdef Ending ending
        if self.columns.of_blocks.R == NULL or K.shape[0] != self.columns.R.shape[0]:
            raise ValueError("the precision matrix does not fit the blocks")
        found = np.zeros((self.columns.p, self.columns.p))
        cdef double[:, ::1] pvalues = found
        with nogil:
            ending = find_given_rest(self.columns.of_blocks, &K[0, 0], &pvalues[0, 0])
        Caller(None).check(ending)
        return found

    def search(self, query, int64_t top, double seconds, cancel=None, critical=None):
        """Search as the query says, at most `top` members from the pool; return the fields of a SepsetAnswer.

        Fisher's z needs the squared partial correlations below which a test says "independent", by size of the set.
        """
        cdef Query q
        cdef Found found
        cdef Ending ending
        cdef Py_ssize_t i
        cdef const double[::1] limits
        cdef vector[int32_t] pool = self.positions(query.pool), always = self.positions(query.always)
        q.x, q.y = self.position(query.x), self.position(query.y)
        q.pool, q.always = View(pool), View(always)
        q.smallest, q.top, q.level.alpha = within(query.min_size), top, query.alpha
        q.max_tests = -1 if query.max_tests is None else min(query.max_tests, 1 << 62)
        if q.smallest < 0 or q.top > <int64_t> pool.size():
            raise ValueError("the sizes do not fit the pool")
        check_distinct(q.x, q.y, q.pool, q.always)
        q.level.critical = NULL
        if self.is_fisher_z():
            limits = critical
            if limits.shape[0] <= <int64_t> always.size() + max(top, 0):
                raise ValueError("critical values are missing for the largest sets")
            q.level.critical = &limits[0]
        cdef vector[Family] known = families(query.tried, q.always, q.pool)
        q.known, q.n_known = known.data(), known.size()
        cdef Caller caller = Caller(cancel)
        cdef Test* test = self.take()
        with nogil:
            ending = find(test[0], q, seconds, poll, &caller.listener, found)
        self.idle.push_back(test)
        caller.check(ending)
        cdef Py_ssize_t base = always.size(), first = base + q.smallest
        cdef list counts = [0] * (base + <Py_ssize_t> max(top, 0) + 1)
        for i in range(<Py_ssize_t> found.counts.size()):
            counts[first + i] = found.counts[i]
        closest = frozenset(tuple(always) + members_at(pool, found.closest)) if found.any else None
        if found.state == FOUND:
            return closest, found.pvalue, tuple(counts), closest, members_at(pool, found.chosen), True
        stopped = members_at(pool, found.chosen) if found.state == ENDED else None
        return None, found.pvalue, tuple(counts), closest, stopped, found.state == GOING and not found.cut


cdef int check_distinct(int32_t x, int32_t y, View one, View other) except -1:
    if not are_distinct(x, y, one, other):
        raise ValueError("two variables and a set of others are needed, each of them named once")
    return 0


cdef tuple members_at(const vector[int32_t]& pool, const vector[int32_t]& positions):
    return tuple([pool[positions[i]] for i in range(positions.size())])


cdef int64_t within(size) except? -1:
    """Return the size of a set as a number that others can be added to; no set is that large."""
    return max(-(1 << 32), min(index(size), 1 << 32))


cdef vector[Family] families(tried, View always, View pool) except *:
    """Translate what was tried before, but for families that cannot hold any subset of this search."""
    cdef vector[Family] found
    cdef vector[int32_t] must, members, last
    cdef View end
    cdef const View* stop
    cdef Family family
    for required, candidates, smallest, largest, ended, level in tried:
        must, members, last = required, sorted(candidates), () if ended is None else ended
        end = View(last)
        stop = NULL
        if ended is not None:
            stop = &end
        if family.fill(always, pool, View(must), View(members), within(smallest), within(largest), stop, level):
            found.push_back(family)
    return found
