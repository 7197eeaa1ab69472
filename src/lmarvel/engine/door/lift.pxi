# Lift in one call: from correlations, prices, options and what is known to the graphs that its stages end with.
#
# The twin is `tests/reference/lift/lift.py`.

cdef extern from "base/bits.hpp" namespace "lmarvel" nogil:
    const int most_variables

cdef extern from "lift/constants.hpp" namespace "lmarvel" nogil:
    struct LiftConstants:
        double tie, step, equal, resting, alike, near
        int max_sweeps, family_sweeps, family_rounds
        double family_hope
        double margin, far_behind
        int climb_rounds, smallest_region, largest_region, local_steps
        double next_to_nothing
        int hidden_rounds, largest_cliques, most_sets, most_near, few_variables, compared, refreshed, polished, brief
        double far_off, least_gain, round_hope, missed
        int local_sweeps, whole_sweeps, polish_rounds, prune_rounds, weakest
        double hopeless, first_loading, enlarged_loading, rough_tolerance
        int rough_steps
        double fit_tolerance
        int fit_steps
        double small_variance, large_variance

    cppclass SearchLimits:
        size_t p
        vector[char] required, forbidden, never, causes, effects, unconfounded
        cbool selection, latents, local

    enum class Stage(int):
        pass

cdef extern from "lift/lift.hpp" namespace "lmarvel" nogil:
    cppclass LiftTask:
        const double* R
        const double* inflation
        int p
        double n, price, noise
        LiftConstants constants
        cbool selection, latents
        const int8_t* start
        vector[vector[int]] more
        const SearchLimits* known
        size_t memory
        int threads

    cppclass Candidate:
        Stage stage
        double score
        vector[int8_t] mag, pag

    cppclass MissedNode:
        int kind
        vector[int] nodes
        double by

    cppclass Met "lmarvel::Seen::Met":
        double score
        vector[uint32_t] edges

    cppclass Seen:
        vector[Met] met

    cppclass Model "std::pair<double, lmarvel::MarkMatrix>":
        double first
        vector[int8_t] second

    cppclass LiftOutcome:
        LiftOutcome(double near) except +
        vector[Candidate] candidates, answer
        double selection_gain
        vector[MissedNode] hidden
        Seen seen
        vector[Model] models
        cbool late, converged

    cbool is_ancestral(const int8_t*, int) except +
    Ending run_lift "lmarvel::lift"(const LiftTask&, const Clock&, const Teller&, LiftOutcome&)

MOST_NODES = most_variables  # that Lift searches among, latent ones included
MOST_THREADS = 256


def lift(
    correlation,
    double n,
    double price,
    double noise,
    dict constants not None,
    cbool selection,
    cbool latents,
    *,
    inflation=None,
    start=None,
    more=(),
    limits=None,
    double memory=2.0**30,
    int threads=1,
    double seconds=math.inf,
    progress=None,
    cancel=None,
):
    """Search for the graph of the best score.

    Returns whether the time was up; whether all fits of blocks came to their end; the answer (None where there was no
    time for any), and by how much it is better than all that need no selection; the candidates, each as stage, score, MAG
    and PAG; the hidden nodes that the answer rests on, each as kind, members and gain; and scores and edges of the graphs
    that were met, then scores and marks of the models. What is found does not depend on ``memory``, the bytes for
    regressions that are kept, nor on the number of ``threads``.
    """
    cdef const double[:, ::1] R = finite_square(correlation, "a correlation matrix", most_variables)
    cdef int p = <int>R.shape[0]
    cdef LiftTask task
    cdef SearchLimits known
    cdef const int8_t[:, ::1] given
    cdef const double[:, ::1] inflated
    check_positive(n, "rows")
    check_positive(price, "price")
    if not (noise >= 0 and math.isfinite(noise)):
        raise ValueError("noise cannot be negative")
    if not 0 <= memory < 2.0**62:
        raise ValueError(f"memory must be a number of bytes, not {memory}")
    check_threads(threads)
    task.R, task.p, task.n, task.price, task.noise = &R[0, 0], p, n, price, noise
    task.constants = checked_constants(constants)
    task.selection, task.latents, task.memory = selection, latents, <size_t>memory
    task.threads = threads
    if inflation is not None:
        inflated = checked_inflation(inflation, p)
        task.inflation = &inflated[0, 0]
    if start is not None:
        given = own_marks(start)
        check_start(given, p)
        task.start = &given[0, 0]
    for order in more:
        task.more.push_back(whole_order(order, p))
    if limits is not None:
        known = limits_of(limits, p)
        task.known = &known
    return searched(task, seconds, progress, cancel)


cdef tuple searched(const LiftTask& task, double seconds, progress, cancel):
    stages, kinds = NAMES["stages"], NAMES["hidden_kinds"]

    def tell(stage, done, total):
        progress(stages[stage], done, total)

    cdef Caller caller = Caller(cancel, tell)
    cdef Teller teller
    cdef unique_ptr[LiftOutcome] out
    cdef Clock clock = Clock(seconds, poll, &caller.listener)
    cdef Ending ending
    if progress is not None:
        teller.report, teller.caller = report, &caller.listener
    out.reset(new LiftOutcome(task.constants.near))
    with nogil:
        ending = run_lift(task, clock, teller, out.get()[0])
    caller.check(ending)
    cdef LiftOutcome* found = out.get()
    cdef size_t i
    candidates, hidden, met, models = [], [], [], []
    for i in range(found.candidates.size()):
        candidates.append(candidate_of(found.candidates[i], task.p))
    for i in range(found.hidden.size()):
        hidden.append((kinds[found.hidden[i].kind], tuple(found.hidden[i].nodes), found.hidden[i].by))
    for i in range(found.seen.met.size()):
        edges = (<const char*>found.seen.met[i].edges.data())[: sizeof(uint32_t) * found.seen.met[i].edges.size()]
        met.append((found.seen.met[i].score, edges))
    for i in range(found.models.size()):
        models.append((found.models[i].first, marks_of(found.models[i].second, task.p)))
    answer = candidate_of(found.answer[0], task.p) if found.answer.size() else None
    return found.late, found.converged, answer, found.selection_gain, candidates, hidden, met, models


cdef tuple candidate_of(const Candidate& found, int p):
    return NAMES["stages"][<int>found.stage], found.score, marks_of(found.mag, p), marks_of(found.pag, p)


cdef object marks_of(const vector[int8_t]& source, int p):
    found = np.empty((p, p), dtype=np.int8)
    cdef int8_t[:, ::1] view = found
    memcpy(&view[0, 0], source.data(), source.size())
    return found


cdef LiftConstants checked_constants(dict constants) except *:
    cdef LiftConstants found = constants  # numbers, which cannot be others after they were checked
    cdef dict numbers = found
    for name, value in numbers.items():
        if not (value >= 0 and math.isfinite(value)) or (name == "tie" and value == 0):
            raise ValueError(f"the constant {name} must be a number of at least 0, not {value!r}")
    return found


cdef SearchLimits limits_of(dict limits, int p) except *:
    cdef SearchLimits known
    known.p = p
    known.required, known.forbidden = flags(limits["required"], p), flags(limits["forbidden"], p)
    known.never, known.causes = flags(limits["never"], p), flags(limits["causes"], p)
    known.effects, known.unconfounded = flags(limits["effects"], p), flags(limits["unconfounded"], p)
    known.selection, known.latents, known.local = limits["selection"], limits["latents"], limits["local"]
    return known


cdef const double[:, ::1] checked_inflation(inflation, int p) except *:
    cdef const double[:, ::1] known = finite_square(inflation, "the inflation of evidence", most_variables)
    cdef Py_ssize_t x, y
    if known.shape[0] != p:
        raise ValueError(f"the inflation of evidence on {p} variables needs a matrix of that size")
    for x in range(p):
        for y in range(p):
            if known[x, y] < 1 or known[x, y] != known[y, x]:
                raise ValueError("the inflation of evidence must be symmetric, and at least 1")
    return known


cdef int check_positive(double value, str name) except -1:
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{name} must be positive, not {value}")
    return 0


cdef int check_start(const int8_t[:, ::1] marks, int p) except -1:
    cdef Py_ssize_t x, y
    if marks.shape[0] != p or marks.shape[1] != p:
        raise ValueError(f"a graph over {p} variables is needed to start from")
    for x in range(p):
        for y in range(p):
            if (marks[x, y] == 0) != (marks[y, x] == 0) or marks[x, y] not in (0, 2, 3) or (x == y and marks[x, y] != 0):
                raise ValueError("the edges of an ancestral graph have two marks, of the codes 2 and 3")
    if not is_ancestral(&marks[0, 0], p):
        raise ValueError("this is not an ancestral graph")
    return 0


cdef vector[int] whole_order(order, int p) except *:
    cdef vector[int] places
    positions = [index(v) for v in order]
    if sorted(positions) != list(range(p)):
        raise ValueError(f"an order names each of the {p} variables once")
    for v in positions:
        places.push_back(v)
    return places


cdef vector[char] flags(matrix, int p) except *:
    cdef const uint8_t[:, ::1] known = np.ascontiguousarray(matrix, dtype=bool).view(np.uint8)
    cdef vector[char] found
    cdef Py_ssize_t x, y
    if known.shape[0] != p or known.shape[1] != p:
        raise ValueError(f"what is known of {p} variables needs matrices of that size")
    for x in range(p):
        for y in range(p):
            found.push_back(known[x, y] != 0)
    return found


cdef int check_threads(int threads) except -1:
    if not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"1 to {MOST_THREADS} threads can search, not {threads}")
    return 0
