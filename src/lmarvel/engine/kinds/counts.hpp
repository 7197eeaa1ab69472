// The length of the shortest code of the counts of a category given categories (quotient normalised maximum likelihood:
// Silander, Leppa-aho, Jaasaari & Roos 2018). The readable twin stands in tests/reference/kinds.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "glm/fits.hpp"

namespace lmarvel {

// What a code of n rows of k values pays for not knowing their shares: the logarithm of the sum of the largest likelihoods
// of all samples (Szpankowski & Weinberger 2012, good to 0.1 for few and many values alike).
inline double regret(double n, double k) {
    if (k <= 1.0) return 0.0;
    const double a = k / n, root = std::sqrt(1.0 + 4.0 / a), more = 2.0 / (a * (root + 1.0)), c = 1.0 + more;
    return n * (std::log(a) + (a + 2.0) * std::log1p(more) - 1.0 / c) - 0.5 * std::log(c + 2.0 / a);
}

class CountScores {
public:
    // Categories may stand beside numbers in the table; those are never asked for.
    explicit CountScores(const GlmColumns& table) : table_(table), n_(std::size_t(table.n)), depth_(1) {
        depth_[0].assign(n_, 0);
        cells_.assign(1, 1.0);
        used_.assign(1, 1);
        if (table.weights == nullptr) {
            total_ = double(n_);
            for (std::size_t count = 0; count <= n_; ++count) spread_.push_back(spread(double(count)));
        } else {
            for (std::size_t i = 0; i < n_; ++i) total_ += table.weights[i];
        }
    }

    // Twice the length of the code of v given the parents on a path and, unless negative, one more.
    double value(int v, const std::vector<int>& path, int more = -1) {
        reach(path);
        const std::size_t k = path.size();
        if (more < 0) return scored(v, depth_[k], used_[k], cells_[k]);
        const std::size_t used = joined(depth_[k], used_[k], more, joint_);
        return scored(v, joint_, used, cells_[k] * size(more));
    }

private:
    using Rows = std::vector<std::uint32_t>;

    std::uint32_t size(int v) const { return std::uint32_t(table_.categories[v]); }
    const std::uint16_t* codes(int v) const { return table_.codes + std::size_t(v) * n_; }

    // The configuration of the parents in each row, one parent more at a time; what a path begins with is kept.
    void reach(const std::vector<int>& path) {
        std::size_t same = 0;
        while (same < path_.size() && same < path.size() && path_[same] == path[same]) ++same;
        path_.resize(same);
        for (std::size_t k = same; k < path.size(); ++k) {
            if (depth_.size() < k + 2) depth_.resize(k + 2), cells_.resize(k + 2), used_.resize(k + 2);
            used_[k + 1] = joined(depth_[k], used_[k], path[k], depth_[k + 1]);
            cells_[k + 1] = cells_[k] * size(path[k]);
            path_.push_back(path[k]);
        }
    }

    // The number of the configuration with one more parent in each row; how many numbers there are. Where most would have no
    // row they are counted anew.
    std::size_t joined(const Rows& before, std::size_t used, int u, Rows& after) {
        const std::uint32_t values = size(u);
        const std::uint16_t* own = codes(u);
        after.resize(n_);
        const std::size_t cells = used * values;
        if (cells <= std::min<std::size_t>(4 * n_ + 16, std::numeric_limits<std::uint32_t>::max())) {
            for (std::size_t i = 0; i < n_; ++i) after[i] = before[i] * values + own[i];
            return cells;
        }
        return numbered(before, values, own, after);
    }

    // Number the pairs that have rows, as they come.
    std::size_t numbered(const Rows& before, std::uint32_t values, const std::uint16_t* own, Rows& after) {
        fresh_.clear();
        for (std::size_t i = 0; i < n_; ++i)
            after[i] = fresh_.emplace(std::uint64_t(before[i]) * values + own[i], std::uint32_t(fresh_.size())).first->second;
        return fresh_.size();
    }

    double scored(int v, const Rows& rows, std::size_t used, double cells) {
        const std::size_t r = size(v);
        const std::uint16_t* own = codes(v);
        const double k = std::min(cells, 1e300);  // more configurations than a number can say cost the same
        double fit = 0.0;
        if (used * r > 32 * n_ + 1024) {  // most are empty: memory is for rows, not for what could be
            cell_.resize(n_);
            const std::size_t held = numbered(rows, std::uint32_t(r), own, cell_);
            count(cell_, 1, nullptr, held);
            for (double count : counts_) fit += likelihood(count);
            count(rows, 1, nullptr, used);
            for (double total : counts_) fit -= likelihood(total);
        } else {
            count(rows, r, own, used * r);
            for (std::size_t z = 0; z < used; ++z) {
                double total = 0.0;
                for (std::size_t c = z * r; c < (z + 1) * r; ++c) fit += likelihood(counts_[c]), total += counts_[c];
                fit -= likelihood(total);
            }
        }
        return 2.0 * (regret(total_, k * double(r)) - regret(total_, k) - fit);
    }

    static double spread(double count) { return count > 0.0 ? count * std::log(count) : 0.0; }
    double likelihood(double count) const { return spread_.empty() ? spread(count) : spread_[std::size_t(count)]; }

    // The weight of the rows in each cell: r of them for each number, told apart by codes, if there are any.
    void count(const Rows& rows, std::size_t r, const std::uint16_t* own, std::size_t cells) {
        counts_.assign(cells, 0.0);
        for (std::size_t i = 0; i < n_; ++i)
            counts_[rows[i] * r + (own == nullptr ? 0 : own[i])] += table_.weights == nullptr ? 1.0 : table_.weights[i];
    }

    const GlmColumns& table_;
    const std::size_t n_;
    double total_ = 0.0;             // the weight of all rows
    Vector spread_;                  // count times its logarithm, where rows have no weights
    std::vector<int> path_;
    std::vector<Rows> depth_;
    std::vector<double> cells_;      // configurations that there are, as the score counts them
    std::vector<std::size_t> used_;  // and as the rows are numbered
    Rows joint_, cell_;
    std::unordered_map<std::uint64_t, std::uint32_t> fresh_;
    Vector counts_;
};

}  // namespace lmarvel
