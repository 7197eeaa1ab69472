// What orientation needs to know: the edges, and which triples are colliders.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sets.hpp"

namespace lmarvel {

class Triples {
public:
    virtual ~Triples() = default;
    // Whether b is a collider between a and c; v is at the other end of a discriminating path, or a itself.
    virtual bool collides(Index v, Index a, Index b, Index c) const = 0;
    // Whether it is in doubt that a and c are not adjacent.
    virtual bool in_doubt(Index a, Index c) const = 0;
    std::vector<std::pair<Index, Index>> decided, undecided;  // pairs, the smaller first, ascending
};

// The triples of a graph whose marks are known: marks[x * p + y] is the mark at y on x-y, 2 an arrowhead.
class KnownGraph final : public Triples {
public:
    KnownGraph(const std::int8_t* marks, Index p) : marks_(marks), p_(static_cast<std::size_t>(p)) {
        for (Index x = 0; x < p; ++x)
            for (Index y = x + 1; y < p; ++y)
                if (at(x, y)) decided.emplace_back(x, y);
    }
    bool collides(Index, Index a, Index b, Index c) const override { return at(a, b) == 2 && at(c, b) == 2; }
    bool in_doubt(Index, Index) const override { return false; }

private:
    const std::int8_t* marks_;
    const std::size_t p_;
    std::int8_t at(Index x, Index y) const { return marks_[static_cast<std::size_t>(x) * p_ + static_cast<std::size_t>(y)]; }
};

}  // namespace lmarvel
