// Generalised linear models of one variable of a table on chosen columns: least squares for a number, logistic and
// multinomial logistic regression for categories. Fits are remembered by variable and set of columns. The readable twin is
// lmarvel/ci/glm/fits.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/hash.hpp"
#include "base/linear.hpp"
#include "base/sets.hpp"
#include "base/watch.hpp"

namespace lmarvel {

inline constexpr double RIDGE = 1e-3;        // on slopes of a logistic fit: separated categories must not send it to infinity
inline constexpr double NEAR_SINGULAR = 1e-9;  // a variance below this share of a column's own counts as zero
inline constexpr int MOST_NEWTON = 25;

// Variables as basis columns: the first of a number is the number itself, those of categories are the indicators of all
// but category 0.
struct GlmColumns {
    const double* basis = nullptr;         // a column after the other
    const Index* starts = nullptr;         // where the columns of each variable begin, and the number of columns
    const Index* categories = nullptr;     // 0: a number
    const std::uint16_t* codes = nullptr;  // the category of each row, a variable after the other
    const double* weights = nullptr;       // of the rows; null: all one
    const double* shifts = nullptr;        // what a number is to be raised by to be a count, rescaled; 0: it is not one
    Index p = 0;
    std::int64_t n = 0;
};

struct GlmFit {
    double loglik = 0.0;
    bool converged = true;
    // For each category but 0, or for a number: the intercept, and a slope for each column in ascending order.
    Vector coefficients;
    Vector residuals;  // where somebody asked for them: a column after the other, the number or indicator less its mean
};

using Fitted = std::shared_ptr<const GlmFit>;

class GlmFits {
public:
    // Of what is remembered, at most so many bytes are kept.
    GlmFits(const GlmColumns& columns, std::size_t most_bytes);

    // The fit of a variable on ascending columns, none of its own.
    Fitted fit(Index v, const std::vector<Index>& columns, bool residuals, const Clock& clock = Clock());
    // What columns leave of another column by least squares, with its residuals.
    Fitted projected(Index column, const std::vector<Index>& columns);
    // A count with its residuals, by least squares or by a log-linear model, whichever leaves less; the coefficients and the
    // log-likelihood are those of least squares.
    Fitted counted(Index v, const std::vector<Index>& columns, const Clock& clock = Clock());
    bool is_count(Index v) const { return table.shifts != nullptr && table.shifts[v] > 0.0; }

    const GlmColumns table;
    double rows = 0.0;        // the sum of weights
    std::int64_t fitted = 0;  // fits that were worked out, not remembered
    std::size_t responses(Index v) const {
        return table.categories[v] == 0 ? 1 : static_cast<std::size_t>(table.categories[v] - 1);
    }
    const double* column(Index c) const { return table.basis + static_cast<std::size_t>(c) * n_; }
    double gram(Index a, Index b);  // the sum of products, both centred

private:
    const std::size_t n_, columns_;
    const std::size_t most_bytes_;
    std::size_t bytes_ = 0;
    std::unordered_map<Words, std::shared_ptr<GlmFit>, HashWords> known_;
    Vector means_;
    std::vector<Vector> gram_;  // the upper triangle; a row is empty, and a number NaN, until it is needed
    Words key_;
    Vector A_, b_, gradient_, hessian_, step_, trial_, work_;
    std::vector<const double*> design_;
    Vector ones_;

    std::shared_ptr<GlmFit>& room(std::size_t of, const std::vector<Index>& columns, std::size_t bytes);
    void least_squares(Index own, const std::vector<Index>& columns, GlmFit& fit);
    double newton(Index v, const std::vector<Index>& columns, const Clock& clock, Vector& at, bool& converged);
    void logistic(Index v, const std::vector<Index>& columns, const Clock& clock, GlmFit& fit);
    void discriminant(Index v, const std::vector<Index>& columns, Vector& start);
    double derive(Index v, const Vector& coefficients, bool second);
    bool refresh(Index v, const Vector& at);
    double newton_step();
    void subtract(Index own, const std::vector<Index>& columns, GlmFit& fit);
    void fill_chances(Index v, const std::vector<Index>& columns, GlmFit& fit);
    void project(const std::vector<Index>& columns, std::size_t responses);
};

}  // namespace lmarvel
