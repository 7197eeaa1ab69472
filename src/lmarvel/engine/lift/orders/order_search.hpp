// The order search as a whole: the twin of lmarvel.search.orders.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/watch.hpp"
#include "lift/orders/orders.hpp"
#include "lift/orders/settling.hpp"

namespace lmarvel {

struct OrderSettings {
    double n, noise;
    int max_sweeps, family_sweeps, family_rounds;
};

class OrderSearch {
public:
    // A covariance matrix of at most as many variables as are compiled.
    OrderSearch(const double* covariance, int m, double price, const OrderSettings& settings)
        : regressions_(make_regressions(covariance, m, settings.n, price)), best_(*regressions_), m_(std::size_t(m)),
          price_(price), set_(settings), settling_(best_, m_, settings.noise) {}

    int words() const { return best_.words(); }

    std::vector<FoundOrder> settled;  // what each start led to, in turn
    FoundOrder found;                 // the best, after families were turned

    // `precision` is the inverse covariance; each of `more` names every variable once.
    Ended run(const double* precision, const std::vector<std::vector<int>>& more, const Clock& clock) {
        const Watch watch(clock);
        return watched([&] {
            const auto check = [&watch] { watch.check(); };
            const std::vector<int> last = smallest_boundary_last(Vector(precision, precision + m_ * m_));
            std::vector<int> up(m_);
            for (std::size_t v = 0; v < m_; ++v) up[v] = int(v);
            std::stable_sort(up.begin(), up.end(), [&](int a, int b) {
                return precision[std::size_t(a) * (m_ + 1)] < precision[std::size_t(b) * (m_ + 1)];
            });
            std::vector<std::vector<int>> starts{last, forward(watch), up, reversed(up), reversed(last)};
            starts.insert(starts.end(), more.begin(), more.end());
            for (const auto& start : starts) {
                settled.push_back(settling_.settle(start, set_.max_sweeps, check));
                if (settled.size() == 1 || settled.back().score < found.score - set_.noise) found = settled.back();
            }
            settling_.turn_families(found, set_.family_rounds, set_.family_sweeps, check);
        });
    }

private:
    static std::vector<int> reversed(std::vector<int> order) {
        std::reverse(order.begin(), order.end());
        return order;
    }

    static constexpr double kEqual = 1e-9;  // two variables predict each other equally well: rounding must not decide

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
                    size += -set_.n * std::log(std::max(1 - partial, 1e-12)) > price_;
                }
                const bool better = K[i * k + i] > K[last * k + last] * (1 + kEqual);
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
        const std::size_t words = std::size_t(best_.words());
        std::vector<std::uint64_t> before(words, 0), sets(3 * words);
        for (std::size_t v = 0; v < m_; ++v) before[v >> 6] |= std::uint64_t(1) << (v & 63);
        Vector final(m_), now(m_);
        for (std::size_t v = 0; v < m_; ++v) {
            watch.check();
            before[v >> 6] ^= std::uint64_t(1) << (v & 63);
            best_.family(int(v), before.data(), &final[v], sets.data());
            before[v >> 6] ^= std::uint64_t(1) << (v & 63);
        }
        std::fill(before.begin(), before.end(), 0);
        std::vector<int> order;
        std::vector<char> taken(m_, 0);
        // What a variable has among its predecessors changes only when one is tempting: see regressions.
        std::vector<char> stale(m_, 1);
        std::vector<std::vector<std::uint64_t>> tempting(m_);
        while (order.size() < m_) {
            watch.check();
            int chosen = -1;
            double least = 0.0;
            for (std::size_t v = 0; v < m_; ++v) {
                if (taken[v]) continue;
                if (stale[v]) {
                    best_.family(int(v), before.data(), &now[v], sets.data());
                    tempting[v].assign(sets.begin() + std::ptrdiff_t(2 * words), sets.end());
                    stale[v] = 0;
                }
                const double loss = std::nearbyint((now[v] - final[v]) * 1e6);  // equals by number
                if (chosen < 0 || loss < least) chosen = int(v), least = loss;
            }
            const std::size_t c = std::size_t(chosen);
            order.push_back(chosen);
            taken[c] = 1;
            before[c >> 6] |= std::uint64_t(1) << (c & 63);
            for (std::size_t v = 0; v < m_; ++v)
                if (!taken[v] && tempting[v][c >> 6] >> (c & 63) & 1) stale[v] = 1;
        }
        return order;
    }

    std::unique_ptr<AnyRegressions> regressions_;
    AnyRegressions& best_;
    std::size_t m_;
    double price_;
    OrderSettings set_;
    Settling settling_;
};

}  // namespace lmarvel
