#include "kinds/search.hpp"

#include <algorithm>
#include <numeric>

#include "lift/orders/order_search.hpp"
#include "lift/width.hpp"

namespace lmarvel {

namespace {

template <int W>
void search(KindLocal& local, const KindTask& task, const Watch& watch, KindOutcome& out) {
    OrderSearch<W, KindLocal> orders({&local}, task.noise, task.constants, task.known);
    const auto see = [&out](const FoundOrder<W>& found) {
        ScoredParents kept{found.score, std::vector<std::vector<int>>(found.parents.size())};
        for (std::size_t v = 0; v < found.parents.size(); ++v) found.parents[v].members(kept.parents[v]);
        out.met.push_back(std::move(kept));
    };
    std::vector<int> as_is(std::size_t(local.size()));
    std::iota(as_is.begin(), as_is.end(), 0);
    std::vector<std::vector<int>> starts{orders.forward(watch), as_is, {as_is.rbegin(), as_is.rend()}};
    starts.insert(starts.end(), task.more.begin(), task.more.end());
    orders.run(starts, watch, see);
    see(orders.found);
}

}  // namespace

Ending search_kinds(KindLocal& local, const KindTask& task, const Clock& clock, const Teller& teller, KindOutcome& out) {
    return ending_of([&] {
        const Watch watch(clock, teller);
        const int p = local.size();
        try {
            with_width(p, [&](auto width) { search<decltype(width)::value>(local, task, watch, out); });
        } catch (const BudgetSpent&) {
            out.late = true;
        }
    });
}

Ending value_kinds(KindLocal& local, int v, const std::vector<int>& parents, double& value, std::vector<Index>& bends) {
    return ending_of([&] {
        value = local.value_of(v, parents);
        bends = local.bends_of(v, parents);
    });
}

}  // namespace lmarvel
