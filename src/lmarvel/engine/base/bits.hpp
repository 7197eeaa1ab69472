// Sets of at most 64 W variables: W words of 64 bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/words.hpp"

namespace lmarvel {

constexpr int most_variables = 2048;  // of the searches over such sets: the widest that is compiled

template <int W>
struct Bits {
    std::array<std::uint64_t, W> word{};

    static Bits of(int v) {
        Bits set;
        set.add(v);
        return set;
    }
    bool has(int v) const { return word[v >> 6] >> (v & 63) & 1; }
    void add(int v) { word[v >> 6] |= std::uint64_t(1) << (v & 63); }
    void drop(int v) { word[v >> 6] &= ~(std::uint64_t(1) << (v & 63)); }
    bool operator==(const Bits& other) const { return word == other.word; }
    Bits& operator|=(const Bits& other) {
        for (int i = 0; i < W; ++i) word[i] |= other.word[i];
        return *this;
    }
    Bits operator|(const Bits& other) const { return Bits(*this) |= other; }
    Bits operator&(const Bits& other) const {
        Bits both;
        for (int i = 0; i < W; ++i) both.word[i] = word[i] & other.word[i];
        return both;
    }
    Bits without(const Bits& other) const {
        Bits rest;
        for (int i = 0; i < W; ++i) rest.word[i] = word[i] & ~other.word[i];
        return rest;
    }
    Bits without(int v) const {
        Bits rest = *this;
        rest.drop(v);
        return rest;
    }
    bool any() const {
        for (auto w : word)
            if (w) return true;
        return false;
    }
    bool meets(const Bits& other) const {
        for (int i = 0; i < W; ++i)
            if (word[i] & other.word[i]) return true;
        return false;
    }
    bool within(const Bits& other) const {
        for (int i = 0; i < W; ++i)
            if (word[i] & ~other.word[i]) return false;
        return true;
    }
    int count() const {
        int total = 0;
        for (auto w : word) total += bits_in(w);
        return total;
    }
    // The least member; 64 W where there is none.
    int first() const {
        for (int i = 0; i < W; ++i)
            if (word[i]) return 64 * i + lowest_bit(word[i]);
        return 64 * W;
    }
    // The least member from v on; 64 W where there is none.
    int next(int v) const {
        int i = v >> 6;
        if (i >= W) return 64 * W;
        auto w = word[i] & ~std::uint64_t(0) << (v & 63);
        while (!w && ++i < W) w = word[i];
        return w ? 64 * i + lowest_bit(w) : 64 * W;
    }
    // Call with each member, ascending; what the call changes in the set is not seen.
    template <class Visit>
    void each(Visit visit) const {
        const Bits seen = *this;
        for (int i = 0; i < W; ++i)
            for (auto w = seen.word[i]; w; w &= w - 1) visit(64 * i + lowest_bit(w));
    }
    void members(std::vector<int>& out) const {
        out.clear();
        each([&out](int v) { out.push_back(v); });
    }
};

}  // namespace lmarvel
