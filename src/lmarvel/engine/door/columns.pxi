# What tests need of a table, checked: nothing from Python is trusted.

cdef extern from "independence/tests.hpp" namespace "lmarvel" nogil:
    struct Blocks:
        const double* R
        const int32_t* starts
        int32_t p
        int64_t n
    struct Counts:
        const uint16_t* codes
        const int32_t* levels
        const double* weights
        const uint8_t* gaps
        int32_t p
        int64_t n
        double rows, rows_a_cell

LARGEST = 1 << 20      # variables: a matrix of marks of a terabyte


cdef const double[:, ::1] square(matrix, str name):
    cdef const double[:, ::1] found = matrix
    if found.shape[0] != found.shape[1] or found.shape[0] < 1 or found.shape[0] > LARGEST:
        raise ValueError(f"{name} must be a square matrix of at least one variable")
    return found


cdef const double[:, ::1] finite_square(matrix, str name, Py_ssize_t most):
    """Return a copy of a matrix, checked: that of the caller may change after a look at it."""
    cdef const double[:, ::1] found = np.array(np.asarray(matrix, dtype=np.float64), order="C")
    if found.shape[0] != found.shape[1] or not 0 < found.shape[0] <= most:
        raise ValueError(f"{name} of 1 to {most} variables is needed")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} holds something that is not a finite number")
    return found


cdef int check_rows(int64_t n) except -1:
    if not 0 <= n <= 1 << 62:
        raise ValueError("there are too many rows to count, or fewer than none")
    return 0


cdef class Columns:
    """What a test needs: correlations, blocks of columns with theirs, columns of levels, or basis columns of models."""

    cdef Blocks of_blocks
    cdef Counts of_counts
    cdef GlmColumns of_glm
    cdef GlmTable glm
    cdef Py_ssize_t p
    cdef const double[:, ::1] R
    cdef const int32_t[::1] starts, levels
    cdef const uint16_t[:, ::1] codes
    cdef const double[::1] weights
    cdef const uint8_t[::1] gaps

    def __cinit__(self, R, long long n, blocks, counts, glm=None):
        self.of_blocks.R = NULL
        self.of_counts.codes = NULL
        self.of_counts.weights = NULL
        self.of_glm.basis = NULL
        if glm is not None:
            self.glm = GlmTable(*glm)
            self.of_glm, self.p = self.glm.of, self.glm.p
            check_rows(n)
        elif blocks is None and counts is None:
            self.R = square(R, "the correlation matrix")
            self.p = self.R.shape[0]
            check_rows(n)
        elif blocks is None:
            codes, levels, weights, gaps, rows, rows_a_cell = counts
            self.count(n, codes, levels, weights, gaps, rows, rows_a_cell)
        else:
            self.divide(R, n, blocks)

    cdef divide(self, R, int64_t n, starts):
        cdef Py_ssize_t v
        self.R, self.starts = square(R, "the correlation matrix"), own(starts, np.int32)
        self.p = self.starts.shape[0] - 1
        check_rows(n)
        if self.p < 1:
            raise ValueError("blocks must be said of each variable")
        if self.starts[0] != 0 or self.starts[self.p] != self.R.shape[0]:
            raise ValueError("the blocks do not fit the correlation matrix")
        for v in range(self.p):
            if self.starts[v] >= self.starts[v + 1]:
                raise ValueError("a block has at least one column")
        self.of_blocks.R, self.of_blocks.starts = &self.R[0, 0], &self.starts[0]
        self.of_blocks.p, self.of_blocks.n = <int32_t> self.p, n

    @cython.boundscheck(False)
    cdef count(self, int64_t n, codes, levels, weights, gaps, double rows, double rows_a_cell):
        cdef Py_ssize_t v, i
        cdef uint16_t code
        self.codes, self.levels, self.gaps = own(codes, np.uint16), own(levels, np.int32), own(gaps, np.uint8)
        self.p = self.codes.shape[0]
        if self.p < 1 or self.codes.shape[1] != n or n < 1 or n >= 1 << 31:
            raise ValueError("the codes must be a row for each variable, and no more than two billion of them")
        if self.levels.shape[0] != self.p or self.gaps.shape[0] != self.p or not rows_a_cell >= 1.0 or not rows <= n:
            raise ValueError("levels and gaps must be said of each variable")
        for v in range(self.p):
            if not 1 <= self.levels[v] < 65535:
                raise ValueError("a variable has 1 to 65,534 levels")
            for i in range(n):
                code = self.codes[v, i]
                if code >= self.levels[v] and not (code == 65535 and self.gaps[v]):
                    raise ValueError("a code is over the number of levels")
        if weights is not None:
            self.weights = weights
            if self.weights.shape[0] != n:
                raise ValueError("there must be a weight for each row")
            self.of_counts.weights = &self.weights[0]
        self.of_counts.codes, self.of_counts.levels = &self.codes[0, 0], &self.levels[0]
        self.of_counts.gaps, self.of_counts.p, self.of_counts.n = &self.gaps[0], <int32_t> self.p, n
        self.of_counts.rows, self.of_counts.rows_a_cell = rows, rows_a_cell
