// Fits, and the test made of them, as Python asks for them.
#pragma once

#include <limits>
#include <vector>

#include "base/status.hpp"
#include "glm/fits.hpp"
#include "glm/test.hpp"

namespace lmarvel {

inline Ending fit_glm(GlmFits& fits, Index v, const std::vector<Index>& columns, bool residuals, Poll poll, void* caller,
                      Fitted& found) {
    return ending_of([&] {
        const Clock clock(std::numeric_limits<double>::infinity(), poll, caller);
        found = fits.fit(v, columns, residuals, clock);
    });
}

// The p-value by the model of the target alone, -1 where there are too few rows.
inline Ending ask_by_target(GlmTest& test, Index target, Index other, const std::vector<Index>& given, double& pvalue) {
    return ending_of([&] { pvalue = test.by_target(target, other, given); });
}

}  // namespace lmarvel
