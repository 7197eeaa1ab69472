// The subsets of m things, k at a time, in lexicographic order.
#pragma once

#include <cstddef>

namespace lmarvel {

// Make of k ascending positions below m the next k in order. Returns the first place that has changed; k where these were
// the last ones, which then stay.
template <class Position>
std::size_t next_combination(Position* chosen, std::size_t k, std::size_t m) {
    std::size_t i = k;
    while (i > 0 && static_cast<std::size_t>(chosen[i - 1]) == m - k + i - 1) --i;
    if (i == 0) return k;
    ++chosen[i - 1];
    for (std::size_t d = i; d < k; ++d) chosen[d] = static_cast<Position>(chosen[d - 1] + 1);
    return i - 1;
}

// The first k positions.
template <class Position>
void first_combination(Position* chosen, std::size_t k) {
    for (std::size_t d = 0; d < k; ++d) chosen[d] = static_cast<Position>(d);
}

}  // namespace lmarvel
