#include "glm/test.hpp"

#include <algorithm>
#include <cmath>

#include "glm/rows.hpp"
#include "independence/margins.hpp"

namespace lmarvel {

namespace {

// The residual columns of categories, and their indicators.
struct Chances {
    const double* const* residuals;
    const double* const* indicators;
    std::size_t m;
};

// Sums of products (rows of `out`, its lower triangle), and of the products' products, of d products of residuals.
LMARVEL_WIDE void moments(const std::pair<const double*, const double*>* pairs, std::size_t d, const double* weights,
                          std::size_t n, double* room, double* sums, double* squares) {
    double ones[ROW_BLOCK], scaled[ROW_BLOCK];
    for (std::size_t i = 0; i < ROW_BLOCK; ++i) ones[i] = 1.0;
    for (std::size_t at = 0; at < n; at += ROW_BLOCK) {
        const std::size_t rows = std::min(ROW_BLOCK, n - at);
        for (std::size_t a = 0; a < d; ++a) {
            double* const own = room + a * ROW_BLOCK;
            const double *const one = pairs[a].first + at, *const two = pairs[a].second + at;
            for (std::size_t i = 0; i < rows; ++i) own[i] = one[i] * two[i];
        }
        for (std::size_t a = 0; a < d; ++a) {
            const double* const own = room + a * ROW_BLOCK;
            for (std::size_t i = 0; i < rows; ++i) scaled[i] = own[i] * (weights == nullptr ? 1.0 : weights[at + i]);
            sums[a] += dot(scaled, ones, rows);
            for (std::size_t b = 0; b <= a; ++b) squares[a * d + b] += dot(scaled, room + b * ROW_BLOCK, rows);
        }
    }
}

// The covariances of the residuals of a variable in a block of rows by its chances, which are indicators less residuals:
// lines of ROW_BLOCK, by a and b <= a.
LMARVEL_INLINE void spread(const Chances& v, std::size_t at, std::size_t rows, double* out) {
    for (std::size_t a = 0; a < v.m; ++a) {
        for (std::size_t b = 0; b <= a; ++b, out += ROW_BLOCK) {
            const double *const one = v.indicators[a] + at, *const left = v.residuals[a] + at;
            const double *const two = v.indicators[b] + at, *const other = v.residuals[b] + at;
            const double own = a == b ? 1.0 : 0.0;
            for (std::size_t i = 0; i < rows; ++i) {  // least squares has chances outside of 0 to 1
                const double p = std::min(std::max(one[i] - left[i], 0.0), 1.0);
                const double q = std::min(std::max(two[i] - other[i], 0.0), 1.0);
                out[i] = p * (own - q);
            }
        }
    }
}

// Sums of the covariances of products of residuals as the chances of both sides have it, a lower triangle.
LMARVEL_WIDE void expected_squares(const Chances& x, const Chances& y, const double* weights, std::size_t n, double* room,
                                   double* squares) {
    const std::size_t d = x.m * y.m, of_x = x.m * (x.m + 1) / 2;
    double scaled[ROW_BLOCK];
    const auto at_pair = [](std::size_t a, std::size_t b) { return a < b ? b * (b + 1) / 2 + a : a * (a + 1) / 2 + b; };
    for (std::size_t at = 0; at < n; at += ROW_BLOCK) {
        const std::size_t rows = std::min(ROW_BLOCK, n - at);
        double* const other = room + of_x * ROW_BLOCK;
        spread(x, at, rows, room);
        spread(y, at, rows, other);
        for (std::size_t a = 0; a < x.m; ++a) {
            for (std::size_t b = 0; b <= a; ++b) {
                const double* const own = room + at_pair(a, b) * ROW_BLOCK;
                for (std::size_t i = 0; i < rows; ++i) scaled[i] = own[i] * (weights == nullptr ? 1.0 : weights[at + i]);
                for (std::size_t c = 0; c < y.m; ++c) {
                    for (std::size_t e = 0; e <= c; ++e) {
                        const double found = dot(scaled, other + at_pair(c, e) * ROW_BLOCK, rows);
                        squares[(a * y.m + c) * d + b * y.m + e] += found;
                        if (c != e && a != b) squares[(a * y.m + e) * d + b * y.m + c] += found;
                    }
                }
            }
        }
    }
}

LMARVEL_WIDE double sum_of_squares(const double* a, const double* weights, std::size_t n) {
    if (weights == nullptr) return dot(a, a, n);
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) total += weights[i] * a[i] * a[i];
    return total;
}

}  // namespace

GlmTest::GlmTest(const GlmColumns& columns) : fits_(columns, std::size_t{1} << 27) {
    every = 15;
    for (Index v = 0; v < columns.p; ++v) size_.push_back(columns.starts[v + 1] - columns.starts[v]);
    rows_ = fits_.rows;
    rate_ = COLUMNS_A_ROW;
}

void GlmTest::start(Index x, Index y) {
    x_ = x;
    y_ = y;
}

void GlmTest::push(std::size_t d, Index w) {
    if (d >= member_.size()) member_.resize(d + 1);
    member_[d] = w;
}

void GlmTest::search(const Query& query, Found& found) { search_subsets(*this, query, found); }

void GlmTest::set_given(const Index* members, std::size_t d) {
    given_.clear();
    fewer_.clear();
    held_.clear();
    for (std::size_t i = 0; i < d; ++i) {
        const Index v = members[i], first = fits_.table.starts[v], end = fits_.table.starts[v + 1];
        const Index last = fits_.table.categories[v] == 0 ? std::min(end, first + 1 + MODEL_BENDS) : end;
        for (Index c = first; c < end; ++c) given_.push_back(c);
        for (Index c = first; c < last; ++c) fewer_.push_back(c);
    }
    std::sort(given_.begin(), given_.end());
    std::sort(fewer_.begin(), fewer_.end());
}

// The residual columns of a variable given the set, by its own model or by least squares; false where nothing is left.
bool GlmTest::residuals(Index v, bool model, Columns& out) {
    const auto n = static_cast<std::size_t>(fits_.table.n);
    const Index first = fits_.table.starts[v];
    double left = 0.0, whole = 0.0;
    const bool number = fits_.table.categories[v] == 0;
    if (model || number) {
        if (model && fits_.is_count(v)) held_.push_back(fits_.counted(v, given_));
        else held_.push_back(fits_.fit(v, number ? given_ : fewer_, true));
        for (std::size_t a = 0; a < fits_.responses(v); ++a) out.push_back(held_.back()->residuals.data() + a * n);
    } else {
        for (Index c = first; c < fits_.table.starts[v + 1]; ++c) {
            held_.push_back(fits_.projected(c, given_));
            out.push_back(held_.back()->residuals.data());
        }
    }
    for (std::size_t a = 0; a < out.size(); ++a) {
        left += sum_of_squares(out[a], fits_.table.weights, n);
        whole += fits_.gram(first + static_cast<Index>(a), first + static_cast<Index>(a));
    }
    return left > DETERMINED * whole;
}

// What the set leaves of the smoothest bends of a number.
void GlmTest::tails(Index v, Columns& out) {
    if (fits_.table.categories[v] != 0) return;
    const Index first = fits_.table.starts[v] + 1;
    const Index end = std::min(fits_.table.starts[v + 1], first + TESTED_BENDS);
    for (Index c = first; c < end; ++c) {
        held_.push_back(fits_.projected(c, given_));
        out.push_back(held_.back()->residuals.data());
    }
}

double GlmTest::pvalue(std::size_t d, double) {
    set_given(member_.data(), d);
    Columns x, y, tails_x, tails_y;
    statistic = HUGE_VAL;
    df = 0;
    of_x_ = x_;
    of_y_ = y_;
    if (!residuals(x_, true, x) || !residuals(y_, true, y)) return 0.0;
    tails(x_, tails_x);
    tails(y_, tails_y);
    return judge(x, tails_x, y, tails_y);
}

double GlmTest::by_target(Index target, Index other, const std::vector<Index>& given) {
    if (!affords(target, other, given)) return -1.0;
    set_given(given.data(), given.size());
    Columns x, y, none, tails_y;
    statistic = HUGE_VAL;
    df = 0;
    of_x_ = target;
    of_y_ = other;
    if (!residuals(target, true, x) || !residuals(other, false, y)) return 0.0;
    tails(other, tails_y);
    return judge(x, none, y, tails_y);
}

double GlmTest::judge(const Columns& x, const Columns& tails_x, const Columns& y, const Columns& tails_y) {
    // Categories stand by frequency: where products would be many for the rows, the rarest are left out.
    const double most = std::max(rows_ / ROWS_A_PRODUCT, 1.0);
    std::size_t of_x = x.size(), of_y = y.size();
    while (static_cast<double>(of_x * of_y) > most && of_x * of_y > 1) --(of_x > of_y ? of_x : of_y);
    std::vector<std::pair<const double*, const double*>> lines, bends;
    for (std::size_t a = 0; a < of_x; ++a)
        for (std::size_t b = 0; b < of_y; ++b) lines.emplace_back(x[a], y[b]);
    for (std::size_t a = 0; a < of_x; ++a)
        for (const double* tail : tails_y) bends.emplace_back(x[a], tail);
    for (std::size_t b = 0; b < of_y; ++b)
        for (const double* tail : tails_x) bends.emplace_back(y[b], tail);
    Judged line = judge(lines);
    if (fits_.table.categories[of_x_] != 0 && fits_.table.categories[of_y_] != 0) check_by_chances(x, of_x, y, of_y, line);
    statistic = line.statistic;
    df = line.df;
    if (bends.empty() || static_cast<double>(bends.size()) > most) return line.pvalue;
    const Judged bend = judge(bends);
    const double least = std::min({line.pvalue / LINE, bend.pvalue / (1.0 - LINE), 1.0 / LINE});
    if (bend.pvalue / (1.0 - LINE) < line.pvalue / LINE) {
        statistic = bend.statistic;
        df = bend.df;
    }
    return std::min(least * (1.0 - LINE * (1.0 - LINE) * least), 1.0);
}

// Hotelling's test that the products have mean zero; what the set's columns took is taken off the rows.
GlmTest::Judged GlmTest::judge(const std::vector<std::pair<const double*, const double*>>& pairs) {
    const std::size_t d = pairs.size(), n = static_cast<std::size_t>(fits_.table.n);
    product_.resize(d * ROW_BLOCK);
    mean_.assign(d, 0.0);
    covariance_.assign(d * d, 0.0);
    moments(pairs.data(), d, fits_.table.weights, n, product_.data(), mean_.data(), covariance_.data());
    for (double& m : mean_) m /= rows_;
    Judged found;
    const double total = length(true, found.df);
    found.statistic = rows_ * total;
    if (found.df == 0) return found;  // no row tells anything: nothing speaks against independence
    const auto kept = static_cast<double>(found.df);
    const double free = rows_ - 1.0 - static_cast<double>(given_.size()) - kept;
    found.pvalue = beta_tail(0.5 * kept, 0.5 * std::max(free, 1.0), 1.0 / (1.0 + total));
    return found;
}

// Cells that hold hardly a row have an empirical covariance that is too small where they hold none, and chances have one
// that is too small where they hold some: the larger p-value of the two stands.
void GlmTest::check_by_chances(const Columns& x, std::size_t of_x, const Columns& y, std::size_t of_y, Judged& line) {
    const auto n = static_cast<std::size_t>(fits_.table.n);
    Columns own, other;
    for (std::size_t a = 0; a < of_x; ++a) own.push_back(fits_.column(fits_.table.starts[of_x_] + static_cast<Index>(a)));
    for (std::size_t b = 0; b < of_y; ++b) other.push_back(fits_.column(fits_.table.starts[of_y_] + static_cast<Index>(b)));
    product_.resize((of_x * (of_x + 1) + of_y * (of_y + 1)) / 2 * ROW_BLOCK);
    covariance_.assign(of_x * of_y * of_x * of_y, 0.0);
    expected_squares({x.data(), own.data(), of_x}, {y.data(), other.data(), of_y}, fits_.table.weights, n,
                     product_.data(), covariance_.data());
    Judged found;
    found.statistic = (rows_ - 1.0 - static_cast<double>(given_.size())) * length(false, found.df);
    if (found.df > 0) found.pvalue = chi_square_tail(found.statistic, found.df);
    if (found.pvalue > line.pvalue) line = found;
}

// The squared length m' C^-1 m of the means, by a covariance in covariance_ (sums, its lower triangle), less the squares of
// the means if it is empirical; `df` gets the rank.
double GlmTest::length(bool empirical, std::int64_t& df) {
    const std::size_t d = mean_.size();
    // A Cholesky factor, row by row, of what no products before determine; and what the means have along it.
    factor_.assign(d * d, 0.0);
    std::vector<std::size_t> kept;
    Vector along;
    double total = 0.0;
    for (std::size_t a = 0; a < d; ++a) {
        const std::size_t r = kept.size();
        double* const row = factor_.data() + r * d;
        const double own = covariance_[a * d + a] / rows_, mean = empirical ? mean_[a] : 0.0;
        double left = own - mean * mean, m = mean_[a];
        for (std::size_t i = 0; i < r; ++i) {
            const double* const other = factor_.data() + i * d;
            double s = covariance_[a * d + kept[i]] / rows_ - mean * mean_[kept[i]];
            for (std::size_t k = 0; k < i; ++k) s -= row[k] * other[k];
            row[i] = s / other[i];
            left -= row[i] * row[i];
            m -= row[i] * along[i];
        }
        if (!(left > 1e-8 * own)) continue;
        row[r] = std::sqrt(left);
        along.push_back(m / row[r]);
        kept.push_back(a);
        total += along[r] * along[r];
    }
    df = static_cast<std::int64_t>(kept.size());
    return total;
}

}  // namespace lmarvel
