// Keys of memories: sets and rows of words, and one hash for them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"

namespace lmarvel {

inline std::uint64_t mixed(std::uint64_t h, std::uint64_t word) {
    h ^= word;
    h *= 0xff51afd7ed558ccdull;
    return h ^ h >> 32;
}

template <int W>
struct HashBits {
    std::size_t operator()(const Bits<W>& bits) const {
        std::uint64_t h = 0x9e3779b97f4a7c15ull;
        for (auto w : bits.word) h = mixed(h, w);
        return std::size_t(h);
    }
};

// What a fit depends on, as one row of words: the key of a memory.
using Words = std::vector<std::uint64_t>;

struct HashWords {
    std::size_t operator()(const Words& words) const {
        std::uint64_t h = 0x9e3779b97f4a7c15ull;
        for (auto w : words) h = mixed(h, w);
        return std::size_t(h);
    }
};

template <int W>
void append(Words& key, const Bits<W>& set) {
    key.insert(key.end(), set.word.begin(), set.word.end());
}

}  // namespace lmarvel
