// What another graph tells of an answer: the edges that it lacks or has more, and the marks that differ.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/watch.hpp"
#include "lift/evidence/drawn.hpp"
#include "lift/evidence/evidence.hpp"
#include "lift/evidence/proof.hpp"

namespace lmarvel {

// The graph that was chosen, as it is compared with others.
template <int W>
struct Answer {
    using Graph = Ancestral<W>;

    explicit Answer(const EvidenceTask& task)
        : pag(task.pag), p(std::size_t(task.p)), mag(ancestral(edges_of(task.mag))) {
        for (int x = 0; x < task.p; ++x)
            mag.adjacent(x).each([&](int y) {
                if (y > x) edges.emplace_back(x, y);
                if (pag[at(x, y)] > CIRCLE) told.push_back(at(x, y));
            });
    }

    const std::int8_t* pag;
    const std::size_t p;
    Graph mag;
    std::vector<std::pair<int, int>> edges;
    std::vector<std::size_t> told;  // the ends with a mark, row by row

    std::size_t at(int x, int y) const { return std::size_t(x) * p + std::size_t(y); }

    // The graph of some edges, as Seen has them; refused where it is not ancestral.
    Graph ancestral(const std::vector<std::uint32_t>& codes) const {
        Graph graph{int(p)};
        for (std::uint32_t code : codes) graph.set_edge(int(code / 8 / p), int(code / 8 % p), Edge(code % 8));
        if (!graph.settle()) throw std::invalid_argument("this is not an ancestral graph");
        return graph;
    }

private:
    std::vector<std::uint32_t> edges_of(const std::int8_t* marks) const {
        std::vector<std::uint32_t> codes;
        for (int x = 0; x < int(p); ++x)
            for (int y = x + 1; y < int(p); ++y) {
                const std::int8_t at_y = marks[at(x, y)], at_x = marks[at(y, x)];
                if (!at_y) continue;
                const Edge kind = at_x == TAIL ? (at_y == TAIL ? UNDIRECTED : FORTH) : at_y == TAIL ? BACK : BOTH;
                codes.push_back(std::uint32_t(at(x, y)) * 8 + std::uint32_t(kind));
            }
        return codes;
    }
};

// Where a graph differs from the answer.
struct Look {
    std::vector<std::pair<int, int>> missing, added;  // edges
    std::vector<std::size_t> other;                   // ends with another mark, as far as these matter
};

// Looks at graphs, one after the other. Each thread has its own.
template <int W>
class Looks {
public:
    using Graph = Ancestral<W>;

    Looks(const Answer<W>& answer, bool selection)
        : answer_(answer), selection_(selection), drawn_(int(answer.p)), marks_(answer.p * answer.p, 0),
          pag_(answer.p * answer.p, 0), proof_(int(answer.p)) {}

    // Learn why the marks of the answer are there from a graph of its class; tell whether it is one.
    bool prove(const Graph& graph, const Watch& watch) {
        watch.check();
        drawn_.draw(graph);
        std::vector<Use> uses = orient(watch);
        bool same = drawn_.edges.size() == answer_.edges.size();
        for (const auto& [x, y] : answer_.edges)
            for (const std::size_t end : {at(x, y), at(y, x)}) same = same && pag_[end] == answer_.pag[end];
        if (same) proof_.learn(std::move(uses));
        forget();
        return same;
    }

    // Look at a graph that is worse by so much; `known` has what the best graph loses that has another mark at an end.
    // Only ends matter of which no graph is known that loses less.
    Look at_graph(const Graph& graph, double loss, const Vector& known, const Watch& watch) {
        watch.check();
        drawn_.draw(graph);
        Look found;
        for (const auto& [x, y] : answer_.edges)
            if (!drawn_.adjacent[x].has(y)) found.missing.emplace_back(x, y);
        for (const auto& [x, y] : drawn_.edges)
            if (!answer_.pag[at(x, y)]) found.added.emplace_back(x, y);
        std::vector<std::size_t> doubtful;
        for (std::size_t end : answer_.told)
            if (known[end] > loss) (is_edge(end) ? doubtful : found.other).push_back(end);
        if (doubtful.empty() || is_proved(doubtful)) return found;
        orient(watch);
        for (std::size_t end : doubtful)
            if (pag_[end] != answer_.pag[end]) found.other.push_back(end);
        forget();
        return found;
    }

private:
    std::size_t at(int x, int y) const { return answer_.at(x, y); }

    bool is_edge(std::size_t end) const { return drawn_.adjacent[end / answer_.p].has(int(end % answer_.p)); }

    // Whether all these ends of edges are known to have the marks of the answer in the graph that is drawn, too.
    bool is_proved(const std::vector<std::size_t>& ends) {
        proof_.replay(drawn_);
        return std::all_of(ends.begin(), ends.end(), [&](std::size_t end) {
            return proof_.stands(int(end / answer_.p), int(end % answer_.p), answer_.pag[end]);
        });
    }

    // Find the PAG of the graph that is drawn. Only the user ends that: half a PAG tells nothing.
    std::vector<Use> orient(const Watch& watch) {
        for (const auto& [x, y] : drawn_.edges)
            marks_[at(x, y)] = drawn_.mark(x, y), marks_[at(y, x)] = drawn_.mark(y, x);
        const KnownGraph known(marks_.data(), Index(answer_.p), drawn_.edges);
        const Clock patient = watch.clock().at_least(std::numeric_limits<double>::infinity());
        Orientation found(known, Index(answer_.p), pag_.data(), patient);
        found.run(selection_, true);
        return std::move(found.log);
    }

    void forget() {
        for (const auto& [x, y] : drawn_.edges)
            for (const std::size_t end : {at(x, y), at(y, x)}) marks_[end] = pag_[end] = NONE;
    }

    const Answer<W>& answer_;
    const bool selection_;
    Drawn<W> drawn_;                        // the graph that is looked at
    std::vector<std::int8_t> marks_, pag_;  // its marks and those of its PAG, while it is oriented; else zero
    Proof<W> proof_;                        // why the marks of the answer are there
};

}  // namespace lmarvel
