// Least squares of some responses on columns that come one after the other, and can be taken back: a factor of their Gram
// matrix grows by a row with each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/linear.hpp"
#include "glm/fits.hpp"

namespace lmarvel {

class Factor {
public:
    explicit Factor(GlmFits& fits) : fits_(fits) {}

    // Responses are columns in a row from `first` on; nothing is taken off them yet.
    void begin(Index first, std::size_t responses) {
        first_ = first, m_ = responses;
        column_.clear();
        left_.assign(1, Vector(m_ * m_));
        for (std::size_t a = 0; a < m_; ++a)
            for (std::size_t b = 0; b < m_; ++b) left_[0][a * m_ + b] = fits_.gram(first + Index(a), first + Index(b));
    }

    std::size_t columns() const { return column_.size(); }

    // Forget the columns after the first `count`.
    void restore(std::size_t count) {
        column_.resize(count);
        left_.resize(count + 1);
    }

    // Take a column in. One that those before it determine takes nothing off.
    void push(Index c) {
        const std::size_t k = column_.size();
        if (row_.size() < k + 1) row_.resize(k + 1), on_.resize(k + 1);
        Vector& row = row_[k];
        row.resize(k + 1);
        const double whole = fits_.gram(c, c);
        double rest = whole;
        for (std::size_t i = 0; i < k; ++i) {
            double s = fits_.gram(c, column_[i]);
            for (std::size_t j = 0; j < i; ++j) s -= row[j] * row_[i][j];
            row[i] = s * row_[i][i];
            rest -= row[i] * row[i];
        }
        row[k] = rest > NEAR_SINGULAR * whole && rest > 0.0 ? 1.0 / std::sqrt(rest) : 0.0;  // the inverse of the pivot
        on_[k].resize(m_);
        left_.push_back(left_.back());
        for (std::size_t a = 0; a < m_; ++a) {
            double s = fits_.gram(c, first_ + Index(a));
            for (std::size_t i = 0; i < k; ++i) s -= row[i] * on_[i][a];
            on_[k][a] = s * row[k];
        }
        for (std::size_t a = 0; a < m_; ++a)
            for (std::size_t b = 0; b < m_; ++b) left_.back()[a * m_ + b] -= on_[k][a] * on_[k][b];
        column_.push_back(c);
    }

    // The logarithm of the determinant of what is left of the responses, per row.
    double log_left() {
        work_ = left_.back();
        double total = 0.0;
        for (std::size_t a = 0; a < m_; ++a) {  // pivots, none below a share of what the response had
            const double whole = left_[0][a * (m_ + 1)], pivot = std::max(work_[a * (m_ + 1)], NEAR_SINGULAR * whole);
            total += std::log(std::max(pivot / fits_.rows, 1e-300));
            if (!(pivot > 0.0)) continue;  // a category without rows
            for (std::size_t b = a + 1; b < m_; ++b)
                for (std::size_t c = b; c < m_; ++c) {
                    work_[b * m_ + c] -= work_[a * m_ + b] * work_[a * m_ + c] / pivot;
                    work_[c * m_ + b] = work_[b * m_ + c];
                }
        }
        return total;
    }

    // The residuals of the first response in every `step`-th row.
    void residuals(Index response, std::size_t step, Vector& out) {
        const std::size_t k = column_.size(), n = (std::size_t(fits_.table.n) + step - 1) / step;
        slope_.resize(k);
        for (std::size_t i = k; i-- > 0;) {
            double s = on_[i][0];
            for (std::size_t j = i + 1; j < k; ++j) s -= row_[j][i] * slope_[j];
            slope_[i] = s * row_[i][i];
        }
        const double* own = fits_.column(response);
        out.resize(n);
        for (std::size_t r = 0; r < n; ++r) out[r] = own[r * step];
        for (std::size_t i = 0; i < k; ++i) {
            const double by = slope_[i];
            if (by == 0.0) continue;
            const double* column = fits_.column(column_[i]);
            if (step == 1)
                for (std::size_t r = 0; r < n; ++r) out[r] -= by * column[r];
            else
                for (std::size_t r = 0; r < n; ++r) out[r] -= by * column[r * step];
        }
    }

private:
    GlmFits& fits_;
    Index first_ = 0;
    std::size_t m_ = 1;
    std::vector<Index> column_;
    std::vector<Vector> row_, on_, left_;  // a row of the factor, and what it takes of the responses; what is left after each
    Vector work_, slope_;
};

}  // namespace lmarvel
