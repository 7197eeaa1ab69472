// Which marks of one PAG are known to stand in that of another graph, without orienting it.
//
// Each use of a rule is a step of a proof. It rests on facts of the graph (which pairs are adjacent, which unshielded
// triples are colliders) and on marks that earlier steps wrote; orient/rules.py has the argument, rule by rule. If these
// facts hold in another graph, and the marks stand, the step is right there, too. The rules are complete, so that
// whoever orients that graph finds the same marks. Of a mark whose proof fails nothing is known.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "lift/evidence/drawn.hpp"

namespace lmarvel {

template <int W>
class Proof {
public:
    explicit Proof(int p) : arrows_(std::size_t(p)), tails_(std::size_t(p)) {}

    // Take the uses of rules that gave a PAG, in order. A rule that was refused somewhere was no MAG's.
    void learn(std::vector<Use> uses) {
        steps_ = std::move(uses);
        for (const Use& use : steps_)
            if (!use.refused.empty()) return steps_.clear();
    }

    // Go through the steps in another graph.
    void replay(const Drawn<W>& graph) {
        std::fill(arrows_.begin(), arrows_.end(), Set{});
        std::fill(tails_.begin(), tails_.end(), Set{});
        for (const Use& step : steps_)
            for (const Written& w : step.written)
                if (holds(step, w, graph)) (w.mark == ARROW ? arrows_ : tails_)[w.y].add(w.x);
    }

    // Whether this mark at y on x-y stands in the graph that the steps were gone through in.
    bool stands(int x, int y, int mark) const { return mark == ARROW ? arrow(x, y) : mark == TAIL && tail(x, y); }

private:
    using Set = Bits<W>;

    // The mark at y on x-y.
    bool arrow(int x, int y) const { return arrows_[y].has(x); }
    bool tail(int x, int y) const { return tails_[y].has(x); }
    bool directed(int x, int y) const { return arrow(x, y) && tail(y, x); }

    // Whether a step gives one of its marks. Where another node than that of the step serves as well, it may.
    bool holds(const Use& step, const Written& w, const Drawn<W>& graph) const {
        if (!graph.adjacent[w.x].has(w.y)) return false;
        const Path& nodes = step.nodes;
        switch (step.rule) {
            case R0: return graph.into[w.y].has(w.x) && graph.into[w.y].without(graph.adjacent[w.x]).without(w.x).any();
            case R1: return after_arrowhead(nodes[1], nodes[2], graph);
            case R2: return around(w.x, w.y, graph);
            case R3: return arrow(nodes[0], w.y) && arrow(nodes[2], w.y) && is_open(nodes[0], w.x, nodes[2], graph);
            case R4: return discriminates(step, graph);
            case R5: return is_ring(nodes, graph);
            case R6: return undirected(w.y, w.x);
            case R7: return tail(nodes[1], nodes[0]) && is_open(nodes[0], nodes[1], nodes[2], graph);
            case R8: return leads_on(w.y, w.x, graph);
            case R9: return is_uncovered(nodes.begin(), nodes.end(), graph) && is_open(w.x, w.y, nodes[1], graph);
            case R10: return reaches_two(nodes, w.x, graph);
            default: return false;  // a rule that reads what is known beforehand
        }
    }

    // Whether b is no collider of the unshielded triple a, b, c.
    static bool is_open(int a, int b, int c, const Drawn<W>& graph) {
        return graph.adjacent[b].has(a) && graph.adjacent[b].has(c) && a != c && !graph.adjacent[a].has(c) &&
               !(graph.into[b].has(a) && graph.into[b].has(c));
    }

    // R1: an arrowhead points at b, from a node that is not adjacent to c, and b is no collider between the two.
    bool after_arrowhead(int b, int c, const Drawn<W>& graph) const {
        return !graph.into[b].has(c) && arrows_[b].without(graph.adjacent[c]).without(c).any();
    }

    // R2: a --> b *-> c or a *-> b --> c.
    bool around(int a, int c, const Drawn<W>& graph) const {
        bool found = false;
        (arrows_[c] & graph.adjacent[a]).each([&](int b) {
            found = found || (arrow(a, b) && (tail(b, a) || tail(c, b)));
        });
        return found;
    }

    // R4: the path discriminates b, which is a collider here if and only if it was one there.
    bool discriminates(const Use& step, const Drawn<W>& graph) const {
        const Path& path = step.nodes;
        const std::size_t n = path.size();
        const int b = path[n - 2], c = path[n - 1], a = path[n - 3];
        if (graph.adjacent[path[0]].has(c) || !graph.adjacent[a].has(b) || !graph.adjacent[b].has(c)) return false;
        for (std::size_t i = 1; i + 2 < n; ++i)
            if (!directed(path[i], c) || !arrow(path[i - 1], path[i]) || !arrow(path[i + 1], path[i])) return false;
        const bool collider = graph.into[b].has(a) && graph.into[b].has(c);
        return std::none_of(step.written.begin(), step.written.end(), [&](const Written& w) {
            return collider ? w.mark == TAIL : w.y == b && w.mark == ARROW;
        });
    }

    // R5: a cycle of unshielded triples without a collider.
    static bool is_ring(const Path& cycle, const Drawn<W>& graph) {
        const std::size_t n = cycle.size();
        for (std::size_t i = 0; i < n; ++i)
            if (!is_open(cycle[i], cycle[(i + 1) % n], cycle[(i + 2) % n], graph)) return false;
        return true;
    }

    // R6: another edge a --- b.
    bool undirected(int b, int but) const {
        bool found = false;
        tails_[b].without(but).each([&](int a) { found = found || tail(b, a); });
        return found;
    }

    // R8: a --> b --> c or a --o b --> c.
    bool leads_on(int a, int c, const Drawn<W>& graph) const {
        bool found = false;
        (tails_[a] & graph.adjacent[c]).each([&](int b) { found = found || directed(b, c); });
        return found;
    }

    // R9: all triples of a path are unshielded, none a collider.
    template <class At>
    static bool is_uncovered(At begin, At end, const Drawn<W>& graph) {
        for (At at = begin; end - at > 2; ++at)
            if (!is_open(at[0], at[1], at[2], graph)) return false;
        return true;
    }

    // R10: such paths lead from a to two causes of c. They begin at the ends of (a, .., b, c, d, .., without a).
    bool reaches_two(const Path& nodes, int c, const Drawn<W>& graph) const {
        const auto middle = std::find(nodes.begin(), nodes.end(), Index(c));
        Path other(1, nodes.front());
        other.insert(other.end(), nodes.rbegin(), std::make_reverse_iterator(middle + 1));
        return directed(*(middle - 1), c) && directed(other.back(), c) &&
               is_uncovered(nodes.begin(), middle, graph) && is_uncovered(other.begin(), other.end(), graph) &&
               is_open(nodes[1], nodes[0], other[1], graph);
    }

    std::vector<Use> steps_;
    std::vector<Set> arrows_, tails_;  // of each node: on whose edge it has such a mark, as far as is known
};

}  // namespace lmarvel
