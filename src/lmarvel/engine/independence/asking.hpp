// Tests as methods in Python ask them: one question, one search, all pairs given all others.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "independence/tests.hpp"

namespace lmarvel {

// The p-value of a pair given a set, with the test's statistic, unless there are too few rows for it.
inline Ending ask(Test& test, Index x, Index y, const std::vector<Index>& given, bool& enough, double& pvalue) {
    return ending_of([&] {
        test.statistic = 0.0;
        test.df = 0;
        enough = test.affords(x, y, given);
        if (enough) pvalue = test.single(x, y, given);
    });
}

inline Ending find(Test& test, Query& query, double seconds, Poll poll, void* caller, Found& found) {
    return ending_of([&] {
        const Clock clock(seconds, poll, caller);
        query.clock = &clock;
        test.search(query, found);
    });
}

// The p-values of all pairs given all others, p x p, from the precision matrix of all columns.
inline Ending find_given_rest(const Blocks& blocks, const double* precision, double* pvalues) {
    return ending_of([&] {
        BlockGaussian test(blocks);
        const auto p = static_cast<std::size_t>(blocks.p);
        for (Index x = 0; x < blocks.p; ++x) {
            for (Index y = x + 1; y < blocks.p; ++y) {
                const auto a = static_cast<std::size_t>(x), b = static_cast<std::size_t>(y);
                pvalues[a * p + b] = pvalues[b * p + a] = test.given_rest(precision, x, y);
            }
        }
    });
}

}  // namespace lmarvel
