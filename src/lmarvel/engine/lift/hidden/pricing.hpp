// What a model has that is not worth its price: edges, memberships, hidden nodes.
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "base/watch.hpp"
#include "lift/hidden/models.hpp"

namespace lmarvel {

// Drops what a score does not miss.
template <int W>
class Pricing {
public:
    using Set = Bits<W>;
    using M = Model<W>;

    explicit Pricing(Fits<W>& fits) : fits_(fits) {}

    const Watch* watch = nullptr;

    // Drop edges and memberships that are not worth their price: a quadratic guess proposes, the fit decides.
    M prune(M model) {
        for (int i = 0; i < fits_.set.prune_rounds; ++i) {
            watch->check();
            bool dropped = false;
            for (const auto& [guess, index, v, is_selection] : weakest(model)) {
                if (guess > fits_.set.hopeless * fits_.price) return without_idle(std::move(model));
                M start = copied(model);
                (is_selection ? start.selections : start.parents)[index].drop(v);
                M fitted = fits_.fit(std::move(start));
                if (fitted.score < model.score - fits_.set.step) {
                    model = std::move(fitted);
                    dropped = true;
                    break;
                }
            }
            if (!dropped) break;
        }
        return without_idle(std::move(model));
    }

    // Drop hidden nodes that tie nothing together.
    M without_idle(M model) {
        for (;;) {
            int idle = model.p;
            while (idle < model.m() && !is_idle(model, idle)) ++idle;
            if (idle < model.m()) {
                model = without_latent(model, idle);
                continue;
            }
            const auto none = std::find(model.selections.begin(), model.selections.end(), Set{});
            if (none == model.selections.end()) return model;
            model = without_selection(model, none - model.selections.begin());
        }
    }

    M without_latent(const M& model, int latent) {
        const std::size_t m = model.m(), s = model.chosen();
        M start;
        start.p = model.p, start.outside = model.outside;
        const auto cut = [latent](const Set& set) {
            Set fewer{};
            for (int v : members_of(set))
                if (v != latent) fewer.add(v - (v > latent));
            return fewer;
        };
        for (std::size_t v = 0; v < m; ++v) {
            if (int(v) == latent) continue;
            start.parents.push_back(cut(model.parents[v]));
            start.log_variance.push_back(model.log_variance[v]);
            for (std::size_t u = 0; u < m; ++u)
                if (int(u) != latent) start.B.push_back(model.B[v * m + u]);
            start.V.insert(start.V.end(), model.V.begin() + v * s, model.V.begin() + (v + 1) * s);
        }
        for (const Set& set : model.selections) start.selections.push_back(cut(set));
        for (int v : model.order)
            if (v != latent) start.order.push_back(v - (v > latent));
        return fits_.fit(std::move(start));
    }

    M without_selection(const M& model, std::size_t index) {
        const std::size_t m = model.m(), s = model.chosen();
        M start = copied(model);
        start.selections.erase(start.selections.begin() + index);
        start.V.clear();
        for (std::size_t v = 0; v < m; ++v)
            for (std::size_t j = 0; j < s; ++j)
                if (j != index) start.V.push_back(model.V[v * s + j]);
        return fits_.fit(std::move(start));
    }

private:
    using Weak = std::tuple<double, int, int, bool>;  // what dropping it would lose, whose, which, of a selection node?

    Fits<W>& fits_;

    // The weakest edges and memberships; none of a degenerate model.
    std::vector<Weak> weakest(const M& model) const {
        std::vector<Weak> found;
        const std::size_t m = model.m(), s = model.chosen();
        try {
            const Vector& Sigma = model.covariance();
            for (std::size_t v = 0; v < m; ++v) {
                const std::vector<int> near = members_of(model.parents[v]);
                const std::size_t k = near.size();
                if (!k) continue;
                Vector beside(k * k);
                for (std::size_t i = 0; i < k; ++i)
                    for (std::size_t j = 0; j < k; ++j) beside[i * k + j] = Sigma[near[i] * m + near[j]];
                const Vector inverse = inverted(beside, k);
                for (std::size_t i = 0; i < k; ++i) {
                    const double slope = model.B[v * m + near[i]];
                    const double share = slope * slope / inverse[i * k + i] / std::exp(model.log_variance[v]);
                    found.emplace_back(fits_.n * std::log1p(share), int(v), near[i], false);
                }
            }
            for (std::size_t j = 0; j < s; ++j)
                for (int v : members_of(model.selections[j])) {
                    const double loading = model.V[v * s + j];
                    found.emplace_back(fits_.n * std::log1p(loading * loading * Sigma[v * m + v]) / 2, int(j), v, true);
                }
        } catch (const Singular&) {
            return {};
        }
        const auto end = found.begin() + std::min<std::size_t>(found.size(), std::size_t(fits_.set.weakest));
        std::partial_sort(found.begin(), end, found.end());
        found.erase(end, found.end());
        return found;
    }

    static bool is_idle(const M& model, int latent) {
        int uses = 0;
        for (const Set& set : model.parents) uses += set.has(latent);
        for (const Set& set : model.selections) uses += set.has(latent);
        return uses == 0 || (uses == 1 && is_empty(model.parents[latent]));
    }
};

}  // namespace lmarvel
