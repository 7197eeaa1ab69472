#include "glm/models.hpp"

#include <algorithm>
#include <cmath>

#include "glm/rows.hpp"

namespace lmarvel {

namespace {

// Add the products of all columns, weighted, to the lower triangle of a block of a matrix whose rows are `stride` long.
LMARVEL_INLINE void add_squares(const double* const* design, std::size_t q, std::size_t at, std::size_t rows,
                                const double* weight, double* block, std::size_t stride) {
    double scaled[ROW_BLOCK];
    for (std::size_t j = 0; j < q; ++j) {
        const double* const own = design[j] + (j == 0 ? 0 : at);  // the ones are one block
        for (std::size_t i = 0; i < rows; ++i) scaled[i] = weight[i] * own[i];
        double* const line = block + j * stride;
        line[0] += dot(scaled, design[0], rows);
        std::size_t l = 1;
        for (; l + 3 <= j; l += 4) {
            const double* const others[] = {design[l] + at, design[l + 1] + at, design[l + 2] + at, design[l + 3] + at};
            double found[4];
            dot_four(scaled, others, rows, found);
            for (std::size_t k = 0; k < 4; ++k) line[l + k] += found[k];
        }
        for (; l <= j; ++l) line[l] += dot(scaled, design[l] + at, rows);
    }
}

// The chances of the categories but 0 in a block of rows, each a line of ROW_BLOCK; `own` gets the linear predictor of the
// row's own category less the largest, `sums` what its exponential is divided by.
LMARVEL_INLINE void chances(const Softmax& s, std::size_t at, std::size_t rows, double* chance, double* own, double* sums) {
    double top[ROW_BLOCK];
    for (std::size_t i = 0; i < rows; ++i) top[i] = 0.0;
    for (std::size_t a = 0; a < s.m; ++a) {
        double* const eta = chance + a * ROW_BLOCK;
        const double* const c = s.coefficients + a * s.q;
        for (std::size_t i = 0; i < rows; ++i) eta[i] = c[0];
        for (std::size_t j = 1; j < s.q; ++j) add_scaled(eta, c[j], s.design[j] + at, rows);
        for (std::size_t i = 0; i < rows; ++i) top[i] = eta[i] > top[i] ? eta[i] : top[i];
    }
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint16_t code = s.codes[at + i];
        own[i] = (code == 0 ? 0.0 : chance[(code - 1u) * ROW_BLOCK + i]) - top[i];
    }
    for (std::size_t i = 0; i < rows; ++i) sums[i] = -top[i];
    exponentials(sums, rows);
    for (std::size_t a = 0; a < s.m; ++a) {
        double* const eta = chance + a * ROW_BLOCK;
        for (std::size_t i = 0; i < rows; ++i) eta[i] -= top[i];
        exponentials(eta, rows);
        for (std::size_t i = 0; i < rows; ++i) sums[i] += eta[i];
    }
    for (std::size_t a = 0; a < s.m; ++a) {
        double* const eta = chance + a * ROW_BLOCK;
        for (std::size_t i = 0; i < rows; ++i) eta[i] /= sums[i];
    }
}

// The sum of the logarithms of what chances were divided by, each from 1 to the number of categories: one logarithm serves
// eight rows.
LMARVEL_INLINE double log_likelihood(const Softmax& s, std::size_t at, std::size_t rows, const double* own, double* sums) {
    double total = 0.0;
    if (s.weights != nullptr) {
        for (std::size_t i = 0; i < rows; ++i) total += s.weights[at + i] * (own[i] - std::log(sums[i]));
        return total;
    }
    for (std::size_t i = 0; i < rows; ++i) total += own[i];
    for (std::size_t i = 0; i < rows; i += 8) {
        double product = 1.0;
        for (std::size_t k = i; k < std::min(i + 8, rows); ++k) product *= sums[k];
        total -= std::log(product);
    }
    return total;
}

// The means of a block of rows, and their logarithms: no count is e^50 times its spread.
LMARVEL_INLINE void expected(const LogLinear& s, std::size_t at, std::size_t rows, double* log_mean, double* mean) {
    for (std::size_t i = 0; i < rows; ++i) log_mean[i] = s.coefficients[0];
    for (std::size_t j = 1; j < s.q; ++j) add_scaled(log_mean, s.coefficients[j], s.design[j] + at, rows);
    for (std::size_t i = 0; i < rows; ++i) log_mean[i] = log_mean[i] < 50.0 ? log_mean[i] : 50.0;
    for (std::size_t i = 0; i < rows; ++i) mean[i] = log_mean[i];
    exponentials(mean, rows);
}

}  // namespace

LMARVEL_WIDE double derivatives(const Softmax& s, double* chance, double* gradient, double* hessian) {
    double total = 0.0;
    double own[ROW_BLOCK], sums[ROW_BLOCK], left[ROW_BLOCK];
    const std::size_t q = s.q, m = s.m, size = q * m;
    for (std::size_t at = 0; at < s.n; at += ROW_BLOCK) {
        const std::size_t rows = std::min(ROW_BLOCK, s.n - at);
        chances(s, at, rows, chance, own, sums);
        total += log_likelihood(s, at, rows, own, sums);
        for (std::size_t a = 0; a < m; ++a) {
            const double* const of_a = chance + a * ROW_BLOCK;
            for (std::size_t i = 0; i < rows; ++i) left[i] = (s.codes[at + i] == a + 1 ? 1.0 : 0.0) - of_a[i];
            if (s.weights != nullptr)
                for (std::size_t i = 0; i < rows; ++i) left[i] *= s.weights[at + i];
            for (std::size_t j = 0; j < q; ++j) gradient[a * q + j] += dot(left, s.design[j] + (j == 0 ? 0 : at), rows);
            for (std::size_t b = 0; b <= a && hessian != nullptr; ++b) {
                const double* const of_b = chance + b * ROW_BLOCK;
                for (std::size_t i = 0; i < rows; ++i) left[i] = of_a[i] * ((a == b ? 1.0 : 0.0) - of_b[i]);
                if (s.weights != nullptr)
                    for (std::size_t i = 0; i < rows; ++i) left[i] *= s.weights[at + i];
                add_squares(s.design, q, at, rows, left, hessian + a * q * size + b * q, size);
            }
        }
    }
    return total;
}

LMARVEL_WIDE void residuals_of(const Softmax& s, double* chance, double* out) {
    double own[ROW_BLOCK], sums[ROW_BLOCK];
    for (std::size_t at = 0; at < s.n; at += ROW_BLOCK) {
        const std::size_t rows = std::min(ROW_BLOCK, s.n - at);
        chances(s, at, rows, chance, own, sums);
        for (std::size_t a = 0; a < s.m; ++a) {
            for (std::size_t i = 0; i < rows; ++i) {
                out[a * s.n + at + i] = (s.codes[at + i] == a + 1 ? 1.0 : 0.0) - chance[a * ROW_BLOCK + i];
            }
        }
    }
}

LMARVEL_WIDE double log_linear(const LogLinear& s, double* gradient, double* hessian) {
    double total = 0.0;
    double log_mean[ROW_BLOCK], mean[ROW_BLOCK], left[ROW_BLOCK];
    for (std::size_t at = 0; at < s.n; at += ROW_BLOCK) {
        const std::size_t rows = std::min(ROW_BLOCK, s.n - at);
        expected(s, at, rows, log_mean, mean);
        for (std::size_t i = 0; i < rows; ++i) {
            const double weight = s.weights == nullptr ? 1.0 : s.weights[at + i], value = s.values[at + i] + s.shift;
            total += weight * (value * log_mean[i] - mean[i]);
            left[i] = weight * (value - mean[i]);
            mean[i] *= weight;
        }
        for (std::size_t j = 0; j < s.q; ++j) gradient[j] += dot(left, s.design[j] + (j == 0 ? 0 : at), rows);
        if (hessian != nullptr) add_squares(s.design, s.q, at, rows, mean, hessian, s.q);
    }
    return total;
}

LMARVEL_WIDE void log_linear_residuals(const LogLinear& s, double* out) {
    double log_mean[ROW_BLOCK], mean[ROW_BLOCK];
    for (std::size_t at = 0; at < s.n; at += ROW_BLOCK) {
        const std::size_t rows = std::min(ROW_BLOCK, s.n - at);
        expected(s, at, rows, log_mean, mean);
        for (std::size_t i = 0; i < rows; ++i) out[at + i] = s.values[at + i] + s.shift - mean[i];
    }
}

}  // namespace lmarvel
