// The search over DAGs with latent and selection nodes: the twin of tests/reference/lift/hidden.py, where its
// steps are told.
#include "lift/hidden/hidden.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "lift/hidden/local.hpp"
#include "lift/hidden/projection.hpp"

namespace lmarvel {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class HiddenSearch final : public AnyHidden {
public:
    HiddenSearch(const double* R, const double* inflation, int p, double n, double price, double noise,
                 const LiftConstants& constants, std::vector<int> kinds, const SearchLimits* known)
        : table_{R, inflation, p, n, price, noise, constants, known}, set_(constants), kinds_(std::move(kinds)) {}

    void run(const std::vector<std::vector<int>>& parents, const std::vector<int>& order, const Watch& watch) override {
        SparseModel dag;
        dag.p = table_.p, dag.parents = parents, dag.order = order;
        dag.log_variance.assign(parents.size(), 0.0);
        for (const Nodes& nodes : parents) dag.slopes.emplace_back(nodes.size(), 0.0);
        table_.watch = &watch;
        const Found first = noted(fitted(std::move(dag)));
        const Found large = climb(first, 4);
        if (large != first) climb(large, 2);
        climb(first, 2);
    }

    std::vector<std::size_t> usable() const override {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < met_.size(); ++i)
            if (met_[i]->has_hidden() && !is_degenerate(*met_[i])) found.push_back(i);
        return found;
    }

    double score(std::size_t i) const override { return met_.at(i)->score; }

    std::vector<std::int8_t> marks(std::size_t i) const override {
        const SparseModel& model = *met_.at(i);
        std::vector<Nodes> parents = model.parents;
        parents.insert(parents.end(), model.selections.begin(), model.selections.end());
        std::vector<std::int8_t> marks(std::size_t(model.p) * std::size_t(model.p));
        Projection(parents, model.p, int(model.selections.size())).marks(marks.data());
        return marks;
    }

    bool says_less(std::size_t i, std::size_t j) const override { return content(*met_.at(i)) < content(*met_.at(j)); }

    std::size_t simplified(std::size_t i, double limit, const Watch& watch, std::vector<MissedNode>& kept) override {
        table_.watch = &watch;
        Found now = met_.at(i);
        while (Found less = without_one(*now, limit, kept)) now = less;
        if (now == met_[i]) return i;
        met_.push_back(now);
        return met_.size() - 1;
    }

private:
    using Found = std::shared_ptr<const SparseModel>;

    // A region of a model, by itself.
    struct Place {
        Region region;
        SparseModel part;
        Words structure;
        double score;  // of the part, fitted
    };

    // What a change makes of its place, and by how much that alters the score.
    struct Trial {
        Change change;  // by the numbers of the place
        std::shared_ptr<const Place> place;
        double gain = infinity;
        SparseModel part{};
    };

    struct Refined {
        bool possible = false;
        double gain = infinity;
        SparseModel part{};
    };

    // Whether the fit lies at the border of the model, where it says no more than a simpler one: a selection node can
    // stand in for an edge if the error variance of one of its parents grows without bound, and a latent node for an
    // observed one if that one's error vanishes.
    bool is_degenerate(const SparseModel& model) const {
        const double least = std::log(set_.small_variance), most = std::log(set_.large_variance);
        return std::any_of(model.log_variance.begin(), model.log_variance.begin() + model.p,
                           [=](double x) { return x > most || x < least; });
    }

    Found noted(SparseModel&& model) {
        met_.push_back(std::make_shared<const SparseModel>(std::move(model)));
        return met_.back();
    }

    // --- fits of whole models ---------------------------------------------------------------------------

    // Each block by itself; those whose structure and start are known stay as they are.
    SparseModel fitted(SparseModel&& model) {
        constexpr double log_2pi = 1.8378770664093453;
        const Surroundings near(model);
        double score = 0.0;
        for (const Nodes& block : near.blocks()) {
            const Region region = near.region_of(block);
            const SparseModel start = extracted(model, region);
            SparseModel& known = blocks_[structure_of(start, region)];
            const bool is_alone = block.size() == 1 && block[0] < model.p;
            if (known.parents.empty() || !(is_alone || known.has_parameters_of(start))) {
                SparseModel made = make_local(table_, region)->fitted(start);
                if (known.parents.empty() || made.score < known.score) known = std::move(made);
            }
            for (std::size_t i = 0; i < region.nodes.size(); ++i) {
                if (region.outside[i]) {
                    score -= table_.n * (log_2pi + 1.0);
                    continue;
                }
                model.slopes[region.nodes[i]] = known.slopes[i];
                model.log_variance[region.nodes[i]] = known.log_variance[i];
            }
            for (std::size_t j = 0; j < region.selections.size(); ++j)
                model.loadings[region.selections[j]] = known.loadings[j];
            score += known.score;
        }
        model.score = score;
        return std::move(model);
    }

    // --- rounds -----------------------------------------------------------------------------------------

    Found climb(Found model, int smallest) {
        for (int done = 0; done < set_.hidden_rounds; ++done) {
            table_.watch->tell(std::int64_t(Stage::HIDDEN), done, set_.hidden_rounds);
            Found better = round(*model, smallest);
            if (better == nullptr || better->score > model->score - set_.least_gain) break;
            model = better;
        }
        return model;
    }

    // Accept the best changes whose regions have no node of their own in common.
    Found round(const SparseModel& model, int smallest) {
        const Surroundings near(model);
        std::vector<Change> tried;
        for (Change& change : changes(model, near))
            if (int(change.nodes.size()) >= smallest) tried.push_back(std::move(change));
        std::vector<std::vector<Trial>> ends;
        for (const auto& group : grouped(model, near, tried)) {
            std::vector<Trial> found = best_in(group);
            if (!found.empty()) ends.push_back(std::move(found));
        }
        if (ends.empty()) return nullptr;
        Vector gains;
        for (const auto& found : ends) gains.push_back(found[0].gain);
        const auto order = best_of(gains, set_.tie);
        const auto& others = ends[order[0]];
        for (std::size_t i = 1; i < others.size(); ++i)
            if (auto made = inserted(model, {{&others[i].place->region, &others[i].part}})) noted(fitted(std::move(*made)));
        std::vector<char> taken(std::size_t(model.m()), 0);
        std::vector<Replaced> accepted;
        std::optional<SparseModel> made;
        for (std::size_t i : order) {
            if (gains[i] > -set_.least_gain) break;
            const Region& region = ends[i][0].place->region;
            if (!is_free(region, taken)) continue;
            accepted.push_back({&region, &ends[i][0].part});
            if (auto next = inserted(model, accepted)) {
                made = std::move(next);
                take(region, taken);
            } else {
                accepted.pop_back();
            }
        }
        return made ? noted(fitted(std::move(*made))) : nullptr;
    }

    static bool is_free(const Region& region, const std::vector<char>& taken) {
        for (std::size_t i = 0; i < region.nodes.size(); ++i)
            if (!region.outside[i] && taken[region.nodes[i]]) return false;
        return true;
    }

    static void take(const Region& region, std::vector<char>& taken) {
        for (std::size_t i = 0; i < region.nodes.size(); ++i)
            if (!region.outside[i]) taken[region.nodes[i]] = 1;
    }

    // The best changes by a rough fit, of each part of the graph: one belongs to the first better one that it is near.
    std::vector<std::vector<Trial>> grouped(const SparseModel& model, const Surroundings& near,
                                            const std::vector<Change>& tried) {
        Vector gains;
        for (const Change& change : tried) gains.push_back(rough_gain(model, near, change));
        constexpr int nobody = std::numeric_limits<int>::max();
        std::vector<int> owner(std::size_t(model.m()), nobody);
        std::vector<std::vector<Trial>> groups;
        for (std::size_t i : best_of(gains, set_.tie)) {
            if (gains[i] > set_.far_off * table_.price) break;
            int group = nobody;
            for (int v : tried[i].nodes) group = std::min(group, owner[v]);
            if (group != nobody && groups[group].size() == std::size_t(set_.refreshed)) continue;
            Trial trial = tried_in(place_of(model, around(near, tried[i].nodes)), tried[i]);
            if (group == nobody) {
                group = int(groups.size());
                groups.emplace_back();
                const Region& region = trial.place->region;
                for (std::size_t j = 0; j < region.nodes.size(); ++j)
                    if (!region.outside[j] && owner[region.nodes[j]] == nobody) owner[region.nodes[j]] = group;
            }
            groups[group].push_back(std::move(trial));
        }
        return groups;
    }

    // The best end of a group's changes, and what else was polished.
    std::vector<Trial> best_in(const std::vector<Trial>& group) {
        std::vector<Trial> local, found;
        Vector gains;
        for (const Trial& trial : group) {
            const Refined& fresh = refined(trial, 0, [&](AnyLocal& search) {
                return search.refreshed(trial.place->part, trial.change);
            });
            if (!fresh.possible || fresh.gain > set_.far_behind * table_.price) continue;
            local.push_back({trial.change, trial.place, fresh.gain, fresh.part});
            gains.push_back(fresh.gain);
        }
        std::vector<std::size_t> order = best_of(gains, set_.tie);
        if (order.size() > std::size_t(set_.polished)) order.resize(std::size_t(set_.polished));
        std::size_t best = 0;
        for (std::size_t i : order) {
            const Trial& trial = local[i];
            const Refined& end = refined(trial, 1, [&](AnyLocal& search) {
                return std::optional<SparseModel>(search.polished(search.pruned(trial.part), 0));
            });
            found.push_back({trial.change, trial.place, end.gain, end.part});
            if (found.back().gain < found[best].gain - set_.tie) best = found.size() - 1;
        }
        if (found.empty()) return found;
        const Trial trial = found[best];
        if (trial.gain > set_.hopeless * table_.price) {
            found.insert(found.begin(), trial);
            return found;
        }
        const Refined& end = refined(trial, 2, [&](AnyLocal& search) {
            return std::optional<SparseModel>(search.polished(trial.part, 1));
        });
        found.insert(found.begin(), Trial{trial.change, trial.place, end.gain, end.part});
        return found;
    }

    // A step of a trial, known as long as nothing in its region changes.
    template <class Step>
    const Refined& refined(const Trial& trial, int step, const Step& take) {
        Words key = key_of(trial);
        key.push_back(std::uint64_t(step));
        auto known = refined_.find(key);
        if (known == refined_.end()) {
            table_.watch->check();
            Refined made;
            if (auto part = take(*make_local(table_, trial.place->region))) {
                made.possible = true;
                made.gain = part->score - trial.place->score;
                made.part = std::move(*part);
            }
            known = refined_.emplace(std::move(key), std::move(made)).first;
        }
        return known->second;
    }

    // --- hidden nodes that are not missed ---------------------------------------------------------------

    // The model without the first hidden node that the score does not miss; nothing where it misses all.
    Found without_one(const SparseModel& model, double limit, std::vector<MissedNode>& kept) {
        kept.clear();
        const Surroundings near(model);
        const int latents = model.m() - model.p;
        for (int i = 0; i < latents + int(model.selections.size()); ++i) {
            const bool is_latent = i < latents;
            const Nodes nodes = is_latent ? near.children(model.p + i) : model.selections[i - latents];
            const Place place = place_of(model, around(near, nodes));
            const Region& region = place.region;
            const auto& among = is_latent ? region.nodes : region.selections;
            const int which = int(std::find(among.begin(), among.end(), is_latent ? model.p + i : i - latents) - among.begin());
            const int local = is_latent ? which - region.p : which + int(region.nodes.size()) - region.p;
            Words key = place.structure;
            key.push_back(std::uint64_t(local));
            auto known = without_.find(key);
            if (known == without_.end())
                known = without_.emplace(std::move(key), make_local(table_, region)->without(place.part, local)).first;
            const double missed = known->second.score - place.score;
            if (missed < set_.missed * table_.price && model.score + missed < limit)
                if (auto less = inserted(model, {{&region, &known->second}})) {
                    SparseModel made = fitted(std::move(*less));
                    if (made.score < limit) return std::make_shared<const SparseModel>(std::move(made));
                }
            Nodes seen;
            std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(seen), [&](int v) { return v < model.p; });
            kept.push_back({is_latent ? LATENT : SELECTION, seen, missed});
        }
        return nullptr;
    }

    // --- changes ----------------------------------------------------------------------------------------

    std::vector<Change> changes(const SparseModel& model, const Surroundings& near) const {
        std::vector<Change> found;
        const auto sets = model.p <= 64    ? joined_sets<1>(model, set_, *table_.watch)
                          : model.p <= 256 ? joined_sets<4>(model, set_, *table_.watch)
                                           : joined_sets<most_variables / 64>(model, set_, *table_.watch);
        for (const Nodes& nodes : sets)
            for (int kind : kinds_) found.push_back({kind, nodes});
        for (std::size_t i = 0; i < model.selections.size(); ++i) {
            const Nodes& inside = model.selections[i];
            for (int v : near.near(inside)) {
                if (v >= model.p || std::binary_search(inside.begin(), inside.end(), v)) continue;
                Nodes nodes = inside;
                nodes.insert(std::lower_bound(nodes.begin(), nodes.end(), v), v);
                found.push_back({SELECTION, nodes, int(i), v});
            }
        }
        return found;
    }

    Region around(const Surroundings& near, const Nodes& nodes) const {
        return near.around(nodes, set_.most_near * (table_.p <= 100 ? 2 : 1));
    }

    Place place_of(const SparseModel& model, Region&& region) {
        Place place{std::move(region), {}, {}, 0.0};
        place.part = extracted(model, place.region);
        place.structure = structure_of(place.part, place.region);
        auto known = parts_.find(place.structure);
        if (known == parts_.end())
            known = parts_.emplace(place.structure, make_local(table_, place.region)->fitted(place.part)).first;
        place.part = known->second;
        place.score = place.part.score;
        return place;
    }

    // What a change gains by a rough fit; known as long as nothing there changes. A latent node alters the score of its
    // children given their parents, a selection node that of all ancestors.
    double rough_gain(const SparseModel& model, const Surroundings& near, const Change& change) {
        Region region = change.kind == LATENT ? near.closest(change.nodes) : around(near, change.nodes);
        const Trial trial = tried_in(place_of(model, std::move(region)), change);
        Words key = key_of(trial);
        auto known = gains_.find(key);
        if (known == gains_.end()) {
            table_.watch->check();
            const auto made = make_local(table_, trial.place->region)->changed(trial.place->part, trial.change);
            known = gains_.emplace(std::move(key), made ? made->score - trial.place->score : infinity).first;
        }
        return known->second;
    }

    // A change by the numbers of its place.
    static Trial tried_in(Place&& found, const Change& change) {
        auto place = std::make_shared<Place>(std::move(found));
        Change local = change;
        const auto& nodes = place->region.nodes;
        const auto at = [&](int v) { return int(std::lower_bound(nodes.begin(), nodes.end(), v) - nodes.begin()); };
        for (int& v : local.nodes) v = at(v);
        if (change.which >= 0) {
            const auto& chosen = place->region.selections;
            local.node = at(change.node);
            local.which = int(std::find(chosen.begin(), chosen.end(), change.which) - chosen.begin());
        }
        return {std::move(local), std::move(place)};
    }

    static Words key_of(const Trial& trial) {
        Words key = trial.place->structure;
        key.push_back(std::uint64_t(trial.change.kind));
        key.push_back(std::uint64_t(trial.change.which + 1));
        key.push_back(std::uint64_t(trial.change.node + 1));
        for (int v : trial.change.nodes) key.push_back(std::uint64_t(v));
        return key;
    }

    Table table_;
    const LiftConstants& set_;
    std::vector<int> kinds_;
    std::vector<Found> met_;
    std::unordered_map<Words, SparseModel, HashWords> blocks_, parts_, without_;
    std::unordered_map<Words, double, HashWords> gains_;
    std::unordered_map<Words, Refined, HashWords> refined_;
};

}  // namespace

std::unique_ptr<AnyHidden> make_hidden(const double* R, const double* inflation, int p, double n, double price,
                                       double noise, const LiftConstants& constants, std::vector<int> kinds,
                                       const SearchLimits* known) {
    return std::make_unique<HiddenSearch>(R, inflation, p, n, price, noise, constants, std::move(kinds), known);
}

}  // namespace lmarvel
