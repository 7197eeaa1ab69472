#include "orient/orient.hpp"

#include <algorithm>

namespace lmarvel {

namespace {
constexpr std::uint64_t TICKS = 64;      // looks at the clock are this many steps apart
constexpr std::uint64_t POLLS = 16384;   // and questions whether the user has given up
}  // namespace

Orientation::Orientation(const Triples& triples, Index p, std::int8_t* marks, const Clock& clock, PathCheck* check,
                         const Known* known)
    : triples_(triples), p_(static_cast<std::size_t>(p)), marks_(marks), clock_(clock), start_(p_ + 1, 0),
      check_(check), known_(known), open_(!triples.undecided.empty()) {
    if (open_) undecided_ = Rows(p);
    for (const auto& [x, y] : triples.undecided) undecided_.join(x, y);
    for (const auto& [x, y] : triples.decided) {
        ++start_[static_cast<std::size_t>(x) + 1];
        ++start_[static_cast<std::size_t>(y) + 1];
    }
    for (std::size_t v = 0; v < p_; ++v) start_[v + 1] += start_[v];
    const std::size_t ends = 2 * triples.decided.size();
    near_.resize(ends);
    from_.resize(ends);
    reverse_.resize(ends);
    origin_.resize(ends);
    stamp_.assign(ends, 0);
    met_.assign(p_, 0);
    std::vector<std::int64_t> at(start_.begin(), start_.end() - 1);
    for (const auto& [x, y] : triples.decided) {  // ascending, so the neighbours of each node are ascending too
        const std::int64_t there = at[static_cast<std::size_t>(x)]++, back = at[static_cast<std::size_t>(y)]++;
        near_[static_cast<std::size_t>(there)] = y;
        from_[static_cast<std::size_t>(there)] = x;
        near_[static_cast<std::size_t>(back)] = x;
        from_[static_cast<std::size_t>(back)] = y;
        reverse_[static_cast<std::size_t>(there)] = back;
        reverse_[static_cast<std::size_t>(back)] = there;
        write(x, y, CIRCLE);
        write(y, x, CIRCLE);
    }
    for (Agenda* agenda : {&arrowheads_, &undirected_, &tails_}) agenda->waiting.assign(ends, 0);
}

void Orientation::tick() {
    if (ticks_ % TICKS == 0 && clock_.late()) throw OutOfTime{};
    if (ticks_ % POLLS == POLLS - 1) clock_.poll();
    ++ticks_;
}

// Write what a rule asks for; null if it all stood there already.
const Use* Orientation::apply(Index rule, const Wanted& wanted) {
    Use use{rule, wanted.nodes, {}, {}};
    for (const Written& w : wanted.marks) {
        const std::int8_t now = mark(w.x, w.y);
        if (now == CIRCLE) {
            write(w.x, w.y, w.mark);
            use.written.push_back(w);
        } else if (now != w.mark) {
            use.refused.push_back(w);
        }
    }
    if (use.written.empty() && use.refused.empty()) return nullptr;
    const auto same = [](const Written& a, const Written& b) { return a.x == b.x && a.y == b.y && a.mark == b.mark; };
    if (use.written.empty() && !log.empty()) {  // the same clash twice in a row is said once
        const Use& last = log.back();
        if (last.rule == rule && last.written.empty() && last.nodes == use.nodes &&
            std::equal(last.refused.begin(), last.refused.end(), use.refused.begin(), use.refused.end(), same)) {
            return nullptr;  // it wrote nothing, so there is nothing to wake either
        }
    }
    log.push_back(std::move(use));
    return &log.back();
}

// --- the worklist -----------------------------------------------------------------------------------------

void Orientation::run(bool selection, bool of_mag) {
    of_mag_ = of_mag && known_ == nullptr;
    rules_[1] = {R1, R2, R3, R4};
    rules_[3] = {R6, R7};
    rules_[4] = {R8, R9, R10};
    has_paths_ = undirected_.used = tails_.used = true;
    work(selection);
}

void Orientation::run_colliders() { work(false); }

// Use every rule, stage after stage, until none is left to use.
void Orientation::work(bool selection) {
    undirected_.used = undirected_.used && selection && (known_ == nullptr || known_->selection);
    if (known_ != nullptr) {
        rules_[1].push_back(K4);
        if (!known_->selection) rules_[1].push_back(K2);
        if (!known_->latents || known_->any_unconfounded) rules_[1].push_back(K3);
    }
    arrowheads_.used = !rules_[1].empty();
    try {
        if (known_ != nullptr) said();
        colliders();
        if (arrowheads_.used) begin_queues();
        drain(1);
        if (undirected_.used) rings();
        drain(4);
        while (known_ != nullptr && known_->linked && use_linked()) drain(4);
    } catch (const OutOfTime&) {
        ended = true;
    }
    finish();
}

// What is undecided comes back as o-o.
void Orientation::finish() {
    for (const auto& [x, y] : triples_.undecided) {
        if (!undecided_.has(x, y)) continue;  // it was cut on the way
        write(x, y, CIRCLE);
        write(y, x, CIRCLE);
    }
}

// R0 on each unshielded triple once.
void Orientation::colliders() {
    for (Index b = 0; b < static_cast<Index>(p_); ++b) {
        for (std::int64_t i = begin(b); i < end(b); ++i) {
            tick();
            for (std::int64_t j = i + 1; j < end(b); ++j) {
                const Index a = near(i), c = near(j);
                if (!apart(a, c) || !triples_.collides(a, a, b, c)) continue;
                Wanted wanted{true, {a, b, c}, {{a, b, ARROW}, {c, b, ARROW}}};
                // Where a statement has put a tail at b the collider is refused as a whole.
                const auto stands = [&](const Written& w) { return mark(w.x, b) != TAIL; };
                if (known_ != nullptr && !std::all_of(wanted.marks.begin(), wanted.marks.end(), stands)) {
                    wanted.marks.erase(std::remove_if(wanted.marks.begin(), wanted.marks.end(), stands),
                                       wanted.marks.end());
                }
                apply(R0, wanted);
            }
        }
    }
}

// R5 on each edge; all cycles of the graph as it stands are found before any is oriented.
void Orientation::rings() {
    find_passable();
    std::vector<Wanted> found;
    for (Index a = 0; a < static_cast<Index>(p_); ++a) {
        if (!passable_[static_cast<std::size_t>(a)]) continue;
        for (std::int64_t e = begin(a); e < end(a); ++e) {
            if (a < near(e) && may_step(CIRCLES, a, near(e))) {
                Wanted wanted = r5(a, near(e));
                if (wanted.any) found.push_back(std::move(wanted));
            }
        }
    }
    for (const Wanted& wanted : found) wake(apply(R5, wanted));
}

// The nodes that a cycle of R5 may pass: each lies between two others of them, by o-o, that are a gap apart.
void Orientation::find_passable() {
    passable_.assign(p_, 1);
    std::vector<Index> queue(p_), beside;
    for (std::size_t v = 0; v < p_; ++v) queue[v] = static_cast<Index>(v);
    while (!queue.empty()) {
        tick();
        const Index v = queue.back();
        queue.pop_back();
        if (!passable_[static_cast<std::size_t>(v)]) continue;
        beside.clear();
        for (std::int64_t e = begin(v); e < end(v); ++e) if (may_step(CIRCLES, v, near(e))) beside.push_back(near(e));
        bool passes = false;
        for (std::size_t i = 0; i < beside.size() && !passes; ++i)
            for (std::size_t j = i + 1; j < beside.size() && !passes; ++j) passes = gap(beside[i], v, beside[j]);
        if (passes) continue;
        passable_[static_cast<std::size_t>(v)] = 0;
        queue.insert(queue.end(), beside.begin(), beside.end());
    }
}

// Put every circle that some rule may resolve on the agendas: all but R5 need an arrowhead or a tail nearby.
void Orientation::begin_queues() {
    std::vector<std::uint8_t> settled(p_, 0);
    for (std::size_t e = 0; e < near_.size(); ++e) {
        const std::int8_t there = mark(from_[e], near_[e]);
        if (there == CIRCLE || there == NONE) continue;
        settled[static_cast<std::size_t>(from_[e])] = settled[static_cast<std::size_t>(near_[e])] = 1;
    }
    for (Index x = 0; x < static_cast<Index>(p_); ++x) {
        tick();
        for (std::int64_t e = begin(x); e < end(x); ++e) {
            const Index y = near(e);
            const bool close = settled[static_cast<std::size_t>(x)] || settled[static_cast<std::size_t>(y)];
            if (close && mark(x, y) == CIRCLE) {
                arrowheads_.push(e);
                if (undirected_.used) undirected_.push(e);
                if (tails_.used && mark(y, x) == ARROW) tails_.push(e);
            }
        }
    }
}

// Work until no circle waits for a stage up to this one, always for the first stage that has one.
void Orientation::drain(int last) {
    const std::pair<int, Agenda*> stages[] = {{1, &arrowheads_}, {3, &undirected_}, {4, &tails_}};
    std::size_t at = 0;
    while (at < 3 && stages[at].first <= last) {
        Agenda& agenda = *stages[at].second;
        if (agenda.queue.empty()) {
            ++at;
            continue;
        }
        tick();
        const std::int64_t e = agenda.queue.front();
        agenda.queue.pop_front();
        agenda.waiting[static_cast<std::size_t>(e)] = 0;
        if (use_one(stages[at].first, from(e), near(e))) at = 0;
    }
}

// Use the first rule of a stage that resolves the circle at y on x-y; tell whether one does.
bool Orientation::use_one(int stage, Index x, Index y) {
    for (Index rule : rules_[stage]) {
        if (mark(x, y) != CIRCLE) return false;
        const Wanted wanted = checked(rule, x, y);
        if (wanted.any) {
            wake(apply(rule, wanted));
            return true;
        }
    }
    return false;
}

// Ask a rule about a circle, and have the path that R4 needs tested where there is a test for it.
Orientation::Wanted Orientation::checked(Index rule, Index x, Index y) {
    Wanted wanted = resolve(rule, x, y);
    while (wanted.any && rule == R4 && check_ != nullptr) {
        const Verdict verdict = check_->check(wanted.nodes);
        if (verdict.stands) return wanted;
        if (verdict.cuts.empty()) return {};
        cut(verdict);
        // The path is gone; there may be another one, if the edge still is.
        wanted = mark(x, y) == CIRCLE ? resolve(rule, x, y) : Wanted{};
    }
    return wanted;
}

// Delete edges, make the colliders over the gaps, and start over: a gap can help any rule.
void Orientation::cut(const Verdict& verdict) {
    for (const auto& [x, y] : verdict.cuts) {
        write(x, y, NONE);
        write(y, x, NONE);
        if (open_) undecided_.part(x, y);
    }
    unchecked_.insert(verdict.unchecked.begin(), verdict.unchecked.end());
    for (const auto& [a, b, c] : verdict.colliders) {
        const bool unshielded = mark(a, b) != NONE && mark(c, b) != NONE && apart(a, c);
        const auto& skipped = verdict.unchecked;
        if (!unshielded || std::find(skipped.begin(), skipped.end(), Triple{a, b, c}) != skipped.end()) continue;
        apply(R0, Wanted{true, {a, b, c}, {{a, b, ARROW}, {c, b, ARROW}}});
    }
    begin_queues();
}

// Put back the circles that the new marks can help.
void Orientation::wake(const Use* use) {
    if (use == nullptr) return;
    for (const Written& w : use->written) {
        for (Index v : {w.x, w.y}) {
            for (std::int64_t e = begin(v); e < end(v); ++e) {
                const std::int8_t at_y = mark(v, near(e)), at_v = mark(near(e), v);
                if (at_y == CIRCLE) wake_end(e, at_v, w.mark);
                if (at_v == CIRCLE) wake_end(reverse_[static_cast<std::size_t>(e)], at_y, w.mark);
            }
        }
        if (w.mark != ARROW || !has_paths_) continue;
        for (std::int64_t e = begin(w.y); e < end(w.y); ++e) {  // R4: the circles that face a child
            const Index c = near(e);
            if (!directed(w.y, c)) continue;
            for (std::int64_t f = begin(c); f < end(c); ++f) if (mark(c, near(f)) == CIRCLE) arrowheads_.push(f);
        }
    }
}

void Orientation::wake_end(std::int64_t end, std::int8_t other, Index fresh) {
    arrowheads_.push(end);
    if (undirected_.used && fresh == TAIL) undirected_.push(end);
    if (tails_.used && other == ARROW) tails_.push(end);
}

// --- the rules --------------------------------------------------------------------------------------------

Orientation::Wanted Orientation::resolve(Index rule, Index x, Index y) {
    switch (rule) {
        case R1: return r1(x, y);
        case R2: return r2(x, y);
        case R3: return r3(x, y);
        case R4: return r4(x, y);
        case R6: return r6(x, y);
        case R7: return r7(x, y);
        case R8: return r8(x, y);
        case R9: return r9(x, y);
        case R10: return r10(x, y);
        case K2: return k2(x, y);
        case K3: return k3(x, y);
        default: return k4(x, y);
    }
}

Orientation::Wanted Orientation::r1(Index c, Index b) {
    for (std::int64_t e = begin(b); e < end(b); ++e) {
        const Index a = near(e);
        if (mark(a, b) == ARROW && a != c && gap(a, b, c)) return {true, {a, b, c}, {{c, b, TAIL}, {b, c, ARROW}}};
    }
    return {};
}

Orientation::Wanted Orientation::r2(Index a, Index c) {
    for (std::int64_t e = begin(a); e < end(a); ++e) {
        const Index b = near(e);
        if (mark(a, b) != ARROW || mark(b, c) != ARROW) continue;
        if (mark(b, a) == TAIL || mark(c, b) == TAIL) return {true, {a, b, c}, {{a, c, ARROW}}};
    }
    return {};
}

Orientation::Wanted Orientation::r3(Index d, Index b) {
    std::vector<Index>& into = into_;
    into.clear();
    for (std::int64_t e = begin(d); e < end(d); ++e) {
        const Index a = near(e);
        if (mark(a, d) == CIRCLE && mark(a, b) == ARROW) into.push_back(a);
    }
    for (std::size_t i = 0; i < into.size(); ++i) {
        for (std::size_t j = i + 1; j < into.size(); ++j) {
            if (gap(into[i], d, into[j])) return {true, {into[i], b, into[j], d}, {{d, b, ARROW}}};
        }
    }
    return {};
}

Orientation::Wanted Orientation::r6(Index c, Index b) {
    for (std::int64_t e = begin(b); e < end(b); ++e) {
        const Index a = near(e);
        if (mark(b, a) == TAIL && mark(a, b) == TAIL && a != c) return {true, {a, b, c}, {{c, b, TAIL}}};
    }
    return {};
}

Orientation::Wanted Orientation::r7(Index c, Index b) {
    for (std::int64_t e = begin(b); e < end(b); ++e) {
        const Index a = near(e);
        if (mark(b, a) == TAIL && mark(a, b) == CIRCLE && a != c && gap(a, b, c)) {
            return {true, {a, b, c}, {{c, b, TAIL}}};
        }
    }
    return {};
}

Orientation::Wanted Orientation::r8(Index c, Index a) {
    if (mark(a, c) != ARROW) return {};
    for (std::int64_t e = begin(a); e < end(a); ++e) {
        const Index b = near(e);
        if (mark(a, b) != TAIL && mark(b, a) == TAIL && b != c && directed(b, c)) {
            return {true, {a, b, c}, {{c, a, TAIL}}};
        }
    }
    return {};
}

}  // namespace lmarvel
