// The search for a separating set, a template over the test: the twin of ci/search. Subsets of a pool are visited by
// size, then in the order of the pool; what was tried before is passed over; the first independence ends the search.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/combinations.hpp"
#include "base/sets.hpp"
#include "base/watch.hpp"

namespace lmarvel {

// Nodes that stand elsewhere, one after the other.
struct View {
    const Index* at = nullptr;
    std::size_t n = 0;

    View() = default;
    View(const Index* first, std::size_t length) : at(first), n(length) {}
    View(const std::vector<Index>& nodes) : at(nodes.data()), n(nodes.size()) {}
    const Index* begin() const { return at; }
    const Index* end() const { return at + n; }
    Index operator[](std::size_t i) const { return at[i]; }
    bool has(Index v) const { return std::find(begin(), end(), v) != end(); }
};

// Whether two nodes and two sets have nothing in common, and name nothing twice.
inline bool are_distinct(Index x, Index y, View one, View other) {
    std::vector<Index> all{x, y};
    all.insert(all.end(), one.begin(), one.end());
    all.insert(all.end(), other.begin(), other.end());
    std::sort(all.begin(), all.end());
    return std::adjacent_find(all.begin(), all.end()) == all.end();
}

// A family of sets that were tried, in terms of positions in the pool and of sizes of subsets of it; see ci/test.Tried.
class Family {
public:
    double level = 0.0;

    // Translate `must` with each subset of `members` (ascending) of some sizes, and those of one more before `stop` (null:
    // there is none); false if no subset of this search can be among them.
    bool fill(View always, View pool, View must, View members, std::int64_t smallest, std::int64_t largest,
              const View* stop, double highest) {
        std::size_t shared = 0;
        extra_.clear();
        for (Index v : always) {
            if (must.has(v)) {
                ++shared;
            } else {
                if (!std::binary_search(members.begin(), members.end(), v)) return false;
                extra_.push_back(v);
            }
        }
        allowed_.resize(pool.n);
        needed_.resize(pool.n);
        n_needed_ = 0;
        const Index* at = members.begin();
        for (std::size_t i = 0; i < pool.n; ++i) {
            if (i > 0 && pool[i] < pool[i - 1]) at = members.begin();  // a pool is ascending, if nobody asks otherwise
            while (at != members.end() && *at < pool[i]) ++at;
            allowed_[i] = at != members.end() && *at == pool[i];
            needed_[i] = must.has(pool[i]);
            n_needed_ += needed_[i];
        }
        if (n_needed_ + shared != must.n) return false;
        // A subset of size k here has k + shift free members there.
        const auto shift = static_cast<std::int64_t>(always.n) - static_cast<std::int64_t>(must.n);
        smallest_ = smallest - shift;
        largest_ = largest - shift;
        n_stop_ = stop == nullptr ? -1 : static_cast<std::int64_t>(stop->n) - shift;
        stop_.clear();
        if (stop != nullptr) stop_.assign(stop->begin(), stop->end());
        level = highest;
        return true;
    }

    // Whether the subset at these positions belongs to the family.
    bool covers(View pool, View chosen) {
        std::size_t got = 0;
        const auto size = static_cast<std::int64_t>(chosen.n);
        for (Index i : chosen) {
            const auto at = static_cast<std::size_t>(i);
            if (needed_[at]) ++got;
            else if (!allowed_[at]) return false;
        }
        if (got < n_needed_ || size < smallest_) return false;
        if (size <= largest_) return true;
        if (size != n_stop_) return false;
        free_ = extra_;  // compared, in ascending order, with where the family's search ended
        for (Index i : chosen) {
            if (!needed_[static_cast<std::size_t>(i)]) free_.push_back(pool[static_cast<std::size_t>(i)]);
        }
        std::sort(free_.begin(), free_.end());
        return std::lexicographical_compare(free_.begin(), free_.end(), stop_.begin(), stop_.end());
    }

private:
    std::vector<std::uint8_t> allowed_, needed_;
    std::size_t n_needed_ = 0;
    std::int64_t smallest_ = 0, largest_ = 0;
    std::int64_t n_stop_ = -1;  // the size of subsets to compare with the stop
    std::vector<Index> stop_, free_;
    std::vector<Index> extra_;  // of `always` here, free there
};

// Independence is a p-value above alpha; Fisher's z knows the squared partial correlations there, by size of the set.
struct Level {
    double alpha = 0.0;
    const double* critical = nullptr;
};

struct Query {
    Index x = 0, y = 0;
    View always, pool;
    std::int64_t smallest = 0, top = 0;  // members to take from the pool
    std::int64_t max_tests = -1;         // -1: no limit
    Level level;
    Family* known = nullptr;
    std::size_t n_known = 0;
    const Clock* clock = nullptr;
};

// What was found, and room to work in, which is kept from one search to the next.
struct Found {
    enum State : int { GOING, FOUND, ENDED } state = GOING;
    bool begun = false;           // else there was no time left
    bool cut = false;             // some sets were passed over, for want of rows
    bool any = false;             // whether a test was made
    double pvalue = 0.0;          // of the set, or the largest that was seen
    std::vector<Index> chosen;    // positions in the pool: where it ended
    std::vector<Index> closest;   // and of the set with the largest p-value
    std::vector<std::int64_t> counts;  // tests that were not made before, by size from the smallest on
    std::vector<Index> given;
    std::uint64_t ticks = 0;
};

template <class T>
void search_subsets(T& test, const Query& q, Found& out) {
    const std::size_t base = q.always.n;
    const std::int64_t reach = test.most(q.x, q.y, q.always, q.pool, q.top);
    out.state = Found::GOING;
    out.begun = !q.clock->late();
    out.cut = reach < q.top;
    out.any = false;
    out.pvalue = 0.0;
    out.chosen.clear();
    out.closest.clear();
    out.counts.clear();
    if (!out.begun) {
        out.state = Found::ENDED;
        return;
    }
    std::vector<Index>&chosen = out.chosen, &given = out.given;
    std::int64_t done = 0;
    test.start(q.x, q.y);
    for (std::size_t i = 0; i < base; ++i) test.push(i, q.always[i]);
    given.assign(q.always.begin(), q.always.end());
    for (std::int64_t size = q.smallest; size <= reach; ++size) {
        const auto k = static_cast<std::size_t>(size);
        chosen.resize(k);
        given.resize(base + k);
        first_combination(chosen.data(), k);
        std::size_t changed = 0, first = 0;  // places in the subset, and of those that the test has yet to see
        std::int64_t fresh_here = 0;
        while (true) {
            for (std::size_t i = changed; i < k; ++i) given[base + i] = q.pool[static_cast<std::size_t>(chosen[i])];
            bool skip = !test.affords(q.x, q.y, given), fresh = true;
            out.cut = out.cut || skip;
            for (std::size_t i = 0; i < q.n_known && !skip; ++i) {
                if (!q.known[i].covers(q.pool, chosen)) continue;
                fresh = false;
                skip = q.known[i].level <= q.level.alpha;
            }
            if ((++out.ticks & test.every) == 0) {
                q.clock->poll();
                if (q.clock->late()) out.state = Found::ENDED;
            }
            if (!skip && fresh && done == q.max_tests) out.state = Found::ENDED;
            if (out.state == Found::ENDED) break;
            if (!skip) {
                done += fresh;
                fresh_here += fresh;
                for (std::size_t i = first; i < k; ++i) test.push(base + i, given[base + i]);
                first = k;
                double p;
                if (separates(test, base + k, q.level, out.any ? out.pvalue : -1.0, p)) out.state = Found::FOUND;
                if (out.state == Found::FOUND || p > out.pvalue || !out.any) {
                    out.any = true;
                    out.pvalue = p;
                    out.closest = chosen;
                }
                if (out.state == Found::FOUND) break;
            }
            changed = next_combination(chosen.data(), k, q.pool.n);
            if (changed == k) break;
            first = std::min(first, changed);
        }
        out.counts.push_back(fresh_here);
        if (out.state != Found::GOING) return;
    }
}

}  // namespace lmarvel
