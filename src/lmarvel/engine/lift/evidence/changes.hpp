// What graphs lose that differ from an answer in the edge between two variables.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "base/watch.hpp"
#include "lift/climb/climb.hpp"
#include "lift/evidence/looks.hpp"
#include "orient/separation.hpp"

namespace lmarvel {

using EdgeChange = std::tuple<double, int, int, Edge>;  // what is lost by another edge, its ends and the new edge

// What a pair of variables is worth as it is.
struct Part {
    bool done = false;
    double loss = 0.0;                 // of the best graph in which it is otherwise
    std::vector<Index> given;          // the set for its test
    std::vector<EdgeChange> changes;   // graphs whose marks may tell more
};

// Scores changes of one graph. Each thread has its own.
template <int W>
class Changes {
public:
    using Set = Bits<W>;
    using Graph = Ancestral<W>;

    // The graph is of the class of the answer; scores that were asked for its blocks know them already.
    Changes(const EvidenceTask& task, const Answer<W>& answer, const Graph& graph, const BlockScores<W>& scores)
        : task_(task), mag_(answer.mag), graph_(graph), scores_(scores),
          climb_(scores_, graph_, task.price, no_pairs(), {}), score_(climb_.score()),
          separation_(task.mag, Index(task.p)), kinds_{FORTH, BACK} {
        if (task.latents) kinds_.push_back(BOTH);
        if (task.selection) kinds_.push_back(UNDIRECTED);
    }

    Changes(const Changes&) = delete;  // the climb holds on to the graph
    Changes& operator=(const Changes&) = delete;

    Graph& graph() { return graph_; }

    // An edge of the answer; `apart` is what the best graph loses that was met without it.
    Part edge(int x, int y, double apart, const Watch& watch) {
        std::vector<Edge> kinds = kinds_;
        kinds.push_back(NO_EDGE);
        Part part{true, apart, {}, changes(x, y, kinds, watch)};
        part.loss = std::min(part.loss, removed_);
        if (std::isinf(part.loss))  // it would come back, for no set would separate the two
            part.loss = std::min(part.loss, std::max(std::min(isolated(x), isolated(y)), 0.0));
        if (!induced_without(mag_, x, y)) {
            separation_.find(Index(x), Index(y), part.given);
        } else {
            fewer(mag_.adjacent(x).without(y), mag_.adjacent(y).without(x)).each([&](int v) { part.given.push_back(v); });
        }
        return part;
    }

    // A gap; `joined` is what the best graph loses that was met with an edge there. It takes its colliders with it,
    // whatever the edge: the best one is enough.
    Part gap(int x, int y, double joined, const Watch& watch) {
        Part part = left_out(x, y, joined, kinds_, watch);
        if (part.changes.size() > 1) part.changes = {*std::min_element(part.changes.begin(), part.changes.end())};
        return part;
    }

    // A gap between two variables without a common neighbour.
    Part far_gap(int x, int y, double joined, const Watch& watch) {
        std::vector<Edge> directed;
        for (Edge kind : {FORTH, BACK})
            if (graph_.is_legal(x, y, kind)) directed.push_back(kind);
        return left_out(x, y, joined, directed.empty() ? kinds_ : directed, watch);
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    static const typename Climb<W>::Pairs& no_pairs() {
        static const typename Climb<W>::Pairs none;
        return none;
    }

    // What the graphs lose that have another edge between x and y, or none.
    std::vector<EdgeChange> changes(int x, int y, const std::vector<Edge>& kinds, const Watch& watch) {
        std::vector<EdgeChange> found;
        const Edge present = graph_.edge(x, y);
        removed_ = infinity;
        for (Edge kind : kinds) {
            if (kind == present || !graph_.is_legal(x, y, kind)) continue;
            watch.check();
            const double gain = climb_.gain(x, y, kind);
            if (kind == NO_EDGE && !induced_without(graph_, x, y)) removed_ = std::max(score_ + gain - task_.score, 0.0);
            found.emplace_back(std::max(gain, 0.0), x, y, kind);
        }
        return found;
    }

    Part left_out(int x, int y, double joined, const std::vector<Edge>& kinds, const Watch& watch) {
        Part part{true, joined, {}, changes(x, y, kinds, watch)};
        for (const EdgeChange& change : part.changes) part.loss = std::min(part.loss, std::get<0>(change));
        separation_.find(Index(x), Index(y), part.given);
        return part;
    }

    static bool induced_without(Graph& graph, int x, int y) {
        const Edge present = graph.edge(x, y);
        graph.set_edge(x, y, NO_EDGE);
        const bool found = Drawn<W>::is_induced(graph, x, y);
        graph.set_edge(x, y, present);
        return found;
    }

    // What the graph loses in which v has no edges.
    double isolated(int v) {
        Graph twin = graph_;
        graph_.adjacent(v).each([&](int u) { twin.set_edge(u, v, NO_EDGE); });
        return scores_.rows() * scores_.of_graph(twin) + task_.price * twin.n_edges - task_.score;
    }

    // The smaller set; of two of one size the one without the last variable that only one of them has.
    static Set fewer(const Set& a, const Set& b) {
        if (a.count() != b.count()) return a.count() < b.count() ? a : b;
        for (int i = W; i-- > 0;)
            if (a.word[i] != b.word[i]) return a.word[i] < b.word[i] ? a : b;
        return a;
    }

    const EvidenceTask& task_;
    Graph mag_, graph_;
    BlockScores<W> scores_;
    Climb<W> climb_;
    const double score_;
    double removed_ = infinity;  // what the graph without the edge that was looked at last loses against the answer
    Separation separation_;
    std::vector<Edge> kinds_;  // the edges that may be put
};

}  // namespace lmarvel
