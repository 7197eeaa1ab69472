// How much speaks for each edge, gap and mark of the graph that Lift chose: the twin of lmarvel.search.evidence.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "base/watch.hpp"
#include "orient/separation.hpp"

namespace lmarvel {

struct EvidenceTask {
    const double* R = nullptr;  // correlations of p variables
    int p = 0;
    double n = 0.0, price = 0.0, noise = 0.0;
    double near = 0.0;                                    // the marks of changes that lose more are not looked at
    double score = 0.0;                                   // of the graph that was chosen
    const std::int8_t *mag = nullptr, *pag = nullptr;     // its marks, p x p, with the same edges
    std::vector<double> scores;                           // of the graphs that were met, best first
    std::vector<std::vector<std::uint32_t>> met;          // their edges, as Seen has them, without p
    bool selection = true, latents = true;
    bool all_gaps = false;                                // also of variables without a common neighbour
    int threads = 1;                                      // the result does not depend on it
};

// Pairs, what the best graph without this part loses, and a set for the test of each.
struct WeighedPairs {
    std::vector<Index> x, y;
    std::vector<double> loss;
    SeparatingSets given;
};

struct Evidence {
    WeighedPairs edges, gaps, far_gaps;    // far gaps: of variables without a common neighbour
    std::vector<Index> at_x, at_y;         // arrowheads and tails of the PAG, at y
    std::vector<double> distance;          // infinite where no graph with another mark was met
    bool late = false;
};

// What speaks for each part, as far as time allows. Graphs that are not ancestral are refused.
Ending weigh(const EvidenceTask& task, const Clock& clock, Evidence& found);

}  // namespace lmarvel
