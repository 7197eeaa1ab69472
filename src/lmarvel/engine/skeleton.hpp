// L-MARVEL on flat arrays: the twin of skeleton/lmarvel, skeleton/gaps and skeleton/state, step by step.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "search.hpp"
#include "sets.hpp"
#include "triples.hpp"

namespace lmarvel {

struct Levels {
    double alpha, boundary, threshold;
    bool assume_chordal, faithful;
};

// The Markov boundaries to start from.
struct Boundaries {
    std::vector<Span> sets;
    bool total_conditioning = false;
    const double* precision = nullptr;  // of total conditioning, p x p, where it was kept
    const double* rest = nullptr;       // or its p-values
    // Searches that were cut short: the members they had, and all that were kept; none for the others.
    std::vector<Span> had, kept;
};

// What happened, as `trace` says it; `set` and `more` are spans of the arena.
struct Event {
    enum Kind : std::int64_t { SEPARATED, ADJACENT, DOUBTFUL, KEPT, REMOVED, LEFT_BOUNDARY, NONE_REMOVABLE };
    std::int64_t kind, x, y, z, phase;
    Span set, more;
    double pvalue;
};

using Report = bool (*)(void*, std::int64_t);  // called with the number of variables removed; true ends the run

class Skeleton final : public Triples {
public:
    Skeleton(Ledger& ledger, Arena& arena, const Boundaries& boundaries, const Levels& levels);

    // Run the whole algorithm; a budget that ran out is kept in `ended`.
    void run(Report report, void* caller);

    struct Separation { Index x, y; Span set; };
    std::vector<Separation> found;  // in the order in which pairs were first separated
    std::vector<Event> events;
    BudgetSpent ended{Reason::NONE};

    bool is_collider(Index v, Index b, Index c) const;
    bool collides(Index v, Index, Index b, Index c) const override { return is_collider(v, b, c); }
    bool in_doubt(Index a, Index c) const override { return doubtful_.ever() && doubtful_.has(a, c); }

private:
    struct Suspect { Index x, y, z; std::int64_t step; };
    struct Part { Index y, z; Span given; double pvalue; };

    Ledger& ledger_;
    Arena& arena_;
    const Boundaries& boundaries_;
    const Levels levels_;
    const Index p_;
    Rows adjacent_, mb_, start_;
    std::vector<Index> size_;  // of the boundaries, as they are now
    PairMap found_at_;
    PairSet unfinished_, doubtful_, unverified_;
    std::vector<std::int64_t> removed_at_;
    std::int64_t removed_ = 0;
    std::vector<Suspect> suspects_;
    std::vector<std::int8_t> headed_;
    std::vector<Index> pool_, one_, two_, members_, around_;

    Span smaller(Index x, Index y) const;
    Span lookup(Index x, Index y) const;
    bool is_open(Index x, Index y) const { return !adjacent_.has(x, y) && lookup(x, y).none(); }
    Answer ask(Phase phase, Index x, Index y, const std::vector<Index>& pool, Index always = -1,
               bool threshold = false);
    bool try_separate(Phase phase, Index x, Index y, const std::vector<Index>& pool, std::int64_t max_size = -2);
    void separate(Phase phase, Index x, Index y, Span set, double pvalue);
    void join(Phase phase, Index x, Index y);
    std::pair<double, Span> closest(Index x, Index y) const;
    void decide(Phase phase, Index x, Index y, const std::vector<Index>& pool);
    const std::vector<Index>& smaller_pool(Index y, Index z, Index but);

    void remove_all(Report report, void* caller);
    void find_adjacent(Index x);
    bool is_removable(Index x);
    bool needs(Index x, Index y, Index z, Span known);
    void update_boundaries(Index x);
    void complete();
    void clear_suspects();
    bool candidates(const Suspect& s, const PairSet& doubtful, std::vector<Index>& pool);
    bool tail_only(Index v, const Suspect& s, const PairSet& doubtful);
    bool has_arrowhead(Index b, const PairSet& doubtful) const;
    void settle_contested();
    void settle_gaps();
    bool separated_by_few(Index x, Index y);
    std::vector<std::pair<Index, Index>> unshielded_pairs() const;
    void hand_on();
};

}  // namespace lmarvel
