// Whether a graph is what it claims to be: ancestral, maximal, the PAG of some MAG. The twin of graph/kinds and
// orient/equivalence; what is wrong comes back as a kind and the nodes that show it, and Python finds the words.
#pragma once

#include <cstdint>
#include <vector>

#include "base/sets.hpp"
#include "base/status.hpp"

namespace lmarvel {

enum class Fault : std::int64_t {
    NONE, CIRCLE_CYCLE, CIRCLE, CYCLE, UNDIRECTED_ARROW, ALMOST_CYCLE, INDUCING_PATH, WRONG_MARK, FAULTS
};
// By number, as graph/kinds calls them.
inline constexpr const char* FAULT_NAMES[] = {
    "none", "circle cycle", "circle", "cycle", "undirected arrow", "almost cycle", "inducing path", "wrong mark"};

struct Judgement {
    Fault fault = Fault::NONE;
    std::vector<Index> nodes;
};

// The edges of a graph by kind, each list ascending.
class Relations {
public:
    Relations(const std::int8_t* marks, Index p);

    struct Lists {
        std::vector<std::int64_t> starts;
        std::vector<Index> members;
        const Index* begin(Index v) const { return members.data() + starts[static_cast<std::size_t>(v)]; }
        const Index* end(Index v) const { return members.data() + starts[static_cast<std::size_t>(v) + 1]; }
        bool empty(Index v) const { return begin(v) == end(v); }
    };
    const Index p;
    Lists parents, children, spouses, neighbors;
};

// The first reason why a graph is no MAG: a circle, a cycle, an arrowhead where there should be none, an inducing path.
Judgement judge_mag(const std::int8_t* marks, Index p);

// Why no MAG has this PAG, or a MAG that has. `mag` and `right` are p x p; where a mark is wrong, `right` has those that
// should be there, else it is left as it is.
Ending judge_pag(const std::int8_t* pag, Index p, std::int8_t* mag, std::int8_t* right, Judgement& found, Poll poll,
                 void* caller);

}  // namespace lmarvel
