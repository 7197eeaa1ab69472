// What steps have shown of the curvature of a function, beyond a matrix to begin with: the update of Broyden, Fletcher,
// Goldfarb and Shanno, as a few pairs of vectors (Nocedal 1980). Each is damped after Powell (1978), so that the matrix stays
// positive definite. The twin of Curvature in tests/reference/lift/hidden_block.py.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "base/linear.hpp"

namespace lmarvel {

inline double inner(const Vector& a, const Vector& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

class Curvature {
public:
    void forget() { pairs_.clear(); }
    bool empty() const { return pairs_.empty(); }

    // Learn from a step, by how much the gradient changed along it, and by how much the matrix had it change.
    void learn(const Vector& step, Vector change, const Vector& foreseen) {
        const double expected = inner(step, foreseen), seen = inner(step, change);
        if (!(expected > 0.0)) return;
        if (seen < least_share * expected) {
            const double share = (1.0 - least_share) * expected / (expected - seen);
            for (std::size_t i = 0; i < change.size(); ++i) change[i] = share * change[i] + (1.0 - share) * foreseen[i];
        }
        const double along = inner(step, change);
        if (!(along > 0.0)) return;  // rounding
        if (pairs_.size() == most_pairs) pairs_.pop_front();
        pairs_.push_back({step, std::move(change), 1.0 / along});
    }

    // b := the inverse of the matrix times b, where `begin` does so with the matrix to begin with.
    template <class Begin>
    void solve(Vector& b, const Begin& begin) const {
        Vector share(pairs_.size());
        for (std::size_t j = pairs_.size(); j-- > 0;) {
            const Pair& pair = pairs_[j];
            share[j] = pair.inverse * inner(pair.step, b);
            for (std::size_t i = 0; i < b.size(); ++i) b[i] -= share[j] * pair.change[i];
        }
        begin(b);
        for (std::size_t j = 0; j < pairs_.size(); ++j) {
            const Pair& pair = pairs_[j];
            const double more = share[j] - pair.inverse * inner(pair.change, b);
            for (std::size_t i = 0; i < b.size(); ++i) b[i] += more * pair.step[i];
        }
    }

private:
    static constexpr std::size_t most_pairs = 12;
    static constexpr double least_share = 0.1;  // of the curvature that was expected

    struct Pair {
        Vector step, change;
        double inverse;  // of their product
    };
    std::deque<Pair> pairs_;
};

}  // namespace lmarvel
