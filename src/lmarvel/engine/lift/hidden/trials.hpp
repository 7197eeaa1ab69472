// Changes that are tried in their regions, many at once, in threads; what was found is known as long as nothing in the
// region changes, and there is room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "lift/hidden/local.hpp"
#include "lift/hidden/memo.hpp"
#include "lift/hidden/nearby.hpp"

namespace lmarvel {

// A region of a model, by itself.
struct Place {
    Region region;
    SparseModel part;
    Words structure;
    double score = 0.0;  // of the part, fitted
};

// What a change makes of its place, and by how much that alters the score.
struct Trial {
    Change change;  // by the numbers of the place
    std::shared_ptr<const Place> place;
    double gain = std::numeric_limits<double>::infinity();
    SparseModel part{};
};

class Trials {
public:
    using Groups = std::vector<std::vector<Trial>>;

    // The memory of a table is what is kept of trials at most. Parts are kept beyond it: they are what all else hangs on.
    Trials(const Table& table, int threads)
        : table_(table), workers_(threads), parts_(std::numeric_limits<std::size_t>::max()), gains_(table.memory / 4),
          steps_(table.memory / 4 * 3) {}

    void watch(const Watch& watch) { table_.watch = &watch; }

    // Changes of a model, each in its region.
    std::vector<Trial> in(const SparseModel& model, const std::vector<Change>& changes, std::vector<Region>&& regions) {
        std::vector<std::shared_ptr<Place>> places(regions.size());
        each(regions.size(), [&](std::size_t i, const Table&) {
            places[i] = std::make_shared<Place>(Place{std::move(regions[i]), {}, {}, 0.0});
            places[i]->part = extracted(model, places[i]->region);
            places[i]->structure = structure_of(places[i]->part, places[i]->region);
        });
        std::vector<Words> keys;
        for (const auto& place : places) keys.push_back(place->structure);
        learn(parts_, keys, [&](std::size_t i, const Table& table) {
            return make_local(table, places[i]->region)->fitted(places[i]->part);
        });
        std::vector<Trial> trials;
        for (std::size_t i = 0; i < places.size(); ++i) {
            places[i]->part = parts_.at(keys[i]);
            places[i]->score = places[i]->part.score;
            trials.push_back({local(changes[i], places[i]->region), places[i]});
        }
        return trials;
    }

    // A region of a model, fitted by itself.
    Place place_of(const SparseModel& model, Region&& region) {
        std::vector<Region> regions;
        regions.push_back(std::move(region));
        return *in(model, {Change{LATENT, {}}}, std::move(regions))[0].place;
    }

    // What changes gain by a rough fit.
    Vector rough_gains(const std::vector<Trial>& trials) {
        std::vector<Words> keys;
        for (const Trial& trial : trials) keys.push_back(key_of(trial));
        learn(gains_, keys, [&](std::size_t i, const Table& table) {
            const Place& place = *trials[i].place;
            const auto made = make_local(table, place.region)->changed(place.part, trials[i].change);
            return made ? made->score - place.score : std::numeric_limits<double>::infinity();
        });
        Vector gains;
        for (const Words& key : keys) gains.push_back(gains_.at(key));
        return gains;
    }

    // The same in the whole model, where only what is nearby moves.
    Vector nearby_gains(const SparseModel& model, const std::vector<Change>& changes) const {
        Vector gains(changes.size());
        if (changes.empty()) return gains;
        table_.watch->check();
        const Nearby nearby(model, table_);
        each(changes.size(), [&](std::size_t i, const Table&) { gains[i] = nearby.gain(changes[i]); });
        return gains;
    }

    // What a step makes of the trials of each group, in their order; those of which it can make nothing gain nothing.
    template <class Step>
    Groups stepped(const Groups& groups, int step, const Step& take) {
        std::vector<const Trial*> trials;
        std::vector<Words> keys;
        for (const auto& group : groups)
            for (const Trial& trial : group) {
                trials.push_back(&trial);
                keys.push_back(key_of(trial));
                keys.back().push_back(std::uint64_t(step));
            }
        learn(steps_, keys, [&](std::size_t i, const Table& table) {
            return take(*make_local(table, trials[i]->place->region), *trials[i]);
        });
        Groups found;
        std::size_t i = 0;
        for (const auto& group : groups) {
            found.emplace_back();
            for (const Trial& trial : group) {
                found.back().push_back({trial.change, trial.place});
                if (const auto& part = steps_.at(keys[i++])) {
                    found.back().back().gain = part->score - trial.place->score;
                    found.back().back().part = *part;
                }
            }
        }
        return found;
    }

private:
    // Call with each piece of work, in threads, and the table as a thread may use it.
    template <class Work>
    void each(std::size_t pieces, const Work& work) const {
        workers_.each(pieces, *table_.watch, [&](std::size_t i, std::size_t, const Watch& watch) {
            watch.check();
            Table own = table_;
            own.watch = &watch;
            work(i, own);
        });
    }

    // Work out what is not known yet; of equal keys the first tells what of.
    template <class Value, class Make>
    void learn(Memo<Value>& known, const std::vector<Words>& keys, const Make& make) const {
        const std::vector<std::size_t> unknown = known.unknown(keys);
        std::vector<Value> made(unknown.size());
        each(unknown.size(), [&](std::size_t i, const Table& table) { made[i] = make(unknown[i], table); });
        for (std::size_t i = 0; i < unknown.size(); ++i) known.learn(keys[unknown[i]], std::move(made[i]));
    }

    // A change by the numbers of a region.
    static Change local(Change change, const Region& region) {
        const auto& nodes = region.nodes;
        const auto at = [&](int v) { return int(std::lower_bound(nodes.begin(), nodes.end(), v) - nodes.begin()); };
        for (int& v : change.nodes) v = at(v);
        if (change.which >= 0) {
            const auto& chosen = region.selections;
            change.node = at(change.node);
            change.which = int(std::find(chosen.begin(), chosen.end(), change.which) - chosen.begin());
        }
        return change;
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
    Workers workers_;
    Memo<SparseModel> parts_;
    Memo<double> gains_;
    Memo<std::optional<SparseModel>> steps_;
};

}  // namespace lmarvel
