// What was worked out, by its key, in bounded memory. A value depends on nothing but its key, so that what was forgotten is
// worked out again, and comes out the same.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "lift/hidden/regions.hpp"

namespace lmarvel {

// About how many bytes a value holds.
inline std::size_t bytes_of(double) { return sizeof(double); }

inline std::size_t bytes_of(const SparseModel& model) {
    std::size_t entries = 0, rows = 2 * (model.parents.size() + model.selections.size());
    for (const Nodes& nodes : model.parents) entries += nodes.size();
    for (const Nodes& nodes : model.selections) entries += nodes.size();
    return sizeof(SparseModel) + rows * sizeof(Vector) + (entries + model.parents.size()) * (sizeof(double) + sizeof(int));
}

inline std::size_t bytes_of(const std::optional<SparseModel>& model) { return model ? bytes_of(*model) : sizeof(model); }

template <class Value>
class Memo {
public:
    explicit Memo(std::size_t most) : most_(most) {}

    const Value& at(const Words& key) const { return known_.at(key); }

    // The places of keys that are not known, the first of equal ones. Everything is forgotten before, if it is too much:
    // what is learned then stays until the next question.
    std::vector<std::size_t> unknown(const std::vector<Words>& keys) {
        if (held_ > most_) known_.clear(), held_ = 0;
        std::vector<std::size_t> places;
        std::unordered_set<Words, HashWords> met;
        for (std::size_t i = 0; i < keys.size(); ++i)
            if (known_.find(keys[i]) == known_.end() && met.insert(keys[i]).second) places.push_back(i);
        return places;
    }

    void learn(const Words& key, Value&& value) {
        held_ += sizeof(Words) + key.size() * sizeof(key[0]) + bytes_of(value);
        known_.emplace(key, std::move(value));
    }

private:
    std::size_t most_, held_ = 0;  // bytes
    std::unordered_map<Words, Value, HashWords> known_;
};

}  // namespace lmarvel
