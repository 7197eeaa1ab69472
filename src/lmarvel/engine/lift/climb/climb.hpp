// Greedy search by single edges: the twin of lmarvel.search.climb.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/watch.hpp"
#include "lift/climb/block_scores.hpp"
#include "lift/climb/limits.hpp"
#include "lift/climb/seen.hpp"

namespace lmarvel {

template <int W>
class Climb {
public:
    using Set = Bits<W>;
    using Graph = Ancestral<W>;
    using Pairs = std::vector<std::pair<int, int>>;
    using Kinds = std::vector<Edge>;

    // The graph is changed.
    Climb(BlockScores<W>& scores, Graph& graph, double price, const Pairs& pairs, Kinds kinds)
        : scores_(scores), graph_(graph), price_(price), pairs_(pairs), kinds_(std::move(kinds)), of_(graph.size()),
          value_(graph.size(), 0.0), gains_(pairs.size()), pairs_of_(graph.size()) {
        for (int v = 0; v < graph.size(); ++v)
            if (!of_[v].any()) rate(graph.block(v));
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            gains_[i].fill(unknown);
            pairs_of_[pairs[i].first].push_back(i);
            pairs_of_[pairs[i].second].push_back(i);
        }
    }

    double score() const {
        Sum total;
        for (int v = 0; v < graph_.size(); ++v)
            if (of_[v].first() == v) total.add(value_[v]);
        return scores_.rows() * total.value() + price_ * graph_.n_edges;
    }

    // By how much the score would change if this edge took the place of the present one.
    double gain(int x, int y, Edge kind) {
        const Edge present = graph_.edge(x, y);
        Sum before, after;
        before.add(value_[of_[x].first()]);
        if (!(of_[x] == of_[y])) before.add(value_[of_[y].first()]);
        graph_.set_edge(x, y, kind);
        const Set at_x = graph_.block(x), at_y = graph_.block(y);
        after.add(scores_.of_block(at_x, graph_));
        if (!(at_x == at_y)) after.add(scores_.of_block(at_y, graph_));
        graph_.set_edge(x, y, present);
        return scores_.rows() * (after.value() - before.value()) +
               price_ * (int(kind != NO_EDGE) - int(present != NO_EDGE));
    }

    // Make the best change while the score falls, at most so many (all, if negative).
    void run(const Watch& watch, Seen& seen, double noise, int most = -1) {
        for (int made = 0; most < 0 || made < most; ++made) {
            const Change change = best(watch, noise);
            if (change.x < 0) return;
            apply(change.x, change.y, change.kind);
            seen.see(score(), graph_);
        }
    }

private:
    struct Change {
        int x = -1, y = -1;
        Edge kind = NO_EDGE;
    };
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    void rate(const Set& block) {
        value_[block.first()] = scores_.of_block(block, graph_);
        block.each([&](int v) { of_[v] = block; });
    }

    void apply(int x, int y, Edge kind) {
        const Set touched = of_[x] | of_[y];
        graph_.apply(x, y, kind);
        rate(graph_.block(x));
        if (!of_[x].has(y)) rate(graph_.block(y));
        touched.each([&](int v) {
            for (std::size_t i : pairs_of_[v]) gains_[i].fill(unknown);
        });
    }

    // The change that lowers the score most, the first of equals; of no pair if none lowers it.
    Change best(const Watch& watch, double noise) {
        Change choice;
        double lowest = -noise;
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            const auto [x, y] = pairs_[i];
            const Edge present = graph_.edge(x, y);
            for (Edge kind : kinds_) {
                double& gained = gains_[i][kind];
                if (kind == present || gained >= lowest - noise || !graph_.is_legal(x, y, kind)) continue;
                if (std::isnan(gained)) {
                    watch.check();
                    gained = gain(x, y, kind);
                }
                if (gained < lowest - noise || (choice.x < 0 && gained < lowest)) {
                    lowest = gained;
                    choice.x = x, choice.y = y, choice.kind = kind;
                }
            }
        }
        return choice;
    }

    BlockScores<W>& scores_;
    Graph& graph_;
    double price_;
    const Pairs& pairs_;
    Kinds kinds_;
    std::vector<Set> of_;  // the block of each node
    Vector value_;         // the score of each block, at its least member
    std::vector<std::array<double, 5>> gains_;
    std::vector<std::vector<std::size_t>> pairs_of_;
};

}  // namespace lmarvel
