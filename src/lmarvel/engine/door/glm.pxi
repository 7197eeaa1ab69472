# Generalised linear models of the variables of a table on its basis columns.

cdef extern from "glm/fits.hpp" namespace "lmarvel" nogil:
    struct GlmColumns:
        const double* basis
        const int32_t* starts
        const int32_t* categories
        const uint16_t* codes
        const double* weights
        const double* shifts
        int32_t p
        int64_t n
    cppclass CppGlmFit "lmarvel::GlmFit":
        double loglik
        cbool converged
        vector[double] coefficients, residuals
    cppclass CppGlmFits "lmarvel::GlmFits":
        CppGlmFits(const GlmColumns&, size_t) except +
        int64_t fitted

cdef extern from "glm/asking.hpp" namespace "lmarvel" nogil:
    Ending fit_glm(CppGlmFits&, int32_t, const vector[int32_t]&, cbool, Poll, void*, shared_ptr[const CppGlmFit]&)

MOST_COLUMNS = 1 << 14
MOST_WEIGHT = 1e100  # so that the sum over all rows is finite


cdef class GlmTable:
    """Basis columns and categories, checked; nobody else can change them afterwards."""

    cdef GlmColumns of
    cdef Py_ssize_t p, columns
    cdef const double[:, ::1] basis
    cdef const int32_t[::1] starts, categories
    cdef const uint16_t[:, ::1] codes
    cdef const double[::1] weights, shifts

    @cython.boundscheck(False)
    def __cinit__(self, basis, starts, categories, codes, weights=None, shifts=None):
        cdef Py_ssize_t v, i, n, width
        self.basis, self.starts, self.categories = own(basis, np.float64), own(starts, np.int32), own(categories, np.int32)
        self.codes = own(codes, np.uint16)
        self.p, self.columns, n = self.categories.shape[0], self.basis.shape[0], self.basis.shape[1]
        if self.p < 1 or n < 1 or n >= 1 << 31 or not 1 <= self.columns <= MOST_COLUMNS:
            raise ValueError(f"1 to {MOST_COLUMNS} basis columns of at least one row are needed")
        if self.starts.shape[0] != self.p + 1 or self.starts[0] != 0 or self.starts[self.p] != self.columns:
            raise ValueError("the basis columns must be said of each variable")
        if self.codes.shape[0] != self.p or self.codes.shape[1] != n:
            raise ValueError("the codes must be a row for each variable")
        for v in range(self.p):  # of all before any is used: the last of them is known to be within the basis
            if self.starts[v] > self.starts[v + 1]:
                raise ValueError("the basis columns must be said of each variable")
        for v in range(self.p):
            width = self.starts[v + 1] - self.starts[v]
            if self.categories[v] == 0:
                if width < 1:
                    raise ValueError("a number has at least one basis column")
                continue
            if not 2 <= self.categories[v] < 65535 or width != self.categories[v] - 1:
                raise ValueError("categories have an indicator each but the first, and there are 2 to 65,534")
            for i in range(n):
                if self.codes[v, i] >= self.categories[v]:
                    raise ValueError("a code is over the number of categories")
                if self.codes[v, i] > 0 and self.basis[self.starts[v] + self.codes[v, i] - 1, i] != 1.0:
                    raise ValueError("the indicators do not fit the codes")
        if not np.isfinite(np.asarray(self.basis)).all():
            raise ValueError("the basis columns hold something that is not a finite number")
        self.of.weights = NULL
        if weights is not None:
            self.weights = own(weights, np.float64)
            if self.weights.shape[0] != n:
                raise ValueError("there must be a weight for each row")
            counted = np.asarray(self.weights)
            if not ((counted >= 0) & (counted <= MOST_WEIGHT)).all() or not counted.any():
                raise ValueError("weights must be finite and not negative, and one of them above 0")
            self.of.weights = &self.weights[0]
        self.of.shifts = NULL
        if shifts is not None:
            self.shifts = own(shifts, np.float64)
            if self.shifts.shape[0] != self.p or not np.isfinite(np.asarray(self.shifts)).all():
                raise ValueError("there must be a finite shift for each variable")
            for v in range(self.p):
                if self.categories[v] != 0 and self.shifts[v] != 0.0:
                    raise ValueError("categories are not counts")
            self.of.shifts = &self.shifts[0]
        self.of.basis, self.of.starts, self.of.categories = &self.basis[0, 0], &self.starts[0], &self.categories[0]
        self.of.codes, self.of.p, self.of.n = &self.codes[0, 0], <int32_t> self.p, n


cdef class GlmFits:
    """Fits of variables on basis columns, remembered; see `lmarvel.ci.glm.fits`. One thread may ask at a time."""

    cdef GlmTable table
    cdef bint asked  # by somebody who waits for an answer
    cdef unique_ptr[CppGlmFits] fits

    def __cinit__(self, basis, starts, categories, codes, weights, size_t most_bytes):
        self.table = GlmTable(basis, starts, categories, codes, weights)
        self.fits.reset(new CppGlmFits(self.table.of, most_bytes))

    @property
    def fitted(self):
        """How many fits were worked out, not remembered."""
        return self.fits.get().fitted

    def fit(self, v, columns, bint residuals=False, cancel=None):
        """Return log-likelihood, whether it converged, coefficients, and residual columns or None."""
        cdef Py_ssize_t at = index(v), c, m
        cdef vector[int32_t] chosen
        cdef shared_ptr[const CppGlmFit] kept
        cdef const CppGlmFit* found
        cdef Ending ending
        if not 0 <= at < self.table.p:
            raise IndexError(f"there is no variable at position {v}")
        for c in sorted([index(column) for column in columns]):  # numbers, which cannot be of another order later
            if not 0 <= c < self.table.columns:
                raise IndexError(f"there is no basis column {c}")
            if self.table.starts[at] <= c < self.table.starts[at + 1]:
                raise ValueError("a variable is not fitted on its own columns")
            if not chosen.empty() and chosen.back() == c:
                raise ValueError("a column is named twice")
            chosen.push_back(<int32_t> c)
        cdef Caller caller = Caller(cancel)
        if self.asked:
            raise RuntimeError("these fits are in use: one thread may ask at a time")
        self.asked = True
        with nogil:
            ending = fit_glm(self.fits.get()[0], <int32_t> at, chosen, residuals, poll, &caller.listener, kept)
        self.asked = False
        caller.check(ending)
        found = kept.get()
        m = max(self.table.categories[at] - 1, 1)
        left = doubles(found.residuals).reshape(m, -1) if residuals else None
        return found.loglik, bool(found.converged), doubles(found.coefficients).reshape(m, -1), left
