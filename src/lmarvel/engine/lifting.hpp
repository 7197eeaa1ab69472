// From a DAG to an ancestral graph: the twin of lmarvel.search.lifting.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "climb.hpp"

namespace lmarvel {

// A graph as it comes and goes, whatever W is: of each kind of sets W words for each node. Of what comes only parents,
// spouses and neighbours are read.
struct Sets6 {
    int n = 0, n_edges = 0;
    std::vector<std::uint64_t> parents, children, spouses, neighbors, ancestors, descendants;
};

struct Steps {
    double noise;
    bool selection, latents;
};

class AnyLifting {
public:
    virtual ~AnyLifting() = default;
    virtual int words() const = 0;
    // Tell whether a graph is ancestral: no other may be climbed from.
    virtual bool is_ancestral(const Sets6& rows) const = 0;
    virtual double score(const Sets6& rows) = 0;
    // Climb from a graph, which becomes the one that was found.
    virtual Ended climb(Sets6& rows, const Steps& steps, const Clock& clock, Seen& seen, double* score) = 0;
    // Direct the chordal undirected components.
    virtual void direct(Sets6& rows) const = 0;
    // The marks of the same graph, made maximal: n x n, none of them set before.
    virtual void mag(const Sets6& rows, std::int8_t* marks) const = 0;
    // Whether all fits so far came to their end.
    virtual bool converged() const = 0;
};

template <int W>
class Lifting final : public AnyLifting {
public:
    using Set = Bits<W>;
    using Graph = Ancestral<W>;
    using Pairs = typename Climb<W>::Pairs;

    // `near` tells of each pair whether it is to be looked at though it is not joined.
    Lifting(const double* R, int m, double n, double price, const char* near)
        : m_(m), price_(price), scores_(R, m, n), near_(near, near + std::size_t(m) * m) {}

    int words() const override { return W; }
    bool converged() const override { return scores_.converged; }

    bool is_ancestral(const Sets6& rows) const override {
        Graph graph = read(rows);
        Sets6 again;
        write(graph, again);
        return again.parents == rows.parents && again.spouses == rows.spouses && again.neighbors == rows.neighbors &&
               graph.settle();
    }

    double score(const Sets6& rows) override { return score_of(read(rows)); }

    Ended climb(Sets6& rows, const Steps& steps, const Clock& clock, Seen& seen, double* score) override {
        return watched(clock, [&](Watch& watch) {
            Found found{read(rows), 0.0};
            climb_from(found, Way{steps, watch, seen});
            *score = found.score;
            write(found.graph, rows);
        });
    }

    void direct(Sets6& rows) const override { write(direct_chordal(read(rows)), rows); }

    void mag(const Sets6& rows, std::int8_t* marks) const override {
        constexpr std::int8_t arrow = 2, tail = 3;
        Graph graph = direct_chordal(read(rows));
        graph.complete();
        for (int v = 0; v < m_; ++v) {  // marks[u, v] is the mark at v
            graph.parents[v].each([&](int u) { marks[u * m_ + v] = arrow, marks[v * m_ + u] = tail; });
            graph.spouses[v].each([&](int u) { marks[u * m_ + v] = arrow; });
            graph.neighbors[v].each([&](int u) { marks[u * m_ + v] = tail; });
        }
    }

private:
    static constexpr double margin = 0.75;  // of the price: what latent causes must gain beyond their price
    static constexpr int rounds = 4, smallest = 4, largest = 30, local_steps = 10;

    struct Found {
        Graph graph;
        double score;
    };
    struct Way {
        const Steps& steps;
        Watch& watch;
        Seen& seen;
    };

    static Graph read(const Sets6& rows) {
        Graph graph(rows.n);
        const auto set = [](const std::vector<std::uint64_t>& from, int v) {
            Set found;
            std::copy_n(from.begin() + std::size_t(v) * W, W, found.word.begin());
            return found;
        };
        for (int v = 0; v < rows.n; ++v) {
            set(rows.parents, v).each([&](int u) { graph.set_edge(u, v, FORTH); });
            set(rows.spouses, v).each([&](int u) { graph.set_edge(u, v, BOTH); });
            set(rows.neighbors, v).each([&](int u) { graph.set_edge(u, v, UNDIRECTED); });
        }
        graph.close();
        return graph;
    }

    static void write(const Graph& graph, Sets6& rows) {
        rows.n = graph.size();
        rows.n_edges = graph.n_edges;
        const auto put = [](const std::vector<Set>& sets, std::vector<std::uint64_t>& to) {
            to.clear();
            for (const Set& set : sets) append(to, set);
        };
        put(graph.parents, rows.parents), put(graph.children, rows.children), put(graph.spouses, rows.spouses);
        put(graph.neighbors, rows.neighbors), put(graph.ancestors, rows.ancestors);
        put(graph.descendants, rows.descendants);
    }

    double score_of(const Graph& graph) { return scores_.rows() * scores_.of_graph(graph) + price_ * graph.n_edges; }

    // Take all kinds of steps until the score rests.
    void climb_from(Found& now, const Way& way) {
        now.score = score_of(now.graph);
        way.seen.see(now.score, now.graph);
        const double noise = way.steps.noise;
        for (int round = 0; round < rounds; ++round) {
            const double before = now.score;
            if (way.steps.selection) undirect(now, way);
            single(now, way, false);
            if (way.steps.latents) {
                Found lifted = now;
                bidirect(lifted, way);
                single(lifted, way, true);
                if (lifted.score < now.score - std::max(noise, margin * price_)) now = std::move(lifted);
            }
            if (now.score > before - noise) return;
            now.graph = direct_chordal(now.graph);
        }
    }

    // --- undirected edges -----------------------------------------------------------------------------------

    // Undirect the set of anteriors that gains most, while one gains.
    void undirect(Found& now, const Way& way) {
        for (;;) {
            double best = now.score - way.steps.noise;
            std::optional<Graph> found;
            for (const Set& nodes : anteriors(now.graph)) {
                std::optional<Graph> candidate = undirected(now.graph, nodes);
                if (!candidate) continue;
                thin_out(*candidate, nodes);
                way.watch.check();
                const double value = score_of(*candidate);
                way.seen.see(value, *candidate);
                if (value < best) best = value, found = std::move(candidate);
            }
            if (!found) return;
            now.graph = std::move(*found);
            now.score = best;
        }
    }

    // The sets to undirect: each variable with all its anteriors.
    static std::vector<Set> anteriors(const Graph& graph) {
        std::vector<Set> step(graph.size()), found;
        for (int v = 0; v < graph.size(); ++v) step[v] = graph.parents[v] | graph.neighbors[v];
        for (int v = 0; v < graph.size(); ++v) {
            const Set nodes = closure(step, Set::of(v));
            const int size = nodes.count();
            if (smallest <= size && size <= largest && std::find(found.begin(), found.end(), nodes) == found.end())
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
            known = thinned_.emplace(key, thin(scores_.among(order), joined, k, scores_.rows(), price_, scores_.work)).first;
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
        if (way.steps.selection) kinds.push_back(UNDIRECTED);
        Graph graph = now.graph;
        Climb<W> climb(scores_, graph, price_, pairs, std::move(kinds));
        climb.run(way.watch, way.seen, way.steps.noise);
        const double score = climb.score();
        if (score < now.score - way.steps.noise) now = {std::move(graph), score};
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
        const double enough = now.score - way.steps.noise;
        std::optional<Graph> candidate = bidirected(now.graph, x, y);
        if (!candidate) return false;
        Pairs ends;
        for (int v : {x, y}) candidate->adjacent(v).each([&](int u) { ends.emplace_back(std::min(v, u), std::max(v, u)); });
        std::sort(ends.begin(), ends.end());
        ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
        // What x <-> y is good for is that an edge becomes superfluous; only then other changes are tried.
        Climb<W> first(scores_, *candidate, price_, ends, {NO_EDGE});
        if (first.score() > enough) first.run(way.watch, way.seen, way.steps.noise, 1);
        if (first.score() > enough) return false;
        Climb<W> second(scores_, *candidate, price_, ends, {NO_EDGE, BOTH, FORTH, BACK});
        second.run(way.watch, way.seen, way.steps.noise, local_steps);
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
    double price_;
    BlockScores<W> scores_;
    std::vector<char> near_;
    std::unordered_map<Words, std::vector<char>, HashWords> thinned_;
};

// The narrowest search that holds m variables; none where m is beyond what is compiled.
inline std::unique_ptr<AnyLifting> make_lifting(const double* R, int m, double n, double price, const char* near) {
    if (m <= 64) return std::make_unique<Lifting<1>>(R, m, n, price, near);
    if (m <= 128) return std::make_unique<Lifting<2>>(R, m, n, price, near);
    if (m <= 256) return std::make_unique<Lifting<4>>(R, m, n, price, near);
    if (m <= 1024) return std::make_unique<Lifting<16>>(R, m, n, price, near);
    return nullptr;
}

}  // namespace lmarvel
