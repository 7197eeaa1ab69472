// Hidden nodes in place of edges: what a round of the search over models tries.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lift/hidden/models.hpp"

namespace lmarvel {

// Loadings that explain as much of a symmetric matrix as one vector can; where a fit begins.
inline Vector leading(const Vector& A, std::size_t k, const LiftConstants& set) {
    Eigen found = largest_eigen(A, k);
    double most = 0.0;
    for (double x : found.vector) most = std::max(most, std::fabs(x));
    const auto first = std::find_if(found.vector.begin(), found.vector.end(),
                                    [most](double x) { return std::fabs(x) > most * (1 - 1e-9); });
    const double scale = set.first_loading * std::sqrt(std::max(found.value, 0.05)) * (*first > 0 ? 1.0 : -1.0);
    for (double& x : found.vector) x *= scale;
    return std::move(found.vector);
}

// Puts latent and selection nodes into models, and fits them roughly.
template <int W>
class Placing {
public:
    using Set = Bits<W>;
    using M = Model<W>;

    explicit Placing(Fits<W>& fits) : fits_(fits) {}

    // A selection node in place of the edges inside a clique.
    M select(const M& model, const Set& clique) {
        const std::vector<int> nodes = members_of(clique);
        const std::size_t k = nodes.size(), m = model.m(), s = model.chosen();
        const Vector& K = model.precision();
        Vector inner(k * k, 0.0);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j < k; ++j)
                if (i != j) inner[i * k + j] = K[nodes[i] * m + nodes[j]];
        const Vector loadings = leading(inner, k, fits_.set);
        M start = apart(model, clique);
        start.V.assign(m * (s + 1), 0.0);
        for (std::size_t v = 0; v < m; ++v) std::copy_n(model.V.begin() + v * s, s, start.V.begin() + v * (s + 1));
        for (std::size_t i = 0; i < k; ++i) start.V[nodes[i] * (s + 1) + s] = loadings[i];
        start.selections.push_back(clique);
        const Set moving = everything(model);
        return fits_.fit(std::move(start), &moving);
    }

    // A latent node in place of the edges inside a clique.
    M confound(const M& model, const Set& clique) {
        const std::vector<int> nodes = members_of(clique);
        const std::size_t k = nodes.size(), m = model.m(), s = model.chosen();
        if (m + 1 > std::size_t(64 * W)) throw std::length_error("no room for another latent node");
        M start = apart(model, clique);
        const Vector& Sigma = model.covariance();
        Vector errors(k * k), carried(k * m, 0.0);  // the errors have the covariance A Sigma A'
        const auto row = [&](std::size_t i, const auto& use) {
            use(std::size_t(nodes[i]), 1.0);
            for (int u : members_of(start.parents[nodes[i]])) use(std::size_t(u), -start.B[nodes[i] * m + u]);
        };
        for (std::size_t i = 0; i < k; ++i)
            row(i, [&](std::size_t u, double a) {
                for (std::size_t v = 0; v < m; ++v) carried[i * m + v] += a * Sigma[u * m + v];
            });
        for (std::size_t j = 0; j < k; ++j)
            for (std::size_t i = 0; i < k; ++i) {
                double sum = 0.0;
                row(j, [&](std::size_t u, double a) { sum += a * carried[i * m + u]; });
                errors[i * k + j] = i == j ? sum / 2 : sum;
            }
        const Vector loadings = leading(errors, k, fits_.set);
        Vector B((m + 1) * (m + 1), 0.0);
        for (std::size_t v = 0; v < m; ++v) std::copy_n(start.B.begin() + v * m, m, B.begin() + v * (m + 1));
        start.B = std::move(B);
        start.V.resize((m + 1) * s, 0.0);
        start.log_variance.push_back(0.0);
        start.parents.emplace_back();
        for (std::size_t i = 0; i < k; ++i) {
            start.B[nodes[i] * (m + 1) + m] = loadings[i];
            start.log_variance[nodes[i]] = std::max(start.log_variance[nodes[i]], std::log(0.1));
            start.parents[nodes[i]].add(int(m));
        }
        start.order.insert(start.order.begin(), int(m));
        const Set moving = everything(model);
        return fits_.fit(std::move(start), &moving);
    }

    // v as one more parent of a selection node, in place of its edges to the others.
    M enlarge(const M& model, int which, int v) {
        const Set inside = model.selections[which];
        const std::size_t m = model.m(), s = model.chosen();
        M start = copied(model);
        start.parents[v] = without(start.parents[v], inside);
        for (int u : members_of(inside)) {
            start.parents[u].drop(v);
            start.B[v * m + u] = start.B[u * m + v] = 0.0;
        }
        start.selections[which].add(v);
        start.V[v * s + which] = -fits_.set.enlarged_loading;
        M other = copied(start);
        other.V[v * s + which] = fits_.set.enlarged_loading;
        const Set moving = everything(model);
        M first = fits_.fit(std::move(other), &moving), second = fits_.fit(std::move(start), &moving);
        return fits_.is_better(second.score, first.score) ? second : first;
    }

private:
    Fits<W>& fits_;

    static Set everything(const M& model) { return first_nodes<W>(model.m()); }

    // The structure and the parameters of a model, without the edges inside a set.
    static M apart(const M& model, const Set& clique) {
        M start = copied(model);
        const std::size_t m = model.m();
        for (int v : members_of(clique)) {
            for (int u : members_of(common(start.parents[v], clique))) start.B[v * m + u] = 0.0;
            start.parents[v] = without(start.parents[v], clique);
        }
        return start;
    }
};

}  // namespace lmarvel
