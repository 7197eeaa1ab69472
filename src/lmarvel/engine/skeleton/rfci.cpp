// RFCI's tests of unshielded triples and of discriminating paths: the twin of skeleton/rfci.
#include <algorithm>

#include "skeleton/pruning.hpp"

namespace lmarvel {

namespace {
constexpr std::size_t EXHAUSTIVE = 12;  // a set up to this size is searched for its smallest separating subset

void take_out(std::vector<Index>& set, Index v) {
    set.erase(std::remove(set.begin(), set.end(), v), set.end());
}
}  // namespace

bool Pruning::stands(const Triple& t) const {
    return adjacent_.has(t.x, t.y) && adjacent_.has(t.z, t.y) && !adjacent_.has(t.x, t.z);
}

// Test every unshielded triple of the graph as it stands, one middle after the other, and what that opens.
void Pruning::check_all_triples() {
    const Rows before = adjacent_;
    std::vector<Index> around;
    std::vector<Triple> opened;
    for (Index y = 0; y < p_; ++y) {
        before.list(y, around);
        for (std::size_t i = 0; i < around.size(); ++i) {
            ledger_.clock.check();
            for (std::size_t j = i + 1; j < around.size(); ++j) {
                if (!before.has(around[i], around[j])) check_triple(Triple{around[i], y, around[j]}, opened);
            }
        }
    }
    check_triples(std::move(opened));
}

// The triples among these, and among those that cuts open, that stand.
std::vector<Triple> Pruning::check_triples(std::vector<Triple> queue) {
    std::vector<Triple> accepted;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        const Triple t = queue[i];
        if (check_triple(t, queue)) accepted.push_back(t);
    }
    const auto gone = [this](const Triple& t) { return !stands(t); };
    accepted.erase(std::remove_if(accepted.begin(), accepted.end(), gone), accepted.end());
    return accepted;
}

// Test both edges of a triple given Sep(x, z) without y; what they leave unshielded is added to `opened`.
bool Pruning::check_triple(const Triple& t, std::vector<Triple>& opened) {
    if (!stands(t)) return false;
    const Span between = lookup(t.x, t.z);
    std::vector<Index> given = between.none() ? std::vector<Index>{} : arena_.copy(between);
    take_out(given, t.y);
    std::vector<Index> cuts;
    for (Index end : {t.x, t.z}) {
        const bool empty = given.empty() || (given.size() == 1 && given[0] == end);
        if (!empty && cut_given(end, t.y, given)) cuts.push_back(end);
    }
    for (Index end : cuts) {
        for (const Triple& next : over(end, t.y)) opened.push_back(next);
    }
    return cuts.empty();
}

// Cut x-y if `given` separates it, and store a small subset that does.
bool Pruning::cut_given(Index x, Index y, const std::vector<Index>& given) {
    std::vector<Index> zs = given;
    take_out(zs, x);
    take_out(zs, y);
    if (static_cast<std::int64_t>(zs.size()) > ledger_.budget.largest_set) {
        unfinished_.add(x, y);
        return false;
    }
    double p = ledger_.pvalue(TRIPLES, x, y, zs);
    if (p <= alpha_) return false;
    Span set;
    if (zs.size() <= EXHAUSTIVE) {
        const Answer answer = ledger_.find_sepset(TRIPLES, x, y, zs, false, alpha_);
        set = answer.sepset;
        if (!set.none()) p = answer.pvalue;
    } else {
        for (Index z : std::vector<Index>(zs)) {
            std::vector<Index> fewer = zs;
            take_out(fewer, z);
            const double thinner = ledger_.pvalue(TRIPLES, x, y, fewer);
            if (thinner > alpha_) {
                zs = std::move(fewer);
                p = thinner;
            }
        }
    }
    separate(TRIPLES, x, y, set.none() ? arena_.keep(zs) : set, p);
    return true;
}

// --- discriminating paths ---------------------------------------------------------------------------------

// The unshielded triples over the gap u, w.
std::vector<Triple> Pruning::over(Index u, Index w) const {
    std::vector<Triple> triples;
    adjacent_.each_shared(u, adjacent_, w, [&](Index m) {
        triples.push_back(Triple{std::min(u, w), m, std::max(u, w)});
    });
    return triples;
}

// Whether a budget kept the edges of a triple from being tested.
bool Pruning::is_unchecked(const Triple& t) const {
    return spent_on_paths_ || unfinished_.has(t.x, t.y) || unfinished_.has(t.z, t.y);
}

// Cut the first edge of the path that is none; else keep whether the path stands.
bool Pruning::cut_first(const Path& path, Pair& cut) {
    const Span between = lookup(path.front(), path.back());
    const std::vector<Index> given = between.none() ? std::vector<Index>{} : arena_.copy(between);
    bool tested = true;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        std::vector<Index> pool = given;
        take_out(pool, path[i]);
        take_out(pool, path[i + 1]);
        Search how{TRIPLES, alpha_};
        how.min_size = 1;
        const Answer answer = ledger_.search(path[i], path[i + 1], pool, how);
        if (keep(TRIPLES, path[i], path[i + 1], answer)) {
            cut = {path[i], path[i + 1]};
            return true;
        }
        tested = tested && answer.complete;
    }
    stands_[path] = tested;
    return false;
}

// Tell whether all edges of a path stand, else what was cut and which colliders follow. What a budget keeps from being
// tested is not to be used: its edges may be too many.
Verdict Pruning::check(const Path& path) {
    Verdict verdict;
    const auto known = stands_.find(path);
    if (known != stands_.end()) verdict.stands = known->second;
    if (spent_on_paths_ || known != stands_.end()) return verdict;
    const std::size_t done = events.size();
    std::vector<Triple> standing;
    try {
        Pair cut;
        if (!cut_first(path, cut)) {
            verdict.stands = stands_[path];
            return verdict;
        }
        standing = check_triples(over(cut.first, cut.second));
    } catch (const BudgetSpent& reason) {
        spent_on_paths_ = true;
        if (ended.reason == Reason::NONE) ended = reason;  // the edges stand as RFCI's edges do
    }
    for (std::size_t i = done; i < events.size(); ++i) {
        if (events[i].kind != Event::SEPARATED) continue;
        verdict.cuts.emplace_back(static_cast<Index>(events[i].x), static_cast<Index>(events[i].y));
    }
    for (const auto& [x, y] : verdict.cuts) {
        for (const Triple& t : over(x, y)) if (is_unchecked(t)) verdict.unchecked.push_back(t);
    }
    for (const Triple& t : standing) if (collides(t.x, t.x, t.y, t.z)) verdict.colliders.push_back(t);
    return verdict;
}

}  // namespace lmarvel
