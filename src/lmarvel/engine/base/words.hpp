// Bits of a machine word, for which each compiler has names of its own.
#pragma once

#include <cstdint>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace lmarvel {

#if defined(_MSC_VER) && !defined(__clang__)
// By halves: the instruction that counts is not on every processor, and nobody asks for it here.
inline int bits_in(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    return static_cast<int>(((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}
inline int lowest_bit(std::uint64_t word) {
    unsigned long at = 0;
    _BitScanForward64(&at, word);
    return static_cast<int>(at);
}
#else
inline int bits_in(std::uint64_t word) { return __builtin_popcountll(word); }
inline int lowest_bit(std::uint64_t word) { return __builtin_ctzll(word); }  // of a word that is not zero
#endif

}  // namespace lmarvel
