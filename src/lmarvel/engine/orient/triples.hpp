// What orientation needs to know: the edges, and which triples are colliders.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/sets.hpp"

namespace lmarvel {

using Pair = std::pair<Index, Index>;
using Path = std::vector<Index>;

struct Triple {
    Index x, y, z;
    bool operator==(const Triple& o) const { return x == o.x && y == o.y && z == o.z; }
    bool operator<(const Triple& o) const { return x != o.x ? x < o.x : y != o.y ? y < o.y : z < o.z; }
};

class Triples {
public:
    virtual ~Triples() = default;
    // Whether b is a collider between a and c; v is at the other end of a discriminating path, or a itself.
    virtual bool collides(Index v, Index a, Index b, Index c) const = 0;
    // Whether it is in doubt that a, b, c is unshielded, or whether b is a collider.
    virtual bool in_doubt(Index a, Index b, Index c) const = 0;
    std::vector<Pair> decided, undecided;  // pairs, the smaller first, ascending
};

// What a test of the edges of a discriminating path found.
struct Verdict {
    bool stands = false;
    std::vector<Pair> cuts;          // the edges that are none
    std::vector<Triple> colliders;   // unshielded triples over the cuts
    std::vector<Triple> unchecked;   // unshielded triples over the cuts that could not be tested
};

// Asked about each discriminating path before it is used; RFCI tests the edges of a path so.
class PathCheck {
public:
    virtual ~PathCheck() = default;
    virtual Verdict check(const Path& path) = 0;
};

// The triples of a graph whose marks are known: marks[x * p + y] is the mark at y on x-y, 2 an arrowhead.
class KnownGraph final : public Triples {
public:
    KnownGraph(const std::int8_t* marks, Index p) : marks_(marks), p_(static_cast<std::size_t>(p)) {
        for (Index x = 0; x < p; ++x)
            for (Index y = x + 1; y < p; ++y)
                if (at(x, y)) decided.emplace_back(x, y);
    }
    // Where the edges are at hand, each with the smaller end first, ascending.
    KnownGraph(const std::int8_t* marks, Index p, const std::vector<Pair>& edges)
        : marks_(marks), p_(static_cast<std::size_t>(p)) {
        decided = edges;
    }
    bool collides(Index, Index a, Index b, Index c) const override { return at(a, b) == 2 && at(c, b) == 2; }
    bool in_doubt(Index, Index, Index) const override { return false; }

private:
    const std::int8_t* marks_;
    const std::size_t p_;
    std::int8_t at(Index x, Index y) const { return marks_[static_cast<std::size_t>(x) * p_ + static_cast<std::size_t>(y)]; }
};

}  // namespace lmarvel
