// Sets of variables: rows of bits for what changes, spans of one flat array for what is kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/words.hpp"

namespace lmarvel {

using Index = std::int32_t;

// A sorted set that is kept: where it begins in the arena, and its length. A length of -1 is no set at all,
// -2 all variables but the pair that it is said of.
struct Span {
    std::int64_t at = 0;
    std::int64_t n = -1;
    bool none() const { return n == -1; }
};
inline constexpr std::int64_t REST = -2;

// Every set that a run keeps, one after the other. Positions stay right when it grows; pointers do not.
class SetStore {
public:
    std::vector<Index> members;

    Span keep(const Index* first, std::int64_t n) {
        Span span{static_cast<std::int64_t>(members.size()), n};
        members.insert(members.end(), first, first + n);
        return span;
    }
    Span keep(const std::vector<Index>& set) { return keep(set.data(), static_cast<std::int64_t>(set.size())); }
    const Index* begin(Span s) const { return members.data() + s.at; }
    const Index* end(Span s) const { return members.data() + s.at + s.n; }
    bool has(Span s, Index v) const { return std::binary_search(begin(s), end(s), v); }
    std::vector<Index> copy(Span s) const { return std::vector<Index>(begin(s), end(s)); }
};

// One row of bits for each variable; any number of variables.
class Rows {
public:
    Rows() = default;
    explicit Rows(Index p) : words_((static_cast<std::size_t>(p) + 63) / 64), bits_(words_ * p, 0) {}

    bool has(Index x, Index y) const { return (row(x)[y >> 6] >> (y & 63)) & 1u; }
    void set(Index x, Index y) { bits_[words_ * x + (y >> 6)] |= std::uint64_t{1} << (y & 63); }
    void drop(Index x, Index y) { bits_[words_ * x + (y >> 6)] &= ~(std::uint64_t{1} << (y & 63)); }
    // Make a row all of the first so many variables.
    void fill(Index x, Index n) {
        std::uint64_t* own = bits_.data() + words_ * x;
        std::fill_n(own, static_cast<std::size_t>(n) / 64, ~std::uint64_t{0});
        if (n % 64) own[n / 64] = (std::uint64_t{1} << (n % 64)) - 1;
    }
    void clear(Index x) { std::fill_n(bits_.begin() + static_cast<std::ptrdiff_t>(words_ * x), words_, 0); }
    void join(Index x, Index y) { set(x, y); set(y, x); }
    void part(Index x, Index y) { drop(x, y); drop(y, x); }

    Index count(Index x) const {
        Index total = 0;
        for (std::size_t w = 0; w < words_; ++w) total += bits_in(row(x)[w]);
        return total;
    }

    // Call with each member of a row, ascending; what the call changes in the row is not seen.
    template <class Visit>
    void each(Index x, Visit visit) const { members(x, [](std::uint64_t own, std::size_t) { return own; }, visit); }

    // Call with each variable that two rows share.
    template <class Visit>
    void each_shared(Index x, const Rows& other, Index y, Visit visit) const {
        const std::uint64_t* theirs = other.row(y);
        members(x, [theirs](std::uint64_t own, std::size_t w) { return own & theirs[w]; }, visit);
    }

    // Whether two rows share a variable.
    bool meets(Index x, const Rows& other, Index y) const {
        for (std::size_t w = 0; w < words_; ++w) if (row(x)[w] & other.row(y)[w]) return true;
        return false;
    }

    // The members of a row without two of them.
    void list(Index x, std::vector<Index>& out, Index but = -1, Index nor = -1) const {
        out.clear();
        each(x, [&](Index v) { if (v != but && v != nor) out.push_back(v); });
    }

    std::size_t words() const { return words_; }
    const std::uint64_t* row(Index x) const { return bits_.data() + words_ * x; }
    std::uint64_t* row(Index x) { return bits_.data() + words_ * x; }

private:
    std::size_t words_ = 0;
    std::vector<std::uint64_t> bits_;

    template <class Mask, class Visit>
    void members(Index x, Mask mask, Visit visit) const {
        for (std::size_t w = 0; w < words_; ++w) {
            for (std::uint64_t left = mask(row(x)[w], w); left; left &= left - 1) {
                visit(static_cast<Index>(64 * w + static_cast<std::size_t>(lowest_bit(left))));
            }
        }
    }
};

// From pairs to whole numbers, by open addressing; -1 for a pair that is not there.
class PairMap {
public:
    PairMap() : keys_(256, EMPTY), values_(256, -1) {}

    std::int64_t get(Index x, Index y) const { return values_[slot(key(x, y))]; }
    bool has(Index x, Index y) const { return get(x, y) >= 0; }
    std::size_t size() const { return used_; }

    void put(Index x, Index y, std::int64_t value) {
        if (2 * (used_ + 1) > keys_.size()) grow();
        const std::size_t at = slot(key(x, y));
        if (keys_[at] == EMPTY) { keys_[at] = key(x, y); ++used_; }
        values_[at] = value;
    }

private:
    static constexpr std::uint64_t EMPTY = ~std::uint64_t{0};
    std::vector<std::uint64_t> keys_;
    std::vector<std::int64_t> values_;
    std::size_t used_ = 0;

    static std::uint64_t key(Index x, Index y) {
        const auto low = static_cast<std::uint64_t>(std::min(x, y)), high = static_cast<std::uint64_t>(std::max(x, y));
        return low << 32 | high;
    }
    std::size_t slot(std::uint64_t k) const {
        std::uint64_t h = k * 0x9E3779B97F4A7C15ull;
        std::size_t at = static_cast<std::size_t>(h >> 20) & (keys_.size() - 1);
        while (keys_[at] != EMPTY && keys_[at] != k) at = (at + 1) & (keys_.size() - 1);
        return at;
    }
    void grow() {
        std::vector<std::uint64_t> keys(2 * keys_.size(), EMPTY);
        std::vector<std::int64_t> values(2 * values_.size(), -1);
        keys.swap(keys_);
        values.swap(values_);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i] == EMPTY) continue;
            const std::size_t at = slot(keys[i]);
            keys_[at] = keys[i];
            values_[at] = values[i];
        }
    }
};

// A set of pairs, some of which may be taken out again.
class PairSet {
public:
    bool has(Index x, Index y) const { return map_.get(x, y) == 1; }
    void add(Index x, Index y) {
        if (has(x, y)) return;
        map_.put(x, y, 1);
        log_.emplace_back(std::min(x, y), std::max(x, y));
    }
    void discard(Index x, Index y) { if (has(x, y)) map_.put(x, y, 0); }
    bool ever() const { return !log_.empty(); }

    // The pairs that are in it, ascending.
    std::vector<std::pair<Index, Index>> sorted() const {
        std::vector<std::pair<Index, Index>> pairs;
        for (const auto& pair : log_) if (has(pair.first, pair.second)) pairs.push_back(pair);
        std::sort(pairs.begin(), pairs.end());
        pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        return pairs;
    }

private:
    PairMap map_;
    std::vector<std::pair<Index, Index>> log_;
};

}  // namespace lmarvel
