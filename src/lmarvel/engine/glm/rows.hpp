// Passes over rows, in blocks that stay in the cache. Sums have fixed lanes, so that they are the same in registers of any
// width, and the exponential is our own, so that it vectorises and is the same on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/wide.hpp"

namespace lmarvel {

inline constexpr std::size_t ROW_BLOCK = 256, LANES = 8;

LMARVEL_INLINE double dot(const double* LMARVEL_RESTRICT a, const double* LMARVEL_RESTRICT b, std::size_t n) {
    double sums[LANES] = {};
    std::size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (std::size_t lane = 0; lane < LANES; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    for (; i < n; ++i) sums[0] += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// Two at once: each number of `a` is loaded once.
LMARVEL_INLINE void dot_two(const double* LMARVEL_RESTRICT a, const double* LMARVEL_RESTRICT b,
                            const double* LMARVEL_RESTRICT c, std::size_t n, double& on_b, double& on_c) {
    double one[LANES] = {}, two[LANES] = {};
    std::size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (std::size_t lane = 0; lane < LANES; ++lane) one[lane] += a[i + lane] * b[i + lane];
        for (std::size_t lane = 0; lane < LANES; ++lane) two[lane] += a[i + lane] * c[i + lane];
    }
    for (; i < n; ++i) {
        one[0] += a[i] * b[i];
        two[0] += a[i] * c[i];
    }
    on_b = ((one[0] + one[1]) + (one[2] + one[3])) + ((one[4] + one[5]) + (one[6] + one[7]));
    on_c = ((two[0] + two[1]) + (two[2] + two[3])) + ((two[4] + two[5]) + (two[6] + two[7]));
}

LMARVEL_INLINE void add_scaled(double* LMARVEL_RESTRICT to, double factor, const double* LMARVEL_RESTRICT from,
                               std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

// exp(x) for x up to 0, and a little above: 2^k times a polynomial in what is left, less than half the log of 2.
LMARVEL_INLINE double exponential(double x) {
    constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: what is added to it is rounded to a whole number
    x = x < -700.0 ? -700.0 : x;
    const double shifted = x * 1.4426950408889634 + magic, k = shifted - magic;
    const double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    double sum = 1.0 / 6227020800.0;
    constexpr double factorials[] = {479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0,
                                     720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0};
    for (double f : factorials) sum = sum * r + 1.0 / f;
    std::uint64_t bits, scale;
    std::memcpy(&bits, &shifted, sizeof bits);
    scale = (bits + 1023u) << 52;
    double power;
    std::memcpy(&power, &scale, sizeof power);
    return sum * power;
}

}  // namespace lmarvel
