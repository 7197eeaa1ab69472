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

#include "lift/hidden/projection.hpp"
#include "lift/hidden/trials.hpp"
#include "lift/width.hpp"

namespace lmarvel {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class HiddenSearch final : public AnyHidden {
public:
    HiddenSearch(const double* R, const double* inflation, int p, double n, double price, double noise,
                 const LiftConstants& constants, std::vector<int> kinds, const SearchLimits* known, std::size_t memory,
                 int threads)
        : table_{R, inflation, p, n, price, noise, constants, known, memory}, set_(constants), kinds_(std::move(kinds)),
          trials_(table_, threads) {}

    void run(const std::vector<std::vector<int>>& parents, const std::vector<int>& order, const Watch& watch) override {
        SparseModel dag;
        dag.p = table_.p, dag.parents = parents, dag.order = order;
        dag.log_variance.assign(parents.size(), 0.0);
        for (const Nodes& nodes : parents) dag.slopes.emplace_back(nodes.size(), 0.0);
        listen(watch);
        const Found first = noted(fitted(std::move(dag)));
        const Found large = climb(first, 4);
        if (large != first) climb(large, 2);
        if (large == first || has_few()) climb(first, 2, best_score());
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
        listen(watch);
        Found now = met_.at(i);
        while (Found less = without_one(*now, limit, kept)) now = less;
        if (now == met_[i]) return i;
        met_.push_back(now);
        return met_.size() - 1;
    }

private:
    using Found = std::shared_ptr<const SparseModel>;

    using Groups = Trials::Groups;

    bool has_few() const { return table_.p <= set_.few_variables; }
    int most_near() const { return std::min(set_.most_near, most_variables) * (has_few() ? 2 : 1); }

    void listen(const Watch& watch) {
        table_.watch = &watch;
        trials_.watch(watch);
    }

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

    double best_score() const {
        double best = infinity;
        for (std::size_t i : usable()) best = std::min(best, met_[i]->score);
        return best;
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

    // Rounds while they gain, and while there is hope to get below a score that is reached already.
    Found climb(Found model, int smallest, double reached = infinity) {
        for (int done = 0; done < set_.hidden_rounds; ++done) {
            table_.watch->tell(std::int64_t(Stage::HIDDEN), done, set_.hidden_rounds);
            Found better = round(*model, smallest);
            if (better == nullptr || !is_gain(*better, *model)) break;
            const double gained = model->score - better->score;
            model = better;
            if (model->score - reached > set_.round_hope * gained) break;
        }
        return model;
    }

    // Accept the best changes.
    Found round(const SparseModel& model, int smallest) {
        const Surroundings near(model);
        std::vector<Change> tried;
        for (Change& change : changes(model, near))
            if (int(change.nodes.size()) >= smallest) tried.push_back(std::move(change));
        many_ = tried.size() > 4 * std::size_t(model.p);
        const Groups ends = ends_of(grouped(model, near, std::move(tried)));
        if (ends.empty()) return nullptr;
        Vector gains;
        for (const auto& found : ends) gains.push_back(found[0].gain);
        const auto order = best_of(gains, set_.tie);
        const auto& others = ends[order[0]];
        for (std::size_t i = 1; i < others.size(); ++i) with(model, {replacing(others[i])});
        const std::vector<Replaced> together = compatible(model, ends, order, gains);
        if (together.empty()) return nullptr;
        Found found = with(model, together);
        // A region may promise more than the whole model keeps: then the best changes are tried alone.
        for (std::size_t i = together.size() == 1; i < order.size() && !(found && is_gain(*found, model)); ++i) {
            if (i >= std::size_t(set_.polished) || gains[order[i]] > -set_.least_gain) break;
            if (Found alone = with(model, {replacing(ends[order[i]][0])})) found = alone;
        }
        return found;
    }

    bool is_gain(const SparseModel& found, const SparseModel& model) const {
        return found.score <= model.score - (has_few() ? set_.least_gain : set_.missed * table_.price);
    }

    static Replaced replacing(const Trial& trial) { return {&trial.place->region, &trial.part}; }

    // The model with some changes; none where that is cyclic.
    Found with(const SparseModel& model, const std::vector<Replaced>& changes) {
        auto made = inserted(model, changes);
        return made ? noted(fitted(std::move(*made))) : nullptr;
    }

    // The changes that gain, best first, whose regions have no node of their own in common.
    std::vector<Replaced> compatible(const SparseModel& model, const Groups& ends, const std::vector<std::size_t>& order,
                                     const Vector& gains) const {
        std::vector<char> taken(std::size_t(model.m()), 0);
        std::vector<Replaced> accepted;
        for (std::size_t i : order) {
            if (gains[i] > -set_.least_gain) break;
            const Region& region = ends[i][0].place->region;
            if (!is_free(region, taken)) continue;
            accepted.push_back(replacing(ends[i][0]));
            if (inserted(model, accepted)) take(region, taken);
            else accepted.pop_back();
        }
        return accepted;
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

    // Some changes, best first, and to which group each belongs.
    struct Ranked {
        std::vector<std::size_t> chosen;
        std::vector<int> group_of;
        std::vector<Region> regions;
        std::vector<int> sizes, most;  // of the groups
    };

    // Whether there is little time for what is tried: among many changes of many variables, or in a region that is larger
    // than it should be.
    bool is_brief(const Region& region) const {
        return (many_ && !has_few()) || int(region.nodes.size()) > most_near();
    }

    int fewer(int usual, const Region& region) const {
        return is_brief(region) ? std::max(1, usual / std::max(1, set_.brief)) : usual;
    }

    // The best changes of each part of the graph: one belongs to the first better one that it is near.
    Ranked ranked(const SparseModel& model, const Surroundings& near, const std::vector<Change>& tried,
                  const Vector& gains, double worst, int most) const {
        constexpr int nobody = std::numeric_limits<int>::max();
        std::vector<int> owner(std::size_t(model.m()), nobody);
        Ranked found;
        for (std::size_t i : best_of(gains, set_.tie)) {
            if (!(gains[i] <= worst) || gains[i] == infinity) break;
            int group = nobody;
            for (int v : tried[i].nodes) group = std::min(group, owner[v]);
            if (group != nobody && found.sizes[group] == found.most[group]) continue;
            found.regions.push_back(around(near, tried[i].nodes));
            if (group == nobody) {
                const Region& region = found.regions.back();
                group = int(found.sizes.size());
                found.sizes.push_back(0);
                found.most.push_back(fewer(most, region));
                for (std::size_t j = 0; j < region.nodes.size(); ++j)
                    if (!region.outside[j] && owner[region.nodes[j]] == nobody) owner[region.nodes[j]] = group;
            }
            ++found.sizes[group];
            found.group_of.push_back(group);
            found.chosen.push_back(i);
        }
        return found;
    }

    // Of many changes those that are best where only what is nearby moves.
    std::vector<Change> most_likely(const SparseModel& model, const Surroundings& near, std::vector<Change>&& tried) {
        if (!many_) return std::move(tried);
        std::vector<std::size_t> best =
            ranked(model, near, tried, trials_.nearby_gains(model, tried), infinity, set_.compared).chosen;
        std::sort(best.begin(), best.end());
        std::vector<Change> likely;
        for (std::size_t i : best) likely.push_back(std::move(tried[i]));
        return likely;
    }

    // The best changes by a rough fit, in groups. Among many variables, whose regions are large, only what is nearby moves.
    Groups grouped(const SparseModel& model, const Surroundings& near, std::vector<Change>&& tried) {
        if (has_few()) tried = most_likely(model, near, std::move(tried));
        const Vector gains = has_few() ? rough_gains(model, near, tried) : trials_.nearby_gains(model, tried);
        Ranked found = ranked(model, near, tried, gains, set_.far_off * table_.price, set_.refreshed);
        std::vector<Change> changes;
        for (std::size_t i : found.chosen) changes.push_back(tried[i]);
        Groups groups(found.sizes.size());
        std::vector<Trial> trials = trials_.in(model, changes, std::move(found.regions));
        for (std::size_t i = 0; i < trials.size(); ++i) groups[found.group_of[i]].push_back(std::move(trials[i]));
        return groups;
    }

    // The best end of each group's changes, and what else was polished; groups that come to nothing are left out.
    Groups ends_of(const Groups& groups) {
        Groups fresh = trials_.stepped(groups, 0, [](AnyLocal& search, const Trial& trial) {
            return search.refreshed(trial.place->part, trial.change);
        });
        for (auto& group : fresh) group = most_promising(group);
        fresh.erase(std::remove_if(fresh.begin(), fresh.end(), [](const auto& group) { return group.empty(); }), fresh.end());
        Groups found = trials_.stepped(fresh, 1, [](AnyLocal& search, const Trial& trial) {
            return std::optional<SparseModel>(search.polished(search.pruned(trial.part), 0));
        });
        Groups gaining;
        for (auto& group : found) {
            std::size_t best = 0;
            for (std::size_t i = 1; i < group.size(); ++i)
                if (group[i].gain < group[best].gain - set_.tie) best = i;
            const Trial first = group[best];
            if (is_turned(first)) gaining.push_back({first});
            group.insert(group.begin(), first);
        }
        const Groups ends = trials_.stepped(gaining, 2, [](AnyLocal& search, const Trial& trial) {
            return std::optional<SparseModel>(search.polished(trial.part, 1));
        });
        std::size_t next = 0;
        for (auto& group : found)
            if (is_turned(group[0])) group[0] = ends[next++][0];
        return found;
    }

    // Whether the families of a trial are turned, too.
    bool is_turned(const Trial& trial) const { return trial.gain <= -set_.least_gain && !is_brief(trial.place->region); }

    // The best of refreshed trials, best first. Those that leave the score as it is are none: a hidden node that went
    // again, or that says of two variables what an edge says.
    std::vector<Trial> most_promising(const std::vector<Trial>& group) const {
        std::vector<Trial> local, best;
        Vector gains;
        for (const Trial& trial : group) {
            if (!(trial.gain <= set_.far_behind * table_.price)) continue;
            if (std::fabs(trial.gain) < set_.equal) continue;
            local.push_back(trial);
            gains.push_back(trial.gain);
        }
        for (std::size_t i : best_of(gains, set_.tie)) {
            if (best.size() == std::size_t(fewer(set_.polished, group[0].place->region))) break;
            best.push_back(local[i]);
        }
        return best;
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
            const Place place = trials_.place_of(model, around(near, nodes));
            const Region& region = place.region;
            const auto& among = is_latent ? region.nodes : region.selections;
            const int which = int(std::find(among.begin(), among.end(), is_latent ? model.p + i : i - latents) - among.begin());
            const int local = is_latent ? which - region.p : which + int(region.nodes.size()) - region.p;
            Words key = place.structure;
            key.push_back(std::uint64_t(local));
            auto known = without_.find(key);
            if (known == without_.end())
                known = without_.emplace(std::move(key), make_local(table_, region)->without(place.part, local)).first;
            double missed = known->second.score - place.score;
            if (missed < set_.missed * table_.price && model.score + missed < limit)
                if (auto less = inserted(model, {{&region, &known->second}})) {
                    SparseModel made = fitted(std::move(*less));
                    missed = made.score - model.score;  // a region may promise more than the whole model keeps
                    if (made.score < limit && missed < set_.missed * table_.price)
                        return std::make_shared<const SparseModel>(std::move(made));
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
        const auto sets = with_width(model.p, [&](auto width) {
            return joined_sets<decltype(width)::value>(model, set_, *table_.watch);
        });
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
        return near.around(nodes, most_near());
    }

    // What changes gain by a rough fit. A latent node alters the score of its children given their parents, a selection
    // node that of all ancestors, of which the next tell enough.
    Vector rough_gains(const SparseModel& model, const Surroundings& near, const std::vector<Change>& changes) {
        std::vector<Region> regions;
        for (const Change& change : changes)
            regions.push_back(change.kind == LATENT ? near.closest(change.nodes) : near.upward(change.nodes));
        return trials_.rough_gains(trials_.in(model, changes, std::move(regions)));
    }

    Table table_;
    const LiftConstants& set_;
    std::vector<int> kinds_;
    bool many_ = false;  // whether a round has many changes: more than four per variable
    std::vector<Found> met_;
    std::unordered_map<Words, SparseModel, HashWords> blocks_, without_;
    Trials trials_;
};

}  // namespace

std::unique_ptr<AnyHidden> make_hidden(const double* R, const double* inflation, int p, double n, double price,
                                       double noise, const LiftConstants& constants, std::vector<int> kinds,
                                       const SearchLimits* known, std::size_t memory, int threads) {
    return std::make_unique<HiddenSearch>(R, inflation, p, n, price, noise, constants, std::move(kinds), known, memory,
                                          threads);
}

}  // namespace lmarvel
