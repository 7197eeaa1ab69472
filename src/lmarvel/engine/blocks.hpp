// The likelihood of a block with latent and selection nodes, and its fit: the twin of
// lmarvel.search.hidden_model.BlockProblem, where the formulas are derived.
//
// Each parameter changes the inverse covariance by u w' + w u', and u and w have few entries that are not zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "linear.hpp"

namespace lmarvel {

struct Block {
    std::size_t k;          // nodes: own, outside, latent
    std::size_t seen;       // own and outside
    std::size_t own;
    std::size_t selections;
    std::vector<std::size_t> heads, tails;       // an edge each
    std::vector<std::size_t> loaded, loads_on;   // a loading each
    Vector S;               // covariance of what is seen
};

class BlockFit {
public:
    explicit BlockFit(const Block& block)
        : b_(block), edges_(block.heads.size()), parameters_(edges_ + block.own + block.loaded.size()),
          parents_(block.k), members_(block.selections) {
        for (std::size_t e = 0; e < edges_; ++e) parents_[b_.heads[e]].push_back(e);
        for (std::size_t l = 0; l < b_.loaded.size(); ++l) members_[b_.loads_on[l]].push_back(l);
    }

    // Minus two log-likelihood per row given the outside parents, without log 2 pi.
    double value(const double* x) {
        if (!observe(x)) return infinity;
        const std::size_t d = b_.seen;
        double result = 0.0;
        for (std::size_t i = 0; i < d * d; ++i) result += inverse_[i] * b_.S[i];
        if (!factorise(inverse_.data(), d)) return infinity;
        double logs = 0.0;
        for (std::size_t i = 0; i < d; ++i) logs += std::log(inverse_[i * d + i]);
        return result - 2 * logs - double(b_.seen - b_.own);
    }

    // A maximum of the likelihood by damped Fisher scoring; x is changed.
    void fit(Vector& x, double tolerance, int max_steps) {
        double now = value(x.data()), damping = 1e-3;
        Vector trial(parameters_), step(parameters_);
        for (int steps = 0; steps < max_steps; ++steps) {
            if (!derive(x.data())) return;  // at the border, where a variance is next to nothing: no way on from here
            double gained = 0.0;
            bool improved = false;
            while (damping < 1e8) {
                if (!solve(damping, step)) {
                    damping *= 8.0;
                    continue;
                }
                for (std::size_t i = 0; i < parameters_; ++i) trial[i] = x[i] + step[i];
                for (std::size_t i = edges_; i < edges_ + b_.own; ++i)
                    trial[i] = std::min(std::max(trial[i], least_log_variance), most_log_variance);
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
    struct Entry {
        std::size_t at;
        double value;
    };
    using Sparse = std::vector<Entry>;

    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr double least_log_variance = -13.815510557964274;  // log 1e-6
    static constexpr double most_log_variance = 20.0;

    // Row i of I - B.
    Sparse row(const double* x, std::size_t i) const {
        Sparse result{{i, 1.0}};
        for (std::size_t e : parents_[i]) result.push_back({b_.tails[e], -x[e]});
        return result;
    }

    double weight(const double* x, std::size_t i) const { return i < b_.own ? std::exp(-x[edges_ + i]) : 1.0; }

    // The inverse covariance of what is seen, and the lower part of T; false where latent nodes have none.
    bool observe(const double* x) {
        const std::size_t k = b_.k, d = b_.seen, latent = k - d;
        K_.assign(k * k, 0.0);
        for (std::size_t i = 0; i < k; ++i) {
            const Sparse a = row(x, i);
            const double w = weight(x, i);
            for (const Entry& u : a)
                for (const Entry& v : a) K_[u.at * k + v.at] += w * u.value * v.value;
        }
        const double* loading = x + edges_ + b_.own;
        for (const auto& of : members_)
            for (std::size_t i : of)
                for (std::size_t j : of) K_[b_.loaded[i] * k + b_.loaded[j]] += loading[i] * loading[j];
        inverse_.resize(d * d);
        for (std::size_t i = 0; i < d; ++i) std::copy_n(K_.begin() + i * k, d, inverse_.begin() + i * d);
        T_.assign(latent * d, 0.0);
        if (!latent) return true;
        Vector root(latent * latent);
        for (std::size_t i = 0; i < latent; ++i) {
            std::copy_n(K_.begin() + (d + i) * k + d, latent, root.begin() + i * latent);
            std::copy_n(K_.begin() + (d + i) * k, d, T_.begin() + i * d);
        }
        if (!factorise(root.data(), latent)) return false;
        solve_lower(root.data(), latent, T_.data(), d);
        solve_upper(root.data(), latent, T_.data(), d);
        for (double& t : T_) t = -t;
        for (std::size_t i = 0; i < d; ++i)
            for (std::size_t l = 0; l < latent; ++l) {
                const double factor = K_[i * k + d + l];
                if (factor == 0.0) continue;
                for (std::size_t j = 0; j < d; ++j) inverse_[i * d + j] += factor * T_[l * d + j];
            }
        return true;
    }

    // T M T' for a symmetric d x d matrix M.
    Vector spread(const Vector& M) const {
        const std::size_t k = b_.k, d = b_.seen, latent = k - d;
        Vector result(k * k, 0.0);
        for (std::size_t i = 0; i < d; ++i) std::copy_n(M.begin() + i * d, d, result.begin() + i * k);
        for (std::size_t l = 0; l < latent; ++l) {
            double* below = result.data() + (d + l) * k;
            for (std::size_t i = 0; i < d; ++i) {
                const double factor = T_[l * d + i];
                if (factor == 0.0) continue;
                for (std::size_t j = 0; j < d; ++j) below[j] += factor * M[i * d + j];
            }
            for (std::size_t j = 0; j < d; ++j) result[j * k + d + l] = below[j];
        }
        for (std::size_t l = 0; l < latent; ++l)
            for (std::size_t r = 0; r < latent; ++r) {
                double sum = 0.0;
                for (std::size_t j = 0; j < d; ++j) sum += result[(d + l) * k + j] * T_[r * d + j];
                result[(d + l) * k + d + r] = sum;
            }
        return result;
    }

    static double dot(const Sparse& a, const double* dense) {
        double sum = 0.0;
        for (const Entry& entry : a) sum += entry.value * dense[entry.at];
        return sum;
    }

    // A row of M times a sparse vector; M is symmetric.
    void times(const Vector& M, const Sparse& a, double* out) const {
        const std::size_t k = b_.k;
        std::fill_n(out, k, 0.0);
        for (const Entry& entry : a) {
            const double* row = M.data() + entry.at * k;
            for (std::size_t j = 0; j < k; ++j) out[j] += entry.value * row[j];
        }
    }

    // The sparse u and w of each parameter.
    void directions(const double* x) {
        U_.clear();
        W_.clear();
        std::vector<Sparse> scaled(b_.k);
        for (std::size_t i = 0; i < b_.k; ++i) {
            scaled[i] = row(x, i);
            const double w = -weight(x, i);
            for (Entry& entry : scaled[i]) entry.value *= w;
        }
        for (std::size_t e = 0; e < edges_; ++e) {
            U_.push_back({{b_.tails[e], 1.0}});
            W_.push_back(scaled[b_.heads[e]]);
        }
        for (std::size_t i = 0; i < b_.own; ++i) {
            U_.push_back(row(x, i));
            W_.push_back(scaled[i]);
            for (Entry& entry : W_.back()) entry.value *= 0.5;
        }
        const double* loading = x + edges_ + b_.own;
        for (std::size_t l = 0; l < b_.loaded.size(); ++l) {
            U_.push_back({{b_.loaded[l], 1.0}});
            W_.emplace_back();
            for (std::size_t j : members_[b_.loads_on[l]]) W_.back().push_back({b_.loaded[j], loading[j]});
        }
    }

    // Gradient and expected second derivatives of the value; false at the border.
    bool derive(const double* x) {
        if (!observe(x)) return false;
        const std::size_t k = b_.k, d = b_.seen, P = parameters_;
        if (!factorise(inverse_.data(), d)) return false;
        Vector Sigma = inverse_of(inverse_.data(), d), rest(d * d);
        for (std::size_t i = 0; i < d * d; ++i) rest[i] = Sigma[i] - b_.S[i];
        const Vector Q = spread(rest), G = spread(Sigma);
        directions(x);
        gradient_.assign(P, 0.0);
        information_.assign(P * P, 0.0);
        Vector GU(P * k), GW(P * k), QW(k);
        for (std::size_t a = 0; a < P; ++a) {
            times(Q, W_[a], QW.data());
            gradient_[a] = -2 * dot(U_[a], QW.data());
            times(G, U_[a], GU.data() + a * k);
            times(G, W_[a], GW.data() + a * k);
        }
        for (std::size_t a = 0; a < P; ++a)
            for (std::size_t c = a; c < P; ++c) {
                const double uu = dot(U_[a], GU.data() + c * k), ww = dot(W_[a], GW.data() + c * k);
                const double uw = dot(U_[a], GW.data() + c * k), wu = dot(U_[c], GW.data() + a * k);
                information_[a * P + c] = 2 * (uu * ww + uw * wu);
            }
        return true;
    }

    bool solve(double damping, Vector& step) {
        const std::size_t P = parameters_;
        Vector root = information_;
        for (std::size_t i = 0; i < P; ++i) root[i * P + i] += damping * std::max(information_[i * P + i], 1e-8);
        if (!factorise(root.data(), P)) return false;
        for (std::size_t i = 0; i < P; ++i) step[i] = -gradient_[i];
        solve_lower(root.data(), P, step.data(), 1);
        solve_upper(root.data(), P, step.data(), 1);
        return true;
    }

    const Block& b_;
    std::size_t edges_, parameters_;
    std::vector<std::vector<std::size_t>> parents_;  // edges into each node
    std::vector<std::vector<std::size_t>> members_;  // loadings of each selection node
    Vector K_, inverse_, T_, gradient_, information_;
    std::vector<Sparse> U_, W_;
};

}  // namespace lmarvel
