// The likelihood of a block with latent and selection nodes: the twin of BlockProblem in
// tests/reference/lift/hidden_block.py, where the formulas are derived.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/dense.hpp"
#include "base/linear.hpp"
#include "lift/hidden/scoring.hpp"

namespace lmarvel {

class BlockFit final : public Scoring {
public:
    using Scoring::Scoring;

    // Minus two log-likelihood per row given the outside parents, without log 2 pi.
    double value(const double* x) override {
        if (!observe(x) || !free_outside()) return infinity;
        const std::size_t d = b_.seen;
        double result = 0.0;
        for (std::size_t i = 0; i < d * d; ++i) result += inverse_[i] * b_.S[i];
        if (!factorise(inverse_.data(), d)) return infinity;
        double logs = 0.0;
        for (std::size_t i = 0; i < d; ++i) logs += std::log(inverse_[i * d + i]);
        return result - 2 * logs - b_.without;
    }

private:
    void moments(double* G, std::size_t stride) override {
        const std::size_t k = b_.k, d = b_.seen;
        invert_factored(inverse_.data(), d, root_, Sigma_);
        rest_.resize(d * d);
        for (std::size_t i = 0; i < d * d; ++i) rest_[i] = Sigma_[i] - b_.S[i];
        Q_.resize(k * k);
        spread(rest_, Q_.data(), k);
        spread(Sigma_, G, stride);
    }

    // The inverse covariance of what is seen, and the lower part of T; false where latent nodes have none.
    bool observe(const double* x) {
        const std::size_t k = b_.k, d = b_.seen, latent = k - d;
        take(x);
        K_.assign(k * k, 0.0);
        for (std::size_t i = 0; i < k; ++i) add_row(i, K_);
        add_loadings(x, K_);
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

    Vector K_, inverse_, T_, root_, Sigma_, rest_;
};

}  // namespace lmarvel
