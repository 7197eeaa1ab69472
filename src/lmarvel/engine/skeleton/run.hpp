// The engine's door: one request in, flat arrays out, nothing of Python inside.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "independence/boundaries.hpp"
#include "orient/orient.hpp"
#include "skeleton/pruning.hpp"
#include "skeleton/skeleton.hpp"

namespace lmarvel {

// A list of sets, one after the other: set i is members[starts[i]] to members[starts[i + 1]], ascending.
struct Lists {
    const std::int64_t* starts = nullptr;
    const Index* members = nullptr;
    std::int64_t n = 0;
};

#define LMARVEL_METHODS(X) \
    X(LMARVEL, "lmarvel")  \
    X(FCI, "fci")          \
    X(RFCI, "rfci")        \
    X(MBCS, "mbcs")
enum class Method : std::int64_t { LMARVEL_METHODS(LMARVEL_MEMBER) };
LMARVEL_NAMES(method_names, LMARVEL_METHODS)

struct Request {
    Method method = Method::LMARVEL;
    Table table{};
    Blocks blocks{};    // for the table, where its test is not Fisher's z
    Counts counts{};
    GlmColumns glm{};
    Levels levels{};    // of L-MARVEL
    Options options{};  // of the other methods
    Budget budget{};
    Statements statements{};
    double seconds = 0.0;  // infinite where there is no limit
    double grace = 0.0;    // seconds that orientation has in any case
    bool selection = true;
    // Boundaries: those of total conditioning, from a precision matrix, or sets, or all other variables.
    bool total_conditioning = false, keep_precision = false, complete = false;
    const double* precision = nullptr;
    double limit = 0.0;
    const double* rest = nullptr;  // p-values of all pairs given all others, where sets come from such tests
    Lists sets;
    // Boundary searches that were cut short: the variables, what they had, and what was kept.
    const Index* truncated = nullptr;
    Lists had, kept;
    // What boundary searches asked: a set for a target with all others (y = -1), or for one pair.
    const Index* asked_x = nullptr;
    const Index* asked_y = nullptr;
    Lists asked;
};

struct Outcome {
    std::vector<Index> sets, uses;        // members of all sets; nodes and marks of the uses of rules
    std::vector<std::int64_t> boundaries; // two a variable: where its boundary begins in `sets`, its length
    std::vector<Index> decided, undecided;
    std::vector<std::int64_t> found;      // four a pair: x, y, where its set begins, its length
    std::vector<std::int64_t> events;     // nine an event
    std::vector<double> pvalues;          // one an event
    std::vector<std::int64_t> rules;      // seven a use: the rule; nodes, written, refused: begin and length of each
    std::vector<std::int64_t> counts;     // three: phase, size, tests
    std::int64_t reason = 0, size = 0;
    bool late = false;                    // time ran out in orientation
    // Where the marks go that the tests alone give, without what is known: p x p and zero; null: nowhere.
    std::int8_t* unaided = nullptr;
    double skeleton_seconds = 0.0, orientation_seconds = 0.0;
};

// Learn skeleton and marks; `marks` is p x p and zero.
Ending learn(const Request& request, Outcome& outcome, std::int8_t* marks, Poll poll, Report report, void* caller);

// Find Markov boundaries, one target at a time.
Ending search_boundaries(const BoundaryTask& task, FoundBoundaries& found, Poll poll, void* caller);

// The marks that all graphs of the class of a maximal ancestral graph share, and that fit the statements; both matrices
// are p x p, `marks` zero. The uses of rules go where somebody wants them.
Ending orient_graph(const std::int8_t* graph, Index p, bool selection, const Statements& statements,
                    std::int8_t* marks, Poll poll, void* caller, Outcome* uses = nullptr);

}  // namespace lmarvel
