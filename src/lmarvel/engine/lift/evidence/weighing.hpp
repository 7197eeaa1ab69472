// The graphs that an answer is compared with, and the best of them without each of its parts.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "lift/evidence/changes.hpp"
#include "lift/evidence/evidence.hpp"
#include "lift/evidence/looks.hpp"

namespace lmarvel {

// Pairs and graphs are looked at in threads. What is found of each depends on nothing but itself, and is put together in
// their order, so that the number of threads changes nothing.
template <int W>
class Weighing {
public:
    Weighing(const EvidenceTask& task, const Clock& clock, Evidence& found)
        : task_(task), p_(std::size_t(task.p)), out_(found), watch_(clock), workers_(task.threads), answer_(task),
          looks_(answer_, task.selection), scores_(task.R, task.p, task.n), apart_(p_ * p_, infinity),
          joined_(p_ * p_, task.price), other_(p_ * p_, infinity), desks_(workers_.count()) {}

    void run() {
        const Graph graph = base();
        scores_.of_graph(graph);
        start_ = &graph;
        see_met();
        weigh(out_.edges, answer_.edges, [this](Changes<W>& changes, int x, int y, const Watch& watch) {
            return changes.edge(x, y, apart_[at(x, y)], watch);
        });
        weigh(out_.gaps, gaps(false), [this](Changes<W>& changes, int x, int y, const Watch& watch) {
            return changes.gap(x, y, joined_[at(x, y)], watch);
        });
        see_marks();
        for (std::size_t end : answer_.told) {
            out_.at_x.push_back(Index(end / p_));
            out_.at_y.push_back(Index(end % p_));
            out_.distance.push_back(other_[end]);
        }
        if (!task_.all_gaps) return;
        weigh(out_.far_gaps, gaps(true), [this](Changes<W>& changes, int x, int y, const Watch& watch) {
            return changes.far_gap(x, y, joined_[at(x, y)], watch);
        });
    }

private:
    using Set = Bits<W>;
    using Graph = Ancestral<W>;
    using Pairs = std::vector<std::pair<int, int>>;
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr std::size_t at_once = 16;  // graphs that each of several threads looks at before all are compared

    std::size_t at(int x, int y) const { return answer_.at(x, y); }

    // What a thread works with.
    struct Desk {
        explicit Desk(const Weighing& of)
            : looks(of.looks_), changes(of.task_, of.answer_, *of.start_, of.scores_) {}

        Looks<W> looks;
        Changes<W> changes;
    };

    Desk& desk(std::size_t worker) {
        if (!desks_[worker]) desks_[worker] = std::make_unique<Desk>(*this);
        return *desks_[worker];
    }

    // --- graphs ---------------------------------------------------------------------------------------------

    // What changes are made in: the first graph that was met of the same class and score. It may lack the edges that make
    // a graph maximal.
    Graph base() {
        for (std::size_t i = 0; i < task_.met.size(); ++i) {
            if (std::abs(task_.scores[i] - task_.score) > task_.noise) continue;
            const Graph graph = answer_.ancestral(task_.met[i]);
            if (looks_.prove(graph, watch_)) return direct_chordal(graph);
        }
        looks_.prove(answer_.mag, watch_);
        return direct_chordal(answer_.mag);
    }

    void see_met() {
        std::vector<Look> found(task_.met.size());
        workers_.each(found.size(), watch_, [&](std::size_t i, std::size_t worker, const Watch& watch) {
            found[i] = desk(worker).looks.at_graph(answer_.ancestral(task_.met[i]), worse(i), other_, watch);
        });
        for (std::size_t i = 0; i < found.size(); ++i) note(found[i], worse(i));
    }

    // What a graph that was met loses.
    double worse(std::size_t i) const { return std::max(task_.scores[i] - task_.score, 0.0); }

    // Note in which parts a graph that is worse by so much differs from the answer.
    void note(const Look& look, double loss) {
        for (const auto& [x, y] : look.missing) lower(apart_[at(x, y)], loss);
        for (const auto& [x, y] : look.added) lower(joined_[at(x, y)], loss);
        for (std::size_t end : look.other) lower(other_[end], loss);
    }

    static void lower(double& best, double loss) { best = std::min(best, loss); }

    // --- changes of one edge ----------------------------------------------------------------------------------

    // Weigh pairs, and keep what is found of them, also where time ends it.
    template <class Weigh>
    void weigh(WeighedPairs& to, const Pairs& pairs, const Weigh& one) {
        std::vector<Part> found(pairs.size());
        try {
            workers_.each(pairs.size(), watch_, [&](std::size_t i, std::size_t worker, const Watch& watch) {
                found[i] = one(desk(worker).changes, pairs[i].first, pairs[i].second, watch);
            });
        } catch (const BudgetSpent&) {
            keep(to, pairs, found);
            throw;
        }
        keep(to, pairs, found);
    }

    void keep(WeighedPairs& to, const Pairs& pairs, const std::vector<Part>& found) {
        for (std::size_t i = 0; i < pairs.size() && found[i].done; ++i) {
            to.x.push_back(Index(pairs[i].first));
            to.y.push_back(Index(pairs[i].second));
            to.loss.push_back(found[i].loss);
            to.given.members.insert(to.given.members.end(), found[i].given.begin(), found[i].given.end());
            to.given.starts.push_back(std::int64_t(to.given.members.size()));
            changes_.insert(changes_.end(), found[i].changes.begin(), found[i].changes.end());
        }
    }

    // The pairs that are not adjacent and have a neighbour in common, or have none.
    Pairs gaps(bool far) const {
        Pairs found;
        const Graph& mag = answer_.mag;
        for (int x = 0; x < task_.p; ++x) {
            const Set adjacent = mag.adjacent(x);
            Set around = adjacent;
            adjacent.each([&](int v) { around |= mag.adjacent(v); });
            for (int y = x + 1; y < task_.p; ++y)
                if (far ? !around.has(y) : around.has(y) && !adjacent.has(y)) found.emplace_back(x, y);
        }
        return found;
    }

    // Note the marks of changed graphs, best first, until none can tell more.
    void see_marks() {
        const std::vector<EdgeChange> sorted = near();
        const std::size_t step = workers_.count() == 1 ? 1 : at_once * workers_.count();
        for (std::size_t from = 0; from < sorted.size(); from += step) {
            std::vector<Look> found(std::min(step, sorted.size() - from));
            if (is_all_told(std::get<0>(sorted[from]))) return;
            workers_.each(found.size(), watch_, [&](std::size_t i, std::size_t worker, const Watch& watch) {
                found[i] = changed(desk(worker), sorted[from + i], watch);
            });
            for (std::size_t i = 0; i < found.size(); ++i) {
                if (is_all_told(std::get<0>(sorted[from + i]))) return;
                note(found[i], std::get<0>(sorted[from + i]));
            }
        }
    }

    // The changes whose marks are looked at, in order. Of the edges of a pair that fit equally well one is enough: they
    // are of one class.
    std::vector<EdgeChange> near() const {
        std::map<std::tuple<int, int, long long>, EdgeChange> distinct;
        for (const EdgeChange& change : changes_) {
            const auto& [loss, x, y, kind] = change;
            if (loss <= task_.near) distinct[{x, y, std::llround(loss * 1e5)}] = change;
        }
        std::vector<EdgeChange> sorted;
        for (const auto& entry : distinct) sorted.push_back(entry.second);
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }

    // Whether for each mark a graph with another one is known that loses no more than this.
    bool is_all_told(double loss) const {
        const auto& told = answer_.told;
        return std::all_of(told.begin(), told.end(), [&](std::size_t end) { return other_[end] <= loss; });
    }

    Look changed(Desk& desk, const EdgeChange& change, const Watch& watch) const {
        const auto& [loss, x, y, kind] = change;
        Graph& graph = desk.changes.graph();
        const Edge present = graph.edge(x, y);
        graph.set_edge(x, y, kind);
        Look found = desk.looks.at_graph(graph, loss, other_, watch);
        graph.set_edge(x, y, present);
        return found;
    }

    const EvidenceTask& task_;
    const std::size_t p_;
    Evidence& out_;
    const Watch watch_;
    const Workers workers_;
    const Answer<W> answer_;
    Looks<W> looks_;          // with the proof of the answer: each desk has a copy
    BlockScores<W> scores_;   // with those of the answer: the same
    const Graph* start_ = nullptr;
    // How much worse the best graph is in which a pair is not adjacent, is adjacent, or has another mark. One edge more is
    // never worse by more than its price. Only what differs from the answer is kept, of pairs at the smaller end.
    Vector apart_, joined_, other_;
    std::vector<EdgeChange> changes_;
    std::vector<std::unique_ptr<Desk>> desks_;
};

}  // namespace lmarvel
