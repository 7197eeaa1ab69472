// The order search as a whole: the twin of lmarvel.search.orders.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/watch.hpp"
#include "lift/orders/orders.hpp"
#include "lift/orders/settling.hpp"

namespace lmarvel {

template <int W, class Local>
class OrderSearch {
public:
    OrderSearch(Local& local, double noise, const LiftConstants& constants, const SearchLimits* known,
                std::size_t memory = Regressions<W, Local>::usual_memory)
        : found{}, best_(local, known, memory), m_(std::size_t(local.size())), noise_(noise), set_(constants),
          settling_(best_, noise) {}

    FoundOrder<W> found;  // the best, after families were turned

    // Search from orders, each of which names every variable once; `see` is called with what each led to.
    template <class See>
    void run(const std::vector<std::vector<int>>& starts, const Watch& watch, const See& see) {
        const auto check = [&watch] { watch.check(); };
        for (const auto& start : starts) {
            FoundOrder<W> settled = settling_.settle(start, set_.max_sweeps, check);
            see(settled);
            if (found.order.empty() || settled.score < found.score - noise_) found = std::move(settled);
        }
        settling_.turn_families(found, set_.family_rounds, set_, check);
    }

    // Append the variable that loses least by having only the earlier ones as parents.
    std::vector<int> forward(const Watch& watch) {
        Vector final(m_), now(m_);
        for (std::size_t v = 0; v < m_; ++v) {
            watch.check();
            final[v] = best_.score(int(v), [](int) { return true; }, [](int) {});
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
                    now[v] = best_.score(int(v), [&](int u) { return taken[std::size_t(u)]; },
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
    Regressions<W, Local> best_;
    std::size_t m_;
    double noise_;
    const LiftConstants& set_;
    Settling<W, Local> settling_;
};

}  // namespace lmarvel
