// DAGs with latent and selection nodes, and their fits: the twin of hidden_model in tests/reference/lift, where the likelihood
// is derived.
#pragma once

#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/dense.hpp"
#include "base/hash.hpp"
#include "lift/constants.hpp"
#include "lift/hidden/blocks.hpp"
#include "lift/hidden/cliques.hpp"

namespace lmarvel {

// Observed nodes that a model is given, whatever they hang on; with the inverse of their covariance.
template <int W>
struct Outside {
    Bits<W> set;
    std::vector<int> nodes;
    Vector inverse;
};

// Observed nodes (the first p), latent nodes, and for each selection node its parents; with parameters.
template <int W>
struct Model {
    using Set = Bits<W>;

    int p = 0;
    std::vector<Set> parents, selections;
    std::vector<int> order;       // of observed and latent nodes, causes first
    Vector B, log_variance, V;    // m x m, m, m x selections
    double score = 0.0;
    const Outside<W>* outside = nullptr;

    int m() const { return int(parents.size()); }
    std::size_t chosen() const { return selections.size(); }

    // The inverse covariance of observed and latent nodes, given the selection.
    const Vector& precision() const {
        if (precision_.empty()) {
            const std::size_t m = parents.size(), s = chosen();
            precision_.assign(m * m, 0.0);
            std::vector<std::pair<std::size_t, double>> row;
            for (std::size_t i = 0; i < m; ++i) {
                row.assign(1, {i, 1.0});
                for (int u : members_of(parents[i])) row.emplace_back(u, -B[i * m + u]);
                const double weight = std::exp(-log_variance[i]);
                for (auto [u, x] : row)
                    for (auto [v, y] : row) precision_[u * m + v] += weight * x * y;
            }
            for (std::size_t j = 0; j < s; ++j)
                for (int u : members_of(selections[j]))
                    for (int v : members_of(selections[j])) precision_[u * m + v] += V[u * s + j] * V[v * s + j];
            if (!outside->nodes.empty()) free_outside();
        }
        return precision_;
    }

    const Vector& covariance() const {
        if (covariance_.empty()) covariance_ = inverted(precision(), parents.size());
        return covariance_;
    }

private:
    // As in BlockFit, for all nodes.
    void free_outside() const {
        const std::size_t m = parents.size(), e = outside->nodes.size(), own = m - e;
        std::vector<std::size_t> inside;
        for (std::size_t v = 0; v < m; ++v)
            if (!outside->set.has(int(v))) inside.push_back(v);
        Vector root(own * own), beside(own * e);
        for (std::size_t i = 0; i < own; ++i) {
            for (std::size_t j = 0; j < own; ++j) root[i * own + j] = precision_[inside[i] * m + inside[j]];
            for (std::size_t a = 0; a < e; ++a) beside[i * e + a] = precision_[inside[i] * m + outside->nodes[a]];
        }
        if (!factorise(root.data(), own)) throw Singular{};
        solve_lower(root.data(), own, beside.data(), e);
        for (std::size_t a = 0; a < e; ++a)
            for (std::size_t b = 0; b < e; ++b) {
                double sum = outside->inverse[a * e + b];
                for (std::size_t i = 0; i < own; ++i) sum += beside[i * e + a] * beside[i * e + b];
                precision_[outside->nodes[a] * m + outside->nodes[b]] = sum;
            }
    }

    mutable Vector precision_, covariance_;  // made when asked for; a model does not change once it is fitted
};

// What a fit begins with: the structure and the parameters.
template <int W>
Model<W> copied(const Model<W>& model) {
    Model<W> start;
    start.p = model.p;
    start.parents = model.parents, start.selections = model.selections, start.order = model.order;
    start.B = model.B, start.log_variance = model.log_variance, start.V = model.V;
    start.outside = model.outside;
    return start;
}

// Coefficients of v on its parents, and the variance that is left, from a covariance matrix of m variables.
inline double regress(const double* S, std::size_t m, int v, const std::vector<int>& near, Vector& slope) {
    const std::size_t k = near.size();
    slope.resize(k);
    double variance = S[v * m + v];
    if (!k) return variance;
    Vector A(k * k);
    for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = 0; j < k; ++j) A[i * k + j] = S[near[i] * m + near[j]];
        slope[i] = S[near[i] * m + v];
    }
    slope = solved(A, k, std::move(slope), 1);
    for (std::size_t i = 0; i < k; ++i) variance -= slope[i] * S[near[i] * m + v];
    return variance;
}

// The mean over the pairs of some observed nodes, of p x p; 1 where there is none.
inline double mean_inflation(const double* inflation, std::size_t p, const std::vector<int>& nodes) {
    double sum = 0.0;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) sum += inflation[std::size_t(nodes[i]) * p + nodes[j]];
    return nodes.size() < 2 ? 1.0 : sum / (0.5 * double(nodes.size() * (nodes.size() - 1)));
}

// Fits models to a correlation matrix; blocks and regressions are remembered.
template <int W>
class Fits {
public:
    using Set = Bits<W>;

    // Prices of hidden nodes grow with the inflation of the pairs that they tie, p x p; all equal where there is none.
    // Nodes that are outside have no parents, and are no parents of selection nodes.
    Fits(Vector correlation, Vector inflation, int p, double n, double price, const LiftConstants& constants, std::vector<int> given)
        : p(p), n(n), price(price), set(constants), R(std::move(correlation)),
          inflation_(std::move(inflation)), regressions_(p) {
        for (int v : given) outside.set.add(v);
        outside.inverse = inverse_among(given);
        outside.nodes = std::move(given);
    }

    const int p;
    const double n, price;
    const LiftConstants& set;
    const Vector R;
    Outside<W> outside;

    // Whether a score is better than another by more than rounding.
    bool is_better(double one, double other) const { return one < other - set.tie; }

    // Fit a structure, beginning with the parameters of `start`. Where only those of some nodes move, the fit is rough, and
    // good enough to compare candidates.
    Model<W> fit(Model<W>&& start, const Set* moving = nullptr) {
        constexpr double log_2pi = 1.8378770664093453;
        Model<W> model;
        const std::size_t m = start.parents.size(), s = start.chosen();
        model.p = p;
        model.outside = &outside;
        model.B.assign(m * m, 0.0);
        model.log_variance.assign(m, 0.0);
        model.V.assign(m * s, 0.0);
        double value = p * log_2pi;
        Set tied{};
        const Set seen = first_nodes<W>(p);
        for (const Set& block : blocks(start)) {
            tied = joined(tied, block);
            if (meets(block, seen)) value += fit_block(block, start, model, moving);
        }
        for (int v = 0; v < p; ++v) {
            if (tied.has(v)) continue;
            const Regressed& known = regression(v, start.parents[v]);
            std::size_t i = 0;
            for (int u : members_of(start.parents[v])) model.B[v * m + u] = known.slope[i++];
            model.log_variance[v] = known.log_variance;
            value += known.log_variance + 1.0;
        }
        model.score = n * value + price * n_parameters(start) + surplus(start);
        model.parents = std::move(start.parents);
        model.selections = std::move(start.selections);
        model.order = std::move(start.order);
        return model;
    }

    // Coefficients and loadings; a hidden node with two neighbours has one that is identified, not two.
    int n_parameters(const Model<W>& model) const {
        int count = 0;
        for (const Set& set : model.parents) count += set.count();
        for (const Set& set : model.selections) count += set.count() - (set.count() == 2);
        for (int latent = p; latent < model.m(); ++latent) {
            int children = 0;
            for (const Set& set : model.parents) children += set.has(latent);
            count -= is_empty(model.parents[latent]) && children == 2;
        }
        return count;
    }

    // What hidden nodes cost beyond the price of their parameters, where unequal noise or bends inflate evidence for them.
    double surplus(const Model<W>& model) const {
        double more = 0.0;
        if (inflation_.empty()) return more;
        for (const Set& set : model.selections) more += mean_inflation(set) - 1;
        for (int latent = p; latent < model.m(); ++latent) {
            Set tied = model.parents[latent];
            for (int v = 0; v < model.m(); ++v)
                if (model.parents[v].has(latent)) tied.add(v);
            more += mean_inflation(tied) - 1;
        }
        return price * more;
    }

    // The sets of nodes that latent and selection nodes tie together.
    std::vector<Set> blocks(const Model<W>& model) const {
        std::vector<Set> tied, merged;
        for (const Set& set : model.selections) tied.push_back(lmarvel::without(with_ancestors(model, set), outside.set));
        for (int latent = p; latent < model.m(); ++latent) {
            Set group = single<W>(latent);
            for (int v = 0; v < model.m(); ++v)
                if (model.parents[v].has(latent)) group.add(v);
            tied.push_back(group);
        }
        for (Set& group : tied) {
            std::vector<Set> apart;
            for (const Set& other : merged) {
                if (meets(other, group)) group = joined(group, other);
                else apart.push_back(other);
            }
            apart.push_back(group);
            merged = std::move(apart);
        }
        return merged;
    }

private:
    // The inverse covariance of some nodes.
    Vector inverse_among(const std::vector<int>& nodes) const {
        const std::size_t k = nodes.size();
        Vector among(k * k);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j < k; ++j) among[i * k + j] = R[nodes[i] * p + nodes[j]];
        return k ? inverted(among, k) : among;
    }

    static double log_determinant(Vector A, std::size_t k) {
        if (!factorise(A.data(), k)) throw Singular{};
        double logs = 0.0;
        for (std::size_t i = 0; i < k; ++i) logs += std::log(A[i * k + i]);
        return 2 * logs;
    }

    struct Fitted {
        Vector x;
        double value;
        bool rough;
    };
    struct Regressed {
        Vector slope;
        double log_variance;
    };

    double mean_inflation(const Set& set) const {
        return lmarvel::mean_inflation(inflation_.data(), std::size_t(p), members_of(common(set, first_nodes<W>(p))));
    }

    static Set with_ancestors(const Model<W>& model, const Set& nodes) {
        Set reached = nodes;
        std::vector<int> left = members_of(nodes);
        while (!left.empty()) {
            const int v = left.back();
            left.pop_back();
            for (int u : members_of(without(model.parents[v], reached))) reached.add(u), left.push_back(u);
        }
        return reached;
    }

    const Regressed& regression(int v, const Set& parents) {
        auto known = regressions_[v].find(parents);
        if (known == regressions_[v].end()) {
            Regressed made;
            const double variance = regress(R.data(), p, v, members_of(parents), made.slope);
            made.log_variance = std::log(std::max(variance, 1e-10));
            known = regressions_[v].emplace(parents, std::move(made)).first;
        }
        return known->second;
    }

    // Fit a block, write its parameters into the model, and return its part of the likelihood.
    double fit_block(const Set& members, const Model<W>& start, Model<W>& model, const Set* moving) {
        const std::size_t m = start.parents.size(), s = start.chosen();
        const Set seen = first_nodes<W>(p);
        Set given{};
        for (int v : members_of(members)) given = joined(given, without(start.parents[v], members));
        std::vector<int> nodes = members_of(common(members, seen));
        Block block;
        block.own = nodes.size();
        const std::vector<int> beside = members_of(given);
        block.beside = inverse_among(beside);
        block.without = double(beside.size()) - log_determinant(block.beside, beside.size());
        nodes.insert(nodes.end(), beside.begin(), beside.end());
        block.seen = nodes.size();
        for (int v : members_of(without(members, seen))) nodes.push_back(v);
        block.k = nodes.size();
        std::vector<std::size_t> place(m), loads_of;
        for (std::size_t i = 0; i < nodes.size(); ++i) place[nodes[i]] = i;
        Vector x;
        const auto add = [&](int v, double value) {
            if (moving == nullptr || moving->has(v)) block.moving.push_back(x.size());
            x.push_back(value);
        };
        Words key;
        auto remember = [&](const Set& set) { key.insert(key.end(), set.word.begin(), set.word.end()); };
        remember(members);
        for (int v : members_of(members)) {
            remember(start.parents[v]);
            for (int u : members_of(start.parents[v])) {
                block.heads.push_back(place[v]);
                block.tails.push_back(place[u]);
                add(v, start.B[v * m + u]);
            }
        }
        for (std::size_t i = 0; i < block.own; ++i) add(nodes[i], start.log_variance[nodes[i]]);
        block.selections = 0;
        for (std::size_t j = 0; j < s; ++j) {
            if (!meets(start.selections[j], members)) continue;
            remember(start.selections[j]);
            for (int v : members_of(start.selections[j])) {
                block.loaded.push_back(place[v]);
                block.loads_on.push_back(block.selections);
                loads_of.push_back(j);
                add(v, start.V[v * s + j]);
            }
            ++block.selections;
        }
        block.S.resize(block.seen * block.seen);
        for (std::size_t i = 0; i < block.seen; ++i)
            for (std::size_t j = 0; j < block.seen; ++j) block.S[i * block.seen + j] = R[nodes[i] * p + nodes[j]];
        const Fitted& found = fitted(key, block, std::move(x), moving != nullptr);
        const std::size_t edges = block.heads.size();
        const double* at = found.x.data();
        for (std::size_t e = 0; e < edges; ++e) model.B[nodes[block.heads[e]] * m + nodes[block.tails[e]]] = *at++;
        for (std::size_t i = 0; i < block.own; ++i) model.log_variance[nodes[i]] = *at++;
        for (std::size_t l = 0; l < loads_of.size(); ++l) model.V[nodes[block.loaded[l]] * s + loads_of[l]] = *at++;
        return found.value;
    }

    const Fitted& fitted(const Words& key, const Block& block, Vector x, bool rough) {
        auto known = known_.find(key);
        BlockFit fit(block);
        if (known != known_.end()) {
            const bool better = x != known->second.x && fit.value(x.data()) < known->second.value;
            if (!better) {  // else another maximum may be near
                if (rough || !known->second.rough) return known->second;
                x = known->second.x;
            }
        }
        fit.fit(x, (rough ? set.rough_tolerance : set.fit_tolerance) / n, rough ? set.rough_steps : set.fit_steps);
        const double value = fit.value(x.data());
        return known_[key] = {std::move(x), value, rough};
    }

    const Vector inflation_;
    std::unordered_map<Words, Fitted, HashWords> known_;
    std::vector<std::unordered_map<Set, Regressed, HashBits<W>>> regressions_;
};

}  // namespace lmarvel
