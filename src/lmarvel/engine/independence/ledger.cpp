// What goes through a ledger besides searches: single tests, the meter, the memory.
#include <algorithm>

#include "independence/search.hpp"

namespace lmarvel {

Ledger::Ledger(const Table& t, const Budget& b, const Clock& c, SetStore& arena, bool given_rest)
    : table(t), budget(b), clock(c), arena_(arena), given_rest_(given_rest), tests_(b.tests) {
    if (t.glm != nullptr) test_ = std::make_unique<GlmTest>(*t.glm);
    else if (t.blocks != nullptr) test_ = std::make_unique<BlockGaussian>(*t.blocks);
    else if (t.counts != nullptr) test_ = std::make_unique<GSquare>(*t.counts);
    else test_ = std::make_unique<FisherZ>(t.R, t.p, t.n);
    if (given_rest_) {  // total conditioning asked about each pair given all other variables
        std::vector<Index> all(static_cast<std::size_t>(t.p));
        for (Index v = 0; v < t.p; ++v) all[static_cast<std::size_t>(v)] = v;
        rest_ = Tried{-1, arena.keep(all), t.p - 2, t.p, Span{}, 1.0};
    }
}

double Ledger::pvalue(Phase phase, Index x, Index y, const std::vector<Index>& given, bool once) {
    if (x > y) std::swap(x, y);
    if (++asked_ % 1024 == 0) clock.poll();
    const auto size = static_cast<std::int64_t>(given.size());
    if (size > budget.largest_set) throw BudgetSpent{Reason::TOO_LARGE, size};
    bool before = false;
    each_family(x, y, size, size, once, [&](const Tried& family) { before = before || covers(family, given); });
    if (before) {
        clock.check();
        return test_->single(x, y, given);
    }
    check(1);
    const double p = test_->single(x, y, given);
    count(phase, size, 1);
    const bool closest = is_closest(x, y, p);
    if (once && !closest) return p;
    const Span kept = arena_.keep(given);
    if (closest) compare(x, y, p, kept);
    if (!once) note(x, y, Tried{-1, kept, size, size, Span{}, p});
    return p;
}

// --- meter ------------------------------------------------------------------------------------------------

void Ledger::count(Phase phase, std::int64_t size, std::int64_t tests) {
    auto& sizes = counts[phase];
    if (static_cast<std::size_t>(size) >= sizes.size()) sizes.resize(static_cast<std::size_t>(size) + 1, 0);
    sizes[static_cast<std::size_t>(size)] += tests;
    tests_ += tests;
}

void Ledger::check(std::int64_t tests) const {
    if (budget.max_tests >= 0 && tests_ + tests > budget.max_tests) throw BudgetSpent{Reason::TESTS};
    clock.check();
}

// --- memory -----------------------------------------------------------------------------------------------

void Ledger::note(Index x, Index y, const Tried& family) {
    const auto here = static_cast<std::int64_t>(tried_.size());
    tried_.push_back(family);
    const std::int64_t tail = tails_.get(x, y);
    if (tail < 0) heads_.put(x, y, here);
    else tried_[static_cast<std::size_t>(tail)].next = here;
    tails_.put(x, y, here);
}

bool Ledger::is_closest(Index x, Index y, double pvalue) const {
    const std::int64_t at = closest_at_.get(x, y);
    return at < 0 || pvalue > closest_[static_cast<std::size_t>(at)].pvalue;
}

void Ledger::compare(Index x, Index y, double pvalue, Span given) {
    const std::int64_t at = closest_at_.get(x, y);
    if (at < 0) {
        closest_at_.put(x, y, static_cast<std::int64_t>(closest_.size()));
        closest_.push_back(Closest{pvalue, given});
    } else if (pvalue > closest_[static_cast<std::size_t>(at)].pvalue) {
        closest_[static_cast<std::size_t>(at)] = Closest{pvalue, given};
    }
}

std::pair<double, Span> Ledger::closest(Index x, Index y) const {
    const std::int64_t at = closest_at_.get(x, y);
    if (at < 0) return {0.0, Span{}};
    return {closest_[static_cast<std::size_t>(at)].pvalue, closest_[static_cast<std::size_t>(at)].given};
}

// Tell whether a conditioning set belongs to a family.
bool Ledger::covers(const Tried& family, const std::vector<Index>& full) const {
    const bool member = family.always >= 0 && std::binary_search(full.begin(), full.end(), family.always);
    if (family.always >= 0 && !member) return false;
    const std::int64_t free = static_cast<std::int64_t>(full.size()) - member;
    if (free < family.smallest) return false;
    for (Index v : full) if (v != family.always && !arena_.has(family.pool, v)) return false;
    if (free <= family.largest) return true;
    if (family.stop.none() || free != family.stop.n) return false;
    const Index* stop = arena_.begin(family.stop);
    for (Index v : full) {
        if (v == family.always) continue;
        if (v != *stop) return v < *stop;
        ++stop;
    }
    return false;
}

}  // namespace lmarvel
