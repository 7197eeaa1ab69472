// L-MARVEL on flat arrays: the twin of skeleton/lmarvel, step by step.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "skeleton/state.hpp"

namespace lmarvel {

struct Levels {
    double alpha, boundary, threshold;
    bool assume_chordal, faithful;
};

class Skeleton final : public State {
public:
    Skeleton(Ledger& ledger, SetStore& arena, const Boundaries& boundaries, const Levels& levels);

    void run(const Teller& tell) override;

private:
    struct Suspect { Index x, y, z; std::int64_t step; };
    struct Part { Index y, z; Span given; double pvalue; };

    const Levels levels_;
    Rows mb_;  // the boundaries as they are now
    std::vector<Index> size_;
    PairSet unverified_;
    std::vector<std::int64_t> removed_at_;
    std::int64_t removed_ = 0;
    std::vector<Suspect> suspects_;
    std::vector<std::int8_t> headed_;
    std::vector<Index> pool_, one_, two_, members_, around_;

    Answer ask(Phase phase, Index x, Index y, const std::vector<Index>& pool, Index always = -1,
               bool threshold = false);
    void decide(Phase phase, Index x, Index y, const std::vector<Index>& pool);
    const std::vector<Index>& smaller_pool(Index y, Index z, Index but);

    void remove_all(const Teller& tell);
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
};

}  // namespace lmarvel
