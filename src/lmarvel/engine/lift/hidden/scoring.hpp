// Damped Fisher scoring of a Gaussian model with latent and selection nodes: the twin of BlockProblem.fit in
// tests/reference/lift/hidden_block.py, where the formulas are derived.
//
// Each parameter changes the inverse covariance by a multiple of u w' + w u', where u and w are among few vectors: unit
// vectors, rows of I - B, and loadings of a selection node. So the expected second derivatives are read off the products
// of these in G.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "base/dense.hpp"
#include "base/linear.hpp"

namespace lmarvel {

struct Block {
    std::size_t k;          // nodes: own, outside, latent
    std::size_t seen;       // own and outside
    std::size_t own;
    std::size_t selections;
    std::vector<std::size_t> heads, tails;       // an edge each
    std::vector<std::size_t> loaded, loads_on;   // a loading each
    std::vector<std::size_t> moving;             // the parameters that a fit changes, ascending; the others stay
    Vector S;               // covariance of what is seen
    Vector beside;          // inverse covariance of what is outside
    double without;         // minus two log-likelihood per row of what is outside
};

// The rows of I - B and the loadings of a block while its parameters move; what these do to the likelihood, others say.
class Scoring {
public:
    explicit Scoring(const Block& block)
        : b_(block), edges_(block.heads.size()), start_(block.k + 1, 0), weight_(block.k, 1.0), members_(block.selections),
          parameters_(block.moving.size()) {
        for (std::size_t head : b_.heads) ++start_[head + 1];
        for (std::size_t i = 0; i < b_.k; ++i) start_[i + 1] += start_[i] + 1;  // and the node itself
        std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
        at_.resize(start_.back());
        value_.assign(start_.back(), 1.0);
        for (std::size_t i = 0; i < b_.k; ++i) at_[next[i]++] = i;
        for (std::size_t e = 0; e < edges_; ++e) {
            at_[next[b_.heads[e]]] = b_.tails[e];
            place_.push_back(next[b_.heads[e]]++);
        }
        for (std::size_t l = 0; l < b_.loaded.size(); ++l) members_[b_.loads_on[l]].push_back(l);
    }

    virtual ~Scoring() = default;

    // Minus two log-likelihood per row, but for a constant; infinite where there is none.
    virtual double value(const double* x) = 0;

    // A maximum of the likelihood by damped Fisher scoring; x is changed.
    void fit(Vector& x, double tolerance, int max_steps) {
        double now = value(x.data()), damping = 1e-3;
        Vector trial(x), step(parameters_);
        for (int steps = 0; steps < max_steps; ++steps) {
            if (!std::isfinite(now)) return;  // at the border, where a variance is next to nothing: no way on from here
            derive(x.data());
            double gained = 0.0;
            bool improved = false;
            while (damping < 1e8) {
                if (!solve(damping, step)) {
                    damping *= 8.0;
                    continue;
                }
                for (std::size_t a = 0; a < parameters_; ++a) {
                    const std::size_t i = b_.moving[a];
                    trial[i] = x[i] + step[a];
                    if (i >= edges_ && i < edges_ + b_.own)
                        trial[i] = std::min(std::max(trial[i], least_log_variance), most_log_variance);
                }
                const double next = value(trial.data());
                if (next < now) {
                    gained = now - next, now = next, improved = true;
                    break;
                }
                double expected = 0.0;
                for (std::size_t i = 0; i < parameters_; ++i) expected -= gradient_[i] * step[i];
                if (expected < tolerance) return;
                damping *= 8.0;
            }
            if (!improved) return;
            x.swap(trial);
            damping = std::max(damping / 8.0, 1e-9);
            if (gained < tolerance) return;
        }
    }

protected:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    // The covariance G of the nodes, latent ones as far as they are known from what is seen, into the first k rows and columns
    // of a matrix with rows of length `stride`; into Q, what the model's covariance has more than the data's, completed.
    // Of the x whose value was asked for last, and was finite.
    virtual void moments(double* G, std::size_t stride) = 0;

    void take(const double* x) {
        for (std::size_t e = 0; e < edges_; ++e) value_[place_[e]] = -x[e];
        for (std::size_t i = 0; i < b_.own; ++i) weight_[i] = std::exp(-x[edges_ + i]);
    }

    // Add what row i of I - B gives to the inverse covariance.
    void add_row(std::size_t i, Vector& K) const {
        for (std::size_t u = start_[i]; u < start_[i + 1]; ++u) {
            const double left = weight_[i] * value_[u];
            double* row = K.data() + at_[u] * b_.k;
            for (std::size_t v = start_[i]; v < start_[i + 1]; ++v) row[at_[v]] += left * value_[v];
        }
    }

    void add_loadings(const double* x, Vector& K) const {
        const double* loading = x + edges_ + b_.own;
        for (const auto& of : members_)
            for (std::size_t i : of)
                for (std::size_t j : of) K[b_.loaded[i] * b_.k + b_.loaded[j]] += loading[i] * loading[j];
    }

    const Block& b_;
    const std::size_t edges_;
    Vector Q_;

private:
    static constexpr double least_log_variance = -13.815510557964274;  // log 1e-6
    static constexpr double most_log_variance = 20.0;

    // The product of row i of I - B with a vector.
    double times_row(std::size_t i, const double* vector) const {
        double sum = 0.0;
        for (std::size_t u = start_[i]; u < start_[i + 1]; ++u) sum += value_[u] * vector[at_[u]];
        return sum;
    }

    // All products in G: of unit vectors, rows of I - B, and loadings, in this order.
    void products(const double* loading) {
        const std::size_t k = b_.k, q = b_.selections, D = 2 * k + q;
        double* G = products_.data();
        for (std::size_t i = 0; i < k; ++i) {
            double* row = G + (k + i) * D;
            std::fill_n(row, k, 0.0);
            for (std::size_t u = start_[i]; u < start_[i + 1]; ++u)
                for (std::size_t j = 0; j < k; ++j) row[j] += value_[u] * G[at_[u] * D + j];
        }
        for (std::size_t s = 0; s < q; ++s) {
            double* row = G + (2 * k + s) * D;
            std::fill_n(row, k, 0.0);
            for (std::size_t l : members_[s])
                for (std::size_t j = 0; j < k; ++j) row[j] += loading[l] * G[b_.loaded[l] * D + j];
        }
        for (std::size_t i = k; i < D; ++i) {
            double* row = G + i * D;
            for (std::size_t j = 0; j < k; ++j) row[k + j] = times_row(j, row);
            for (std::size_t s = 0; s < q; ++s) {
                double sum = 0.0;
                for (std::size_t l : members_[s]) sum += loading[l] * row[b_.loaded[l]];
                row[2 * k + s] = sum;
            }
        }
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = k; j < D; ++j) G[i * D + j] = G[j * D + i];
    }

    // Gradient and expected second derivatives of the value, which was asked for last at the same x, and was finite.
    void derive(const double* x) {
        const std::size_t P = parameters_, D = 2 * b_.k + b_.selections;
        const double* loading = x + edges_ + b_.own;
        products_.resize(D * D);
        moments(products_.data(), D);
        products(loading);
        gradient_.resize(P);
        first_.resize(P), second_.resize(P), factor_.resize(P);  // u, w and the multiple of each parameter
        for (std::size_t a = 0; a < P; ++a) {
            const std::size_t i = b_.moving[a];
            if (i < edges_) derive_edge(i, a);
            else if (i < edges_ + b_.own) derive_variance(i - edges_, a);
            else derive_loading(i - edges_ - b_.own, a, loading);
        }
        information_.resize(P * P);
        for (std::size_t a = 0; a < P; ++a) {
            const double *u = products_.data() + first_[a] * D, *w = products_.data() + second_[a] * D;
            double* row = information_.data() + a * P;
            const double twice = 2 * factor_[a];
            for (std::size_t c = a; c < P; ++c)
                row[c] = twice * factor_[c] * (u[first_[c]] * w[second_[c]] + u[second_[c]] * w[first_[c]]);
        }
    }

    void derive_edge(std::size_t e, std::size_t a) {
        const std::size_t k = b_.k, head = b_.heads[e], tail = b_.tails[e];
        first_[a] = tail, second_[a] = k + head, factor_[a] = -weight_[head];
        gradient_[a] = -2 * factor_[a] * times_row(head, Q_.data() + tail * k);
    }

    void derive_variance(std::size_t i, std::size_t a) {
        const std::size_t k = b_.k;
        first_[a] = second_[a] = k + i, factor_[a] = -0.5 * weight_[i];
        double sum = 0.0;
        for (std::size_t u = start_[i]; u < start_[i + 1]; ++u) sum += value_[u] * times_row(i, Q_.data() + at_[u] * k);
        gradient_[a] = -2 * factor_[a] * sum;
    }

    void derive_loading(std::size_t l, std::size_t a, const double* loading) {
        const std::size_t k = b_.k, s = b_.loads_on[l];
        first_[a] = b_.loaded[l], second_[a] = 2 * k + s, factor_[a] = 1.0;
        double sum = 0.0;
        for (std::size_t j : members_[s]) sum += loading[j] * Q_[b_.loaded[l] * k + b_.loaded[j]];
        gradient_[a] = -2 * sum;
    }

    bool solve(double damping, Vector& step) {
        const std::size_t P = parameters_;
        root_ = information_;
        for (std::size_t i = 0; i < P; ++i) root_[i * P + i] += damping * std::max(information_[i * P + i], 1e-8);
        if (!factorise_large(root_.data(), P)) return false;
        for (std::size_t i = 0; i < P; ++i) step[i] = -gradient_[i];
        solve_both(root_.data(), P, step.data());
        return true;
    }

    std::vector<std::size_t> start_, at_, place_;    // rows of I - B: where each begins, columns; where each edge stands
    Vector value_, weight_;                          // their entries; inverse error variances
    std::vector<std::vector<std::size_t>> members_;  // loadings of each selection node
    const std::size_t parameters_;
    Vector root_, products_, gradient_, information_, factor_;
    std::vector<std::size_t> first_, second_;
};

}  // namespace lmarvel
