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

// An order of some variables, the parents of each (a row of words a variable), and the score of that DAG.
struct FoundOrder {
    std::vector<int> order;
    std::vector<std::uint64_t> parents;
    double score = 0.0;
};

// What a sweep does depends only on the order that it begins with, and searches come together: where one went on from
// an order before, its end is known. So there is one of these for the regressions of one covariance.
class Settling {
public:
    Settling(AnyRegressions& best, std::size_t m, double noise) : best_(best), m_(m), noise_(noise) {}

    // Move each variable to its best place until none moves. `check` is called before each move and may throw.
    template <class Check>
    FoundOrder settle(const std::vector<int>& start, int max_sweeps, const Check& check) {
        if (const End* end = known_end(start, max_sweeps)) return *end->found;
        const auto sweeper = best_.sweeper(start);
        std::vector<std::vector<int>> passed{start};  // the orders that sweeps began with
        auto now = std::make_shared<const FoundOrder>(present(*sweeper, start.size()));
        int needed = 0;  // sweeps from the last of them to the end; the last one moves nothing
        for (int sweep = 1; sweep <= max_sweeps && !needed; ++sweep) {
            if (!swept(*sweeper, passed.back(), check)) {
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

    // The same for some variables only.
    template <class Check, class Chosen>
    FoundOrder settle_some(const std::vector<int>& start, int max_sweeps, const Check& check, const Chosen& chosen) const {
        const auto sweeper = best_.sweeper(start);
        FoundOrder now = present(*sweeper, start.size());
        for (int sweep = 0; sweep < max_sweeps; ++sweep) {
            std::vector<int> moving;
            for (int v : now.order)
                if (chosen(v)) moving.push_back(v);
            if (!swept(*sweeper, moving, check)) break;
            now = present(*sweeper, start.size());
        }
        return now;
    }

    // Put a variable and then its parents in front and settle again, for all variables, until that does not help.
    template <class Check>
    void turn_families(FoundOrder& found, int rounds, int max_sweeps, const Check& check) {
        for (int round = 0; round < rounds; ++round) {
            const double start = found.score;
            for (int v : std::vector<int>(found.order)) {
                std::vector<int> order{v}, rest;
                for (int u : found.order)
                    if (has(found, v, u)) order.push_back(u);
                    else if (u != v) rest.push_back(u);
                if (order.size() < 3) continue;
                order.insert(order.end(), rest.begin(), rest.end());
                FoundOrder turned = settle(order, max_sweeps, check);
                if (turned.score < found.score - noise_) found = std::move(turned);
            }
            if (found.score > start - noise_) return;
        }
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

    bool has(const FoundOrder& found, int v, int u) const {
        return found.parents[std::size_t(v) * std::size_t(best_.words()) + std::size_t(u >> 6)] >> (u & 63) & 1;
    }

    // Whether a variable has moved.
    template <class Check>
    bool swept(AnySweeper& sweeper, const std::vector<int>& variables, const Check& check) const {
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

    FoundOrder present(const AnySweeper& sweeper, std::size_t length) const {
        FoundOrder now{std::vector<int>(length), std::vector<std::uint64_t>(m_ * std::size_t(best_.words())), 0.0};
        Vector scores(length);
        sweeper.result(now.order.data(), scores.data(), now.parents.data());
        for (double score : scores) now.score += score;
        return now;
    }

    AnyRegressions& best_;
    std::size_t m_;
    double noise_;
    std::unordered_map<std::vector<int>, End, HashOrder> ends_;
};

}  // namespace lmarvel
