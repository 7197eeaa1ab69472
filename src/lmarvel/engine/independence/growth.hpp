// The growing conditioning set of a target, for boundary searches: the twin of GaussianGrowth in ci/gaussian_growth.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/wide.hpp"
#include "independence/boundaries.hpp"

namespace lmarvel {

namespace {

constexpr double PIVOT = 1e-10;  // a variance below this share of the variable's own counts as zero
constexpr double NOTHING = -std::numeric_limits<double>::infinity();

LMARVEL_WIDE void less_multiple(double* LMARVEL_RESTRICT row, const double* LMARVEL_RESTRICT other, double by, std::size_t p) {
    for (std::size_t v = 0; v < p; ++v) row[v] -= by * other[v];
}

LMARVEL_WIDE void take_in(double* LMARVEL_RESTRICT with_target, double* LMARVEL_RESTRICT variance, const double* LMARVEL_RESTRICT row,
                          double on_target, std::size_t p) {
    for (std::size_t v = 0; v < p; ++v) {
        with_target[v] -= on_target * row[v];
        variance[v] -= row[v] * row[v];
    }
}

LMARVEL_WIDE void divide(double* LMARVEL_RESTRICT row, double by, std::size_t p) {
    for (std::size_t v = 0; v < p; ++v) row[v] /= by;
}

// In two steps, block by block: a division that stands behind a condition is made one number at a time.
LMARVEL_WIDE void squared(double* LMARVEL_RESTRICT r2, const double* LMARVEL_RESTRICT with_target,
                          const double* LMARVEL_RESTRICT variance, double own, std::size_t p) {
    constexpr std::size_t BLOCK = 512;
    for (std::size_t start = 0; start < p; start += BLOCK) {
        const std::size_t stop = std::min(start + BLOCK, p);
        for (std::size_t v = start; v < stop; ++v) r2[v] = with_target[v] * with_target[v] / (variance[v] * own);
        for (std::size_t v = start; v < stop; ++v) r2[v] = variance[v] > PIVOT ? r2[v] : NOTHING;
    }
}

// Where the largest number stands, the first of equals: eight maxima side by side, then a look for the largest.
LMARVEL_WIDE std::size_t place_of_largest(const double* LMARVEL_RESTRICT numbers, std::size_t p) {
    double lanes[8];
    std::fill(lanes, lanes + 8, NOTHING);
    std::size_t v = 0;
    for (; v + 8 <= p; v += 8) {
        for (std::size_t k = 0; k < 8; ++k) lanes[k] = numbers[v + k] > lanes[k] ? numbers[v + k] : lanes[k];
    }
    double largest = NOTHING;
    for (double lane : lanes) largest = std::max(largest, lane);
    for (; v < p; ++v) largest = std::max(largest, numbers[v]);
    for (v = 0; v + 64 <= p; v += 64) {
        int here = 0;
        for (std::size_t k = 0; k < 64; ++k) here |= numbers[v + k] == largest;
        if (here) break;
    }
    while (v < p && !(numbers[v] == largest)) ++v;
    return v < p ? v : 0;
}

// Members M of a target T, with every variable's covariance with T and variance given M: see GaussianGrowth.
class Growth {
public:
    Growth(const BoundaryTask& task, const Clock& clock)
        : task_(task), clock_(clock), p_(static_cast<std::size_t>(task.p)) {}

    Index target = 0;
    std::vector<Index> members;  // in the order in which they were taken in
    std::vector<double> evidence;

    void start(Index t) {
        target = t;
        begin();
    }
    std::vector<Index> set() const {
        std::vector<Index> sorted = members;
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }
    double critical(std::int64_t size) const {
        const double t = std::tanh(task_.quantile / std::sqrt(static_cast<double>(task_.n - size - 3)));
        return t * t;
    }
    // The squared partial correlations with the target given M.
    void candidates() {
        evidence.resize(p_);
        const double own = variance_[at(target)];
        if (own > PIVOT) squared(evidence.data(), with_target_.data(), variance_.data(), own, p_);
        else std::fill(evidence.begin(), evidence.end(), NOTHING);
        for (Index m : members) evidence[at(m)] = NOTHING;
        evidence[at(target)] = NOTHING;
    }
    // Those of each member given the others; what is there of other variables means nothing then.
    void inside() {
        evidence.resize(p_);
        if (variance_[at(target)] > 1e-6) {
            given_others();
            return;
        }
        for (Index v : members) {  // each takes the cube of the number of members
            clock_.poll();
            clock_.check();
            evidence[at(v)] = singly(v);
        }
    }
    void add(Index v) {
        if (variance_[at(v)] <= PIVOT) return;
        const std::size_t k = members.size();
        if (rows_.size() < (k + 1) * p_) rows_.resize((k + 1) * p_);
        double* row = rows_.data() + k * p_;
        std::copy_n(task_.R + at(v) * p_, p_, row);
        for (std::size_t i = 0; i < k; ++i) {
            const double* done = rows_.data() + i * p_;
            less_multiple(row, done, done[v], p_);
        }
        divide(row, std::sqrt(row[v]), p_);
        take_in(with_target_.data(), variance_.data(), row, row[target], p_);
        members.push_back(v);
    }
    void remove(Index v) {
        std::vector<Index> kept;
        for (Index m : members) if (m != v) kept.push_back(m);
        begin();
        for (Index m : kept) add(m);
    }

private:
    const BoundaryTask& task_;
    const Clock& clock_;
    std::size_t p_;
    std::vector<double> rows_, with_target_, variance_, inverse_, total_;

    static std::size_t at(Index v) { return static_cast<std::size_t>(v); }

    void begin() {
        members.clear();
        with_target_.assign(task_.R + at(target) * p_, task_.R + (at(target) + 1) * p_);
        variance_.assign(p_, 1.0);
    }
    // The inverse of the triangular factor of members and target: its columns' squares sum to the diagonal of the
    // precision matrix, and its last row is that of the target but for a factor that cancels.
    void given_others() {
        const std::size_t k = members.size();
        inverse_.assign((k + 1) * k, 0.0);
        total_.assign(k, 0.0);
        for (std::size_t j = 0; j <= k; ++j) {
            const Index here = j < k ? members[j] : target;
            double* own = inverse_.data() + j * k;
            for (std::size_t m = 0; m < j; ++m) less_multiple(own, inverse_.data() + m * k, rows_[m * p_ + at(here)], k);
            if (j < k) own[j] += 1.0;
            divide(own, j < k ? rows_[j * p_ + at(here)] : std::sqrt(variance_[at(target)]), k);
            for (std::size_t i = 0; i < k; ++i) total_[i] += own[i] * own[i];
        }
        const double* last = inverse_.data() + k * k;
        for (std::size_t i = 0; i < k; ++i) evidence[at(members[i])] = last[i] * last[i] / total_[i];
    }
    // The squared partial correlation of the target and a member given the other members, 1 where it is undefined.
    double singly(Index v) const {
        std::vector<Index> order;
        for (Index m : members) if (m != v) order.push_back(m);
        const std::size_t given = order.size(), q = given + 2;
        order.push_back(target);
        order.push_back(v);
        std::vector<std::vector<double>> rows;
        for (std::size_t d = 0; d < given; ++d) {
            std::vector<double> against(q);
            for (std::size_t i = 0; i < q; ++i) against[i] = task_.R[at(order[d]) * p_ + at(order[i])];
            for (const auto& row : rows) less_multiple(against.data(), row.data(), row[d], q);
            if (against[d] <= PIVOT) continue;
            divide(against.data(), std::sqrt(against[d]), q);
            rows.push_back(against);
        }
        double vx = 1.0, vy = 1.0, c = task_.R[at(target) * p_ + at(v)];
        for (const auto& row : rows) {
            vx -= row[given] * row[given];
            vy -= row[given + 1] * row[given + 1];
            c -= row[given] * row[given + 1];
        }
        if (vx <= PIVOT || vy <= PIVOT) return 1.0;
        return std::min(c * c / (vx * vy), 1.0);
    }
};

}  // namespace

}  // namespace lmarvel
