// Passes over rows, in blocks that stay in the cache. Sums have eight fixed lanes, so that they are the same in registers of
// any width, and the exponential is our own, so that it vectorises and is the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/wide.hpp"

namespace lmarvel {

inline constexpr std::size_t ROW_BLOCK = 256, LANES = 4;

LMARVEL_INLINE void load(Four& to, const double* from) { std::memcpy(&to, from, sizeof to); }

LMARVEL_INLINE double total(const Four& a, const Four& b) {
    return ((a[0] + a[1]) + (a[2] + a[3])) + ((b[0] + b[1]) + (b[2] + b[3]));
}

LMARVEL_INLINE double dot(const double* a, const double* b, std::size_t n) {
    Four one{}, two{}, x, y;
    std::size_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        load(x, a + i);
        load(y, b + i);
        one = one + x * y;
        load(x, a + i + LANES);
        load(y, b + i + LANES);
        two = two + x * y;
    }
    for (; i < n; ++i) one[0] += a[i] * b[i];
    return total(one, two);
}

// Products of one column with four: its numbers are loaded once. Each sum is that of `dot`.
LMARVEL_INLINE void dot_four(const double* a, const double* const b[4], std::size_t n, double out[4]) {
    Four one[4] = {}, two[4] = {};
    Four x, x2, y;
    std::size_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        load(x, a + i);
        load(x2, a + i + LANES);
        for (int k = 0; k < 4; ++k) {
            load(y, b[k] + i);
            one[k] = one[k] + x * y;
            load(y, b[k] + i + LANES);
            two[k] = two[k] + x2 * y;
        }
    }
    for (; i < n; ++i)
        for (int k = 0; k < 4; ++k) one[k][0] += a[i] * b[k][i];
    for (int k = 0; k < 4; ++k) out[k] = total(one[k], two[k]);
}

LMARVEL_INLINE void add_scaled(double* LMARVEL_RESTRICT to, double factor, const double* LMARVEL_RESTRICT from,
                               std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

// exp(x) for x from -700 to 700: 2^k times a polynomial in what is left, less than half the log of 2.
inline constexpr double MAGIC = 6755399441055744.0;  // 1.5 * 2^52: what is added to it is rounded to a whole number
inline constexpr double POLYNOMIAL[] = {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
                                        1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0,
                                        1.0 / 6.0, 0.5, 1.0, 1.0};

LMARVEL_INLINE double exponential(double x) {
    x = x < -700.0 ? -700.0 : x;
    const double shifted = x * 1.4426950408889634 + MAGIC, k = shifted - MAGIC;
    const double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    double sum = POLYNOMIAL[0];
    for (int i = 1; i < 14; ++i) sum = sum * r + POLYNOMIAL[i];
    std::uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023u) << 52;
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return sum * power;
}

// The exponentials of numbers in place.
LMARVEL_INLINE void exponentials(double* x, std::size_t n) {
    std::size_t i = 0;
#if defined(LMARVEL_FOUR_BITS)
    for (; i + LANES <= n; i += LANES) {
        Four at;
        load(at, x + i);
        const Four low = {-700.0, -700.0, -700.0, -700.0};
        at = at < low ? low : at;
        const Four shifted = at * 1.4426950408889634 + MAGIC, k = shifted - MAGIC;
        const Four r = (at - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
        Four sum = r * POLYNOMIAL[0] + POLYNOMIAL[1];
        for (int j = 2; j < 14; ++j) sum = sum * r + POLYNOMIAL[j];
        FourBits bits;
        Four power;
        std::memcpy(&bits, &shifted, sizeof bits);
        bits = (bits + 1023u) << 52;
        std::memcpy(&power, &bits, sizeof power);
        sum = sum * power;
        std::memcpy(x + i, &sum, sizeof sum);
    }
#endif
    for (; i < n; ++i) x[i] = exponential(x[i]);
}

}  // namespace lmarvel
