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

template <int W>
class OrderSearch {
public:
    // The covariance of m variables and its inverse.
    OrderSearch(const double* covariance, const Vector& precision, int m, double n, double price, double noise,
                const LiftConstants& constants, const SearchLimits* known)
        : found{}, best_(covariance, m, n, price, known), precision_(precision), m_(std::size_t(m)), n_(n),
          price_(price), noise_(noise), set_(constants), settling_(best_, noise) {}

    FoundOrder<W> found;  // the best, after families were turned

    // Search from the fixed starts, then from `more`, each of which names every variable once; `see` is called with what
    // each start led to.
    template <class See>
    void run(const std::vector<std::vector<int>>& more, const Watch& watch, const See& see) {
        const auto check = [&watch] { watch.check(); };
        const std::vector<int> last = smallest_boundary_last(precision_);
        std::vector<int> up(m_);
        for (std::size_t v = 0; v < m_; ++v) up[v] = int(v);
        std::stable_sort(up.begin(), up.end(), [&](int a, int b) {
            return precision_[std::size_t(a) * (m_ + 1)] < precision_[std::size_t(b) * (m_ + 1)];
        });
        std::vector<std::vector<int>> starts{last, forward(watch), up, reversed(up), reversed(last)};
        starts.insert(starts.end(), more.begin(), more.end());
        for (const auto& start : starts) {
            FoundOrder<W> settled = settling_.settle(start, set_.max_sweeps, check);
            see(settled);
            if (found.order.empty() || settled.score < found.score - noise_) found = std::move(settled);
        }
        settling_.turn_families(found, set_.family_rounds, set_.family_sweeps, check);
    }

private:
    static std::vector<int> reversed(std::vector<int> order) {
        std::reverse(order.begin(), order.end());
        return order;
    }

    // Take off, as last, the variable with the smallest Markov boundary; of equals the best predicted one.
    std::vector<int> smallest_boundary_last(Vector K) const {
        std::vector<int> left(m_), order;
        for (std::size_t v = 0; v < m_; ++v) left[v] = int(v);
        for (std::size_t k = m_; k; --k) {  // K is k x k
            std::size_t last = 0;
            int smallest = 0;
            for (std::size_t i = 0; i < k; ++i) {
                int size = 0;
                for (std::size_t j = 0; j < k; ++j) {
                    const double partial = K[i * k + j] * K[i * k + j] / (K[i * k + i] * K[j * k + j]);
                    size += -n_ * std::log(std::max(1 - partial, 1e-12)) > price_;
                }
                const bool better = K[i * k + i] > K[last * k + last] * (1 + set_.alike);
                if (!i || size < smallest || (size == smallest && better))
                    last = i, smallest = size;
            }
            order.push_back(left[last]);
            left.erase(left.begin() + std::ptrdiff_t(last));
            K = without(K, k, last);
        }
        return reversed(order);
    }

    // The inverse covariance of all but one.
    static Vector without(const Vector& K, std::size_t k, std::size_t last) {
        Vector rest;
        rest.reserve((k - 1) * (k - 1));
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j < k; ++j)
                if (i != last && j != last)
                    rest.push_back(K[i * k + j] - K[i * k + last] * K[j * k + last] / K[last * k + last]);
        return rest;
    }

    // Append the variable that loses least by having only the earlier ones as parents.
    std::vector<int> forward(const Watch& watch) {
        Bits<W> before;
        for (std::size_t v = 0; v < m_; ++v) before.add(int(v));
        Vector final(m_), now(m_);
        for (std::size_t v = 0; v < m_; ++v) {
            watch.check();
            final[v] = best_.best(int(v), before.without(int(v))).score();
        }
        before = {};
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
                    const auto family = best_.best(int(v), before);
                    now[v] = family.score(), tempting[v] = family.tempting, stale[v] = 0;
                }
                const double loss = std::nearbyint((now[v] - final[v]) * 1e6);  // equals by number
                if (chosen < 0 || loss < least) chosen = int(v), least = loss;
            }
            order.push_back(chosen);
            taken[std::size_t(chosen)] = 1;
            before.add(chosen);
            for (std::size_t v = 0; v < m_; ++v)
                if (!taken[v] && tempting[v].has(chosen)) stale[v] = 1;
        }
        return order;
    }

    Regressions<W> best_;
    const Vector& precision_;
    std::size_t m_;
    double n_, price_, noise_;
    const LiftConstants& set_;
    Settling<W> settling_;
};

}  // namespace lmarvel
