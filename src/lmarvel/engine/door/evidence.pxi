# What speaks for each part of the graph that Lift chose.

cdef extern from "lift/evidence/evidence.hpp" namespace "lmarvel" nogil:
    cppclass EvidenceTask:
        const double* R
        int p
        double n, price, noise, near, score
        const int8_t* mag
        const int8_t* pag
        vector[double] scores
        vector[vector[uint32_t]] met
        cbool selection, latents, all_gaps
        int threads

    cppclass WeighedPairs:
        vector[int32_t] x, y
        vector[double] loss
        SeparatingSets given

    cppclass Evidence:
        WeighedPairs edges, gaps, far_gaps
        vector[int32_t] at_x, at_y
        vector[double] distance
        cbool late

    Ending c_weigh "lmarvel::weigh"(const EvidenceTask&, const Clock&, Evidence&)


def weigh(
    correlation,
    double n,
    double price,
    double noise,
    double score,
    mag,
    pag,
    met,
    cbool selection,
    cbool latents,
    *,
    double near,
    cbool all_gaps,
    double seconds=math.inf,
    cancel=None,
    int threads=1,
):
    """Weigh each edge, gap and mark of a graph against the graphs that were met, each a score and its edges.

    Returns whether the time was up; of the edges, of the gaps between neighbours of a variable and of the other gaps the
    ends, what is lost without that part, and where the set of each begins, with the members; and the ends of the marks,
    each with its distance. None of it depends on the number of ``threads``.
    """
    cdef const double[:, ::1] R = finite_square(correlation, "a correlation matrix", most_variables)
    cdef int p = <int>R.shape[0]
    cdef const int8_t[:, ::1] marks = own_marks(mag), learned = checked_marks(pag)
    cdef EvidenceTask task
    cdef Evidence found
    cdef double value
    cdef Ending ending
    cdef Caller caller = Caller(cancel)
    cdef Clock clock = Clock(seconds, poll, &caller.listener)
    check_start(marks, p)
    check_same_edges(marks, learned, p)
    check_positive(n, "rows")
    check_positive(price, "price")
    if not (noise >= 0 and near >= 0 and math.isfinite(score)):
        raise ValueError("noise and distance cannot be negative, and a score is a number")
    check_threads(threads)
    task.threads = threads
    task.R, task.p, task.n, task.price, task.noise = &R[0, 0], p, n, price, noise
    task.score, task.near, task.mag, task.pag = score, near, &marks[0, 0], &learned[0, 0]
    task.selection, task.latents, task.all_gaps = selection, latents, all_gaps
    for value, edges in met:
        if not math.isfinite(value):
            raise ValueError("a score is a number")
        task.scores.push_back(value)
        task.met.push_back(checked_edges(edges, p))
    with nogil:
        ending = c_weigh(task, clock, found)
    caller.check(ending)
    ends = ints(found.at_x, 1), ints(found.at_y, 1), doubles(found.distance)
    return found.late, weighed_pairs(found.edges), weighed_pairs(found.gaps), weighed_pairs(found.far_gaps), ends


cdef tuple weighed_pairs(WeighedPairs& found):
    given = longs(found.given.starts, 1).ravel(), ints(found.given.members, 1)
    return ints(found.x, 1), ints(found.y, 1), doubles(found.loss), *given


cdef int check_same_edges(const int8_t[:, ::1] marks, const int8_t[:, ::1] learned, int p) except -1:
    cdef Py_ssize_t x, y
    if learned.shape[0] != p:
        raise ValueError(f"a PAG over {p} variables is needed")
    for x in range(p):
        for y in range(p):
            if (marks[x, y] == 0) != (learned[x, y] == 0):
                raise ValueError("a MAG and its PAG have the same edges")
    return 0


cdef vector[uint32_t] checked_edges(edges, int p) except *:
    """Return the edges of a graph, ascending: (x p + y) 8 + kind, with x < y."""
    cdef const uint32_t[::1] codes = np.frombuffer(edges, dtype=np.uint32)
    cdef vector[uint32_t] found
    cdef Py_ssize_t i
    cdef uint32_t code, pair, before = 0
    if codes.shape[0] == 0 or codes[0] != <uint32_t>p:
        raise ValueError(f"a graph over {p} variables begins with their number")
    for i in range(1, codes.shape[0]):
        code = codes[i]  # looked at once: it may change
        pair = code // 8
        if pair // p >= <uint32_t>p or pair // p >= pair % p or not 1 <= code % 8 <= 4:
            raise ValueError(f"{code} is no edge of {p} variables")
        if pair <= before:
            raise ValueError("the edges of a graph must be ascending")
        before = pair
        found.push_back(code)
    return found
