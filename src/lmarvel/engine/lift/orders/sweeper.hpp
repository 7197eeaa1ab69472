// An order while variables are moved within it: the twin of Sweeper in lmarvel.search.orders.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "lift/orders/orders.hpp"

namespace lmarvel {

// An order of different variables, with the family of each.
//
// Nothing is computed that must come out as before. A variable that passes another changes its family only if it is
// tempting there, or was taken; so a rating stops at such *events* only. It holds until something moves that it rests on.
template <int W, class Local>
class Sweeper {
public:
    using Set = Bits<W>;

    Sweeper(Regressions<W, Local>& best, std::vector<int> order, double noise)
        : best_(best), noise_(noise), order_(std::move(order)), place_(std::size_t(best.size()), best.size()),
          now_(place_.size()), asked_by_(place_.size()), rating_(place_.size()) {
        for (std::size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = int(i);
        for (int v : order_) choose(v);
    }

    // The same order, with regressions of the same table.
    Sweeper(const Sweeper& other, Regressions<W, Local>& best)
        : stirred(other.stirred), best_(best), noise_(other.noise_), order_(other.order_), place_(other.place_),
          now_(other.now_), asked_by_(other.asked_by_), rating_(other.rating_) {}

    const std::vector<int>& order() const { return order_; }
    int place(int v) const { return place_[v]; }
    const Set& parents(int v) const { return now_[v].parents; }

    Set stirred;  // those with edges that came or went, until somebody takes them out

    // Move v to its best place; tell whether it moved.
    bool move(int v) {
        if (!is_here(v) || rating_[v].holds) return false;
        const int place = best_place(v);
        rating_[v].holds = place == place_[v];
        if (rating_[v].holds) return false;
        shift(v, place);
        return true;
    }

    // Find out who has no better place: orders that are made of this one need not look again where nothing differs.
    template <class Check>
    void rate(const Check& check) {
        for (int v : order_) {
            check();
            if (!rating_[v].holds) rating_[v].holds = best_place(v) == place_[v];
        }
    }

    // The parents of v have changed: stir it, and those that it took or left.
    void stir(int v, const Set& before, const Set& after) {
        stirred.add(v);
        stirred |= before.without(after) | after.without(before);
    }

    // Put v at a place.
    void shift(int v, int place) {
        const int at = place_[v];
        if (at == place) return;
        const auto first = order_.begin() + std::min(at, place), last = order_.begin() + std::max(at, place) + 1;
        if (place < at) std::rotate(first, last - 1, last);
        else std::rotate(first, first + 1, last);
        Set passed;
        for (auto u = first; u != last; ++u) {
            place_[*u] = int(u - order_.begin());
            if (*u != v) passed.add(*u);
        }
        // A rating rests on who stands on which side of its events.
        for (Rating& rating : rating_)
            if (rating.holds && ((rating.rests_on.has(v) && rating.events.meets(passed)) ||
                                 (rating.events.has(v) && rating.rests_on.meets(passed))))
                rating.holds = false;
        rating_[v].holds = false;
        for (auto u = first; u != last; ++u)
            if (*u == v || (place < at ? now_[*u].tempting : now_[*u].grown).has(v)) choose(*u);
    }

    double score() const {
        double total = 0.0;
        for (int v : order_) total += now_[v].score;
        return total;
    }

    FoundOrder<W> result() const {
        FoundOrder<W> found{order_, std::vector<Set>(now_.size()), score()};
        for (int v : order_) found.parents[v] = now_[v].parents;
        return found;
    }

private:
    // That a variable has no better place, and what this rests on.
    struct Rating {
        bool holds = false;
        Set events, rests_on;
    };

    bool is_here(int v) const { return place_[v] < int(order_.size()); }

    // Choose the family of a variable again, and tell those whose ratings rest on it.
    void choose(int v) {
        const int limit = place_[v];
        const ChosenFamily<W> before = now_[v];
        now_[v] = best_.best(v, [&](int u) { return place_[u] < limit; });
        if (!(before.parents == now_[v].parents)) stir(v, before.parents, now_[v].parents);
        const Set had = before.grown | before.tempting, has = now_[v].grown | now_[v].tempting;
        if (before.grown == now_[v].grown && before.tempting == now_[v].tempting) return;
        had.each([&](int u) { rating_[u].holds = false, asked_by_[u].drop(v); });
        has.each([&](int u) { rating_[u].holds = false, asked_by_[u].add(v); });
    }

    // The place of the least total, the first of equals; the present one if it is not worse. Totals are right but for a
    // constant: v passes the others one by one.
    int best_place(int v) {
        const int at = place_[v], end = int(order_.size());
        Rating& rating = rating_[v];
        Set asked, own_asks;  // by place
        rating.events = asked_by_[v];
        asked_by_[v].each([&](int w) { asked.add(place_[w]); });
        rating.events.add(v);
        rating.rests_on = rating.events;
        double own = score_own(v, -1, own_asks), total = own;
        totals_.assign(1, {0, total});
        for (int i = 0; (i = std::min(asked.next(i), own_asks.next(i))) < end; ++i) {
            const int w = order_[i];
            if (asked.has(i)) {
                const double with_other = score_with_other(w, v, i < at);
                total += i < at ? now_[w].score - with_other : with_other - now_[w].score;
            }
            if (own_asks.has(i)) {
                rating.events.add(w);
                const double after = score_own(v, i, own_asks);
                total += after - own;
                own = after;
            }
            totals_.emplace_back(i + (i < at), total);
        }
        return least_place(at);
    }

    // The score of v behind the first places; which of the others would be tempting.
    double score_own(int v, int last, Set& asks) {
        asks = Set{};
        Set& rests_on = rating_[v].rests_on;
        const double found = best_.score(v, [&](int u) { return place_[u] <= last; }, [&](int u) {
            rests_on.add(u);
            if (is_here(u)) asks.add(place_[u]);
        });
        for (int u : best_.taken()) rests_on.add(u);
        return found;
    }

    // The score of w with v on the other side of it.
    double score_with_other(int w, int v, bool in) {
        Set& rests_on = rating_[v].rests_on;
        const int limit = place_[w];
        const auto passed = [&](int u) { rests_on.add(u); };
        const double found = in ? best_.score(w, [&](int u) { return place_[u] < limit || u == v; }, passed)
                                : best_.score(w, [&](int u) { return place_[u] < limit && u != v; }, passed);
        for (int u : best_.taken()) rests_on.add(u);
        return found;
    }

    int least_place(int at) const {
        double least = totals_.front().second, here = least;
        for (const auto& [place, total] : totals_) {
            least = std::min(least, total);
            if (place <= at) here = total;
        }
        if (!(least < here - noise_)) return at;
        for (const auto& [place, total] : totals_)
            if (total <= least + noise_) return place;
        return at;
    }

    Regressions<W, Local>& best_;
    double noise_;
    std::vector<int> order_, place_;  // of those that are not here, behind all
    std::vector<ChosenFamily<W>> now_;
    std::vector<Set> asked_by_;  // by whom each variable was taken or would be
    std::vector<Rating> rating_;
    std::vector<std::pair<int, double>> totals_;  // from each event on
};

}  // namespace lmarvel
