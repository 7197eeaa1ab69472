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
          S_(covariance, covariance + std::size_t(m) * m), families_(m), additions_(m), shrunk_(m) {}

    int words() const override { return W; }

    // Parents, taken and tempting of v among its predecessors, one after the other.
    void family(int v, const std::uint64_t* before, double* score, std::uint64_t* sets) override {
        Set predecessors;
        std::copy(before, before + W, predecessors.word.begin());
        const Family& found = best(v, predecessors);
        *score = found.score;
        for (const Set* set : {&found.parents, &found.taken, &found.tempting})
            sets = std::copy(set->word.begin(), set->word.end(), sets);
    }

    // The order's variables must be different ones below m; the sweeper must not outlive this.
    std::unique_ptr<AnySweeper> sweeper(std::vector<int> order) override {
        return std::make_unique<Sweeper>(*this, std::move(order));
    }

private:
    using Set = Bits<W>;
    template <class T>
    using Memory = std::unordered_map<Set, T, HashBits<W>>;
    struct Family {
        double score;
        Set parents, taken, tempting;
    };
    struct Additions {
        double value;
        std::vector<int> steps;  // what pays its price as one more parent, best first
    };
    struct Shrunk {
        Set parents;
        double score;
    };

    class Sweeper final : public AnySweeper {
    public:
        Sweeper(Regressions& best, std::vector<int> order)
            : best_(best), order_(std::move(order)), now_(best.m_) {
            refresh(0, order_.size(), Set{});
        }

        // Move v to its best place; tell whether it moved.
        bool move(int v, double noise) override {
            const std::size_t at = std::find(order_.begin(), order_.end(), v) - order_.begin();
            if (at == order_.size()) return false;
            rate_places(v, at);
            const double least = *std::min_element(totals_.begin(), totals_.end());
            if (!(least < totals_[at] - noise)) return false;
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
                *scores++ = now_[v]->score;
                std::copy(now_[v]->parents.word.begin(), now_[v]->parents.word.end(), parents + std::size_t(v) * W);
            }
        }

    private:
        // Choose the families again at some places; `before` are the predecessors of the first of them.
        void refresh(std::size_t start, std::size_t stop, Set before) {
            for (std::size_t i = start; i < stop; ++i) {
                now_[order_[i]] = &best_.best(order_[i], before);  // entries of an unordered_map stay where they are
                before.add(order_[i]);
            }
        }

        // The total with v at each place, but for a constant: v passes the others one by one.
        void rate_places(int v, std::size_t at) {
            Set before{};
            const Family* own = &best_.best(v, before);
            double total = own->score;
            totals_.assign(1, total);
            for (std::size_t place = 0; place + 1 < order_.size(); ++place) {
                const int w = order_[place + (place >= at)];
                const Family& now = *now_[w];
                if (place < at) {  // v comes after w now
                    if (now.tempting.has(v)) {
                        Set with = before;
                        with.add(v);
                        total += now.score - best_.best(w, with).score;
                    }
                } else if (now.taken.has(v)) {
                    total += best_.best(w, before).score - now.score;
                }
                before.add(w);
                if (own->tempting.has(w)) {
                    const Family* after = &best_.best(v, before);
                    total += after->score - own->score;
                    own = after;
                }
                totals_.push_back(total);
            }
        }

        Regressions& best_;
        std::vector<int> order_;
        std::vector<const Family*> now_;  // the family of each variable
        Vector totals_;
    };

    const Family& best(int v, const Set& predecessors) {
        auto& memory = families_[v];
        auto known = memory.find(predecessors);
        if (known != memory.end()) return known->second;
        return memory.emplace(predecessors, walk(v, predecessors)).first->second;
    }

    Family walk(int v, const Set& predecessors) {
        Set grown{}, tempting{};
        double value;
        for (;;) {
            auto& memory = additions_[v];
            auto known = memory.find(grown);
            if (known == memory.end()) known = memory.emplace(grown, additions(v, grown)).first;
            value = known->second.value;
            int taken = -1;
            for (int step : known->second.steps) {
                if (predecessors.has(step)) {
                    taken = step;
                    break;
                }
                tempting.add(step);
            }
            if (taken < 0) break;
            grown.add(taken);
        }
        auto& memory = shrunk_[v];
        auto known = memory.find(grown);
        if (known == memory.end()) known = memory.emplace(grown, shrink(v, grown, value)).first;
        return {known->second.score, known->second.parents, grown, tempting};
    }

    Shrunk shrink(int v, const Set& grown, double value) {
        Set parents = grown;
        while (parents.count()) {
            const int step = removal(v, parents);
            if (step < 0) break;
            parents.drop(step);
        }
        if (!(parents == grown)) value = value_of(v, parents);
        return {parents, value + price_ * parents.count()};
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

    Additions additions(int v, const Set& parents) {
        const double infinity = std::numeric_limits<double>::infinity();
        parents.members(near_);
        const std::size_t k = near_.size(), m = m_;
        shared_.assign(S_.begin() + std::size_t(v) * m, S_.begin() + std::size_t(v + 1) * m);
        left_.resize(m);
        for (std::size_t u = 0; u < m; ++u) left_[u] = S_[u * m + u];
        if (k) {
            if (!factor_near()) return {infinity, {}};
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
        if (variance < least_variance) return {infinity, {}};
        Additions found{value(variance), {}};
        for (std::size_t u = 0; u < m; ++u) {
            shared_[u] *= shared_[u] / left_[u];  // what each of the others would take off the variance
            if (shared_[u] > pays_ * variance) found.steps.push_back(int(u));
        }
        std::stable_sort(found.steps.begin(), found.steps.end(), [this](int a, int b) { return shared_[a] > shared_[b]; });
        return found;
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
        const Vector inverse = inverse_of(root_.data(), k);
        std::size_t worst = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < k; ++i) {
            // Without u the variance left grows by slope_u^2 / (inverse)_uu.
            const double lost = beside_[i] * beside_[i] / (inverse[i * k + i] * variance);
            if (lost < least) least = lost, worst = i;
        }
        return n_ * std::log1p(least) < price_ - 1e-9 ? near_[worst] : -1;
    }

    static constexpr double least_variance = 1e-10;  // a variable with less than this left is determined by the others

    int m_;
    double n_, price_, pays_;
    Vector S_;
    std::vector<Memory<Family>> families_;
    std::vector<Memory<Additions>> additions_;
    std::vector<Memory<Shrunk>> shrunk_;
    std::vector<int> near_;
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
