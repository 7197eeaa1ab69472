// The tests: Fisher's z, the block Gaussian test and G-square. A test is asked about one pair, and a conditioning set
// that grows and shrinks at its end, so that what the sets of a search share is worked out once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/sets.hpp"
#include "independence/margins.hpp"
#include "independence/subsets.hpp"

namespace lmarvel {

inline constexpr double PIVOT = 1e-10;  // a variance below this share of the variable's own counts as zero

// The two-sided p-value of a squared partial correlation, Fisher's z with n - k - 3 = df.
double pvalue_of(double r2, std::int64_t df);
// The probability that a chi-square variable is larger.
double chi_square_tail(double statistic, std::int64_t df);

class Test {
public:
    virtual ~Test() = default;

    // A pair, with nothing given yet.
    virtual void start(Index x, Index y) = 0;
    // Make w the member at depth d; what was behind it is forgotten.
    virtual void push(std::size_t d, Index w) = 0;
    // The p-value given the first d members. One that is at most `bound` may come as 0; a negative bound wants it exact.
    virtual double pvalue(std::size_t d, double bound) = 0;
    // Whether there are rows enough for a set; if not, then for no larger one either.
    virtual bool affords(Index x, Index y, const std::vector<Index>& given) const;
    // The most members of a pool, up to `top`, that there may be rows enough for beside others; -1: not even for none.
    virtual std::int64_t most(Index x, Index y, View beside, View pool, std::int64_t top) const;
    // Search as a query says: `search_subsets` with this very test.
    virtual void search(const Query& query, Found& found) = 0;
    // One p-value; a set that there are too few rows for is never said to separate.
    double single(Index x, Index y, const std::vector<Index>& given);

    std::uint64_t every = 1023;  // tests between two looks at the clock, a power of two less one
    double statistic = 0.0;      // of the last test whose p-value was worked out
    std::int64_t df = 0;

protected:
    // What a set costs is the product, or the sum, of the sizes of its variables; times `rate` it must be within `rows`.
    std::vector<double> size_;
    bool product_ = false;
    double rate_ = 1.0, rows_ = 0.0;

    double and_(double cost, Index w) const {
        const double own = size_[static_cast<std::size_t>(w)];
        return product_ ? cost * own : cost + own;
    }
    double cost(Index x, Index y, View given) const;
};

// Where row d of a lower triangle begins, the diagonal left out.
inline std::size_t triangle(std::size_t d) { return d * (d - 1) / 2; }

// Partial correlations, from the rows of a Cholesky factor of the set and those of x and y against it.
class FisherZ final : public Test {
public:
    FisherZ(const double* R, Index p, std::int64_t n) : R_(R), p_(static_cast<std::size_t>(p)), n_(n) { every = 16383; }

    void start(Index x, Index y) override {
        x_ = x;
        y_ = y;
        depth_ = ~std::size_t{0};
    }
    void push(std::size_t d, Index w) override;
    double pvalue(std::size_t d, double) override {
        statistic = squared(d);
        df = n_ - static_cast<std::int64_t>(d) - 3;
        return pvalue_of(statistic, df);
    }
    bool affords(Index, Index, const std::vector<Index>& given) const override {
        return static_cast<std::int64_t>(given.size()) <= n_ - 4;
    }
    std::int64_t most(Index, Index, View beside, View, std::int64_t top) const override {
        return std::min(top, std::max<std::int64_t>(n_ - 4 - static_cast<std::int64_t>(beside.n), -1));
    }
    void search(const Query& query, Found& found) override;

    // Whether the pair is independent given the first d members. The p-value falls as r2 grows: it is worked out for the
    // smallest r2 with so many members, and -1 for the others.
    bool separates(std::size_t d, const Level& level, double& p) {
        const double r2 = squared(d);
        if (d != depth_) {
            depth_ = d;
            smallest_ = 2.0;
        }
        const bool independent = r2 < level.critical[d];
        p = independent || r2 < smallest_ ? pvalue_of(r2, n_ - static_cast<std::int64_t>(d) - 3) : -1.0;
        smallest_ = std::min(smallest_, r2);
        return independent;
    }

private:
    const double* R_;  // correlations, p x p
    std::size_t p_;
    std::int64_t n_;
    Index x_ = 0, y_ = 0;
    struct Member { Index node; double inverse, x, y; };
    std::vector<Member> member_;
    std::vector<double> row_;  // a triangle
    std::size_t depth_ = ~std::size_t{0};
    double smallest_ = 2.0;

    double squared(std::size_t d) const;
};

// Append w to the conditioning set at depth d.
inline void FisherZ::push(std::size_t d, Index w) {
    if (d >= member_.size()) {
        member_.resize(std::max<std::size_t>(d + 1, 2 * d));
        row_.resize(triangle(member_.size()));
    }
    const double* const r = R_ + static_cast<std::size_t>(w) * p_;
    double left = 1.0, on_x = r[x_], on_y = r[y_];
    double* own = row_.data() + triangle(d);
    const double* other = row_.data();
    for (std::size_t i = 0; i < d; ++i) {
        const Member& before = member_[i];
        double s = r[before.node];
        for (std::size_t j = 0; j < i; ++j) s -= own[j] * other[j];
        other += i;
        s *= before.inverse;
        own[i] = s;
        left -= s * s;
        on_x -= s * before.x;
        on_y -= s * before.y;
    }
    const double inverse = left > PIVOT ? 1.0 / std::sqrt(left) : 0.0;  // 0: a combination of those before it
    member_[d] = Member{w, inverse, on_x * inverse, on_y * inverse};
}

// The squared partial correlation given the first d members, 1 where it is undefined.
inline double FisherZ::squared(std::size_t d) const {
    double vx = 1.0, vy = 1.0, c = R_[static_cast<std::size_t>(x_) * p_ + static_cast<std::size_t>(y_)];
    for (std::size_t i = 0; i < d; ++i) {
        const Member& m = member_[i];
        vx -= m.x * m.x;
        vy -= m.y * m.y;
        c -= m.x * m.y;
    }
    if (vx <= PIVOT || vy <= PIVOT) return 1.0;
    c = c * c / (vx * vy);
    return c < 1.0 ? c : 1.0;
}

// Whether a test says "independent", and its p-value where that may be the largest so far.
template <class T>
bool separates(T& test, std::size_t d, const Level& level, double bound, double& p) {
    p = test.pvalue(d, bound);
    return p > level.alpha;
}
inline bool separates(FisherZ& test, std::size_t d, const Level& level, double, double& p) {
    return test.separates(d, level, p);
}

// Columns of numbers, one block of them for each variable.
struct Blocks {
    const double* R = nullptr;      // correlations of the columns
    const Index* starts = nullptr;  // where the block of each variable begins, and the number of columns
    Index p = 0;
    std::int64_t n = 0;
};

// With S the residual covariance of the columns of x and y given those of the set, Wilks' statistic is that of
//   Lambda = det S(x, y) / (det S(x) det S(y)).
// Single columns are tested by Fisher's z.
class BlockGaussian final : public Test {
public:
    explicit BlockGaussian(const Blocks& blocks);
    void start(Index x, Index y) override;
    void push(std::size_t d, Index w) override;
    double pvalue(std::size_t d, double bound) override;
    void search(const Query& query, Found& found) override;
    // The p-value of a pair given all other variables, from the precision matrix of all columns.
    double given_rest(const double* precision, Index x, Index y);

private:
    const Blocks blocks_;
    const std::size_t columns_;
    std::size_t q_ = 0, of_x_ = 0;
    std::vector<std::size_t> asked_, column_, at_;
    std::vector<double> row_, inverse_, on_, residual_, factor_;  // rows are those of a triangle
    std::vector<double> own_, joint_;
    std::vector<std::size_t> x_, y_, order_;  // columns that are kept of each side, and of both
    struct { std::int64_t key = 0; double value = 0.0, pvalue = -1.0; } last_;

    double r(std::size_t a, std::size_t b) const { return blocks_.R[a * columns_ + b]; }
    void ask(Index x, Index y);
    double judge(const double* S, std::int64_t given, double bound);
    void keep(const double* S, std::size_t first, std::size_t end, std::vector<std::size_t>& kept);
    bool pivots(const double* S);
};

// Columns of levels.
struct Counts {
    const std::uint16_t* codes = nullptr;  // a column after the other; MISSING is none
    const Index* levels = nullptr;         // how many each column has
    const double* weights = nullptr;       // of the rows, summing up to `rows`; null: all one
    const std::uint8_t* gaps = nullptr;    // whether a column has missing values
    Index p = 0;
    std::int64_t n = 0;                    // rows of the table
    double rows = 0.0;                     // what they count for
    double rows_a_cell = 5.0;              // that a table needs on average
};
inline constexpr std::uint16_t MISSING = 65535;

// Pearson's statistic over the cells of all strata, held against what it would be by chance given all margins. Levels
// with few rows in a stratum are taken together there, or left out.
class GSquare final : public Test {
public:
    explicit GSquare(const Counts& counts);
    void start(Index x, Index y) override;
    void push(std::size_t d, Index w) override;
    double pvalue(std::size_t d, double bound) override;
    void search(const Query& query, Found& found) override;
    bool affords(Index x, Index y, const std::vector<Index>& given) const override;

private:
    const Counts counts_;
    Index x_ = -1, y_ = -1;
    bool gaps_xy_ = false;
    std::vector<std::uint32_t> xy_;
    std::vector<std::vector<std::uint32_t>> prefix_;  // the stratum of each row, by depth
    std::vector<Index> member_;
    std::vector<char> gaps_;                          // whether a row can be missing, by depth
    std::size_t ready_ = 0;
    // The cell of each row in the table of the pair by all members but the last, of so many, where it is small; it stays
    // from one last member to the next.
    std::vector<std::uint16_t> base_;
    std::size_t base_of_ = NO_BASE;
    static constexpr std::size_t NO_BASE = ~std::size_t{0};
    std::vector<std::int32_t> cells_, turned_;
    std::vector<double> heavy_, margins_, fewer_;
    std::vector<std::size_t> to_;
    Cumulants expected_;
    // Small tables are counted by bits: the rows of each level of a variable, unless it has many, and behind them all
    // without a gap; and the rows of each stratum of the first members, by depth.
    std::vector<std::vector<std::uint64_t>> bits_, strata_;
    std::vector<std::uint64_t> stratum_, part_;
    std::size_t words_ = 0, ready_bits_ = 0;

    const std::uint16_t* codes(Index v) const { return counts_.codes + static_cast<std::size_t>(v) * rows(); }
    std::size_t rows() const { return static_cast<std::size_t>(counts_.n); }
    std::uint32_t levels(Index v) const { return static_cast<std::uint32_t>(counts_.levels[v]); }
    template <class Count> void count(std::size_t d, std::vector<Count>& cells, std::size_t n_cells);
    template <class Count> double judge(const std::vector<Count>& cells, std::size_t strata);
    template <class Count> void compare_all(const std::vector<Count>& cells, std::size_t strata, bool take_together);
    template <class Count> void compare(const Count* table);
    template <class Count> void add_margins(const Count* table);
    static bool together(const double* margin, std::size_t m, std::size_t* to);
    void stratify(std::size_t d);
    bool any_gaps(std::size_t d) const;
    void count_on_base(std::size_t d, std::size_t n_cells);
    void count_bits(std::size_t d);
    static bool has_bit_counts();  // whether the processor counts bits by itself
};

}  // namespace lmarvel
