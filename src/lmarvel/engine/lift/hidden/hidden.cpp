// The search over DAGs with latent and selection nodes: the twin of lmarvel.search.hidden, where its steps are told.
#include "lift/hidden/hidden.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "lift/hidden/placing.hpp"
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

template <int W>
class HiddenSearch final : public AnyHidden {
public:
    HiddenSearch(const double* R, int p, double n, double price, double noise, std::vector<int> kinds)
        : fits_(R, p, n, price), em_(fits_, noise), placing_(fits_), kinds_(std::move(kinds)) {}

    int capacity() const override { return 64 * W; }
    std::size_t n_met() const override { return met_.size(); }
    FlatModel met(std::size_t i) const override { return flat(*met_.at(i)); }
    FlatModel fitted(const FlatModel& model) override { return flat(fits_.fit(taken(model))); }

    // Put hidden nodes into a model while the score falls; all models that were looked at closely are kept.
    Ended run(const FlatModel& model, const Watch& watch) override {
        return guarded(watch, [&] {
            const Found first = noted(taken(model));
            const Found large = climb(first, 4);
            if (large.get() != first.get()) climb(large, 2);
            climb(first, 2);
        });
    }

    // Drop hidden nodes that the score does not miss, while it stays below a limit; tell what the others are worth.
    Ended simplified(const FlatModel& model, double limit, const Watch& watch, FlatModel& simpler, bool& changed,
                     std::vector<MissedNode>& kept) override {
        return guarded(watch, [&] {
            M now = taken(model);
            changed = false;
            while (drop_one(now, limit, kept)) changed = true;
            simpler = flat(now);
        });
    }

private:
    using Set = Bits<W>;
    using M = Model<W>;
    using Found = std::shared_ptr<const M>;

    static constexpr std::size_t refreshed_ = 12, polished_ = 4;
    static constexpr double least_gain_ = 1.0;  // in units of the score
    static constexpr double missed_ = 0.25;     // a hidden node that the score misses by less of the price goes

    struct Change {
        int kind;
        Set nodes;
        int which = -1, node = -1;  // or one more parent of a selection node
    };

    template <class Work>
    Ended guarded(const Watch& watch, const Work& work) {
        watch_ = em_.watch = em_.pricing.watch = &watch;
        return watched(work);
    }

    Found noted(M&& model) {
        met_.push_back(std::make_shared<const M>(std::move(model)));
        return met_.back();
    }

    // --- rounds -----------------------------------------------------------------------------------------

    Found climb(Found model, int smallest) {
        for (int done = 0; done < most_rounds; ++done) {
            watch_->tell(0, done, most_rounds);
            Found better = round(*model, smallest);
            if (better == nullptr || better->score > model->score - least_gain_) break;
            model = better;
        }
        return model;
    }

    Found round(const M& model, int smallest) {
        std::vector<std::pair<double, Change>> ranked;
        for (const Change& change : changes(model))
            if (change.nodes.count() >= smallest) ranked.emplace_back(rank(gain(model, change)), change);
        const auto by_first = [](const auto& a, const auto& b) { return a.first < b.first; };
        std::stable_sort(ranked.begin(), ranked.end(), by_first);
        if (ranked.size() > refreshed_) ranked.resize(refreshed_);
        std::vector<std::pair<double, M>> local;
        for (const auto& [_, change] : ranked) {
            watch_->check();
            std::optional<M> made = changed(model, change);
            if (!made) continue;
            Set around = near(*made, change.nodes);
            if (change.kind == LATENT) around.add(model.m());
            M fresh = em_.refresh(*made, &around, 3, 0);
            M& better = rank(made->score) < rank(fresh.score) ? *made : fresh;
            local.emplace_back(rank(better.score), std::move(better));
        }
        std::stable_sort(local.begin(), local.end(), by_first);
        Found best;
        for (std::size_t i = 0; i < std::min(local.size(), polished_); ++i) {
            Found candidate = noted(em_.polish(em_.pricing.prune(std::move(local[i].second)), 0));
            if (best == nullptr || rank(candidate->score) < rank(best->score)) best = candidate;
        }
        return best == nullptr ? best : noted(em_.polish(*best, 1));
    }

    bool drop_one(M& model, double limit, std::vector<MissedNode>& kept) {
        kept.clear();
        const int latents = model.m() - model.p;
        for (int i = 0; i < latents + int(model.chosen()); ++i) {
            const bool latent = i < latents;
            Set nodes{};
            if (latent) {
                for (int v = 0; v < model.m(); ++v)
                    if (model.parents[v].has(model.p + i)) nodes.add(v);
            } else {
                nodes = model.selections[i - latents];
            }
            M less = latent ? em_.pricing.without_latent(model, model.p + i)
                            : em_.pricing.without_selection(model, i - latents);
            less = em_.pricing.prune(em_.refresh(less, nullptr, 4, 0));
            const double missed = less.score - model.score;
            if (missed < missed_ * fits_.price && less.score < limit) {
                model = std::move(less);
                return true;
            }
            kept.push_back({latent ? LATENT : SELECTION, members_of(nodes), missed});
        }
        return false;
    }

    // --- changes ----------------------------------------------------------------------------------------

    std::vector<Change> changes(const M& model) const {
        std::vector<Change> found;
        for (const Set& nodes : joined_sets(model.parents, model.p, model.selections, [this] { watch_->check(); }))
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

    // --- to and from Python -----------------------------------------------------------------------------

    static Set set_of(const std::vector<int>& nodes) {
        Set set{};
        for (int v : nodes) set.add(v);
        return set;
    }

    M taken(const FlatModel& flat) const {
        M model;
        model.p = fits_.p;
        for (const auto& nodes : flat.parents) model.parents.push_back(set_of(nodes));
        for (const auto& nodes : flat.selections) model.selections.push_back(set_of(nodes));
        model.order = flat.order;
        model.B = flat.B, model.log_variance = flat.log_variance, model.V = flat.V;
        model.score = flat.score;
        return model;
    }

    static FlatModel flat(const M& model) {
        FlatModel found;
        for (const Set& set : model.parents) found.parents.push_back(members_of(set));
        for (const Set& set : model.selections) found.selections.push_back(members_of(set));
        found.order = model.order;
        found.B = model.B, found.log_variance = model.log_variance, found.V = model.V;
        found.score = model.score;
        return found;
    }

    Fits<W> fits_;
    StructuralEM<W> em_;
    Placing<W> placing_;
    std::vector<int> kinds_;
    const Watch* watch_ = nullptr;
    std::vector<Found> met_;
    std::unordered_map<Words, double, HashWords> gains_;
};

}  // namespace

std::unique_ptr<AnyHidden> make_hidden(const double* R, int p, double n, double price, double noise,
                                       std::vector<int> kinds) {
    const int most = p + most_new_nodes;
    if (most <= 64) return std::make_unique<HiddenSearch<1>>(R, p, n, price, noise, std::move(kinds));
    if (most <= 128) return std::make_unique<HiddenSearch<2>>(R, p, n, price, noise, std::move(kinds));
    if (most <= 256) return std::make_unique<HiddenSearch<4>>(R, p, n, price, noise, std::move(kinds));
    if (most <= most_variables) return std::make_unique<HiddenSearch<16>>(R, p, n, price, noise, std::move(kinds));
    return nullptr;
}

}  // namespace lmarvel
