// What changes gain in the whole model where only what is next to them moves: the twin of nearby_gain in
// tests/reference/lift/hidden_nearby.py, which works with all nodes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "lift/hidden/local.hpp"
#include "lift/hidden/nearby_fit.hpp"
#include "lift/hidden/placing.hpp"
#include "lift/hidden/regions.hpp"

namespace lmarvel {

// The moments of a whole model, from which changes are rated.
class Nearby {
public:
    Nearby(const SparseModel& model, const Table& table) : model_(model), table_(table) {
        const std::size_t m = std::size_t(model.m()), p = std::size_t(model.p);
        K_.assign(m * m, 0.0);
        for (std::size_t v = 0; v < m; ++v) add_row(int(v), [](int u) { return std::size_t(u); }, m, K_);
        for (std::size_t j = 0; j < model.selections.size(); ++j) add_loadings(j, [](int u) { return std::size_t(u); }, m, K_);
        try {
            complete(m, p);
        } catch (const Singular&) {
            Sigma_.clear();  // a degenerate model: nothing can be rated
        }
    }

    // By how much a change alters the score; infinite where it cannot be fitted.
    double gain(const Change& change) const {
        if (Sigma_.empty()) return infinity;
        try {
            if (change.which < 0) return rated(change, 0.0);
            return std::min(rated(change, table_.set.enlarged_loading), rated(change, -table_.set.enlarged_loading));
        } catch (const Singular&) {
            return infinity;
        }
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    // The moments that are named in nearby_fit.hpp.
    void complete(std::size_t m, std::size_t p) {
        const std::size_t l = m - p;
        Sigma_ = inverted(K_, m);
        if (!l) return;
        Vector own(l * l), across(l * p), seen(table_.R, table_.R + p * p);
        for (std::size_t a = 0; a < l; ++a) {
            std::copy_n(K_.begin() + (p + a) * m + p, l, own.begin() + a * l);
            for (std::size_t i = 0; i < p; ++i) across[a * p + i] = -K_[(p + a) * m + i];
        }
        N_ = inverted(own, l);
        const Vector slopes = product(N_, across, l, l, p);  // of latent nodes on the others
        across_ = product(slopes, seen, l, p, p);
        completed_ = product(across_, transposed(slopes, l, p), l, p, l);
        for (std::size_t i = 0; i < l * l; ++i) completed_[i] += N_[i];
    }

    // Which rows move, and the nodes that they touch: observed ones with rows that move, other observed ones, latent ones.
    struct Touched {
        std::vector<int> nodes;
        std::size_t own = 0, seen = 0;
        std::vector<std::size_t> rows, place;  // of those that move; of every node
    };

    template <class Place>
    void add_row(int v, const Place& place, std::size_t stride, Vector& K) const {
        const double weight = std::exp(-model_.log_variance[v]);
        std::vector<std::pair<std::size_t, double>> row{{place(v), 1.0}};
        for (std::size_t i = 0; i < model_.parents[v].size(); ++i)
            row.emplace_back(place(model_.parents[v][i]), -model_.slopes[v][i]);
        for (auto [u, x] : row)
            for (auto [w, y] : row) K[u * stride + w] += weight * x * y;
    }

    template <class Place>
    void add_loadings(std::size_t j, const Place& place, std::size_t stride, Vector& K) const {
        const Nodes& nodes = model_.selections[j];
        for (std::size_t a = 0; a < nodes.size(); ++a)
            for (std::size_t b = 0; b < nodes.size(); ++b)
                K[place(nodes[a]) * stride + place(nodes[b])] += model_.loadings[j][a] * model_.loadings[j][b];
    }

    // The nodes that a change ties move, and as selection reaches ancestors, their parents.
    Touched touched(const Change& change) const {
        const int m = model_.m();
        std::vector<char> moves(std::size_t(m + 1), 0), met(std::size_t(m + 1), 0);
        for (int v : change.nodes) {
            moves[v] = 1;
            if (change.kind == SELECTION)
                for (int u : model_.parents[v]) moves[u] = 1;
        }
        for (int v = 0; v < m; ++v) {
            if (!moves[v]) continue;
            met[v] = 1;
            for (int u : model_.parents[v]) met[u] = 1;
        }
        met[m] = change.kind == LATENT;
        Touched found;
        const auto add = [&](int first, int end, auto wanted) {
            for (int v = first; v < end; ++v)
                if (met[v] && wanted(v)) found.nodes.push_back(v);
        };
        add(0, model_.p, [&](int v) { return moves[v]; });
        found.own = found.nodes.size();
        add(0, model_.p, [&](int v) { return !moves[v]; });
        found.seen = found.nodes.size();
        add(model_.p, m + 1, [](int) { return true; });
        found.place.assign(std::size_t(m + 1), 0);
        for (std::size_t i = 0; i < found.nodes.size(); ++i) {
            found.place[found.nodes[i]] = i;
            if (moves[found.nodes[i]]) found.rows.push_back(i);
        }
        return found;
    }

    // Their moments; a new latent node is independent of all.
    Moments moments_of(const Touched& at) const {
        const std::size_t k = at.nodes.size(), l = k - at.seen, m = std::size_t(model_.m()), p = std::size_t(model_.p);
        Moments found{Vector(k * k, 0.0), Vector(k * k, 0.0), Vector(l * l, 0.0)};
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j < k; ++j) {
                const std::size_t u = std::size_t(at.nodes[i]), v = std::size_t(at.nodes[j]), here = i * k + j;
                if (u == m || v == m) {
                    found.Sigma[here] = found.C[here] = u == v ? 1.0 : 0.0;
                    continue;
                }
                found.Sigma[here] = Sigma_[u * m + v];
                if (u < p && v < p) found.C[here] = table_.R[u * p + v];
                else if (u < p) found.C[here] = across_[(v - p) * p + u];
                else if (v < p) found.C[here] = across_[(u - p) * p + v];
                else found.C[here] = completed_[(u - p) * (m - p) + (v - p)];
            }
        for (std::size_t a = 0; a < l; ++a)
            for (std::size_t b = 0; b < l; ++b) {
                const std::size_t u = std::size_t(at.nodes[at.seen + a]), v = std::size_t(at.nodes[at.seen + b]);
                found.N[a * l + b] = u == m || v == m ? double(u == v) : N_[(u - p) * (m - p) + (v - p)];
            }
        return found;
    }

    // Whether a change takes the edge between two nodes away.
    static bool drops(const Change& change, int u, int v) {
        const auto tied = [&](int w) { return std::binary_search(change.nodes.begin(), change.nodes.end(), w); };
        return tied(u) && tied(v) && (change.which < 0 || u == change.node || v == change.node);
    }

    double rated(const Change& change, double enlarged) const {
        const Touched at = touched(change);
        const std::size_t k = at.nodes.size();
        const auto place = [&](int v) { return at.place[v]; };
        Block block;
        block.k = k, block.seen = at.seen, block.own = at.own, block.selections = change.kind == SELECTION;
        block.without = 0.0;
        Vector x, was(k * k, 0.0);
        int dropped = 0;
        const Vector loadings = loadings_of(change, enlarged);
        for (std::size_t i : at.rows) {
            const int v = at.nodes[i];
            add_row(v, place, k, was);
            for (std::size_t e = 0; e < model_.parents[v].size(); ++e) {
                const int u = model_.parents[v][e];
                if (drops(change, u, v)) {
                    ++dropped;
                    continue;
                }
                block.heads.push_back(i), block.tails.push_back(place(u));
                x.push_back(model_.slopes[v][e]);
            }
        }
        for (std::size_t i = 0; i < change.nodes.size(); ++i) {
            if (change.kind == LATENT) {
                block.heads.push_back(place(change.nodes[i])), block.tails.push_back(k - 1);
                x.push_back(loadings[i]);
            } else {
                block.loaded.push_back(place(change.nodes[i])), block.loads_on.push_back(0);
            }
        }
        for (std::size_t i = 0; i < at.own; ++i) {
            const double had = model_.log_variance[at.nodes[i]];
            x.push_back(change.kind == LATENT ? std::max(had, std::log(0.1)) : had);
        }
        if (change.kind == SELECTION) x.insert(x.end(), loadings.begin(), loadings.end());
        if (change.which >= 0) add_loadings(std::size_t(change.which), place, k, was);
        for (std::size_t i = 0; i < x.size(); ++i) block.moving.push_back(i);
        NearbyFit fit(block, at.rows, moments_of(at), std::move(was));
        fit.fit(x, table_.set.rough_tolerance / table_.n, table_.set.rough_steps);
        const double gain = table_.n * (fit.value(x.data()) - fit.before()) + table_.price * (cost_of(change) - double(dropped));
        return std::isfinite(gain) ? gain : infinity;
    }

    // Where the loadings of the hidden node begin.
    Vector loadings_of(const Change& change, double enlarged) const {
        const Nodes& nodes = change.nodes;
        const std::size_t k = nodes.size(), m = std::size_t(model_.m());
        if (change.which >= 0) {
            const Nodes& inside = model_.selections[change.which];
            Vector loadings = model_.loadings[change.which];
            loadings.insert(loadings.begin() + (std::lower_bound(inside.begin(), inside.end(), change.node) - inside.begin()),
                            enlarged);
            return loadings;
        }
        Vector among(k * k, 0.0);
        if (change.kind == SELECTION) {
            for (std::size_t i = 0; i < k; ++i)
                for (std::size_t j = 0; j < k; ++j)
                    if (i != j) among[i * k + j] = K_[std::size_t(nodes[i]) * m + nodes[j]];
            return leading(among, k, table_.set);
        }
        const auto row = [&](int v, const auto& use) {  // of I - B, without edges among the nodes
            use(std::size_t(v), 1.0);
            for (std::size_t e = 0; e < model_.parents[v].size(); ++e)
                if (!drops(change, model_.parents[v][e], v)) use(std::size_t(model_.parents[v][e]), -model_.slopes[v][e]);
        };
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                double sum = 0.0;
                row(nodes[i], [&](std::size_t u, double a) {
                    row(nodes[j], [&](std::size_t v, double b) { sum += a * b * Sigma_[u * m + v]; });
                });
                among[i * k + j] = among[j * k + i] = i == j ? sum / 2 : sum;
            }
        return leading(among, k, table_.set);
    }

    // What the hidden node costs more than before, in prices: parameters, and what inflation adds to them.
    double cost_of(const Change& change) const {
        const auto cost = [&](const Nodes& nodes) {  // which are observed
            const double more = table_.inflation ? mean_inflation(table_.inflation, std::size_t(model_.p), nodes) - 1 : 0.0;
            return double(nodes.size()) - double(nodes.size() == 2) + more;
        };
        return cost(change.nodes) - (change.which < 0 ? 0.0 : cost(model_.selections[change.which]));
    }

    const SparseModel& model_;
    const Table& table_;
    Vector K_, Sigma_, N_, across_, completed_;  // the last: of latent nodes and the others, and of latent nodes
};

}  // namespace lmarvel
