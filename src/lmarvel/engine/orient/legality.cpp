#include "orient/legality.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <queue>

#include "orient/orient.hpp"

namespace lmarvel {

namespace {

using Relation = Relations::Lists;

std::size_t at(Index v) { return static_cast<std::size_t>(v); }

// Nodes that were reached in one of many searches; a new one forgets all at once.
class Reached {
public:
    explicit Reached(Index p) : stamp_(at(p), 0) {}
    void forget() { ++now_; }
    bool has(Index v) const { return stamp_[at(v)] == now_; }
    bool add(Index v) {
        if (has(v)) return false;
        stamp_[at(v)] = now_;
        return true;
    }

private:
    std::vector<std::int64_t> stamp_;
    std::int64_t now_ = 1;
};

// Add what steps lead to from the nodes of `stack`, which are added before.
void close(const Relation& step, std::vector<Index>& stack, Reached& reached) {
    while (!stack.empty()) {
        const Index v = stack.back();
        stack.pop_back();
        for (const Index* w = step.begin(v); w != step.end(v); ++w) if (reached.add(*w)) stack.push_back(*w);
    }
}

void reach(const Relation& step, Index from, Reached& reached) {
    std::vector<Index> stack{from};
    reached.forget();
    reached.add(from);
    close(step, stack, reached);
}

// --- ancestral ------------------------------------------------------------------------------------------------

// A directed cycle, its first node again at the end; empty where there is none.
std::vector<Index> directed_cycle(const Relations& edges) {
    std::vector<std::int64_t> degree(at(edges.p));
    std::vector<Index> free;
    for (Index v = 0; v < edges.p; ++v) {
        degree[at(v)] = edges.parents.end(v) - edges.parents.begin(v);
        if (degree[at(v)] == 0) free.push_back(v);
    }
    while (!free.empty()) {
        const Index v = free.back();
        free.pop_back();
        for (const Index* w = edges.children.begin(v); w != edges.children.end(v); ++w) {
            if (--degree[at(*w)] == 0) free.push_back(*w);
        }
    }
    const auto stuck = [&degree](Index v) { return degree[at(v)] > 0; };
    Index up = 0;
    while (up < edges.p && !stuck(up)) ++up;
    if (up == edges.p) return {};
    std::vector<Index> walk;  // every stuck node has a stuck parent: walking up must close a cycle
    std::vector<std::uint8_t> walked(at(edges.p), 0);
    while (!walked[at(up)]) {
        walked[at(up)] = 1;
        walk.push_back(up);
        up = *std::find_if(edges.parents.begin(up), edges.parents.end(up), stuck);
    }
    std::vector<Index> cycle(std::find(walk.begin(), walk.end(), up), walk.end());
    cycle.push_back(up);
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
}

Judgement not_ancestral(const Relations& edges) {
    std::vector<Index> cycle = directed_cycle(edges);
    if (!cycle.empty()) return {Fault::CYCLE, std::move(cycle)};
    Reached above(edges.p);
    for (Index v = 0; v < edges.p; ++v) {
        const Relation &parents = edges.parents, &spouses = edges.spouses;
        if (!edges.neighbors.empty(v) && !(parents.empty(v) && spouses.empty(v))) {
            const Index u = parents.empty(v)   ? *spouses.begin(v)
                            : spouses.empty(v) ? *parents.begin(v)
                                               : std::min(*parents.begin(v), *spouses.begin(v));
            return {Fault::UNDIRECTED_ARROW, {v, u, *edges.neighbors.begin(v)}};
        }
        if (spouses.empty(v) || parents.empty(v)) continue;
        reach(parents, v, above);
        for (const Index* w = spouses.begin(v); w != spouses.end(v); ++w) {
            if (above.has(*w)) return {Fault::ALMOST_CYCLE, {*w, v}};
        }
    }
    return {};
}

// --- maximal --------------------------------------------------------------------------------------------------

// Looks for inducing paths in an ancestral graph, between nodes x and y that are not adjacent. Every inner node is a
// collider and an ancestor of x or y. The one next to x has an arrowhead from it, so that it is an ancestor of y; the one
// next to y likewise of x. Neither is a child: with x --> v, x would be an ancestor of y, and so would be the node next to
// y, which has an arrowhead from y. So the path has edges <-> only, begins with an ancestor of y, and ends with one of x.
class Inducing {
public:
    Inducing(const std::int8_t* marks, const Relations& edges)
        : marks_(marks), edges_(edges), below_(edges.p), above_x_(edges.p), above_y_(edges.p), seen_(edges.p),
          before_(at(edges.p)), district_(at(edges.p), -1) {
        std::vector<Index> stack;
        for (Index v = 0; v < edges.p; ++v) {
            if (district_[at(v)] >= 0) continue;
            district_[at(v)] = v;
            stack.push_back(v);
            while (!stack.empty()) {
                const Index u = stack.back();
                stack.pop_back();
                for (const Index* w = edges.spouses.begin(u); w != edges.spouses.end(u); ++w) {
                    if (district_[at(*w)] >= 0) continue;
                    district_[at(*w)] = v;
                    stack.push_back(*w);
                }
            }
        }
    }

    // The path between the first pair that has one, by ascending x, then y.
    std::vector<Index> first() {
        std::vector<Index> stack, ends;
        for (Index x = 0; x < edges_.p; ++x) {
            if (edges_.spouses.empty(x)) continue;
            below_.forget();
            ends.clear();
            for (const Index* v = edges_.spouses.begin(x); v != edges_.spouses.end(x); ++v) {
                if (below_.add(*v)) stack.push_back(*v);
            }
            while (!stack.empty()) {
                const Index v = stack.back();
                stack.pop_back();
                for (const Index* w = edges_.children.begin(v); w != edges_.children.end(v); ++w) {
                    if (!below_.add(*w)) continue;
                    stack.push_back(*w);
                    if (may_end(x, *w)) ends.push_back(*w);
                }
            }
            if (ends.empty()) continue;
            std::sort(ends.begin(), ends.end());
            reach(edges_.parents, x, above_x_);
            for (Index y : ends) {
                std::vector<Index> path = between(x, y);
                if (!path.empty()) return path;
            }
        }
        return {};
    }

private:
    const std::int8_t* marks_;
    const Relations& edges_;
    Reached below_, above_x_, above_y_, seen_;
    std::vector<Index> before_, district_;

    bool may_end(Index x, Index y) const {
        return y > x && district_[at(x)] == district_[at(y)] && marks_[at(x) * at(edges_.p) + at(y)] == NONE;
    }

    // A shortest inducing path, of those the first in the order of nodes; empty where there is none.
    std::vector<Index> between(Index x, Index y) {
        const Relation& spouses = edges_.spouses;
        const auto above_x = [this](Index v) { return above_x_.has(v); };
        if (std::none_of(spouses.begin(y), spouses.end(y), above_x)) return {};
        reach(edges_.parents, y, above_y_);
        std::deque<Index> queue{x};
        seen_.forget();
        seen_.add(x);
        while (!queue.empty()) {
            const Index v = queue.front();
            queue.pop_front();
            for (const Index* w = spouses.begin(v); w != spouses.end(v); ++w) {
                if (*w == y) return path(x, v, y);
                if (!(above_x_.has(*w) || above_y_.has(*w)) || !seen_.add(*w)) continue;
                before_[at(*w)] = v;
                queue.push_back(*w);
            }
        }
        return {};
    }

    std::vector<Index> path(Index x, Index last, Index y) const {
        std::vector<Index> nodes{y};
        for (Index v = last; v != x; v = before_[at(v)]) nodes.push_back(v);
        nodes.push_back(x);
        std::reverse(nodes.begin(), nodes.end());
        return nodes;
    }
};

Judgement ancestral_and_maximal(const std::int8_t* marks, Index p) {
    const Relations edges(marks, p);
    Judgement found = not_ancestral(edges);
    if (found.fault != Fault::NONE) return found;
    std::vector<Index> path = Inducing(marks, edges).first();
    if (!path.empty()) return {Fault::INDUCING_PATH, std::move(path)};
    return {};
}

// --- a MAG of a PAG -------------------------------------------------------------------------------------------

// The edges o-o of a PAG, as rows of bits and as lists.
struct CircleEdges {
    Rows rows;
    std::vector<std::vector<Index>> around;

    CircleEdges(const std::int8_t* marks, Index p) : rows(p), around(at(p)) {
        for (Index x = 0; x < p; ++x) {
            for (Index y = 0; y < p; ++y) {
                if (marks[at(x) * at(p) + at(y)] != CIRCLE || marks[at(y) * at(p) + at(x)] != CIRCLE) continue;
                rows.set(x, y);
                around[at(x)].push_back(y);
            }
        }
    }
};

// What is left when simplicial nodes are taken off while there are any; nothing exactly if the graph is chordal.
std::vector<Index> unsimplicial(const CircleEdges& circles, Index p) {
    const std::size_t words = circles.rows.words();
    std::vector<std::uint64_t> left(words, 0), around(words);
    const auto bit = [](Index v) { return std::uint64_t{1} << (v & 63); };
    const auto is_left = [&](Index v) { return (left[at(v >> 6)] & bit(v)) != 0; };
    std::vector<Index> queue(at(p));
    for (Index v = 0; v < p; ++v) {
        queue[at(v)] = v;
        left[at(v >> 6)] |= bit(v);
    }
    while (!queue.empty()) {
        const Index v = queue.back();
        queue.pop_back();
        if (!is_left(v)) continue;
        for (std::size_t i = 0; i < words; ++i) around[i] = circles.rows.row(v)[i] & left[i];
        const auto joined_to_all = [&](Index w) {
            if (!is_left(w)) return true;
            std::uint64_t others = 0;
            for (std::size_t i = 0; i < words; ++i) {
                const std::uint64_t own = i == at(w >> 6) ? bit(w) : 0;
                others |= around[i] & ~circles.rows.row(w)[i] & ~own;
            }
            return others == 0;
        };
        const std::vector<Index>& near = circles.around[at(v)];
        if (!std::all_of(near.begin(), near.end(), joined_to_all)) continue;
        left[at(v >> 6)] &= ~bit(v);
        for (Index w : near) if (is_left(w)) queue.push_back(w);
    }
    std::vector<Index> rest;
    for (Index v = 0; v < p; ++v) if (is_left(v)) rest.push_back(v);
    return rest;
}

// Maximum cardinality search: next comes a node with most numbered neighbours, of those the first.
std::vector<Index> maximum_cardinality_order(const CircleEdges& circles, Index p) {
    using Entry = std::pair<std::int64_t, Index>;  // minus the numbered neighbours, the node
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> waiting;
    std::vector<std::int64_t> weight(at(p), 0);
    std::vector<Index> order(at(p), -1);
    for (Index v = 0; v < p; ++v) waiting.emplace(0, v);
    for (Index number = 0; number < p;) {
        const auto [key, v] = waiting.top();
        waiting.pop();
        if (order[at(v)] >= 0 || -key != weight[at(v)]) continue;  // an entry from before its last neighbour
        order[at(v)] = number++;
        for (Index w : circles.around[at(v)]) {
            if (order[at(w)] < 0) waiting.emplace(-++weight[at(w)], w);
        }
    }
    return order;
}

// Turn o-> and --o into -->, and the edges o-o into a DAG without new unshielded colliders.
void member_of(const std::int8_t* pag, Index p, const CircleEdges& circles, std::int8_t* mag) {
    const std::vector<Index> order = maximum_cardinality_order(circles, p);
    for (Index x = 0; x < p; ++x) {
        for (Index y = 0; y < p; ++y) {
            const std::int8_t here = pag[at(x) * at(p) + at(y)], there = pag[at(y) * at(p) + at(x)];
            std::int8_t& mark = mag[at(x) * at(p) + at(y)];
            mark = here;
            if (here != CIRCLE) continue;
            if (there == CIRCLE) mark = order[at(x)] < order[at(y)] ? ARROW : TAIL;
            else mark = there == ARROW ? TAIL : ARROW;
        }
    }
}

// Orient by the colliders of a graph; the first mark that differs from the PAG's, at its end.
std::vector<Index> first_difference(const std::int8_t* graph, const std::int8_t* pag, Index p, std::int8_t* right,
                                    const Clock& clock) {
    std::fill_n(right, at(p) * at(p), std::int8_t{0});
    const KnownGraph triples(graph, p);
    Orientation(triples, p, right, clock).run(true);
    const std::int8_t* const end = pag + at(p) * at(p);
    const auto differs = std::mismatch(pag, end, right).first - pag;
    if (pag + differs == end) return {};
    return {static_cast<Index>(differs / p), static_cast<Index>(differs % p)};
}

Judgement judged(const std::int8_t* pag, Index p, std::int8_t* mag, std::int8_t* right, const Clock& clock) {
    const CircleEdges circles(pag, p);
    std::vector<Index> left = unsimplicial(circles, p);
    if (!left.empty()) return {Fault::CIRCLE_CYCLE, std::move(left)};
    member_of(pag, p, circles, mag);
    Judgement found = ancestral_and_maximal(mag, p);
    if (found.fault != Fault::NONE) return found;
    // First against the marks that follow from the PAG's own colliders: the candidate may have made a new one.
    for (const std::int8_t* graph : {pag, static_cast<const std::int8_t*>(mag)}) {
        std::vector<Index> end = first_difference(graph, pag, p, right, clock);
        if (!end.empty()) return {Fault::WRONG_MARK, std::move(end)};
    }
    return {};
}

}  // namespace

Relations::Relations(const std::int8_t* marks, Index n) : p(n) {
    for (Lists* lists : {&parents, &children, &spouses, &neighbors}) {
        lists->starts.reserve(at(p) + 1);
        lists->starts.push_back(0);
    }
    for (Index v = 0; v < p; ++v) {
        for (Index w = 0; w < p; ++w) {
            const std::int8_t far = marks[at(v) * at(p) + at(w)], near = marks[at(w) * at(p) + at(v)];
            if (near == ARROW && far == TAIL) parents.members.push_back(w);
            else if (near == TAIL && far == ARROW) children.members.push_back(w);
            else if (near == ARROW && far == ARROW) spouses.members.push_back(w);
            else if (near == TAIL && far == TAIL) neighbors.members.push_back(w);
        }
        for (Lists* lists : {&parents, &children, &spouses, &neighbors}) {
            lists->starts.push_back(static_cast<std::int64_t>(lists->members.size()));
        }
    }
}

Judgement judge_mag(const std::int8_t* marks, Index p) {
    for (Index x = 0; x < p; ++x) {
        for (Index y = x + 1; y < p; ++y) {
            if (marks[at(x) * at(p) + at(y)] == CIRCLE || marks[at(y) * at(p) + at(x)] == CIRCLE) {
                return {Fault::CIRCLE, {x, y}};
            }
        }
    }
    return ancestral_and_maximal(marks, p);
}

Ending judge_pag(const std::int8_t* pag, Index p, std::int8_t* mag, std::int8_t* right, Judgement& found, Poll poll,
                 void* caller) {
    return ending_of([&] {
        found = judged(pag, p, mag, right, Clock(std::numeric_limits<double>::infinity(), poll, caller));
    });
}

}  // namespace lmarvel
