// Orientation on flat arrays: the twin of orient/, rule by rule and use by use.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "base/known.hpp"
#include "base/names.hpp"
#include "base/sets.hpp"
#include "base/watch.hpp"
#include "orient/triples.hpp"

namespace lmarvel {

#define LMARVEL_MARKS(X) \
    X(NONE, "NONE")      \
    X(CIRCLE, "CIRCLE")  \
    X(ARROW, "ARROW")    \
    X(TAIL, "TAIL")
enum Mark : std::int8_t { LMARVEL_MARKS(LMARVEL_MEMBER) };
LMARVEL_NAMES(mark_names, LMARVEL_MARKS)

// The rules of Zhang (2008), and those that read what is known beforehand.
#define LMARVEL_RULES(X) \
    X(R0, "R0")          \
    X(R1, "R1")          \
    X(R2, "R2")          \
    X(R3, "R3")          \
    X(R4, "R4")          \
    X(R5, "R5")          \
    X(R6, "R6")          \
    X(R7, "R7")          \
    X(R8, "R8")          \
    X(R9, "R9")          \
    X(R10, "R10")        \
    X(K0, "K0")          \
    X(K1, "K1")          \
    X(K2, "K2")          \
    X(K3, "K3")          \
    X(K4, "K4")
enum Rule : Index { LMARVEL_RULES(LMARVEL_MEMBER) };
LMARVEL_NAMES(rule_names, LMARVEL_RULES)

struct Written { Index x, y, mark; };
using Marks = std::vector<Written>;

// One use of a rule: what triggered it, the marks that it wrote, and those that it wanted where another stood.
struct Use {
    Index rule;
    Path nodes;
    Marks written, refused;
};

class Orientation {
public:
    // `marks` is the matrix that is written to, p x p and zero; `check` is asked about paths before R4 uses them;
    // `known` gives its marks first, and the rules that read it are used with the others.
    Orientation(const Triples& triples, Index p, std::int8_t* marks, const Clock& clock, PathCheck* check = nullptr,
                const Known* known = nullptr);

    // Of a MAG, by whose colliders alone all follows, long searches for cycles are left out.
    void run(bool selection, bool of_mag = false);
    void run_colliders();  // R0 alone, with what is known
    std::vector<Use> log;
    bool ended = false;

private:
    struct OutOfTime : std::exception {};
    struct Wanted { bool any = false; Path nodes; Marks marks; };
    // Circles that wait for the rules of a stage, each at most once; an edge's end is known by its place in `near_`.
    struct Agenda {
        std::deque<std::int64_t> queue;
        std::vector<std::uint8_t> waiting;
        bool used = false;
        void push(std::int64_t end) {
            if (waiting[static_cast<std::size_t>(end)]) return;
            waiting[static_cast<std::size_t>(end)] = 1;
            queue.push_back(end);
        }
    };
    enum Steps { CIRCLES, ONWARD };
    // A search for an uncovered path (a, first, .., d, goal); `not_through` is left out, and -1 is nobody.
    struct Route { Index a, first, goal; Steps steps; Index not_through; bool closes; };

    const Triples& triples_;
    const std::size_t p_;
    std::int8_t* marks_;
    const Clock clock_;
    std::uint64_t ticks_ = 0;
    std::vector<std::int64_t> start_, reverse_;  // where the ends (x, .) begin; the same edge from the other side
    std::vector<Index> near_, from_;             // end (from_[e], near_[e]): the mark at near_[e] on that edge
    PathCheck* const check_;
    const Known* const known_;
    const bool open_;                            // whether there are undecided pairs
    Rows undecided_;
    std::set<Triple> unchecked_;                 // triples over edges that were cut, which no rule may use
    Agenda arrowheads_, undirected_, tails_;
    std::vector<Index> rules_[5];                // that are asked circle by circle, by stage
    bool has_paths_ = false;                     // whether R4 is among them
    bool of_mag_ = false;
    std::vector<std::int64_t> origin_, stamp_;   // of the breadth-first searches, by end
    std::vector<std::int64_t> met_;              // and by node
    std::vector<std::uint8_t> passable_;         // by cycles of R5
    std::vector<std::int64_t> queue_;            // room for a search, kept from one to the next
    std::vector<Index> into_;                    // and for R3
    std::int64_t search_ = 0;

    std::int8_t mark(Index x, Index y) const {
        return marks_[static_cast<std::size_t>(x) * p_ + static_cast<std::size_t>(y)];
    }
    void write(Index x, Index y, Index m) {
        marks_[static_cast<std::size_t>(x) * p_ + static_cast<std::size_t>(y)] = static_cast<std::int8_t>(m);
    }
    std::int64_t begin(Index x) const { return start_[static_cast<std::size_t>(x)]; }
    std::int64_t end(Index x) const { return start_[static_cast<std::size_t>(x) + 1]; }
    Index near(std::int64_t e) const { return near_[static_cast<std::size_t>(e)]; }
    Index from(std::int64_t e) const { return from_[static_cast<std::size_t>(e)]; }
    void tick();
    bool apart(Index x, Index y) const { return mark(x, y) == NONE && !(open_ && undecided_.has(x, y)); }
    // Whether the triple a, b, c, whose edges are there, is unshielded, and known to be a collider or not.
    bool gap(Index a, Index b, Index c) const {
        if (!apart(a, c) || triples_.in_doubt(a, b, c)) return false;
        return unchecked_.empty() || !unchecked_.count(Triple{std::min(a, c), b, std::max(a, c)});
    }
    bool directed(Index x, Index y) const { return mark(x, y) == ARROW && mark(y, x) == TAIL; }
    bool circle_edge(Index x, Index y) const { return mark(x, y) == CIRCLE && mark(y, x) == CIRCLE; }
    bool onward(Index x, Index y) const {
        return mark(x, y) != NONE && mark(y, x) != ARROW && mark(x, y) != TAIL;
    }
    bool may_step(Steps steps, Index q, Index r) const {
        return steps == CIRCLES ? passable_[static_cast<std::size_t>(r)] && circle_edge(q, r) : onward(q, r);
    }

    const Use* apply(Index rule, const Wanted& wanted);
    void work(bool selection);
    void colliders();
    void rings();
    void find_passable();
    void begin_queues();
    void drain(int last);
    bool use_one(int stage, Index x, Index y);
    void wake(const Use* use);
    void wake_end(std::int64_t end, std::int8_t other, Index fresh);

    Wanted checked(Index rule, Index x, Index y);
    void cut(const Verdict& verdict);
    void finish();
    Wanted resolve(Index rule, Index x, Index y);
    Wanted r1(Index c, Index b);
    Wanted r2(Index a, Index c);
    Wanted r3(Index d, Index b);
    Wanted r4(Index c, Index b);
    Wanted r5(Index a, Index b);
    Wanted r6(Index c, Index b);
    Wanted r7(Index c, Index b);
    Wanted r8(Index c, Index a);
    Wanted r9(Index c, Index a);
    Wanted r10(Index c, Index a);
    void said();
    bool use_linked();
    void linked();
    void add_directed(Rows& relation) const;
    void onward_to(std::int64_t end, const Rows& never);
    void only_way(Index a, Index b);
    Wanted k2(Index x, Index y);
    Wanted k3(Index x, Index y);
    Wanted k4(Index d, Index b);
    bool discriminating_path(Index b, Index c, Path& path);
    bool uncovered_path(const Route& route, std::int64_t first_end, Path& path);
    bool uncovered_walk(const Route& route, std::int64_t first_end, Path& path);
    std::vector<Index> reached_from(std::int64_t first_end, Index not_through, const std::vector<Index>& nodes);
    bool uncovered_simple(const Route& route, Path& path);
};

}  // namespace lmarvel
