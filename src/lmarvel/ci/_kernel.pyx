# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The compiled search for a separating set with Fisher's z test.

The same visits, sets, p-values and counts as `lmarvel.ci.search.readable_search`. Subsets of one size are
visited in lexicographic order, and a Cholesky factor of the conditioning set is kept a row a member, so that
a new subset costs only the rows behind its first new member. Nothing from Python is trusted: positions and lengths
are checked before they are used.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport atanh, erfc, sqrt

from time import monotonic

from lmarvel.ci.test import SepsetAnswer

cdef enum:
    DEPTH = 64        # members of a conditioning set
    POOL = 512        # candidates
    FAMILIES = 64     # families tried before

cdef extern from *:
    """
    #define PIVOT 1e-10
    """
    const double PIVOT    # a variance below this share of the variable's own counts as zero

MAX_DEPTH, MAX_POOL, MAX_FAMILIES, SMALLEST_PIVOT = DEPTH, POOL, FAMILIES, PIVOT


cdef struct Factor:
    # Cholesky rows of the conditioning set, and the rows of x and y against it.
    int node[DEPTH]
    double row[DEPTH][DEPTH]
    double inverse[DEPTH]      # 1 / diagonal; 0 where the member is a combination of those before it
    double x[DEPTH]
    double y[DEPTH]


cdef struct Family:
    # See `lmarvel.ci.test.Tried`, in terms of positions in this search's pool and sizes of its subsets.
    unsigned char allowed[POOL]
    unsigned char needed[POOL]
    int n_needed
    int smallest
    int largest
    int n_stop                 # the size of subsets to compare with the stop; -1: none
    int stop[DEPTH]            # nodes, ascending
    int stop_length
    int extra[DEPTH]           # nodes of `always` here that are free members there, ascending
    int n_extra
    double level


cdef inline void push(Factor* f, const double[:, ::1] R, Py_ssize_t x, Py_ssize_t y, int d, int w) noexcept nogil:
    """Append w to the conditioning set at depth d."""
    cdef int i, j
    cdef double s, left = 1.0, on_x = R[w, x], on_y = R[w, y]
    for i in range(d):
        s = R[w, f.node[i]]
        for j in range(i):
            s -= f.row[d][j] * f.row[i][j]
        s *= f.inverse[i]
        f.row[d][i] = s
        left -= s * s
        on_x -= s * f.x[i]
        on_y -= s * f.y[i]
    f.node[d] = w
    f.inverse[d] = 1.0 / sqrt(left) if left > PIVOT else 0.0
    f.x[d] = on_x * f.inverse[d]
    f.y[d] = on_y * f.inverse[d]


cdef inline double squared(Factor* f, const double[:, ::1] R, Py_ssize_t x, Py_ssize_t y, int d) noexcept nogil:
    """Return the squared partial correlation of x and y given the first d members, 1 where it is undefined."""
    cdef int i
    cdef double vx = 1.0, vy = 1.0, c = R[x, y]
    for i in range(d):
        vx -= f.x[i] * f.x[i]
        vy -= f.y[i] * f.y[i]
        c -= f.x[i] * f.y[i]
    if vx <= PIVOT or vy <= PIVOT:
        return 1.0
    c = c * c / (vx * vy)
    return c if c < 1.0 else 1.0


cdef inline double pvalue_of(double r2, long long df) noexcept nogil:
    if r2 >= 1.0:
        return 0.0
    return erfc(sqrt(df * 0.5) * atanh(sqrt(r2)))


cdef inline bint covered(Family* g, int* chosen, int* node, int k) noexcept nogil:
    """Tell whether the subset belongs to the family."""
    cdef int i, got = 0, e = 0, t = 0, w
    for i in range(k):
        if g.needed[chosen[i]]:
            got += 1
        elif not g.allowed[chosen[i]]:
            return False
    if got < g.n_needed or k < g.smallest:
        return False
    if k <= g.largest:
        return True
    if k != g.n_stop:
        return False
    # Compare the free members, in ascending order, with where the family's search ended.
    i = 0
    while t < g.stop_length:
        while i < k and g.needed[chosen[i]]:
            i += 1
        if e < g.n_extra and (i == k or g.extra[e] < node[chosen[i]]):
            w = g.extra[e]
            e += 1
        elif i == k:
            return False           # fewer free members than the family's stop has: no set of it
        else:
            w = node[chosen[i]]
            i += 1
        if w != g.stop[t]:
            return w < g.stop[t]
        t += 1
    return False


cdef bint fill(Family* g, tried, tuple pool, tuple always):
    """Translate a family into positions; False if it cannot hold any subset of this search."""
    must, members, smallest, largest, stop, level = tried
    cdef int i, shift
    inside, mine = set(members), set(always)
    if not all(v in inside or v in must for v in always):
        return False
    if not all(v in mine or v in pool for v in must):
        return False
    # A subset of size k here has k + |always| - |must| free members there.
    shift = len(always) - len(must)
    g.n_needed = 0
    for i, v in enumerate(pool):
        g.needed[i] = v in must
        g.n_needed += g.needed[i]
        g.allowed[i] = v in inside
    g.smallest = smallest - shift
    g.largest = largest - shift
    g.n_stop = -1
    g.level = level
    stop = None if stop is None else tuple(stop)
    if stop is not None and len(stop) <= DEPTH:
        g.n_stop = len(stop) - shift
        g.stop_length = len(stop)
        for i, v in enumerate(stop):
            g.stop[i] = v
        extra = sorted([v for v in always if v not in must])
        g.n_extra = len(extra)
        for i, v in enumerate(extra):
            g.extra[i] = v
    return True


cdef int place(const double[:, ::1] R, v) except -1:
    """Return a position as a number, read once, or refuse one that the matrix does not have."""
    cdef Py_ssize_t at = v
    if R.shape[0] != R.shape[1]:
        raise ValueError("the correlation matrix is not square")
    if at < 0 or at >= R.shape[0]:
        raise IndexError(f"there is no variable at position {v}")
    return <int> at


def partial(const double[:, ::1] R, x, y, tuple given):
    """Return the squared partial correlation of x and y given up to MAX_DEPTH variables."""
    cdef Factor f
    cdef int d = 0, a = place(R, x), b = place(R, y)
    if len(given) > DEPTH:
        raise ValueError(f"at most {DEPTH} variables can be conditioned on here")
    for w in given:
        push(&f, R, a, b, d, place(R, w))
        d += 1
    return squared(&f, R, a, b, d)


def search(const double[:, ::1] R, long long n, query, int top, const double[::1] critical):
    """Search as the query says, at most `top` members from the pool; return a SepsetAnswer.

    `critical[k]` is the squared partial correlation below which a test given k variables says "independent".
    """
    if not 0 <= n <= 1 << 62:
        raise ValueError("there are too many rows to count, or fewer than none")
    cdef int x = place(R, query.x), y = place(R, query.y)
    cdef tuple pool = query.pool, always = query.always
    cdef double alpha = query.alpha, deadline = query.deadline
    cdef long long max_tests = -1 if query.max_tests is None else min(query.max_tests, 1 << 62)
    cdef Factor f
    cdef Family families[FAMILIES]
    cdef int node[POOL]
    cdef int chosen[DEPTH]
    cdef int best_set[DEPTH]
    cdef long long counts[DEPTH + 1]
    cdef int m = len(pool), base = len(always), n_families = 0, k, i, d, first, best_size = -1
    cdef long long done = 0, ticks = 0
    cdef double r2, p, best = 0.0, smallest_r2
    cdef int state          # 0 going on, 1 found, 2 out of budget
    cdef bint fresh, skip, any_tested = False
    k = query.min_size
    if k < 0 or m > POOL or top > m or base + max(top, 0) > DEPTH or len(query.tried) > FAMILIES:
        raise ValueError("the search is too large for the compiled buffers")
    if top >= 0 and critical.shape[0] <= base + top:
        raise ValueError("critical values are missing for the largest sets")
    for i in range(m):
        node[i] = place(R, pool[i])
    for i in range(base):
        push(&f, R, x, y, i, place(R, always[i]))
    cdef object family
    for family in tuple(query.tried)[:FAMILIES]:
        if fill(&families[n_families], family, pool, always):
            n_families += 1
    for i in range(base + max(top, 0) + 1):
        counts[i] = 0
    state = 0
    k = query.min_size
    if monotonic() > deadline:
        return SepsetAnswer(None, 0.0, (0,) * (base + max(top, 0) + 1), None, (), False)
    with nogil:
        while k <= top and state == 0:
            for i in range(k):
                chosen[i] = i
            first = 0
            smallest_r2 = 2.0
            while state == 0:
                skip = False
                fresh = True
                for i in range(n_families):
                    if covered(&families[i], chosen, node, k):
                        fresh = False
                        if families[i].level <= alpha:
                            skip = True
                            break
                ticks += 1
                if ticks & 16383 == 0:
                    with gil:       # Ctrl-C and the clock need Python; once in 16,384 sets costs nothing
                        PyErr_CheckSignals()
                        if monotonic() > deadline:
                            state = 2
                    if state == 2:
                        break
                if not skip:
                    if fresh and done == max_tests:
                        state = 2
                        break
                    for i in range(first, k):
                        push(&f, R, x, y, base + i, node[chosen[i]])
                    first = k
                    r2 = squared(&f, R, x, y, base + k)
                    done += fresh
                    counts[base + k] += fresh
                    if r2 < critical[base + k]:
                        state = 1
                        best = pvalue_of(r2, n - base - k - 3)
                        break
                    if r2 < smallest_r2:
                        # The p-value falls as r2 grows; across sizes the degrees of freedom differ.
                        smallest_r2 = r2
                        p = pvalue_of(r2, n - base - k - 3)
                        if p > best or not any_tested:
                            any_tested = True
                            best = p
                            best_size = k
                            for i in range(k):
                                best_set[i] = chosen[i]
                # The next subset of size k, in lexicographic order.
                i = k - 1
                while i >= 0 and chosen[i] == m - k + i:
                    i -= 1
                if i < 0:
                    break
                chosen[i] += 1
                for d in range(i + 1, k):
                    chosen[d] = chosen[d - 1] + 1
                if i < first:
                    first = i
            if state == 0:
                k += 1
    tests = tuple([counts[i] for i in range(base + max(top, 0) + 1)])
    here = tuple([node[chosen[i]] for i in range(k)]) if state else None
    if state == 1:
        found = frozenset(always + here)
        return SepsetAnswer(found, best, tests, found, here, True)
    strongest = frozenset(always + tuple([node[best_set[i]] for i in range(best_size)])) if best_size >= 0 else None
    return SepsetAnswer(None, best, tests, strongest, here, state == 0)
