// The order search as a whole: the twin of lmarvel.search.orders.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "orders.hpp"
#include "watch.hpp"

namespace lmarvel {

// An order of some variables, the parents of each (a row of words a variable), and the score of that DAG.
struct FoundOrder {
    std::vector<int> order;
    std::vector<std::uint64_t> parents;
    double score = 0.0;
};

struct OrderSettings {
    double n, noise;
    int max_sweeps, family_sweeps, family_rounds;
};

class OrderSearch {
public:
    // A covariance matrix of at most as many variables as are compiled.
    OrderSearch(const double* covariance, int m, double price, const OrderSettings& settings)
        : regressions_(make_regressions(covariance, m, settings.n, price)), best_(*regressions_), m_(std::size_t(m)),
          price_(price), set_(settings) {}

    int words() const { return best_.words(); }

    std::vector<FoundOrder> settled;  // what each start led to, in turn
    FoundOrder found;                 // the best, after families were turned

    // `precision` is the inverse covariance; each of `more` names every variable once.
    Ended run(const double* precision, const std::vector<std::vector<int>>& more, const Clock& clock) {
        return watched(clock, [&](Watch& watch) {
            const std::vector<int> last = smallest_boundary_last(Vector(precision, precision + m_ * m_));
            std::vector<int> up(m_);
            for (std::size_t v = 0; v < m_; ++v) up[v] = int(v);
            std::stable_sort(up.begin(), up.end(), [&](int a, int b) {
                return precision[std::size_t(a) * (m_ + 1)] < precision[std::size_t(b) * (m_ + 1)];
            });
            std::vector<std::vector<int>> starts{last, forward(watch), up, reversed(up), reversed(last)};
            starts.insert(starts.end(), more.begin(), more.end());
            for (const auto& start : starts) {
                settled.push_back(settle(start, set_.max_sweeps, watch));
                if (settled.size() == 1 || settled.back().score < found.score - set_.noise) found = settled.back();
            }
            turn_families(watch);
        });
    }

private:
    // Where sweeps from an order end, and after how many.
    struct End {
        int sweeps;
        std::shared_ptr<const FoundOrder> found;
    };
    struct HashOrder {
        std::size_t operator()(const std::vector<int>& order) const {
            std::uint64_t h = 0x9e3779b97f4a7c15ull;
            for (int v : order) h = mixed(h, std::uint64_t(v));
            return std::size_t(h);
        }
    };

    static std::vector<int> reversed(std::vector<int> order) {
        std::reverse(order.begin(), order.end());
        return order;
    }

    static bool has(const FoundOrder& found, std::size_t words, int v, int u) {
        return found.parents[std::size_t(v) * words + std::size_t(u >> 6)] >> (u & 63) & 1;
    }

    // Move each variable to its best place until none moves. What a sweep does depends only on the order that it begins
    // with, and searches come together: where one went on from here before, its end is known.
    FoundOrder settle(const std::vector<int>& start, int max_sweeps, Watch& watch) {
        if (const End* end = known_end(start, max_sweeps)) return *end->found;
        const auto sweeper = best_.sweeper(start);
        std::vector<std::vector<int>> passed{start};  // the orders that sweeps began with
        auto now = std::make_shared<const FoundOrder>(present(*sweeper, start.size()));
        int needed = 0;  // sweeps from the last of them to the end; the last one moves nothing
        for (int sweep = 1; sweep <= max_sweeps && !needed; ++sweep) {
            bool moved = false;
            for (int v : passed.back()) {
                watch.check();
                moved |= sweeper->move(v, set_.noise);
            }
            if (!moved) {
                needed = 1;
                break;
            }
            now = std::make_shared<const FoundOrder>(present(*sweeper, start.size()));
            passed.push_back(now->order);
            if (const End* end = known_end(now->order, max_sweeps - sweep)) now = end->found, needed = end->sweeps;
        }
        if (needed)
            for (std::size_t i = passed.size(); i-- > 0; ++needed) ends_[passed[i]] = {needed, now};
        return *now;
    }

    const End* known_end(const std::vector<int>& order, int sweeps) const {
        const auto known = ends_.find(order);
        return known != ends_.end() && known->second.sweeps <= sweeps ? &known->second : nullptr;
    }

    FoundOrder present(const AnySweeper& sweeper, std::size_t length) const {
        FoundOrder now{std::vector<int>(length), std::vector<std::uint64_t>(m_ * std::size_t(best_.words())), 0.0};
        Vector scores(length);
        sweeper.result(now.order.data(), scores.data(), now.parents.data());
        for (double score : scores) now.score += score;
        return now;
    }

    // Put a variable and then its parents in front and settle again, for all variables, until that does not help.
    void turn_families(Watch& watch) {
        const std::size_t words = std::size_t(best_.words());
        for (int round = 0; round < set_.family_rounds; ++round) {
            const double start = found.score;
            for (int v : std::vector<int>(found.order)) {
                std::vector<int> order{v}, rest;
                for (int u : found.order)
                    if (has(found, words, v, u)) order.push_back(u);
                    else if (u != v) rest.push_back(u);
                if (order.size() < 3) continue;
                order.insert(order.end(), rest.begin(), rest.end());
                FoundOrder turned = settle(order, set_.family_sweeps, watch);
                if (turned.score < found.score - set_.noise) found = std::move(turned);
            }
            if (found.score > start - set_.noise) return;
        }
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
    std::vector<int> forward(Watch& watch) {
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
    std::unordered_map<std::vector<int>, End, HashOrder> ends_;
};

}  // namespace lmarvel
