// The likelihood of a block with latent and selection nodes, and its fit: the twin of
// BlockProblem in tests/reference/lift/hidden_block.py, where the formulas are derived.
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

class BlockFit {
public:
    explicit BlockFit(const Block& block)
        : b_(block), edges_(block.heads.size()), parameters_(block.moving.size()),
          start_(block.k + 1, 0), weight_(block.k, 1.0), members_(block.selections) {
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

    // Minus two log-likelihood per row given the outside parents, without log 2 pi.
    double value(const double* x) {
        if (!observe(x) || !free_outside()) return infinity;
        const std::size_t d = b_.seen;
        double result = 0.0;
        for (std::size_t i = 0; i < d * d; ++i) result += inverse_[i] * b_.S[i];
        if (!factorise(inverse_.data(), d)) return infinity;
        double logs = 0.0;
        for (std::size_t i = 0; i < d; ++i) logs += std::log(inverse_[i * d + i]);
        return result - 2 * logs - b_.without;
    }

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

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr double least_log_variance = -13.815510557964274;  // log 1e-6
    static constexpr double most_log_variance = 20.0;

    // The inverse covariance of what is seen, and the lower part of T; false where latent nodes have none.
    bool observe(const double* x) {
        const std::size_t k = b_.k, d = b_.seen, latent = k - d;
        for (std::size_t e = 0; e < edges_; ++e) value_[place_[e]] = -x[e];
        for (std::size_t i = 0; i < b_.own; ++i) weight_[i] = std::exp(-x[edges_ + i]);
        K_.assign(k * k, 0.0);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t u = start_[i]; u < start_[i + 1]; ++u) {
                const double left = weight_[i] * value_[u];
                double* row = K_.data() + at_[u] * k;
                for (std::size_t v = start_[i]; v < start_[i + 1]; ++v) row[at_[v]] += left * value_[v];
            }
        const double* loading = x + edges_ + b_.own;
        for (const auto& of : members_)
            for (std::size_t i : of)
                for (std::size_t j : of) K_[b_.loaded[i] * k + b_.loaded[j]] += loading[i] * loading[j];
        inverse_.resize(d * d);
        for (std::size_t i = 0; i < d; ++i) std::copy_n(K_.begin() + i * k, d, inverse_.begin() + i * d);
        T_.assign(latent * d, 0.0);
        if (!latent) return true;
        root_.resize(latent * latent);
        for (std::size_t i = 0; i < latent; ++i) {
            std::copy_n(K_.begin() + (d + i) * k + d, latent, root_.begin() + i * latent);
            std::copy_n(K_.begin() + (d + i) * k, d, T_.begin() + i * d);
        }
        if (!factorise(root_.data(), latent)) return false;
        solve_lower(root_.data(), latent, T_.data(), d);
        solve_upper(root_.data(), latent, T_.data(), d);
        for (double& t : T_) t = -t;
        for (std::size_t i = 0; i < d; ++i)
            for (std::size_t l = 0; l < latent; ++l) {
                const double factor = K_[i * k + d + l];
                if (factor == 0.0) continue;
                for (std::size_t j = 0; j < d; ++j) inverse_[i * d + j] += factor * T_[l * d + j];
            }
        return true;
    }

    // Give what is outside the covariance that it has, whatever it hangs on: K_EE := S_EE^-1 + K_EC K_CC^-1 K_CE.
    bool free_outside() {
        const std::size_t d = b_.seen, own = b_.own, e = d - own;
        if (!e) return true;
        root_.resize(own * own), Q_.resize(own * e);
        for (std::size_t i = 0; i < own; ++i) {
            std::copy_n(inverse_.begin() + i * d, own, root_.begin() + i * own);
            std::copy_n(inverse_.begin() + i * d + own, e, Q_.begin() + i * e);
        }
        if (!factorise(root_.data(), own)) return false;
        solve_lower(root_.data(), own, Q_.data(), e);
        for (std::size_t a = 0; a < e; ++a)
            for (std::size_t b = 0; b < e; ++b) {
                double sum = b_.beside[a * e + b];
                for (std::size_t i = 0; i < own; ++i) sum += Q_[i * e + a] * Q_[i * e + b];
                inverse_[(own + a) * d + own + b] = sum;
            }
        return true;
    }

    // T M T' for a symmetric d x d matrix M, into the first k rows and columns of a matrix with rows of length `stride`.
    void spread(const Vector& M, double* out, std::size_t stride) const {
        const std::size_t k = b_.k, d = b_.seen, latent = k - d;
        for (std::size_t i = 0; i < d; ++i) std::copy_n(M.begin() + i * d, d, out + i * stride);
        for (std::size_t l = 0; l < latent; ++l) {
            double* below = out + (d + l) * stride;
            std::fill_n(below, d, 0.0);
            for (std::size_t i = 0; i < d; ++i) {
                const double factor = T_[l * d + i];
                if (factor == 0.0) continue;
                for (std::size_t j = 0; j < d; ++j) below[j] += factor * M[i * d + j];
            }
            for (std::size_t j = 0; j < d; ++j) out[j * stride + d + l] = below[j];
        }
        for (std::size_t l = 0; l < latent; ++l)
            for (std::size_t r = 0; r < latent; ++r) {
                double sum = 0.0;
                for (std::size_t j = 0; j < d; ++j) sum += out[(d + l) * stride + j] * T_[r * d + j];
                out[(d + l) * stride + d + r] = sum;
            }
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
        products_.resize(D * D);
        double* G = products_.data();
        spread(Sigma_, G, D);
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
        const std::size_t k = b_.k, d = b_.seen, P = parameters_, D = 2 * k + b_.selections;
        const double* loading = x + edges_ + b_.own;
        invert_factored(inverse_.data(), d, root_, Sigma_);
        rest_.resize(d * d);
        for (std::size_t i = 0; i < d * d; ++i) rest_[i] = Sigma_[i] - b_.S[i];
        Q_.resize(k * k);
        spread(rest_, Q_.data(), k);
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

    const Block& b_;
    std::size_t edges_, parameters_;
    std::vector<std::size_t> start_, at_, place_;    // rows of I - B: where each begins, columns; where each edge stands
    Vector value_, weight_;                          // their entries; inverse error variances
    std::vector<std::vector<std::size_t>> members_;  // loadings of each selection node
    Vector K_, inverse_, T_, root_, Sigma_, rest_, Q_, products_, gradient_, information_, factor_;
    std::vector<std::size_t> first_, second_;
};

}  // namespace lmarvel
