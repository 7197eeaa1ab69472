// The search over DAGs with latent and selection nodes: the twin of tests/reference/lift/hidden.py, where its
// steps are told.
#include "lift/hidden/hidden.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <type_traits>
#include <utility>

#include "lift/hidden/placing.hpp"
#include "lift/hidden/projection.hpp"
#include "lift/hidden/structural_em.hpp"

namespace lmarvel {

namespace {

// The nodes, their parents and their children.
template <int W>
Bits<W> near(const Model<W>& model, const Bits<W>& nodes) {
    Bits<W> around = nodes;
    for (int v = 0; v < model.m(); ++v) {
        if (nodes.has(v)) around = joined(around, model.parents[v]);
        else if (meets(model.parents[v], nodes)) around.add(v);
    }
    return around;
}

// Where the best scores stand, best first, at most so many. Those that only rounding tells apart from the best of them
// stay in their order: then the first is taken.
std::vector<std::size_t> best_of(const Vector& scores, int most, double tie) {
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
    for (auto first = order.begin(); first != order.end();) {
        const double worst = scores[*first] + tie;
        const auto last = std::find_if(first, order.end(), [&](std::size_t i) { return scores[i] > worst; });
        std::sort(first, last);
        first = last;
    }
    if (order.size() > std::size_t(most)) order.resize(std::size_t(most));
    return order;
}

template <int W>
class HiddenSearch final : public AnyHidden {
public:
    HiddenSearch(const double* R, const double* inflation, int p, double n, double price, double noise,
                 const LiftConstants& constants, std::vector<int> kinds, const SearchLimits* known)
        : fits_(R, inflation, p, n, price, constants), set_(constants), em_(fits_, noise, known), placing_(fits_),
          kinds_(std::move(kinds)) {}

    void run(const std::vector<std::vector<int>>& parents, const std::vector<int>& order, const Watch& watch) override {
        const std::size_t p = std::size_t(fits_.p);
        M dag;
        dag.p = fits_.p;
        for (const auto& nodes : parents) {
            dag.parents.emplace_back();
            for (int u : nodes) dag.parents.back().add(u);
        }
        dag.order = order;
        dag.B.assign(p * p, 0.0), dag.log_variance.assign(p, 0.0);
        watched_by(watch);
        const Found first = noted(fits_.fit(std::move(dag)));
        const Found large = climb(first, 4);
        if (large.get() != first.get()) climb(large, 2);
        climb(first, 2);
    }

    std::vector<std::size_t> usable() const override {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < met_.size(); ++i)
            if ((met_[i]->m() > met_[i]->p || met_[i]->chosen()) && !is_degenerate(*met_[i])) found.push_back(i);
        return found;
    }

    double score(std::size_t i) const override { return met_.at(i)->score; }

    std::vector<std::int8_t> marks(std::size_t i) const override {
        const M& model = *met_.at(i);
        std::vector<std::vector<int>> parents;
        for (const auto* sets : {&model.parents, &model.selections})
            for (const Set& set : *sets) parents.push_back(members_of(set));
        std::vector<std::int8_t> marks(std::size_t(model.p) * std::size_t(model.p));
        Projection(parents, model.p, int(model.chosen())).marks(marks.data());
        return marks;
    }

    bool says_less(std::size_t i, std::size_t j) const override {
        const Content one = content(*met_.at(i)), other = content(*met_.at(j));
        if (one.sizes != other.sizes) return one.sizes < other.sizes;
        if (one.children != other.children) return is_before(one.children, other.children);
        return is_before(one.selections, other.selections);
    }

    std::size_t simplified(std::size_t i, double limit, const Watch& watch, std::vector<MissedNode>& kept) override {
        watched_by(watch);
        Found now = met_.at(i);
        while (Found less = without_one(*now, limit, kept)) now = less;
        if (now == met_[i]) return i;
        met_.push_back(now);
        return met_.size() - 1;
    }

private:
    using Set = Bits<W>;
    using M = Model<W>;
    using Found = std::shared_ptr<const M>;

    // What tells models of one graph and score apart: how many hidden nodes, with how many edges, and which.
    struct Content {
        std::pair<std::size_t, int> sizes;
        std::vector<Set> children, selections;
    };

    static Content content(const M& model) {
        Content found{{}, {}, model.selections};
        for (int latent = model.p; latent < model.m(); ++latent) found.children.push_back(children(model, latent));
        int touched = 0;
        for (auto* sets : {&found.children, &found.selections}) {
            for (const Set& set : *sets) touched += set.count();
            std::sort(sets->begin(), sets->end(), precedes);
        }
        found.sizes = {found.children.size() + found.selections.size(), touched};
        return found;
    }

    // Sets as binary numbers.
    static bool precedes(const Set& a, const Set& b) {
        return std::lexicographical_compare(a.word.rbegin(), a.word.rend(), b.word.rbegin(), b.word.rend());
    }

    static bool is_before(const std::vector<Set>& a, const std::vector<Set>& b) {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), precedes);
    }

    static Set children(const M& model, int node) {
        Set found{};
        for (int v = 0; v < model.m(); ++v)
            if (model.parents[v].has(node)) found.add(v);
        return found;
    }

    // Whether the fit lies at the border of the model, where it says no more than a simpler one: a selection node can
    // stand in for an edge if the error variance of one of its parents grows without bound, and a latent node for an
    // observed one if that one's error vanishes.
    bool is_degenerate(const M& model) const {
        const double least = std::log(set_.small_variance), most = std::log(set_.large_variance);
        return std::any_of(model.log_variance.begin(), model.log_variance.begin() + model.p,
                           [=](double x) { return x > most || x < least; });
    }

    struct Change {
        int kind;
        Set nodes;
        int which = -1, node = -1;  // or one more parent of a selection node
    };

    void watched_by(const Watch& watch) { watch_ = em_.watch = em_.pricing.watch = &watch; }

    Found noted(M&& model) {
        met_.push_back(std::make_shared<const M>(std::move(model)));
        return met_.back();
    }

    // --- rounds -----------------------------------------------------------------------------------------

    Found climb(Found model, int smallest) {
        for (int done = 0; done < set_.hidden_rounds; ++done) {
            watch_->tell(std::int64_t(Stage::HIDDEN), done, set_.hidden_rounds);
            Found better = round(*model, smallest);
            if (better == nullptr || better->score > model->score - set_.least_gain) break;
            model = better;
        }
        return model;
    }

    Found round(const M& model, int smallest) {
        std::vector<Change> tried;
        Vector gains;
        for (const Change& change : changes(model))
            if (change.nodes.count() >= smallest) tried.push_back(change), gains.push_back(gain(model, change));
        std::vector<M> local;
        Vector scores;
        for (std::size_t i : best_of(gains, set_.refreshed, set_.tie)) {
            watch_->check();
            std::optional<M> made = changed(model, tried[i]);
            if (!made) continue;
            Set around = near(*made, tried[i].nodes);
            if (tried[i].kind == LATENT) around.add(model.m());
            M fresh = em_.refresh(*made, &around, set_.local_sweeps, 0);
            local.push_back(std::move(fits_.is_better(made->score, fresh.score) ? *made : fresh));
            scores.push_back(local.back().score);
        }
        Found best;
        for (std::size_t i : best_of(scores, set_.polished, set_.tie)) {
            Found candidate = noted(em_.polish(em_.pricing.prune(std::move(local[i])), 0));
            if (best == nullptr || fits_.is_better(candidate->score, best->score)) best = candidate;
        }
        return best == nullptr ? best : noted(em_.polish(*best, 1));
    }

    // The model without the first hidden node that the score does not miss; nothing where it misses all.
    Found without_one(const M& model, double limit, std::vector<MissedNode>& kept) {
        kept.clear();
        const int latents = model.m() - model.p;
        for (int i = 0; i < latents + int(model.chosen()); ++i) {
            const bool latent = i < latents;
            const Set nodes = latent ? children(model, model.p + i) : model.selections[i - latents];
            M less = latent ? em_.pricing.without_latent(model, model.p + i)
                            : em_.pricing.without_selection(model, i - latents);
            less = em_.pricing.prune(em_.refresh(less, nullptr, set_.whole_sweeps, 0));
            const double missed = less.score - model.score;
            if (missed < set_.missed * fits_.price && less.score < limit)
                return std::make_shared<const M>(std::move(less));
            kept.push_back({latent ? LATENT : SELECTION, members_of(common(nodes, first_nodes<W>(model.p))), missed});
        }
        return nullptr;
    }

    // --- changes ----------------------------------------------------------------------------------------

    std::vector<Change> changes(const M& model) const {
        std::vector<Change> found;
        for (const Set& nodes : joined_sets(model.parents, model.p, model.selections, set_, [this] { watch_->check(); }))
            for (int kind : kinds_) found.push_back({kind, nodes});
        for (std::size_t i = 0; i < model.chosen(); ++i) {
            const Set& inside = model.selections[i];
            for (int v : members_of(common(without(near(model, inside), inside), first_nodes<W>(model.p))))
                found.push_back({SELECTION, joined(inside, single<W>(v)), int(i), v});
        }
        return found;
    }

    // By how much a change alters the score, by a rough fit; known as long as nothing near changes.
    double gain(const M& model, const Change& change) {
        const Set around = near(model, change.nodes);
        Words key{std::uint64_t(change.kind), std::uint64_t(change.node + 1), 0};
        auto remember = [&](const Set& set) { append(key, set); };
        remember(change.nodes);
        for (const Set& set : model.selections)
            if (meets(set, around)) remember(set), ++key[2];
        for (int v : members_of(around)) remember(model.parents[v]);
        auto known = gains_.find(key);
        if (known == gains_.end()) {
            watch_->check();
            const std::optional<M> made = changed(model, change);
            const double by = made ? made->score - model.score : std::numeric_limits<double>::infinity();
            known = gains_.emplace(std::move(key), by).first;
        }
        return known->second;
    }

    std::optional<M> changed(const M& model, const Change& change) {
        try {
            if (change.which >= 0) return placing_.enlarge(model, change.which, change.node);
            if (change.kind == SELECTION) return placing_.select(model, change.nodes);
            return placing_.confound(model, change.nodes);
        } catch (const Singular&) {
            return std::nullopt;
        }
    }

    Fits<W> fits_;
    const LiftConstants& set_;
    StructuralEM<W> em_;
    Placing<W> placing_;
    std::vector<int> kinds_;
    const Watch* watch_ = nullptr;
    std::vector<Found> met_;
    std::unordered_map<Words, double, HashWords> gains_;
};

}  // namespace

std::unique_ptr<AnyHidden> make_hidden(const double* R, const double* inflation, int p, double n, double price,
                                       double noise, const LiftConstants& constants, std::vector<int> kinds,
                                       const SearchLimits* known) {
    const int most = p + most_new_nodes(constants);
    const auto make = [&](auto width) -> std::unique_ptr<AnyHidden> {
        return std::make_unique<HiddenSearch<decltype(width)::value>>(R, inflation, p, n, price, noise, constants,
                                                                      std::move(kinds), known);
    };
    if (most <= 64) return make(std::integral_constant<int, 1>{});
    if (most <= 128) return make(std::integral_constant<int, 2>{});
    if (most <= 256) return make(std::integral_constant<int, 4>{});
    if (most <= most_variables) return make(std::integral_constant<int, 16>{});
    return nullptr;
}

}  // namespace lmarvel
