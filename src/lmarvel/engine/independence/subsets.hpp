// One search for a separating set, for methods that run in Python: the twin of ci/search for tests other than Fisher's z.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/combinations.hpp"
#include "base/watch.hpp"
#include "independence/tests.hpp"

namespace lmarvel {

// A family of sets that were tried, in terms of positions in the pool and of sizes of subsets of it; see ci/base.Tried.
struct Known {
    std::vector<std::uint8_t> allowed, needed;
    std::int64_t n_needed = 0, smallest = 0, largest = 0;
    std::int64_t n_stop = -1;        // the size of subsets to compare with `stop`
    std::vector<Index> stop, extra;  // nodes; `extra` are those of the search's own `always` that are free there
    double level = 0.0;

    bool covers(const std::vector<Index>& pool, const std::vector<Index>& chosen, std::size_t k) const {
        std::int64_t got = 0;
        const auto size = static_cast<std::int64_t>(k);
        for (std::size_t i = 0; i < k; ++i) {
            const auto at = static_cast<std::size_t>(chosen[i]);
            if (needed[at]) ++got;
            else if (!allowed[at]) return false;
        }
        if (got < n_needed || size < smallest) return false;
        if (size <= largest) return true;
        if (size != n_stop) return false;
        std::vector<Index> free(extra);  // compared, in ascending order, with where the family's search ended
        for (std::size_t i = 0; i < k; ++i) {
            const auto at = static_cast<std::size_t>(chosen[i]);
            if (!needed[at]) free.push_back(pool[at]);
        }
        std::sort(free.begin(), free.end());
        return free.size() == stop.size() && free < stop;
    }
};

struct Query {
    Index x = 0, y = 0;
    std::vector<Index> pool, always;
    std::int64_t smallest = 0, top = 0, max_tests = -1;
    double alpha = 0.0, seconds = 0.0;
    std::vector<Known> known;
};

struct Found {
    enum State : std::int64_t { GOING, FOUND, ENDED } state = GOING;
    bool cut = false;                  // some sets were passed over, for want of rows
    double pvalue = 0.0;               // of the set, or the largest that was seen
    std::vector<Index> here, closest;  // members of the pool: where it ended, and of the set with that p-value
    bool any = false;
    std::vector<std::int64_t> counts;  // by size
};

inline Found search(Test& test, const Query& q, Poll poll, void* caller) {
    Found out;
    const Clock clock(q.seconds, poll, caller);
    const std::size_t base = q.always.size(), m = q.pool.size();
    const std::int64_t reach = test.most(q.x, q.y, q.always, q.pool, q.top);
    out.cut = reach < q.top;
    out.counts.assign(base + static_cast<std::size_t>(std::max<std::int64_t>(q.top, 0)) + 1, 0);
    test.start(q.x, q.y, base + static_cast<std::size_t>(std::max<std::int64_t>(q.top, 0)) + 1);
    for (std::size_t i = 0; i < base; ++i) test.push(i, q.always[i]);
    std::vector<Index> chosen, given(q.always);
    std::uint64_t ticks = 0;
    std::int64_t done = 0;
    if (clock.late()) {
        out.state = Found::ENDED;
        return out;
    }
    for (std::int64_t size = q.smallest; size <= reach; ++size) {
        const auto k = static_cast<std::size_t>(size);
        chosen.resize(k);
        given.resize(base + k);
        first_combination(chosen.data(), k);
        std::size_t first = 0;
        while (true) {
            for (std::size_t i = 0; i < k; ++i) given[base + i] = q.pool[static_cast<std::size_t>(chosen[i])];
            const auto members = [&] { return std::vector<Index>(given.begin() + static_cast<std::ptrdiff_t>(base), given.end()); };
            bool skip = !test.affords(q.x, q.y, given), fresh = true;
            out.cut = out.cut || skip;
            for (std::size_t i = 0; i < q.known.size() && !skip; ++i) {
                if (!q.known[i].covers(q.pool, chosen, k)) continue;
                fresh = false;
                skip = q.known[i].level <= q.alpha;
            }
            if ((++ticks & test.every) == 0) {
                clock.poll();
                if (clock.late()) out.state = Found::ENDED;
            }
            if (!skip && fresh && done == q.max_tests) out.state = Found::ENDED;
            if (out.state == Found::ENDED) {
                out.here = members();
                return out;
            }
            if (!skip) {
                for (std::size_t i = first; i < k; ++i) test.push(base + i, given[base + i]);
                first = k;
                const double p = test.pvalue(base + k, out.any ? out.pvalue : -1.0);
                done += fresh;
                out.counts[base + k] += fresh;
                if (p > q.alpha || p > out.pvalue || !out.any) {
                    out.any = true;
                    out.pvalue = p;
                    out.closest = members();
                }
                if (p > q.alpha) {
                    out.state = Found::FOUND;
                    out.here = out.closest;
                    return out;
                }
            }
            const std::size_t changed = next_combination(chosen.data(), k, m);
            if (changed == k) break;
            first = std::min(first, changed);
        }
    }
    return out;
}

}  // namespace lmarvel
