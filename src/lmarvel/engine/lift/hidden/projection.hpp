// The MAG that a DAG with latent and selection nodes has over what is observed: the twin of lmarvel.graph.projection,
// for DAGs whose first nodes are observed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lmarvel {

class Projection {
public:
    using Nodes = std::vector<char>;  // whether each node is in a set

    // Nodes: `observed`, then latent ones, then `selections` ones; the parents of each must be nodes.
    Projection(const std::vector<std::vector<int>>& parents, int observed, int selections)
        : parents_(parents), n_(int(parents.size())), observed_(observed), selected_(n_ - selections),
          children_(parents.size()) {
        for (int v = 0; v < n_; ++v)
            for (int u : parents_[v]) children_[u].push_back(v);
    }

    // Marks (2 an arrowhead, 3 a tail), observed x observed; [i, j] is the mark at j.
    void marks(std::int8_t* out) {
        constexpr std::int8_t arrow = 2, tail = 3;
        const std::size_t p = observed_;
        std::fill(out, out + p * p, std::int8_t(0));
        Nodes chosen(n_, 0), all(n_, 0);
        for (int v = selected_; v < n_; ++v) chosen[v] = all[v] = 1;
        for (int v = 0; v < observed_; ++v) all[v] = 1;
        close(chosen);
        close(all);
        std::vector<Nodes> above(p);  // ancestors of each, and of what is selected
        std::vector<Nodes> sure(p);   // what the strictest rule for colliders joins to each
        for (std::size_t x = 0; x < p; ++x) {
            above[x] = chosen;
            above[x][x] = 1;
            close(above[x]);
            sure[x] = reach(int(x), above[x]);
        }
        for (std::size_t x = 0; x < p; ++x) {
            const Nodes candidates = reach(int(x), all);
            for (std::size_t y = x + 1; y < p; ++y) {
                if (!candidates[y] || !(sure[x][y] || sure[y][x] || joined_by_both(x, y, above))) continue;
                out[y * p + x] = above[y][x] ? tail : arrow;
                out[x * p + y] = above[x][y] ? tail : arrow;
            }
        }
    }

private:
    // Add all ancestors to a set.
    void close(Nodes& set) {
        stack_.clear();
        for (int v = 0; v < n_; ++v)
            if (set[v]) stack_.push_back(v);
        while (!stack_.empty()) {
            const int v = stack_.back();
            stack_.pop_back();
            for (int u : parents_[v])
                if (!set[u]) set[u] = 1, stack_.push_back(u);
        }
    }

    bool joined_by_both(std::size_t x, std::size_t y, const std::vector<Nodes>& above) {
        Nodes allowed = above[x];
        for (int v = 0; v < n_; ++v) allowed[v] |= above[y][v];
        return reach(int(x), allowed)[y];
    }

    // Ends of all walks from x whose colliders are allowed and whose other inner nodes are latent. States are a node
    // and whether the last edge pointed into it.
    Nodes reach(int x, const Nodes& colliders) {
        Nodes reached(n_, 0);
        visited_.assign(2 * std::size_t(n_), 0);
        stack_.clear();
        leave(x, true, true);
        while (!stack_.empty()) {
            const int state = stack_.back(), v = state >> 1;
            stack_.pop_back();
            reached[v] = 1;
            const bool passes = v >= observed_ && v < selected_;
            leave(v, passes, state & 1 ? bool(colliders[v]) : passes);
        }
        return reached;
    }

    void leave(int v, bool by_tail, bool by_arrow) {
        if (by_tail)
            for (int w : children_[v]) enter(2 * w + 1);
        if (by_arrow)
            for (int u : parents_[v]) enter(2 * u);
    }

    void enter(int state) {
        if (!visited_[state]) visited_[state] = 1, stack_.push_back(state);
    }

    const std::vector<std::vector<int>>& parents_;
    int n_, observed_, selected_;
    std::vector<std::vector<int>> children_;
    Nodes visited_;
    std::vector<int> stack_;
};

}  // namespace lmarvel
