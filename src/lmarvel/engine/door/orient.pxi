# Orientation of a graph whose marks are known, for those that its class shares.

cdef extern from "skeleton/run.hpp" namespace "lmarvel" nogil:
    Ending orient_graph(const int8_t*, int32_t, cbool, const Statements&, int8_t*, Poll, void*, Outcome*)


cdef object own_marks(graph):
    """Return a copy of marks. An object may give its own array where a copy is asked for: so two steps."""
    return np.array(np.asarray(graph, dtype=np.int8), order="C")


cdef const int8_t[:, ::1] checked_marks(graph):
    """Return a copy of the marks of a graph, checked: nobody else can change it."""
    cdef const int8_t[:, ::1] known = own_marks(graph)
    cdef Py_ssize_t x, y, p = known.shape[0]
    if known.shape[1] != p or p > LARGEST:
        raise ValueError("the marks of a graph must be a square matrix")
    for x in range(p):
        if known[x, x] != 0:
            raise ValueError("a node is not joined to itself")
        for y in range(x):
            if (known[x, y] == 0) != (known[y, x] == 0) or not 0 <= known[x, y] <= 3 or not 0 <= known[y, x] <= 3:
                raise ValueError("an edge has two marks, of the codes 1 to 3")
    return known


def orient(graph, cbool selection=True, stated=None):
    """Return the marks that all graphs of the class of a maximal ancestral graph share, and that fit what is known."""
    cdef const int8_t[:, ::1] known = checked_marks(graph)
    cdef Py_ssize_t p = known.shape[0]
    if p == 0:
        return np.zeros((0, 0), dtype=np.int8)
    cdef int8_t[:, ::1] marks = np.zeros((p, p), dtype=np.int8)
    cdef Stated statements = Stated(stated, p)
    cdef Caller caller = Caller(None)
    cdef Ending ending
    with nogil:
        ending = orient_graph(
            &known[0, 0], <int32_t> p, selection, statements.of, &marks[0, 0], poll, &caller.listener, NULL
        )
    caller.check(ending)
    return np.asarray(marks)


def uses_of_rules(graph, cbool selection=True):
    """Return by which rules those marks follow: seven numbers per use, and the nodes and marks that these speak of."""
    cdef const int8_t[:, ::1] known = checked_marks(graph)
    cdef Py_ssize_t p = known.shape[0]
    cdef Outcome found
    if p == 0:
        return longs(found.rules, 7), ints(found.uses, 1)
    cdef int8_t[:, ::1] marks = np.zeros((p, p), dtype=np.int8)
    cdef Stated statements = Stated(None, p)
    cdef Caller caller = Caller(None)
    cdef Ending ending
    with nogil:
        ending = orient_graph(
            &known[0, 0], <int32_t> p, selection, statements.of, &marks[0, 0], poll, &caller.listener, &found
        )
    caller.check(ending)
    return longs(found.rules, 7), ints(found.uses, 1)
