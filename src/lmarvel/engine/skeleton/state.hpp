// The state of a skeleton search, one for all methods: the twin of skeleton/state and skeleton/gaps.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/sets.hpp"
#include "independence/search.hpp"
#include "orient/triples.hpp"

namespace lmarvel {

// The Markov boundaries to start from.
struct Boundaries {
    std::vector<Span> sets;
    bool complete = false;  // all other variables for each: then `sets` has nothing to say
    bool total_conditioning = false;
    const double* precision = nullptr;  // of total conditioning, p x p, where it was kept
    const double* rest = nullptr;       // or its p-values
    // Searches that were cut short: the members they had, and all that were kept; none for the others.
    std::vector<Span> had, kept;
};

// What happened, by the names of the records that Python makes of it; `set` and `more` are spans of the arena.
#define LMARVEL_EVENTS(X)              \
    X(SEPARATED, "Separated")          \
    X(ADJACENT, "Adjacent")            \
    X(DOUBTFUL, "Doubtful")            \
    X(KEPT, "Kept")                    \
    X(REMOVED, "Removed")              \
    X(LEFT_BOUNDARY, "LeftBoundary")   \
    X(NONE_REMOVABLE, "NoneRemovable") \
    X(OVERRULED, "Overruled")
struct Event {
    enum Kind : std::int64_t { LMARVEL_EVENTS(LMARVEL_MEMBER) };
    std::int64_t kind, x, y, z, phase;
    Span set, more;
    double pvalue;
};
LMARVEL_NAMES(event_names, LMARVEL_EVENTS)

class State : public Triples {
public:
    // `dense` begins with all pairs of the boundaries as edges, to be cut; else there are none, to be joined.
    State(Ledger& ledger, SetStore& arena, const Boundaries& boundaries, double alpha, bool dense);

    // Run the method up to orientation; a budget that ran out is kept in `ended`.
    virtual void run(const Teller& tell) = 0;
    // What orientation has to ask about discriminating paths, if the method tests them.
    virtual PathCheck* path_check() { return nullptr; }
    // Sort the edges into decided and undecided ones, as they are now, without those that are known not to be there.
    void hand_on();
    // Write down of each decided edge how close it came to being separated.
    void say_how_close();

    struct Separation { Index x, y; Span set; };
    std::vector<Separation> found;  // in the order in which pairs were first separated
    std::vector<Event> events;
    BudgetSpent ended{Reason::NONE};

    bool collides(Index v, Index, Index b, Index c) const override { return is_collider(v, b, c); }
    bool in_doubt(Index a, Index, Index c) const override { return doubtful_.ever() && doubtful_.has(a, c); }

protected:
    Ledger& ledger_;
    SetStore& arena_;
    const Boundaries& boundaries_;
    const Known* const known_;
    const double alpha_;
    const Index p_;
    Rows start_, adjacent_;  // the boundaries, and the edges
    PairMap found_at_;
    PairSet unfinished_, doubtful_;
    PairSet overruled_;  // pairs that tests separate and a statement joins
    bool all_open_ = false;

    Span lookup(Index x, Index y) const;
    bool is_open(Index x, Index y) const { return !adjacent_.has(x, y) && lookup(x, y).none(); }
    bool is_collider(Index v, Index b, Index c) const;
    bool is_useless(Index v, Index x, Index y) const { return known_ != nullptr && known_->useless(v, x, y); }
    // Those of a pool that a set which separates x and y can need, as is known beforehand; until the next such question.
    const std::vector<Index>& useful(Index x, Index y, const std::vector<Index>& pool);
    // Keep what a search found; one that a limit cut short leaves the pair unfinished.
    bool keep(Phase phase, Index x, Index y, const Answer& answer);
    bool try_separate(Phase phase, Index x, Index y, const std::vector<Index>& pool, std::int64_t max_size = -2);
    void separate(Phase phase, Index x, Index y, Span set, double pvalue);
    void join(Phase phase, Index x, Index y);
    // A budget ended the work of a method that cuts edges: every edge that is left is undecided.
    void spent(const BudgetSpent& reason);
    void settle_gaps();
    void sort_edges();
    std::vector<Pair> unshielded_pairs() const;

    // All pairs of a list, in order.
    template <class Visit>
    static void each_pair(const std::vector<Index>& list, Visit visit) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            for (std::size_t j = i + 1; j < list.size(); ++j) visit(list[i], list[j]);
        }
    }

private:
    std::vector<Index> useful_;

    Span smaller(Index x, Index y) const;
    void part_forbidden();
    std::pair<double, Span> closest(Index x, Index y) const;
    bool separated_by_few(Index x, Index y);
};

}  // namespace lmarvel
