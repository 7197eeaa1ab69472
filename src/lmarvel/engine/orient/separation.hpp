// m-separation in a MAG, and small sets that separate: the twin of graph/separation and search/evidence.
#pragma once

#include <cstdint>
#include <vector>

#include "skeleton/run.hpp"

namespace lmarvel {

// Sets that separate pairs of a MAG which are not adjacent, one after the other.
struct SeparatingSets {
    std::vector<std::int64_t> starts{0};
    std::vector<Index> members;
};

// Find a set for each of n pairs. The graph is ancestral, without circles, p x p.
Ending separating_sets(const std::int8_t* mag, Index p, const Index* x, const Index* y, std::int64_t n,
                       SeparatingSets& found, Poll poll, void* caller);

}  // namespace lmarvel
