// Pearson's statistic of a table by chance: what it is expected to be given the margins, and its tail. The readable twin
// is lmarvel/ci/g_square.py, which says where the formulas are from.
#pragma once

namespace lmarvel {

struct Cumulants {
    double mean = 0.0, variance = 0.0, third = 0.0;
};

// The levels of a variable that have rows: how many there are, and the sums of 1 / rows and of 1 / rows^2 over them.
struct Margin {
    double levels = 0.0, over = 0.0, squared = 0.0;
};

// The cumulants of the statistic of a table of n rows, 3 or more, whose rows and columns are independent.
Cumulants given_margins(double n, const Margin& rows, const Margin& columns);

// The probability of a statistic at least as large, of the distribution from zero on that has these cumulants.
double tail_from_zero(double statistic, const Cumulants& expected);

// The probability that a beta variable is larger than 1 - rest, and that a gamma variable is larger than x.
double beta_tail(double a, double b, double rest);
double gamma_tail(double a, double x);

}  // namespace lmarvel
