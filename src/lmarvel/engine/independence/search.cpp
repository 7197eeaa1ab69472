#include "independence/search.hpp"

#include <algorithm>
#include <cmath>

#include "base/combinations.hpp"

namespace lmarvel {

namespace {
constexpr std::uint64_t EVERY = 16383;
}  // namespace

// --- one test ---------------------------------------------------------------------------------------------

void Ledger::Factor::reserve(std::size_t depth) {
    if (depth <= stride) return;
    stride = std::max(depth, 2 * stride);
    node.resize(stride);
    row.resize(stride * stride);
    inverse.resize(stride);
    x.resize(stride);
    y.resize(stride);
}

// Append w to the conditioning set at depth d.
void Ledger::push(Index x, Index y, std::size_t d, Index w) {
    Factor& f = factor_;
    double left = 1.0, on_x = table.r(w, x), on_y = table.r(w, y);
    double* own = f.row.data() + d * f.stride;
    for (std::size_t i = 0; i < d; ++i) {
        const double* other = f.row.data() + i * f.stride;
        double s = table.r(w, f.node[i]);
        for (std::size_t j = 0; j < i; ++j) s -= own[j] * other[j];
        s *= f.inverse[i];
        own[i] = s;
        left -= s * s;
        on_x -= s * f.x[i];
        on_y -= s * f.y[i];
    }
    f.node[d] = w;
    f.inverse[d] = left > PIVOT ? 1.0 / std::sqrt(left) : 0.0;  // 0: a combination of those before it
    f.x[d] = on_x * f.inverse[d];
    f.y[d] = on_y * f.inverse[d];
}

// The squared partial correlation of x and y given the first d members, 1 where it is undefined.
double Ledger::squared(Index x, Index y, std::size_t d) const {
    double vx = 1.0, vy = 1.0, c = table.r(x, y);
    for (std::size_t i = 0; i < d; ++i) {
        vx -= factor_.x[i] * factor_.x[i];
        vy -= factor_.y[i] * factor_.y[i];
        c -= factor_.x[i] * factor_.y[i];
    }
    if (vx <= PIVOT || vy <= PIVOT) return 1.0;
    c = c * c / (vx * vy);
    return c < 1.0 ? c : 1.0;
}

double Ledger::partial(Index x, Index y, const std::vector<Index>& given) {
    factor_.reserve(given.size());
    for (std::size_t d = 0; d < given.size(); ++d) push(x, y, d, given[d]);
    return squared(x, y, given.size());
}

// One p-value; a set that there are too few rows for is never said to separate.
double Ledger::single(Index x, Index y, const std::vector<Index>& given) {
    if (other_ == nullptr) {
        return pvalue_of(partial(x, y, given), table.n - static_cast<std::int64_t>(given.size()) - 3);
    }
    if (!other_->affords(x, y, given)) return 0.0;
    other_->start(x, y, given.size());
    for (std::size_t d = 0; d < given.size(); ++d) other_->push(d, given[d]);
    return other_->pvalue(given.size(), -1.0);
}

// Whether there are rows enough for the subset that is chosen.
bool Ledger::afforded(Index x, Index y, const Search& how, const std::vector<Index>& pool, std::size_t k) {
    set_.assign(how.always, how.always + how.n_always);
    for (std::size_t i = 0; i < k; ++i) set_.push_back(pool[static_cast<std::size_t>(chosen_[i])]);
    return other_->affords(x, y, set_);
}

// --- what was tried ---------------------------------------------------------------------------------------

// Translate a family into positions; false if it cannot hold any subset of this search.
bool Ledger::fill(Family& g, const Tried& f, const std::vector<Index>& pool, const Search& how) const {
    bool shared = false;
    for (std::int64_t i = 0; i < how.n_always; ++i) {
        if (how.always[i] == f.always) shared = true;
        else if (!arena_.has(f.pool, how.always[i])) return false;
    }
    if (f.always >= 0 && !shared && !std::binary_search(pool.begin(), pool.end(), f.always)) return false;
    const std::int64_t shift = how.n_always - (f.always >= 0);  // free members there, less the size here
    const std::size_t m = pool.size();
    g.allowed.resize(m);
    g.needed.resize(m);
    g.n_needed = 0;
    const Index* at = arena_.begin(f.pool);
    const Index* end = arena_.end(f.pool);
    for (std::size_t i = 0; i < m; ++i) {
        while (at != end && *at < pool[i]) ++at;
        g.allowed[i] = at != end && *at == pool[i];
        g.needed[i] = pool[i] == f.always;
        g.n_needed += g.needed[i];
    }
    g.smallest = f.smallest - shift;
    g.largest = f.largest - shift;
    g.n_stop = f.stop.none() ? -1 : f.stop.n - shift;
    g.stop = f.stop;
    // Where more than one member is there always, sets are asked once, and no family that is met then has a stop.
    g.extra = how.n_always == 1 && !shared ? how.always[0] : -1;
    g.level = f.level;
    return true;
}

// Tell whether the subset that is chosen belongs to the family.
bool Ledger::covered(const Family& g, const std::vector<Index>& pool, std::size_t k) const {
    std::int64_t got = 0;
    const auto size = static_cast<std::int64_t>(k);
    for (std::size_t i = 0; i < k; ++i) {
        const auto at = static_cast<std::size_t>(chosen_[i]);
        if (g.needed[at]) ++got;
        else if (!g.allowed[at]) return false;
    }
    if (got < g.n_needed || size < g.smallest) return false;
    if (size <= g.largest) return true;
    if (size != g.n_stop) return false;
    // Compare the free members, in ascending order, with where the family's search ended.
    bool extra = g.extra >= 0;
    std::size_t i = 0;
    const Index* stop = arena_.begin(g.stop);
    for (std::int64_t t = 0; t < g.stop.n; ++t) {
        while (i < k && g.needed[static_cast<std::size_t>(chosen_[i])]) ++i;
        Index w;
        if (extra && (i == k || g.extra < pool[static_cast<std::size_t>(chosen_[i])])) {
            w = g.extra;
            extra = false;
        } else if (i == k) {
            return false;
        } else {
            w = pool[static_cast<std::size_t>(chosen_[i++])];
        }
        if (w != stop[t]) return w < stop[t];
    }
    return false;
}

// --- many tests -------------------------------------------------------------------------------------------

// Visit the subsets of the pool by size, then in order, and stop at the first independence.
Answer Ledger::search(Index x, Index y, const std::vector<Index>& pool, const Search& how) {
    if (x > y) std::swap(x, y);
    const auto m = static_cast<std::int64_t>(pool.size());
    const std::int64_t base = how.n_always;
    const std::int64_t wanted = how.max_size == -2 ? m : std::min(how.max_size, m);
    const std::int64_t top = std::min(wanted, budget.largest_set - base);
    const double level = how.level;
    const double* critical = how.threshold ? table.critical_threshold : table.critical_alpha;
    const std::int64_t left = budget.max_tests < 0 ? -1 : std::max<std::int64_t>(budget.max_tests - tests_, 0);

    std::size_t used = 0;
    double known = 0.0;  // of what is known to fail at this level, the largest p-value
    each_family(x, y, base + how.min_size, base + wanted, how.once, [&](const Tried& family) {
        if (family.level <= level) known = std::max(known, family.level);
        if (used == families_.size()) families_.emplace_back();
        if (fill(families_[used], family, pool, how)) ++used;
    });

    const auto depth = static_cast<std::size_t>(base + std::max<std::int64_t>(top, 0));
    // Sets that there are too few rows for are passed over, and leave the search incomplete.
    set_.assign(how.always, how.always + base);
    const std::int64_t reach = other_ == nullptr ? top : other_->most(x, y, set_, pool, top);
    bool cut = reach < top;
    const std::uint64_t every = other_ == nullptr ? EVERY : other_->every;
    if (other_ == nullptr) factor_.reserve(depth + 1);
    else other_->start(x, y, depth + 1);
    for (std::int64_t i = 0; i < base; ++i) {
        if (other_ == nullptr) push(x, y, static_cast<std::size_t>(i), how.always[i]);
        else other_->push(static_cast<std::size_t>(i), how.always[i]);
    }
    chosen_.resize(std::max(chosen_.size(), depth + 1));
    best_.resize(std::max(best_.size(), depth + 1));
    std::int64_t done = 0, k = how.min_size, best_size = -1;
    double best = 0.0;
    enum { GOING, FOUND, ENDED } state = clock.late() ? ENDED : GOING;
    const bool begun = state == GOING;
    bool any = false;
    while (k <= reach && state == GOING) {
        const auto size = static_cast<std::size_t>(k);
        first_combination(chosen_.data(), size);
        std::size_t first = 0;
        std::int64_t fresh_here = 0;
        double smallest = 2.0;
        while (true) {
            bool skip = false, fresh = true;
            if (other_ != nullptr && !afforded(x, y, how, pool, size)) skip = cut = true;
            for (std::size_t i = 0; i < used && !skip; ++i) {
                if (covered(families_[i], pool, size)) {
                    fresh = false;
                    if (families_[i].level <= level) { skip = true; break; }
                }
            }
            if ((++ticks_ & every) == 0) {
                clock.poll();
                if (clock.late()) { state = ENDED; break; }
            }
            if (!skip) {
                if (fresh && done == left) { state = ENDED; break; }
                done += fresh;
                fresh_here += fresh;
                const auto depth_now = static_cast<std::size_t>(base) + size;
                for (std::size_t i = first; i < size; ++i) {
                    const Index w = pool[static_cast<std::size_t>(chosen_[i])];
                    if (other_ == nullptr) push(x, y, static_cast<std::size_t>(base) + i, w);
                    else other_->push(static_cast<std::size_t>(base) + i, w);
                }
                first = size;
                double p = -1.0;  // where it is worked out
                bool independent;
                if (other_ == nullptr) {
                    const double r2 = squared(x, y, depth_now);
                    independent = r2 < critical[base + k];
                    // The p-value falls as r2 grows; across sizes the degrees of freedom differ.
                    if (independent || r2 < smallest) p = pvalue_of(r2, table.n - base - k - 3);
                    smallest = std::min(smallest, r2);
                } else {
                    p = other_->pvalue(depth_now, any ? best : -1.0);
                    independent = p > level;
                }
                if (independent) {
                    state = FOUND;
                    best = p;
                    break;
                }
                if (p > best || !any) {
                    any = true;
                    best = p;
                    best_size = k;
                    std::copy_n(chosen_.begin(), size, best_.begin());
                }
            }
            const std::size_t changed = next_combination(chosen_.data(), size, pool.size());
            if (changed == size) break;
            first = std::min(first, changed);
        }
        if (fresh_here) count(how.phase, base + k, fresh_here);
        if (state == GOING) ++k;
    }

    const auto full = [&](const std::vector<Index>& positions, std::int64_t size, bool with) {
        std::vector<Index> members;
        for (std::int64_t i = 0; i < size; ++i) {
            members.push_back(pool[static_cast<std::size_t>(positions[static_cast<std::size_t>(i)])]);
        }
        if (with && base > 0) {
            members.insert(members.end(), how.always, how.always + base);
            std::sort(members.begin(), members.end());
        }
        return members;
    };
    Answer answer;
    answer.pvalue = best;
    answer.complete = state == FOUND || (state == GOING && !cut);
    if (state != FOUND && best_size >= 0 && (!how.once || is_closest(x, y, best))) {
        answer.strongest = arena_.keep(full(best_, best_size, true));
        compare(x, y, best, answer.strongest);
    }
    const bool stopped = begun && state != GOING;  // a search that time kept from beginning stopped at nothing
    const std::int64_t largest = state == GOING ? top : k - 1;
    if (!how.once && begun && (largest >= how.min_size || (stopped && k > 0))) {
        const Span stop = stopped ? arena_.keep(full(chosen_, k, false)) : Span{};
        // A family of the empty set alone needs no pool.
        const Span kept = largest == 0 && !stopped ? Span{0, 0} : how.kept.none() ? arena_.keep(pool) : how.kept;
        const Index always = base > 0 ? how.always[0] : -1;
        note(x, y, Tried{always, kept, how.min_size, largest, stop, state == FOUND ? level : std::max(best, known)});
    }
    if (state == FOUND) {
        answer.sepset = answer.strongest = arena_.keep(full(chosen_, k, true));
        if (!how.once) note(x, y, Tried{-1, answer.sepset, answer.sepset.n, answer.sepset.n, Span{}, best});
    }
    if (!answer.complete) check(1);
    if (state == GOING && top < wanted) answer.complete = false;
    return answer;
}

}  // namespace lmarvel
