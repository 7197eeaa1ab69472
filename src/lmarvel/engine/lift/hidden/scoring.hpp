// The fit of a Gaussian model with latent and selection nodes by damped Fisher scoring: the twin of BlockProblem.fit in
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

#include "base/curvature.hpp"
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

    // A maximum of the likelihood; x is changed. Steps are Fisher's while they gain much. Nearer to the maximum the expected
    // second derivatives are kept, because their factor takes longest, and what steps show of the true ones is added. In long
    // valleys, where the two differ most, that saves most steps.
    void fit(Vector& x, double tolerance, int max_steps) {
        double now = value(x.data()), damping = first_damping;
        if (!std::isfinite(now)) return;  // at the border, where a variance is next to nothing: no way on from here
        derive(x.data());
        Curvature curvature;
        Moved to{x, Vector(parameters_)};
        Vector step(parameters_);
        bool has_root = false, is_fresh = false;  // whether there is one; whether second derivatives are of this x
        for (int steps = 0; steps < max_steps;) {
            if (!has_root) {
                if (!is_fresh) inform(x.data());
                if (!factorise_damped(damping)) return;
                curvature.forget();
                has_root = is_fresh = true;
            }
            for (std::size_t a = 0; a < parameters_; ++a) step[a] = -gradient_[a];
            curvature.solve(step, [&](Vector& b) { solve_both(information_root_.data(), parameters_, b.data()); });
            const double expected = move(x, step, 1.0, to);
            double next = value(to.x.data()), share = 1.0;
            if (!(next < now) && expected < tolerance) return;
            for (int tries = 0; tries < most_cuts && !is_fresh && !(next < now); ++tries) {
                move(x, step, share *= shorter, to);
                next = value(to.x.data());
            }
            if (!(next < now)) {
                if (is_fresh) damping *= 8.0;
                has_root = false;
                continue;
            }
            const Vector before = gradient_;
            derive(to.x.data());
            go_on(x, step, before, to, next, share);
            learn(curvature, before, to, share);
            const double gained = now - next;
            now = next;
            x.swap(to.x);
            ++steps;
            is_fresh = false;
            if (gained < tolerance) return;
            if (gained > far) {
                has_root = false;
                damping = std::max(damping / 8.0, 1e-9);
            }
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
    static constexpr double first_damping = 1e-3, most_damping = 1e8;
    static constexpr double far = 1e-3;  // per row: after such a gain second derivatives are no longer what they were
    static constexpr double straight = 0.5, longest = 16.0;  // a slope that stays so much is followed; for so many steps
    static constexpr double shorter = 0.25;
    static constexpr int most_cuts = 2;  // of a step by second derivatives that were kept, before they are made anew

    struct Moved {
        Vector x, by;
    };

    // Take a share of a step, as far as variances may go; by how much the value should fall, if it were straight.
    double move(const Vector& x, const Vector& step, double share, Moved& to) const {
        double expected = 0.0;
        for (std::size_t a = 0; a < parameters_; ++a) {
            const std::size_t i = b_.moving[a];
            to.x[i] = x[i] + share * step[a];
            if (i >= edges_ && i < edges_ + b_.own)
                to.x[i] = std::min(std::max(to.x[i], least_log_variance), most_log_variance);
            to.by[a] = to.x[i] - x[i];
            expected -= gradient_[a] * to.by[a];
        }
        return expected;
    }

    // Where the slope along a step has hardly changed, go as far as it would take to level out, if that is better.
    void go_on(const Vector& x, const Vector& step, const Vector& before, Moved& to, double& next, double& share) {
        const double left = inner(gradient_, to.by) / inner(before, to.by);
        if (!(left > straight)) return;
        Moved beyond{x, Vector(parameters_)};
        const double more = share * (left < 1.0 ? std::min(1.0 / (1.0 - left), longest) : longest);
        move(x, step, more, beyond);
        const double there = value(beyond.x.data());
        if (!(there < next)) return;
        next = there, share = more;
        std::swap(to, beyond);
        derive(to.x.data());
    }

    void learn(Curvature& curvature, const Vector& before, const Moved& to, double share) const {
        Vector change(parameters_), foreseen(parameters_);
        for (std::size_t a = 0; a < parameters_; ++a) {
            change[a] = gradient_[a] - before[a];
            foreseen[a] = -share * before[a];
        }
        curvature.learn(to.by, std::move(change), foreseen);
    }

    // The root of the second derivatives, with as much damping as it needs.
    bool factorise_damped(double& damping) {
        const std::size_t P = parameters_;
        for (; damping < most_damping; damping *= 8.0) {
            information_root_ = information_;
            for (std::size_t i = 0; i < P; ++i)
                information_root_[i * P + i] += damping * std::max(information_[i * P + i], 1e-8);
            if (factorise_large(information_root_.data(), P)) return true;
        }
        return false;
    }

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

    // The gradient of the value, which was asked for last at the same x, and was finite.
    void derive(const double* x) {
        const std::size_t P = parameters_, D = 2 * b_.k + b_.selections;
        const double* loading = x + edges_ + b_.own;
        products_.resize(D * D);
        moments(products_.data(), D);
        gradient_.resize(P);
        first_.resize(P), second_.resize(P), factor_.resize(P);  // u, w and the multiple of each parameter
        for (std::size_t a = 0; a < P; ++a) {
            const std::size_t i = b_.moving[a];
            if (i < edges_) derive_edge(i, a);
            else if (i < edges_ + b_.own) derive_variance(i - edges_, a);
            else derive_loading(i - edges_ - b_.own, a, loading);
        }
    }

    // Its expected second derivatives, where the gradient was asked for last.
    void inform(const double* x) {
        const std::size_t P = parameters_, D = 2 * b_.k + b_.selections;
        take(x);
        products(x + edges_ + b_.own);
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

    std::vector<std::size_t> start_, at_, place_;    // rows of I - B: where each begins, columns; where each edge stands
    Vector value_, weight_;                          // their entries; inverse error variances
    std::vector<std::vector<std::size_t>> members_;  // loadings of each selection node
    const std::size_t parameters_;
    Vector products_, gradient_, information_, information_root_, factor_;
    std::vector<std::size_t> first_, second_;
};

}  // namespace lmarvel
