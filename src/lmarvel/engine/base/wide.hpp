// Words that only some compilers know. Wide is the same arithmetic in wider registers where the processor has them:
// nothing is reassociated or fused.
#pragma once

#include <cstdint>  // which tells the C library's name

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) \
    && !defined(__SANITIZE_ADDRESS__)
#define LMARVEL_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define LMARVEL_WIDE
#endif

// For a loop that is written once and compiled for both: wide registers reach only what is inlined.
#if defined(__GNUC__)
#define LMARVEL_INLINE inline __attribute__((always_inline))
#else
#define LMARVEL_INLINE inline
#endif

// A pointer whose target nothing else points into: not C++, but known to the usual compilers by this name.
#if defined(__GNUC__) || defined(__clang__) || defined(_MSC_VER)
#define LMARVEL_RESTRICT __restrict
#else
#define LMARVEL_RESTRICT
#endif

namespace lmarvel {

// Four numbers that are added and multiplied at once. Left to themselves compilers shuffle the lanes of a sum.
#if defined(__GNUC__)
#define LMARVEL_FOUR_BITS
typedef double Four __attribute__((vector_size(32)));
typedef std::uint64_t FourBits __attribute__((vector_size(32)));
#else
struct Four {
    double at[4];
    double& operator[](int i) { return at[i]; }
    double operator[](int i) const { return at[i]; }
};
inline Four operator+(const Four& a, const Four& b) {
    return {{a.at[0] + b.at[0], a.at[1] + b.at[1], a.at[2] + b.at[2], a.at[3] + b.at[3]}};
}
inline Four operator*(const Four& a, const Four& b) {
    return {{a.at[0] * b.at[0], a.at[1] * b.at[1], a.at[2] * b.at[2], a.at[3] * b.at[3]}};
}
#endif

}  // namespace lmarvel
