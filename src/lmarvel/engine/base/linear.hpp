// Small dense symmetric systems, row by row, in place. Inner loops run along rows, so that the compiler can vectorise
// them without reordering a sum.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/wide.hpp"

namespace lmarvel {

using Vector = std::vector<double>;

// Upper factor U of a symmetric k x k matrix A = U'U (only the upper triangle of A is read and written).
// False where A is not positive definite.
LMARVEL_INLINE bool factorise_by_panels(double* A, std::size_t k) {
    constexpr std::size_t panel = 4;  // rows that are taken off those below together: the sums are the same
    for (std::size_t start = 0; start < k; start += panel) {
        const std::size_t end = std::min(start + panel, k);
        for (std::size_t i = start; i < end; ++i) {
            double* row = A + i * k;
            if (!(row[i] > 0.0)) return false;
            const double root = std::sqrt(row[i]), inverse = 1.0 / root;
            row[i] = root;
            for (std::size_t j = i + 1; j < k; ++j) row[j] *= inverse;
            for (std::size_t r = i + 1; r < end; ++r) {
                const double factor = row[r];
                double* target = A + r * k;
                for (std::size_t j = r; j < k; ++j) target[j] -= factor * row[j];
            }
        }
        if (end == k) break;
        const double *a = A + start * k, *b = a + k, *c = b + k, *d = c + k;
        for (std::size_t r = end; r < k; ++r) {
            const double on_a = a[r], on_b = b[r], on_c = c[r], on_d = d[r];
            double* LMARVEL_RESTRICT target = A + r * k;
            for (std::size_t j = r; j < k; ++j)
                target[j] = (((target[j] - on_a * a[j]) - on_b * b[j]) - on_c * c[j]) - on_d * d[j];
        }
    }
    return true;
}

// The same for matrices of some size: a call that chooses registers by the processor costs more than a small one takes.
LMARVEL_WIDE inline bool factorise_large(double* A, std::size_t k) { return factorise_by_panels(A, k); }

constexpr std::size_t large = 16;  // rows or columns from which such a call pays

inline bool factorise(double* A, std::size_t k) { return k < large ? factorise_by_panels(A, k) : factorise_large(A, k); }

// B := U'^-1 B for a k x c matrix B.
LMARVEL_INLINE void solve_lower_by_rows(const double* U, std::size_t k, double* B, std::size_t c) {
    for (std::size_t i = 0; i < k; ++i) {
        double* row = B + i * c;
        const double inverse = 1.0 / U[i * k + i];
        for (std::size_t j = 0; j < c; ++j) row[j] *= inverse;
        for (std::size_t r = i + 1; r < k; ++r) {
            const double factor = U[i * k + r];
            if (factor == 0.0) continue;
            double* target = B + r * c;
            for (std::size_t j = 0; j < c; ++j) target[j] -= factor * row[j];
        }
    }
}

LMARVEL_WIDE inline void solve_lower_large(const double* U, std::size_t k, double* B, std::size_t c) {
    solve_lower_by_rows(U, k, B, c);
}

inline void solve_lower(const double* U, std::size_t k, double* B, std::size_t c) {
    if (c < large) solve_lower_by_rows(U, k, B, c);
    else solve_lower_large(U, k, B, c);
}

// B := U^-1 B for a k x c matrix B.
LMARVEL_INLINE void solve_upper_by_rows(const double* U, std::size_t k, double* B, std::size_t c) {
    for (std::size_t i = k; i-- > 0;) {
        double* row = B + i * c;
        for (std::size_t r = i + 1; r < k; ++r) {
            const double factor = U[i * k + r];
            if (factor == 0.0) continue;
            const double* source = B + r * c;
            for (std::size_t j = 0; j < c; ++j) row[j] -= factor * source[j];
        }
        const double inverse = 1.0 / U[i * k + i];
        for (std::size_t j = 0; j < c; ++j) row[j] *= inverse;
    }
}

LMARVEL_WIDE inline void solve_upper_large(const double* U, std::size_t k, double* B, std::size_t c) {
    solve_upper_by_rows(U, k, B, c);
}

inline void solve_upper(const double* U, std::size_t k, double* B, std::size_t c) {
    if (c < large) solve_upper_by_rows(U, k, B, c);
    else solve_upper_large(U, k, B, c);
}

inline Vector identity(std::size_t k) {
    Vector one(k * k, 0.0);
    for (std::size_t i = 0; i < k; ++i) one[i * k + i] = 1.0;
    return one;
}

// B := (U'U)^-1 B where B is the identity: the loops of solve_lower and solve_upper, in which row i begins with i + 1
// entries.
LMARVEL_INLINE void invert_by_rows(const double* LMARVEL_RESTRICT U, std::size_t k, double* LMARVEL_RESTRICT B) {
    for (std::size_t i = 0; i < k; ++i) {
        double* row = B + i * k;
        const double inverse = 1.0 / U[i * k + i];
        for (std::size_t j = 0; j <= i; ++j) row[j] *= inverse;
        for (std::size_t r = i + 1; r < k; ++r) {
            const double factor = U[i * k + r];
            if (factor == 0.0) continue;
            double* target = B + r * k;
            for (std::size_t j = 0; j <= i; ++j) target[j] -= factor * row[j];
        }
    }
    for (std::size_t i = k; i-- > 0;) {
        double* row = B + i * k;
        for (std::size_t r = i + 1; r < k; ++r) {
            const double factor = U[i * k + r];
            if (factor == 0.0) continue;
            const double* source = B + r * k;
            for (std::size_t j = 0; j < k; ++j) row[j] -= factor * source[j];
        }
        const double inverse = 1.0 / U[i * k + i];
        for (std::size_t j = 0; j < k; ++j) row[j] *= inverse;
    }
}

LMARVEL_WIDE inline void invert_large(const double* U, std::size_t k, double* B) { invert_by_rows(U, k, B); }

// The inverse of A = U'U, from its factor.
inline Vector inverse_of(const double* U, std::size_t k) {
    Vector result = identity(k);
    if (k < large) invert_by_rows(U, k, result.data());
    else invert_large(U, k, result.data());
    return result;
}

}  // namespace lmarvel
