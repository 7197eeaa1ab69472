// Small dense matrices that need not be positive definite, and what else the search over hidden nodes asks of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "linear.hpp"

namespace lmarvel {

// Wider registers where the machine has them: no sum is reordered and nothing is fused, so the results are the same.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define LMARVEL_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define LMARVEL_WIDE
#endif

// `factorise` for larger matrices: four rows at a time are taken off the rest, which is read once for them. Each entry
// sees the same operations in the same order.
LMARVEL_WIDE inline bool factorise_large(double* A, std::size_t k) {
    constexpr std::size_t width = 4;
    for (std::size_t first = 0; first < k; first += width) {
        const std::size_t last = std::min(first + width, k);
        for (std::size_t i = first; i < last; ++i) {
            double* row = A + i * k;
            if (!(row[i] > 0.0)) return false;
            const double root = std::sqrt(row[i]), inverse = 1.0 / root;
            row[i] = root;
            for (std::size_t j = i + 1; j < k; ++j) row[j] *= inverse;
            for (std::size_t r = i + 1; r < last; ++r) {
                const double factor = row[r];
                double* target = A + r * k;
                for (std::size_t j = r; j < k; ++j) target[j] -= factor * row[j];
            }
        }
        const double *a = A + first * k, *b = a + k, *c = b + k, *d = c + k;
        for (std::size_t r = last; r < k; ++r) {  // a panel that is followed by rows is a full one
            const double at_a = a[r], at_b = b[r], at_c = c[r], at_d = d[r];
            double* __restrict__ target = A + r * k;
            for (std::size_t j = r; j < k; ++j)
                target[j] = (((target[j] - at_a * a[j]) - at_b * b[j]) - at_c * c[j]) - at_d * d[j];
        }
    }
    return true;
}

// b := (U'U)^-1 b.
inline void solve_both(const double* U, std::size_t k, double* b) {
    for (std::size_t i = 0; i < k; ++i) {
        const double* row = U + i * k;
        const double factor = b[i] /= row[i];
        for (std::size_t r = i + 1; r < k; ++r) b[r] -= factor * row[r];
    }
    for (std::size_t i = k; i-- > 0;) {
        const double* row = U + i * k;
        double sums[4] = {0.0, 0.0, 0.0, 0.0};
        std::size_t r = i + 1;
        for (; r + 4 <= k; r += 4)
            for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += row[r + lane] * b[r + lane];
        for (; r < k; ++r) sums[0] += row[r] * b[r];
        b[i] = (b[i] - ((sums[0] + sums[1]) + (sums[2] + sums[3]))) / row[i];
    }
}

// The inverse of A = U'U from its factor, by the lower factor of the inverse; `lower` is room for that.
inline void invert_factored(const double* U, std::size_t k, Vector& lower, Vector& out) {
    lower.assign(k * k, 0.0);
    for (std::size_t i = 0; i < k; ++i) lower[i * k + i] = 1.0;
    for (std::size_t i = 0; i < k; ++i) {  // U'^-1, whose row i ends at i
        double* row = lower.data() + i * k;
        const double inverse = 1.0 / U[i * k + i];
        for (std::size_t j = 0; j <= i; ++j) row[j] *= inverse;
        for (std::size_t r = i + 1; r < k; ++r) {
            const double factor = U[i * k + r];
            if (factor == 0.0) continue;
            double* target = lower.data() + r * k;
            for (std::size_t j = 0; j <= i; ++j) target[j] -= factor * row[j];
        }
    }
    out.assign(k * k, 0.0);
    for (std::size_t r = 0; r < k; ++r) {
        const double* row = lower.data() + r * k;
        for (std::size_t i = 0; i <= r; ++i) {
            const double factor = row[i];
            if (factor == 0.0) continue;
            double* target = out.data() + i * k;
            for (std::size_t j = 0; j <= i; ++j) target[j] += factor * row[j];
        }
    }
    for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = i + 1; j < k; ++j) out[i * k + j] = out[j * k + i];
}

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
