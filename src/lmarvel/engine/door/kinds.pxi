# Scores that know the kinds of columns, and the order search over them; see `lmarvel.ci.glm.kinds`.

cdef extern from "kinds/search.hpp" namespace "lmarvel" nogil:
    cppclass KindPrices:
        double edge, parameter, bend, product, shape, category
    cppclass KindTable:
        GlmColumns columns
        int p
        vector[int] product
    cppclass CppKindLocal "lmarvel::KindLocal":
        CppKindLocal(const KindTable&, const KindPrices&) except +
    cppclass ScoredParents:
        double score
        vector[vector[int]] parents
    cppclass KindTask:
        double noise
        LiftConstants constants
        vector[vector[int]] more
        const SearchLimits* known
    cppclass KindOutcome:
        vector[ScoredParents] met
        cbool late
    Ending search_kinds(CppKindLocal&, const KindTask&, const Clock&, const Teller&, KindOutcome&)
    Ending value_kinds(CppKindLocal&, int, const vector[int]&, double&, vector[int32_t]&)


cdef double price(dict prices, str name, double most=1e100) except? -1:
    cdef double value = prices[name]
    if not 0 <= value <= most:
        raise ValueError(f"the price {name} must be a finite number of at least 0, not {value!r}")
    return value


cdef class KindScores:
    """Local scores of a table of numbers and categories. One thread may ask at a time.

    Products of two variables stand behind the variables of the table as further numbers: one for each pair of `products`.
    """

    cdef GlmTable table
    cdef int p
    cdef bint asked  # by somebody who waits for an answer
    cdef unique_ptr[CppKindLocal] local

    def __cinit__(self, basis, starts, categories, codes, weights, products, dict prices not None):
        cdef KindPrices paid
        cdef KindTable whole
        cdef int u, w, place
        self.table = GlmTable(basis, starts, categories, codes, weights)
        pairs = [(index(u), index(w)) for u, w in products]
        self.p = <int>(self.table.p - len(pairs))
        if not 1 <= self.p <= most_variables:
            raise ValueError(f"1 to {most_variables} variables are needed, beside the products")
        whole.columns, whole.p = self.table.of, self.p
        whole.product.assign(self.p * self.p, -1)
        for place, (one, other) in enumerate(pairs, start=self.p):
            if not 0 <= one < self.p or not 0 <= other < self.p or one == other:
                raise ValueError("a product is one of two different variables")
            if self.table.categories[place] != 0:
                raise ValueError("a product is a number")
            u, w = one, other
            if whole.product[u * self.p + w] >= 0:
                raise ValueError("a product is named twice")
            whole.product[u * self.p + w] = whole.product[w * self.p + u] = place
        paid.edge, paid.parameter, paid.bend = price(prices, "edge"), price(prices, "parameter"), price(prices, "bend")
        paid.product, paid.category = price(prices, "product"), price(prices, "category")
        paid.shape = price(prices, "shape", math.inf)
        self.local.reset(new CppKindLocal(whole, paid))

    def value(self, v, parents):
        """Return the score of a variable given parents, without the price of edges, and the bends it takes, as columns."""
        cdef int at = self._variable(v)
        cdef vector[int] chosen
        cdef vector[int32_t] bends
        cdef double found = 0.0
        cdef Ending ending
        for u in sorted([self._variable(u) for u in parents]):
            chosen.push_back(u)
            if chosen.back() == at or (chosen.size() > 1 and chosen[chosen.size() - 2] == chosen.back()):
                raise ValueError("parents are different variables, and none is the variable itself")
        cdef Caller caller = Caller(None)
        self._begin()
        with nogil:
            ending = value_kinds(self.local.get()[0], at, chosen, found, bends)
        self.asked = False
        caller.check(ending)
        return found, tuple(bends)

    def search(
        self,
        double noise,
        int max_sweeps,
        int family_rounds,
        int family_sweeps,
        double family_hope,
        *,
        more=(),
        limits=None,
        double seconds=math.inf,
        progress=None,
        cancel=None,
    ):
        """Search orders: return whether the time was up, and the DAGs met, the best of all last, as score and parents."""
        cdef int p = self.p
        cdef KindTask task
        cdef SearchLimits known
        cdef KindOutcome out
        if not (noise >= 0 and math.isfinite(noise)):
            raise ValueError("noise cannot be negative")
        if min(max_sweeps, family_rounds, family_sweeps) < 0:
            raise ValueError("sweeps and rounds cannot be negative")
        if not family_hope >= 0:
            raise ValueError("family_hope cannot be negative")
        task.noise = noise
        task.constants.max_sweeps, task.constants.family_rounds = max_sweeps, family_rounds
        task.constants.family_sweeps, task.constants.family_hope = family_sweeps, family_hope
        for order in more:
            task.more.push_back(whole_order(order, p))
        if limits is not None:
            known = limits_of(limits, p)
            task.known = &known

        def tell(stage, done, total):
            progress(NAMES["stages"][stage], done, total)

        cdef Caller caller = Caller(cancel, tell)
        cdef Teller teller
        cdef Clock clock = Clock(seconds, poll, &caller.listener)
        cdef Ending ending
        if progress is not None:
            teller.report, teller.caller = report, &caller.listener
        self._begin()
        with nogil:
            ending = search_kinds(self.local.get()[0], task, clock, teller, out)
        self.asked = False
        caller.check(ending)
        return bool(out.late), [(met.score, [list(parents) for parents in met.parents]) for met in out.met]

    cdef int _begin(self) except -1:
        if self.asked:
            raise RuntimeError("these scores are in use: one thread may ask at a time")
        self.asked = True
        return 0

    cdef int _variable(self, v) except -1:
        cdef Py_ssize_t at = index(v)
        if not 0 <= at < self.p:
            raise IndexError(f"there is no variable at position {v}")
        return <int>at
