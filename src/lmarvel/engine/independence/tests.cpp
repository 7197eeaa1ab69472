#include "independence/tests.hpp"

#include <algorithm>
#include <cmath>

namespace lmarvel {

double pvalue_of(double r2, std::int64_t df) {
    if (r2 >= 1.0) return 0.0;
    return std::erfc(std::sqrt(static_cast<double>(df) * 0.5) * std::atanh(std::sqrt(r2)));
}

namespace {
constexpr std::int64_t MANY = 1000000000;  // degrees of freedom, of which nothing is lost in Wilson and Hilferty's tail

double tail_of_many(double statistic, double df) {
    const double ninth = 2.0 / (9.0 * df);
    return 0.5 * std::erfc((std::cbrt(statistic / df) - 1.0 + ninth) / std::sqrt(2.0 * ninth));
}
}  // namespace

// Q(a, x) with a = df / 2, x = statistic / 2 is the sum of e^-x x^k / Gamma(k + 1) for k = a - 1, a - 2, ... down to 0, or
// to 1/2 and erfc(sqrt x). All terms are positive. It is summed from the top; terms rise until k = x, and fall then: of
// k, about its root are added.
double chi_square_tail(double statistic, std::int64_t df) {
    if (statistic <= 0.0) return 1.0;
    if (!std::isfinite(statistic)) return std::isnan(statistic) ? statistic : 0.0;
    if (df > MANY) return tail_of_many(statistic, static_cast<double>(df));
    const double x = 0.5 * statistic;
    double k = 0.5 * static_cast<double>(df) - 1.0;
    double sum = df % 2 ? std::erfc(std::sqrt(x)) : 0.0;
    if (k < 0.0) return sum;
    const double exponent = k * std::log(x) - x - std::lgamma(k + 1.0);
    if (k > x && exponent < -100.0) return 1.0;  // so far below its mean that the first term may not be there
    double term = std::exp(exponent);
    for (; k >= 0.0; --k) {
        sum += term;
        term *= k / x;
        if (k < x && term <= 1e-17 * sum) break;  // also where both are too small to be there
    }
    return std::min(sum, 1.0);
}

double Test::cost(Index x, Index y, View given) const {
    double total = and_(size_[static_cast<std::size_t>(x)], y);
    for (Index v : given) total = and_(total, v);
    return total;
}

bool Test::affords(Index x, Index y, const std::vector<Index>& given) const {
    return cost(x, y, given) * rate_ <= rows_;
}

std::int64_t Test::most(Index x, Index y, View beside, View pool, std::int64_t top) const {
    double total = cost(x, y, beside), all = total;
    for (Index v : pool) all = and_(all, v);
    if (all * rate_ <= rows_) return top;
    std::vector<Index> cheap(pool.begin(), pool.end());
    std::sort(cheap.begin(), cheap.end(), [this](Index a, Index b) {
        return size_[static_cast<std::size_t>(a)] < size_[static_cast<std::size_t>(b)];
    });
    std::int64_t members = -1;
    while (total * rate_ <= rows_ && members < top) {
        ++members;
        if (members < static_cast<std::int64_t>(cheap.size())) {
            total = and_(total, cheap[static_cast<std::size_t>(members)]);
        }
    }
    return members;
}

double Test::single(Index x, Index y, const std::vector<Index>& given) {
    if (!affords(x, y, given)) return 0.0;
    start(x, y);
    for (std::size_t d = 0; d < given.size(); ++d) push(d, given[d]);
    return pvalue(given.size(), -1.0);
}

void FisherZ::search(const Query& query, Found& found) { search_subsets(*this, query, found); }

// --- blocks -----------------------------------------------------------------------------------------------

BlockGaussian::BlockGaussian(const Blocks& blocks)
    : blocks_(blocks), columns_(static_cast<std::size_t>(blocks.starts[blocks.p])) {
    for (Index v = 0; v < blocks.p; ++v) size_.push_back(blocks.starts[v + 1] - blocks.starts[v]);
    rows_ = static_cast<double>(blocks.n) - 2.0;  // so that n - |Z| - 3 is 1 at least with single columns
}

void BlockGaussian::ask(Index x, Index y) {
    asked_.clear();
    for (Index v : {x, y}) {
        for (Index c = blocks_.starts[v]; c < blocks_.starts[v + 1]; ++c) asked_.push_back(static_cast<std::size_t>(c));
    }
    q_ = asked_.size();
    of_x_ = static_cast<std::size_t>(blocks_.starts[x + 1] - blocks_.starts[x]);
    last_.pvalue = -1.0;
}

void BlockGaussian::search(const Query& query, Found& found) { search_subsets(*this, query, found); }

void BlockGaussian::start(Index x, Index y) {
    ask(x, y);
    at_.assign(1, 0);
    if (residual_.size() < q_ * q_) residual_.resize(q_ * q_);
    for (std::size_t a = 0; a < q_; ++a) {
        // Rows are of what comes first, as in the readable code: rounding leaves the two triangles unequal.
        for (std::size_t b = 0; b <= a; ++b) residual_[a * q_ + b] = r(asked_[b], asked_[a]);
    }
}

// Append the columns of w to a Cholesky factor of the columns before it, and take out of S what they explain.
void BlockGaussian::push(std::size_t d, Index w) {
    std::size_t e = at_[d];
    const auto first = static_cast<std::size_t>(blocks_.starts[w]), last = static_cast<std::size_t>(blocks_.starts[w + 1]);
    const std::size_t end = e + last - first;
    if (column_.size() < end) {
        column_.resize(std::max(end, 2 * column_.size()));
        inverse_.resize(column_.size());
        row_.resize(triangle(column_.size()));
    }
    if (on_.size() < end * q_) on_.resize(std::max(end * q_, 2 * on_.size()));
    if (residual_.size() < (d + 2) * q_ * q_) residual_.resize(std::max((d + 2) * q_ * q_, 2 * residual_.size()));
    if (at_.size() < d + 2) at_.resize(d + 2);
    double* S = residual_.data() + (d + 1) * q_ * q_;
    std::copy_n(residual_.data() + d * q_ * q_, q_ * q_, S);
    for (std::size_t c = first; c < last; ++c) {
        double left = 1.0;
        double* own = row_.data() + triangle(e);
        double* on = on_.data() + e * q_;
        for (std::size_t j = 0; j < q_; ++j) on[j] = r(c, asked_[j]);
        for (std::size_t i = 0; i < e; ++i) {
            const double* other = row_.data() + triangle(i);
            const double* before = on_.data() + i * q_;
            double s = r(column_[i], c);
            for (std::size_t k = 0; k < i; ++k) s -= own[k] * other[k];
            s *= inverse_[i];
            own[i] = s;
            left -= s * s;
            for (std::size_t j = 0; j < q_; ++j) on[j] -= s * before[j];
        }
        column_[e] = c;
        inverse_[e] = left > PIVOT ? 1.0 / std::sqrt(left) : 0.0;  // 0: a combination of those before it
        for (std::size_t j = 0; j < q_; ++j) on[j] *= inverse_[e];
        for (std::size_t a = 0; a < q_; ++a) {
            for (std::size_t b = 0; b <= a; ++b) S[a * q_ + b] -= on[a] * on[b];
        }
        ++e;
    }
    at_[d + 1] = e;
}

double BlockGaussian::pvalue(std::size_t d, double bound) {
    return judge(residual_.data() + d * q_ * q_, static_cast<std::int64_t>(at_[d]), bound);
}

// Keep the columns of one side that the set, and the columns before, leave something of; `own_` gets their pivots.
void BlockGaussian::keep(const double* S, std::size_t first, std::size_t end, std::vector<std::size_t>& kept) {
    kept.clear();
    own_.clear();
    factor_.resize((end - first) * (end - first));
    for (std::size_t a = first; a < end; ++a) {
        const std::size_t n = kept.size();
        double* row = factor_.data() + n * (end - first);
        double left = S[a * q_ + a];
        for (std::size_t i = 0; i < n; ++i) {
            const double* other = factor_.data() + i * (end - first);
            double s = S[a * q_ + kept[i]];
            for (std::size_t k = 0; k < i; ++k) s -= row[k] * other[k];
            row[i] = s / other[i];
            left -= row[i] * row[i];
        }
        if (left <= PIVOT) continue;
        row[n] = std::sqrt(left);
        kept.push_back(a);
        own_.push_back(left);
    }
}

// The pivots of a Cholesky factor of the columns that are kept of both sides, in `joint_`; false where one is zero.
bool BlockGaussian::pivots(const double* S) {
    std::vector<std::size_t>& order = order_;
    order.assign(x_.begin(), x_.end());
    order.insert(order.end(), y_.begin(), y_.end());
    const std::size_t n = order.size();
    factor_.resize(n * n);
    joint_.resize(n);
    for (std::size_t a = 0; a < n; ++a) {
        double* row = factor_.data() + a * n;
        double left = S[order[a] * q_ + order[a]];
        for (std::size_t i = 0; i < a; ++i) {
            const double* other = factor_.data() + i * n;
            double s = S[std::max(order[a], order[i]) * q_ + std::min(order[a], order[i])];
            for (std::size_t k = 0; k < i; ++k) s -= row[k] * other[k];
            row[i] = s / other[i];
            left -= row[i] * row[i];
        }
        if (left <= PIVOT) return false;
        row[a] = std::sqrt(left);
        joint_[a] = left;
    }
    return true;
}

// The p-value of a residual covariance (its lower triangle) given so many columns; 0, not independent, where the set
// determines one side, or one side the other.
double BlockGaussian::judge(const double* S, std::int64_t given, double bound) {
    std::int64_t key;
    double value;
    if (q_ > 2) {
        keep(S, 0, of_x_, x_);
        keep(S, of_x_, q_, y_);  // whose own pivots stay
    } else {
        x_.assign(S[0] > PIVOT ? 1 : 0, 0);
        y_.assign(S[3] > PIVOT ? 1 : 0, 1);
    }
    if (x_.empty() || y_.empty()) return 0.0;
    const auto rank_x = static_cast<std::int64_t>(x_.size()), rank_y = static_cast<std::int64_t>(y_.size());
    const bool single = rank_x == 1 && rank_y == 1;
    if (single) {
        const std::size_t x = x_[0], y = y_[0];
        const double c = S[y * q_ + x], r2 = c * c / (S[x * q_ + x] * S[y * q_ + y]);
        value = r2 < 1.0 ? r2 : 1.0;
        key = -1 - given;
    } else {
        if (!pivots(S)) return 0.0;
        double lambda = 1.0;
        for (std::size_t j = 0; j < y_.size(); ++j) lambda *= joint_[x_.size() + j] / own_[j];
        const double scale = static_cast<double>(blocks_.n - 1 - given) - 0.5 * static_cast<double>(rank_x + rank_y + 1);
        key = rank_x * rank_y;
        value = lambda > 0.0 ? std::max(-scale * std::log(lambda), 0.0) : HUGE_VAL;
    }
    // The p-value falls as the statistic grows: what was no smaller before needs no second look.
    if (last_.pvalue >= 0.0 && last_.key == key && value >= last_.value && last_.pvalue <= bound) return 0.0;
    const double p = single ? pvalue_of(value, blocks_.n - given - 3) : chi_square_tail(value, key);
    last_.key = key;
    last_.value = value;
    last_.pvalue = p;
    df = single ? 1 : key;
    statistic = value;
    if (single) {
        const double z = value < 1.0 ? std::atanh(std::sqrt(value)) : HUGE_VAL;
        statistic = static_cast<double>(blocks_.n - given - 3) * z * z;
    }
    return p;
}

// Lambda of a pair given all others: the residual covariance is the inverse of a block of the precision matrix.
double BlockGaussian::given_rest(const double* precision, Index x, Index y) {
    ask(x, y);
    const std::size_t w = q_;
    std::vector<double> L(w * w, 0.0), inverse(w * w, 0.0), S(w * w, 0.0);
    for (std::size_t a = 0; a < w; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            double s = precision[asked_[a] * columns_ + asked_[b]];
            for (std::size_t k = 0; k < b; ++k) s -= L[a * w + k] * L[b * w + k];
            L[a * w + b] = a == b ? std::sqrt(std::max(s, 1e-300)) : s / L[b * w + b];
        }
    }
    for (std::size_t c = 0; c < w; ++c) {  // the columns of the inverse of L
        for (std::size_t a = c; a < w; ++a) {
            double s = a == c ? 1.0 : 0.0;
            for (std::size_t k = c; k < a; ++k) s -= L[a * w + k] * inverse[k * w + c];
            inverse[a * w + c] = s / L[a * w + a];
        }
    }
    for (std::size_t a = 0; a < w; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            for (std::size_t k = a; k < w; ++k) S[a * w + b] += inverse[k * w + a] * inverse[k * w + b];
        }
    }
    return judge(S.data(), static_cast<std::int64_t>(columns_ - w), -1.0);
}

}  // namespace lmarvel
