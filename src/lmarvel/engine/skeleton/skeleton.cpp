#include "skeleton/skeleton.hpp"

#include <queue>

namespace lmarvel {

Skeleton::Skeleton(Ledger& ledger, SetStore& arena, const Boundaries& boundaries, const Levels& levels)
    : State(ledger, arena, boundaries, levels.alpha, false), levels_(levels), mb_(start_),
      size_(static_cast<std::size_t>(p_)), removed_at_(static_cast<std::size_t>(p_), -1) {
    for (Index x = 0; x < p_; ++x) size_[static_cast<std::size_t>(x)] = start_.count(x);
}

Answer Skeleton::ask(Phase phase, Index x, Index y, const std::vector<Index>& pool, Index always, bool threshold) {
    return ledger_.find_sepset(phase, x, y, pool, threshold, threshold ? levels_.threshold : levels_.alpha, always);
}

void Skeleton::decide(Phase phase, Index x, Index y, const std::vector<Index>& pool) {
    const auto size = static_cast<std::int64_t>(pool.size());
    // The paper's program leaves the full boundary out, where that Y is in it shows that it does not separate.
    const bool shown = levels_.boundary <= levels_.alpha && size <= ledger_.budget.largest_set;
    const bool less = levels_.faithful && shown && !unverified_.has(x, y);
    if (!try_separate(phase, x, y, pool, less ? size - 1 : size)) join(phase, x, y);
}

// --- the algorithm ----------------------------------------------------------------------------------------

void Skeleton::run(const Teller& tell) {
    try {
        remove_all(tell);
        if (!levels_.assume_chordal) clear_suspects();
        if (!levels_.faithful) {
            settle_contested();
            settle_gaps();
        }
    } catch (const BudgetSpent& spent) {
        ended = spent;
        for (const Suspect& s : suspects_) unfinished_.add(s.y, s.z);
        if (!levels_.faithful) {
            for (const auto& [x, y] : unshielded_pairs()) doubtful_.add(x, y);
        }
    }
    for (Index x = 0; x < p_; ++x) {
        start_.each(x, [&](Index y) {
            if (x < y && is_open(x, y)) {
                unfinished_.add(x, y);
                adjacent_.join(x, y);
            }
        });
    }
}

// Remove removable variables, smallest boundary first, until none is left or none is removable.
void Skeleton::remove_all(const Teller& tell) {
    using Entry = std::pair<Index, Index>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> waiting;
    for (Index x = 0; x < p_; ++x) waiting.emplace(size_[static_cast<std::size_t>(x)], x);
    while (!waiting.empty()) {
        const auto [size, x] = waiting.top();
        waiting.pop();
        if (removed_at_[static_cast<std::size_t>(x)] >= 0 || size != size_[static_cast<std::size_t>(x)]) continue;
        find_adjacent(x);
        if (!is_removable(x)) continue;
        mb_.list(x, members_);
        const Span boundary = arena_.keep(members_);
        around_.clear();
        mb_.each_shared(x, adjacent_, x, [&](Index v) { around_.push_back(v); });
        events.push_back(Event{Event::REMOVED, x, -1, -1, 0, boundary, arena_.keep(around_), 0.0});
        update_boundaries(x);
        removed_at_[static_cast<std::size_t>(x)] = removed_++;
        for (Index y : members_) waiting.emplace(size_[static_cast<std::size_t>(y)], y);
        tell(ADJACENCY, removed_, p_);
    }
    if (removed_ < p_) complete();
}

// FindAdjacent: decide for each Y in Mb(X) whether a subset of Mb(X) - {Y} separates it from X.
void Skeleton::find_adjacent(Index x) {
    mb_.each(x, [&](Index y) {
        if (is_open(x, y)) {
            mb_.list(x, pool_, y);
            decide(ADJACENCY, x, y, pool_);
        }
    });
}

// IsRemovable (Algorithm 2): test Conditions 1 and 2 of Theorem 2 for each Y in Adj(X), Z in Mb(X).
bool Skeleton::is_removable(Index x) {
    around_.clear();
    mb_.each_shared(x, adjacent_, x, [&](Index v) { around_.push_back(v); });
    mb_.list(x, members_);
    const auto near = [&](Index v) { return std::binary_search(around_.begin(), around_.end(), v); };
    std::vector<Suspect> suspects;
    for (Index y : around_) {
        for (Index z : members_) {
            if (z == y || (z < y && near(z)) || adjacent_.has(y, z)) continue;
            const Span known = lookup(y, z);
            if (!known.none() && !arena_.has(known, x)) continue;
            mb_.list(x, pool_, y, z);
            // Condition 1: some W inside Mb(X) separates Y and Z.
            const Answer without = ask(REMOVABILITY, y, z, pool_);
            if (!without.sepset.none()) {
                separate(REMOVABILITY, y, z, without.sepset, without.pvalue);
                continue;
            }
            // Condition 2: no W + {X} does.
            const Answer with_x = ask(REMOVABILITY, y, z, pool_, x, true);
            if (!with_x.sepset.none()) {
                if (known.none()) separate(REMOVABILITY, y, z, with_x.sepset, with_x.pvalue);
                events.push_back(Event{Event::KEPT, x, y, z, 0, with_x.sepset, Span{}, with_x.pvalue});
                return false;
            }
            if (!(without.complete && with_x.complete)) unfinished_.add(y, z);
            if (!levels_.assume_chordal && near(z)) {
                if (!known.none() && needs(x, y, z, known)) return false;
                suspects.push_back(Suspect{x, y, z, removed_});
            }
        }
    }
    suspects_.insert(suspects_.end(), suspects.begin(), suspects.end());
    return true;
}

// Whether the known separating set of Y and Z, which reaches outside Mb(X), needs X (Lemma 4).
bool Skeleton::needs(Index x, Index y, Index z, Span known) {
    std::vector<Index> rest;
    for (Index v : arena_.copy(known)) if (removed_at_[static_cast<std::size_t>(v)] < 0) rest.push_back(v);
    const double p = ledger_.pvalue(REMOVABILITY, y, z, rest);
    if (p <= levels_.threshold) return false;
    std::vector<Index> less;
    for (Index v : rest) if (v != x) less.push_back(v);
    if (ledger_.pvalue(REMOVABILITY, y, z, less) > levels_.alpha) return false;
    events.push_back(Event{Event::KEPT, x, y, z, 0, arena_.keep(rest), Span{}, p});
    return true;
}

// The smaller of the boundaries of Y and Z without the other end and a third variable; that of Y where equal.
const std::vector<Index>& Skeleton::smaller_pool(Index y, Index z, Index but) {
    mb_.list(y, one_, but, z);
    mb_.list(z, two_, but, y);
    return one_.size() <= two_.size() ? one_ : two_;
}

// UpdateMb: remove X, and part the pairs of Mb(X) whose collider paths all went through X.
void Skeleton::update_boundaries(Index x) {
    std::vector<Part> parted;
    each_pair(members_, [&](Index y, Index z) {
        if (!mb_.has(y, z) || adjacent_.has(y, z)) return;
        const std::vector<Index>& given = smaller_pool(y, z, x);
        if (static_cast<std::int64_t>(given.size()) > ledger_.budget.largest_set) {
            unverified_.add(y, z);  // too large a set to test: the pair stays
            return;
        }
        const double p = ledger_.pvalue(UPDATE, y, z, given);
        if (p > levels_.boundary) parted.push_back(Part{y, z, arena_.keep(given), p});
    });
    for (const Part& part : parted) {
        mb_.part(part.y, part.z);
        --size_[static_cast<std::size_t>(part.y)];
        --size_[static_cast<std::size_t>(part.z)];
        events.push_back(Event{Event::LEFT_BOUNDARY, x, part.y, part.z, 0, part.given, Span{}, part.pvalue});
        if (is_open(part.y, part.z)) separate(UPDATE, part.y, part.z, part.given, part.pvalue);
    }
    for (Index y : members_) {
        mb_.drop(y, x);
        --size_[static_cast<std::size_t>(y)];
    }
    mb_.clear(x);
    size_[static_cast<std::size_t>(x)] = 0;
}

// No variable is removable: settle every open pair by a search in the smaller boundary.
void Skeleton::complete() {
    std::vector<Index> remaining;
    for (Index x = 0; x < p_; ++x) if (removed_at_[static_cast<std::size_t>(x)] < 0) remaining.push_back(x);
    events.push_back(Event{Event::NONE_REMOVABLE, -1, -1, -1, 0, arena_.keep(remaining), Span{}, 0.0});
    for (Index x : remaining) {
        mb_.each(x, [&](Index y) {
            if (x < y && is_open(x, y)) decide(COMPLETION, x, y, smaller_pool(x, y, -1));
        });
    }
}

// Cut the edges of pairs that some step of the run found independent at the level alpha.
void Skeleton::settle_contested() {
    for (Index x = 0; x < p_; ++x) {
        adjacent_.list(x, members_);
        for (Index y : members_) {
            if (x > y) continue;
            const auto [pvalue, given] = ledger_.closest(x, y);
            if (!given.none() && pvalue > levels_.alpha) separate(CONTESTED, x, y, given, pvalue);
        }
    }
}

// --- chordless cycles -------------------------------------------------------------------------------------

// Find the false edges among the suspects, and delete them together.
void Skeleton::clear_suspects() {
    std::vector<Suspect> suspects;
    PairSet doubtful;
    for (const Suspect& s : suspects_) {
        if (!adjacent_.has(s.y, s.z)) continue;
        suspects.push_back(s);
        doubtful.add(s.y, s.z);
    }
    if (suspects.empty()) return;
    for (const auto& [x, y] : unfinished_.sorted()) doubtful.add(x, y);
    headed_.assign(static_cast<std::size_t>(p_), -1);
    std::vector<Part> cuts;
    PairSet cut;
    std::vector<Index> pool;
    for (const Suspect& s : suspects) {
        if (cut.has(s.y, s.z) || !candidates(s, doubtful, pool)) continue;
        const Answer answer = ask(CHORDLESS, s.y, s.z, pool, s.x);
        if (!answer.sepset.none()) {
            cut.add(s.y, s.z);
            cuts.push_back(Part{s.y, s.z, answer.sepset, answer.pvalue});
        } else if (!answer.complete) {
            unfinished_.add(s.y, s.z);
        }
    }
    for (const Part& part : cuts) separate(CHORDLESS, part.y, part.z, part.given, part.pvalue);
}

bool Skeleton::tail_only(Index v, const Suspect& s, const PairSet& doubtful) {
    std::int8_t& headed = headed_[static_cast<std::size_t>(v)];
    if (headed < 0) headed = has_arrowhead(v, doubtful);
    const std::int64_t at = removed_at_[static_cast<std::size_t>(v)];
    return headed == 0 && (at < 0 || at >= s.step);
}

// Where the separating set of a suspect would lie; false if the suspect is cleared.
bool Skeleton::candidates(const Suspect& s, const PairSet& doubtful, std::vector<Index>& pool) {
    if (!(tail_only(s.x, s, doubtful) && tail_only(s.y, s, doubtful) && tail_only(s.z, s, doubtful))) return false;
    std::vector<std::uint8_t> seen(static_cast<std::size_t>(p_), 0);
    adjacent_.each(s.x, [&](Index v) { seen[static_cast<std::size_t>(v)] = 1; });
    seen[static_cast<std::size_t>(s.x)] = 1;
    std::vector<Index> stack{s.y};
    while (!stack.empty()) {
        const Index v = stack.back();
        stack.pop_back();
        if (v != s.y && adjacent_.has(v, s.z)) {
            const auto gather = [&](Index end, std::vector<Index>& out) {
                out.clear();
                adjacent_.each(end, [&](Index u) {
                    if (u != s.x && u != s.y && u != s.z && tail_only(u, s, doubtful)) out.push_back(u);
                });
            };
            gather(s.y, one_);
            gather(s.z, two_);
            pool = one_.size() <= two_.size() ? one_ : two_;
            return true;
        }
        adjacent_.each(v, [&](Index u) {
            if (!seen[static_cast<std::size_t>(u)] && tail_only(u, s, doubtful)) {
                seen[static_cast<std::size_t>(u)] = 1;
                stack.push_back(u);
            }
        });
    }
    return false;
}

// Whether an unshielded collider over edges beyond doubt puts an arrowhead at b.
bool Skeleton::has_arrowhead(Index b, const PairSet& doubtful) const {
    std::vector<Index> sure;
    adjacent_.each(b, [&](Index v) { if (!doubtful.has(v, b)) sure.push_back(v); });
    for (std::size_t i = 0; i < sure.size(); ++i) {
        for (std::size_t j = i + 1; j < sure.size(); ++j) {
            if (!adjacent_.has(sure[i], sure[j]) && is_collider(sure[i], b, sure[j])) return true;
        }
    }
    return false;
}

}  // namespace lmarvel
