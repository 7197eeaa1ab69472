// Small dense systems, beside those of linear.hpp: such as are not known to be positive definite, and exact sums. Where the
// same is worked out in two ways (solve_both and solve_lower with solve_upper, invert_factored and inverse_of), the sums
// run in another order: greedy searches decide by the last bit, so each keeps its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include "base/linear.hpp"

namespace lmarvel {

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

// out := (U'U)^-1 by the lower factor of the inverse. At first `lower` is the identity, and `out` is 0.
LMARVEL_INLINE void invert_by_factor(const double* U, std::size_t k, double* lower, double* out) {
    for (std::size_t i = 0; i < k; ++i) {  // U'^-1, whose row i ends at i
        double* row = lower + i * k;
        const double inverse = 1.0 / U[i * k + i];
        for (std::size_t j = 0; j <= i; ++j) row[j] *= inverse;
        for (std::size_t r = i + 1; r < k; ++r) {
            const double factor = U[i * k + r];
            if (factor == 0.0) continue;
            double* target = lower + r * k;
            for (std::size_t j = 0; j <= i; ++j) target[j] -= factor * row[j];
        }
    }
    for (std::size_t r = 0; r < k; ++r) {
        const double* row = lower + r * k;
        for (std::size_t i = 0; i <= r; ++i) {
            const double factor = row[i];
            if (factor == 0.0) continue;
            double* target = out + i * k;
            for (std::size_t j = 0; j <= i; ++j) target[j] += factor * row[j];
        }
    }
    for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = i + 1; j < k; ++j) out[i * k + j] = out[j * k + i];
}

LMARVEL_WIDE inline void invert_by_factor_large(const double* U, std::size_t k, double* lower, double* out) {
    invert_by_factor(U, k, lower, out);
}

// The inverse of A = U'U from its factor; `lower` is room for that of the inverse.
inline void invert_factored(const double* U, std::size_t k, Vector& lower, Vector& out) {
    lower.assign(k * k, 0.0);
    for (std::size_t i = 0; i < k; ++i) lower[i * k + i] = 1.0;
    out.assign(k * k, 0.0);
    if (k < large) invert_by_factor(U, k, lower.data(), out.data());
    else invert_by_factor_large(U, k, lower.data(), out.data());
}

// A B for matrices of a x b and b x c entries, row by row.
inline Vector product(const Vector& A, const Vector& B, std::size_t a, std::size_t b, std::size_t c) {
    Vector out(a * c, 0.0);
    for (std::size_t i = 0; i < a; ++i)
        for (std::size_t j = 0; j < b; ++j) {
            const double factor = A[i * b + j];
            if (factor == 0.0) continue;
            for (std::size_t k = 0; k < c; ++k) out[i * c + k] += factor * B[j * c + k];
        }
    return out;
}

inline Vector transposed(const Vector& A, std::size_t rows, std::size_t columns) {
    Vector out(A.size());
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) out[j * rows + i] = A[i * columns + j];
    return out;
}

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

// A matrix has no inverse: the model at hand cannot be used.
struct Singular : std::exception {
    const char* what() const noexcept override { return "a matrix has no inverse, and the model no fit"; }
};

// A^-1 B for a symmetric matrix: by its root where it is positive definite, which rounding may hide.
inline Vector solved(const Vector& A, std::size_t k, Vector B, std::size_t c) {
    Vector work;
    if (!solve_symmetric(A, k, B, c, work)) throw Singular{};
    return B;
}

inline Vector inverted(const Vector& A, std::size_t k) {
    Vector one = identity(k);
    Vector root = A;
    if (!factorise(root.data(), k)) return solved(A, k, std::move(one), k);
    invert_large(root.data(), k, one.data());
    return one;
}

struct Eigen {
    double value;
    Vector vector;
};

// The largest eigenvalue of a symmetric k x k matrix and its vector of length 1.
inline Eigen largest_eigen(Vector A, std::size_t k) {
    for (double a : A)
        if (!std::isfinite(a * a)) throw Singular{};
    Vector rotated;
    eigen(A, k, rotated);
    std::size_t best = 0;
    for (std::size_t i = 1; i < k; ++i)
        if (A[i * k + i] > A[best * k + best]) best = i;
    const auto row = rotated.begin() + static_cast<std::ptrdiff_t>(best * k);
    return {A[best * k + best], Vector(row, row + static_cast<std::ptrdiff_t>(k))};
}

}  // namespace lmarvel
