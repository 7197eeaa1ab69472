// What is done to a model inside a region: the twin of tests/reference/lift/hidden_local.py.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "lift/hidden/placing.hpp"
#include "lift/hidden/regions.hpp"
#include "lift/hidden/structural_em.hpp"

namespace lmarvel {

// A new hidden node over a set of nodes; or, with `which`, one more parent, `node`, of a selection node.
struct Change {
    int kind;
    Nodes nodes;
    int which = -1, node = -1;
};

// What all regions share.
struct Table {
    const double *R, *inflation;  // p x p; no inflation where all is 1
    int p;
    double n, price, noise;
    const LiftConstants& set;
    const SearchLimits* known;
    std::size_t memory;  // bytes for regressions that a search inside a region keeps
    const Watch* watch = nullptr;
};

// The search inside a region, of any width. Models, which are fitted, and changes have the region's numbers.
class AnyLocal {
public:
    virtual ~AnyLocal() = default;
    virtual SparseModel fitted(const SparseModel& start) = 0;
    // With a change, by a rough fit; none where it cannot be fitted.
    virtual std::optional<SparseModel> changed(const SparseModel& part, const Change& change) = 0;
    // With a change, and orders near it searched again.
    virtual std::optional<SparseModel> refreshed(const SparseModel& part, const Change& change) = 0;
    virtual SparseModel pruned(const SparseModel& part) = 0;
    virtual SparseModel polished(const SparseModel& part, int families) = 0;
    // Without a hidden node, latent nodes first, and adapted.
    virtual SparseModel without(const SparseModel& part, int hidden) = 0;
};

template <int W>
class LocalSearch final : public AnyLocal {
public:
    LocalSearch(const Table& table, const Region& region)
        : limits_(limits_of(table, region)), fits_(among(table.R, table, region), among(table.inflation, table, region), region.p, table.n, table.price, table.set,
                outside_of(region)),
          em_(fits_, table.noise, &limits_, table.memory), placing_(fits_) {
        em_.watch = em_.pricing.watch = table.watch;
    }

    SparseModel fitted(const SparseModel& start) override { return sparse(fits_.fit(dense(start))); }

    std::optional<SparseModel> changed(const SparseModel& part, const Change& change) override {
        const std::optional<M> made = made_of(part, change);
        if (!made) return std::nullopt;
        return sparse(*made);
    }

    std::optional<SparseModel> refreshed(const SparseModel& part, const Change& change) override {
        const std::optional<M> made = made_of(part, change);
        if (!made) return std::nullopt;
        Set around = near(*made, set_of(change.nodes));
        if (change.kind == LATENT) around.add(part.m());
        const M fresh = em_.refresh(*made, &around, fits_.set.local_sweeps, 0);
        return sparse(fits_.is_better(made->score, fresh.score) ? *made : fresh);
    }

    SparseModel pruned(const SparseModel& part) override { return sparse(em_.pricing.prune(dense(part))); }

    SparseModel polished(const SparseModel& part, int families) override {
        return sparse(em_.polish(dense(part), families));
    }

    SparseModel without(const SparseModel& part, int hidden) override {
        const M model = dense(part);
        const int latents = model.m() - model.p;
        M less = hidden < latents ? em_.pricing.without_latent(model, model.p + hidden)
                                  : em_.pricing.without_selection(model, std::size_t(hidden - latents));
        return sparse(em_.pricing.prune(em_.refresh(less, nullptr, fits_.set.whole_sweeps, 0)));
    }

private:
    using Set = Bits<W>;
    using M = Model<W>;

    static std::vector<int> outside_of(const Region& region) {
        std::vector<int> found;
        for (int i = 0; i < region.p; ++i)
            if (region.outside[i]) found.push_back(i);
        return found;
    }

    // The part of a matrix, if there is one.
    static Vector among(const double* matrix, const Table& table, const Region& region) {
        Vector R;
        if (matrix == nullptr) return R;
        R.reserve(std::size_t(region.p) * region.p);
        for (int i = 0; i < region.p; ++i)
            for (int j = 0; j < region.p; ++j) R.push_back(matrix[std::size_t(region.nodes[i]) * table.p + region.nodes[j]]);
        return R;
    }

    // What is known, and that nothing is a parent of what is outside; latent nodes, of which one may come, are free.
    static SearchLimits limits_of(const Table& table, const Region& region) {
        SearchLimits limits;
        const std::size_t k = limits.p = region.nodes.size() + 1;
        limits.never.assign(k * k, 0), limits.forbidden.assign(k * k, 0);
        for (std::size_t v = 0; v < std::size_t(region.p); ++v)
            for (std::size_t u = 0; u < k; ++u)
                limits.never[u * k + v] = region.outside[v] || (table.known != nullptr && u < std::size_t(region.p) &&
                                                                table.known->excludes(region.nodes[u], region.nodes[v]));
        return limits;
    }

    static Set set_of(const Nodes& nodes) {
        Set set{};
        for (int v : nodes) set.add(v);
        return set;
    }

    // The nodes, their parents and their children.
    static Set near(const M& model, const Set& nodes) {
        Set around = nodes;
        for (int v = 0; v < model.m(); ++v) {
            if (nodes.has(v)) around = joined(around, model.parents[v]);
            else if (meets(model.parents[v], nodes)) around.add(v);
        }
        return around;
    }

    std::optional<M> made_of(const SparseModel& part, const Change& change) {
        try {
            const M model = dense(part);
            if (change.which >= 0) return placing_.enlarge(model, change.which, change.node);
            if (change.kind == SELECTION) return placing_.select(model, set_of(change.nodes));
            return placing_.confound(model, set_of(change.nodes));
        } catch (const Singular&) {
            return std::nullopt;
        }
    }

    M dense(const SparseModel& part) const {
        const std::size_t m = std::size_t(part.m()), s = part.selections.size();
        M model;
        model.p = part.p, model.outside = &fits_.outside;
        model.B.assign(m * m, 0.0), model.V.assign(m * s, 0.0);
        model.log_variance = part.log_variance, model.order = part.order, model.score = part.score;
        for (std::size_t v = 0; v < m; ++v) {
            model.parents.push_back(set_of(part.parents[v]));
            for (std::size_t i = 0; i < part.parents[v].size(); ++i) model.B[v * m + part.parents[v][i]] = part.slopes[v][i];
        }
        for (std::size_t j = 0; j < s; ++j) {
            model.selections.push_back(set_of(part.selections[j]));
            for (std::size_t i = 0; i < part.selections[j].size(); ++i)
                model.V[part.selections[j][i] * s + j] = part.loadings[j][i];
        }
        return model;
    }

    static SparseModel sparse(const M& model) {
        const std::size_t m = std::size_t(model.m()), s = model.chosen();
        SparseModel part;
        part.p = model.p, part.log_variance = model.log_variance, part.order = model.order, part.score = model.score;
        part.slopes.resize(m), part.loadings.resize(s);
        for (std::size_t v = 0; v < m; ++v) {
            part.parents.push_back(members_of(model.parents[v]));
            for (int u : part.parents[v]) part.slopes[v].push_back(model.B[v * m + u]);
        }
        for (std::size_t j = 0; j < s; ++j) {
            part.selections.push_back(members_of(model.selections[j]));
            for (int v : part.selections[j]) part.loadings[j].push_back(model.V[v * s + j]);
        }
        return part;
    }

    const SearchLimits limits_;
    Fits<W> fits_;
    StructuralEM<W> em_;
    Placing<W> placing_;
};

// The narrowest search that holds a region and one more latent node.
inline std::unique_ptr<AnyLocal> make_local(const Table& table, const Region& region) {
    const std::size_t most = region.nodes.size() + 1;
    if (most <= 64) return std::make_unique<LocalSearch<1>>(table, region);
    if (most <= 128) return std::make_unique<LocalSearch<2>>(table, region);
    if (most <= 256) return std::make_unique<LocalSearch<4>>(table, region);
    if (most <= 2 * most_variables) return std::make_unique<LocalSearch<2 * most_variables / 64>>(table, region);
    throw std::length_error("too many nodes in a region");
}

// Where the best scores stand, best first. Those that only rounding tells apart from the best of them stay in their
// order: then the first is taken.
inline std::vector<std::size_t> best_of(const Vector& scores, double tie) {
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
    for (auto first = order.begin(); first != order.end();) {
        const double worst = scores[*first] + tie;
        const auto last = std::find_if(first, order.end(), [&](std::size_t i) { return scores[i] > worst; });
        std::sort(first, last);
        first = last;
    }
    return order;
}

template <int W>
std::vector<Nodes> joined_sets(const SparseModel& model, const LiftConstants& set, const Watch& watch) {
    const auto sets_of = [](const std::vector<Nodes>& all, std::size_t most, int p) {
        std::vector<Bits<W>> sets(std::min(all.size(), most));
        for (std::size_t i = 0; i < sets.size(); ++i)
            for (int v : all[i])
                if (v < p) sets[i].add(v);
        return sets;
    };
    std::vector<Nodes> found;
    for (const Bits<W>& nodes : joined_sets(sets_of(model.parents, std::size_t(model.p), model.p), model.p,
                                            sets_of(model.selections, model.selections.size(), model.p), set,
                                            [&] { watch.check(); }))
        found.push_back(members_of(nodes));
    return found;
}

}  // namespace lmarvel
