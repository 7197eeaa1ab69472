// The graphs that an answer is compared with, and the best of them without each of its parts.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "lift/climb/climb.hpp"
#include "lift/evidence/drawn.hpp"
#include "lift/evidence/evidence.hpp"
#include "lift/evidence/proof.hpp"

namespace lmarvel {

template <int W>
class Weighing {
public:
    Weighing(const EvidenceTask& task, const Clock& clock, Evidence& found)
        : task_(task), p_(std::size_t(task.p)), out_(found), patient_(clock.at_least(infinity)), watch_(clock),
          kinds_{FORTH, BACK}, scores_(task.R, task.p, task.n), mag_(ancestral(edges_of(task.mag))),
          separation_(task.mag, Index(task.p)), apart_(p_ * p_, infinity), joined_(p_ * p_, task.price),
          other_(p_ * p_, infinity), drawn_(task.p), marks_(p_ * p_, 0), pag_(p_ * p_, 0), proof_(task.p) {
        if (task.latents) kinds_.push_back(BOTH);
        if (task.selection) kinds_.push_back(UNDIRECTED);
        for (int x = 0; x < task.p; ++x) mag_.adjacent(x).each([&](int y) { if (y > x) edges_.emplace_back(x, y); });
        for (const auto& [x, y] : edges_)
            for (const auto& [a, b] : {std::pair(x, y), std::pair(y, x)})
                if (task.pag[at(a, b)] > CIRCLE) told_.push_back(at(a, b));
        std::sort(told_.begin(), told_.end());
    }

    void run() {
        Graph graph = base();
        Climb<W> climb(scores_, graph, task_.price, {}, {});
        for (const auto& [x, y] : edges_) weigh_edge(climb, graph, x, y);
        for (int x = 0; x < task_.p; ++x)
            beyond(x).each([&](int y) { weigh_gap(climb, graph, x, y); });
        see_marks(graph);
        for (std::size_t end : told_) {
            out_.at_x.push_back(Index(end / p_));
            out_.at_y.push_back(Index(end % p_));
            out_.distance.push_back(other_[end]);
        }
        if (task_.all_gaps) weigh_far_gaps(climb, graph);
    }

private:
    using Set = Bits<W>;
    using Graph = Ancestral<W>;
    using Change = std::tuple<double, int, int, Edge>;  // what is lost by another edge, its ends and the new edge
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    std::size_t at(int x, int y) const { return std::size_t(x) * p_ + std::size_t(y); }

    // --- graphs ---------------------------------------------------------------------------------------------

    std::vector<std::uint32_t> edges_of(const std::int8_t* marks) const {
        std::vector<std::uint32_t> edges;
        for (int x = 0; x < task_.p; ++x)
            for (int y = x + 1; y < task_.p; ++y) {
                const std::int8_t at_y = marks[at(x, y)], at_x = marks[at(y, x)];
                if (!at_y) continue;
                const Edge kind = at_x == TAIL ? (at_y == TAIL ? UNDIRECTED : FORTH) : at_y == TAIL ? BACK : BOTH;
                edges.push_back(std::uint32_t(at(x, y)) * 8 + std::uint32_t(kind));
            }
        return edges;
    }

    Graph ancestral(const std::vector<std::uint32_t>& edges) const {
        Graph graph{task_.p};
        for (std::uint32_t code : edges) graph.set_edge(int(code / 8 / p_), int(code / 8 % p_), Edge(code % 8));
        if (!graph.settle()) throw std::invalid_argument("this is not an ancestral graph");
        return graph;
    }

    // See all graphs that were met. The first of the same class and score is what changes are made in: it may lack the
    // edges that make a graph maximal.
    Graph base() {
        Graph found = mag_;
        bool known = false;
        for (std::size_t i = 0; i < task_.met.size() && !known; ++i) {
            if (std::abs(task_.scores[i] - task_.score) > task_.noise) continue;
            const Graph graph = ancestral(task_.met[i]);
            known = prove(graph);
            if (known) found = graph;
        }
        if (!known) prove(mag_);
        for (std::size_t i = 0; i < task_.met.size(); ++i)
            see(std::max(task_.scores[i] - task_.score, 0.0), ancestral(task_.met[i]));
        return direct_chordal(found);
    }

    // Learn why the marks of the answer are there from a graph of its class; tell whether it is one.
    bool prove(const Graph& graph) {
        watch_.check();
        drawn_.draw(graph);
        std::vector<Use> uses = orient();
        bool same = drawn_.edges.size() == edges_.size();
        for (const auto& [x, y] : edges_) same = same && has_same_marks(x, y);
        if (same) proof_.learn(std::move(uses));
        forget();
        return same;
    }

    bool has_same_marks(int x, int y) const {
        return pag_[at(x, y)] == task_.pag[at(x, y)] && pag_[at(y, x)] == task_.pag[at(y, x)];
    }

    // Find the PAG of the graph that is drawn.
    std::vector<Use> orient() {
        for (const auto& [x, y] : drawn_.edges)
            marks_[at(x, y)] = drawn_.mark(x, y), marks_[at(y, x)] = drawn_.mark(y, x);
        const KnownGraph known(marks_.data(), Index(p_), drawn_.edges);
        Orientation found(known, Index(p_), pag_.data(), patient_);
        found.run(task_.selection);
        return std::move(found.log);
    }

    void forget() {
        for (const auto& [x, y] : drawn_.edges)
            for (const std::size_t end : {at(x, y), at(y, x)}) marks_[end] = pag_[end] = NONE;
    }

    // Note in which parts a graph that is worse by so much differs from the answer.
    void see(double loss, const Graph& graph) {
        watch_.check();
        drawn_.draw(graph);
        for (const auto& [x, y] : edges_)
            if (!drawn_.adjacent[x].has(y)) note(apart_, x, y, loss);
        for (const auto& [x, y] : drawn_.edges)
            if (!task_.pag[at(x, y)]) note(joined_, x, y, loss);
        if (!may_tell(loss)) return;
        orient();
        for (std::size_t end : told_)
            if (pag_[end] != task_.pag[end]) other_[end] = std::min(other_[end], loss);
        forget();
    }

    // Whether the graph that is drawn may have another mark at an end of which no such graph is known that loses less.
    bool may_tell(double loss) {
        const auto is_open = [&](std::size_t end) { return other_[end] > loss; };
        if (std::none_of(told_.begin(), told_.end(), is_open)) return false;
        proof_.replay(drawn_);
        return std::any_of(told_.begin(), told_.end(), [&](std::size_t end) {
            return is_open(end) && !proof_.stands(int(end / p_), int(end % p_), task_.pag[end]);
        });
    }

    void note(Vector& best, int x, int y, double loss) {
        best[at(x, y)] = best[at(y, x)] = std::min(best[at(x, y)], std::max(loss, 0.0));
    }

    // --- changes of one edge ----------------------------------------------------------------------------------

    // What the graphs lose that have another edge between x and y, or none.
    std::vector<Change> changes(Climb<W>& climb, Graph& graph, int x, int y, const std::vector<Edge>& kinds) {
        std::vector<Change> found;
        const Edge present = graph.edge(x, y);
        for (Edge kind : kinds) {
            if (kind == present || !graph.is_legal(x, y, kind)) continue;
            watch_.check();
            const double gain = climb.gain(x, y, kind);
            if (kind != NO_EDGE) {
                note(joined_, x, y, gain);
            } else if (!induced_without(graph, x, y)) {
                note(apart_, x, y, climb.score() + gain - task_.score);
            }
            found.emplace_back(std::max(gain, 0.0), x, y, kind);
        }
        return found;
    }

    static bool induced_without(Graph& graph, int x, int y) {
        const Edge present = graph.edge(x, y);
        graph.set_edge(x, y, NO_EDGE);
        const bool found = Drawn<W>::is_induced(graph, x, y);
        graph.set_edge(x, y, present);
        return found;
    }

    // Note the marks of changed graphs, best first, until none can tell more.
    void see_marks(Graph& graph) {
        // Of the edges of a pair that fit equally well one is enough: they are of one class.
        std::map<std::tuple<int, int, long long>, Change> distinct;
        for (const Change& change : changes_) {
            const auto& [loss, x, y, kind] = change;
            if (loss <= task_.near) distinct[{x, y, std::llround(loss * 1e5)}] = change;
        }
        std::vector<Change> sorted;
        for (const auto& entry : distinct) sorted.push_back(entry.second);
        std::sort(sorted.begin(), sorted.end());
        for (const auto& [loss, x, y, kind] : sorted) {
            const double least = loss;
            if (std::none_of(told_.begin(), told_.end(), [&](std::size_t end) { return other_[end] > least; })) return;
            const Edge present = graph.edge(x, y);
            graph.set_edge(x, y, kind);
            see(loss, graph);
            graph.set_edge(x, y, present);
        }
    }

    // What the graph loses in which v has no edges.
    double isolated(const Graph& graph, int v) {
        Graph twin = graph;
        graph.adjacent(v).each([&](int u) { twin.set_edge(u, v, NO_EDGE); });
        return scores_.rows() * scores_.of_graph(twin) + task_.price * twin.n_edges - task_.score;
    }

    // --- records ------------------------------------------------------------------------------------------------

    // Those after x that are not adjacent to it and have a neighbour in common with it.
    Set beyond(int x) const {
        Set near = mag_.adjacent(x), found;
        near.each([&](int v) { found |= mag_.adjacent(v); });
        found = found.without(near);
        for (int y = 0; y <= x; ++y) found.drop(y);
        return found;
    }

    void weigh_edge(Climb<W>& climb, Graph& graph, int x, int y) {
        std::vector<Edge> kinds = kinds_;
        kinds.push_back(NO_EDGE);
        for (const Change& change : changes(climb, graph, x, y, kinds)) changes_.push_back(change);
        if (std::isinf(apart_[at(x, y)]))  // it would come back, for no set would separate the two
            note(apart_, x, y, std::min(isolated(graph, x), isolated(graph, y)));
        std::vector<Index>& given = out_.edges.given.members;
        if (!induced_without(mag_, x, y)) {
            separation_.find(Index(x), Index(y), given);
        } else {
            fewer(mag_.adjacent(x).without(y), mag_.adjacent(y).without(x)).each([&](int v) { given.push_back(v); });
        }
        keep(out_.edges, x, y, apart_[at(x, y)]);
    }

    // The smaller set; of two of one size the one without the last variable that only one of them has.
    static Set fewer(const Set& a, const Set& b) {
        if (a.count() != b.count()) return a.count() < b.count() ? a : b;
        for (int i = W; i-- > 0;)
            if (a.word[i] != b.word[i]) return a.word[i] < b.word[i] ? a : b;
        return a;
    }

    void weigh_gap(Climb<W>& climb, Graph& graph, int x, int y) {
        // A gap that is closed takes its colliders with it, whatever the edge: the best one is enough.
        const std::vector<Change> found = changes(climb, graph, x, y, kinds_);
        if (!found.empty()) changes_.push_back(*std::min_element(found.begin(), found.end()));
        leave_out(out_.gaps, x, y);
    }

    // Look at the graphs with an edge between two variables that have no neighbour in common.
    void weigh_far_gaps(Climb<W>& climb, Graph& graph) {
        for (int x = 0; x < task_.p; ++x) {
            const Set near = mag_.adjacent(x) | beyond(x);
            for (int y = x + 1; y < task_.p; ++y) {
                if (near.has(y)) continue;
                std::vector<Edge> kinds;
                for (Edge kind : {FORTH, BACK})
                    if (graph.is_legal(x, y, kind)) kinds.push_back(kind);
                changes(climb, graph, x, y, kinds.empty() ? kinds_ : kinds);
                leave_out(out_.far_gaps, x, y);
            }
        }
    }

    void leave_out(WeighedPairs& pairs, int x, int y) {
        separation_.find(Index(x), Index(y), pairs.given.members);
        keep(pairs, x, y, joined_[at(x, y)]);
    }

    static void keep(WeighedPairs& pairs, int x, int y, double loss) {
        pairs.x.push_back(Index(x));
        pairs.y.push_back(Index(y));
        pairs.loss.push_back(loss);
        pairs.given.starts.push_back(std::int64_t(pairs.given.members.size()));
    }

    const EvidenceTask& task_;
    const std::size_t p_;
    Evidence& out_;
    const Clock patient_;  // which only the user ends: half a PAG tells nothing
    const Watch watch_;
    std::vector<Edge> kinds_;  // the edges that may be put
    BlockScores<W> scores_;
    Graph mag_;
    Separation separation_;
    std::vector<std::pair<int, int>> edges_;
    std::vector<std::size_t> told_;  // the ends with a mark, row by row
    // How much worse the best graph is in which a pair is not adjacent, is adjacent, or has another mark. One edge more is
    // never worse by more than its price. Only what differs from the answer is kept.
    Vector apart_, joined_, other_;
    std::vector<Change> changes_;
    Drawn<W> drawn_;                        // the graph that is looked at
    std::vector<std::int8_t> marks_, pag_;  // its marks and those of its PAG, while it is oriented; else zero
    Proof<W> proof_;                        // why the marks of the answer are there
};

}  // namespace lmarvel
