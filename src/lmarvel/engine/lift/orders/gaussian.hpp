// Local scores of single columns of numbers, from their covariances: what the order search asks of a Gaussian table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/linear.hpp"
#include "lift/constants.hpp"
#include "lift/orders/orders.hpp"
#include "lift/orders/residuals.hpp"

namespace lmarvel {

class GaussianLocal {
public:
    GaussianLocal(const double* covariance, int m, double n, double price)
        : m_(m), n_(n), price_(price), pays_(-std::expm1(-(price + 1e-9) / n)), residuals_(covariance, std::size_t(m)),
          S_(residuals_.covariance()) {}

    int size() const { return m_; }
    double price() const { return price_; }

    double extended(int v, const std::vector<int>& path, const SearchLimits* known, Paying& paying) {
        const std::size_t m = std::size_t(m_);
        if (!residuals_.reach(v, path)) return std::numeric_limits<double>::infinity();
        const double variance = residuals_.shared()[v];
        if (variance < least_variance) return std::numeric_limits<double>::infinity();
        gain_.resize(m);
        worth(gain_.data(), residuals_.shared(), residuals_.left(), m);
        gain_[std::size_t(v)] = 0.0;
        for (int u : path) gain_[std::size_t(u)] = 0.0;
        const double least = pays_ * variance;
        for (std::size_t u = 0; u < m; ++u)
            if (gain_[u] > least && !(known != nullptr && known->excludes(u, std::size_t(v))))
                paying.emplace_back(gain_[u], std::int16_t(u));
        return value(variance);
    }

    double value_of(int v, const std::vector<int>& parents) {
        const std::size_t k = parents.size();
        double variance = S_[std::size_t(v) * m_ + v];
        if (k) {
            if (!factor(parents)) return value(0.0);
            share(v, parents);
            for (double b : beside_) variance -= b * b;
        }
        return value(variance);
    }

    int removal(int v, const std::vector<int>& parents) {
        const std::size_t k = parents.size();
        if (!factor(parents)) return -1;
        share(v, parents);
        double variance = S_[std::size_t(v) * m_ + v];
        for (double b : beside_) variance -= b * b;
        variance = std::max(variance, 1e-300);
        solve_upper(root_.data(), k, beside_.data(), 1);  // now the slopes
        rows_.assign(k * k, 0.0);
        for (std::size_t i = 0; i < k; ++i) rows_[i * k + i] = 1.0;
        solve_lower(root_.data(), k, rows_.data(), k);
        left_.assign(k, 0.0);  // the diagonal of the inverse
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j <= i; ++j) left_[j] += rows_[i * k + j] * rows_[i * k + j];
        std::size_t worst = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < k; ++i) {
            // Without u the variance left grows by slope_u^2 / (inverse)_uu.
            const double lost = beside_[i] * beside_[i] / (left_[i] * variance);
            if (lost < least) least = lost, worst = i;
        }
        return n_ * std::log1p(least) < price_ - 1e-9 ? parents[worst] : -1;
    }

private:
    double value(double variance) const {
        constexpr double log_2pi = 1.8378770664093453;
        if (variance < least_variance) return std::numeric_limits<double>::infinity();
        return n_ * (std::log(variance) + 1.0 + log_2pi);
    }

    // Factorise the covariance of some variables; false where it is singular.
    bool factor(const std::vector<int>& near) {
        const std::size_t k = near.size();
        root_.resize(k * k);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j < k; ++j) root_[i * k + j] = S_[std::size_t(near[i]) * m_ + near[j]];
        return factorise(root_.data(), k);
    }

    // What v has in common with uncorrelated combinations of them.
    void share(int v, const std::vector<int>& near) {
        const std::size_t k = near.size();
        beside_.resize(k);
        for (std::size_t i = 0; i < k; ++i) beside_[i] = S_[std::size_t(near[i]) * m_ + v];
        solve_lower(root_.data(), k, beside_.data(), 1);
    }

    static constexpr double least_variance = 1e-10;  // a variable with less than this left is determined by the others

    int m_;
    double n_, price_, pays_;
    Residuals residuals_;
    const Vector& S_;
    Vector root_, rows_, beside_, left_, gain_;
};

// How many of the others a variable is tied to more closely than `least`, a squared partial correlation.
LMARVEL_WIDE inline int ties(const double* LMARVEL_RESTRICT row, const double* LMARVEL_RESTRICT diagonal, double least,
                             std::size_t k) {
    int found = 0;
    for (std::size_t j = 0; j < k; ++j) found += row[j] * row[j] > least * diagonal[j];
    return found;
}

// Take off, as last, the variable with the smallest Markov boundary; of equals the best predicted one. The precision of
// those that are left, k x k, stands in front of K, whose rows stay where they are: of width m.
inline std::vector<int> smallest_boundary_last(Vector K, std::size_t m, double n, double price, double alike) {
    const double least = -std::expm1(-price / n);
    std::vector<int> left(m), order;
    for (std::size_t v = 0; v < m; ++v) left[v] = int(v);
    Vector diagonal(m), on(m);
    for (std::size_t k = m; k; --k) {
        for (std::size_t i = 0; i < k; ++i) diagonal[i] = K[i * m + i];
        std::size_t last = 0;
        int smallest = 0;
        for (std::size_t i = 0; i < k; ++i) {
            const int size = ties(K.data() + i * m, diagonal.data(), least * diagonal[i], k);
            const bool better = diagonal[i] > diagonal[last] * (1 + alike);
            if (!i || size < smallest || (size == smallest && better)) last = i, smallest = size;
        }
        order.push_back(left[last]);
        left.erase(left.begin() + std::ptrdiff_t(last));
        std::copy_n(K.begin() + std::ptrdiff_t(last * m), k, on.begin());
        for (std::size_t i = 0; i < k; ++i) {
            if (i == last) continue;
            double* row = K.data() + i * m;
            const double by = row[last] / on[last];
            less_multiples(row, on.data(), &by, 1, k);
            std::copy(row + last + 1, row + k, row + last);
            if (i > last) std::copy_n(row, k - 1, row - m);
        }
    }
    std::reverse(order.begin(), order.end());
    return order;
}

// Where the search begins on a Gaussian table of this precision, beside the order that `forward` finds, which is second.
inline std::vector<std::vector<int>> gaussian_starts(const Vector& precision, std::size_t m, double n, double price,
                                                     double alike, std::vector<int> forward) {
    const auto reversed = [](std::vector<int> order) {
        std::reverse(order.begin(), order.end());
        return order;
    };
    const std::vector<int> last = smallest_boundary_last(precision, m, n, price, alike);
    std::vector<int> up(m);
    for (std::size_t v = 0; v < m; ++v) up[v] = int(v);
    std::stable_sort(up.begin(), up.end(), [&](int a, int b) {
        return precision[std::size_t(a) * (m + 1)] < precision[std::size_t(b) * (m + 1)];
    });
    return {last, std::move(forward), up, reversed(up), reversed(last)};
}

}  // namespace lmarvel
