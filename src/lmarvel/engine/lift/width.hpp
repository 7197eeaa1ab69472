// The width of the sets that a search over so many variables needs.
#pragma once

#include <type_traits>

#include "base/bits.hpp"

namespace lmarvel {

// Call with the number of words as a constant.
template <class Work>
auto with_width(int p, const Work& work) {
    if (p <= 64) return work(std::integral_constant<int, 1>{});
    if (p <= 128) return work(std::integral_constant<int, 2>{});
    if (p <= 256) return work(std::integral_constant<int, 4>{});
    if (p <= 512) return work(std::integral_constant<int, 8>{});
    if (p <= 1024) return work(std::integral_constant<int, 16>{});
    return work(std::integral_constant<int, most_variables / 64>{});
}

}  // namespace lmarvel
