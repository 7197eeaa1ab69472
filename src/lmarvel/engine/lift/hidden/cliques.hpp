// Sets of nodes that a hidden node may tie together: the twin of joined_sets in tests/reference/lift/hidden_parts.py.
#pragma once

#include <algorithm>
#include <vector>

#include "base/bits.hpp"
#include "lift/constants.hpp"

namespace lmarvel {

// What sets of nodes are asked; a name of its own each, for `Bits` belongs to the order search.
template <int W>
Bits<W> common(Bits<W> a, const Bits<W>& b) {
    for (int i = 0; i < W; ++i) a.word[i] &= b.word[i];
    return a;
}

template <int W>
Bits<W> joined(Bits<W> a, const Bits<W>& b) {
    for (int i = 0; i < W; ++i) a.word[i] |= b.word[i];
    return a;
}

template <int W>
Bits<W> without(Bits<W> a, const Bits<W>& b) {
    for (int i = 0; i < W; ++i) a.word[i] &= ~b.word[i];
    return a;
}

template <int W>
bool is_empty(const Bits<W>& a) {
    for (auto w : a.word)
        if (w) return false;
    return true;
}

template <int W>
bool meets(const Bits<W>& a, const Bits<W>& b) {
    for (int i = 0; i < W; ++i)
        if (a.word[i] & b.word[i]) return true;
    return false;
}

template <int W>
Bits<W> single(int v) {
    Bits<W> one{};
    one.add(v);
    return one;
}

// The first `n` nodes.
template <int W>
Bits<W> first_nodes(int n) {
    Bits<W> all{};
    for (int v = 0; v < n; ++v) all.add(v);
    return all;
}

template <int W>
std::vector<int> members_of(const Bits<W>& a) {
    std::vector<int> out;
    a.members(out);
    return out;
}

// Calls visit(clique) for every maximal clique of an undirected graph (Bron & Kerbosch 1973, with pivots).
template <int W, class Visit>
void maximal_cliques(const std::vector<Bits<W>>& adjacent, Bits<W> clique, Bits<W> candidates, Bits<W> excluded,
                     const Visit& visit) {
    const Bits<W> both = joined(candidates, excluded);
    if (is_empty(both)) return visit(clique);
    int pivot = -1, most = -1;
    for (int u : members_of(both)) {
        const int count = common(adjacent[u], candidates).count();
        if (count > most) most = count, pivot = u;
    }
    for (int v : members_of(without(candidates, adjacent[pivot]))) {
        Bits<W> larger = clique;
        larger.add(v);
        maximal_cliques(adjacent, larger, common(candidates, adjacent[v]), common(excluded, adjacent[v]), visit);
        candidates.drop(v);
        excluded.add(v);
    }
}

// The largest maximal cliques of the first p nodes, then their edges and triangles. `check` may throw.
template <int W, class Check>
std::vector<Bits<W>> joined_sets(const std::vector<Bits<W>>& parents, int p, const std::vector<Bits<W>>& but,
                                 const LiftConstants& set, const Check& check) {
    const std::size_t most_cliques = std::size_t(std::max(set.largest_cliques, p / 2));
    const std::size_t most_sets = std::size_t(std::max(set.most_sets, 10 * p));
    const Bits<W> seen = first_nodes<W>(p);
    std::vector<Bits<W>> adjacent(p);
    for (int v = 0; v < p; ++v) adjacent[v] = common(parents[v], seen);
    for (int v = 0; v < p; ++v)
        for (int u : members_of(common(parents[v], seen))) adjacent[u].add(v);
    std::vector<Bits<W>> found;
    maximal_cliques(adjacent, Bits<W>{}, seen, Bits<W>{}, [&](const Bits<W>& clique) {
        check();
        if (clique.count() > 3) found.push_back(clique);
    });
    std::stable_sort(found.begin(), found.end(),
                     [](const Bits<W>& a, const Bits<W>& b) { return a.count() > b.count(); });
    if (found.size() > most_cliques) found.resize(most_cliques);
    std::vector<std::pair<int, int>> edges;
    for (int v = 0; v < p; ++v)
        for (int u : members_of(adjacent[v]))
            if (u < v) edges.emplace_back(u, v);
    for (auto [u, v] : edges) found.push_back(joined(single<W>(u), single<W>(v)));
    for (auto [u, v] : edges)
        for (int w : members_of(common(adjacent[u], adjacent[v])))
            if (w > v) found.push_back(joined(joined(single<W>(u), single<W>(v)), single<W>(w)));
    std::vector<Bits<W>> kept;
    for (const Bits<W>& nodes : found)
        if (kept.size() < most_sets && std::find(but.begin(), but.end(), nodes) == but.end()) kept.push_back(nodes);
    return kept;
}

}  // namespace lmarvel
