// From a DAG to an ancestral graph: the twin of lmarvel.search.lifting.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lift/climb/climb.hpp"

namespace lmarvel {

template <int W>
class Lifting {
public:
    using Set = Bits<W>;
    using Graph = Ancestral<W>;
    using Pairs = typename Climb<W>::Pairs;

    struct Found {
        Graph graph;
        double score;
    };
    struct Way {
        bool selection, latents;  // whether such edges may be put
        const Watch& watch;
        Seen& seen;
    };

    // The correlations of m variables and their inverse.
    Lifting(const double* R, const Vector& precision, int m, double n, double price, double noise,
            const LiftConstants& constants)
        : m_(m), price_(price), noise_(noise), set_(constants), scores_(R, m, n), near_(std::size_t(m) * m) {
        for (std::size_t x = 0; x < std::size_t(m); ++x)
            for (std::size_t y = 0; y < std::size_t(m); ++y) {
                const double scale = std::sqrt(precision[x * m + x]) * std::sqrt(precision[y * m + y]);
                const double partial = precision[x * m + y] / scale;
                near_[x * m + y] = -n * std::log(std::max(1 - partial * partial, 1e-12)) > price;
            }
    }

    double score(const Graph& graph) { return scores_.rows() * scores_.of_graph(graph) + price_ * graph.n_edges; }

    // Whether all fits so far came to their end.
    bool converged() const { return scores_.converged; }

    Found climb(Graph graph, const Way& way) {
        Found found{std::move(graph), 0.0};
        climb_from(found, way);
        return found;
    }

private:
    // Take all kinds of steps until the score rests.
    void climb_from(Found& now, const Way& way) {
        now.score = score(now.graph);
        way.seen.see(now.score, now.graph);
        for (int round = 0; round < set_.climb_rounds; ++round) {
            const double before = now.score;
            if (way.selection) undirect(now, way);
            single(now, way, false);
            if (way.latents) {
                Found lifted = now;
                bidirect(lifted, way);
                single(lifted, way, true);
                if (lifted.score < now.score - std::max(noise_, set_.margin * price_)) now = std::move(lifted);
            }
            if (now.score > before - noise_) return;
            now.graph = direct_chordal(now.graph);
        }
    }

    // --- undirected edges -----------------------------------------------------------------------------------

    // Undirect the set of anteriors that gains most, while one gains.
    void undirect(Found& now, const Way& way) {
        for (;;) {
            double best = now.score - noise_;
            std::optional<Graph> found;
            for (const Set& nodes : anteriors(now.graph)) {
                std::optional<Graph> candidate = undirected(now.graph, nodes);
                if (!candidate) continue;
                thin_out(*candidate, nodes);
                if (candidate->limits != nullptr && !candidate->limits->fits(*candidate)) continue;
                way.watch.check();
                const double value = score(*candidate);
                way.seen.see(value, *candidate);
                if (value < best) best = value, found = std::move(candidate);
            }
            if (!found) return;
            now.graph = std::move(*found);
            now.score = best;
        }
    }

    // The sets to undirect: each variable with all its anteriors.
    std::vector<Set> anteriors(const Graph& graph) const {
        std::vector<Set> step(graph.size()), found;
        for (int v = 0; v < graph.size(); ++v) step[v] = graph.parents[v] | graph.neighbors[v];
        for (int v = 0; v < graph.size(); ++v) {
            const Set nodes = closure(step, Set::of(v));
            const int size = nodes.count();
            if (set_.smallest_region <= size && size <= set_.largest_region && std::find(found.begin(), found.end(), nodes) == found.end())
                found.push_back(nodes);
        }
        return found;
    }

    // The graph in which an anterior set has undirected edges only; none where that cannot be.
    static std::optional<Graph> undirected(const Graph& graph, const Set& nodes) {
        bool possible = true;
        nodes.each([&](int v) { possible = possible && !graph.spouses[v].meets(nodes); });
        if (!possible) return std::nullopt;
        Graph twin = graph;
        nodes.each([&](int v) { graph.spouses[v].each([&](int w) { twin.set_edge(v, w, FORTH); }); });
        std::vector<int> parents;
        nodes.each([&](int v) {
            graph.parents[v].members(parents);
            for (std::size_t i = 0; i < parents.size(); ++i) {
                twin.set_edge(parents[i], v, UNDIRECTED);
                for (std::size_t j = i + 1; j < parents.size(); ++j)
                    if (!twin.adjacent(parents[i]).has(parents[j])) twin.set_edge(parents[i], parents[j], UNDIRECTED);
            }
        });
        if (!twin.settle()) return std::nullopt;
        return twin;
    }

    // Take the undirected edges among nodes off that are not worth their price.
    void thin_out(Graph& graph, const Set& nodes) {
        std::vector<int> order;
        nodes.members(order);
        const std::size_t k = order.size();
        const std::vector<char> joined = scores_.joined_among(order, graph.neighbors);
        Words key;
        append(key, nodes);
        for (int v : order) append(key, graph.neighbors[v] & nodes);
        auto known = thinned_.find(key);
        if (known == thinned_.end())
            known = thinned_.emplace(key, thin(scores_.among(order), joined, k, scores_.rows(), price_,
                                               set_.next_to_nothing, scores_.work)).first;
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = i + 1; j < k; ++j)
                if (joined[i * k + j] && !known->second[i * k + j]) graph.set_edge(order[i], order[j], NO_EDGE);
    }

    // --- single edges and latent causes ---------------------------------------------------------------------

    // Change single edges; keep what gains.
    void single(Found& now, const Way& way, bool latents) {
        Pairs pairs;
        for (int x = 0; x < m_; ++x) {
            const Set joined = now.graph.adjacent(x);
            for (int y = x + 1; y < m_; ++y)
                if (near_[std::size_t(x) * m_ + y] || joined.has(y)) pairs.emplace_back(x, y);
        }
        std::vector<Edge> kinds{FORTH, BACK};
        if (latents) kinds.push_back(BOTH);
        kinds.push_back(NO_EDGE);
        if (way.selection) kinds.push_back(UNDIRECTED);
        Graph graph = now.graph;
        Climb<W> climb(scores_, graph, price_, pairs, std::move(kinds));
        climb.run(way.watch, way.seen, noise_);
        const double score = climb.score();
        if (score < now.score - noise_) now = {std::move(graph), score};
    }

    // Make a directed edge bidirected, and adapt the edges at its ends; keep what gains.
    void bidirect(Found& now, const Way& way) {
        for (bool improved = true; improved;) {
            improved = false;
            Pairs edges;  // cause and effect
            for (int y = 0; y < m_; ++y) now.graph.parents[y].each([&](int x) { edges.emplace_back(x, y); });
            for (const auto& [x, y] : edges)
                if (now.graph.parents[y].has(x)) improved |= make_bidirected(now, way, x, y);
        }
    }

    bool make_bidirected(Found& now, const Way& way, int x, int y) {
        const double enough = now.score - noise_;
        std::optional<Graph> candidate = bidirected(now.graph, x, y);
        if (!candidate) return false;
        Pairs ends;
        for (int v : {x, y}) candidate->adjacent(v).each([&](int u) { ends.emplace_back(std::min(v, u), std::max(v, u)); });
        std::sort(ends.begin(), ends.end());
        ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
        // What x <-> y is good for is that an edge becomes superfluous; only then other changes are tried.
        Climb<W> first(scores_, *candidate, price_, ends, {NO_EDGE});
        if (first.score() > enough) first.run(way.watch, way.seen, noise_, 1);
        if (first.score() > enough) return false;
        Climb<W> second(scores_, *candidate, price_, ends, {NO_EDGE, BOTH, FORTH, BACK});
        second.run(way.watch, way.seen, noise_, set_.local_steps);
        const double score = second.score();
        if (!(score < enough)) return false;
        now = {std::move(*candidate), score};
        return true;
    }

    // The graph with x <-> y in place of x --> y; what lies between them is turned round. None where that cannot be.
    static std::optional<Graph> bidirected(const Graph& graph, int x, int y) {
        Graph twin = graph;
        if (!graph.is_legal(x, y, BOTH))
            (graph.children[x] & graph.ancestors[y]).without(y).each([&](int z) { twin.set_edge(z, x, FORTH); });
        twin.set_edge(x, y, BOTH);
        if (!twin.settle()) return std::nullopt;
        return twin;
    }

    int m_;
    double price_, noise_;
    const LiftConstants& set_;
    BlockScores<W> scores_;
    std::vector<char> near_;
    std::unordered_map<Words, std::vector<char>, HashWords> thinned_;
};

}  // namespace lmarvel
