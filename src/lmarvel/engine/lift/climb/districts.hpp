// The Gaussian likelihood of one district given its parents: the twin of lmarvel.score.district, for several variables.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/dense.hpp"

namespace lmarvel {

constexpr double LOG_2PI = 1.8378770664093453;
constexpr double DETERMINED = 1e-10;  // a variable with less than this share of its variance left is determined

class DistrictFit {
public:
    using Places = std::vector<std::size_t>;

    // S is d x d, the k members of the district first; parents are any of the d, spouses any of the k.
    DistrictFit(Vector S, std::size_t k, std::size_t d, std::vector<Places> parents, std::vector<Places> spouses)
        : S_(std::move(S)), k_(k), d_(d), parents_(std::move(parents)), spouses_(std::move(spouses)) {
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j : parents_[i]) heads_.push_back(i), tails_.push_back(j);
        for (std::size_t i = 0; i < k; ++i) first_.push_back(i), second_.push_back(i);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j : spouses_[i])
                if (i < j) first_.push_back(i), second_.push_back(j);
    }

    bool converged = true;  // whether the fit came to its end

    // Minus two log-likelihood per row at its minimum; infinity where there is none.
    double score() {
        State now;
        if (!start(now) || !sweep(now)) return infinity;
        rate(now);
        if (!std::isfinite(now.value) || !newton(now)) return infinity;
        return double(k_) * LOG_2PI + now.value;
    }

private:
    struct State {
        Vector A, Omega;  // k x d, k x k
        Vector K, AS;     // the inverse of Omega, and A S
        double value = 0.0;
    };

    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr double tolerance = 1e-12;
    static constexpr double rounding = 1e-8;  // a step that promises less than this and gains nothing is lost in rounding
    static constexpr int max_iterations = 500;

    // Separate regressions with uncorrelated residuals; false where a variable is determined.
    bool start(State& now) const {
        now.A.assign(k_ * d_, 0.0);
        now.Omega.assign(k_ * k_, 0.0);
        for (std::size_t i = 0; i < k_; ++i) {
            now.A[i * d_ + i] = 1.0;
            const Places& causes = parents_[i];
            const std::size_t m = causes.size(), c = m + 1;
            double variance = S_[i * d_ + i];
            if (m) {
                Vector root(c * c), slope(m);
                for (std::size_t r = 0; r < c; ++r)
                    for (std::size_t s = 0; s < c; ++s)
                        root[r * c + s] = S_[(r < m ? causes[r] : i) * d_ + (s < m ? causes[s] : i)];
                if (!factorise(root.data(), c)) return false;
                variance = root[c * c - 1] * root[c * c - 1];
                if (variance < DETERMINED * S_[i * d_ + i]) return false;
                for (std::size_t r = m; r-- > 0;) {
                    slope[r] = root[r * c + m];
                    for (std::size_t s = r + 1; s < m; ++s) slope[r] -= root[r * c + s] * slope[s];
                    slope[r] /= root[r * c + r];
                    now.A[i * d_ + causes[r]] = -slope[r];
                }
            }
            now.Omega[i * k_ + i] = variance;
        }
        return true;
    }

    // Update the equation of each variable once, as RICF does.
    bool sweep(State& now) {
        Vector &A = now.A, &Omega = now.Omega;
        for (std::size_t v = 0; v < k_; ++v) {
            const Places &causes = parents_[v], &beside = spouses_[v];
            const std::size_t m = causes.size(), s = beside.size(), r = k_ - 1, size = m + s;
            // Columns of the inverse of the covariance of the other errors: those of the spouses.
            Vector rest(r * r), columns(r * s, 0.0);
            for (std::size_t i = 0; i < r; ++i)
                for (std::size_t j = 0; j < r; ++j) rest[i * r + j] = Omega[(i + (i >= v)) * k_ + j + (j >= v)];
            for (std::size_t j = 0; j < s; ++j) columns[(beside[j] - (beside[j] > v)) * s + j] = 1.0;
            if (!solve_symmetric(rest, r, columns, s, work_)) return false;
            // The pseudo-variables of the spouses, as combinations of all, and their covariances.
            Vector Z(s * d_, 0.0), ZS(s * d_, 0.0);
            for (std::size_t j = 0; j < s; ++j) {
                for (std::size_t i = 0; i < r; ++i) {
                    const double factor = columns[i * s + j];
                    const double* row = A.data() + (i + (i >= v)) * d_;
                    for (std::size_t c = 0; c < d_; ++c) Z[j * d_ + c] += factor * row[c];
                }
                multiply(Z.data() + j * d_, ZS.data() + j * d_);
            }
            Vector gram(size * size), moments(size);
            for (std::size_t a = 0; a < size; ++a) {
                moments[a] = a < m ? S_[causes[a] * d_ + v] : ZS[(a - m) * d_ + v];
                for (std::size_t b = 0; b <= a; ++b) {
                    double entry = 0.0;
                    if (a < m) entry = S_[causes[a] * d_ + causes[b]];
                    else if (b < m) entry = ZS[(a - m) * d_ + causes[b]];
                    else
                        for (std::size_t c = 0; c < d_; ++c) entry += ZS[(a - m) * d_ + c] * Z[(b - m) * d_ + c];
                    gram[a * size + b] = gram[b * size + a] = entry;
                }
            }
            Vector solution = moments;
            if (!solve_symmetric(gram, size, solution, 1, work_)) return false;
            double variance = S_[v * d_ + v], spread = 0.0;
            for (std::size_t a = 0; a < size; ++a) variance -= solution[a] * moments[a];
            for (std::size_t a = 0; a < m; ++a) A[v * d_ + causes[a]] = -solution[a];
            for (std::size_t j = 0; j < s; ++j) {
                Omega[v * k_ + beside[j]] = Omega[beside[j] * k_ + v] = solution[m + j];
                for (std::size_t i = 0; i < s; ++i)  // the block of the inverse, not the inverse of the block
                    spread += solution[m + i] * columns[(beside[i] - (beside[i] > v)) * s + j] * solution[m + j];
            }
            Omega[v * k_ + v] = variance + spread;
        }
        return true;
    }

    // A row times S.
    void multiply(const double* row, double* out) const {
        for (std::size_t j = 0; j < d_; ++j) {
            if (row[j] == 0.0) continue;
            for (std::size_t c = 0; c < d_; ++c) out[c] += row[j] * S_[j * d_ + c];
        }
    }

    // log det Omega + tr(Omega^-1 A S A'), with Omega^-1 and A S; infinity if Omega is not a covariance.
    void rate(State& at) {
        at.value = infinity;
        work_ = at.Omega;
        if (!factorise(work_.data(), k_)) return;
        double logs = 0.0, trace = 0.0;
        for (std::size_t i = 0; i < k_; ++i) logs += std::log(work_[i * k_ + i]);
        at.K = inverse_of(work_.data(), k_);
        at.AS.assign(k_ * d_, 0.0);
        for (std::size_t i = 0; i < k_; ++i) multiply(at.A.data() + i * d_, at.AS.data() + i * d_);
        for (std::size_t i = 0; i < k_; ++i)
            for (std::size_t l = 0; l < k_; ++l) trace += at.K[i * k_ + l] * along(at.A, l, at.AS.data() + i * d_);
        at.value = 2 * logs + trace;
    }

    // Row l of A, of which only the equation's own places are not zero, times a row.
    double along(const Vector& A, std::size_t l, const double* row) const {
        double sum = row[l];
        for (std::size_t j : parents_[l]) sum += A[l * d_ + j] * row[j];
        return sum;
    }

    // Go down to the minimum by damped Newton steps; a step that promises less than the tolerance is the last.
    bool newton(State& now) {
        State there;
        Vector step;
        for (int iteration = 0; iteration < max_iterations; ++iteration) {
            derive(now);
            if (!downhill(step)) return false;
            double promise = 0.0;
            for (std::size_t i = 0; i < step.size(); ++i) promise -= gradient_[i] * step[i];
            for (double length = 1.0;;) {
                move(now, step, length, there);
                rate(there);
                if (there.value <= now.value - 1e-4 * length * promise) break;
                length /= 2;
                if (length < 1e-12 || (promise < rounding && length < 0.1)) {
                    converged = promise < rounding;
                    return true;
                }
            }
            std::swap(now, there);
            if (promise < tolerance) return true;
        }
        converged = false;
        return true;
    }

    void move(const State& from, const Vector& step, double length, State& to) const {
        const std::size_t m = heads_.size();
        to.A = from.A;
        to.Omega = from.Omega;
        for (std::size_t e = 0; e < m; ++e) to.A[heads_[e] * d_ + tails_[e]] -= length * step[e];
        for (std::size_t r = 0; r < first_.size(); ++r) {
            const std::size_t i = first_[r], j = second_[r];
            to.Omega[i * k_ + j] += length * step[m + r];
            to.Omega[j * k_ + i] = to.Omega[i * k_ + j];
        }
    }

    // Gradient and Hessian: see the twin.
    void derive(const State& at) {
        const std::size_t m = heads_.size(), q = first_.size(), size = m + q;
        const Vector& K = at.K;
        Vector T(k_ * d_, 0.0), TA(k_ * k_), P(k_ * k_, 0.0), Y(k_ * k_);
        for (std::size_t i = 0; i < k_; ++i) {
            for (std::size_t l = 0; l < k_; ++l)
                for (std::size_t c = 0; c < d_; ++c) T[i * d_ + c] += K[i * k_ + l] * at.AS[l * d_ + c];
            for (std::size_t l = 0; l < k_; ++l) TA[i * k_ + l] = along(at.A, l, T.data() + i * d_);
            for (std::size_t l = 0; l < k_; ++l)
                for (std::size_t c = 0; c < k_; ++c) P[i * k_ + c] += TA[i * k_ + l] * K[l * k_ + c];
        }
        for (std::size_t i = 0; i < k_ * k_; ++i) Y[i] = 2 * P[i] - K[i];
        gradient_.resize(size);
        hessian_.resize(size * size);
        for (std::size_t e = 0; e < m; ++e) {
            const std::size_t i = heads_[e], p = tails_[e];
            gradient_[e] = -2 * T[i * d_ + p];
            double* row = hessian_.data() + e * size;
            for (std::size_t f = e; f < m; ++f) row[f] = 2 * K[i * k_ + heads_[f]] * S_[p * d_ + tails_[f]];
            for (std::size_t r = 0; r < q; ++r) {
                const std::size_t a = first_[r], b = second_[r];
                row[m + r] = 2 * weight(r) * (K[i * k_ + a] * T[b * d_ + p] + K[i * k_ + b] * T[a * d_ + p]);
            }
        }
        for (std::size_t r = 0; r < q; ++r) {
            const std::size_t a = first_[r], b = second_[r];
            gradient_[m + r] = 2 * weight(r) * (K[a * k_ + b] - P[a * k_ + b]);
            const double *Ka = K.data() + a * k_, *Kb = K.data() + b * k_;
            const double *Ya = Y.data() + a * k_, *Yb = Y.data() + b * k_;
            double* row = hessian_.data() + (m + r) * size + m;
            for (std::size_t s = r; s < q; ++s) {
                const std::size_t c = first_[s], e = second_[s];
                const double curvature = Kb[c] * Ya[e] + Ka[c] * Yb[e] + Kb[e] * Ya[c] + Ka[e] * Yb[c];
                row[s] = weight(r) * weight(s) * curvature;
            }
        }
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t j = 0; j < i; ++j) hessian_[i * size + j] = hessian_[j * size + i];
    }

    double weight(std::size_t r) const { return r < k_ ? 0.5 : 1.0; }

    // The Newton step, or where the function is not convex one with absolute curvatures.
    bool downhill(Vector& step) {
        const std::size_t size = gradient_.size();
        step.resize(size);
        work_ = hessian_;
        if (factorise(work_.data(), size)) {
            for (std::size_t i = 0; i < size; ++i) step[i] = -gradient_[i];
            solve_lower(work_.data(), size, step.data(), 1);
            solve_upper(work_.data(), size, step.data(), 1);
            return true;
        }
        for (double entry : hessian_)
            if (!std::isfinite(entry)) return false;
        work_ = hessian_;
        Vector axes;
        eigen(work_, size, axes);
        double most = 0.0;
        for (std::size_t i = 0; i < size; ++i) most = std::max(most, std::fabs(work_[i * size + i]));
        std::fill(step.begin(), step.end(), 0.0);
        for (std::size_t i = 0; i < size; ++i) {
            const double curvature = std::max(std::fabs(work_[i * size + i]), 1e-10 * most);
            const double* axis = axes.data() + i * size;
            double along = 0.0;
            for (std::size_t j = 0; j < size; ++j) along += axis[j] * gradient_[j];
            for (std::size_t j = 0; j < size; ++j) step[j] -= axis[j] * (along / curvature);
        }
        return true;
    }

    Vector S_;
    std::size_t k_, d_;
    std::vector<Places> parents_, spouses_;
    Places heads_, tails_;    // of the coefficients
    Places first_, second_;   // of the covariances, diagonal first
    Vector gradient_, hessian_, work_;
};

}  // namespace lmarvel
