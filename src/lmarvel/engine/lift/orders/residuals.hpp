// What a variable has in common with each of the others once parents are taken in, one after the other.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "base/linear.hpp"
#include "base/wide.hpp"

namespace lmarvel {

// row -= sum of by[i] times row i of `rows`, in this order.
LMARVEL_WIDE inline void less_multiples(double* LMARVEL_RESTRICT row, const double* LMARVEL_RESTRICT rows,
                                        const double* LMARVEL_RESTRICT by, std::size_t k, std::size_t m) {
    std::size_t i = 0;
    for (; i + 4 <= k; i += 4) {
        const double *a = rows + i * m, *b = a + m, *c = b + m, *d = c + m;
        const double on_a = by[i], on_b = by[i + 1], on_c = by[i + 2], on_d = by[i + 3];
        for (std::size_t u = 0; u < m; ++u)
            row[u] = (((row[u] - on_a * a[u]) - on_b * b[u]) - on_c * c[u]) - on_d * d[u];
    }
    for (; i < k; ++i) {
        const double* a = rows + i * m;
        const double on_a = by[i];
        for (std::size_t u = 0; u < m; ++u) row[u] -= on_a * a[u];
    }
}

// Scale a row to variance one, and take it off what is shared with v and off the variances that are left.
LMARVEL_WIDE inline void take_off(double* LMARVEL_RESTRICT row, double scale, std::size_t v, std::size_t m,
                                  const double* LMARVEL_RESTRICT shared, const double* LMARVEL_RESTRICT left,
                                  double* LMARVEL_RESTRICT shared_next, double* LMARVEL_RESTRICT left_next) {
    for (std::size_t u = 0; u < m; ++u) row[u] *= scale;
    const double on_v = row[v];
    for (std::size_t u = 0; u < m; ++u) {
        shared_next[u] = shared[u] - on_v * row[u];
        left_next[u] = left[u] - row[u] * row[u];
    }
}

// What each variable would take off the variance of another with which it shares so much.
LMARVEL_WIDE inline void worth(double* LMARVEL_RESTRICT gain, const double* LMARVEL_RESTRICT shared,
                               const double* LMARVEL_RESTRICT left, std::size_t m) {
    for (std::size_t u = 0; u < m; ++u) gain[u] = shared[u] * (shared[u] / (left[u] < 1e-12 ? 1e-12 : left[u]));
}

// Covariances with v, and variances, of all variables given a path of parents. The part of a path that it has in common
// with the path before is not computed again.
class Residuals {
public:
    Residuals(const double* covariance, std::size_t m) : m_(m), S_(covariance, covariance + m * m), shared_(m), left_(m) {
        for (std::size_t u = 0; u < m; ++u) left_[u] = S_[u * (m + 1)];
    }

    const Vector& covariance() const { return S_; }
    const double* shared() const { return shared_.data() + path_.size() * m_; }
    const double* left() const { return left_.data() + path_.size() * m_; }

    // False where the parents are linearly dependent.
    bool reach(int v, const std::vector<int>& path) {
        std::size_t same = 0;
        if (v == v_) {
            while (same < path_.size() && same < path.size() && path_[same] == path[same]) ++same;
        } else {
            std::copy_n(S_.begin() + std::ptrdiff_t(std::size_t(v) * m_), m_, shared_.begin());
            v_ = v;
        }
        path_.resize(same);
        for (std::size_t i = same; i < path.size(); ++i)
            if (!extend(std::size_t(path[i]))) return false;
        return true;
    }

private:
    bool extend(std::size_t u) {
        const std::size_t k = path_.size(), m = m_;
        const double variance = left_[k * m + u];
        if (!(variance > 0.0)) return false;
        if (rows_.size() < (k + 1) * m) rows_.resize((k + 1) * m), shared_.resize((k + 2) * m), left_.resize((k + 2) * m);
        double* row = rows_.data() + k * m;
        std::copy_n(S_.begin() + std::ptrdiff_t(u * m), m, row);
        on_.resize(k);
        for (std::size_t i = 0; i < k; ++i) on_[i] = rows_[i * m + u];
        less_multiples(row, rows_.data(), on_.data(), k, m);
        take_off(row, 1.0 / std::sqrt(variance), std::size_t(v_), m, shared_.data() + k * m, left_.data() + k * m,
                 shared_.data() + (k + 1) * m, left_.data() + (k + 1) * m);
        path_.push_back(int(u));
        return true;
    }

    std::size_t m_;
    Vector S_;
    int v_ = -1;
    std::vector<int> path_;
    Vector rows_, shared_, left_, on_;  // a row a step; the latter two begin with what is before the first
};

}  // namespace lmarvel
