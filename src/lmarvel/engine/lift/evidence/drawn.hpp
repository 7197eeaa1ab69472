// An ancestral graph as orientation reads it: maximal, with its adjacencies and arrowheads as sets and as a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lift/climb/ancestral.hpp"
#include "orient/orient.hpp"

namespace lmarvel {

template <int W>
class Drawn {
public:
    using Set = Bits<W>;
    using Graph = Ancestral<W>;

    explicit Drawn(int p) : adjacent(std::size_t(p)), into(std::size_t(p)) {}

    std::vector<Set> adjacent, into;  // of each node: its neighbours, and those on whose edge it has an arrowhead
    std::vector<Pair> edges;          // the smaller end first, ascending

    // Draw a graph with the edges that make it maximal, which are all <->.
    void draw(const Graph& graph) {
        for (int v = 0; v < graph.size(); ++v) {
            adjacent[v] = graph.adjacent(v);
            into[v] = graph.parents[v] | graph.spouses[v];
        }
        for (int x = 0; x < graph.size(); ++x)
            if (graph.spouses[x].any())
                closure(graph.spouses, Set::of(x)).without(graph.adjacent(x)).each([&](int y) {
                    if (y > x && is_induced(graph, x, y)) join(x, y);
                });
        edges.clear();
        for (int x = 0; x < graph.size(); ++x)
            for (int y = adjacent[x].next(x + 1); y < graph.size(); y = adjacent[x].next(y + 1))
                edges.emplace_back(Index(x), Index(y));
    }

    // The mark at y on an edge x-y.
    Mark mark(int x, int y) const { return into[y].has(x) ? ARROW : TAIL; }

    // Whether no set separates two variables that are not adjacent; see Inducing in orient/legality.cpp.
    static bool is_induced(const Graph& graph, int x, int y) {
        if (!graph.spouses[x].any() || !graph.spouses[y].any()) return false;
        const Set above = closure(graph.parents, Set::of(x) | Set::of(y)).without(x).without(y);
        Set reached = graph.spouses[x] & above, frontier = reached;
        while (frontier.any()) {
            Set next;
            frontier.each([&](int v) { next |= graph.spouses[v]; });
            frontier = (next & above).without(reached);
            reached |= frontier;
        }
        return reached.meets(graph.spouses[y]);
    }

private:
    void join(int x, int y) {
        for (std::vector<Set>* sets : {&adjacent, &into}) {
            (*sets)[x].add(y);
            (*sets)[y].add(x);
        }
    }
};

}  // namespace lmarvel
