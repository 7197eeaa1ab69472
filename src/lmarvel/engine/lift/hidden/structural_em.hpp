// Structural EM: orders are searched for on the covariance that a model with hidden nodes implies, completed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/watch.hpp"
#include "lift/hidden/models.hpp"
#include "lift/hidden/pricing.hpp"
#include "lift/orders/families.hpp"
#include "lift/orders/gaussian.hpp"

namespace lmarvel {

// Searches for the DAG again, given the hidden nodes.
template <int W>
class StructuralEM {
public:
    using Set = Bits<W>;
    using M = Model<W>;

    StructuralEM(Fits<W>& fits, double noise, const SearchLimits* known, std::size_t memory)
        : pricing(fits), fits_(fits), noise_(noise), known_(known), memory_(memory / most_kept_) {}

    Pricing<W> pricing;
    const Watch* watch = nullptr;

    // Search for orders again, given the hidden nodes, and fit what is found; a degenerate model stays as it is.
    M refresh(const M& model, const Set* only, int sweeps, int families) {
        try {
            const Vector S = completed(model);
            if (S.empty()) return model;
            Settling<W, GaussianLocal>& settling = settling_on(S, model.m());
            const auto check = [this] { watch->check(); };
            FoundOrder<W> found = only == nullptr
                                   ? settling.settle(model.order, sweeps, check)
                                   : settling.settle_some(model.order, sweeps, check, [only](int v) { return only->has(v); });
            turn_families<W, GaussianLocal>(found, families, {&settling}, noise_, fits_.set, *watch);
            return pricing.without_idle(fits_.fit(expected(model, S, std::move(found))));
        } catch (const Singular&) {
            return model;
        }
    }

    // Refresh and prune the whole model while that helps.
    M polish(M model, int families) {
        for (int i = 0; i < fits_.set.polish_rounds; ++i) {
            M fresh = pricing.prune(refresh(model, nullptr, fits_.set.whole_sweeps, families));
            const double gained = model.score - fresh.score;
            if (gained > fits_.set.step) model = std::move(fresh);
            if (gained < fits_.set.resting) break;
        }
        return model;
    }

private:
    static constexpr std::size_t most_kept_ = 6;

    // The regressions of a covariance, and where sweeps on them end.
    struct Kept {
        Kept(const Vector& covariance, int m, double n, double price, double noise, const SearchLimits* known,
             std::size_t memory)
            : S(covariance), local(S.data(), m, n, price), best(local, known, memory), settling(best, noise) {}

        const Vector S;
        GaussianLocal local;
        Regressions<W, GaussianLocal> best;
        Settling<W, GaussianLocal> settling;
    };

    // A model that is polished again has the covariance that its last polish ended with: what is known of the last few
    // is kept.
    Settling<W, GaussianLocal>& settling_on(const Vector& S, int m) {
        for (const auto& kept : kept_)
            if (kept->S == S) return kept->settling;
        if (kept_.size() == most_kept_) kept_.pop_front();
        kept_.push_back(std::make_unique<Kept>(S, m, fits_.n, fits_.price, noise_, known_, memory_));
        return kept_.back()->settling;
    }

    Fits<W>& fits_;
    double noise_;
    const SearchLimits* known_;
    std::size_t memory_;
    std::deque<std::unique_ptr<Kept>> kept_;

    // The expected covariance of observed and latent nodes, selection undone; empty where there is none.
    Vector completed(const M& model) const {
        const std::size_t p = model.p, m = model.m(), l = m - p, s = model.chosen();
        Vector S(m * m);
        for (std::size_t i = 0; i < p; ++i) std::copy_n(fits_.R.begin() + i * p, p, S.begin() + i * m);
        if (l) {
            const Vector& Sigma = model.covariance();
            Vector seen(p * p), on_seen(p * l);
            for (std::size_t i = 0; i < p; ++i) {
                std::copy_n(Sigma.begin() + i * m, p, seen.begin() + i * p);
                std::copy_n(Sigma.begin() + i * m + p, l, on_seen.begin() + i * l);
            }
            on_seen = solved(seen, p, std::move(on_seen), l);
            for (std::size_t a = 0; a < l; ++a)
                for (std::size_t j = 0; j < p; ++j) {
                    double sum = 0.0;
                    for (std::size_t i = 0; i < p; ++i) sum += on_seen[i * l + a] * fits_.R[i * p + j];
                    S[(p + a) * m + j] = S[j * m + p + a] = sum;
                }
            for (std::size_t a = 0; a < l; ++a)
                for (std::size_t b = 0; b < l; ++b) {
                    double sum = Sigma[(p + a) * m + p + b];
                    for (std::size_t i = 0; i < p; ++i)
                        sum += (S[(p + a) * m + i] - Sigma[(p + a) * m + i]) * on_seen[i * l + b];
                    S[(p + a) * m + p + b] = sum;
                }
        }
        if (!s) return S;
        Vector added(m * m, 0.0);
        for (std::size_t j = 0; j < s; ++j)
            for (int u : members_of(model.selections[j]))
                for (int v : members_of(model.selections[j])) added[u * m + v] += model.V[u * s + j] * model.V[v * s + j];
        const Vector K = inverted(S, m);
        for (double share = 1.0; share >= 0.3; share *= 0.9) {
            Vector less(m * m), root;
            for (std::size_t i = 0; i < m * m; ++i) less[i] = K[i] - share * added[i];
            root = less;
            for (std::size_t i = 0; i < m; ++i) root[i * m + i] -= 1e-3;  // no eigenvalue below this
            if (factorise(root.data(), m)) return inverted(less, m);
        }
        return {};
    }

    // The DAG that was found in a completed covariance, with its regressions; latent nodes get unit variances.
    M expected(const M& model, const Vector& S, FoundOrder<W>&& found) const {
        const std::size_t m = model.m(), s = model.chosen(), p = model.p;
        M start;
        start.p = model.p;
        start.B.assign(m * m, 0.0);
        start.log_variance.assign(m, 0.0);
        start.parents.resize(m);
        Vector scale(m, 1.0), slope;
        for (std::size_t v = 0; v < m; ++v) {
            start.parents[v] = found.parents[v];
            const std::vector<int> parents = members_of(start.parents[v]);
            const double variance = std::max(regress(S.data(), m, int(v), parents, slope), 1e-6);
            for (std::size_t i = 0; i < parents.size(); ++i) start.B[v * m + parents[i]] = slope[i];
            if (v < p) start.log_variance[v] = std::log(variance);
            else scale[v] = std::sqrt(variance);
        }
        for (std::size_t v = 0; v < m; ++v)
            for (std::size_t u = 0; u < m; ++u) start.B[v * m + u] *= scale[u] / scale[v];
        start.V = model.V;
        for (std::size_t v = 0; v < m; ++v)
            for (std::size_t j = 0; j < s; ++j) start.V[v * s + j] *= scale[v];
        start.selections = model.selections;
        start.order = std::move(found.order);
        return start;
    }
};

}  // namespace lmarvel
