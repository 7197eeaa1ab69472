// The stages of Lift, and the choice among what they end with: the twin of LiftSearch in lmarvel.search.kinds.grouped_lift and
// of tests/reference/lift/lift.py.
#include "lift/lift.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>

#include "base/dense.hpp"
#include "lift/climb/lifting.hpp"
#include "lift/orders/gaussian.hpp"
#include "lift/orders/order_search.hpp"
#include "lift/width.hpp"
#include "orient/orient.hpp"

namespace lmarvel {

namespace {

bool needs_selection(const Candidate& found, std::size_t p) {
    for (std::size_t x = 0; x < p; ++x)
        for (std::size_t y = 0; y < p; ++y) {
            const std::int8_t other = found.pag[y * p + x];
            if (found.pag[x * p + y] == TAIL && (other == TAIL || other == CIRCLE)) return true;
        }
    return false;
}

template <int W>
class LiftRun {
public:
    using Graph = Ancestral<W>;

    LiftRun(const LiftTask& task, const Clock& clock, const Teller& teller, LiftOutcome& out)
        : task_(task), set_(task.constants), p_(std::size_t(task.p)), out_(out), watch_(clock, teller),
          patient_clock_(clock.at_least(std::numeric_limits<double>::infinity())), patient_(patient_clock_),
          precision_(inverted(Vector(task.R, task.R + p_ * p_), p_)),
          lifting_(task.R, precision_, task.p, task.n, task.price, task.noise, task.constants) {
        if (task.known != nullptr) limits_ = std::make_unique<const Limits<W>>(*task.known);
    }

    void run() {
        try {
            take_stages();
        } catch (const BudgetSpent&) {
            out_.late = true;
            if (out_.candidates.empty() && task_.start != nullptr) {  // no order was finished: this is all there is
                const Graph graph = graph_of(task_.start);
                keep(graph, lifting_.score(graph), Stage::START);
            }
        }
        out_.converged = lifting_.converged();
        if (out_.candidates.empty()) return;
        const Candidate& chosen = choose();
        out_.answer.push_back(chosen.stage == Stage::HIDDEN ? simplified(chosen) : chosen);
        if (!needs(out_.answer[0])) out_.selection_gain = 0.0;
        else out_.selection_gain -= out_.answer[0].score - chosen.score;
    }

    static Graph graph_of(const std::int8_t* marks, std::size_t p) {
        Graph graph{int(p)};
        for (std::size_t x = 0; x < p; ++x)
            for (std::size_t y = x + 1; y < p; ++y) {
                const std::int8_t at_x = marks[y * p + x], at_y = marks[x * p + y];
                if (!at_y) continue;
                const Edge kind = at_x == TAIL ? (at_y == TAIL ? UNDIRECTED : FORTH) : at_y == TAIL ? BACK : BOTH;
                graph.set_edge(int(x), int(y), kind);
            }
        graph.close();
        return graph;
    }

private:
    using Set = Bits<W>;

    // --- the stages -----------------------------------------------------------------------------------------

    void take_stages() {
        const FoundOrder<W> order = search_orders();
        lift_from(begun(order), Stage::LIFT);
        if (task_.start != nullptr) lift_from_start(graph_of(task_.start));
        search_hidden(order);
    }

    FoundOrder<W> search_orders() {
        watch_.tell(std::int64_t(Stage::ORDER), 0, 1);
        std::deque<GaussianLocal> tables;
        std::vector<GaussianLocal*> locals;
        for (int i = 0; i < task_.threads; ++i)
            locals.push_back(&tables.emplace_back(task_.R, task_.p, task_.n, task_.price));
        OrderSearch<W, GaussianLocal> search(locals, task_.noise, set_, task_.known, task_.memory);
        FoundOrder<W> best;  // of those that fit
        const auto see = [&](const FoundOrder<W>& settled) {
            const Graph graph = dag_of(settled);
            if (limits_ != nullptr && !limits_->fits(graph)) return;
            out_.seen.see(settled.score, graph);
            if (best.order.empty() || settled.score < best.score) best = settled;
        };
        try {
            auto starts = gaussian_starts(precision_, p_, task_.n, task_.price, set_.alike, search.forward(watch_));
            starts.insert(starts.end(), task_.more.begin(), task_.more.end());
            search.run(starts, watch_, see);
        } catch (const BudgetSpent&) {
            if (!best.order.empty()) keep(dag_of(best), best.score, Stage::ORDER);
            throw;
        }
        const Graph graph = begun(search.found);
        keep(graph, limits_ == nullptr ? search.found.score : lifting_.score(graph), Stage::ORDER);
        return std::move(search.found);
    }

    // Climb from a graph; where the answer needs selection, climb without it too, for comparison.
    void lift_from(const Graph& graph, Stage stage) {
        watch_.tell(std::int64_t(Stage::LIFT), std::int64_t(out_.candidates.size()), 3);
        climb(graph, task_.selection, stage);
        if (!needs(out_.candidates.back())) return;
        const Graph directed = direct_chordal(graph);
        if (!directed.has_selection()) climb(directed, false, stage);
    }

    void climb(const Graph& graph, bool selection, Stage stage) {
        const auto found = lifting_.climb(graph, {selection, task_.latents, watch_, out_.seen});
        keep(found.graph, found.score, stage);
    }

    // Climb from the graph that was given, if it is allowed, and not far behind: in the limit it is the truth.
    void lift_from_start(Graph graph) {
        const auto some = [](const std::vector<Set>& sets) {
            return std::any_of(sets.begin(), sets.end(), [](const Set& set) { return set.any(); });
        };
        if (some(graph.spouses) && !task_.latents) return;
        graph = direct_chordal(graph);
        if (some(graph.neighbors) && !task_.selection) return;
        if (limits_ != nullptr) graph = limits_->repaired(graph);
        if (lifting_.score(graph) < best_plain_score() + set_.far_behind * task_.price) lift_from(graph, Stage::START);
    }

    void search_hidden(const FoundOrder<W>& order) {
        std::vector<int> kinds;
        if (task_.selection) kinds.push_back(SELECTION);
        if (task_.latents) kinds.push_back(LATENT);
        if (kinds.empty()) return;
        hidden_ = make_hidden(task_.R, task_.inflation, task_.p, task_.n, task_.price, task_.noise, set_, kinds, task_.known,
                              task_.memory / std::size_t(task_.threads), task_.threads);
        std::vector<std::vector<int>> parents(p_);
        for (std::size_t v = 0; v < p_; ++v) order.parents[v].members(parents[v]);
        try {
            hidden_->run(parents, order.order, watch_);
        } catch (const BudgetSpent&) {
            keep_models();
            throw;
        }
        keep_models();
    }

    // --- graphs ---------------------------------------------------------------------------------------------

    Graph graph_of(const std::int8_t* marks) const { return graph_of(marks, p_); }

    static Graph dag_of(const FoundOrder<W>& order) {
        Graph graph(int(order.parents.size()));
        for (int v = 0; v < graph.size(); ++v) order.parents[v].each([&](int u) { graph.set_edge(u, v, FORTH); });
        graph.close();
        return graph;
    }

    // The DAG of an order, changed where it breaks what is known.
    Graph begun(const FoundOrder<W>& order) const {
        return limits_ == nullptr ? dag_of(order) : limits_->repaired(dag_of(order));
    }

    bool fits(const MarkMatrix& mag) const { return limits_ == nullptr || limits_->fits(graph_of(mag.data())); }
    bool needs(const Candidate& found) const { return needs_selection(found, p_); }

    MarkMatrix pag_of(const MarkMatrix& mag) const {
        MarkMatrix pag(p_ * p_);
        Orientation(KnownGraph(mag.data(), Index(p_)), Index(p_), pag.data(), patient_clock_).run(task_.selection, true);
        return pag;
    }

    // --- candidates -----------------------------------------------------------------------------------------

    void keep(const Graph& found, double score, Stage stage) {
        Graph graph = direct_chordal(found);
        graph.complete();
        MarkMatrix mag(p_ * p_);
        for (std::size_t v = 0; v < p_; ++v) {
            graph.parents[v].each([&](int u) { mag[std::size_t(u) * p_ + v] = ARROW, mag[v * p_ + std::size_t(u)] = TAIL; });
            graph.spouses[v].each([&](int u) { mag[std::size_t(u) * p_ + v] = ARROW; });
            graph.neighbors[v].each([&](int u) { mag[std::size_t(u) * p_ + v] = TAIL; });
        }
        // An edge that makes a graph maximal may be one too many.
        if (!out_.candidates.empty() && !fits(mag)) return;
        MarkMatrix pag = pag_of(mag);
        out_.candidates.push_back({stage, score, std::move(mag), std::move(pag)});
    }

    // Keep the best models that need selection and the best that need none; no others need a PAG.
    void keep_models() {
        const std::map<std::size_t, MarkMatrix> models = distinct_models();
        std::vector<std::size_t> by_score;
        for (const auto& [i, mag] : models) {
            out_.models.emplace_back(hidden_->score(i), mag);
            by_score.push_back(i);
        }
        std::stable_sort(by_score.begin(), by_score.end(),
                         [&](std::size_t a, std::size_t b) { return hidden_->score(a) < hidden_->score(b); });
        std::map<std::size_t, Candidate> answers;
        std::map<bool, double> best;  // by whether selection is needed
        for (std::size_t i : by_score) {
            const double score = hidden_->score(i);
            if (best.size() == 2 && score > std::max(best[false], best[true]) + task_.noise) break;
            if (best.count(true) && score > best[true] + task_.noise && is_bound(models.at(i))) continue;
            const Candidate& found = answers.emplace(i, of_model(i, models.at(i))).first->second;
            best.emplace(needs(found), score);
        }
        for (auto& [_, found] : answers) out_.candidates.push_back(std::move(found));
    }

    // Whether only selection explains a MAG, as is seen without its PAG: nothing else explains a cycle of undirected edges
    // without a chord.
    bool is_bound(const MarkMatrix& mag) const { return direct_chordal(graph_of(mag.data())).has_selection(); }

    // One of the models that have the same MAG and fit equally well: one that says least. Fits end some thousandths of a
    // unit from their maximum, so which of them has the best score says nothing.
    std::map<std::size_t, MarkMatrix> distinct_models() const {
        std::map<MarkMatrix, std::size_t> best;
        for (std::size_t i : hidden_->usable()) {
            MarkMatrix mag = hidden_->marks(i);
            if (!fits(mag)) continue;
            std::size_t& kept = best.emplace(std::move(mag), i).first->second;
            const double behind = hidden_->score(i) - hidden_->score(kept);
            if (behind < -set_.equal || (behind <= set_.equal && hidden_->says_less(i, kept))) kept = i;
        }
        std::map<std::size_t, MarkMatrix> found;
        for (const auto& [mag, i] : best) found.emplace(i, mag);
        return found;
    }

    Candidate of_model(std::size_t i, const MarkMatrix& mag) const {
        return {Stage::HIDDEN, hidden_->score(i), mag, pag_of(mag), i};
    }

    double best_plain_score() const {
        double best = std::numeric_limits<double>::infinity();
        for (const Candidate& found : out_.candidates)
            if (found.stage != Stage::HIDDEN) best = std::min(best, found.score);
        return best;
    }

    // --- the choice -----------------------------------------------------------------------------------------

    // A model with hidden nodes, which come last, must be clearly better than the graphs before it.
    const Candidate* pick(bool selected) const {
        const Candidate* best = nullptr;
        for (const Candidate& found : out_.candidates) {
            if (needs(found) != selected) continue;
            const bool first = found.stage == Stage::HIDDEN && (best == nullptr || best->stage != Stage::HIDDEN);
            const double step = first ? set_.margin * task_.price : task_.noise;
            if (best == nullptr || found.score < best->score - step) best = &found;
        }
        return best;
    }

    // And one that only selection explains than all that do without.
    const Candidate& choose() {
        const Candidate *plain = pick(false), *selected = pick(true);
        if (selected == nullptr) return *plain;
        out_.selection_gain = plain == nullptr ? std::numeric_limits<double>::infinity() : plain->score - selected->score;
        if (plain == nullptr || out_.selection_gain >= set_.margin * task_.price) return *selected;
        out_.selection_gain = 0.0;
        return *plain;
    }

    // Without the hidden nodes that the score does not miss; a few fits more, also when the time is up.
    Candidate simplified(const Candidate& chosen) {
        const std::size_t i = hidden_->simplified(chosen.model, best_plain_score(), patient_, out_.hidden);
        if (i == chosen.model) return chosen;
        const MarkMatrix mag = hidden_->marks(i);
        if (!fits(mag)) return chosen;
        out_.models.emplace_back(hidden_->score(i), mag);
        return of_model(i, mag);
    }

    const LiftTask& task_;
    const LiftConstants& set_;
    const std::size_t p_;
    LiftOutcome& out_;
    const Watch watch_;
    const Clock patient_clock_;  // which only the user ends
    const Watch patient_;
    const Vector precision_;
    Lifting<W> lifting_;
    std::unique_ptr<const Limits<W>> limits_;
    std::unique_ptr<AnyHidden> hidden_;
};

}  // namespace

bool is_ancestral(const std::int8_t* marks, int p) {
    return with_width(p, [&](auto width) {
        return LiftRun<decltype(width)::value>::graph_of(marks, std::size_t(p)).settle();
    });
}

Ending lift(const LiftTask& task, const Clock& clock, const Teller& teller, LiftOutcome& outcome) {
    return ending_of([&] {
        try {
            with_width(task.p, [&](auto width) { LiftRun<decltype(width)::value>(task, clock, teller, outcome).run(); });
        } catch (const Singular&) {
            throw std::invalid_argument("these are no correlations: their matrix is singular");
        }
    });
}

}  // namespace lmarvel
