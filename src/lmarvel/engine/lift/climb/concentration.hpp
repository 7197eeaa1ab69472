// Covariance selection by Newton's method, and which edges are worth their price: the twins of
// lmarvel.score.concentration.newton_selection and of thin in tests/reference/lift/stages.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/dense.hpp"

namespace lmarvel {

class Concentration {
public:
    // R is k x k; `joined` tells for each pair, both ways, whether it is joined. `work` is room for the second
    // derivatives, large, and kept from one fit to the next.
    Concentration(Vector R, std::vector<char> joined, std::size_t k, Vector& work)
        : joined(std::move(joined)), k_(k), R_(std::move(R)), hessian_(work) {}

    std::vector<char> joined;
    Vector K;
    bool converged = false;  // whether the last fit came to its end

    // Fit the graph from K, where that is an inverse covariance after what is not joined is set to zero, or from the
    // unit matrix. False where the fit breaks down.
    bool fit(double tolerance, int max_steps = 100) {
        begin();
        index();
        const std::size_t q = first_.size();
        converged = false;
        for (int step = 0; step < max_steps; ++step) {
            if (!invert()) return false;
            gradient_.resize(q);
            for (std::size_t r = 0; r < q; ++r)
                gradient_[r] = weight(r) * (R_[first_[r] * k_ + second_[r]] - W_[first_[r] * k_ + second_[r]]);
            converged = bound() < tolerance;
            if (converged) break;
            Vector change = gradient_;
            if (!newton_step(change)) return false;
            double product = 0.0;
            for (std::size_t r = 0; r < q; ++r) product += gradient_[r] * change[r];
            const double decrement = std::sqrt(std::max(product, 0.0));
            converged = decrement * decrement < tolerance;
            if (converged) break;
            const double shorter = decrement < 0.25 ? 1.0 : 1.0 + decrement;
            for (std::size_t r = 0; r < q; ++r) {
                const std::size_t i = first_[r], j = second_[r];
                K[i * k_ + j] -= change[r] / shorter;
                K[j * k_ + i] = K[i * k_ + j];
            }
        }
        return true;
    }

    // Minus two log-likelihood per row, without k log 2 pi; infinity where K is no inverse covariance.
    double value() const {
        Vector root = K;
        if (!factorise(root.data(), k_)) return std::numeric_limits<double>::infinity();
        double trace = 0.0, logs = 0.0;
        for (std::size_t i = 0; i < k_ * k_; ++i) trace += K[i] * R_[i];
        for (std::size_t i = 0; i < k_; ++i) logs += std::log(root[i * k_ + i]);
        return trace - 2 * logs;
    }

private:
    void begin() {
        const bool given = K.size() == k_ * k_;
        K.resize(k_ * k_);
        if (given) {
            for (std::size_t i = 0; i < k_; ++i)
                for (std::size_t j = 0; j < k_; ++j)
                    if (i != j && !joined[i * k_ + j]) K[i * k_ + j] = 0.0;
            Vector root = K;
            if (factorise(root.data(), k_)) return;
        }
        std::fill(K.begin(), K.end(), 0.0);
        for (std::size_t i = 0; i < k_; ++i) K[i * k_ + i] = 1.0;
    }

    // The free entries of K: the diagonal, then the edges.
    void index() {
        first_.clear();
        second_.clear();
        const std::uint32_t k = std::uint32_t(k_);
        for (std::uint32_t i = 0; i < k; ++i) first_.push_back(i), second_.push_back(i);
        for (std::uint32_t i = 0; i < k; ++i)
            for (std::uint32_t j = i + 1; j < k; ++j)
                if (joined[i * k_ + j]) first_.push_back(i), second_.push_back(j);
    }

    double weight(std::size_t r) const { return r < k_ ? 1.0 : 2.0; }  // what is off the diagonal stands in K twice

    bool invert() {
        Vector root = K;
        if (factorise(root.data(), k_)) {
            W_ = inverse_of(root.data(), k_);
            return true;
        }
        root = K;
        W_.assign(k_ * k_, 0.0);
        for (std::size_t i = 0; i < k_; ++i) W_[i * k_ + i] = 1.0;
        return solve_general(root.data(), k_, W_.data(), k_);
    }

    // The square of Newton's decrement if all pairs were joined, tr(DKDK) with D the gradient as a matrix. With fewer
    // pairs it is less: a maximum over a subspace.
    double bound() {
        Vector DK(k_ * k_, 0.0);
        for (std::size_t r = 0; r < first_.size(); ++r) {
            const std::size_t i = first_[r], j = second_[r];
            const double entry = gradient_[r] / weight(r);
            for (std::size_t c = 0; c < k_; ++c) DK[i * k_ + c] += entry * K[j * k_ + c];
            if (i == j) continue;
            for (std::size_t c = 0; c < k_; ++c) DK[j * k_ + c] += entry * K[i * k_ + c];
        }
        double trace = 0.0;
        for (std::size_t i = 0; i < k_; ++i)
            for (std::size_t j = 0; j < k_; ++j) trace += DK[i * k_ + j] * DK[j * k_ + i];
        return trace * (1 + 1e-9);
    }

    // From the gradient to the step; false where the second derivatives are singular.
    bool newton_step(Vector& change) {
        const std::size_t q = first_.size();
        fill_hessian();
        if (factorise(hessian_.data(), q)) {
            solve_lower(hessian_.data(), q, change.data(), 1);
            solve_upper(hessian_.data(), q, change.data(), 1);
            return true;
        }
        fill_hessian();
        for (std::size_t r = 0; r < q; ++r)
            for (std::size_t s = 0; s < r; ++s) hessian_[r * q + s] = hessian_[s * q + r];
        return solve_general(hessian_.data(), q, change.data(), 1);
    }

    // The upper triangle.
    void fill_hessian() {
        const std::size_t q = first_.size();
        if (hessian_.size() < q * q) hessian_.resize(q * q);
        for (std::size_t r = 0; r < q; ++r) {
            const double* on_first = W_.data() + first_[r] * k_;
            const double* on_second = W_.data() + second_[r] * k_;
            const double scale = 0.5 * weight(r);
            double* row = hessian_.data() + r * q;
            for (std::size_t s = r; s < q; ++s) {
                const std::size_t i = first_[s], j = second_[s];
                row[s] = (on_first[i] * on_second[j] + on_first[j] * on_second[i]) * (scale * weight(s));
            }
        }
    }

    std::size_t k_;
    Vector R_, W_, gradient_;
    Vector& hessian_;
    std::vector<std::uint32_t> first_, second_;
};

// Take edges off an undirected graph while the score falls; return which are left. Others go along with the weakest if
// they are next to nothing, in prices.
inline std::vector<char> thin(
    const Vector& R, std::vector<char> joined, std::size_t k, double n, double price, double next_to_nothing,
    Vector& work) {
    Concentration fitted(R, std::move(joined), k, work);
    Vector root = R;
    if (factorise(root.data(), k)) fitted.K = inverse_of(root.data(), k);
    std::vector<std::pair<double, std::size_t>> ratio;
    std::vector<char> used(k);
    for (;;) {
        if (!fitted.fit(1e-8)) return fitted.joined;
        const Vector& K = fitted.K;
        ratio.clear();
        for (std::size_t x = 0; x < k; ++x)
            for (std::size_t y = x + 1; y < k; ++y) {
                if (!fitted.joined[x * k + y]) continue;
                const double partial = K[x * k + y] / (std::sqrt(K[x * k + x]) * std::sqrt(K[y * k + y]));
                ratio.emplace_back(-n * std::log(std::max(1 - partial * partial, 1e-12)), x * k + y);
            }
        std::stable_sort(ratio.begin(), ratio.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        if (ratio.size() > k) ratio.resize(k);
        std::fill(used.begin(), used.end(), 0);
        bool any = false;
        for (const auto& [worth, place] : ratio) {
            if (!(worth < (any ? price * next_to_nothing : price))) break;
            const std::size_t x = place / k, y = place % k;
            if (used[x] || used[y]) continue;
            fitted.joined[x * k + y] = fitted.joined[y * k + x] = 0;
            used[x] = used[y] = 1;
            any = true;
        }
        if (!any) return fitted.joined;
    }
}

}  // namespace lmarvel
