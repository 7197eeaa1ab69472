// FCI's search over Possible-D-Sep sets: the twin of skeleton/fci.
#include <algorithm>

#include "base/words.hpp"
#include "skeleton/pruning.hpp"

namespace lmarvel {

namespace {

// A graph with marks as rows of bits, and what paths of possible colliders reach in it.
class Reach {
public:
    Reach(const std::vector<std::int8_t>& marks, Index p)
        : marks_(marks), p_(p), near_(p), arrow_(p), no_tail_(p), back_(p), seen_(p),
          possible_(near_.words()), found_(near_.words()) {
        for (Index x = 0; x < p; ++x) {
            for (Index y = 0; y < p; ++y) {
                if (mark(x, y) == NONE) continue;
                near_.set(x, y);
                if (mark(y, x) == ARROW) arrow_.set(x, y);
                if (mark(y, x) != TAIL) no_tail_.set(x, y);
                if (mark(x, y) != ARROW) back_.set(x, y);
            }
        }
    }

    // The nodes with a path to one of them on which no arrowhead points back.
    void find_possible_ancestors(const Clock& clock) {
        ancestors_ = Rows(p_);
        std::vector<Index> stack;
        for (Index x = 0; x < p_; ++x) {
            clock.check();
            ancestors_.set(x, x);
            stack.assign(1, x);
            while (!stack.empty()) {
                const Index w = stack.back();
                stack.pop_back();
                back_.each(w, [&](Index u) {
                    if (ancestors_.has(x, u)) return;
                    ancestors_.set(x, u);
                    stack.push_back(u);
                });
            }
        }
    }

    // The part of Possible-D-Sep(x) that can matter for separating x from y, given marks that are right.
    void pruned(Index x, Index y, std::vector<Index>& out) {
        for (std::size_t w = 0; w < possible_.size(); ++w) possible_[w] = ancestors_.row(x)[w] | ancestors_.row(y)[w];
        walk(x, y, true, out);
    }

    // Possible-D-Sep(x).
    void classic(Index x, std::vector<Index>& out) {
        std::fill(possible_.begin(), possible_.end(), ~std::uint64_t{0});
        walk(x, -1, false, out);
    }

private:
    const std::vector<std::int8_t>& marks_;
    const Index p_;
    // Row x of each: its neighbours; those whose edges have an arrowhead at x; no tail at x; no arrowhead at them.
    Rows near_, arrow_, no_tail_, back_;
    Rows ancestors_, seen_;  // row a of `seen_`: the nodes b that the walk has entered from a
    std::vector<std::uint64_t> possible_, found_;
    std::vector<Pair> queue_;

    std::int8_t mark(Index x, Index y) const {
        return marks_[static_cast<std::size_t>(x) * static_cast<std::size_t>(p_) + static_cast<std::size_t>(y)];
    }

    // Breadth first over the edges, each in the direction away from x; inner nodes are colliders or in a triangle.
    void walk(Index x, Index y, bool by_tails, std::vector<Index>& out) {
        const std::size_t words = near_.words();
        std::fill(found_.begin(), found_.end(), 0);
        queue_.clear();
        const auto enter = [&](Index a, std::size_t w, std::uint64_t fresh) {
            seen_.row(a)[w] |= fresh;
            found_[w] |= fresh;
            for (; fresh; fresh &= fresh - 1) {
                queue_.emplace_back(a, static_cast<Index>(64 * w + static_cast<std::size_t>(lowest_bit(fresh))));
            }
        };
        const auto but = [](Index v, std::size_t w) {
            return v >= 0 && static_cast<std::size_t>(v) / 64 == w ? ~(std::uint64_t{1} << (v % 64)) : ~std::uint64_t{0};
        };
        for (std::size_t w = 0; w < words; ++w) enter(x, w, near_.row(x)[w] & possible_[w] & but(y, w));
        for (std::size_t i = 0; i < queue_.size(); ++i) {
            const auto [a, b] = queue_[i];
            if (by_tails && mark(a, b) == TAIL) continue;  // b is no collider on any path that comes from a
            const bool into = mark(a, b) == ARROW;
            const std::uint64_t* on = by_tails ? no_tail_.row(b) : near_.row(b);
            for (std::size_t w = 0; w < words; ++w) {
                const std::uint64_t steps = near_.row(a)[w] | (into ? arrow_.row(b)[w] : 0);
                enter(b, w, on[w] & steps & possible_[w] & ~seen_.row(b)[w] & but(a, w) & but(x, w));
            }
        }
        for (const auto& entered : queue_) seen_.clear(entered.first);
        out.clear();
        for (std::size_t w = 0; w < words; ++w) {
            for (std::uint64_t left = found_[w] & but(x, w) & but(y, w); left; left &= left - 1) {
                out.push_back(static_cast<Index>(64 * w + static_cast<std::size_t>(lowest_bit(left))));
            }
        }
    }
};

}  // namespace

void Fci::go_on(const Teller& tell) {
    if (options_.possible_d_sep == PossibleDSep::NONE) return;
    const bool pruned = options_.possible_d_sep == PossibleDSep::PRUNED;
    std::vector<std::int8_t> marks(static_cast<std::size_t>(p_) * static_cast<std::size_t>(p_), 0);
    if (pruned) {  // the marks of RFCI, which are right also while edges are too many
        check_all_triples();
        hand_on();
        Orientation(*this, p_, marks.data(), ledger_.clock, this).run(options_.selection);
    } else {
        decided.clear();
        undecided.clear();
        for (Index x = 0; x < p_; ++x) adjacent_.each(x, [&](Index y) { if (x < y) decided.emplace_back(x, y); });
        Orientation(*this, p_, marks.data(), ledger_.clock).run_colliders();
    }
    Reach reach(marks, p_);
    std::vector<Index> members;
    std::vector<Span> whole;
    if (pruned) reach.find_possible_ancestors(ledger_.clock);
    for (Index x = 0; x < p_ && !pruned; ++x) {
        ledger_.clock.check();
        reach.classic(x, members);
        whole.push_back(arena_.keep(members));
    }
    const auto pool_of = [&](Index x, Index y) {
        if (!pruned) return whole[static_cast<std::size_t>(x)];
        reach.pruned(x, y, members);
        return arena_.keep(members);
    };
    std::vector<Pool> pools;
    for (Index x = 0; x < p_; ++x) {
        ledger_.clock.poll();
        adjacent_.each(x, [&](Index y) {
            if (x > y) return;
            ledger_.clock.check();
            const Span of_x = pool_of(x, y);
            pools.push_back(Pool{x, y, of_x, pool_of(y, x)});
        });
    }
    prune(std::move(pools), tell);
}

// Test each edge x-y given the subsets of the two pools, a size after the other.
void Fci::prune(std::vector<Pool> pairs, const Teller& tell) {
    std::vector<Index> pool;
    const auto size = [this](Span s, Index x, Index y) { return s.n - arena_.has(s, x) - arena_.has(s, y); };
    const auto cut = [&](const Pool& pair, Span kept, std::int64_t k) {
        pool.clear();
        for (const Index* v = arena_.begin(kept); v != arena_.end(kept); ++v) {
            if (*v != pair.x && *v != pair.y) pool.push_back(*v);
        }
        return cut_if_separated(POSSIBLE_D_SEP, pair.x, pair.y, pool, kept, k);
    };
    for (std::int64_t k = 1;; ++k) {
        std::int64_t most = 0;
        std::vector<Pool> due;
        for (const Pool& pair : pairs) {
            const std::int64_t larger = std::max(size(pair.of_x, pair.x, pair.y), size(pair.of_y, pair.x, pair.y));
            if (larger < k || !adjacent_.has(pair.x, pair.y)) continue;
            due.push_back(pair);
            most = std::max(most, larger);
        }
        if (due.empty()) return;
        if (k > ledger_.budget.largest_set) {
            for (const Pool& pair : due) unfinished_.add(pair.x, pair.y);
            return;
        }
        tell(POSSIBLE_D_SEP, k, most);
        std::vector<Pool> left;
        pairs.clear();
        for (const Pool& pair : due) if (!cut(pair, pair.of_x, k)) left.push_back(pair);
        for (const Pool& pair : left) if (!cut(pair, pair.of_y, k)) pairs.push_back(pair);
    }
}

}  // namespace lmarvel
