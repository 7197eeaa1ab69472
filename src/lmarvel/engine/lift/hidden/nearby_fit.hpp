// The fit of a change in the whole model where only what is next to it moves.
//
// A change of few rows of I - B, and of one selection node, changes the inverse covariance K of observed (o) and latent (l)
// nodes by D, which is 0 but among few nodes T. So the likelihood is that of T. With the covariance Sigma of all nodes, N
// that of latent nodes given the others, and C the covariance of all that the data have, completed by the model (each of
// the model as it was, and among T), with D_oo, D_lo and D_ll the parts of D,
//
//     f = tr(D_oo C_oo) + 2 tr(J' D_lo C_ol) - tr(N+ D_lo C_oo D_ol) + tr(D_ll J (C_ll - N))
//         - log det(Sigma^-1 + D) + log det(N^-1 + D_ll)
//
// where N+ = (N^-1 + D_ll)^-1 is the covariance of latent nodes given the others now, and J = N+ N^-1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/dense.hpp"
#include "lift/hidden/scoring.hpp"

namespace lmarvel {

// Moments of some nodes in a model as it is, latent ones last: those named above.
struct Moments {
    Vector Sigma, C, N;
};

// The nodes T, of which some rows and one selection node move.
class NearbyFit final : public Scoring {
public:
    // `was` is what the rows that move, and the selection node, gave to K before.
    NearbyFit(const Block& block, const std::vector<std::size_t>& rows, Moments&& moments, Vector&& was)
        : Scoring(block), rows_(rows), latent_(block.k - block.seen), then_(std::move(moments)), was_(std::move(was)) {
        const std::size_t k = b_.k, d = b_.seen;
        precision_ = inverted(then_.Sigma, k);
        latent_precision_ = latent_ ? inverted(then_.N, latent_) : Vector{};
        seen_.resize(d * d), across_.resize(d * latent_), completed_.resize(latent_ * latent_);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j < k; ++j) {
                const double c = then_.C[i * k + j];
                if (i < d && j < d) seen_[i * d + j] = c;
                else if (i < d) across_[i * latent_ + (j - d)] = c;
                else if (j >= d) completed_[(i - d) * latent_ + (j - d)] = c;
            }
    }

    // The value of the model as it was.
    double before() const {
        double logs = 0.0;
        const auto add = [&logs](Vector A, std::size_t k, double sign) {
            if (!factorise(A.data(), k)) throw Singular{};
            for (std::size_t i = 0; i < k; ++i) logs += sign * std::log(A[i * k + i]);
        };
        add(precision_, b_.k, -2.0);
        add(latent_precision_, latent_, 2.0);
        return logs;
    }

    double value(const double* x) override {
        const std::size_t k = b_.k, d = b_.seen, l = latent_;
        take(x);
        changed_.assign(k * k, 0.0);
        for (std::size_t i : rows_) add_row(i, changed_);
        add_loadings(x, changed_);
        for (std::size_t i = 0; i < k * k; ++i) changed_[i] -= was_[i];
        root_ = precision_;
        for (std::size_t i = 0; i < k * k; ++i) root_[i] += changed_[i];
        if (!factorise(root_.data(), k)) return infinity;
        double result = 0.0;
        for (std::size_t i = 0; i < k; ++i) result -= 2 * std::log(root_[i * k + i]);
        for (std::size_t i = 0; i < d; ++i)
            for (std::size_t j = 0; j < d; ++j) result += changed_[i * k + j] * seen_[i * d + j];
        return l ? result + latent_value() : result;
    }

private:
    // The part of latent nodes; infinite where they have no covariance.
    double latent_value() {
        const std::size_t k = b_.k, d = b_.seen, l = latent_;
        const Vector& N = then_.N;
        Vector root(l * l), own(l * l);
        aside_.resize(l * d);
        for (std::size_t a = 0; a < l; ++a) {
            for (std::size_t b = 0; b < l; ++b) own[a * l + b] = changed_[(d + a) * k + d + b];
            std::copy_n(changed_.begin() + (d + a) * k, d, aside_.begin() + a * d);
        }
        for (std::size_t i = 0; i < l * l; ++i) root[i] = latent_precision_[i] + own[i];
        now_N_ = root;
        if (!factorise(root.data(), l)) return infinity;
        double result = 0.0;
        for (std::size_t i = 0; i < l; ++i) result += 2 * std::log(root[i * l + i]);
        now_N_ = inverse_of(root.data(), l);
        J_ = product(now_N_, latent_precision_, l, l, l);
        shared_ = product(aside_, across_, l, d, l);                                                      // D_lo C_ol
        spread_ = product(product(aside_, seen_, l, d, d), transposed(aside_, l, d), l, d, l);            // Y
        const Vector D = product(own, J_, l, l, l);
        for (std::size_t a = 0; a < l; ++a)
            for (std::size_t b = 0; b < l; ++b) {
                const std::size_t at = a * l + b;
                result += 2 * J_[at] * shared_[at] - now_N_[at] * spread_[at] + D[at] * (completed_[at] - N[at]);
            }
        return result;
    }

    // G = Sigma - N and Q = Sigma - C, each as the model is now.
    void moments(double* G, std::size_t stride) override {
        const std::size_t k = b_.k, d = b_.seen, l = latent_;
        invert_factored(root_.data(), k, work_, Q_);
        for (std::size_t i = 0; i < k; ++i) std::copy_n(Q_.begin() + i * k, k, G + i * stride);
        for (std::size_t i = 0; i < d; ++i)
            for (std::size_t j = 0; j < d; ++j) Q_[i * k + j] -= seen_[i * d + j];
        if (!l) return;
        const Vector turned = transposed(J_, l, l), back = transposed(aside_, l, d);
        Vector across = product(across_, turned, d, l, l);                             // C_ol J' - C_oo D_ol N
        const Vector moved = product(product(seen_, back, d, d, l), now_N_, d, l, l);
        for (std::size_t i = 0; i < d * l; ++i) across[i] -= moved[i];
        Vector known = completed_;                                                     // what is known of latent nodes
        for (std::size_t i = 0; i < l * l; ++i) known[i] -= then_.N[i];
        known = product(product(J_, known, l, l, l), turned, l, l, l);
        const Vector less = product(product(now_N_, shared_, l, l, l), turned, l, l, l);
        const Vector more = product(product(now_N_, spread_, l, l, l), now_N_, l, l, l);
        for (std::size_t a = 0; a < l; ++a) {
            for (std::size_t i = 0; i < d; ++i) {
                Q_[i * k + d + a] -= across[i * l + a];
                Q_[(d + a) * k + i] -= across[i * l + a];
            }
            for (std::size_t b = 0; b < l; ++b) {
                const std::size_t at = a * l + b;
                G[(d + a) * stride + d + b] -= now_N_[at];
                Q_[(d + a) * k + d + b] -= now_N_[at] + known[at] - less[at] - less[b * l + a] + more[at];
            }
        }
    }

    const std::vector<std::size_t>& rows_;
    const std::size_t latent_;
    const Moments then_;
    const Vector was_;
    Vector precision_, latent_precision_, seen_, across_, completed_;
    Vector changed_, root_, work_, aside_, now_N_, J_, shared_, spread_;
};

}  // namespace lmarvel
