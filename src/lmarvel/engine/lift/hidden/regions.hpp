// Models of many variables, of which a change concerns a region: the twin of tests/reference/lift/hidden_regions.py.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
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

    // All within two steps in the moral graph, and what lies between them; what hidden nodes tie together is whole. Within
    // fewer steps where these are too many.
    Region around(const Nodes& nodes, int most) const {
        const Nodes one = with_neighbors(nodes), two = with_neighbors(one);
        for (const Nodes* near : {&two, &one}) {
            const Nodes own = whole(*near);
            if (int(own.size()) <= most) return region_of(own);
        }
        return region_of(whole(nodes));
    }

    // The nodes, and what hidden nodes tie them to.
    Region closest(const Nodes& nodes) const { return region_of(closed(nodes)); }

    // The nodes and their parents, and what lies between them.
    Region upward(const Nodes& nodes) const {
        std::set<int> above(nodes.begin(), nodes.end());
        for (int v : nodes) above.insert(model_.parents[v].begin(), model_.parents[v].end());
        return region_of(whole({above.begin(), above.end()}));
    }

    // Some nodes with their outside parents.
    Region region_of(const Nodes& own) const {
        std::vector<char> inside(model_.parents.size(), 0);
        for (int v : own) inside[v] = 1;
        std::vector<char> seen(inside), chosen(model_.selections.size(), 0);
        for (int v : own) {
            for (int u : model_.parents[v]) seen[u] = 1;
            for (int j : chosen_[v]) chosen[j] = 1;
        }
        Region region;
        region.nodes = members(seen);
        region.p = int(std::lower_bound(region.nodes.begin(), region.nodes.end(), model_.p) - region.nodes.begin());
        for (int v : region.nodes) region.outside.push_back(!inside[v]);
        region.selections = members(chosen);
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
        for (const Nodes& nodes : model_.selections)
            for (int v : members(reached(nodes, model_.parents))) tie(v, nodes[0]);
        std::vector<Nodes> found(m);
        for (int v = 0; v < m; ++v) found[top(v)].push_back(v);
        found.erase(std::remove_if(found.begin(), found.end(), [](const Nodes& nodes) { return nodes.empty(); }),
                    found.end());
        return found;
    }

private:
    // Closed in both ways: no path that leaves a region comes back, so that no change closes a cycle.
    Nodes whole(const Nodes& nodes) const {
        Nodes own = closed(nodes);
        for (std::size_t before = 0; before < own.size();) {
            before = own.size();
            own = closed(between(own));
        }
        return own;
    }

    // All nodes on directed paths between nodes.
    Nodes between(const Nodes& nodes) const {
        std::vector<char> above = reached(nodes, model_.parents);
        const std::vector<char> below = reached(nodes, children_);
        for (std::size_t v = 0; v < above.size(); ++v) above[v] = above[v] && below[v];
        return members(above);
    }

    // The nodes, and all that are met from there on.
    static std::vector<char> reached(const Nodes& nodes, const std::vector<Nodes>& next) {
        std::vector<char> met(next.size(), 0);
        std::vector<int> left(nodes);
        while (!left.empty()) {
            const int v = left.back();
            left.pop_back();
            if (met[v]) continue;
            met[v] = 1;
            left.insert(left.end(), next[v].begin(), next[v].end());
        }
        return met;
    }

    static Nodes members(const std::vector<char>& set) {
        Nodes found;
        for (std::size_t v = 0; v < set.size(); ++v)
            if (set[v]) found.push_back(int(v));
        return found;
    }

    Nodes with_neighbors(const Nodes& nodes) const {
        std::vector<char> around(model_.parents.size(), 0);
        const auto add = [&](const Nodes& more) {
            for (int v : more) around[v] = 1;
        };
        add(nodes);
        for (int v : nodes) {
            add(model_.parents[v]), add(children_[v]);
            for (int w : children_[v]) add(model_.parents[w]);
            for (int j : chosen_[v]) add(model_.selections[j]);
        }
        return members(around);
    }

    // With all latent nodes that are parents, their children, and all members of selection nodes.
    Nodes closed(const Nodes& nodes) const {
        std::vector<char> inside(model_.parents.size(), 0);
        std::vector<int> left(nodes);
        while (!left.empty()) {
            const int v = left.back();
            left.pop_back();
            if (inside[v]) continue;
            inside[v] = 1;
            for (int u : model_.parents[v])
                if (u >= model_.p) left.push_back(u);
            if (v >= model_.p) left.insert(left.end(), children_[v].begin(), children_[v].end());
            for (int j : chosen_[v]) left.insert(left.end(), model_.selections[j].begin(), model_.selections[j].end());
        }
        return members(inside);
    }

    const SparseModel& model_;
    std::vector<Nodes> children_;
    std::vector<std::vector<int>> chosen_;  // selection nodes of each
};

// What tells models of one graph and score apart: how many hidden nodes, with how many edges, and which. Sets are
// compared as binary numbers.
struct Content {
    std::size_t hidden, touched;
    std::vector<std::vector<int>> children, selections;
    bool operator<(const Content& other) const {
        return std::tie(hidden, touched, children, selections) <
               std::tie(other.hidden, other.touched, other.children, other.selections);
    }
};

inline Content content(const SparseModel& model) {
    Content found{std::size_t(model.m() - model.p) + model.selections.size(), 0, {}, model.selections};
    const Surroundings near(model);
    for (int latent = model.p; latent < model.m(); ++latent) found.children.push_back(near.children(latent));
    for (auto* sets : {&found.children, &found.selections}) {
        for (auto& set : *sets) {
            found.touched += set.size();
            std::reverse(set.begin(), set.end());
        }
        std::sort(sets->begin(), sets->end());
    }
    return found;
}

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
