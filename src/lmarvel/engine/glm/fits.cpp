#include "glm/fits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "glm/models.hpp"
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

// Where a fit is remembered, or will be; what is known is forgotten where it would be over the bound.
std::shared_ptr<GlmFit>& GlmFits::room(std::size_t of, const std::vector<Index>& columns, std::size_t bytes) {
    key_.assign(1, of);
    for (Index c : columns) key_.push_back(static_cast<std::uint64_t>(c));
    const auto at = known_.find(key_);
    if (at != known_.end() && at->second != nullptr && (bytes == 0 || !at->second->residuals.empty())) return at->second;
    const std::size_t more = bytes + 3 * key_.size() * sizeof(double) + 256;
    if (bytes_ + more > most_bytes_) {
        known_.clear();
        bytes_ = 0;
    }
    bytes_ += more;
    return known_[key_];
}

Fitted GlmFits::fit(Index v, const std::vector<Index>& columns, bool residuals, const Clock& clock) {
    const bool number = table.categories[v] == 0;
    const std::size_t m = responses(v), slopes = (m - 1) * (columns.size() + 1) * sizeof(double);
    std::shared_ptr<GlmFit>& place = room(static_cast<std::size_t>(v), columns, residuals ? m * n_ * sizeof(double) : 0);
    if (place == nullptr) {
        auto made = std::make_shared<GlmFit>();
        if (number) least_squares(table.starts[v], columns, *made);
        else logistic(v, columns, clock, *made);
        ++fitted;
        bytes_ += slopes;
        place = std::move(made);
    }
    if (residuals && place->residuals.empty()) {
        if (number) subtract(table.starts[v], columns, *place);
        else fill_chances(v, columns, *place);
    }
    return place;
}

Fitted GlmFits::projected(Index column, const std::vector<Index>& columns) {
    const auto of = static_cast<std::size_t>(table.p) + static_cast<std::size_t>(column);
    std::shared_ptr<GlmFit>& place = room(of, columns, n_ * sizeof(double));
    if (place == nullptr) {
        auto made = std::make_shared<GlmFit>();
        least_squares(column, columns, *made);
        subtract(column, columns, *made);
        place = std::move(made);
    }
    return place;
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

void GlmFits::least_squares(Index own, const std::vector<Index>& columns, GlmFit& fit) {
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

// The log-likelihood less what the ridge takes, with gradient_ and, if wanted, hessian_ (its upper triangle).
double GlmFits::derive(Index v, const Vector& at, bool second) {
    const std::size_t m = responses(v), q = design_.size(), size = m * q;
    gradient_.assign(size, 0.0);
    if (second) hessian_.assign(size * size, 0.0);
    double* const H = second ? hessian_.data() : nullptr;
    work_.resize(m * ROW_BLOCK);
    double value;
    if (table.categories[v] == 0) {
        value = log_linear({design_.data(), q, n_, column(table.starts[v]), table.shifts[v], table.weights, at.data()},
                           gradient_.data(), H);
    } else {
        const std::uint16_t* const codes = table.codes + static_cast<std::size_t>(v) * n_;
        value = derivatives({design_.data(), q, m, n_, codes, table.weights, at.data()}, work_.data(), gradient_.data(), H);
    }
    for (std::size_t a = 0; a < m; ++a) {  // of each pair of categories half a block is there, and it is symmetric
        for (std::size_t b = 0; b <= a && second; ++b) {
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
            if (second) hessian_[(a * q + j) * size + a * q + j] += ridge;
            if (j == 0) continue;
            gradient_[a * q + j] -= ridge * c;
            value -= 0.5 * ridge * c * c;
        }
    }
    return value;
}

// Factorise the second derivatives at a point; false where they are not finite.
bool GlmFits::refresh(Index v, const Vector& at) {
    const std::size_t size = at.size();
    derive(v, at, true);
    for (double extra = 1e-6; !factorise(hessian_.data(), size); extra *= 10.0) {
        if (extra > 1e6) return false;
        derive(v, at, true);
        for (std::size_t j = 0; j < size; ++j) hessian_[j * size + j] += extra;
    }
    return true;
}

// Set step_ to where Newton's method goes from here, and return the gain that it expects, twice.
double GlmFits::newton_step() {
    const std::size_t size = gradient_.size();
    step_ = gradient_;
    solve_lower(hessian_.data(), size, step_.data(), 1);
    solve_upper(hessian_.data(), size, step_.data(), 1);
    double gain = 0.0;
    for (std::size_t j = 0; j < size; ++j) gain += step_[j] * gradient_[j];
    return gain;
}

// Go from a start to where a ridged log-likelihood is largest, and return it. Second derivatives cost most: they serve for
// further steps as long as each gains a tenth of the one before at most.
double GlmFits::newton(Index v, const std::vector<Index>& columns, const Clock& clock, Vector& at, bool& converged) {
    design_.assign(1, ones_.data());
    for (Index c : columns) design_.push_back(column(c));
    const std::size_t size = at.size();
    double value = derive(v, at, false), last = 0.0;
    bool fresh = false;
    converged = false;
    for (int i = 0; i < MOST_NEWTON; ++i) {
        clock.poll();
        double gain = i == 0 ? HUGE_VAL : newton_step();
        if (!fresh && !(gain <= 0.1 * last)) {
            if (!refresh(v, at)) break;
            fresh = true;
            gain = newton_step();
        }
        last = gain;
        if (!(gain >= SETTLED)) {
            converged = gain >= 0.0;
            for (std::size_t j = 0; j < size && converged; ++j) at[j] += step_[j];
            return converged ? value + 0.5 * gain : value;
        }
        trial_.resize(size);
        double next = 0.0, length = 1.0;
        for (;; length *= 0.5) {
            for (std::size_t j = 0; j < size; ++j) trial_[j] = at[j] + length * step_[j];
            next = derive(v, trial_, false);
            if (next >= value - 1e-9 || length < 1e-3 || !fresh) break;
        }
        if (next >= value - 1e-9) {
            at.swap(trial_);
            value = next;
            fresh = false;
            if (length < 1.0) last = 0.0;
        } else if (fresh) {
            break;
        } else {
            last = 0.0;
        }
    }
    return value;
}

void GlmFits::logistic(Index v, const std::vector<Index>& columns, const Clock& clock, GlmFit& fit) {
    const std::size_t m = responses(v), q = columns.size() + 1;
    Vector& at = fit.coefficients;
    discriminant(v, columns, at);
    if (columns.empty()) {  // the shares themselves
        double first = 1.0;
        for (std::size_t a = 0; a <= m; ++a) {
            const double share = a < m ? means_[static_cast<std::size_t>(table.starts[v]) + a] : first;
            if (a < m) first -= share;
            if (share > 0.0) fit.loglik += rows * share * std::log(share);
        }
        return;
    }
    fit.loglik = newton(v, columns, clock, at, fit.converged);
    for (std::size_t a = 0; a < m; ++a)
        for (std::size_t j = 1; j < q; ++j) fit.loglik += 0.5 * RIDGE * at[a * q + j] * at[a * q + j];
}

Fitted GlmFits::counted(Index v, const std::vector<Index>& columns, const Clock& clock) {
    const Index own = table.starts[v];
    const auto of = static_cast<std::size_t>(table.p) + columns_ + static_cast<std::size_t>(v);
    std::shared_ptr<GlmFit>& place = room(of, columns, n_ * sizeof(double));
    if (place != nullptr) return place;
    auto made = std::make_shared<GlmFit>();
    least_squares(own, columns, *made);
    subtract(own, columns, *made);
    const double mean = means_[static_cast<std::size_t>(own)] + table.shifts[v];
    if (!columns.empty() && mean > 0.0) {
        Vector at(columns.size() + 1, 0.0), left(n_);
        at[0] = std::log(mean);
        newton(v, columns, clock, at, made->converged);
        log_linear_residuals({design_.data(), design_.size(), n_, column(own), table.shifts[v], table.weights, at.data()},
                             left.data());
        if (product(left.data(), left.data(), table.weights, n_) <
            product(made->residuals.data(), made->residuals.data(), table.weights, n_)) {
            made->residuals = std::move(left);
        }
    }
    ++fitted;
    place = std::move(made);
    return place;
}

void GlmFits::subtract(Index own, const std::vector<Index>& columns, GlmFit& fit) {
    fit.residuals.resize(n_);
    const double* const values = column(own);
    const double mean = means_[static_cast<std::size_t>(own)];
    for (std::size_t i = 0; i < n_; ++i) fit.residuals[i] = values[i] - mean;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        const double slope = fit.coefficients[j + 1];
        if (slope == 0.0) continue;
        take_off(fit.residuals.data(), slope, column(columns[j]), means_[static_cast<std::size_t>(columns[j])], n_);
    }
}

void GlmFits::fill_chances(Index v, const std::vector<Index>& columns, GlmFit& fit) {
    const std::size_t m = responses(v), q = columns.size() + 1;
    fit.residuals.resize(m * n_);
    design_.assign(1, ones_.data());
    for (Index c : columns) design_.push_back(column(c));
    work_.resize(m * ROW_BLOCK);
    residuals_of(Softmax{design_.data(), q, m, n_, table.codes + static_cast<std::size_t>(v) * n_, table.weights,
                         fit.coefficients.data()},
                 work_.data(), fit.residuals.data());
}

}  // namespace lmarvel
