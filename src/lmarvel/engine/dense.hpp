// Small dense matrices that need not be positive definite, and what else the search over hidden nodes asks of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "linear.hpp"

namespace lmarvel {

struct Singular {};  // a matrix has no inverse: the model at hand cannot be used

// B := A^-1 B for a k x k matrix A, which is destroyed, and a k x c matrix B; by elimination with pivots.
inline void eliminate(double* A, std::size_t k, double* B, std::size_t c) {
    for (std::size_t i = 0; i < k; ++i) {
        std::size_t pivot = i;
        for (std::size_t r = i + 1; r < k; ++r)
            if (std::fabs(A[r * k + i]) > std::fabs(A[pivot * k + i])) pivot = r;
        if (!(std::fabs(A[pivot * k + i]) > 0.0)) throw Singular{};
        if (pivot != i) {
            std::swap_ranges(A + i * k, A + (i + 1) * k, A + pivot * k);
            std::swap_ranges(B + i * c, B + (i + 1) * c, B + pivot * c);
        }
        for (std::size_t r = i + 1; r < k; ++r) {
            const double factor = A[r * k + i] / A[i * k + i];
            if (factor == 0.0) continue;
            for (std::size_t j = i + 1; j < k; ++j) A[r * k + j] -= factor * A[i * k + j];
            for (std::size_t j = 0; j < c; ++j) B[r * c + j] -= factor * B[i * c + j];
        }
    }
    for (std::size_t i = k; i-- > 0;) {
        for (std::size_t r = i + 1; r < k; ++r)
            for (std::size_t j = 0; j < c; ++j) B[i * c + j] -= A[i * k + r] * B[r * c + j];
        for (std::size_t j = 0; j < c; ++j) B[i * c + j] /= A[i * k + i];
    }
}

// A^-1 B for a symmetric matrix: by its root where it is positive definite, which rounding may hide.
inline Vector solved(const Vector& A, std::size_t k, Vector B, std::size_t c) {
    Vector root = A;
    if (factorise(root.data(), k)) {
        solve_lower(root.data(), k, B.data(), c);
        solve_upper(root.data(), k, B.data(), c);
    } else {
        root = A;
        eliminate(root.data(), k, B.data(), c);
    }
    return B;
}

inline Vector inverted(const Vector& A, std::size_t k) {
    Vector one(k * k, 0.0);
    for (std::size_t i = 0; i < k; ++i) one[i * k + i] = 1.0;
    return solved(A, k, std::move(one), k);
}

struct Eigen {
    double value;
    Vector vector;
};

// The largest eigenvalue of a symmetric k x k matrix and its vector of length 1, by Jacobi's rotations.
inline Eigen largest_eigen(Vector A, std::size_t k) {
    Vector rotated(k * k, 0.0);
    for (std::size_t i = 0; i < k; ++i) rotated[i * k + i] = 1.0;
    double size = 0.0;
    for (double a : A) size += a * a;
    if (!std::isfinite(size)) throw Singular{};
    for (int sweep = 0; sweep < 60; ++sweep) {
        double off = 0.0;
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = i + 1; j < k; ++j) off += A[i * k + j] * A[i * k + j];
        if (off <= 1e-34 * size) break;
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = i + 1; j < k; ++j) {
                if (A[i * k + j] == 0.0) continue;
                const double theta = (A[j * k + j] - A[i * k + i]) / (2.0 * A[i * k + j]);
                const double t = (theta >= 0.0 ? 1.0 : -1.0) / (std::fabs(theta) + std::sqrt(theta * theta + 1.0));
                const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
                for (std::size_t r = 0; r < k; ++r) {
                    const double x = A[r * k + i], y = A[r * k + j];
                    A[r * k + i] = c * x - s * y, A[r * k + j] = s * x + c * y;
                }
                for (std::size_t r = 0; r < k; ++r) {
                    const double x = A[i * k + r], y = A[j * k + r];
                    A[i * k + r] = c * x - s * y, A[j * k + r] = s * x + c * y;
                }
                for (std::size_t r = 0; r < k; ++r) {
                    const double x = rotated[r * k + i], y = rotated[r * k + j];
                    rotated[r * k + i] = c * x - s * y, rotated[r * k + j] = s * x + c * y;
                }
            }
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < k; ++i)
        if (A[i * k + i] > A[best * k + best]) best = i;
    Eigen found{A[best * k + best], Vector(k)};
    for (std::size_t r = 0; r < k; ++r) found.vector[r] = rotated[r * k + best];
    return found;
}

}  // namespace lmarvel
