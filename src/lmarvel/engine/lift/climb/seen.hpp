// The graphs that a search has met on its way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "lift/climb/ancestral.hpp"

namespace lmarvel {

// The graphs that a search met, in order, each as the list of its edges: p, then (x p + y) 8 + kind, ascending.
class Seen {
public:
    explicit Seen(double near) : near_(near) {}

    struct Met {
        double score;
        std::vector<std::uint32_t> edges;
    };

    double best = std::numeric_limits<double>::infinity();
    std::vector<Met> met;

    template <int W>
    void see(double score, const Ancestral<W>& graph) {
        if (score > best + near_) return;
        best = std::min(best, score);
        met.push_back({score, edges_of(graph)});
    }

    template <int W>
    static std::vector<std::uint32_t> edges_of(const Ancestral<W>& graph) {
        const std::uint32_t p = std::uint32_t(graph.size());
        std::vector<std::uint32_t> edges{p};
        edges.reserve(1 + graph.n_edges);
        for (std::uint32_t x = 0; x < p; ++x)
            graph.adjacent(int(x)).each([&](int y) {
                if (std::uint32_t(y) > x)
                    edges.push_back((x * p + std::uint32_t(y)) * 8 + std::uint32_t(graph.edge(int(x), y)));
            });
        return edges;
    }

private:
    double near_;  // how far from the best graph, in units of the score
};

}  // namespace lmarvel
