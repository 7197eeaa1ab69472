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
