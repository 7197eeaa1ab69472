// Methods that cut edges from a dense graph: the twins of skeleton/pruning, pc, fci, rfci, mbcs and triples.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "orient/orient.hpp"
#include "skeleton/state.hpp"

namespace lmarvel {

// The sets of FCI's second search.
#define LMARVEL_POSSIBLE_D_SEPS(X) \
    X(NONE, "none")                \
    X(PRUNED, "pruned")            \
    X(CLASSIC, "classic")
enum class PossibleDSep : std::int64_t { LMARVEL_POSSIBLE_D_SEPS(LMARVEL_MEMBER) };
LMARVEL_NAMES(possible_d_sep_names, LMARVEL_POSSIBLE_D_SEPS)

// How colliders are read off.
#define LMARVEL_COLLIDERS(X)        \
    X(STANDARD, "standard")         \
    X(CONSERVATIVE, "conservative") \
    X(MAJORITY, "majority")
enum class Colliders : std::int64_t { LMARVEL_COLLIDERS(LMARVEL_MEMBER) };
LMARVEL_NAMES(collider_names, LMARVEL_COLLIDERS)

// What FCI, RFCI and MBCS* leave to the user.
struct Options {
    double alpha;
    bool max_p;  // take the separating set with the largest p-value of its size; tests are then at the threshold
    PossibleDSep possible_d_sep;
    Colliders colliders;
    bool selection;
};

// What PC, and FCI and RFCI after it, do: searches for each edge, a size of sets after the other.
class Pruning : public State, public PathCheck {
public:
    Pruning(Ledger& ledger, SetStore& arena, const Boundaries& boundaries, const Options& options);

    void run(const Teller& tell) override;
    // Test the edges of a discriminating path before R4 uses it (RFCI).
    Verdict check(const Path& path) override;
    bool collides(Index v, Index a, Index b, Index c) const override;
    bool in_doubt(Index a, Index b, Index c) const override;

protected:
    const Options options_;

    // What comes after the PC search.
    virtual void go_on(const Teller& tell) = 0;

    bool cut_if_separated(Phase phase, Index x, Index y, const std::vector<Index>& pool, Span kept, std::int64_t k);
    // RFCI's tests of all unshielded triples, and of those that they open.
    void check_all_triples();

private:
    std::map<Triple, bool> colliders_;  // where they are not read off one separating set
    std::set<Triple> ambiguous_;
    struct Separating { std::int64_t sets = 0; std::map<Index, std::int64_t> holding; };
    std::map<Pair, Separating> separating_;
    std::map<Path, bool> stands_;       // of the paths that were checked
    bool spent_on_paths_ = false;
    std::vector<Index> pool_;

    void pc_stable(const Teller& tell);
    void search_edges(const std::vector<Pair>& edges, const Rows& before, const std::vector<Span>& kept, std::int64_t k);
    bool stands(const Triple& t) const;
    bool check_triple(const Triple& t, std::vector<Triple>& opened);
    std::vector<Triple> check_triples(std::vector<Triple> queue);
    bool cut_given(Index x, Index y, const std::vector<Index>& given);
    std::vector<Triple> over(Index u, Index w) const;
    bool cut_first(const Path& path, Pair& cut);
    bool is_unchecked(const Triple& t) const;
    void classify();
    double share_of(Index b, Index a, Index c);
    const Separating& separating(Index a, Index c);
};

class Rfci final : public Pruning {
public:
    using Pruning::Pruning;
    PathCheck* path_check() override { return this; }

protected:
    void go_on(const Teller&) override { check_all_triples(); }
};

class Fci final : public Pruning {
public:
    using Pruning::Pruning;

protected:
    void go_on(const Teller& tell) override;

private:
    struct Pool { Index x, y; Span of_x, of_y; };
    void prune(std::vector<Pool> pools, const Teller& tell);
};

class Mbcs final : public State {
public:
    Mbcs(Ledger& ledger, SetStore& arena, const Boundaries& boundaries, const Options& options)
        : State(ledger, arena, boundaries, options.alpha, true) {}

    void run(const Teller& tell) override;

private:
    struct Separator { bool any = false; std::vector<Index> set; double pvalue = 0.0; };
    std::vector<Index> component_, triangle_, rest_;

    Separator collider_set_search(Index x, Index y);
    void label_components(Index x, Index y);
    Separator all_or_some(Index x, Index y, const std::vector<Index>& harmful, const std::vector<Index>& always);
    Separator search(Index x, Index y, const std::vector<Index>& pool, const std::vector<Index>& always,
                     std::int64_t most);
};

}  // namespace lmarvel
