// The test of products of residuals (Shah & Peters 2020) for tables of numbers and categories. The readable twin is
// lmarvel/ci/glm/residuals.py, which says what is tested and why.
#pragma once

#include <memory>
#include <vector>

#include "glm/fits.hpp"
#include "independence/tests.hpp"

namespace lmarvel {

inline constexpr double COLUMNS_A_ROW = 5.0;     // rows that a test needs for each column
inline constexpr double ROWS_A_PRODUCT = 10.0;   // and for each product of residuals; else the rarest categories are left out
inline constexpr Index TESTED_BENDS = 2;
inline constexpr Index MODEL_BENDS = 3;          // of each number, in models of categories: each costs a pass over the rows
inline constexpr double LINE = 0.8;              // the share of the level that goes to lines, the rest to bends
inline constexpr double DETERMINED = 1e-5;       // a residual variance below this share of the variable's own is none

class GlmTest final : public Test {
public:
    explicit GlmTest(const GlmColumns& columns);
    void start(Index x, Index y) override;
    void push(std::size_t d, Index w) override;
    double pvalue(std::size_t d, double bound) override;
    void search(const Query& query, Found& found) override;
    // The p-value by the model of the target alone: the other side is taken out of the set by least squares.
    double by_target(Index target, Index other, const std::vector<Index>& given);

private:
    using Columns = std::vector<const double*>;
    struct Judged { double statistic = 0.0, pvalue = 1.0; std::int64_t df = 0; };
    GlmFits fits_;
    Index x_ = 0, y_ = 0, of_x_ = 0, of_y_ = 0;  // the pair of a search, and that of a test
    std::vector<Index> member_, given_, fewer_;  // fewer: for models of categories
    std::vector<std::shared_ptr<const GlmFit>> held_;  // so that memory does not forget what is looked at
    Vector product_, covariance_, mean_, factor_;

    void set_given(const Index* members, std::size_t d);
    bool residuals(Index v, bool model, Columns& out);
    void tails(Index v, Columns& out);
    double judge(const Columns& x, const Columns& tails_x, const Columns& y, const Columns& tails_y);
    Judged judge(const std::vector<std::pair<const double*, const double*>>& pairs);
    void check_by_chances(const Columns& x, std::size_t of_x, const Columns& y, std::size_t of_y, Judged& line);
    double length(bool empirical, std::int64_t& df);
};

}  // namespace lmarvel
