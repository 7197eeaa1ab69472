// Sweeps over orders until none moves, also after a family was turned: the twin of settle in lmarvel.search.orders.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "lift/orders/orders.hpp"
#include "lift/orders/sweeper.hpp"

namespace lmarvel {

// What a sweep does depends only on the order that it begins with, and searches come together: where one went on from
// an order before, its end is known. So there is one of these for the regressions of one covariance.
template <int W, class Local>
class Settling {
public:
    using Order = FoundOrder<W>;

    Settling(Regressions<W, Local>& best, double noise) : best_(best), noise_(noise) {}

    Sweeper<W, Local> at(const Order& found) { return {best_, found.order, noise_}; }

    // Move each variable to its best place until none moves. `check` is called before each move and may throw.
    template <class Check>
    Order settle(const std::vector<int>& start, int max_sweeps, const Check& check) {
        Mover sweeper(best_, start, noise_);
        const Rest rest = settled(sweeper, max_sweeps, check);
        return result_of(*rest, sweeper);
    }

    // The same for some variables only.
    template <class Check, class Chosen>
    Order settle_some(const std::vector<int>& start, int max_sweeps, const Check& check, const Chosen& chosen) {
        Mover sweeper(best_, start, noise_);
        for (int sweep = 0; sweep < max_sweeps; ++sweep) {
            std::vector<int> moving;
            for (int v : sweeper.order())
                if (chosen(v)) moving.push_back(v);
            if (!swept(sweeper, moving, check)) break;
        }
        return sweeper.result();
    }

    // Put a variable before its parents, where they stand or else in front, and settle again; nothing where neither
    // helps. `base` has the order that was found.
    template <class Check>
    std::optional<Order> turned(const Order& found, const Sweeper<W, Local>& base, int v, const LiftConstants& set,
                                const Check& check) {
        for (bool in_front : {false, true})
            if (auto better = turned(found, base, v, in_front, set, check)) return better;
        return std::nullopt;
    }

private:
    using Mover = Sweeper<W, Local>;
    struct Settled {
        std::vector<int> order;
        double score;
    };
    using Rest = std::shared_ptr<const Settled>;
    // Where sweeps from an order end, and after how many.
    struct End {
        int sweeps;
        Rest rest;
    };
    struct HashOrder {
        std::size_t operator()(const std::vector<int>& order) const {
            std::uint64_t h = 0x9e3779b97f4a7c15ull;
            for (int v : order) h = mixed(h, std::uint64_t(v));
            return std::size_t(h);
        }
    };

    // What a turn leads to, if it helps.
    template <class Check>
    std::optional<Order> turned(const Order& found, const Mover& base, int v, bool in_front, const LiftConstants& set,
                                const Check& check) {
        Mover sweeper(base, best_);
        turn(sweeper, found, v, in_front);
        settle_stirred(sweeper, set.family_sweeps, check);
        if (!(sweeper.score() < found.score + set.family_hope * best_.price())) return std::nullopt;
        const Rest rest = settled(sweeper, set.family_sweeps, check);
        if (!(rest->score < found.score - noise_)) return std::nullopt;
        return result_of(*rest, sweeper);
    }

    // Put v and then its parents in front, or where the first of them stood; stir all whose edges differ from those found.
    static void turn(Mover& sweeper, const Order& found, int v, bool in_front) {
        std::vector<int> family{v};
        for (int u : found.order)
            if (found.parents[v].has(u)) family.push_back(u);
        const int first = in_front ? 0 : sweeper.place(family[1]);
        for (std::size_t i = 0; i < family.size(); ++i) sweeper.shift(family[i], first + int(i));
        sweeper.stirred = {};
        for (int u : family) sweeper.stirred.add(u);
        for (int u : found.order)
            if (!(sweeper.parents(u) == found.parents[u])) sweeper.stir(u, found.parents[u], sweeper.parents(u));
    }

    // Move those that are stirred, by what was done or by each other.
    template <class Check>
    static void settle_stirred(Mover& sweeper, int max_sweeps, const Check& check) {
        for (int sweep = 0; sweep < max_sweeps && sweeper.stirred.any(); ++sweep)
            for (int v : std::vector<int>(sweeper.order())) {
                if (!sweeper.stirred.has(v)) continue;
                check();
                sweeper.move(v);
                sweeper.stirred.drop(v);
            }
    }

    // Sweep until nothing moves, or the rest of the way is known: then the sweeper stays where it is.
    template <class Check>
    Rest settled(Mover& sweeper, int max_sweeps, const Check& check) {
        std::vector<std::vector<int>> passed;  // the orders that sweeps began with
        Rest now;
        int needed = 0;  // sweeps from the last of them to the end; the last one moves nothing
        for (int sweep = 0; !needed; ++sweep) {
            passed.push_back(sweeper.order());
            if (const End* end = known_end(passed.back(), max_sweeps - sweep)) {
                now = end->rest, needed = end->sweeps;
                break;
            }
            if (sweep == max_sweeps) break;
            if (!swept(sweeper, passed.back(), check)) needed = 1;
        }
        if (!now) now = std::make_shared<const Settled>(Settled{sweeper.order(), sweeper.score()});
        if (needed) {
            if (ends_.size() * (sizeof(End) + sizeof(int) * now->order.size()) > most_bytes_) ends_.clear();
            for (std::size_t i = passed.size(); i-- > 0; ++needed) ends_[std::move(passed[i])] = {needed, now};
        }
        return now;
    }

    Order result_of(const Settled& rest, const Mover& sweeper) {
        return sweeper.order() == rest.order ? sweeper.result() : Mover(best_, rest.order, noise_).result();
    }

    // Whether a variable has moved.
    template <class Check>
    bool swept(Mover& sweeper, const std::vector<int>& variables, const Check& check) const {
        bool moved = false;
        for (int v : variables) {
            check();
            moved |= sweeper.move(v);
        }
        return moved;
    }

    const End* known_end(const std::vector<int>& order, int sweeps) const {
        const auto known = ends_.find(order);
        return known != ends_.end() && known->second.sweeps <= sweeps ? &known->second : nullptr;
    }

    static constexpr std::size_t most_bytes_ = std::size_t(1) << 26;

    Regressions<W, Local>& best_;
    double noise_;
    std::unordered_map<std::vector<int>, End, HashOrder> ends_;
};

}  // namespace lmarvel
