// Grow-shrink regressions and moves within an order: the twin of lmarvel.search.regressions.
//
// Sets of variables are W words of 64 bits. Memories grow with the search and end with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bits.hpp"
#include "linear.hpp"

namespace lmarvel {

// What the Python layer sees of an order while variables are moved in it, and of a search, whatever W is. Sets travel
// as arrays of `words()` words.
class AnySweeper {
public:
    virtual ~AnySweeper() = default;
    virtual bool move(int v, double noise) = 0;
    virtual void result(int* order, double* scores, std::uint64_t* parents) const = 0;
};

class AnyRegressions {
public:
    virtual ~AnyRegressions() = default;
    virtual int words() const = 0;
    virtual void family(int v, const std::uint64_t* before, double* score, std::uint64_t* sets) = 0;
    virtual std::unique_ptr<AnySweeper> sweeper(std::vector<int> order) = 0;
};

template <int W>
class Regressions final : public AnyRegressions {
public:
    Regressions(const double* covariance, int m, double n, double price)
        : m_(m), n_(n), price_(price), pays_(-std::expm1(-(price + 1e-9) / n)),
          S_(covariance, covariance + std::size_t(m) * m), nodes_(m), root_of_(m, nullptr) {}

    int words() const override { return W; }

    // Parents, taken and tempting of v among its predecessors, one after the other.
    void family(int v, const std::uint64_t* before, double* score, std::uint64_t* sets) override {
        Set predecessors;
        std::copy(before, before + W, predecessors.word.begin());
        const Family found = best(v, predecessors);
        *score = found.score();
        for (const Set* set : {&found.at->parents, &found.at->grown, &found.tempting})
            sets = std::copy(set->word.begin(), set->word.end(), sets);
    }

    // The order's variables must be different ones below m; the sweeper must not outlive this.
    std::unique_ptr<AnySweeper> sweeper(std::vector<int> order) override {
        return std::make_unique<Sweeper>(*this, std::move(order));
    }

private:
    using Set = Bits<W>;
    // A set of parents on the way: what pays its price as one more, best first, and what is left if the way ends here.
    struct Node {
        Set grown, all;  // all that pays
        std::vector<std::int16_t> steps;
        std::vector<Node*> next;  // one a step, nullptr until somebody goes there
        double value = std::numeric_limits<double>::infinity();
        bool is_shrunk = false;
        Set parents;
        double score = 0.0;
    };
    // Where the way of a variable among its predecessors ends, and what would have led elsewhere.
    struct Family {
        const Node* at = nullptr;
        Set tempting;
        double score() const { return at->score; }
    };

    class Sweeper final : public AnySweeper {
    public:
        Sweeper(Regressions& best, std::vector<int> order)
            : best_(best), order_(std::move(order)), now_(best.m_), rated_(best.m_, 0) {
            refresh(0, order_.size(), Set{});
        }

        // Move v to its best place; tell whether it moved.
        bool move(int v, double noise) override {
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

        void result(int* order, double* scores, std::uint64_t* parents) const override {
            for (int v : order_) {
                *order++ = v;
                *scores++ = now_[v].score();
                const auto& chosen = now_[v].at->parents.word;
                std::copy(chosen.begin(), chosen.end(), parents + std::size_t(v) * W);
            }
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

    // Walk from no parents to those that v takes among its predecessors. No step is computed twice, and one that was
    // taken before is followed without a look into the memory.
    Family best(int v, const Set& predecessors) {
        Node* at = root_of_[v];
        if (!at) at = root_of_[v] = node(v, Set{});
        Family found;
        while (at->all.meets(predecessors)) {
            std::size_t taken = 0;
            for (; !predecessors.has(at->steps[taken]); ++taken) found.tempting.add(at->steps[taken]);
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

    // The one node of a set of parents, however it was reached.
    Node* node(int v, const Set& grown) {
        const auto known = nodes_[v].try_emplace(grown);  // entries of an unordered_map stay where they are
        if (known.second) fill(v, grown, known.first->second);
        return &known.first->second;
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

    double value(double variance) const {
        constexpr double log_2pi = 1.8378770664093453;
        if (variance < least_variance) return std::numeric_limits<double>::infinity();
        return n_ * (std::log(variance) + 1.0 + log_2pi);
    }

    // Factorise the covariance of `near_`; false where it is singular.
    bool factor_near() {
        const std::size_t k = near_.size();
        root_.resize(k * k);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j < k; ++j) root_[i * k + j] = S_[std::size_t(near_[i]) * m_ + near_[j]];
        return factorise(root_.data(), k);
    }

    // The value of a set of parents, and what pays its price as one more.
    void fill(int v, const Set& parents, Node& at) {
        const double infinity = std::numeric_limits<double>::infinity();
        at.grown = parents;
        parents.members(near_);
        const std::size_t k = near_.size(), m = m_;
        shared_.assign(S_.begin() + std::size_t(v) * m, S_.begin() + std::size_t(v + 1) * m);
        left_.resize(m);
        for (std::size_t u = 0; u < m; ++u) left_[u] = S_[u * m + u];
        if (k) {
            if (!factor_near()) return;
            rows_.resize(k * m);
            for (std::size_t i = 0; i < k; ++i)
                std::copy_n(S_.begin() + std::size_t(near_[i]) * m, m, rows_.begin() + i * m);
            solve_lower(root_.data(), k, rows_.data(), m);  // covariances with uncorrelated combinations of the parents
            for (std::size_t i = 0; i < k; ++i) {
                const double* row = rows_.data() + i * m;
                const double on_v = row[v];
                for (std::size_t u = 0; u < m; ++u) {
                    shared_[u] -= on_v * row[u];
                    left_[u] -= row[u] * row[u];
                }
            }
            for (auto& left : left_) left = std::max(left, 1e-12);
            for (int u : near_) left_[u] = infinity;
        }
        const double variance = shared_[v];
        left_[v] = infinity;
        if (variance < least_variance) return;
        at.value = value(variance);
        paying_.clear();
        for (std::size_t u = 0; u < m; ++u) {
            shared_[u] *= shared_[u] / left_[u];  // what each of the others would take off the variance
            if (shared_[u] > pays_ * variance) paying_.push_back(std::int16_t(u));
        }
        std::sort(paying_.begin(), paying_.end(), [this](int a, int b) {
            return shared_[a] > shared_[b] || (shared_[a] == shared_[b] && a < b);
        });
        at.steps = paying_;
        at.next.assign(paying_.size(), nullptr);
        for (int u : paying_) at.all.add(u);
    }

    double value_of(int v, const Set& parents) {
        parents.members(near_);
        const std::size_t k = near_.size();
        double variance = S_[std::size_t(v) * m_ + v];
        if (k) {
            if (!factor_near()) return value(0.0);
            beside_.resize(k);
            for (std::size_t i = 0; i < k; ++i) beside_[i] = S_[std::size_t(near_[i]) * m_ + v];
            solve_lower(root_.data(), k, beside_.data(), 1);
            for (double b : beside_) variance -= b * b;
        }
        return value(variance);
    }

    // The parent that is best left out since it does not pay its price; -1 if all pay.
    int removal(int v, const Set& parents) {
        parents.members(near_);
        const std::size_t k = near_.size();
        if (!factor_near()) return -1;
        beside_.resize(k);
        for (std::size_t i = 0; i < k; ++i) beside_[i] = S_[std::size_t(near_[i]) * m_ + v];
        solve_lower(root_.data(), k, beside_.data(), 1);
        double variance = S_[std::size_t(v) * m_ + v];
        for (double b : beside_) variance -= b * b;
        variance = std::max(variance, 1e-300);
        solve_upper(root_.data(), k, beside_.data(), 1);  // now the slopes
        rows_.assign(k * k, 0.0);
        for (std::size_t i = 0; i < k; ++i) rows_[i * k + i] = 1.0;
        solve_lower(root_.data(), k, rows_.data(), k);
        left_.assign(k, 0.0);  // the diagonal of the inverse
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j <= i; ++j) left_[j] += rows_[i * k + j] * rows_[i * k + j];
        std::size_t worst = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < k; ++i) {
            // Without u the variance left grows by slope_u^2 / (inverse)_uu.
            const double lost = beside_[i] * beside_[i] / (left_[i] * variance);
            if (lost < least) least = lost, worst = i;
        }
        return n_ * std::log1p(least) < price_ - 1e-9 ? near_[worst] : -1;
    }

    static constexpr double least_variance = 1e-10;  // a variable with less than this left is determined by the others

    int m_;
    double n_, price_, pays_;
    Vector S_;
    std::vector<std::unordered_map<Set, Node, HashBits<W>>> nodes_;  // of each variable
    std::vector<Node*> root_of_;
    std::vector<int> near_;
    std::vector<std::int16_t> paying_;
    Vector root_, rows_, beside_, shared_, left_;
};

// The narrowest search that holds m variables; none where m is beyond what is compiled.
inline std::unique_ptr<AnyRegressions> make_regressions(const double* S, int m, double n, double price) {
    if (m <= 64) return std::make_unique<Regressions<1>>(S, m, n, price);
    if (m <= 128) return std::make_unique<Regressions<2>>(S, m, n, price);
    if (m <= 256) return std::make_unique<Regressions<4>>(S, m, n, price);
    if (m <= 1024) return std::make_unique<Regressions<16>>(S, m, n, price);
    return nullptr;
}

}  // namespace lmarvel
