// Fits as Python asks for them.
#pragma once

#include <limits>
#include <vector>

#include "base/status.hpp"
#include "glm/fits.hpp"

namespace lmarvel {

inline Ending fit_glm(GlmFits& fits, Index v, const std::vector<Index>& columns, bool residuals, Poll poll, void* caller,
                      const GlmFit*& found) {
    return ending_of([&] {
        const Clock clock(std::numeric_limits<double>::infinity(), poll, caller);
        found = &fits.fit(v, columns, residuals, clock);
    });
}

}  // namespace lmarvel
