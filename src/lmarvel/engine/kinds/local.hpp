// Local scores that know the kinds of columns, for the order search: what a variable gains from parents, by counts, by
// regressions with bends, and by generalised linear models. The readable twin stands in tests/reference/kinds.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "base/hash.hpp"
#include "glm/fits.hpp"
#include "kinds/counts.hpp"
#include "kinds/factor.hpp"
#include "kinds/shape.hpp"
#include "lift/constants.hpp"
#include "lift/orders/orders.hpp"

namespace lmarvel {

// What is paid, in units of the score.
struct KindPrices {
    double edge = 0.0;       // by every edge, beside its parameters: the price that the search knows
    double parameter = 0.0;  // by every parameter
    double bend = 0.0;       // by every bend of a parent
    double product = 0.0;    // by every product of two parents: there are many more of these
    double shape = 0.0;      // by residuals that are not Gaussian; infinite: their shape is not looked at
    double category = 0.0;   // by an edge between categories, whose counts pay for their parameters themselves
};

// Columns of products stand in the table as further numbers behind the p variables: `product[u * p + w]` says which, -1 if
// there is none.
struct KindTable {
    GlmColumns columns;
    int p = 0;
    std::vector<int> product;
};

class KindLocal {
public:
    KindLocal(const KindLocal&) = delete;
    KindLocal& operator=(const KindLocal&) = delete;
    KindLocal(const KindTable& table, const KindPrices& prices)
        : p_(table.p), product_(table.product), table_(table.columns), prices_(prices), fits_(table.columns, memory),
          counts_(table_), factor_(fits_), step_(Shape::step(std::size_t(table.columns.n))) {
        if (table_.weights != nullptr)
            for (std::size_t i = 0; i < std::size_t(table_.n); i += step_) some_weights_.push_back(table_.weights[i]);
    }

    int size() const { return p_; }
    double price() const { return prices_.edge; }

    double extended(int v, const std::vector<int>& path, const SearchLimits* known, Paying& paying) {
        const std::vector<int> parents = sorted(path);
        const double now = value_of(v, parents);
        std::vector<int> promising;
        bool begun = false;  // where all are counted, nothing is projected: categories may be many
        for (int u = 0; u < p_; ++u) {
            if (u == v || std::binary_search(parents.begin(), parents.end(), u)) continue;
            if (known != nullptr && known->excludes(std::size_t(u), std::size_t(v))) continue;
            if (!is_counted(v, parents, u)) {
                if (!begun) begin_rough(v, parents), begun = true;
                if (!(rough_gain(v, parents, u) > LOOK * price_of(v, u))) continue;
            }
            promising.push_back(u);
        }
        for (int u : promising) {
            std::vector<int> more = parents;
            more.insert(std::lower_bound(more.begin(), more.end(), u), u);
            const double gain = now - value_of(v, more) - prices_.edge;
            if (gain > 1e-9) paying.emplace_back(gain, std::int16_t(u));
        }
        return now;
    }

    double value_of(int v, const std::vector<int>& parents) {
        Words key = key_of(v, parents);
        const auto known = known_.find(key);
        if (known != known_.end()) return known->second;
        const double value = table_.categories[v] == 0 ? of_number(v, parents) : of_category(v, parents);
        known_.emplace(std::move(key), value);
        return value;
    }

    int removal(int v, const std::vector<int>& parents) {
        const double full = value_of(v, parents);
        double best = -1e-9;
        int chosen = -1;
        for (std::size_t i = 0; i < parents.size(); ++i) {
            std::vector<int> rest = parents;
            rest.erase(rest.begin() + std::ptrdiff_t(i));
            const double change = value_of(v, rest) - full - prices_.edge;
            if (change < best) best = change, chosen = parents[i];
        }
        return chosen;
    }

    // The bends that v takes of its parents, as basis columns.
    std::vector<Index> bends_of(int v, const std::vector<int>& parents) {
        value_of(v, parents);
        const auto bends = taken_.find(key_of(v, parents));
        return bends == taken_.end() ? std::vector<Index>{} : bends->second;
    }

private:
    static constexpr std::size_t memory = std::size_t(1) << 28;
    static constexpr double LOOK = 0.3;  // of its price: what promises less by least squares is not fitted

    static std::vector<int> sorted(std::vector<int> path) {
        std::sort(path.begin(), path.end());
        return path;
    }
    bool is_number(int v) const { return table_.categories[v] == 0; }
    std::size_t responses(int v) const { return fits_.responses(v); }
    Index first(int v) const { return table_.starts[v]; }
    Index last(int v) const { return table_.starts[v + 1]; }
    // The basis columns that an edge from u always has: the line of a number, all indicators of categories.
    Index plain(int u) const { return is_number(u) ? first(u) + 1 : last(u); }

    bool is_counted(int v, const std::vector<int>& parents, int more = -1) const {
        return !is_number(v) && (more < 0 || !is_number(more)) &&
               std::none_of(parents.begin(), parents.end(), [this](int u) { return is_number(u); });
    }

    double price_of(int v, int u) const {
        const double parameters = double(responses(v)) * double(plain(u) - first(u));
        return prices_.edge + (parameters - 1) * prices_.parameter;
    }

    // What the edges cost beyond the price that the search knows.
    double surplus(int v, const std::vector<int>& parents) const {
        double total = 0.0;
        for (int u : parents) total += price_of(v, u) - prices_.edge;
        return total;
    }

    void set_plain(int v, const std::vector<int>& parents) {
        factor_.begin(first(v), responses(v));
        for (int u : parents)
            for (Index c = first(u); c < plain(u); ++c) factor_.push(c);
    }

    // Least squares, of categories on their indicators, with the bends that the best model has.
    void begin_rough(int v, const std::vector<int>& parents) {
        set_plain(v, parents);
        const auto bends = taken_.find(key_of(v, parents));
        if (bends != taken_.end())
            for (Index c : bends->second) factor_.push(c);
        rough_now_ = factor_.log_left();
        rough_columns_ = factor_.columns();
    }

    // What all columns of u, bends and products included, would add.
    double rough_gain(int v, const std::vector<int>& parents, int u) {
        for (Index c = first(u); c < last(u); ++c) factor_.push(c);
        if (is_number(v))
            for (int w : parents) {
                const int both = product_[std::size_t(u) * std::size_t(p_) + std::size_t(w)];
                if (both >= 0)
                    for (Index c = first(both); c < last(both); ++c) factor_.push(c);
            }
        const double gain = fits_.rows * (rough_now_ - factor_.log_left());
        factor_.restore(rough_columns_);
        return gain;
    }

    static Words key_of(int v, const std::vector<int>& parents) {
        Words key{std::uint64_t(v)};
        for (int u : parents) key.push_back(std::uint64_t(u));
        return key;
    }

    void keep_bends(int v, const std::vector<int>& parents) {
        if (!bends_.empty()) taken_[key_of(v, parents)] = bends_;
    }

    // --- numbers ------------------------------------------------------------------------------------------------

    // Bends and products are chosen by the variance that they explain; the shape of what is left is looked at with all of
    // them and with none: a line seen from the wrong end, with noise that is not Gaussian, looks bent.
    double of_number(int v, const std::vector<int>& parents) {
        bends_.clear();
        set_plain(v, parents);
        const double straight = likelihood(v);
        std::vector<Block> blocks = blocks_of(parents);
        double paid = 0.0;
        while (!blocks.empty()) {
            std::size_t best = blocks.size();
            double most = 1e-9;
            const double left = factor_.log_left();
            const std::size_t held = factor_.columns();
            for (std::size_t i = 0; i < blocks.size(); ++i) {
                push(blocks[i]);
                const double gain = fits_.rows * (left - factor_.log_left()) - blocks[i].price;
                factor_.restore(held);
                if (gain > most) most = gain, best = i;
            }
            if (best == blocks.size()) break;
            push(blocks[best]);
            paid += blocks[best].price;
            for (Index c = blocks[best].begin; c < blocks[best].end; ++c) bends_.push_back(c);
            blocks.erase(blocks.begin() + std::ptrdiff_t(best));
        }
        double value = straight;
        if (!bends_.empty()) {
            const double bent = likelihood(v) + paid;
            if (bent < straight - 1e-9) value = bent;
            else bends_.clear();
        }
        keep_bends(v, parents);
        return value + surplus(v, parents);
    }

    // Columns that come together or not at all.
    struct Block {
        Index begin, end;
        double price;
    };

    // The bends of parents, and the products of two of them.
    std::vector<Block> blocks_of(const std::vector<int>& parents) const {
        std::vector<Block> blocks;
        for (int u : parents)
            if (last(u) > plain(u)) blocks.push_back({plain(u), last(u), prices_.bend * double(last(u) - plain(u))});
        for (std::size_t i = 0; i < parents.size(); ++i)
            for (std::size_t j = i + 1; j < parents.size(); ++j) {
                const int both = product_[std::size_t(parents[i]) * std::size_t(p_) + std::size_t(parents[j])];
                if (both >= 0) blocks.push_back({first(both), last(both), prices_.product * double(last(both) - first(both))});
            }
        return blocks;
    }

    void push(const Block& block) {
        for (Index c = block.begin; c < block.end; ++c) factor_.push(c);
    }

    void push_bends(int u) {
        for (Index c = plain(u); c < last(u); ++c) factor_.push(c);
    }

    // Minus two log-likelihood of the residuals, by their variance and, where that pays, their shape.
    double likelihood(int v) {
        constexpr double log_2pi = 1.8378770664093453;
        const double value = fits_.rows * (factor_.log_left() + 1.0 + log_2pi);
        if (!(prices_.shape < std::numeric_limits<double>::infinity())) return value;
        factor_.residuals(first(v), step_, residuals_);
        const double* weights = some_weights_.empty() ? nullptr : some_weights_.data();
        const double gain = shape_.gain(residuals_.data(), weights, residuals_.size(), fits_.rows, prices_.shape);
        return value - std::max(gain - prices_.shape, 0.0);
    }

    // --- categories ---------------------------------------------------------------------------------------------

    double of_category(int v, const std::vector<int>& parents) {
        bends_.clear();
        double counted = std::numeric_limits<double>::infinity();
        if (is_counted(v, parents)) {
            counted = counts_.value(v, parents) + (prices_.category - prices_.edge) * double(parents.size());
            if (parents.empty() || !mixed()) return counted;
        }
        std::vector<Index> columns;
        for (int u : parents)
            for (Index c = first(u); c < plain(u); ++c) columns.push_back(c);
        // Counts pay for the shares of categories, and so do regressions: else any parent would save that.
        const double fixed = counts_.value(v, {}) + 2.0 * loglik(v, {}) + surplus(v, parents);
        double now = -2.0 * loglik(v, columns) + fixed;
        if (counted < now) return counted;
        const double rows = fits_.rows;
        set_plain(v, parents);
        for (int u : parents) {
            if (last(u) == plain(u)) continue;
            const std::size_t held = factor_.columns();
            const double left = factor_.log_left(), price = prices_.bend * double(responses(v)) * double(last(u) - plain(u));
            push_bends(u);
            if (rows * (left - factor_.log_left()) > LOOK * price) {
                std::vector<Index> more = columns;
                for (Index c = plain(u); c < last(u); ++c) more.push_back(c);
                std::sort(more.begin(), more.end());
                const double value = -2.0 * loglik(v, more) + fixed + price +
                                     prices_.bend * double(responses(v)) * double(bends_.size());
                if (value < now - 1e-9) {
                    now = value, columns = std::move(more);
                    for (Index c = plain(u); c < last(u); ++c) bends_.push_back(c);
                    continue;
                }
            }
            factor_.restore(held);
        }
        keep_bends(v, parents);
        return now;
    }

    bool mixed() const {
        return std::any_of(table_.categories, table_.categories + p_, [](Index k) { return k == 0; });
    }

    double loglik(int v, const std::vector<Index>& columns) { return fits_.fit(v, columns, false)->loglik; }

    const int p_;
    const std::vector<int> product_;
    const GlmColumns table_;
    const KindPrices prices_;
    GlmFits fits_;
    CountScores counts_;
    Factor factor_;
    Shape shape_;
    const std::size_t step_;  // rows from one residual that is looked at to the next
    Vector some_weights_;
    std::unordered_map<Words, double, HashWords> known_;
    std::unordered_map<Words, std::vector<Index>, HashWords> taken_;
    std::vector<Index> bends_;
    std::size_t rough_columns_ = 0;
    double rough_now_ = 0.0;
    Vector residuals_;
};

}  // namespace lmarvel
