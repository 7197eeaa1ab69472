#include "glm/fits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "glm/rows.hpp"

namespace lmarvel {

namespace {

constexpr double SETTLED = 1e-5;  // twice the log-likelihood that a further step would gain
constexpr double PI2 = 6.283185307179586;

LMARVEL_WIDE double product(const double* a, const double* b, const double* weights, std::size_t n) {
    if (weights == nullptr) return dot(a, b, n);
    double total = 0.0, part[ROW_BLOCK];
    for (std::size_t at = 0; at < n; at += ROW_BLOCK) {
        const std::size_t rows = std::min(ROW_BLOCK, n - at);
        for (std::size_t i = 0; i < rows; ++i) part[i] = a[at + i] * weights[at + i];
        total += dot(part, b + at, rows);
    }
    return total;
}

// The model of categories on a design whose first column is ones.
struct Softmax {
    const double* const* design;
    std::size_t q, m, n;           // columns with the ones, categories but 0, rows
    const std::uint16_t* codes;
    const double* weights;
    const double* coefficients;    // m x q
};

// The chances of the categories but 0 in a block of rows, each a line of ROW_BLOCK; `own` gets the linear predictor of the
// row's own category less the largest, `sums` what its exponential is divided by.
LMARVEL_INLINE void chances(const Softmax& s, std::size_t at, std::size_t rows, double* chance, double* own, double* sums) {
    double top[ROW_BLOCK];
    for (std::size_t i = 0; i < rows; ++i) top[i] = 0.0;
    for (std::size_t a = 0; a < s.m; ++a) {
        double* const eta = chance + a * ROW_BLOCK;
        const double* const c = s.coefficients + a * s.q;
        for (std::size_t i = 0; i < rows; ++i) eta[i] = c[0];
        for (std::size_t j = 1; j < s.q; ++j) add_scaled(eta, c[j], s.design[j] + at, rows);
        for (std::size_t i = 0; i < rows; ++i) top[i] = eta[i] > top[i] ? eta[i] : top[i];
    }
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint16_t code = s.codes[at + i];
        own[i] = (code == 0 ? 0.0 : chance[(code - 1u) * ROW_BLOCK + i]) - top[i];
    }
    for (std::size_t i = 0; i < rows; ++i) sums[i] = exponential(-top[i]);
    for (std::size_t a = 0; a < s.m; ++a) {
        double* const eta = chance + a * ROW_BLOCK;
        for (std::size_t i = 0; i < rows; ++i) eta[i] = exponential(eta[i] - top[i]);
        for (std::size_t i = 0; i < rows; ++i) sums[i] += eta[i];
    }
    for (std::size_t a = 0; a < s.m; ++a) {
        double* const eta = chance + a * ROW_BLOCK;
        for (std::size_t i = 0; i < rows; ++i) eta[i] /= sums[i];
    }
}

// The sum of the logarithms of what chances were divided by, each from 1 to the number of categories: one logarithm serves
// eight rows.
LMARVEL_INLINE double log_likelihood(const Softmax& s, std::size_t at, std::size_t rows, const double* own, double* sums) {
    double total = 0.0;
    if (s.weights != nullptr) {
        for (std::size_t i = 0; i < rows; ++i) total += s.weights[at + i] * (own[i] - std::log(sums[i]));
        return total;
    }
    for (std::size_t i = 0; i < rows; ++i) total += own[i];
    for (std::size_t i = 0; i < rows; i += 8) {
        double product = 1.0;
        for (std::size_t k = i; k < std::min(i + 8, rows); ++k) product *= sums[k];
        total -= std::log(product);
    }
    return total;
}

// Log-likelihood, its gradient (m x q) and the lower blocks of minus its Hessian (mq x mq, a >= b and j >= l).
LMARVEL_WIDE double derivatives(const Softmax& s, double* chance, double* gradient, double* hessian) {
    double total = 0.0;
    double own[ROW_BLOCK], sums[ROW_BLOCK], left[ROW_BLOCK], scaled[ROW_BLOCK];
    const std::size_t q = s.q, m = s.m, size = q * m;
    for (std::size_t at = 0; at < s.n; at += ROW_BLOCK) {
        const std::size_t rows = std::min(ROW_BLOCK, s.n - at);
        chances(s, at, rows, chance, own, sums);
        total += log_likelihood(s, at, rows, own, sums);
        for (std::size_t a = 0; a < m; ++a) {
            const double* const of_a = chance + a * ROW_BLOCK;
            for (std::size_t i = 0; i < rows; ++i) left[i] = (s.codes[at + i] == a + 1 ? 1.0 : 0.0) - of_a[i];
            if (s.weights != nullptr)
                for (std::size_t i = 0; i < rows; ++i) left[i] *= s.weights[at + i];
            for (std::size_t j = 0; j < q; ++j) gradient[a * q + j] += dot(left, s.design[j] + (j == 0 ? 0 : at), rows);
            for (std::size_t b = 0; b <= a; ++b) {
                const double* const of_b = chance + b * ROW_BLOCK;
                for (std::size_t i = 0; i < rows; ++i) left[i] = of_a[i] * ((a == b ? 1.0 : 0.0) - of_b[i]);
                if (s.weights != nullptr)
                    for (std::size_t i = 0; i < rows; ++i) left[i] *= s.weights[at + i];
                for (std::size_t j = 0; j < q; ++j) {
                    const double* const own_column = s.design[j] + (j == 0 ? 0 : at);
                    for (std::size_t i = 0; i < rows; ++i) scaled[i] = left[i] * own_column[i];
                    double* const line = hessian + (a * q + j) * size + b * q;
                    line[0] += dot(scaled, s.design[0], rows);
                    std::size_t l = 1;
                    for (; l + 1 <= j; l += 2) {
                        double one, two;
                        dot_two(scaled, s.design[l] + at, s.design[l + 1] + at, rows, one, two);
                        line[l] += one;
                        line[l + 1] += two;
                    }
                    if (l <= j) line[l] += dot(scaled, s.design[l] + at, rows);
                }
            }
        }
    }
    return total;
}

// Residuals of all categories but 0: m columns of n rows.
LMARVEL_WIDE void residuals_of(const Softmax& s, double* chance, double* out) {
    double own[ROW_BLOCK], sums[ROW_BLOCK];
    for (std::size_t at = 0; at < s.n; at += ROW_BLOCK) {
        const std::size_t rows = std::min(ROW_BLOCK, s.n - at);
        chances(s, at, rows, chance, own, sums);
        for (std::size_t a = 0; a < s.m; ++a) {
            for (std::size_t i = 0; i < rows; ++i) {
                out[a * s.n + at + i] = (s.codes[at + i] == a + 1 ? 1.0 : 0.0) - chance[a * ROW_BLOCK + i];
            }
        }
    }
}

LMARVEL_WIDE void take_off(double* to, double factor, const double* from, double mean, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) to[i] -= factor * (from[i] - mean);
}

}  // namespace

GlmFits::GlmFits(const GlmColumns& columns, std::size_t most_bytes)
    : table(columns), n_(static_cast<std::size_t>(columns.n)),
      columns_(static_cast<std::size_t>(columns.starts[columns.p])), most_bytes_(most_bytes),
      means_(columns_), gram_(columns_), ones_(ROW_BLOCK, 1.0) {
    rows = static_cast<double>(n_);
    if (columns.weights != nullptr) {
        rows = 0.0;
        for (std::size_t i = 0; i < n_; ++i) rows += columns.weights[i];
    }
    const std::vector<double> one(n_, 1.0);
    for (std::size_t c = 0; c < columns_; ++c) {
        means_[c] = product(column(static_cast<Index>(c)), one.data(), columns.weights, n_) / rows;
    }
}

double GlmFits::gram(Index a, Index b) {
    if (a > b) std::swap(a, b);
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    if (gram_[i].empty()) gram_[i].assign(columns_ - i, std::numeric_limits<double>::quiet_NaN());
    double& found = gram_[i][j - i];
    if (std::isnan(found)) {
        found = product(column(a), column(b), table.weights, n_) - rows * means_[i] * means_[j];
        if (std::isnan(found)) found = 0.0;
    }
    return found;
}

const GlmFit& GlmFits::fit(Index v, const std::vector<Index>& columns, bool residuals, const Clock& clock) {
    key_.assign(1, static_cast<std::uint64_t>(v));
    for (Index c : columns) key_.push_back(static_cast<std::uint64_t>(c));
    const std::size_t more = residuals ? responses(v) * n_ * sizeof(double) : 0;
    auto at = known_.find(key_);
    if (at == known_.end() || (more > 0 && at->second.residuals.empty())) {
        const std::size_t size = 2 * key_.size() * sizeof(double) + responses(v) * key_.size() * sizeof(double) + 128;
        if (bytes_ + size + more > most_bytes_) {
            known_.clear();
            bytes_ = 0;
            at = known_.end();
        }
        bytes_ += more;
        if (at == known_.end()) {
            bytes_ += size;
            GlmFit made;
            if (table.categories[v] == 0) least_squares(v, columns, made);
            else logistic(v, columns, clock, made);
            ++fitted;
            at = known_.emplace(key_, std::move(made)).first;
        }
        if (residuals) fill_residuals(v, columns, at->second);
    }
    return at->second;
}

// Factorise the Gram matrix of columns, lower and row by row, and solve for right-hand sides in b_ (columns x responses) by
// it; a column that those before it determine gets slope 0. b_ holds slopes then, step_ what each response lost.
void GlmFits::project(const std::vector<Index>& columns, std::size_t responses) {
    const std::size_t q = columns.size();
    A_.assign(q * q, 0.0);
    step_.assign(responses, 0.0);
    for (std::size_t i = 0; i < q; ++i) {
        double* row = A_.data() + i * q;
        for (std::size_t j = 0; j < i; ++j) {
            const double* other = A_.data() + j * q;
            double s = gram(columns[i], columns[j]);
            for (std::size_t k = 0; k < j; ++k) s -= row[k] * other[k];
            row[j] = s * other[j];
        }
        const double whole = gram(columns[i], columns[i]);
        double left = whole;
        for (std::size_t k = 0; k < i; ++k) left -= row[k] * row[k];
        row[i] = left > NEAR_SINGULAR * whole && left > 0.0 ? 1.0 / std::sqrt(left) : 0.0;  // the inverse of the pivot
        for (std::size_t r = 0; r < responses; ++r) {
            double s = b_[i * responses + r];
            for (std::size_t k = 0; k < i; ++k) s -= row[k] * b_[k * responses + r];
            s *= row[i];
            b_[i * responses + r] = s;
            step_[r] += s * s;
        }
    }
    for (std::size_t i = q; i-- > 0;) {
        for (std::size_t r = 0; r < responses; ++r) {
            double s = b_[i * responses + r];
            for (std::size_t k = i + 1; k < q; ++k) s -= A_[k * q + i] * b_[k * responses + r];
            b_[i * responses + r] = s * A_[i * q + i];
        }
    }
}

void GlmFits::least_squares(Index v, const std::vector<Index>& columns, GlmFit& fit) {
    const Index own = table.starts[v];
    b_.clear();
    for (Index c : columns) b_.push_back(gram(c, own));
    project(columns, 1);
    const double whole = gram(own, own), left = std::max(whole - step_[0], NEAR_SINGULAR * whole);
    fit.loglik = -0.5 * rows * (std::log(PI2 * std::max(left / rows, 1e-300)) + 1.0);
    double intercept = means_[static_cast<std::size_t>(own)];
    for (std::size_t j = 0; j < columns.size(); ++j) intercept -= b_[j] * means_[static_cast<std::size_t>(columns[j])];
    fit.coefficients.assign(1, intercept);
    fit.coefficients.insert(fit.coefficients.end(), b_.begin(), b_.end());
}

// Where Newton's method begins: the linear discriminant, whose slopes are W^-1 (mean of a category - mean of category 0),
// with W the covariance within categories. It needs the Gram matrix only.
void GlmFits::discriminant(Index v, const std::vector<Index>& columns, Vector& start) {
    const std::size_t m = responses(v), q = columns.size() + 1, k = columns.size();
    const Index own = table.starts[v];
    double first = 1.0;
    Vector share(m), centre(m * k), base(k, 0.0);  // of the categories: shares, and means less those of all rows
    for (std::size_t a = 0; a < m; ++a) {
        share[a] = means_[static_cast<std::size_t>(own) + a];
        first -= share[a];
    }
    start.assign(m * q, 0.0);
    for (std::size_t a = 0; a < m; ++a) start[a * q] = std::log(std::max(share[a], 1e-9) / std::max(first, 1e-9));
    if (k == 0 || !(first > 0.0) || std::any_of(share.begin(), share.end(), [](double s) { return !(s > 0.0); })) return;
    for (std::size_t a = 0; a < m; ++a) {
        for (std::size_t j = 0; j < k; ++j) {
            const double sum = gram(columns[j], own + static_cast<Index>(a)) / rows;
            centre[a * k + j] = sum / share[a];
            base[j] -= sum / first;
        }
    }
    work_.assign(k * k, 0.0);
    for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = i; j < k; ++j) {
            double s = gram(columns[i], columns[j]) / rows - first * base[i] * base[j];
            for (std::size_t a = 0; a < m; ++a) s -= share[a] * centre[a * k + i] * centre[a * k + j];
            work_[i * k + j] = s;
        }
        work_[i * k + i] += 1e-2 * gram(columns[i], columns[i]) / rows + 1e-12;
    }
    if (!factorise(work_.data(), k)) return;
    trial_.assign(k * m, 0.0);
    for (std::size_t j = 0; j < k; ++j)
        for (std::size_t a = 0; a < m; ++a) trial_[j * m + a] = centre[a * k + j] - base[j];
    solve_lower(work_.data(), k, trial_.data(), m);
    solve_upper(work_.data(), k, trial_.data(), m);
    for (std::size_t a = 0; a < m; ++a) {
        for (std::size_t j = 0; j < k; ++j) {
            const double slope = trial_[j * m + a];
            start[a * q + 1 + j] = slope;
            start[a * q] -= slope * (0.5 * (centre[a * k + j] + base[j]) + means_[static_cast<std::size_t>(columns[j])]);
        }
    }
}

// The log-likelihood less what the ridge takes, with gradient_ and hessian_ (its upper triangle).
double GlmFits::derive(Index v, const Vector& at) {
    const std::size_t m = responses(v), q = design_.size(), size = m * q;
    gradient_.assign(size, 0.0);
    hessian_.assign(size * size, 0.0);
    work_.resize(m * ROW_BLOCK);
    const Softmax model{design_.data(), q, m, n_, table.codes + static_cast<std::size_t>(v) * n_, table.weights, at.data()};
    double value = derivatives(model, work_.data(), gradient_.data(), hessian_.data());
    for (std::size_t a = 0; a < m; ++a) {  // of each pair of categories half a block is there, and it is symmetric
        for (std::size_t b = 0; b <= a; ++b) {
            for (std::size_t j = 0; j < q; ++j) {
                for (std::size_t l = 0; l <= j; ++l) {
                    const double h = hessian_[(a * q + j) * size + b * q + l];
                    hessian_[(b * q + l) * size + a * q + j] = h;
                    hessian_[(b * q + j) * size + a * q + l] = h;
                }
            }
        }
        for (std::size_t j = 0; j < q; ++j) {
            const double ridge = j == 0 ? 1e-9 : RIDGE, c = at[a * q + j];
            hessian_[(a * q + j) * size + a * q + j] += ridge;
            if (j == 0) continue;
            gradient_[a * q + j] -= ridge * c;
            value -= 0.5 * ridge * c * c;
        }
    }
    return value;
}

// Set step_ to where Newton's method goes from here, and return the gain that it expects, twice; NaN where there is none.
double GlmFits::newton_step(Index v, const Vector& at) {
    const std::size_t size = gradient_.size();
    step_ = gradient_;
    for (double extra = 1e-6; !factorise(hessian_.data(), size); extra *= 10.0) {
        if (extra > 1e6) return std::numeric_limits<double>::quiet_NaN();  // numbers that are not finite
        derive(v, at);
        for (std::size_t j = 0; j < size; ++j) hessian_[j * size + j] += extra;
    }
    solve_lower(hessian_.data(), size, step_.data(), 1);
    solve_upper(hessian_.data(), size, step_.data(), 1);
    double gain = 0.0;
    for (std::size_t j = 0; j < size; ++j) gain += step_[j] * gradient_[j];
    return gain;
}

void GlmFits::logistic(Index v, const std::vector<Index>& columns, const Clock& clock, GlmFit& fit) {
    const std::size_t m = responses(v), q = columns.size() + 1, size = m * q;
    design_.assign(1, ones_.data());
    for (Index c : columns) design_.push_back(column(c));
    Vector at;
    discriminant(v, columns, at);
    if (columns.empty()) {  // the shares themselves
        double first = 1.0;
        fit.loglik = 0.0;
        for (std::size_t a = 0; a <= m; ++a) {
            const double share = a < m ? means_[static_cast<std::size_t>(table.starts[v]) + a] : first;
            if (a < m) first -= share;
            if (share > 0.0) fit.loglik += rows * share * std::log(share);
        }
        fit.coefficients = std::move(at);
        return;
    }
    double value = derive(v, at);
    fit.converged = false;
    for (int i = 0; i < MOST_NEWTON; ++i) {
        clock.poll();
        const double gain = newton_step(v, at);
        if (!(gain >= SETTLED)) {
            fit.converged = gain >= 0.0;
            if (fit.converged) {
                for (std::size_t j = 0; j < size; ++j) at[j] += step_[j];
                value += 0.5 * gain;
            }
            break;
        }
        trial_.resize(size);
        double next = 0.0, length = 1.0;
        for (;; length *= 0.5) {
            for (std::size_t j = 0; j < size; ++j) trial_[j] = at[j] + length * step_[j];
            next = derive(v, trial_);
            if (next >= value - 1e-9 || length < 1e-3) break;
        }
        if (!(next >= value - 1e-9)) break;
        at.swap(trial_);
        value = next;
    }
    double penalty = 0.0;
    for (std::size_t a = 0; a < m; ++a)
        for (std::size_t j = 1; j < q; ++j) penalty += 0.5 * RIDGE * at[a * q + j] * at[a * q + j];
    fit.loglik = value + penalty;
    fit.coefficients = std::move(at);
}

void GlmFits::fill_residuals(Index v, const std::vector<Index>& columns, GlmFit& fit) {
    const std::size_t m = responses(v), q = columns.size() + 1;
    fit.residuals.resize(m * n_);
    if (table.categories[v] == 0) {
        const double* own = column(table.starts[v]);
        const double mean = means_[static_cast<std::size_t>(table.starts[v])];
        for (std::size_t i = 0; i < n_; ++i) fit.residuals[i] = own[i] - mean;
        for (std::size_t j = 0; j + 1 < q; ++j) {
            const double slope = fit.coefficients[j + 1];
            if (slope == 0.0) continue;
            take_off(fit.residuals.data(), slope, column(columns[j]), means_[static_cast<std::size_t>(columns[j])], n_);
        }
        return;
    }
    design_.assign(1, ones_.data());
    for (Index c : columns) design_.push_back(column(c));
    work_.resize(m * ROW_BLOCK);
    residuals_of(Softmax{design_.data(), q, m, n_, table.codes + static_cast<std::size_t>(v) * n_, table.weights,
                         fit.coefficients.data()},
                 work_.data(), fit.residuals.data());
}

}  // namespace lmarvel
