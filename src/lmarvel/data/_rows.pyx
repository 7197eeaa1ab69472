# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Passes over rows and over matrices that NumPy would make several of, one after the other.

Each gives what the NumPy in its docstring gives, bit for bit: the same additions in the same order, nothing fused into
one rounding. So it makes no difference to any result whether this was compiled.
"""

from libc.math cimport sqrt

import numpy as np


cdef void check(bint fits) except *:
    if not fits:
        raise ValueError("the shapes do not fit")


cdef void check_apart(const double* out, Py_ssize_t n, const double* other, Py_ssize_t m) except *:
    """Refuse to write where something that is read stands: the compiled loops count on that."""
    cdef size_t to = <size_t> out, source = <size_t> other
    if to < source + m * sizeof(double) and source < to + n * sizeof(double):
        raise ValueError("what is written must not overlap what is read")


def means(rows, const double[::1] origin):
    """Return the means of rows - origin: ``sums(rows - origin) / len(rows)``.

    Eight sums are kept of each column, for the rows whose numbers leave 0 to 7 when divided by eight, and one for the
    rows behind: eight rows are one long row.
    """
    cdef const double[:, ::1] given = np.ascontiguousarray(rows, dtype=np.float64)
    cdef Py_ssize_t n = given.shape[0], p = given.shape[1], whole = n // 8 * 8, i, j
    check(origin.shape[0] == p and n > 0 and p > 0)
    mean = np.zeros(p)
    cdef double[::1] here = mean, eight = np.zeros(8 * p), rest = np.zeros(p), beside = np.empty(8 * p)
    with nogil:
        repeat(&beside[0], &origin[0], p)
        if whole:
            add_rows(&eight[0], &given[0, 0], &beside[0], whole // 8, 8 * p)
        if whole < n:
            add_rows(&rest[0], &given[whole, 0], &beside[0], n - whole, p)
        for i in range(8 if whole else 0):
            for j in range(p):
                here[j] = eight[j] if i == 0 else here[j] + eight[i * p + j]
        for j in range(p):
            here[j] = (here[j] + rest[j]) / n
    return mean


def less(rows, const double[::1] origin, const double[::1] mean, double[:, ::1] out):
    """Do ``out[:] = (rows - origin) - mean``."""
    cdef const double[:, ::1] given = np.ascontiguousarray(rows, dtype=np.float64)
    cdef Py_ssize_t n = given.shape[0], p = given.shape[1], whole = n // 8 * 8
    check(origin.shape[0] == p == mean.shape[0] and n > 0 and p > 0 and out.shape[0] == n and out.shape[1] == p)
    check_apart(&out[0, 0], n * p, &given[0, 0], n * p)
    check_apart(&out[0, 0], n * p, &origin[0], p)
    check_apart(&out[0, 0], n * p, &mean[0], p)
    cdef double[::1] beside = np.empty(8 * p), centre = np.empty(8 * p)
    with nogil:
        repeat(&beside[0], &origin[0], p)
        repeat(&centre[0], &mean[0], p)
        if whole:
            subtract(&out[0, 0], &given[0, 0], &beside[0], &centre[0], whole // 8, 8 * p)
        if whole < n:
            subtract(&out[whole, 0], &given[whole, 0], &beside[0], &centre[0], n - whole, p)


cdef extern from *:
    """
    #include <math.h>
    #include <string.h>
    // The same arithmetic in wider registers where the processor has them: nothing here is reassociated or fused.
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) \\
        && !defined(__SANITIZE_ADDRESS__)
    #define WIDE __attribute__((target_clones("avx2", "default")))
    #else
    #define WIDE
    #endif
    WIDE static void add_rows(double* __restrict total, const double* __restrict from, const double* __restrict origin,
                              Py_ssize_t n, Py_ssize_t p) {
        for (Py_ssize_t j = 0; j < p; ++j) total[j] = from[j] - origin[j];
        for (Py_ssize_t i = 1; i < n; ++i) {
            from += p;
            for (Py_ssize_t j = 0; j < p; ++j) total[j] += from[j] - origin[j];
        }
    }
    WIDE static void subtract(double* __restrict to, const double* __restrict from, const double* __restrict origin,
                              const double* __restrict mean, Py_ssize_t n, Py_ssize_t p) {
        for (Py_ssize_t i = 0; i < n; ++i, to += p, from += p) {
            for (Py_ssize_t j = 0; j < p; ++j) to[j] = (from[j] - origin[j]) - mean[j];
        }
    }
    static void repeat(double* to, const double* from, Py_ssize_t p) {
        for (int i = 0; i < 8; ++i) memcpy(to + i * p, from, p * sizeof(double));
    }
    WIDE static void scale_row(double* __restrict to, const double* __restrict from, const double* __restrict scale, double own,
                          Py_ssize_t p) {
        for (Py_ssize_t j = 0; j < p; ++j) {
            double value = from[j] * scale[j];
            value *= own;
            value = value < -1.0 ? -1.0 : value;
            to[j] = value > 1.0 ? 1.0 : value;
        }
    }
    WIDE static void merge_row(double* __restrict to, const double* __restrict product, const double* __restrict shift,
                          double scaled, Py_ssize_t p) {
        for (Py_ssize_t j = 0; j < p; ++j) to[j] = (to[j] + product[j]) + scaled * shift[j];
    }
    WIDE static void less_multiple(double* __restrict row, const double* __restrict other, double by, Py_ssize_t p) {
        for (Py_ssize_t j = 0; j < p; ++j) row[j] -= by * other[j];
    }
    WIDE static void divide_row(double* row, double by, Py_ssize_t p) {
        for (Py_ssize_t j = 0; j < p; ++j) row[j] /= by;
    }
    WIDE static double square_sum(const double* row, Py_ssize_t p) {
        double sums[4] = {0.0, 0.0, 0.0, 0.0};
        Py_ssize_t j = 0;
        for (; j + 4 <= p; j += 4) {
            for (int k = 0; k < 4; ++k) sums[k] += row[j + k] * row[j + k];
        }
        for (; j < p; ++j) sums[0] += row[j] * row[j];
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    // Most marks are none: eight at a time are looked at.
    static void place_row(signed char* to, const signed char* from, const Py_ssize_t* place, Py_ssize_t p) {
        Py_ssize_t j = 0;
        for (; j + 8 <= p; j += 8) {
            unsigned long long eight;
            memcpy(&eight, from + j, 8);
            if (eight) for (Py_ssize_t k = j; k < j + 8; ++k) to[place[k]] = from[k];
        }
        for (; j < p; ++j) to[place[j]] = from[j];
    }
    // Divide the lower triangle, and copy it to the upper one, in squares that stay in the cache.
    static void mirror_divided(double* matrix, double by, Py_ssize_t p) {
        const Py_ssize_t side = 64;
        for (Py_ssize_t top = 0; top < p; top += side) {
            const Py_ssize_t end = top + side < p ? top + side : p;
            for (Py_ssize_t left = 0; left <= top; left += side) {
                for (Py_ssize_t i = top; i < end; ++i) {
                    const Py_ssize_t stop = left + side <= i ? left + side : i + 1;
                    for (Py_ssize_t j = left; j < stop; ++j) matrix[i * p + j] /= by;
                }
                for (Py_ssize_t j = left; j < left + side && j < end; ++j) {
                    for (Py_ssize_t i = top > j ? top : j + 1; i < end; ++i) matrix[j * p + i] = matrix[i * p + j];
                }
            }
        }
    }
    WIDE static int has_copy(const double* row, Py_ssize_t own, Py_ssize_t p) {
        int found = 0;
        for (Py_ssize_t j = 0; j < p; ++j) found |= (row[j] >= 1 - 1e-12) | (row[j] <= 1e-12 - 1);
        if (!found) return 0;
        for (Py_ssize_t j = 0; j < p; ++j) if (j != own && fabs(row[j]) >= 1 - 1e-12) return 1;
        return 0;
    }
    """
    void add_rows(double*, const double*, const double*, Py_ssize_t, Py_ssize_t) nogil
    void subtract(double*, const double*, const double*, const double*, Py_ssize_t, Py_ssize_t) nogil
    void repeat(double*, const double*, Py_ssize_t) nogil
    void scale_row(double*, const double*, const double*, double, Py_ssize_t) nogil
    void merge_row(double*, const double*, const double*, double, Py_ssize_t) nogil
    void less_multiple(double*, const double*, double, Py_ssize_t) nogil
    void divide_row(double*, double, Py_ssize_t) nogil
    double square_sum(const double*, Py_ssize_t) nogil
    int has_copy(const double*, Py_ssize_t, Py_ssize_t) nogil
    void place_row(signed char*, const signed char*, const Py_ssize_t*, Py_ssize_t) nogil
    void mirror_divided(double*, double, Py_ssize_t) nogil


def within(const double[:] numbers, double low, double high):
    """Tell whether all numbers are above low and below high: ``((numbers > low) & (numbers < high)).all()``."""
    cdef Py_ssize_t i
    for i in range(numbers.shape[0]):
        if not low < numbers[i] < high:
            return False
    return True


def merge(double[:, ::1] scatter, const double[:, ::1] product, const double[::1] scaled, const double[::1] shift):
    """Do ``scatter += product; scatter += np.outer(scaled, shift)``."""
    cdef Py_ssize_t p = scatter.shape[0], i
    check(scatter.shape[1] == p == product.shape[0] == product.shape[1] == scaled.shape[0] == shift.shape[0])
    if p == 0:
        return
    check_apart(&scatter[0, 0], p * p, &product[0, 0], p * p)
    check_apart(&scatter[0, 0], p * p, &scaled[0], p)
    check_apart(&scatter[0, 0], p * p, &shift[0], p)
    with nogil:
        for i in range(p):
            merge_row(&scatter[i, 0], &product[i, 0], &shift[0], scaled[i], p)


def mirror(double[:, ::1] matrix, double by):
    """Do ``matrix /= by``, and copy what is below the diagonal to above it."""
    cdef Py_ssize_t p = matrix.shape[0]
    check(matrix.shape[1] == p and p > 0)
    with nogil:
        mirror_divided(&matrix[0, 0], by, p)


def lower_inverse(const double[:, ::1] factor):
    """Return the inverse of a lower triangular matrix, row by row; see ``lmarvel.data.rows.lower_inverse``."""
    cdef Py_ssize_t p = factor.shape[0], i, j
    check(factor.shape[1] == p and p > 0)
    result = np.zeros((p, p))
    cdef double[:, ::1] out = result
    with nogil:
        for i in range(p):
            for j in range(i):
                less_multiple(&out[i, 0], &out[j, 0], factor[i, j], j + 1)
            out[i, i] = 1.0
            divide_row(&out[i, 0], factor[i, i], i + 1)
    return result


cdef double[::1] scales(const double[:, ::1] covariance):
    cdef Py_ssize_t p = covariance.shape[0], i
    check(covariance.shape[1] == p and p > 0)
    cdef double[::1] scale = np.empty(p)
    for i in range(p):
        scale[i] = 1 / sqrt(covariance[i, i])
    return scale


def correlation(const double[:, ::1] covariance):
    """Return the correlation matrix: ``covariance * scale * scale[:, None]`` within -1 and 1, with a diagonal of 1."""
    cdef double[::1] scale = scales(covariance)
    cdef Py_ssize_t p = covariance.shape[0], i
    result = np.empty((p, p))
    cdef double[:, ::1] out = result
    with nogil:
        for i in range(p):
            scale_row(&out[i, 0], &covariance[i, 0], &scale[0], scale[i], p)
            out[i, i] = 1.0
    return result


cdef Py_ssize_t[::1] positions(const Py_ssize_t[::1] given, Py_ssize_t p):
    """Return a copy of p positions below p, checked: those of the caller may change after a look at them."""
    check(given.shape[0] == p)
    cdef Py_ssize_t[::1] own = np.array(given)
    cdef Py_ssize_t i
    for i in range(p):
        check(0 <= own[i] < p)
    return own


def correlation_in_order(const double[:, ::1] covariance, const Py_ssize_t[::1] order):
    """Return ``correlation(covariance)[np.ix_(order, order)]``."""
    cdef double[::1] scale = scales(covariance)
    cdef Py_ssize_t p = covariance.shape[0], i, j
    order = positions(order, p)
    result = np.empty((p, p))
    cdef double[:, ::1] out = result
    cdef double[::1] row = np.empty(p)
    with nogil:
        for i in range(p):
            scale_row(&row[0], &covariance[order[i], 0], &scale[0], scale[order[i]], p)
            row[order[i]] = 1.0
            for j in range(p):
                out[i, j] = row[order[j]]
    return result


def strengths(const double[:, ::1] covariance):
    """Return the sums of squares of the rows of the correlation matrix, and whether there is 1 beside its diagonal.

    The last digits of the sums may differ from NumPy's. A 1 is one but for rounding; -1 counts as well.
    """
    cdef double[::1] scale = scales(covariance)
    cdef Py_ssize_t p = covariance.shape[0], i
    cdef bint found = False
    result = np.empty(p)
    cdef double[::1] out = result, row = np.empty(p)
    with nogil:
        for i in range(p):
            scale_row(&row[0], &covariance[i, 0], &scale[0], scale[i], p)
            row[i] = 1.0
            out[i] = square_sum(&row[0], p)
            found |= has_copy(&row[0], i, p)
    return result, bool(found)


def permuted(const double[:, ::1] matrix, const Py_ssize_t[::1] order):
    """Return ``matrix[np.ix_(order, order)]``."""
    cdef Py_ssize_t p = matrix.shape[0], i, j
    check(matrix.shape[1] == p)
    order = positions(order, p)
    result = np.empty((p, p))
    cdef double[:, ::1] out = result
    cdef const double* row
    with nogil:
        for i in range(p):
            row = &matrix[order[i], 0]
            for j in range(p):
                out[i, j] = row[order[j]]
    return result


def placed(const signed char[:, ::1] marks, const Py_ssize_t[::1] place):
    """Return a matrix where row and column v stand at place[v]."""
    cdef Py_ssize_t p = marks.shape[0], i
    cdef unsigned char[::1] taken = np.zeros(max(p, 1), dtype=np.uint8)
    check(marks.shape[1] == p)
    place = positions(place, p)
    for i in range(p):
        if taken[place[i]]:
            raise ValueError("a place is taken twice")
        taken[place[i]] = 1
    result = np.zeros((p, p), dtype=np.int8)
    cdef signed char[:, ::1] out = result
    with nogil:
        for i in range(p):
            place_row(&out[place[i], 0], &marks[i, 0], &place[0], p)
    return result


def ascending(const double[::1] numbers, double apart):
    """Return the positions of numbers in ascending order, or None where two neighbours are not apart by this share."""
    cdef Py_ssize_t n = numbers.shape[0], i, j
    cdef list order = sorted(range(n), key=[numbers[i] for i in range(n)].__getitem__)
    for i in range(n - 1):
        j = order[i + 1]
        if not numbers[j] - numbers[<Py_ssize_t> order[i]] > apart * numbers[j]:
            return None
    return order
