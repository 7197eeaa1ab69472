// Models whose means are no linear functions: categories, and counts. Each is one pass over the rows, in blocks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lmarvel {

// The model of categories on a design whose first column is ones, of one block of rows.
struct Softmax {
    const double* const* design;
    std::size_t q, m, n;           // columns with the ones, categories but 0, rows
    const std::uint16_t* codes;
    const double* weights;
    const double* coefficients;    // m x q
};

// The log-likelihood, with its gradient (m x q) and the lower blocks of minus its Hessian (mq x mq, a >= b and j >= l)
// added to zeros, the latter unless it is null; `chance` is room for m blocks of rows.
double derivatives(const Softmax& model, double* chance, double* gradient, double* hessian);
// Residuals of all categories but 0: m columns of n rows.
void residuals_of(const Softmax& model, double* chance, double* out);

// The model of a count, rescaled and moved by `shift`, whose mean is the exponential of a linear function.
struct LogLinear {
    const double* const* design;
    std::size_t q, n;
    const double* values;
    double shift;
    const double* weights;
    const double* coefficients;
};

double log_linear(const LogLinear& model, double* gradient, double* hessian);
void log_linear_residuals(const LogLinear& model, double* out);

}  // namespace lmarvel
