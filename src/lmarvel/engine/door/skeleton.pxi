# Skeleton and marks by one of the methods, from boundaries.

cdef extern from "skeleton/run.hpp" namespace "lmarvel" nogil:
    struct Table:
        const double* R
        int32_t p
        int64_t n
        const double* critical_alpha
        const double* critical_threshold
    struct Levels:
        double alpha, boundary, threshold
        cbool assume_chordal, faithful
    enum class PossibleDSep(int64_t):
        pass
    enum class Colliders(int64_t):
        pass
    enum class Method(int64_t):
        LMARVEL
    struct Options:
        double alpha
        cbool max_p, selection
        PossibleDSep possible_d_sep
        Colliders colliders
    struct Budget:
        int64_t largest_set, max_tests, tests
    cppclass Request:
        Method method
        Table table
        Blocks blocks
        Counts counts
        GlmColumns glm
        Levels levels
        Options options
        Budget budget
        Statements statements
        double seconds, grace, limit
        cbool selection, total_conditioning, keep_precision, complete
        const double* precision
        const double* rest
        Lists sets, had, kept, asked
        const int32_t* truncated
        const int32_t* asked_x
        const int32_t* asked_y
    cppclass Outcome:
        vector[int32_t] sets, uses, decided, undecided
        vector[int64_t] boundaries, found, events, rules, counts
        vector[double] pvalues
        int64_t reason, size
        cbool late
        int8_t* unaided
        double skeleton_seconds, orientation_seconds
    Ending learn(const Request&, Outcome&, int8_t*, Poll, Report, void*)


cdef class KeptArrays:
    """What a run found, until somebody asks for it: most of it nobody reads."""

    cdef Outcome out

    def array(self, str name):
        """Return one of the lists as an array."""
        if name == "sets":
            return ints(self.out.sets, 1)
        if name == "uses":
            return ints(self.out.uses, 1)
        if name == "decided":
            return ints(self.out.decided, 2)
        if name == "undecided":
            return ints(self.out.undecided, 2)
        if name == "boundaries":
            return longs(self.out.boundaries, 2)
        if name == "found":
            return longs(self.out.found, 4)
        if name == "events":
            return longs(self.out.events, 9)
        if name == "pvalues":
            return doubles(self.out.pvalues)
        if name == "rules":
            return longs(self.out.rules, 7)
        raise ValueError(f"there is no list {name!r}")


def run(
    task,
    *,
    precision=None,
    double limit=0.0,
    bint keep_precision=True,
    sets=None,
    bint complete=False,
    truncated=None,
    asked=None,
    rest=None,
    progress=None,
    cancel=None,
):
    """Learn a PAG; see `lmarvel.engine.run` for what the arguments are, and the fields of `RunArrays` for what is returned."""
    cdef Request q
    cdef KeptArrays kept_arrays = KeptArrays()
    cdef Outcome* out = &kept_arrays.out
    cdef Ending ending
    cdef const double[:, ::1] correlation, inverse, pvalues
    cdef Py_ssize_t p
    cdef const double[::1] at_alpha, at_threshold
    cdef const int32_t[::1] cut, asked_x, asked_y
    cdef Sets boundary_sets, had, kept, asked_sets
    cdef Columns columns
    cdef long long n = task.n, tests = task.tests, largest_set = task.largest_set
    max_tests, blocks, counts, glm, stated = task.max_tests, task.blocks, task.counts, task.glm, task.stated
    if n < 4:
        raise ValueError("at least 4 rows are needed")
    if n > 1 << 62 or tests > 1 << 62:
        raise ValueError("there are too many rows or tests to count")
    if largest_set < 0 or largest_set > n - 4:
        raise ValueError("the largest set is over what the rows allow")
    if tests < 0 or (max_tests is not None and max_tests < 0):
        raise ValueError("a number of tests cannot be negative")
    if blocks is None and counts is None and glm is None:
        correlation = square(task.correlation, "the correlation matrix")
        p = correlation.shape[0]
        at_alpha, at_threshold = task.critical_alpha, task.critical_threshold
        if at_alpha.shape[0] <= min(largest_set, p) or at_threshold.shape[0] <= min(largest_set, p):
            raise ValueError("critical values are missing for the largest sets")
        q.table.R = &correlation[0, 0]
        q.table.critical_alpha, q.table.critical_threshold = &at_alpha[0], &at_threshold[0]
    else:
        columns = Columns(task.correlation, n, blocks, counts, glm)
        p = columns.p
        q.blocks, q.counts, q.glm = columns.of_blocks, columns.of_counts, columns.of_glm
    q.table.p, q.table.n = <int32_t> p, n
    q.levels.alpha, q.levels.boundary, q.levels.threshold = task.alpha, task.boundary_alpha, task.threshold
    q.levels.assume_chordal, q.levels.faithful = task.assume_chordal, task.faithful
    q.method = <Method> number("methods", task.method)
    q.options.alpha, q.options.max_p, q.options.selection = task.alpha, task.max_p, task.selection
    q.options.possible_d_sep = <PossibleDSep> number("possible_d_sep", task.possible_d_sep)
    q.options.colliders = <Colliders> number("colliders", task.colliders)
    q.budget.largest_set, q.budget.tests = largest_set, tests
    q.budget.max_tests = -1 if max_tests is None else min(max_tests, 1 << 62)
    q.seconds, q.grace, q.selection = task.seconds, task.grace, task.selection
    q.total_conditioning = precision is not None
    if (precision is not None) + (sets is not None) + complete != 1:
        raise ValueError("one of a precision matrix, boundaries and all other variables is needed")
    if complete and q.method == Method.LMARVEL:
        raise ValueError("L-MARVEL needs boundaries")
    if precision is not None:
        inverse = square(precision, "the precision matrix")
        if inverse.shape[0] != p:
            raise ValueError("the two matrices have different sizes")
        q.precision, q.limit, q.keep_precision = &inverse[0, 0], limit, keep_precision
    elif complete:
        q.complete = True
    else:
        starts, members = sets  # an index of a sequence would not be checked
        boundary_sets = Sets(starts, members, p, p)
        boundary_sets.check_symmetric()
        q.sets = boundary_sets.lists()
    if rest is not None:
        pvalues = square(rest, "the p-values given all others")
        if sets is None or pvalues.shape[0] != p:
            raise ValueError("p-values given all others go with boundaries, one for each pair")
        q.rest, q.total_conditioning = &pvalues[0, 0], True
    if truncated is not None:
        variables, had_starts, had_members, kept_starts, kept_members = truncated
        cut = own(variables, np.int32)
        check_positions(cut, cut.shape[0], 0, p)
        had = Sets(had_starts, had_members, p, cut.shape[0])
        kept = Sets(kept_starts, kept_members, p, cut.shape[0])
        q.truncated = &cut[0] if cut.shape[0] else NULL
        q.had, q.kept = had.lists(), kept.lists()
    if asked is not None:
        of_x, of_y, starts, members = asked
        asked_x, asked_y = own(of_x, np.int32), own(of_y, np.int32)
        check_positions(asked_x, asked_x.shape[0], 0, p)
        check_positions(asked_y, asked_x.shape[0], -1, p)
        asked_sets = Sets(starts, members, p, asked_x.shape[0])
        q.asked_x = &asked_x[0] if asked_x.shape[0] else NULL
        q.asked_y = &asked_y[0] if asked_x.shape[0] else NULL
        q.asked = asked_sets.lists()
    cdef Stated known = Stated(stated, p)
    q.statements = known.of
    marks = np.zeros((p, p), dtype=np.int8)
    unaided = None if stated is None else np.zeros((p, p), dtype=np.int8)
    cdef int8_t[:, ::1] written = marks
    cdef int8_t[:, ::1] by_tests = unaided
    if unaided is not None:
        out.unaided = &by_tests[0, 0]
    cdef Caller caller = Caller(cancel, progress)
    cdef Report tell = NULL
    if progress is not None:
        tell = report
    with nogil:
        ending = learn(q, out[0], &written[0, 0], poll, tell, &caller.listener)
    caller.check(ending)
    cdef list tested = []
    cdef Py_ssize_t i
    for i in range(0, <Py_ssize_t> out.counts.size(), 3):
        tested.append((out.counts[i], out.counts[i + 1], out.counts[i + 2]))
    took = out.skeleton_seconds, out.orientation_seconds
    out.unaided = NULL
    return marks, tested, NAMES["reasons"][out.reason], out.size, bool(out.late), took, unaided, kept_arrays
