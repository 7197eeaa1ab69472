# Whether a graph is what it claims to be, and sets that separate in one.

cdef extern from "orient/legality.hpp" namespace "lmarvel" nogil:
    cdef enum class Fault(int64_t):
        NONE
        FAULTS
    const char* const FAULT_NAMES[]
    cppclass Judgement:
        Fault fault
        vector[int32_t] nodes
    Judgement c_judge_mag "lmarvel::judge_mag"(const int8_t*, int32_t) except +
    Ending c_judge_pag "lmarvel::judge_pag"(const int8_t*, int32_t, int8_t*, int8_t*, Judgement&, Poll, void*)

cdef extern from "orient/separation.hpp" namespace "lmarvel" nogil:
    cppclass SeparatingSets:
        vector[int64_t] starts
        vector[int32_t] members
    Ending c_separating_sets "lmarvel::separating_sets"(
        const int8_t*, int32_t, const int32_t*, const int32_t*, int64_t, SeparatingSets&, Poll, void*
    )

# What can be wrong with a graph, by number.
FAULTS = tuple(FAULT_NAMES[i].decode("ascii") for i in range(<int64_t> Fault.FAULTS))


cdef tuple said(const Judgement& found):
    """Return what is wrong by name, and the nodes that show it; None where nothing is."""
    if found.fault == Fault.NONE:
        return None
    return FAULTS[<int64_t> found.fault], tuple(found.nodes)


def judge_mag(graph):
    """Return the first reason why a graph is no MAG, None if it is one."""
    cdef const int8_t[:, ::1] marks = checked_marks(graph)
    cdef Judgement found
    if marks.shape[0]:
        with nogil:
            found = c_judge_mag(&marks[0, 0], <int32_t> marks.shape[0])
    return said(found)


def judge_pag(graph):
    """Return why no MAG has this PAG or None, the marks of a MAG, and those that the PAG should have."""
    cdef const int8_t[:, ::1] marks = checked_marks(graph)
    cdef int32_t p = <int32_t> marks.shape[0]
    cdef int8_t[:, ::1] mag = np.zeros((p, p), dtype=np.int8), right = np.zeros((p, p), dtype=np.int8)
    cdef Caller caller = Caller(None)
    cdef Judgement found
    cdef Ending ending
    if p == 0:
        return None, np.asarray(mag), np.asarray(right)
    with nogil:
        ending = c_judge_pag(&marks[0, 0], p, &mag[0, 0], &right[0, 0], found, poll, &caller.listener)
    caller.check(ending)
    return said(found), np.asarray(mag), np.asarray(right)


def separating_sets(graph, x, y):
    """Return for pairs that are not adjacent in a MAG where each set begins, and the members."""
    cdef const int8_t[:, ::1] marks = checked_marks(graph)
    cdef const int32_t[::1] xs = own(x, np.int32), ys = own(y, np.int32)
    cdef Py_ssize_t i, p = marks.shape[0], n = xs.shape[0]
    check_positions(xs, n, 0, p)
    check_positions(ys, n, 0, p)
    for i in range(n):
        if xs[i] == ys[i] or marks[xs[i], ys[i]]:
            raise ValueError("only two variables without an edge can be separated")
    cdef Caller caller = Caller(None)
    cdef SeparatingSets found
    cdef Ending ending
    if n:
        with nogil:
            ending = c_separating_sets(&marks[0, 0], <int32_t> p, &xs[0], &ys[0], n, found, poll, &caller.listener)
    caller.check(ending)
    return longs(found.starts, 1).ravel(), ints(found.members, 1)
