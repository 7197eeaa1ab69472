// The order search as a whole: the twin of lmarvel.search.orders.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "lift/orders/families.hpp"
#include "lift/orders/orders.hpp"
#include "lift/orders/settling.hpp"

namespace lmarvel {

template <int W, class Local>
class OrderSearch {
public:
    // One table for each thread, all the same.
    OrderSearch(const std::vector<Local*>& locals, double noise, const LiftConstants& constants, const SearchLimits* known,
                std::size_t memory = Regressions<W, Local>::usual_memory)
        : found{}, m_(std::size_t(locals[0]->size())), noise_(noise), set_(constants), workers_(int(locals.size())) {
        for (Local* local : locals) {
            best_.push_back(std::make_unique<Regressions<W, Local>>(*local, known, memory / locals.size()));
            settlings_.push_back(std::make_unique<Settling<W, Local>>(*best_.back(), noise));
        }
    }

    FoundOrder<W> found;  // the best, after families were turned

    // Search from orders, each of which names every variable once; `see` is called with what each led to.
    template <class See>
    void run(const std::vector<std::vector<int>>& starts, const Watch& watch, const See& see) {
        std::vector<std::optional<FoundOrder<W>>> settled(starts.size());
        const auto see_all = [&] {
            for (const auto& order : settled)
                if (order) see(*order);
        };
        try {
            workers_.each(starts.size(), watch, [&](std::size_t i, std::size_t worker, const Watch& own) {
                settled[i] = settlings_[worker]->settle(starts[i], set_.max_sweeps, [&own] { own.check(); });
            });
        } catch (const BudgetSpent&) {
            see_all();
            throw;
        }
        see_all();
        for (auto& order : settled)
            if (found.order.empty() || order->score < found.score - noise_) found = std::move(*order);
        std::vector<Settling<W, Local>*> settlings;
        for (const auto& settling : settlings_) settlings.push_back(settling.get());
        turn_families(found, set_.family_rounds, settlings, noise_, set_, watch);
    }

    // Append the variable that loses least by having only the earlier ones as parents.
    std::vector<int> forward(const Watch& watch) {
        Regressions<W, Local>& best = *best_[0];
        Vector final(m_), now(m_);
        for (std::size_t v = 0; v < m_; ++v) {
            watch.check();
            final[v] = best.score(int(v), [](int) { return true; }, [](int) {});
        }
        std::vector<int> order;
        // What a variable has among its predecessors changes only when one is tempting: see regressions.
        std::vector<char> taken(m_, 0), stale(m_, 1);
        std::vector<Bits<W>> tempting(m_);
        while (order.size() < m_) {
            watch.check();
            int chosen = -1;
            double least = 0.0;
            for (std::size_t v = 0; v < m_; ++v) {
                if (taken[v]) continue;
                if (stale[v]) {
                    tempting[v] = {};
                    now[v] = best.score(int(v), [&](int u) { return taken[std::size_t(u)]; },
                                         [&](int u) { tempting[v].add(u); });
                    stale[v] = 0;
                }
                const double loss = std::nearbyint((now[v] - final[v]) * 1e6);  // equals by number
                if (chosen < 0 || loss < least) chosen = int(v), least = loss;
            }
            order.push_back(chosen);
            taken[std::size_t(chosen)] = 1;
            for (std::size_t v = 0; v < m_; ++v)
                if (!taken[v] && tempting[v].has(chosen)) stale[v] = 1;
        }
        return order;
    }

private:
    std::vector<std::unique_ptr<Regressions<W, Local>>> best_;  // one for each thread, as are settlings
    std::vector<std::unique_ptr<Settling<W, Local>>> settlings_;
    std::size_t m_;
    double noise_;
    const LiftConstants& set_;
    const Workers workers_;
};

}  // namespace lmarvel
