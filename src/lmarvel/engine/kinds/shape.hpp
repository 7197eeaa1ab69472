// How much more likely residuals are under a density with a shape than under the Gaussian of their mean and variance.
//
// The density is exp(a'T(e)) times the Gaussian one, with statistics T that see skewness, peaks and tails and stay moderate
// far out; residuals are counted in bins, so that a fit costs the same for any number of rows. The readable twin is
// tests/reference/kinds.py.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/linear.hpp"

namespace lmarvel {

class Shape {
public:
    static constexpr std::size_t terms = 6, bins = 241, most_rows = 3000;
    static constexpr double reach = 6.0, width = 2 * reach / (bins - 1);

    Shape() {
        for (std::size_t b = 0; b < bins; ++b) {
            const double e = -reach + width * double(b), bell = std::exp(-0.5 * e * e);
            statistic_[b] = {e, e * e, std::tanh(1.5 * e), e * bell, std::log(std::cosh(2 * e)), bell};
            log_density_[b] = -0.5 * e * e - 0.9189385332046727;
        }
        expect({}, at_gauss_);
        gauss_root_ = at_gauss_.hessian;
        factorise(gauss_root_.data(), terms);
    }

    // Rows that residuals are looked at in: of more, every so many-th. The shape of noise is seen in fewer than all.
    static std::size_t step(std::size_t n) { return (n + most_rows - 1) / most_rows; }

    // Twice the gain in log-likelihood of all rows, of which every so many-th has its residual here; 0 where a rough look
    // says that it is below `least`.
    double gain(const double* residuals, const double* weights, std::size_t n, double rows, double least) {
        double mean = 0.0, square = 0.0, seen = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            const double w = weights == nullptr ? 1.0 : weights[i];
            seen += w;
            mean += w * residuals[i];
            square += w * residuals[i] * residuals[i];
        }
        if (!(seen > 0.0)) return 0.0;
        mean /= seen;
        const double variance = square / seen - mean * mean;
        if (!(variance > 0.0) || !std::isfinite(variance)) return 0.0;
        counted_.assign(bins, 0.0);
        const double scale = 1.0 / (std::sqrt(variance) * width);
        for (std::size_t i = 0; i < n; ++i) {
            const double place = (residuals[i] - mean) * scale + double(bins / 2) + 0.5;
            const double kept = std::min(std::max(place, 0.0), double(bins) - 0.5);
            counted_[std::size_t(kept)] += weights == nullptr ? 1.0 : weights[i];
        }
        seen_.fill(0.0);
        for (std::size_t b = 0; b < bins; ++b)
            if (counted_[b] != 0.0)
                for (std::size_t k = 0; k < terms; ++k) seen_[k] += counted_[b] * statistic_[b][k] / seen;
        if (rows * rough() < least) return 0.0;
        return 2.0 * rows * fitted();
    }

private:
    using Terms = std::array<double, terms>;
    struct Expected {
        double log_sum = 0.0;
        Terms mean{};
        std::vector<double> hessian = std::vector<double>(terms * terms);
    };

    // What the density of these coefficients expects: its logarithm of the sum, means, and covariances of the statistics.
    void expect(const Terms& a, Expected& out) const {
        double top = -1e300;
        std::array<double, bins> density;
        for (std::size_t b = 0; b < bins; ++b) {
            double l = log_density_[b];
            for (std::size_t k = 0; k < terms; ++k) l += a[k] * statistic_[b][k];
            density[b] = l;
            top = std::max(top, l);
        }
        double sum = 0.0;
        for (double& d : density) sum += d = std::exp(d - top);
        out.log_sum = top + std::log(sum * width);
        out.mean.fill(0.0);
        std::fill(out.hessian.begin(), out.hessian.end(), 0.0);
        for (std::size_t b = 0; b < bins; ++b) {
            const double share = density[b] / sum;
            for (std::size_t k = 0; k < terms; ++k) {
                const double part = share * statistic_[b][k];
                out.mean[k] += part;
                for (std::size_t l = k; l < terms; ++l) out.hessian[k * terms + l] += part * statistic_[b][l];
            }
        }
        for (std::size_t k = 0; k < terms; ++k)
            for (std::size_t l = k; l < terms; ++l) out.hessian[k * terms + l] -= out.mean[k] * out.mean[l];
        for (std::size_t k = 0; k < terms; ++k) out.hessian[k * terms + k] += 1e-8;
    }

    double value(const Terms& a, const Expected& at) const {
        double total = -at.log_sum;
        for (std::size_t k = 0; k < terms; ++k) total += a[k] * seen_[k];
        return total;
    }

    // Twice what one step of Newton's method from the Gaussian density promises, per row.
    double rough() const {
        Terms step;
        for (std::size_t k = 0; k < terms; ++k) step[k] = seen_[k] - at_gauss_.mean[k];
        solve_lower(gauss_root_.data(), terms, step.data(), 1);
        double total = 0.0;
        for (double s : step) total += s * s;
        return total;
    }

    // The gain in log-likelihood per row, by Newton's method with halved steps.
    double fitted() {
        Terms a{}, step, trial;
        now_ = at_gauss_;
        double best = value(a, now_);
        const double gauss = best;
        for (int i = 0; i < 25; ++i) {
            for (std::size_t k = 0; k < terms; ++k) step[k] = seen_[k] - now_.mean[k];
            const Terms gradient = step;
            if (!factorise(now_.hessian.data(), terms)) break;
            solve_lower(now_.hessian.data(), terms, step.data(), 1);
            solve_upper(now_.hessian.data(), terms, step.data(), 1);
            double promised = 0.0;
            for (std::size_t k = 0; k < terms; ++k) promised += step[k] * gradient[k];
            if (promised < 1e-9) break;
            double length = 1.0, next = 0.0;
            for (;; length *= 0.5) {
                for (std::size_t k = 0; k < terms; ++k) trial[k] = a[k] + length * step[k];
                expect(trial, after_);
                next = value(trial, after_);
                if (next > best || length < 1e-4) break;
            }
            if (!(next > best)) break;
            a = trial, best = next;
            std::swap(now_, after_);
        }
        return best - gauss;
    }

    std::array<Terms, bins> statistic_;
    std::array<double, bins> log_density_;
    Expected at_gauss_, now_, after_;
    std::vector<double> gauss_root_;
    Vector counted_;
    Terms seen_{};
};

}  // namespace lmarvel
