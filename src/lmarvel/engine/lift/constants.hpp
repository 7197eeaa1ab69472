// The stages of Lift, the numbers that it rests on, and what is known beforehand, as Python hands them over.
#pragma once

#include <cstddef>
#include <vector>

#include "base/names.hpp"

namespace lmarvel {

// What a graph comes from, and what a search is at.
#define LMARVEL_STAGES(X) \
    X(ORDER, "order")     \
    X(LIFT, "lift")       \
    X(START, "start")     \
    X(HIDDEN, "hidden")
enum class Stage : int { LMARVEL_STAGES(LMARVEL_MEMBER) };
LMARVEL_NAMES(stage_names, LMARVEL_STAGES)

// What each is, and why it has its value: lmarvel.search.constants.
struct LiftConstants {
    double tie, step, equal, resting, alike;
    double near;
    int max_sweeps, family_sweeps, family_rounds;
    double family_hope;
    double margin, far_behind;
    int climb_rounds, smallest_region, largest_region, local_steps;
    double next_to_nothing;
    int hidden_rounds, largest_cliques, most_sets, most_near, few_variables, compared, refreshed, polished, brief;
    double far_off, least_gain, round_hope, missed;
    int local_sweeps, whole_sweeps, polish_rounds, prune_rounds, weakest;
    double hopeless, first_loading, enlarged_loading, rough_tolerance;
    int rough_steps;
    double fit_tolerance;
    int fit_steps;
    double small_variance, large_variance;
};

// What is known of p variables: p x p each, row by row. See lmarvel.search.limits.
struct SearchLimits {
    std::size_t p = 0;
    std::vector<char> required, forbidden;  // pairs that are adjacent, and that are not
    std::vector<char> never;                // [a, b]: a is not a cause of b
    std::vector<char> causes;               // [a, b]: a is a cause of b
    std::vector<char> effects;              // the same, as far as it was said
    std::vector<char> unconfounded;         // pairs that share no unmeasured cause
    bool selection = true, latents = true;  // whether there may be such
    bool local = false;                     // no path breaks what no edge breaks

    // Whether u is no parent of v; what is not observed is free.
    bool excludes(std::size_t u, std::size_t v) const {
        return u < p && v < p && (never[u * p + v] || forbidden[v * p + u]);
    }
};

}  // namespace lmarvel
