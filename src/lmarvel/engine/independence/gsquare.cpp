#include "independence/tests.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/words.hpp"
#include "independence/margins.hpp"

namespace lmarvel {

namespace {
constexpr std::uint32_t NONE = ~std::uint32_t{0};  // a row with a gap
constexpr std::size_t FEW_LEVELS = 64, FEW_CELLS = 48;   // that are quicker counted by bits
constexpr std::size_t FEW_CODES = 1 << 14;                    // that two bytes hold, and four tables of them a cache

// Rows of a stratum: with two nothing is left to chance, given the margins; and of a level in a stratum. And a variance
// that is none, a degree of freedom.
constexpr double FEWEST = 3.0, NOTHING = 1e-9;
constexpr std::size_t NOWHERE = ~std::size_t{0};
}  // namespace

GSquare::GSquare(const Counts& counts) : counts_(counts) {
    product_ = true;
    every = counts.n > 50000 ? 15 : 255;
    rate_ = counts.rows_a_cell;
    rows_ = counts.rows;
    for (Index v = 0; v < counts.p; ++v) size_.push_back(counts.levels[v]);
    words_ = (rows() + 63) / 64;
    bits_.resize(static_cast<std::size_t>(counts.p));
    for (Index v = 0; v < counts.p; ++v) {
        auto& bits = bits_[static_cast<std::size_t>(v)];
        const std::size_t k = levels(v);
        const bool few = k <= FEW_LEVELS;  // else only the rows without a gap: a row for each level takes memory
        if (!counts.gaps[v] && !few) continue;
        bits.resize(((few ? k : 0) + 1) * words_);
        std::uint64_t* there = bits.data() + (few ? k : 0) * words_;
        for (std::size_t i = 0; i < rows(); ++i) {
            if (codes(v)[i] == MISSING) continue;
            const std::uint64_t bit = std::uint64_t{1} << (i % 64);
            if (few) bits[codes(v)[i] * words_ + i / 64] |= bit;
            there[i / 64] |= bit;
        }
    }
}

bool GSquare::affords(Index x, Index y, const std::vector<Index>& given) const {
    const double total = cost(x, y, given);
    if (total * rate_ > rows_) return false;
    std::vector<const std::uint64_t*> gaps;
    const auto look = [&](Index v) {
        const std::vector<std::uint64_t>& bits = bits_[static_cast<std::size_t>(v)];
        if (counts_.gaps[v]) gaps.push_back(bits.data() + bits.size() - words_);
    };
    look(x);
    look(y);
    for (Index v : given) look(v);
    if (gaps.empty()) return true;
    double left = 0.0;
    for (std::size_t word = 0; word < words_; ++word) {
        std::uint64_t bits = ~std::uint64_t{0};
        for (const std::uint64_t* there : gaps) bits &= there[word];
        if (counts_.weights == nullptr) {
            left += static_cast<double>(bits_in(bits));
        } else {
            for (; bits; bits &= bits - 1) {
                left += counts_.weights[64 * word + static_cast<std::size_t>(lowest_bit(bits))];
            }
        }
    }
    return total * rate_ <= left;
}

void GSquare::search(const Query& query, Found& found) { search_subsets(*this, query, found); }

void GSquare::start(Index x, Index y) {
    if (x == x_ && y == y_) return;
    x_ = x;
    y_ = y;
    xy_.clear();
    base_of_ = NO_BASE;
    gaps_xy_ = counts_.gaps[x] || counts_.gaps[y];
}

bool GSquare::any_gaps(std::size_t d) const {
    return gaps_xy_ || std::any_of(member_.begin(), member_.begin() + static_cast<std::ptrdiff_t>(d),
                                   [this](Index v) { return counts_.gaps[v]; });
}

void GSquare::push(std::size_t d, Index w) {
    if (member_.size() <= d) {
        member_.resize(d + 1, -1);
        gaps_.resize(d + 1);
        prefix_.resize(d + 1);
        strata_.resize(d + 1);
    }
    if (member_[d] == w) return;  // strata do not depend on the pair, and are kept from one to the next
    member_[d] = w;
    ready_ = std::min(ready_, d);
    ready_bits_ = std::min(ready_bits_, d);
    if (base_of_ != NO_BASE && d < base_of_) base_of_ = NO_BASE;
}

// Work out the codes of the pair, unless that was done, and the strata of all members but the last.
void GSquare::stratify(std::size_t d) {
    if (xy_.empty()) {
        const std::uint16_t *a = codes(x_), *b = codes(y_);
        const std::uint32_t k = levels(y_);
        xy_.resize(rows());
        for (std::size_t i = 0; i < rows(); ++i) xy_[i] = a[i] * k + b[i];
        for (std::size_t i = 0; i < rows() && gaps_xy_; ++i) if (a[i] == MISSING || b[i] == MISSING) xy_[i] = NONE;
    }
    for (; ready_ + 1 < d; ++ready_) {
        const Index w = member_[ready_];
        const std::uint16_t* own = codes(w);
        const std::uint32_t k = levels(w);
        auto& now = prefix_[ready_];
        now.resize(rows());
        gaps_[ready_] = counts_.gaps[w] || (ready_ > 0 && gaps_[ready_ - 1]);
        const std::uint32_t* before = ready_ > 0 ? prefix_[ready_ - 1].data() : nullptr;
        if (before == nullptr) std::copy_n(own, rows(), now.begin());
        else for (std::size_t i = 0; i < rows(); ++i) now[i] = before[i] * k + own[i];
        if (!gaps_[ready_]) continue;
        for (std::size_t i = 0; i < rows(); ++i) {
            if (own[i] == MISSING || (before != nullptr && before[i] == NONE)) now[i] = NONE;
        }
    }
}

namespace {
// Add up rows by cells. Neighbouring rows often fall into one cell, and each addition would wait for the one before, so
// small tables are counted in four copies.
template <class Cell>
void tally(std::size_t n, std::vector<std::int32_t>& cells, Cell cell) {
    const std::size_t k = cells.size();
    std::size_t i = 0;
    if (k <= 2048) {
        cells.resize(4 * k, 0);
        std::int32_t* c = cells.data();
        for (; i + 4 <= n; i += 4) {
            ++c[cell(i)];
            ++c[k + cell(i + 1)];
            ++c[2 * k + cell(i + 2)];
            ++c[3 * k + cell(i + 3)];
        }
        for (std::size_t j = 0; j < k; ++j) c[j] += c[k + j] + c[2 * k + j] + c[3 * k + j];
        cells.resize(k);
    }
    for (; i < n; ++i) ++cells[cell(i)];
}
}  // namespace

namespace {
constexpr std::size_t BLOCK = 1024, COPIES = 4;

// Count cells in four tables, one behind the other.
void add_up(const std::uint16_t* at, std::size_t n, std::int32_t* cells, std::size_t k) {
    std::size_t i = 0;
    for (; i + COPIES <= n; i += COPIES) {
        ++cells[at[i]];
        ++cells[k + at[i + 1]];
        ++cells[2 * k + at[i + 2]];
        ++cells[3 * k + at[i + 3]];
    }
    for (; i < n; ++i) ++cells[at[i]];
}
}  // namespace

// The same table as `count` makes, of rows without gaps and weights. The last member takes the largest steps at first, so
// that what comes before it is the same for every last member.
void GSquare::count_on_base(std::size_t d, std::size_t n_cells) {
    stratify(d);
    const Index w = member_[d - 1];
    const std::size_t k = levels(w), pair = levels(x_) * levels(y_), step = n_cells / k;
    if (base_of_ != d - 1) {
        const auto few = static_cast<std::uint32_t>(pair);
        base_.resize(rows());
        for (std::size_t i = 0; i < rows(); ++i) {
            base_[i] = static_cast<std::uint16_t>(d > 1 ? prefix_[d - 2][i] * few + xy_[i] : xy_[i]);
        }
        base_of_ = d - 1;
    }
    turned_.assign(COPIES * n_cells, 0);
    const std::uint16_t *own = codes(w), *base = base_.data();
    const auto wide = static_cast<std::uint16_t>(step);
    for (std::size_t start = 0; start < rows(); start += BLOCK) {  // cells first, many at once, and then the additions
        const std::size_t n = std::min(BLOCK, rows() - start);
        std::uint16_t at[BLOCK];
        for (std::size_t i = 0; i < n; ++i) at[i] = static_cast<std::uint16_t>(own[start + i] * wide + base[start + i]);
        add_up(at, n, turned_.data(), n_cells);
    }
    for (std::size_t j = 0; j < n_cells; ++j) {
        for (std::size_t copy = 1; copy < COPIES; ++copy) turned_[j] += turned_[copy * n_cells + j];
    }
    cells_.resize(n_cells);
    for (std::size_t l = 0; l < k; ++l) {
        for (std::size_t z = 0; z < step / pair; ++z) {
            std::copy_n(turned_.data() + l * step + z * pair, pair, cells_.data() + (z * k + l) * pair);
        }
    }
}

template <class Count>
void GSquare::count(std::size_t d, std::vector<Count>& cells, std::size_t n_cells) {
    cells.assign(n_cells, Count{0});
    stratify(d);
    const std::size_t n = rows();
    const std::uint32_t pair = levels(x_) * levels(y_);
    const std::uint32_t* xy = xy_.data();
    const double* weights = counts_.weights;
    const auto add = [&](std::size_t i, std::uint32_t cell) {
        if constexpr (std::is_same_v<Count, double>) cells[cell] += weights[i];
        else ++cells[cell];
    };
    const auto all = [&](auto cell) {
        if constexpr (std::is_same_v<Count, double>) for (std::size_t i = 0; i < n; ++i) add(i, cell(i));
        else tally(n, cells, cell);
    };
    if (d == 0) {
        if (!gaps_xy_) all([=](std::size_t i) { return xy[i]; });
        else for (std::size_t i = 0; i < n; ++i) if (xy[i] != NONE) add(i, xy[i]);
        return;
    }
    const Index w = member_[d - 1];
    const std::uint16_t* own = codes(w);
    const std::uint32_t k = levels(w);
    const std::uint32_t* before = d > 1 ? prefix_[d - 2].data() : nullptr;
    const bool gaps = gaps_xy_ || counts_.gaps[w] || (d > 1 && gaps_[d - 2]);
    if (gaps) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t z = before == nullptr ? 0 : before[i];
            if (xy[i] != NONE && own[i] != MISSING && z != NONE) add(i, (z * k + own[i]) * pair + xy[i]);
        }
    } else if (before == nullptr) {
        all([=](std::size_t i) { return own[i] * pair + xy[i]; });
    } else {
        all([=](std::size_t i) { return (before[i] * k + own[i]) * pair + xy[i]; });
    }
}

// Where each level goes: those with fewer than three rows together to the first of them, or nowhere if they have fewer
// than three together. Whether any goes elsewhere than before.
bool GSquare::together(const double* margin, std::size_t m, std::size_t* to) {
    double few = 0.0;
    std::size_t first = m;
    for (std::size_t i = 0; i < m; ++i) {
        to[i] = i;
        if (!(margin[i] > 0.0) || margin[i] >= FEWEST) continue;
        few += margin[i];
        first = std::min(first, i);
    }
    if (first == m) return false;
    for (std::size_t i = first; i < m; ++i) {
        if (margin[i] > 0.0 && margin[i] < FEWEST) to[i] = few >= FEWEST ? first : NOWHERE;
    }
    return true;
}

// Add a stratum to what was found and to what is expected; `margins_` has its margins, and is used up.
template <class Count>
void GSquare::compare(const Count* table) {
    const std::size_t a = levels(x_), b = levels(y_);
    double *row = margins_.data(), *column = row + a, n = 0.0, here = 0.0;
    for (std::size_t i = 0; i < a; ++i) n += row[i];
    const auto inverted = [](double* margins, std::size_t m) {
        Margin margin;
        for (std::size_t i = 0; i < m; ++i) {
            if (!(margins[i] > 0.0)) continue;
            margins[i] = 1.0 / margins[i];
            margin.over += margins[i];
            margin.squared += margins[i] * margins[i];
            margin.levels += 1.0;
        }
        return margin;
    };
    const Margin of_x = inverted(row, a), of_y = inverted(column, b);
    if (of_x.levels < 2.0 || of_y.levels < 2.0) return;  // nothing to compare
    for (std::size_t i = 0; i < a; ++i) {
        double of_row = 0.0;
        for (std::size_t j = 0; j < b; ++j) {
            const auto c = static_cast<double>(table[i * b + j]);
            of_row += c * c * column[j];
        }
        here += of_row * row[i];
    }
    here = n * here - n;
    statistic += here;
    df += static_cast<std::int64_t>((of_x.levels - 1.0) * (of_y.levels - 1.0));
    if (n < FEWEST) {
        expected_.mean += here;
        return;
    }
    const Cumulants chance = given_margins(n, of_x, of_y);
    expected_.mean += chance.mean;
    expected_.variance += chance.variance;
    expected_.third += chance.third;
}

template <class Count>
void GSquare::add_margins(const Count* table) {
    const std::size_t a = levels(x_), b = levels(y_);
    double *row = margins_.data(), *column = row + a;
    std::fill(margins_.begin(), margins_.end(), 0.0);
    for (std::size_t i = 0; i < a; ++i) {
        for (std::size_t j = 0; j < b; ++j) {
            const auto c = static_cast<double>(table[i * b + j]);
            row[i] += c;
            column[j] += c;
        }
    }
}

// Pearson's statistic over all strata, with levels of few rows taken together or as they are.
template <class Count>
void GSquare::compare_all(const std::vector<Count>& cells, std::size_t strata, bool take_together) {
    const std::size_t a = levels(x_), b = levels(y_);
    margins_.resize(a + b);
    to_.resize(a + b);
    statistic = 0.0;
    df = 0;
    expected_ = Cumulants{};
    for (std::size_t z = 0; z < strata; ++z) {
        const Count* table = cells.data() + z * a * b;
        add_margins(table);
        if (take_together) {
            const bool rows = together(margins_.data(), a, to_.data()), columns = together(margins_.data() + a, b, to_.data() + a);
            if (rows || columns) {
                fewer_.assign(a * b, 0.0);
                for (std::size_t i = 0; i < a; ++i) {
                    for (std::size_t j = 0; j < b; ++j) {
                        if (to_[i] == NOWHERE || to_[a + j] == NOWHERE) continue;
                        fewer_[to_[i] * b + to_[a + j]] += static_cast<double>(table[i * b + j]);
                    }
                }
                add_margins(fewer_.data());
                compare(fewer_.data());
                continue;
            }
        }
        compare(table);
    }
}

template <class Count>
double GSquare::judge(const std::vector<Count>& cells, std::size_t strata) {
    compare_all(cells, strata, true);
    if (df == 0) compare_all(cells, strata, false);
    if (df == 0) return 0.0;  // the set determines x or y
    statistic = std::max(statistic, 0.0);
    if (!(expected_.variance > NOTHING * static_cast<double>(df))) return 1.0;  // the margins say all
    return tail_from_zero(statistic, expected_);
}

double GSquare::pvalue(std::size_t d, double) {
    std::size_t strata = 1;
    for (std::size_t i = 0; i < d; ++i) strata *= levels(member_[i]);
    const std::size_t n_cells = strata * levels(x_) * levels(y_);
    if (counts_.weights != nullptr) {
        count(d, heavy_, n_cells);
        return judge(heavy_, strata);
    }
    if (has_bit_counts() && n_cells <= FEW_CELLS) {  // so that each variable has few levels, too
        cells_.resize(n_cells);
        count_bits(d);
    } else if (n_cells <= FEW_CODES && d > 0 && !any_gaps(d)) {
        count_on_base(d, n_cells);
    } else {
        count(d, cells_, n_cells);
    }
    return judge(cells_, strata);
}

}  // namespace lmarvel
