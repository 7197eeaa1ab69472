// Small dense symmetric systems, row by row, in place. Inner loops run along rows, so that the compiler can vectorise
// them without reordering a sum.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace lmarvel {

using Vector = std::vector<double>;

// Upper factor U of a symmetric k x k matrix A = U'U (only the upper triangle of A is read and written).
// False where A is not positive definite.
inline bool factorise(double* A, std::size_t k) {
    for (std::size_t i = 0; i < k; ++i) {
        double* row = A + i * k;
        if (!(row[i] > 0.0)) return false;
        const double root = std::sqrt(row[i]), inverse = 1.0 / root;
        row[i] = root;
        for (std::size_t j = i + 1; j < k; ++j) row[j] *= inverse;
        for (std::size_t r = i + 1; r < k; ++r) {
            const double factor = row[r];
            if (factor == 0.0) continue;
            double* target = A + r * k;
            for (std::size_t j = r; j < k; ++j) target[j] -= factor * row[j];
        }
    }
    return true;
}

// B := U'^-1 B for a k x c matrix B.
inline void solve_lower(const double* U, std::size_t k, double* B, std::size_t c) {
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

// B := U^-1 B for a k x c matrix B.
inline void solve_upper(const double* U, std::size_t k, double* B, std::size_t c) {
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

// The inverse of A = U'U, from its factor.
inline Vector inverse_of(const double* U, std::size_t k) {
    Vector result(k * k, 0.0);
    for (std::size_t i = 0; i < k; ++i) result[i * k + i] = 1.0;
    solve_lower(U, k, result.data(), k);
    solve_upper(U, k, result.data(), k);
    return result;
}

}  // namespace lmarvel
