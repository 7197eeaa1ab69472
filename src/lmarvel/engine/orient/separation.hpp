// m-separation in a MAG, and small sets that separate: the twin of graph/separation and search/evidence.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "orient/legality.hpp"

namespace lmarvel {

// Sets that separate pairs of a MAG which are not adjacent, one after the other.
struct SeparatingSets {
    std::vector<std::int64_t> starts{0};
    std::vector<Index> members;
};

// Looks for sets in an ancestral graph, without circles, p x p.
class Separation {
public:
    Separation(const std::int8_t* marks, Index p);

    // Add a small set that separates x and y in the graph without their edge; there must be such a set.
    void find(Index x, Index y, std::vector<Index>& out);

private:
    using Nodes = std::vector<std::uint8_t>;  // a set of nodes that is cleared often
    struct Link { Index to; bool into_near, into_far; };
    const Index p_;
    const Relations edges_;
    std::vector<std::size_t> starts_;
    std::vector<Link> links_;
    std::vector<std::uint8_t> seen_;
    Nodes found_, near_, open_, reached_;
    std::vector<Index> stack_;
    std::vector<std::size_t> states_;
    std::pair<Index, Index> left_out_{-1, -1};  // the two whose edge is not looked at

    bool left_out(Index v, Index w) const {
        return (v == left_out_.first && w == left_out_.second) || (w == left_out_.first && v == left_out_.second);
    }
    void add(Index v, Nodes& to);
    void anteriors(Index x, Index y);
    void ancestors(const Nodes& of);
    void enter(const Link& link);
    bool reach(Index x, const Nodes& closed, Index stop);
};

// Find a set for each of n pairs. The graph is ancestral, without circles, p x p.
Ending separating_sets(const std::int8_t* mag, Index p, const Index* x, const Index* y, std::int64_t n,
                       SeparatingSets& found, Poll poll, void* caller);

}  // namespace lmarvel
