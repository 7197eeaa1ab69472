// Sweeps over orders until none moves, and families that are turned: the twin of settle and turn_families in
// lmarvel.search.orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "lift/orders/orders.hpp"

namespace lmarvel {

// What a sweep does depends only on the order that it begins with, and searches come together: where one went on from
// an order before, its end is known. So there is one of these for the regressions of one covariance.
template <int W, class Local>
class Settling {
public:
    using Order = FoundOrder<W>;

    Settling(Regressions<W, Local>& best, double noise) : best_(best), noise_(noise) {}

    // Move each variable to its best place until none moves. `check` is called before each move and may throw.
    template <class Check>
    Order settle(const std::vector<int>& start, int max_sweeps, const Check& check) {
        if (const End* end = known_end(start, max_sweeps)) return *end->found;
        Sweeper sweeper(best_, start);
        std::vector<std::vector<int>> passed{start};  // the orders that sweeps began with
        auto now = std::make_shared<const Order>(sweeper.result());
        int needed = 0;  // sweeps from the last of them to the end; the last one moves nothing
        for (int sweep = 1; sweep <= max_sweeps && !needed; ++sweep) {
            if (!swept(sweeper, passed.back(), check)) {
                needed = 1;
                break;
            }
            now = std::make_shared<const Order>(sweeper.result());
            passed.push_back(now->order);
            if (const End* end = known_end(now->order, max_sweeps - sweep)) now = end->found, needed = end->sweeps;
        }
        if (needed)
            for (std::size_t i = passed.size(); i-- > 0; ++needed) ends_[passed[i]] = {needed, now};
        return *now;
    }

    // The same for some variables only.
    template <class Check, class Chosen>
    Order settle_some(const std::vector<int>& start, int max_sweeps, const Check& check, const Chosen& chosen) {
        Sweeper sweeper(best_, start);
        Order now = sweeper.result();
        for (int sweep = 0; sweep < max_sweeps; ++sweep) {
            std::vector<int> moving;
            for (int v : now.order)
                if (chosen(v)) moving.push_back(v);
            if (!swept(sweeper, moving, check)) break;
            now = sweeper.result();
        }
        return now;
    }

    // Put a variable and then its parents in front and settle again, for all variables, until that does not help.
    template <class Check>
    void turn_families(Order& found, int rounds, int max_sweeps, const Check& check) {
        for (int round = 0; round < rounds; ++round) {
            const double start = found.score;
            for (int v : std::vector<int>(found.order)) {
                std::vector<int> order{v}, rest;
                for (int u : found.order)
                    if (found.parents[v].has(u)) order.push_back(u);
                    else if (u != v) rest.push_back(u);
                if (order.size() < 3) continue;
                order.insert(order.end(), rest.begin(), rest.end());
                Order turned = settle(order, max_sweeps, check);
                if (turned.score < found.score - noise_) found = std::move(turned);
            }
            if (found.score > start - noise_) return;
        }
    }

private:
    using Sweeper = typename Regressions<W, Local>::Sweeper;
    // Where sweeps from an order end, and after how many.
    struct End {
        int sweeps;
        std::shared_ptr<const Order> found;
    };
    struct HashOrder {
        std::size_t operator()(const std::vector<int>& order) const {
            std::uint64_t h = 0x9e3779b97f4a7c15ull;
            for (int v : order) h = mixed(h, std::uint64_t(v));
            return std::size_t(h);
        }
    };

    // Whether a variable has moved.
    template <class Check>
    bool swept(Sweeper& sweeper, const std::vector<int>& variables, const Check& check) const {
        bool moved = false;
        for (int v : variables) {
            check();
            moved |= sweeper.move(v, noise_);
        }
        return moved;
    }

    const End* known_end(const std::vector<int>& order, int sweeps) const {
        const auto known = ends_.find(order);
        return known != ends_.end() && known->second.sweeps <= sweeps ? &known->second : nullptr;
    }

    Regressions<W, Local>& best_;
    double noise_;
    std::unordered_map<std::vector<int>, End, HashOrder> ends_;
};

}  // namespace lmarvel
