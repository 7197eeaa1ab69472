# Markov boundaries one target at a time.

cdef extern from "independence/boundaries.hpp" namespace "lmarvel" nogil:
    cdef enum class BoundarySearch(int64_t):
        pass
    struct BoundaryTask:
        const double* R
        int32_t p
        int64_t n
        double quantile
        BoundarySearch search
        int64_t most, max_tests, tests
        double seconds
        cbool either
    cppclass SetList:
        vector[int64_t] starts
        vector[int32_t] members
    cppclass FoundBoundaries:
        SetList sets, had, kept, asked
        vector[int32_t] truncated, asked_x, asked_y
        vector[int64_t] counts
        int64_t reason, reached

cdef extern from "skeleton/run.hpp" namespace "lmarvel" nogil:
    Ending search_boundaries(const BoundaryTask&, FoundBoundaries&, Poll, void*)


cdef tuple lists(SetList& sets):
    return longs(sets.starts, 1).reshape(-1), ints(sets.members, 1)


def boundaries(
    R, long long n, double quantile, str search, long long most, max_tests, long long tests, double seconds,
    bint either, cancel=None
):
    """Find Markov boundaries; see `lmarvel.engine.boundaries` for what the arguments are, and for what is returned."""
    cdef const double[:, ::1] correlation = square(R, "the correlation matrix")
    cdef BoundaryTask task
    cdef FoundBoundaries found
    cdef Ending ending
    cdef Py_ssize_t i
    if n < 4 or n > 1 << 62:
        raise ValueError("at least 4 rows are needed, and no more than can be counted")
    if most < 0 or most > n - 4:
        raise ValueError("the largest set is over what the rows allow")
    if tests < 0 or tests > 1 << 62 or (max_tests is not None and max_tests < 0):
        raise ValueError("a number of tests cannot be negative, or beyond counting")
    task.R, task.p, task.n = &correlation[0, 0], <int32_t> correlation.shape[0], n
    task.quantile, task.search, task.most = quantile, <BoundarySearch> number("boundary_searches", search), most
    task.max_tests, task.tests = -1 if max_tests is None else min(max_tests, 1 << 62), tests
    task.seconds, task.either = seconds, either
    cdef Caller caller = Caller(cancel)
    with nogil:
        ending = search_boundaries(task, found, poll, &caller.listener)
    caller.check(ending)
    counts = [(i, found.counts[i]) for i in range(<Py_ssize_t> found.counts.size()) if found.counts[i]]
    truncated = (ints(found.truncated, 1), *lists(found.had), *lists(found.kept))
    asked = (ints(found.asked_x, 1), ints(found.asked_y, 1), *lists(found.asked))
    return lists(found.sets), truncated, asked, counts, NAMES["reasons"][found.reason], found.reached
