#include "independence/boundaries.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "independence/growth.hpp"

namespace lmarvel {

namespace {

using Set = std::vector<Index>;  // ascending

// --- what was asked ---------------------------------------------------------------------------------------

struct HashSet {
    std::size_t operator()(const Set& set) const {
        std::uint64_t h = 0x9E3779B97F4A7C15ull;
        for (Index v : set) h = (h ^ static_cast<std::uint64_t>(v)) * 0xFF51AFD7ED558CCDull + (h >> 29);
        return static_cast<std::size_t>(h ^ (h >> 32));
    }
};

// Which tests were made, so that each counts once: see Rounds. Targets come in ascending order.
class Asked {
public:
    explicit Asked(FoundBoundaries& found) : found_(found) {}

    std::int64_t outside(Index target, const Set& members, Index n) {
        Entry& entry = entries_[members];
        if (!entry.targets.empty() && entry.targets.back() == target) return 0;
        auto known = static_cast<std::int64_t>(entry.targets.size());
        for (const auto& [x, y] : entry.pairs) {
            const Index other = x == target ? y : x;
            if ((x == target || y == target) && !entry.has(other)) ++known;
        }
        entry.targets.push_back(target);
        write(target, -1, members);
        return n - 1 - static_cast<std::int64_t>(members.size()) - known;
    }
    std::int64_t inside(Index target, const Set& members) {
        std::int64_t fresh = 0;
        for (Index v : members) {
            Set rest;
            for (Index m : members) if (m != v) rest.push_back(m);
            Entry& entry = entries_[rest];
            const std::pair<Index, Index> pair{std::min(target, v), std::max(target, v)};
            const bool known = entry.has(target) || entry.has(v)
                || std::find(entry.pairs.begin(), entry.pairs.end(), pair) != entry.pairs.end();
            if (known) continue;
            entry.pairs.push_back(pair);
            write(pair.first, pair.second, rest);
            ++fresh;
        }
        return fresh;
    }

private:
    struct Entry {
        std::vector<Index> targets;  // ascending
        std::vector<std::pair<Index, Index>> pairs;
        bool has(Index v) const { return std::binary_search(targets.begin(), targets.end(), v); }
    };
    FoundBoundaries& found_;
    std::unordered_map<Set, Entry, HashSet> entries_;

    void write(Index x, Index y, const Set& set) {
        found_.asked_x.push_back(x);
        found_.asked_y.push_back(y);
        found_.asked.add(set);
    }
};

// --- the searches -----------------------------------------------------------------------------------------

class Searcher {
public:
    Searcher(const BoundaryTask& task, FoundBoundaries& found, const Clock& clock)
        : task_(task), found_(found), clock_(clock), growth_(task, clock), asked_(found), tests_(task.tests) {}

    // Search the boundary of a target; what still depends on it where a limit on sizes ended the growth counts too.
    Set boundary(Index target) {
        growth_.start(target);
        const bool complete = search();
        Set members = growth_.set(), left;
        if (!complete) {
            const double critical = candidates();
            for (Index v = 0; v < task_.p; ++v) if (evidence(v) > critical) left.push_back(v);
        }
        if (left.empty()) return members;
        Set all;
        std::set_union(members.begin(), members.end(), left.begin(), left.end(), std::back_inserter(all));
        found_.truncated.push_back(target);
        found_.had.add(members);
        found_.kept.add(all);
        return all;
    }

private:
    const BoundaryTask& task_;
    FoundBoundaries& found_;
    const Clock& clock_;
    Growth growth_;
    Asked asked_;
    std::int64_t tests_;
    std::uint64_t ticks_ = 0;

    double evidence(Index v) const { return growth_.evidence[static_cast<std::size_t>(v)]; }
    std::int64_t size() const { return static_cast<std::int64_t>(growth_.members.size()); }

    void spend(std::int64_t given, std::int64_t tests) {
        if ((++ticks_ & 63) == 0) clock_.poll();
        if (tests && task_.max_tests >= 0 && tests_ + tests > task_.max_tests) throw BudgetSpent{Reason::TESTS};
        clock_.check();
        if (!tests) return;
        const auto at = static_cast<std::size_t>(given);
        if (at >= found_.counts.size()) found_.counts.resize(at + 1, 0);
        found_.counts[at] += tests;
        tests_ += tests;
    }
    double candidates() {
        spend(size(), asked_.outside(growth_.target, growth_.set(), task_.p));
        growth_.candidates();
        return growth_.critical(size());
    }
    double inside() {
        spend(size() - 1, asked_.inside(growth_.target, growth_.set()));
        growth_.inside();
        return growth_.critical(size() - 1);
    }
    // Remove members that are independent of the target given the others, weakest first.
    void shrink() {
        while (size() > 0) {
            const double critical = inside();
            const Index weakest = *std::min_element(growth_.members.begin(), growth_.members.end(), [&](Index a, Index b) {
                return evidence(a) != evidence(b) ? evidence(a) < evidence(b) : a < b;
            });
            if (evidence(weakest) > critical) break;
            growth_.remove(weakest);
        }
    }
    Index add_strongest(const std::vector<Index>& banned) {
        const double critical = candidates();
        for (Index v : banned) growth_.evidence[static_cast<std::size_t>(v)] = NOTHING;
        const auto strongest = static_cast<Index>(place_of_largest(growth_.evidence.data(), growth_.evidence.size()));
        if (!(evidence(strongest) > critical)) return -1;
        growth_.add(strongest);
        return strongest;
    }
    std::vector<Index> by_strength() const {
        std::vector<Index> order(static_cast<std::size_t>(task_.p));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return evidence(a) > evidence(b); });
        return order;
    }

    bool search() {
        switch (task_.search) {
            case BoundarySearch::GROW_SHRINK: return grow_shrink();
            case BoundarySearch::IAMB: return iamb();
            case BoundarySearch::INTER_IAMB: return inter_iamb();
            default: return fast_iamb();
        }
    }
    bool grow_shrink() {
        double critical = candidates();
        const std::vector<Index> order = by_strength();
        bool complete = false;
        while (!complete && size() < task_.most) {
            const auto first = std::find_if(order.begin(), order.end(), [&](Index v) { return evidence(v) > critical; });
            complete = first == order.end();
            if (complete) break;
            growth_.add(*first);
            critical = candidates();
        }
        shrink();
        return complete;
    }
    bool iamb() {
        bool complete = false;
        while (!complete && size() < task_.most) complete = add_strongest({}) < 0;
        shrink();
        return complete;
    }
    // Shrink after every addition; a set that was there before bans the variable that led back to it.
    bool inter_iamb() {
        std::vector<Set> seen{Set{}};
        std::vector<Index> banned;
        while (size() < task_.most) {
            const Index added = add_strongest(banned);
            if (added < 0) return true;
            shrink();
            if (was_seen(seen)) banned.push_back(added);
        }
        return false;
    }
    // Take in all dependent candidates at once, strongest first, and shrink, until nothing changes.
    bool fast_iamb() {
        std::vector<Set> seen{Set{}};
        while (size() < task_.most) {
            const double critical = candidates();
            std::vector<Index> fresh;
            const std::int64_t room = task_.most - size();
            for (Index v : by_strength()) {
                if (static_cast<std::int64_t>(fresh.size()) == room || !(evidence(v) > critical)) break;
                fresh.push_back(v);
            }
            for (Index v : fresh) growth_.add(v);
            shrink();
            if (fresh.empty() || was_seen(seen)) return true;
        }
        return false;
    }
    bool was_seen(std::vector<Set>& seen) const {
        const Set now = growth_.set();
        const bool before = std::find(seen.begin(), seen.end(), now) != seen.end();
        seen.push_back(now);
        return before;
    }
};

// Keep what both ends found, or either.
void make_symmetric(std::vector<Set>& found, bool either) {
    std::vector<Set> result(found.size());
    for (std::size_t x = 0; x < found.size(); ++x) {
        for (Index y : found[x]) {
            const Set& theirs = found[static_cast<std::size_t>(y)];
            const bool both = std::binary_search(theirs.begin(), theirs.end(), static_cast<Index>(x));
            if (both || either) result[x].push_back(y);
            if (!both && either) result[static_cast<std::size_t>(y)].push_back(static_cast<Index>(x));
        }
    }
    for (Set& set : result) std::sort(set.begin(), set.end());
    found.swap(result);
}

}  // namespace

void find_boundaries(const BoundaryTask& task, FoundBoundaries& found, Poll poll, void* caller) {
    const Clock clock(task.seconds, poll, caller);
    Searcher searcher(task, found, clock);
    std::vector<Set> sets;
    try {
        for (Index target = 0; target < task.p; ++target) {
            found.reached = target;
            sets.push_back(searcher.boundary(target));
        }
    } catch (const BudgetSpent& spent) {
        found.reason = static_cast<std::int64_t>(spent.reason);
        return;
    }
    make_symmetric(sets, task.either);
    for (const Set& set : sets) found.sets.add(set);
}

}  // namespace lmarvel
