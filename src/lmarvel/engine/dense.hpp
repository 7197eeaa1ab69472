// Small dense systems that are not known to be positive definite, beside those of linear.hpp; and exact sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "linear.hpp"

namespace lmarvel {

// A sum whose rounding is that of its result only, as far as the terms are of a size: Neumaier's.
class Sum {
public:
    void add(double term) {
        const double next = total_ + term;
        lost_ += std::fabs(total_) >= std::fabs(term) ? (total_ - next) + term : (term - next) + total_;
        total_ = next;
    }
    double value() const { return std::isfinite(total_) ? total_ + lost_ : total_; }

private:
    double total_ = 0.0, lost_ = 0.0;
};

// B := A^-1 B for a k x c matrix B, by elimination with row pivots; A is lost. False where A is singular.
inline bool solve_general(double* A, std::size_t k, double* B, std::size_t c) {
    for (std::size_t i = 0; i < k; ++i) {
        std::size_t pivot = i;
        for (std::size_t r = i + 1; r < k; ++r)
            if (std::fabs(A[r * k + i]) > std::fabs(A[pivot * k + i])) pivot = r;
        if (!(std::fabs(A[pivot * k + i]) > 0.0)) return false;
        if (pivot != i) {
            std::swap_ranges(A + i * k, A + (i + 1) * k, A + pivot * k);
            std::swap_ranges(B + i * c, B + (i + 1) * c, B + pivot * c);
        }
        for (std::size_t r = i + 1; r < k; ++r) {
            const double factor = A[r * k + i] / A[i * k + i];
            if (factor == 0.0) continue;
            for (std::size_t j = i; j < k; ++j) A[r * k + j] -= factor * A[i * k + j];
            for (std::size_t j = 0; j < c; ++j) B[r * c + j] -= factor * B[i * c + j];
        }
    }
    for (std::size_t i = k; i-- > 0;) {
        for (std::size_t r = i + 1; r < k; ++r) {
            const double factor = A[i * k + r];
            if (factor == 0.0) continue;
            for (std::size_t j = 0; j < c; ++j) B[i * c + j] -= factor * B[r * c + j];
        }
        for (std::size_t j = 0; j < c; ++j) B[i * c + j] /= A[i * k + i];
    }
    return true;
}

// B := A^-1 B for a symmetric matrix A, of which both triangles are there: by Cholesky's method where that goes through.
inline bool solve_symmetric(const Vector& A, std::size_t k, Vector& B, std::size_t c, Vector& work) {
    work = A;
    if (factorise(work.data(), k)) {
        solve_lower(work.data(), k, B.data(), c);
        solve_upper(work.data(), k, B.data(), c);
        return true;
    }
    work = A;
    return solve_general(work.data(), k, B.data(), c);
}

// Eigenvalues of a symmetric matrix, left on its diagonal, and its eigenvectors, the rows of V, by Jacobi's rotations.
inline void eigen(Vector& A, std::size_t k, Vector& V) {
    V.assign(k * k, 0.0);
    for (std::size_t i = 0; i < k; ++i) V[i * k + i] = 1.0;
    for (int sweep = 0; sweep < 60; ++sweep) {
        double off = 0.0, on = 0.0;
        for (std::size_t i = 0; i < k; ++i) {
            on += A[i * k + i] * A[i * k + i];
            for (std::size_t j = i + 1; j < k; ++j) off += A[i * k + j] * A[i * k + j];
        }
        if (!(off > 1e-32 * on)) return;
        for (std::size_t p = 0; p < k; ++p)
            for (std::size_t q = p + 1; q < k; ++q) {
                const double apq = A[p * k + q];
                if (apq == 0.0) continue;
                const double theta = (A[q * k + q] - A[p * k + p]) / (2.0 * apq);
                const double t = (theta >= 0.0 ? 1.0 : -1.0) / (std::fabs(theta) + std::sqrt(theta * theta + 1.0));
                const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
                for (std::size_t j = 0; j < k; ++j) {  // rows
                    const double x = A[p * k + j], y = A[q * k + j];
                    A[p * k + j] = c * x - s * y;
                    A[q * k + j] = s * x + c * y;
                    const double v = V[p * k + j], w = V[q * k + j];
                    V[p * k + j] = c * v - s * w;
                    V[q * k + j] = s * v + c * w;
                }
                for (std::size_t j = 0; j < k; ++j) {  // columns
                    const double x = A[j * k + p], y = A[j * k + q];
                    A[j * k + p] = c * x - s * y;
                    A[j * k + q] = s * x + c * y;
                }
                A[p * k + q] = A[q * k + p] = 0.0;
            }
    }
}

}  // namespace lmarvel
