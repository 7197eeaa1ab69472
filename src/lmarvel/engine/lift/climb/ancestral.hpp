// The graph that searches walk over: the twin of lmarvel.search.ancestral.
#pragma once

#include <utility>
#include <vector>

#include "base/bits.hpp"
#include "base/names.hpp"

namespace lmarvel {

// Not adjacent, x --> y, x <-- y, x <-> y, x --- y.
#define LMARVEL_EDGES(X)        \
    X(NO_EDGE, "NO_EDGE")       \
    X(FORTH, "FORTH")           \
    X(BACK, "BACK")             \
    X(BOTH, "BOTH")             \
    X(UNDIRECTED, "UNDIRECTED")
enum Edge : int { LMARVEL_EDGES(LMARVEL_MEMBER) };
LMARVEL_NAMES(edge_names, LMARVEL_EDGES)

// Every node that steps of a relation reach from a set, which is included.
template <int W>
Bits<W> closure(const std::vector<Bits<W>>& step, Bits<W> start) {
    Bits<W> reached = start, frontier = start;
    while (frontier.any()) {
        Bits<W> found;
        frontier.each([&](int v) { found |= step[v]; });
        frontier = found.without(reached);
        reached |= frontier;
    }
    return reached;
}

// Simplicial nodes, each with its clique, in the order in which they are taken off, and what is left.
template <int W>
struct Simplicial {
    std::vector<std::pair<int, Bits<W>>> taken;
    Bits<W> left;
};

template <int W>
Simplicial<W> take_off_simplicial(const std::vector<Bits<W>>& adjacent, Bits<W> nodes) {
    Simplicial<W> found;
    for (bool again = true; again;) {
        again = false;
        nodes.each([&](int v) {
            const Bits<W> around = adjacent[v] & nodes;
            bool simplicial = true;
            around.each([&](int w) { simplicial = simplicial && around.without(w).within(adjacent[w]); });
            if (!simplicial) return;
            found.taken.emplace_back(v, around);
            nodes.drop(v);
            again = true;
        });
    }
    found.left = nodes;
    return found;
}

template <int W>
class Limits;

template <int W>
class Ancestral {
public:
    using Set = Bits<W>;
    using Sets = std::vector<Set>;

    explicit Ancestral(int n)
        : parents(n), children(n), spouses(n), neighbors(n), ancestors(n), descendants(n) {
        for (int v = 0; v < n; ++v) ancestors[v] = descendants[v] = Set::of(v);
    }

    Sets parents, children, spouses, neighbors;
    Sets ancestors, descendants;  // each with itself
    int n_edges = 0;
    const Limits<W>* limits = nullptr;  // what more the graph has to be than ancestral

    int size() const { return int(parents.size()); }

    Edge edge(int x, int y) const {
        if (children[x].has(y)) return FORTH;
        if (parents[x].has(y)) return BACK;
        if (neighbors[x].has(y)) return UNDIRECTED;
        return spouses[x].has(y) ? BOTH : NO_EDGE;
    }

    // Put an edge in place of the present one, and leave ancestors as they are: for looking, not for moving.
    void set_edge(int x, int y, Edge kind) {
        n_edges += int(kind != NO_EDGE) - int(edge(x, y) != NO_EDGE);
        for (Sets* sets : {&parents, &children, &spouses, &neighbors}) {
            (*sets)[x].drop(y);
            (*sets)[y].drop(x);
        }
        if (kind == FORTH) {
            children[x].add(y);
            parents[y].add(x);
        } else if (kind == BACK) {
            children[y].add(x);
            parents[x].add(y);
        } else if (kind != NO_EDGE) {
            Sets& sets = kind == BOTH ? spouses : neighbors;
            sets[x].add(y);
            sets[y].add(x);
        }
    }

    void apply(int x, int y, Edge kind) {
        set_edge(x, y, kind);
        close();
    }

    Set adjacent(int v) const { return parents[v] | children[v] | spouses[v] | neighbors[v]; }

    // The district of v, or its component of undirected edges where it has such.
    Set block(int v) const {
        if (neighbors[v].any()) return closure(neighbors, Set::of(v));
        return spouses[v].any() ? closure(spouses, Set::of(v)) : Set::of(v);
    }

    // Find all ancestors and descendants: causes first, then effects first. False where there is a cycle.
    bool close() {
        const int n = size();
        std::vector<int> missing(n), order;
        order.reserve(n);
        for (int v = 0; v < n; ++v) {
            missing[v] = parents[v].count();
            if (!missing[v]) order.push_back(v);
        }
        for (std::size_t i = 0; i < order.size(); ++i) {  // grows while it is read
            const int v = order[i];
            Set above = Set::of(v);
            parents[v].each([&](int u) { above |= ancestors[u]; });
            ancestors[v] = above;
            children[v].each([&](int w) {
                if (!--missing[w]) order.push_back(w);
            });
        }
        for (std::size_t i = order.size(); i-- > 0;) {
            const int v = order[i];
            Set below = Set::of(v);
            children[v].each([&](int w) { below |= descendants[w]; });
            descendants[v] = below;
        }
        return int(order.size()) == n;
    }

    // Whether the graph stays ancestral, and within its limits, with this edge in place of the present one.
    bool is_legal(int x, int y, Edge kind) const {
        return stays_ancestral(x, y, kind) && (limits == nullptr || limits->allows(*this, x, y, kind));
    }

    bool stays_ancestral(int x, int y, Edge kind) const {
        if (kind == NO_EDGE) return true;
        if (kind == UNDIRECTED)
            return !(parents[x] | spouses[x]).without(y).any() && !(parents[y] | spouses[y]).without(x).any();
        if ((kind != FORTH && neighbors[x].without(y).any()) || (kind != BACK && neighbors[y].without(x).any()))
            return false;
        if (kind == BOTH) return !below_without(x, y).has(y) && !below_without(y, x).has(x);
        if (kind == BACK) std::swap(x, y);
        // x --> y makes everything above x an ancestor of everything below y.
        const Set below = below_without(y, x);
        if (below.has(x)) return false;
        Set above = ancestors[x];
        if (parents[x].has(y)) {
            above = Set::of(x);
            parents[x].without(y).each([&](int u) { above |= ancestors[u]; });
        }
        bool legal = true;
        below.each([&](int w) {
            Set joined = spouses[w] & above;
            if (w == y) joined.drop(x);  // x <-> y itself is what the move replaces
            legal = legal && !joined.any();
        });
        return legal;
    }

    // Find ancestors and descendants after several edges were set; tell whether the graph is one that may be.
    bool settle() {
        if (!close()) return false;
        for (int v = 0; v < size(); ++v) {
            if (spouses[v].meets(ancestors[v] | descendants[v])) return false;
            if (neighbors[v].any() && (parents[v] | spouses[v]).any()) return false;
        }
        return limits == nullptr || limits->fits(*this);
    }

    // Whether some undirected component is not chordal: no graph without selection has this class.
    bool has_selection() const {
        Set all;
        for (int v = 0; v < size(); ++v) all.add(v);
        return take_off_simplicial(neighbors, all).left.any();
    }

    // Make <-> of the pairs that an inducing path joins: no set separates them. Such a path has edges <-> only.
    void complete() {
        const Sets beside = spouses;
        for (int x = 0; x < size(); ++x) {
            if (!beside[x].any()) continue;
            closure(beside, Set::of(x)).without(adjacent(x)).each([&](int y) {
                if (y > x && has_inducing_path(beside, x, y)) set_edge(x, y, BOTH);
            });
        }
    }

private:
    // The descendants of v in the graph without the edge v-w.
    Set below_without(int v, int w) const {
        if (!children[v].has(w)) return descendants[v];
        Set below = Set::of(v);
        children[v].without(w).each([&](int u) { below |= descendants[u]; });
        return below;
    }

    // A path on which every inner node is a collider and an ancestor of an end.
    bool has_inducing_path(const Sets& beside, int x, int y) const {
        const Set allowed = (ancestors[x] | ancestors[y]).without(x).without(y);
        Set reached = (children[x] | beside[x]) & allowed, frontier = reached;
        while (frontier.any()) {
            Set found;
            frontier.each([&](int v) { found |= beside[v]; });
            frontier = (found & allowed).without(reached);
            reached |= frontier;
        }
        return reached.meets(children[y] | beside[y]);
    }
};

// A graph of the same class in which the chordal undirected components are directed.
template <int W>
Ancestral<W> direct_chordal(const Ancestral<W>& graph) {
    Ancestral<W> twin = graph;
    Bits<W> done;
    for (int v = 0; v < graph.size(); ++v) {
        if (!graph.neighbors[v].any() || done.has(v)) continue;
        const Bits<W> component = closure(graph.neighbors, Bits<W>::of(v));
        done |= component;
        const Simplicial<W> found = take_off_simplicial(graph.neighbors, component);
        if (found.left.any()) continue;
        for (const auto& [w, clique] : found.taken) {
            const int head = w;
            clique.each([&](int u) { twin.set_edge(u, head, FORTH); });
        }
    }
    twin.close();
    return twin.limits != nullptr && !twin.limits->fits(twin) ? graph : twin;
}

}  // namespace lmarvel
