#include "independence/margins.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace lmarvel {

namespace {
constexpr double FOR_THIRD = 6.0, NEARLY_GAMMA = 1e5;
constexpr double TINY = 1e-300, CLOSE = 1e-15;
constexpr int MOST_STEPS = 20000;
constexpr std::size_t TERMS = 6, POWERS = 8;

// Coefficients of products of (t, t^2, t^3, s, ts, q), as polynomials in n, the lowest power first. The lines of a term
// are those with the terms before it, and with itself.
constexpr std::array<std::array<double, POWERS>, TERMS * (TERMS + 1) / 2> THIRD = {{
    {-64, 368, -884, 1144, -856, 368, -84, 8},
    {-96, 456, -852, 780, -348, 60, 0, 0},
    {-144, 540, -606, 84, 228, -120, 18, 0},
    {0, 16, -24, 0, 8, 0, 0, 0},
    {0, 24, 18, -30, -18, 6, 0, 0},
    {0, 0, 46, 24, -26, 4, 0, 0},
    {-32, 216, -556, 720, -504, 184, -28, 0},
    {-48, 276, -594, 624, -348, 108, -18, 0},
    {0, 8, -10, -10, 18, -6, 0, 0},
    {-16, 124, -286, 268, -72, -40, 22, 0},
    {-48, 204, -324, 228, -60, 0, 0, 0},
    {-72, 234, -186, -66, 114, -24, 0, 0},
    {0, 12, 0, -42, 36, -6, 0, 0},
    {-24, 126, -234, 210, -102, 24, 0, 0},
    {-36, 99, -36, 0, -36, 9, 0, 0},
    {-16, 84, -176, 184, -96, 20, 0, 0},
    {-24, 102, -180, 168, -84, 18, 0, 0},
    {0, 4, -14, 18, -10, 2, 0, 0},
    {-8, 50, -80, 20, 40, -22, 0, 0},
    {-12, 45, -60, 30, 0, -3, 0, 0},
    {-4, 19, -10, -20, 14, 1, 0, 0},
}};

std::array<double, TERMS> terms(double n, const Margin& margin) {
    const double t = margin.levels - 1.0, s = n * margin.over - 2.0 * margin.levels + 1.0;
    const double q = n * n * margin.squared - 3.0 * n * margin.over + 3.0 * margin.levels - 1.0;
    return {t, t * t, t * t * t, s, t * s, q};
}

// The third cumulant: a bilinear form, added up by powers of n, so that each is multiplied once.
double third_of(double n, const Margin& rows, const Margin& columns) {
    const auto a = terms(n, rows), b = terms(n, columns);
    std::array<double, POWERS> by_power{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < TERMS; ++i) {
        for (std::size_t j = 0; j <= i; ++j, ++at) {
            const double products = i == j ? a[i] * b[i] : a[i] * b[j] + a[j] * b[i];
            for (std::size_t k = 0; k < POWERS; ++k) by_power[k] += THIRD[at][k] * products;
        }
    }
    double sum = 0.0;
    for (std::size_t k = POWERS; k-- > 0;) sum = sum * n + by_power[k];
    return sum / ((n - 1.0) * (n - 1.0) * (n - 1.0) * (n - 2.0) * (n - 3.0) * (n - 4.0) * (n - 5.0));
}
}  // namespace

Cumulants given_margins(double n, const Margin& rows, const Margin& columns) {
    const double r = rows.levels, k = columns.levels;
    Cumulants found;
    found.mean = n * (r - 1.0) * (k - 1.0) / (n - 1.0);
    const double one = (n * rows.over - r * r) / (n - 2.0), two = (n * columns.over - k * k) / (n - 2.0);
    const double even = std::max((r - 1.0) * (n - r) / (n - 1.0) - one, 0.0) *
                        std::max((k - 1.0) * (n - k) / (n - 1.0) - two, 0.0);
    found.variance = n * n / (n - 1.0) * one * two + (n > 3.0 ? 2.0 * n / (n - 3.0) * even : 0.0);
    found.third = n < FOR_THIRD ? 2.0 * found.variance * found.variance / found.mean : third_of(n, rows, columns);
    return found;
}

namespace {
// A continued fraction 1 / (1 + c(1) / (1 + c(2) / (1 + ...))), by the method of Lentz.
template <class Term>
double fraction(Term term) {
    double front = 1.0, back = 0.0, value = 1.0;
    for (int i = 1; i < MOST_STEPS; ++i) {
        const double c = term(i);
        back = 1.0 + c * back;
        front = 1.0 + c / front;
        if (std::fabs(back) < TINY) back = TINY;
        if (std::fabs(front) < TINY) front = TINY;
        back = 1.0 / back;
        const double change = front * back;
        value *= change;
        if (std::fabs(change - 1.0) < CLOSE) break;
    }
    return 1.0 / value;
}

// The incomplete beta function below x, where x is below the mean or little above it (DLMF 8.17.22).
double beta_below(double a, double b, double x, double rest) {
    const double whole = std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b);
    const double first = std::exp(whole + a * std::log(x) + b * std::log(rest)) / a;
    if (!(first > 0.0)) return 0.0;
    return first * fraction([=](int i) {
        const double m = i / 2;
        if (i % 2) return -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        return m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
    });
}
}  // namespace

double beta_tail(double a, double b, double rest) {
    if (rest <= 0.0) return 0.0;
    if (rest >= 1.0) return 1.0;
    const double x = 1.0 - rest;
    if (x <= 0.0) return 1.0;
    const double found = rest < (b + 1.0) / (a + b + 2.0) ? beta_below(b, a, rest, x) : 1.0 - beta_below(a, b, x, rest);
    return std::min(std::max(found, 0.0), 1.0);
}

double gamma_tail(double a, double x) {
    if (x <= 0.0) return 1.0;
    const double first = std::exp(a * std::log(x) - x - std::lgamma(a));
    if (x < a + 1.0) {  // the sum from below
        double term = 1.0 / a, sum = term;
        for (int i = 1; i < MOST_STEPS && term > CLOSE * sum; ++i) {
            term *= x / (a + i);
            sum += term;
        }
        return std::max(1.0 - first * sum, 0.0);
    }
    if (!(first > 0.0)) return 0.0;
    double front = x + 1.0 - a, d = 1.0 / front, c = 1.0 / TINY, value = d;  // DLMF 8.9.2, in its contracted form
    for (int i = 1; i < MOST_STEPS; ++i) {
        const double over = -i * (i - a);
        front += 2.0;
        d = over * d + front;
        c = front + over / c;
        if (std::fabs(d) < TINY) d = TINY;
        if (std::fabs(c) < TINY) c = TINY;
        d = 1.0 / d;
        value *= c * d;
        if (std::fabs(c * d - 1.0) < CLOSE) break;
    }
    return std::min(first * value, 1.0);
}

// The quotients of successive moments about zero are s (a + j) / (N + j), j = 0, 1, 2, for beta (N > 0) and beta prime
// (N < 0) distributions.
double tail_from_zero(double statistic, const Cumulants& expected) {
    if (statistic <= 0.0) return 1.0;
    const double mean = expected.mean, variance = expected.variance, second = variance + mean * mean;
    const double one = mean, two = second / mean;
    const double three = (expected.third + 3.0 * mean * variance + mean * mean * mean) / second;
    const double bend = three - 2.0 * two + one;
    if (std::fabs(bend) * NEARLY_GAMMA > 2.0 * std::fabs(two - three)) {
        const double N = 2.0 * (two - three) / bend, scale = two * (N + 1.0) - one * N;
        const double a = scale != 0.0 ? one * N / scale : 0.0;
        if (N > 0.0 && a > 0.0 && a < N) return beta_tail(a, N - a, 1.0 - statistic / scale);
        if (N < -2.0 && a > 0.0) return beta_tail(a, 1.0 - N, 1.0 / (1.0 - statistic / scale));
    }
    return gamma_tail(mean * mean / variance, statistic * mean / variance);
}

}  // namespace lmarvel
