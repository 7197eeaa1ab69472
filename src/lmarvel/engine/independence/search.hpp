// Searches for separating sets within a run, with its meter and its memory: the twin of ci/memory, ci/meter, ci/ledger.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/known.hpp"
#include "base/names.hpp"
#include "base/sets.hpp"
#include "base/watch.hpp"
#include "glm/test.hpp"
#include "independence/tests.hpp"

namespace lmarvel {

// The phases that this engine counts tests in, and says in its records.
#define LMARVEL_PHASES(X)               \
    X(ADJACENCY, "adjacency")           \
    X(REMOVABILITY, "removability")     \
    X(UPDATE, "update")                 \
    X(COMPLETION, "completion")         \
    X(CHORDLESS, "chordless")           \
    X(GAPS, "gaps")                     \
    X(CONTESTED, "contested")           \
    X(POSSIBLE_D_SEP, "possible-d-sep") \
    X(COLLIDER_SET, "collider-set")     \
    X(TRIPLES, "triples")
enum Phase : std::int64_t { LMARVEL_PHASES(LMARVEL_MEMBER) PHASES };
LMARVEL_NAMES(phase_names, LMARVEL_PHASES)

// A family of conditioning sets that were tried for a pair: `always` with each subset of `pool` of sizes `smallest`
// to `largest`, and those of size `largest` + 1 that come before `stop`. All p-values are at most `level`.
struct Tried {
    Index always;  // -1: none
    Span pool;
    std::int64_t smallest, largest;
    Span stop;
    double level;
    std::int64_t next = -1;  // of the same pair
};

struct Answer {
    Span sepset;          // none where nothing separates
    double pvalue = 0.0;  // of the set; without one, the largest that was seen
    bool complete = true;
    Span strongest{};     // the set with that p-value, none where no test was made; not kept where sets are asked once
};

// How to search for a separating set of a pair in a pool.
struct Search {
    Phase phase;
    double level;
    bool threshold = false;      // the critical values are those of the threshold, not those of alpha
    const Index* always = nullptr;  // members of every set that is tried, ascending
    std::int64_t n_always = 0;
    std::int64_t min_size = 0, max_size = -2;  // of what is taken from the pool; -2: all of it
    bool once = false;           // no set of this pair is asked twice: nothing needs to be remembered
    Span kept{};                 // where the pool is kept already, with or without the pair itself
};

// A table as the tests see it.
struct Table {
    const double* R;  // correlations, p x p
    Index p;
    std::int64_t n;
    // Squared partial correlations at which the p-value is alpha, and the threshold, by size of the conditioning set.
    const double* critical_alpha;
    const double* critical_threshold;
    // What another test than Fisher's z needs; null: it is Fisher's z.
    const Blocks* blocks = nullptr;
    const Counts* counts = nullptr;
    const GlmColumns* glm = nullptr;
};

struct Budget {
    std::int64_t largest_set;
    std::int64_t max_tests;  // -1: no limit
    std::int64_t tests;      // made before
};

// Rounds of a boundary search, each a set that was asked about for a target with all others, or for one pair.
struct Rounds {
    std::vector<std::vector<Span>> of_target;
    PairMap heads;  // into `singly`
    std::vector<std::pair<Span, std::int64_t>> singly;
};

// The test with its meter and its memory: every test of a run goes through here.
class Ledger {
public:
    Ledger(const Table& table, const Budget& budget, const Clock& clock, SetStore& arena, bool given_rest);

    const Table table;
    const Budget budget;
    Clock clock;
    const Known* known = nullptr;  // what the methods that ask here may take for granted
    Rounds rounds;
    std::vector<std::int64_t> counts[PHASES];  // by size

    // `once` says that each set of this pair is asked once: then nothing needs to be remembered.
    double pvalue(Phase phase, Index x, Index y, const std::vector<Index>& given, bool once = false);
    Answer search(Index x, Index y, const std::vector<Index>& pool, const Search& how);
    Answer find_sepset(Phase phase, Index x, Index y, const std::vector<Index>& pool, bool threshold, double level,
                       Index always = -1, std::int64_t max_size = -2) {
        return search(x, y, pool, Search{phase, level, threshold, &always, always >= 0, 0, max_size});
    }
    // The largest p-value that a test of a pair had without separating it, and the set.
    std::pair<double, Span> closest(Index x, Index y) const;

private:
    SetStore& arena_;
    std::unique_ptr<Test> test_;
    std::vector<Family> families_;
    Found found_;
    std::vector<Tried> tried_;
    PairMap heads_, tails_;
    struct Closest { double pvalue; Span given; };
    std::vector<Closest> closest_;
    PairMap closest_at_;
    bool given_rest_;
    Tried rest_;
    std::int64_t tests_;
    std::uint64_t asked_ = 0;

    void count(Phase phase, std::int64_t size, std::int64_t tests);
    void check(std::int64_t tests) const;
    void note(Index x, Index y, const Tried& family);
    bool is_closest(Index x, Index y, double pvalue) const;
    void compare(Index x, Index y, double pvalue, Span given);
    template <class Use>
    void each_family(Index x, Index y, std::int64_t smallest, std::int64_t largest, bool afresh, Use use) const;
    bool covers(const Tried& family, const std::vector<Index>& full) const;
    bool fill(Family& g, const Tried& family, const Query& query) const;
};

// Call with each family tried for a pair, as the readable memory chooses them by the sizes of the sets asked for.
template <class Use>
void Ledger::each_family(Index x, Index y, std::int64_t smallest, std::int64_t largest, bool afresh, Use use) const {
    std::int64_t families = 0;
    const std::int64_t head = afresh ? -1 : heads_.get(x, y);
    for (std::int64_t i = head; i >= 0; i = tried_[static_cast<std::size_t>(i)].next) ++families;
    const bool filter = smallest > 0 || families > 8;
    for (std::int64_t i = head; i >= 0; i = tried_[static_cast<std::size_t>(i)].next) {
        const Tried& f = tried_[static_cast<std::size_t>(i)];
        const std::int64_t base = f.always >= 0, top = f.largest + !f.stop.none();
        if (!filter || (base + f.smallest <= largest && base + top >= smallest)) use(f);
    }
    if (!rounds.of_target.empty()) {
        const auto asked = [&](Span s) {
            if (smallest <= s.n && s.n <= largest) use(Tried{-1, s, s.n, s.n, Span{}, 1.0});
        };
        for (Span s : rounds.of_target[static_cast<std::size_t>(x)]) if (!arena_.has(s, y)) asked(s);
        for (Span s : rounds.of_target[static_cast<std::size_t>(y)]) if (!arena_.has(s, x)) asked(s);
        for (std::int64_t i = rounds.heads.get(x, y); i >= 0; i = rounds.singly[static_cast<std::size_t>(i)].second) {
            asked(rounds.singly[static_cast<std::size_t>(i)].first);
        }
    }
    if (given_rest_ && largest >= rest_.smallest) use(rest_);
}

}  // namespace lmarvel
