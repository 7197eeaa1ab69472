#include "skeleton/state.hpp"

namespace lmarvel {

namespace {
constexpr std::int64_t FEW = 3;  // variables, in a set that is searched for a gap
}  // namespace

State::State(Ledger& ledger, SetStore& arena, const Boundaries& boundaries, double alpha, bool dense)
    : ledger_(ledger), arena_(arena), boundaries_(boundaries), known_(ledger.known), alpha_(alpha),
      p_(ledger.table.p), start_(p_) {
    for (Index x = 0; x < p_; ++x) {
        if (boundaries.complete) {
            start_.fill(x, p_);
            start_.drop(x, x);
            continue;
        }
        const Span set = boundaries.sets[static_cast<std::size_t>(x)];
        for (const Index* y = arena.begin(set); y != arena.end(set); ++y) start_.set(x, *y);
    }
    adjacent_ = dense ? start_ : Rows(p_);
}

// --- asking -----------------------------------------------------------------------------------------------

// The smaller boundary of two variables outside each other's, which separates them in theory.
Span State::smaller(Index x, Index y) const {
    if (x > y) std::swap(x, y);
    if (!boundaries_.had.empty()) {
        for (const auto& [v, other] : {Pair{x, y}, Pair{y, x}}) {
            const Span had = boundaries_.had[static_cast<std::size_t>(v)];
            if (!had.none() && !arena_.has(boundaries_.kept[static_cast<std::size_t>(v)], other)) return had;
        }
    }
    const Span one = boundaries_.sets[static_cast<std::size_t>(x)], two = boundaries_.sets[static_cast<std::size_t>(y)];
    return one.n <= two.n ? one : two;
}

Span State::lookup(Index x, Index y) const {
    const std::int64_t at = found_at_.get(x, y);
    if (at >= 0) return found[static_cast<std::size_t>(at)].set;
    return x == y || start_.has(x, y) ? Span{} : smaller(x, y);
}

bool State::is_collider(Index v, Index b, Index c) const {
    const Span set = lookup(v, c);
    return !set.none() && !arena_.has(set, b);
}

const std::vector<Index>& State::useful(Index x, Index y, const std::vector<Index>& pool) {
    if (known_ == nullptr) return pool;
    useful_.clear();
    for (Index v : pool) if (!known_->useless(v, x, y)) useful_.push_back(v);
    return useful_;
}

bool State::keep(Phase phase, Index x, Index y, const Answer& answer) {
    if (!answer.sepset.none()) separate(phase, x, y, answer.sepset, answer.pvalue);
    else if (!answer.complete) unfinished_.add(x, y);
    return !answer.sepset.none();
}

bool State::try_separate(Phase phase, Index x, Index y, const std::vector<Index>& pool, std::int64_t max_size) {
    return keep(phase, x, y, ledger_.find_sepset(phase, x, y, useful(x, y, pool), false, alpha_, -1, max_size));
}

// --- deciding ---------------------------------------------------------------------------------------------

// Keep a separating set, and cut the edge if there is one; an edge that is known to be there stays.
void State::separate(Phase phase, Index x, Index y, Span set, double pvalue) {
    if (known_ != nullptr && known_->required.has(x, y)) {
        adjacent_.join(x, y);
        if (overruled_.has(x, y)) return;
        overruled_.add(x, y);
        events.push_back(Event{Event::OVERRULED, x, y, -1, phase, set, Span{}, pvalue});
        return;
    }
    adjacent_.part(x, y);
    unfinished_.discard(x, y);
    const std::int64_t at = found_at_.get(x, y);
    if (at >= 0) {
        found[static_cast<std::size_t>(at)].set = set;
    } else {
        found_at_.put(x, y, static_cast<std::int64_t>(found.size()));
        found.push_back(Separation{std::min(x, y), std::max(x, y), set});
    }
    events.push_back(Event{Event::SEPARATED, x, y, -1, phase, set, Span{}, pvalue});
}

void State::join(Phase phase, Index x, Index y) {
    adjacent_.join(x, y);
    const auto [pvalue, strongest] = closest(x, y);
    events.push_back(Event{Event::ADJACENT, x, y, -1, phase, strongest, Span{}, pvalue});
}

void State::spent(const BudgetSpent& reason) {
    if (ended.reason == Reason::NONE) ended = reason;
    all_open_ = true;
}

// How close a pair came to being separated, total conditioning included.
std::pair<double, Span> State::closest(Index x, Index y) const {
    const auto known = ledger_.closest(x, y);
    const auto nearer = [&](double first) {
        const bool is = first >= 0.0 && (known.second.none() || first > known.first);  // below 0: not known
        return is ? std::pair{first, Span{0, REST}} : known;
    };
    if (boundaries_.rest != nullptr) return nearer(boundaries_.rest[static_cast<std::size_t>(x) * p_ + y]);
    if (!boundaries_.total_conditioning || boundaries_.precision == nullptr) return known;
    const auto k = [this](Index a, Index b) { return boundaries_.precision[static_cast<std::size_t>(a) * p_ + b]; };
    const double r2 = k(x, y) * k(x, y) / (k(x, x) * k(y, y));
    return nearer(pvalue_of(std::min(r2, 1.0), ledger_.table.n - p_ - 1));
}

// --- gaps -------------------------------------------------------------------------------------------------

// The pairs that are not adjacent, have a common neighbour, and no tested separating set.
std::vector<Pair> State::unshielded_pairs() const {
    if (boundaries_.complete) return {};  // every gap was found by a search
    PairSet pairs;
    std::vector<Index> around;
    for (Index b = 0; b < p_; ++b) {
        adjacent_.list(b, around);
        each_pair(around, [&](Index a, Index c) {
            if (!adjacent_.has(a, c) && !found_at_.has(a, c)) pairs.add(a, c);
        });
    }
    return pairs.sorted();
}

// Find a tested separating set for each unshielded pair, or put the pair in doubt.
void State::settle_gaps() {
    for (const auto& [x, y] : unshielded_pairs()) {
        std::vector<Index> implied;
        for (Index v : arena_.copy(smaller(x, y))) {
            if (v != x && v != y && !is_useless(v, x, y)) implied.push_back(v);
        }
        if (static_cast<std::int64_t>(implied.size()) <= ledger_.budget.largest_set) {
            const double p = ledger_.pvalue(GAPS, x, y, implied);
            if (p > alpha_) {
                separate(GAPS, x, y, arena_.keep(implied), p);
                continue;
            }
        }
        if (separated_by_few(x, y)) continue;
        doubtful_.add(x, y);
        const auto [pvalue, strongest] = ledger_.closest(x, y);
        events.push_back(Event{Event::DOUBTFUL, x, y, -1, GAPS, strongest, Span{}, pvalue});
    }
}

// Search a set of at most three variables in the smaller boundary, then in the other.
bool State::separated_by_few(Index x, Index y) {
    const auto size = [this](Index v) { return boundaries_.sets[static_cast<std::size_t>(v)].n; };
    const bool first = size(x) <= size(y);
    std::vector<Index> pool;
    for (const auto& [v, other] : {first ? Pair{x, y} : Pair{y, x}, first ? Pair{y, x} : Pair{x, y}}) {
        start_.list(v, pool, other);
        if (try_separate(GAPS, x, y, pool, FEW)) return true;
    }
    return false;
}

// --- handing on -------------------------------------------------------------------------------------------

void State::hand_on() {
    part_forbidden();
    sort_edges();
}

// Cut the edges that are known not to be there; no set separates these pairs, so no rule reads them.
void State::part_forbidden() {
    if (known_ == nullptr) return;
    for (Index x = 0; x < p_; ++x) {
        adjacent_.each_shared(x, known_->forbidden, x, [&](Index y) {
            if (x > y) return;
            const auto [pvalue, strongest] = closest(x, y);
            adjacent_.part(x, y);
            unfinished_.discard(x, y);
            doubtful_.add(x, y);
            events.push_back(Event{Event::OVERRULED, x, y, -1, ADJACENCY, strongest, Span{}, pvalue});
        });
    }
}

void State::sort_edges() {
    decided.clear();
    undecided.clear();
    if (all_open_) {
        for (Index x = 0; x < p_; ++x) adjacent_.each(x, [&](Index y) { if (x < y) undecided.emplace_back(x, y); });
        return;
    }
    PairSet open;
    for (const auto& [x, y] : unfinished_.sorted()) if (adjacent_.has(x, y)) open.add(x, y);
    for (Index x = 0; x < p_; ++x) {
        if (boundaries_.had.empty() || boundaries_.had[static_cast<std::size_t>(x)].none()) continue;
        adjacent_.each(x, [&](Index y) { open.add(x, y); });
    }
    undecided = open.sorted();
    for (Index x = 0; x < p_; ++x) {
        adjacent_.each(x, [&](Index y) { if (x < y && !open.has(x, y)) decided.emplace_back(x, y); });
    }
}

void State::say_how_close() {
    PairSet recorded;
    for (const Event& e : events) {
        if (e.kind == Event::ADJACENT) recorded.add(static_cast<Index>(e.x), static_cast<Index>(e.y));
    }
    for (const auto& [x, y] : decided) {
        if (recorded.has(x, y)) continue;
        const auto [pvalue, strongest] = closest(x, y);
        events.push_back(Event{Event::ADJACENT, x, y, -1, ADJACENCY, strongest, Span{}, pvalue});
    }
}

}  // namespace lmarvel
