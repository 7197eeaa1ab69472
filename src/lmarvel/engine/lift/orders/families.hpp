// Families that are turned: the twin of turn_families in lmarvel.search.orders.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "lift/orders/settling.hpp"

namespace lmarvel {

// Put a variable before its parents and settle again, for all variables, until that does not help. What a turn leads to
// depends on the order alone: without another since, none is done again, and the next few are looked at together, one for
// each of the settlings, which are of the same table. The first that helps is taken, and the others are looked at again.
template <int W, class Local>
void turn_families(FoundOrder<W>& found, int rounds, const std::vector<Settling<W, Local>*>& settlings, double noise,
                   const LiftConstants& set, const Watch& watch) {
    if (rounds <= 0) return;
    const Workers workers(int(settlings.size()));
    const auto at_rest = [&] {
        auto sweeper = std::make_unique<Sweeper<W, Local>>(settlings[0]->at(found));
        sweeper->rate([&watch] { watch.check(); });
        return sweeper;
    };
    auto base = at_rest();
    int gains = 0;
    std::vector<int> turned_at(found.parents.size(), -1);
    for (int round = 0; round < rounds; ++round) {
        const double start = found.score;
        const std::vector<int> order = found.order;
        for (std::size_t at = 0; at < order.size();) {
            std::vector<int> next;  // as many as there are threads, and where they end
            std::size_t end = at;
            for (; end < order.size() && next.size() < workers.count(); ++end)
                if (turned_at[order[end]] != gains && found.parents[order[end]].count() >= 2) next.push_back(order[end]);
            std::vector<std::optional<FoundOrder<W>>> turned(next.size());
            workers.each(next.size(), watch, [&](std::size_t i, std::size_t worker, const Watch& own) {
                turned[i] = settlings[worker]->turned(found, *base, next[i], set, [&own] { own.check(); });
            });
            std::size_t taken = 0;
            while (taken < next.size() && !turned[taken]) ++taken;
            const int last = taken < next.size() ? next[taken] : -1;
            for (bool done = false; !done && at < end; ++at) {
                turned_at[order[at]] = gains;
                done = order[at] == last;
            }
            if (last < 0) continue;
            found = std::move(*turned[taken]);
            base = at_rest();
            ++gains;
        }
        if (found.score > start - noise) return;
    }
}

}  // namespace lmarvel
