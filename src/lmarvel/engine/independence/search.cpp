#include "independence/search.hpp"

#include <algorithm>

namespace lmarvel {

// Translate a family into positions; false if it cannot hold any subset of this search.
bool Ledger::fill(Family& g, const Tried& f, const Query& q) const {
    const View must{&f.always, static_cast<std::size_t>(f.always >= 0)};
    const auto kept = [this](Span s) { return View{arena_.begin(s), static_cast<std::size_t>(std::max<std::int64_t>(s.n, 0))}; };
    const View stop = kept(f.stop);
    return g.fill(q.always, q.pool, must, kept(f.pool), f.smallest, f.largest, f.stop.none() ? nullptr : &stop, f.level);
}

// Search for a separating set of a pair, count the tests, and remember what was tried.
Answer Ledger::search(Index x, Index y, const std::vector<Index>& pool, const Search& how) {
    if (x > y) std::swap(x, y);
    const auto m = static_cast<std::int64_t>(pool.size());
    const std::int64_t base = how.n_always;
    const std::int64_t wanted = how.max_size == -2 ? m : std::min(how.max_size, m);
    Query q;
    q.x = x;
    q.y = y;
    q.always = View{how.always, static_cast<std::size_t>(base)};
    q.pool = pool;
    q.smallest = how.min_size;
    q.top = std::min(wanted, budget.largest_set - base);
    q.max_tests = budget.max_tests < 0 ? -1 : std::max<std::int64_t>(budget.max_tests - tests_, 0);
    q.level = Level{how.level, how.threshold ? table.critical_threshold : table.critical_alpha};
    q.clock = &clock;
    double known = 0.0;  // of what is known to fail at this level, the largest p-value
    each_family(x, y, base + how.min_size, base + wanted, how.once, [&](const Tried& family) {
        if (family.level <= how.level) known = std::max(known, family.level);
        if (q.n_known == families_.size()) families_.emplace_back();
        if (fill(families_[q.n_known], family, q)) ++q.n_known;
    });
    q.known = families_.data();
    test_->search(q, found_);
    for (std::size_t i = 0; i < found_.counts.size(); ++i) {
        if (found_.counts[i]) count(how.phase, base + how.min_size + static_cast<std::int64_t>(i), found_.counts[i]);
    }

    const auto full = [&](const std::vector<Index>& positions, bool with) {
        std::vector<Index> members;
        for (Index i : positions) members.push_back(pool[static_cast<std::size_t>(i)]);
        if (with && base > 0) {
            members.insert(members.end(), how.always, how.always + base);
            std::sort(members.begin(), members.end());
        }
        return members;
    };
    const Found::State state = found_.state;
    const double best = found_.pvalue;
    Answer answer;
    answer.pvalue = best;
    answer.complete = state == Found::FOUND || (state == Found::GOING && !found_.cut);
    if (state != Found::FOUND && found_.any && (!how.once || is_closest(x, y, best))) {
        answer.strongest = arena_.keep(full(found_.closest, true));
        compare(x, y, best, answer.strongest);
    }
    const bool stopped = found_.begun && state != Found::GOING;  // one that time kept from beginning stopped at nothing
    const auto size = static_cast<std::int64_t>(found_.chosen.size());
    const std::int64_t largest = state == Found::GOING ? q.top : size - 1;
    if (!how.once && found_.begun && (largest >= how.min_size || (stopped && size > 0))) {
        const Span stop = stopped ? arena_.keep(full(found_.chosen, false)) : Span{};
        // A family of the empty set alone needs no pool.
        const Span kept = largest == 0 && !stopped ? Span{0, 0} : how.kept.none() ? arena_.keep(pool) : how.kept;
        const Index always = base > 0 ? how.always[0] : -1;
        const double level = state == Found::FOUND ? how.level : std::max(best, known);
        note(x, y, Tried{always, kept, how.min_size, largest, stop, level});
    }
    if (state == Found::FOUND) {
        answer.sepset = answer.strongest = arena_.keep(full(found_.chosen, true));
        if (!how.once) note(x, y, Tried{-1, answer.sepset, answer.sepset.n, answer.sepset.n, Span{}, best});
    }
    if (!answer.complete) check(1);
    if (state == Found::GOING && q.top < wanted) answer.complete = false;
    return answer;
}

}  // namespace lmarvel
