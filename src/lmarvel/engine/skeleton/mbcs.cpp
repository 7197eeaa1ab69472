// MBCS*, the collider-set search on Markov boundaries: the twin of skeleton/mbcs.
#include <algorithm>
#include <iterator>

#include "base/combinations.hpp"
#include "skeleton/pruning.hpp"

namespace lmarvel {

void Mbcs::run(const Teller& tell) {
    std::vector<Pair> edges;
    for (Index x = 0; x < p_; ++x) {
        start_.each(x, [&](Index y) { if (x < y && start_.meets(x, start_, y)) edges.emplace_back(x, y); });
    }
    struct Link { Index x, y; Span set; double pvalue; };
    std::vector<Link> spouses;
    try {
        std::int64_t done = 0;
        for (const auto& [x, y] : edges) {
            tell(COLLIDER_SET, done++, static_cast<std::int64_t>(edges.size()));
            ledger_.clock.check();
            const Separator found = collider_set_search(x, y);
            if (found.any) spouses.push_back(Link{x, y, arena_.keep(found.set), found.pvalue});
        }
    } catch (const BudgetSpent& reason) {
        spent(reason);
    }
    // Together, so that no search sees a graph that others have changed.
    for (const Link& link : spouses) separate(COLLIDER_SET, link.x, link.y, link.set, link.pvalue);
    if (ended.reason != Reason::NONE) return;
    try {
        settle_gaps();
    } catch (const BudgetSpent& reason) {
        spent(reason);
    }
}

// Search a separating set of an edge in a triangle.
Mbcs::Separator Mbcs::collider_set_search(Index x, Index y) {
    triangle_.clear();
    start_.each_shared(x, start_, y, [&](Index v) { triangle_.push_back(v); });
    const bool of_x = start_.count(x) <= start_.count(y);
    rest_.clear();
    start_.each(of_x ? x : y, [&](Index v) {
        if (v != x && v != y && !start_.has(of_x ? y : x, v)) rest_.push_back(v);
    });
    label_components(x, y);
    // The part of the rest that each common neighbour reaches, once x and y are deleted, is that of its component.
    const auto part = [this](Index v) { return component_[static_cast<std::size_t>(v)]; };
    const auto reaches = [&](Index v) {
        return std::any_of(rest_.begin(), rest_.end(), [&](Index w) { return part(v) == part(w); });
    };
    const auto m = triangle_.size();
    if (std::none_of(triangle_.begin(), triangle_.end(), reaches)) {  // they are then all there is to choose from
        return search(x, y, triangle_, rest_, static_cast<std::int64_t>(m));
    }
    std::vector<std::size_t> kept;
    std::vector<std::uint8_t> opened(static_cast<std::size_t>(p_), 0);  // by component
    std::vector<Index> harmful, always;
    while (true) {
        // Members of the rest that an open collider among the common neighbours could make harmful.
        harmful.clear();
        always.clear();
        std::size_t at = 0;
        for (std::size_t i = 0; i < m; ++i) {
            if (at < kept.size() && kept[at] == i) { always.push_back(triangle_[i]); ++at; }
            else opened[static_cast<std::size_t>(part(triangle_[i]))] = 1;
        }
        for (Index w : rest_) (opened[static_cast<std::size_t>(part(w))] ? harmful : always).push_back(w);
        for (Index v : triangle_) opened[static_cast<std::size_t>(part(v))] = 0;
        std::sort(always.begin(), always.end());
        Separator found = all_or_some(x, y, harmful, always);
        if (found.any) return found;
        // The next set of common neighbours that are kept, by size, then in order.
        if (next_combination(kept.data(), kept.size(), m) == kept.size()) {
            if (kept.size() == m) return {};
            kept.resize(kept.size() + 1);
            first_combination(kept.data(), kept.size());
        }
    }
}

// Label what is connected in the boundary graph once x and y are deleted; only common neighbours are begun from.
void Mbcs::label_components(Index x, Index y) {
    component_.assign(static_cast<std::size_t>(p_), -1);
    component_[static_cast<std::size_t>(x)] = component_[static_cast<std::size_t>(y)] = -2;
    Index label = 0;
    std::vector<Index> stack;
    for (Index v : triangle_) {
        if (component_[static_cast<std::size_t>(v)] != -1) continue;
        component_[static_cast<std::size_t>(v)] = label;
        stack.assign(1, v);
        while (!stack.empty()) {
            const Index w = stack.back();
            stack.pop_back();
            start_.each(w, [&](Index u) {
                if (component_[static_cast<std::size_t>(u)] != -1) return;
                component_[static_cast<std::size_t>(u)] = label;
                stack.push_back(u);
            });
        }
        ++label;
    }
    for (Index& c : component_) if (c < 0) c = label;  // none of them reaches it; label < p
}

// Test x and y given `always` and all of the harmful members, then given each subset of these.
Mbcs::Separator Mbcs::all_or_some(Index x, Index y, const std::vector<Index>& harmful,
                                  const std::vector<Index>& always) {
    std::vector<Index> everything;
    std::merge(harmful.begin(), harmful.end(), always.begin(), always.end(), std::back_inserter(everything));
    if (static_cast<std::int64_t>(everything.size()) <= ledger_.budget.largest_set) {
        const double p = ledger_.pvalue(COLLIDER_SET, x, y, everything, true);
        if (p > alpha_) return {true, everything, p};
    } else {
        unfinished_.add(x, y);
    }
    if (harmful.empty()) return {};
    return search(x, y, harmful, always, static_cast<std::int64_t>(harmful.size()) - 1);
}

// Search through `always` with at most so many members of a pool.
Mbcs::Separator Mbcs::search(Index x, Index y, const std::vector<Index>& pool, const std::vector<Index>& always,
                             std::int64_t most) {
    Search how{COLLIDER_SET, alpha_};
    how.always = always.data();
    how.n_always = static_cast<std::int64_t>(always.size());
    how.max_size = most;
    how.once = true;
    const Answer answer = ledger_.search(x, y, pool, how);
    if (!answer.complete) unfinished_.add(x, y);
    if (answer.sepset.none()) return {};
    return {true, arena_.copy(answer.sepset), answer.pvalue};
}

}  // namespace lmarvel
