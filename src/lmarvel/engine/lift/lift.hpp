// Lift in one call: from correlations to the graphs that its stages end with, and the answer among them.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "base/watch.hpp"
#include "lift/climb/seen.hpp"
#include "lift/constants.hpp"
#include "lift/hidden/hidden.hpp"

namespace lmarvel {

using MarkMatrix = std::vector<std::int8_t>;  // p x p, row by row; [x, y] is the mark at y

struct LiftTask {
    const double* R = nullptr;  // correlations of p variables
    const double* inflation = nullptr;  // of the evidence for hidden nodes, p x p: lmarvel.search.inflation; none for 1
    int p = 0;
    double n = 0.0, price = 0.0, noise = 0.0;
    LiftConstants constants{};
    bool selection = true, latents = true;
    const std::int8_t* start = nullptr;        // marks of a further graph to start from: see is_ancestral
    std::vector<std::vector<int>> more;        // orders to start from beside the fixed ones, each over all variables
    const SearchLimits* known = nullptr;
    std::size_t memory = std::size_t(1) << 30;  // bytes for regressions that are kept
    int threads = 1;                            // at least 1; what is found does not depend on their number
};

// What a stage ended with.
struct Candidate {
    Stage stage;
    double score;
    MarkMatrix mag, pag;
    std::size_t model = 0;  // of the stage "hidden": its number in that search
};

struct LiftOutcome {
    explicit LiftOutcome(double near = std::numeric_limits<double>::infinity()) : seen(near) {}

    std::vector<Candidate> candidates;
    std::vector<Candidate> answer;  // one, or none where there was no time for any
    double selection_gain = 0.0;    // by how much it is better than all that need no selection; 0 where it needs none
    std::vector<MissedNode> hidden; // what it rests on
    Seen seen;                      // graphs that were met, by their edges
    std::vector<std::pair<double, MarkMatrix>> models;  // and those of models with hidden nodes
    bool late = false;
    bool converged = true;  // whether all fits of blocks came to their end
};

// Whether marks (2 an arrowhead, 3 a tail, on both ends of an edge) are those of an ancestral graph of p nodes.
bool is_ancestral(const std::int8_t* marks, int p);

// The best graphs, as far as time allows, which the outcome tells. p and what hidden nodes need must fit.
Ending lift(const LiftTask& task, const Clock& clock, const Teller& teller, LiftOutcome& outcome);

}  // namespace lmarvel
