// Models of many variables, of which a change concerns a region: the twin of tests/reference/lift/hidden_regions.py.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/linear.hpp"

namespace lmarvel {

using Nodes = std::vector<int>;  // ascending

// Observed nodes (the first p), latent nodes, and for each selection node its parents; with parameters beside them.
struct SparseModel {
    int p = 0;
    std::vector<Nodes> parents, selections;
    std::vector<Vector> slopes, loadings;
    Vector log_variance;
    std::vector<int> order;  // of observed and latent nodes, causes first
    double score = 0.0;

    int m() const { return int(parents.size()); }
    bool has_hidden() const { return m() > p || !selections.empty(); }
    bool has_parameters_of(const SparseModel& other) const {
        return slopes == other.slopes && loadings == other.loadings && log_variance == other.log_variance;
    }
};

// Some nodes, and the observed parents that they have outside: their model is given those, whatever these hang on.
struct Region {
    Nodes nodes;               // own and outside observed ones, ascending, then latent ones
    int p = 0;                 // observed
    std::vector<char> outside;
    std::vector<int> selections;  // the selection nodes over its own nodes
};

// Who is near whom in a model.
class Surroundings {
public:
    explicit Surroundings(const SparseModel& model) : model_(model), children_(model.parents.size()), chosen_(model.parents.size()) {
        for (int v = 0; v < model.m(); ++v)
            for (int u : model.parents[v]) children_[u].push_back(v);
        for (std::size_t j = 0; j < model.selections.size(); ++j)
            for (int v : model.selections[j]) chosen_[v].push_back(int(j));
    }

    const Nodes& children(int v) const { return children_[v]; }

    // The nodes, their parents and their children.
    Nodes near(const Nodes& nodes) const {
        std::set<int> around(nodes.begin(), nodes.end());
        for (int v : nodes) {
            around.insert(model_.parents[v].begin(), model_.parents[v].end());
            around.insert(children_[v].begin(), children_[v].end());
        }
        return {around.begin(), around.end()};
    }

    // All within two steps in the moral graph, or one where these are too many, and what lies between them; what hidden
    // nodes tie together is whole.
    Region around(const Nodes& nodes, int most) const {
        const Nodes one = with_neighbors(nodes), two = with_neighbors(one);
        Nodes own = closed(int(two.size()) <= most ? two : one);
        for (std::size_t before = 0; before < own.size();) {
            before = own.size();
            own = closed(between(own));
        }
        return region_of(own);
    }

    // Some nodes with their outside parents.
    Region region_of(const Nodes& own) const {
        std::vector<char> inside(model_.parents.size(), 0);
        for (int v : own) inside[v] = 1;
        std::set<int> seen, beside;
        std::set<int> selections;
        Nodes latent;
        for (int v : own) {
            if (v < model_.p) seen.insert(v);
            else latent.push_back(v);
            for (int u : model_.parents[v])
                if (!inside[u]) seen.insert(u);
            selections.insert(chosen_[v].begin(), chosen_[v].end());
        }
        Region region;
        region.nodes.assign(seen.begin(), seen.end());
        region.p = int(seen.size());
        region.nodes.insert(region.nodes.end(), latent.begin(), latent.end());
        for (int v : region.nodes) region.outside.push_back(!inside[v]);
        region.selections.assign(selections.begin(), selections.end());
        return region;
    }

    // The sets of nodes that latent and selection nodes tie together, and all others alone.
    std::vector<Nodes> blocks() const {
        const int m = model_.m();
        std::vector<int> group(m);
        for (int v = 0; v < m; ++v) group[v] = v;
        const std::function<int(int)> top = [&](int v) { return group[v] == v ? v : group[v] = top(group[v]); };
        const auto tie = [&](int a, int b) {
            a = top(a), b = top(b);
            group[std::max(a, b)] = std::min(a, b);
        };
        for (int latent = model_.p; latent < m; ++latent)
            for (int v : children_[latent]) tie(latent, v);
        for (const Nodes& nodes : model_.selections) {
            std::vector<char> met(m, 0);
            std::vector<int> left(nodes);
            while (!left.empty()) {
                const int v = left.back();
                left.pop_back();
                if (met[v]) continue;
                met[v] = 1;
                tie(v, nodes[0]);
                left.insert(left.end(), model_.parents[v].begin(), model_.parents[v].end());
            }
        }
        std::vector<Nodes> found(m);
        for (int v = 0; v < m; ++v) found[top(v)].push_back(v);
        found.erase(std::remove_if(found.begin(), found.end(), [](const Nodes& nodes) { return nodes.empty(); }),
                    found.end());
        return found;
    }

private:
    // All nodes on directed paths between nodes: then no path that leaves a region comes back, so no change closes a cycle.
    Nodes between(const Nodes& nodes) const {
        const auto reached = [&](const std::vector<Nodes>& next) {
            std::set<int> met;
            std::vector<int> left(nodes);
            while (!left.empty()) {
                const int v = left.back();
                left.pop_back();
                if (met.insert(v).second) left.insert(left.end(), next[v].begin(), next[v].end());
            }
            return met;
        };
        const std::set<int> above = reached(model_.parents), below = reached(children_);
        Nodes found;
        std::set_intersection(above.begin(), above.end(), below.begin(), below.end(), std::back_inserter(found));
        return found;
    }

    Nodes with_neighbors(const Nodes& nodes) const {
        std::set<int> around(nodes.begin(), nodes.end());
        for (int v : nodes) {
            around.insert(model_.parents[v].begin(), model_.parents[v].end());
            for (int w : children_[v]) {
                around.insert(w);
                around.insert(model_.parents[w].begin(), model_.parents[w].end());
            }
            for (int j : chosen_[v]) around.insert(model_.selections[j].begin(), model_.selections[j].end());
        }
        return {around.begin(), around.end()};
    }

    // With all latent nodes that are parents, their children, and all members of selection nodes.
    Nodes closed(const Nodes& nodes) const {
        std::set<int> inside;
        std::vector<int> left(nodes);
        while (!left.empty()) {
            const int v = left.back();
            left.pop_back();
            if (!inside.insert(v).second) continue;
            for (int u : model_.parents[v])
                if (u >= model_.p) left.push_back(u);
            if (v >= model_.p) left.insert(left.end(), children_[v].begin(), children_[v].end());
            for (int j : chosen_[v]) left.insert(left.end(), model_.selections[j].begin(), model_.selections[j].end());
        }
        return {inside.begin(), inside.end()};
    }

    const SparseModel& model_;
    std::vector<Nodes> children_;
    std::vector<std::vector<int>> chosen_;  // selection nodes of each
};

// The model of a region by itself: outside nodes come first in its order, and have no parents.
inline SparseModel extracted(const SparseModel& model, const Region& region) {
    std::vector<int> place(model.parents.size(), -1);
    for (std::size_t i = 0; i < region.nodes.size(); ++i) place[region.nodes[i]] = int(i);
    const auto moved = [&](const Nodes& nodes) {
        Nodes local;
        for (int v : nodes) local.push_back(place[v]);
        return local;
    };
    SparseModel part;
    part.p = region.p;
    for (std::size_t i = 0; i < region.nodes.size(); ++i) {
        const int v = region.nodes[i];
        part.parents.push_back(region.outside[i] ? Nodes{} : moved(model.parents[v]));
        part.slopes.push_back(region.outside[i] ? Vector{} : model.slopes[v]);
        part.log_variance.push_back(region.outside[i] ? 0.0 : model.log_variance[v]);
    }
    for (int j : region.selections) {
        part.selections.push_back(moved(model.selections[j]));
        part.loadings.push_back(model.loadings[j]);
    }
    for (bool outside : {true, false})
        for (int v : model.order)
            if (place[v] >= 0 && bool(region.outside[place[v]]) == outside) part.order.push_back(place[v]);
    return part;
}

// What a region hangs on, for memories.
inline Words structure_of(const SparseModel& part, const Region& region) {
    Words key;
    const auto remember = [&](const Nodes& nodes) {
        key.push_back(nodes.size());
        for (int v : nodes) key.push_back(std::uint64_t(v));
    };
    key.push_back(std::uint64_t(region.p));
    key.push_back(region.nodes.size());
    for (int i = 0; i < region.p; ++i) key.push_back(2 * std::uint64_t(region.nodes[i]) + region.outside[i]);
    for (const Nodes& nodes : part.parents) remember(nodes);
    for (const Nodes& nodes : part.selections) remember(nodes);
    return key;
}

// What a region becomes.
struct Replaced {
    const Region* region;
    const SparseModel* part;
};

// A model with other parts in place of some regions that have no node of their own in common; none where that is cyclic.
// Hidden nodes of the regions come last.
inline std::optional<SparseModel> inserted(const SparseModel& model, const std::vector<Replaced>& changes) {
    const int p = model.p, m = model.m();
    std::vector<int> now(m), at(m);  // the new number of each node, -1 for latent nodes that go; places in the order
    std::vector<char> gone(model.selections.size(), 0);
    for (int i = 0; i < m; ++i) at[model.order[i]] = i;
    for (const Replaced& change : changes) {
        for (int v : change.region->nodes)
            if (v >= p) now[v] = -1;
        for (int j : change.region->selections) gone[j] = 1;
    }
    int size = p;
    for (int v = 0; v < m; ++v)
        if (v < p) now[v] = v;
        else if (now[v] >= 0) now[v] = size++;
    SparseModel made;
    made.p = p;
    made.parents.resize(size), made.slopes.resize(size), made.log_variance.resize(size);
    using Key = std::tuple<int, int, int>;  // a place in the order that was, then by part and place in its order
    std::vector<Key> key(size);
    for (int v = 0; v < m; ++v) {
        if (now[v] < 0) continue;
        for (int u : model.parents[v]) made.parents[now[v]].push_back(now[u]);
        made.slopes[now[v]] = model.slopes[v], made.log_variance[now[v]] = model.log_variance[v];
        key[now[v]] = {at[v], 0, 0};
    }
    for (std::size_t j = 0; j < model.selections.size(); ++j) {
        if (gone[j]) continue;
        made.selections.emplace_back();
        for (int v : model.selections[j]) made.selections.back().push_back(now[v]);
        made.loadings.push_back(model.loadings[j]);
    }
    for (std::size_t c = 0; c < changes.size(); ++c) {
        const auto& [region, part] = changes[c];
        std::vector<int> number(region->nodes.begin(), region->nodes.begin() + region->p), places;
        for (int i = region->p; i < part->m(); ++i) number.push_back(size++);
        made.parents.resize(size), made.slopes.resize(size), made.log_variance.resize(size), key.resize(size);
        const auto moved = [&](const Nodes& nodes) {
            Nodes all;
            for (int v : nodes) all.push_back(number[v]);
            return all;
        };
        const auto is_outside = [r = region](int i) { return i < r->p && r->outside[i]; };
        for (int i = 0; i < part->m(); ++i) {
            if (is_outside(i)) continue;
            made.parents[number[i]] = moved(part->parents[i]);
            made.slopes[number[i]] = part->slopes[i], made.log_variance[number[i]] = part->log_variance[i];
        }
        for (std::size_t j = 0; j < part->selections.size(); ++j) {
            made.selections.push_back(moved(part->selections[j]));
            made.loadings.push_back(part->loadings[j]);
        }
        for (std::size_t i = 0; i < region->nodes.size(); ++i)
            if (!region->outside[i]) places.push_back(at[region->nodes[i]]);
        std::sort(places.begin(), places.end());
        Nodes own;
        for (int i : part->order)
            if (!is_outside(i)) own.push_back(i);
        const int more = int(own.size()) - int(places.size());  // the last ones get the last places
        for (int i = 0; i < int(own.size()); ++i)
            key[number[own[i]]] = {i < more ? -1 : places[i - more], int(c), i};
    }
    std::vector<int> waits(size);
    std::vector<Nodes> children(size);
    for (int v = 0; v < size; ++v) {
        waits[v] = int(made.parents[v].size());
        for (int u : made.parents[v]) children[u].push_back(v);
    }
    std::priority_queue<std::pair<Key, int>, std::vector<std::pair<Key, int>>, std::greater<>> ready;
    for (int v = 0; v < size; ++v)
        if (!waits[v]) ready.emplace(key[v], v);
    while (!ready.empty()) {
        const int v = ready.top().second;
        ready.pop();
        made.order.push_back(v);
        for (int w : children[v])
            if (!--waits[w]) ready.emplace(key[w], w);
    }
    if (int(made.order.size()) < size) return std::nullopt;
    return made;
}

}  // namespace lmarvel
