// Markov boundaries one target at a time (grow-shrink, IAMB and its kin) with Fisher's z test: the twin of
// boundary/growth, boundary/iamb, boundary/grow_shrink, ci/gaussian_growth and ci/memory's Rounds.
#pragma once

#include <cstdint>
#include <vector>

#include "base/names.hpp"
#include "base/sets.hpp"
#include "base/watch.hpp"

namespace lmarvel {

#define LMARVEL_BOUNDARY_SEARCHES(X) \
    X(GROW_SHRINK, "gs")             \
    X(IAMB, "iamb")                  \
    X(INTER_IAMB, "inter-iamb")      \
    X(FAST_IAMB, "fast-iamb")
enum class BoundarySearch : std::int64_t { LMARVEL_BOUNDARY_SEARCHES(LMARVEL_MEMBER) };
LMARVEL_NAMES(boundary_search_names, LMARVEL_BOUNDARY_SEARCHES)

struct BoundaryTask {
    const double* R = nullptr;  // correlations, p x p
    Index p = 0;
    std::int64_t n = 0;         // rows
    double quantile = 0.0;      // of the normal distribution, two-sided, at the level
    BoundarySearch search = BoundarySearch::IAMB;
    std::int64_t most = 0;      // members of a conditioning set, at most n - 4
    std::int64_t max_tests = -1, tests = 0;  // -1: no limit; made before
    double seconds = 0.0;       // infinite where there is no limit
    bool either = false;        // keep a pair that one of the two found, not only what both did
};

// Sets one after the other, as the engine reads them.
struct SetList {
    std::vector<std::int64_t> starts{0};
    std::vector<Index> members;
    void add(const std::vector<Index>& set) {
        members.insert(members.end(), set.begin(), set.end());
        starts.push_back(static_cast<std::int64_t>(members.size()));
    }
};

struct FoundBoundaries {
    SetList sets;                         // symmetric, one a variable
    std::vector<Index> truncated;         // targets that a limit on the size of sets cut short
    SetList had, kept;                    // and what they had, and what was kept
    std::vector<Index> asked_x, asked_y;  // a target with all outside a set (y = -1), or one pair
    SetList asked;
    std::vector<std::int64_t> counts;     // tests by size of the conditioning set
    std::int64_t reason = 0, reached = 0; // which budget ended the search (0: none), and at which target
};

// Find the boundary of every variable; a budget that runs out is told in `reason`. Throws Interrupted.
void find_boundaries(const BoundaryTask& task, FoundBoundaries& found, Poll poll, void* caller);

}  // namespace lmarvel
