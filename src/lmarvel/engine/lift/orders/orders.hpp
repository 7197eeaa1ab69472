// Grow-shrink regressions and moves within an order: the twin of lmarvel.search.orders.
//
// Sets of variables are W words of 64 bits. Memories grow with the search and end with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/arena.hpp"
#include "base/bits.hpp"
#include "base/hash.hpp"
#include "base/linear.hpp"
#include "lift/constants.hpp"

namespace lmarvel {

// What more parents would gain, and which they are.
using Paying = std::vector<std::pair<double, std::int16_t>>;

// An order of some variables, the parents of each variable, and the score of that DAG.
template <int W>
struct FoundOrder {
    std::vector<int> order;
    std::vector<Bits<W>> parents;
    double score = 0.0;
};

// `Local` knows the table: it has `size`, `price`, and
//   extended(v, path, known, paying)  the value of v given the parents on a path, and what pays as one more;
//   value_of(v, parents)              the same value, of parents in ascending order;
//   removal(v, parents)               the parent that is best left out since it does not pay its price; -1 if all pay.
// A value is minus two log-likelihood of all rows, without the price that every edge has.
template <int W, class Local>
class Regressions {
public:
    // Parents that are excluded by what is known are not taken.
    explicit Regressions(Local& local, const SearchLimits* known = nullptr)
        : local_(local), m_(local.size()), price_(local.price()), known_beforehand_(known), root_of_(m_, nullptr),
          known_(256) {}

    int size() const { return m_; }

private:
    using Set = Bits<W>;
    // A set of parents on the way: what pays its price as one more, best first, and what is left if the way ends here.
    struct Node {
        int v = 0;
        Set grown, all;  // all that pays
        const std::int16_t* steps = nullptr;
        const Set* better = nullptr;  // than each step: those before it
        Node** next = nullptr;        // one a step, nullptr until somebody goes there
        double value = std::numeric_limits<double>::infinity();
        bool is_shrunk = false;
        Set parents;
        double score = 0.0;
    };

public:
    // Where the way of a variable among its predecessors ends, and what would have led elsewhere.
    struct Family {
        const Node* at = nullptr;
        Set tempting;
        double score() const { return at->score; }
    };

    // An order with the family of each variable, while variables are moved: different ones below m.
    class Sweeper {
    public:
        Sweeper(Regressions& best, std::vector<int> order)
            : best_(best), order_(std::move(order)), now_(best.m_), rated_(best.m_, 0) {
            refresh(0, order_.size(), Set{});
        }

        // Move v to its best place; tell whether it moved.
        bool move(int v, double noise) {
            const std::size_t at = std::find(order_.begin(), order_.end(), v) - order_.begin();
            if (at == order_.size()) return false;
            if (noise < noise_) ++moves_;  // what was not worth a move may be now
            noise_ = noise;
            if (rated_[v] == moves_) return false;  // nothing has moved since it had no better place
            rate_places(v, at);
            const double least = *std::min_element(totals_.begin(), totals_.end());
            if (!(least < totals_[at] - noise)) {
                rated_[v] = moves_;
                return false;
            }
            ++moves_;
            std::size_t place = 0;  // the first of equals
            while (place + 1 < totals_.size() && totals_[place] > least + noise) ++place;
            const auto first = order_.begin() + std::min(at, place), last = order_.begin() + std::max(at, place) + 1;
            if (place < at) std::rotate(first, last - 1, last);
            else std::rotate(first, first + 1, last);
            Set ahead{};
            for (auto u = order_.begin(); u != first; ++u) ahead.add(*u);
            refresh(first - order_.begin(), last - order_.begin(), ahead);
            return true;
        }

        FoundOrder<W> result() const {
            FoundOrder<W> found{order_, std::vector<Set>(now_.size()), 0.0};
            for (int v : order_) {
                found.parents[v] = now_[v].at->parents;
                found.score += now_[v].score();
            }
            return found;
        }

    private:
        // Choose the families again at some places; `before` are the predecessors of the first of them.
        void refresh(std::size_t start, std::size_t stop, Set before) {
            for (std::size_t i = start; i < stop; ++i) {
                now_[order_[i]] = best_.best(order_[i], before);
                before.add(order_[i]);
            }
        }

        // The total with v at each place, but for a constant: v passes the others one by one.
        void rate_places(int v, std::size_t at) {
            Set before{};
            Family own = best_.best(v, before);
            double total = own.score();
            totals_.assign(1, total);
            for (std::size_t place = 0; place + 1 < order_.size(); ++place) {
                const int w = order_[place + (place >= at)];
                const Family& now = now_[w];
                if (place < at) {  // v comes after w now
                    if (now.tempting.has(v)) {
                        Set with = before;
                        with.add(v);
                        total += now.score() - best_.best(w, with).score();
                    }
                } else if (now.at->grown.has(v)) {
                    total += best_.best(w, before).score() - now.score();
                }
                before.add(w);
                if (own.tempting.has(w)) {
                    const Family after = best_.best(v, before);
                    total += after.score() - own.score();
                    own = after;
                }
                totals_.push_back(total);
            }
        }

        Regressions& best_;
        std::vector<int> order_;
        std::vector<Family> now_;     // of each variable
        std::vector<unsigned> rated_;  // after how many moves each was last found to have no better place
        unsigned moves_ = 1;
        double noise_ = 0.0;
        Vector totals_;
    };

    // The parents that v takes among its predecessors: walk from none. No step is computed twice, and one that was
    // taken before is followed without a look into the memory.
    Family best(int v, const Set& predecessors) {
        path_.clear();
        Node* at = root_of_[v];
        if (!at) at = root_of_[v] = node(v, Set{});
        Family found;
        while (at->all.meets(predecessors)) {
            std::size_t taken = 0;
            while (!predecessors.has(at->steps[taken])) ++taken;
            found.tempting |= at->better[taken];
            path_.push_back(at->steps[taken]);
            if (!at->next[taken]) {
                Set grown = at->grown;
                grown.add(at->steps[taken]);
                at->next[taken] = node(v, grown);
            }
            at = at->next[taken];
        }
        found.tempting |= at->all;
        if (!at->is_shrunk) shrink(v, *at);
        found.at = at;
        return found;
    }

private:
    // The one node of a set of parents, however it was reached; `path_` leads to it.
    Node* node(int v, const Set& grown) {
        if (2 * (n_nodes_ + 1) > known_.size()) make_room();
        Node** place = place_of(v, grown);
        if (*place == nullptr) {
            *place = arena_.template take<Node>(1);
            ++n_nodes_;
            (*place)->v = v;
            (*place)->grown = grown;
            fill(**place);
        }
        return *place;
    }

    // Where a node stands in the memory, or would; there is always a free place.
    Node** place_of(int v, const Set& grown) {
        const std::size_t mask = known_.size() - 1;
        std::size_t i = std::size_t(mixed(HashBits<W>{}(grown), std::uint64_t(v))) & mask;
        while (known_[i] != nullptr && !(known_[i]->v == v && known_[i]->grown == grown)) i = (i + 1) & mask;
        return &known_[i];
    }

    void make_room() {
        std::vector<Node*> before(2 * known_.size());
        before.swap(known_);
        for (Node* at : before)
            if (at != nullptr) *place_of(at->v, at->grown) = at;
    }

    void shrink(int v, Node& at) {
        at.parents = at.grown;
        double value = at.value;
        while (at.parents.any()) {
            const int step = removal(v, at.parents);
            if (step < 0) break;
            at.parents.drop(step);
        }
        if (!(at.parents == at.grown)) value = value_of(v, at.parents);
        at.score = value + price_ * at.parents.count();
        at.is_shrunk = true;
    }

    // The value of a set of parents, and what pays its price as one more, best first.
    void fill(Node& at) {
        paying_.clear();
        at.value = local_.extended(at.v, path_, known_beforehand_, paying_);
        std::sort(paying_.begin(), paying_.end(), [](const auto& a, const auto& b) {
            return a.first > b.first || (a.first == b.first && a.second < b.second);
        });
        std::int16_t* steps = arena_.template take<std::int16_t>(paying_.size());
        Set* better = arena_.template take<Set>(paying_.size());
        for (std::size_t i = 0; i < paying_.size(); ++i) {
            steps[i] = paying_[i].second;
            better[i] = at.all;
            at.all.add(steps[i]);
        }
        at.steps = steps, at.better = better;
        at.next = arena_.template take<Node*>(paying_.size());
    }

    double value_of(int v, const Set& parents) {
        parents.members(near_);
        return local_.value_of(v, near_);
    }

    // The parent that is best left out since it does not pay its price; -1 if all pay.
    int removal(int v, const Set& parents) {
        parents.members(near_);
        return local_.removal(v, near_);
    }

    Local& local_;
    int m_;
    double price_;
    const SearchLimits* known_beforehand_;
    Arena arena_;
    std::vector<Node*> root_of_, known_;  // of each variable; all, by what they hold: a power of two of places
    std::size_t n_nodes_ = 0;
    std::vector<int> near_, path_;
    Paying paying_;
};

}  // namespace lmarvel
