// The PC search in its order-independent form, and what FCI and RFCI share after it.
#include "skeleton/pruning.hpp"

#include <algorithm>

#include "base/combinations.hpp"

namespace lmarvel {

namespace {
constexpr std::size_t PART = 4096;  // pairs that are searched from one end before they are from the other
}  // namespace

Pruning::Pruning(Ledger& ledger, SetStore& arena, const Boundaries& boundaries, const Options& options)
    : State(ledger, arena, boundaries, options.alpha, true), options_(options) {}

void Pruning::run(const Teller& tell) {
    try {
        pc_stable(tell);
        go_on(tell);
        if (ended.reason != Reason::NONE) return;  // tests ran out while paths were checked
        settle_gaps();
        if (options_.colliders != Colliders::STANDARD) classify();
    } catch (const BudgetSpent& reason) {
        spent(reason);
    }
}

// Search a separating set of k variables of a pool; cut the edge if there is one.
bool Pruning::cut_if_separated(Phase phase, Index x, Index y, const std::vector<Index>& pool, Span kept,
                               std::int64_t k) {
    // A p-value above 1 is never found, so the search goes on to the end and its answer is the largest p-value.
    const bool all = options_.max_p;
    Search how{phase, all ? 1.0 : alpha_, all};
    how.min_size = how.max_size = k;
    how.kept = kept;
    const Answer answer = ledger_.search(x, y, pool, how);
    if (!answer.strongest.none() && answer.pvalue > alpha_) {
        separate(phase, x, y, answer.strongest, answer.pvalue);
        return true;
    }
    if (!answer.complete) unfinished_.add(x, y);
    return false;
}

// For k = 0, 1, .. test each edge given the sets of k variables adjacent to one end, as they stood when k began.
void Pruning::pc_stable(const Teller& tell) {
    std::vector<Index> degree(static_cast<std::size_t>(p_)), around;
    for (std::int64_t k = 0;; ++k) {
        const Rows before = adjacent_;
        for (Index x = 0; x < p_; ++x) degree[static_cast<std::size_t>(x)] = before.count(x);
        const Index most = *std::max_element(degree.begin(), degree.end());
        if (most <= k) return;
        const auto is_due = [&](Index x, Index y) {
            return std::max(degree[static_cast<std::size_t>(x)], degree[static_cast<std::size_t>(y)]) > k;
        };
        if (k > ledger_.budget.largest_set) {
            for (Index x = 0; x < p_; ++x) {
                adjacent_.each(x, [&](Index y) { if (x < y && is_due(x, y)) unfinished_.add(x, y); });
            }
            return;
        }
        tell(ADJACENCY, k, most);
        std::vector<Span> kept(static_cast<std::size_t>(p_), Span{0, 0});
        for (Index x = 0; x < p_ && k > 0; ++x) {
            before.list(x, around);
            kept[static_cast<std::size_t>(x)] = arena_.keep(around);
        }
        std::vector<Pair> edges;
        for (Index x = 0; x < p_; ++x) {
            before.each(x, [&](Index y) {
                if (x > y || !is_due(x, y)) return;
                edges.emplace_back(x, y);
                if (edges.size() < PART) return;
                search_edges(edges, before, kept, k);
                edges.clear();
            });
        }
        search_edges(edges, before, kept, k);
    }
}

// Search each edge from its first end, and those that are left from the second.
void Pruning::search_edges(const std::vector<Pair>& edges, const Rows& before, const std::vector<Span>& kept,
                           std::int64_t k) {
    const auto cut = [&](Index from, Index x, Index y) {
        pool_.clear();
        if (k > 0) before.list(from, pool_, x, y);  // the empty set is a subset of any pool
        return cut_if_separated(ADJACENCY, x, y, pool_, kept[static_cast<std::size_t>(from)], k);
    };
    if (!edges.empty()) ledger_.clock.check();
    std::vector<Pair> left;
    for (const auto& [x, y] : edges) if (!cut(x, x, y)) left.emplace_back(x, y);
    for (const auto& [x, y] : left) cut(y, x, y);
}

// --- colliders --------------------------------------------------------------------------------------------

bool Pruning::collides(Index v, Index a, Index b, Index c) const {
    if (v == a && !colliders_.empty()) {
        const auto known = colliders_.find(Triple{std::min(a, c), b, std::max(a, c)});
        if (known != colliders_.end()) return known->second;
    }
    return is_collider(v, b, c);
}

bool Pruning::in_doubt(Index a, Index b, Index c) const {
    if (State::in_doubt(a, b, c)) return true;
    return !ambiguous_.empty() && ambiguous_.count(Triple{std::min(a, c), b, std::max(a, c)});
}

namespace {

// The subsets of a list by size, then in order.
class Subsets {
public:
    Subsets(const std::vector<Index>& list, std::int64_t largest)
        : list_(list), largest_(std::min<std::size_t>(list.size(), static_cast<std::size_t>(largest))) {}

    const std::vector<Index>& set() const { return set_; }
    bool done() const { return done_; }
    bool operator<(const Subsets& o) const {
        if (done_ || o.done_) return !done_;
        return set_.size() != o.set_.size() ? set_.size() < o.set_.size() : set_ < o.set_;
    }
    void next() {
        const std::size_t k = at_.size();
        if (next_combination(at_.data(), k, list_.size()) == k) {
            if (k == largest_) { done_ = true; return; }
            at_.resize(k + 1);
            first_combination(at_.data(), k + 1);
        }
        set_.clear();
        for (std::size_t d : at_) set_.push_back(list_[d]);
    }

private:
    const std::vector<Index>& list_;
    const std::size_t largest_;
    std::vector<std::size_t> at_;
    std::vector<Index> set_;
    bool done_ = false;
};

}  // namespace

// Conservative and majority-rule colliders: look at all sets that separate the ends of a triple.
void Pruning::classify() {
    const bool conservative = options_.colliders == Colliders::CONSERVATIVE;
    std::vector<Index> around;
    for (Index b = 0; b < p_; ++b) {
        adjacent_.list(b, around);
        each_pair(around, [&](Index a, Index c) {
            if (adjacent_.has(a, c)) return;
            const double share = share_of(b, a, c);
            const bool certain = conservative ? share == 0.0 || share == 1.0 : share != 0.5;
            colliders_[Triple{a, b, c}] = certain && share < 0.5;
            if (!certain) ambiguous_.insert(Triple{a, b, c});
        });
    }
}

// The share of the sets of variables adjacent to a, or to c, that separate the two which hold b.
double Pruning::share_of(Index b, Index a, Index c) {
    const auto& [sets, holding] = separating(a, c);
    const auto at = holding.find(b);
    return at == holding.end() ? 0.0 : static_cast<double>(at->second) / static_cast<double>(sets);
}

// How many sets separate a pair, and how many of them each variable is in; worked out once for all its triples.
const Pruning::Separating& Pruning::separating(Index a, Index c) {
    const auto known = separating_.find(Pair{a, c});
    if (known != separating_.end()) return known->second;
    Separating found;
    const auto enter = [&found](const std::vector<Index>& given) {
        ++found.sets;
        for (Index v : given) ++found.holding[v];
    };
    std::vector<Index> of_a, of_c;
    adjacent_.list(a, of_a);
    adjacent_.list(c, of_c);
    Subsets one(of_a, ledger_.budget.largest_set), two(of_c, ledger_.budget.largest_set);
    while (!one.done() || !two.done()) {
        const bool first = !(two < one), second = !(one < two);  // both where they are equal
        const std::vector<Index> given = first ? one.set() : two.set();
        if (first) one.next();
        if (second) two.next();
        if (ledger_.pvalue(TRIPLES, a, c, given) > alpha_) enter(given);
    }
    if (found.sets == 0) {
        const Span stored = lookup(a, c);
        enter(stored.none() ? std::vector<Index>{} : arena_.copy(stored));
    }
    return separating_[Pair{a, c}] = std::move(found);
}

}  // namespace lmarvel
