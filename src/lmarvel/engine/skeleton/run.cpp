#include "skeleton/run.hpp"

#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>

namespace lmarvel {

namespace {

class Stopwatch {
public:
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        const double seconds = std::chrono::duration<double>(now - last_).count();
        last_ = now;
        return seconds;
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Span keep(SetStore& arena, const Lists& lists, std::int64_t i) {
    return arena.keep(lists.members + lists.starts[i], lists.starts[i + 1] - lists.starts[i]);
}

// A pair is in each other's boundary if its partial correlation given all others is at or above the critical one.
void from_precision(const Request& q, SetStore& arena, Boundaries& found) {
    const Index p = q.table.p;
    const auto k = [&](Index x, Index y) { return q.precision[static_cast<std::size_t>(x) * p + y]; };
    Rows dependent(p);
    for (Index x = 0; x < p; ++x) {
        for (Index y = x + 1; y < p; ++y) {
            if (k(x, y) * k(x, y) >= q.limit * (k(x, x) * k(y, y))) dependent.join(x, y);
        }
    }
    std::vector<Index> members;
    for (Index x = 0; x < p; ++x) {
        dependent.list(x, members);
        found.sets.push_back(arena.keep(members));
    }
}

std::optional<Known> known_of(const Statements& statements, Index p) {
    if (statements.pairs == nullptr) return std::nullopt;
    return std::optional<Known>(std::in_place, statements, p);
}

// Pairs that are known to be adjacent are in each other's boundary, whatever a search found.
void join_required(const Rows& required, SetStore& arena, Boundaries& found) {
    std::vector<Index> members;
    for (std::size_t v = 0; v < found.sets.size(); ++v) {
        const Span set = found.sets[v];
        members = arena.copy(set);
        required.each(static_cast<Index>(v), [&](Index w) { if (!arena.has(set, w)) members.push_back(w); });
        if (static_cast<std::int64_t>(members.size()) == set.n) continue;
        std::sort(members.begin(), members.end());
        found.sets[v] = arena.keep(members);
    }
}

Boundaries boundaries_of(const Request& q, SetStore& arena) {
    Boundaries found;
    found.total_conditioning = q.total_conditioning;
    found.precision = q.keep_precision ? q.precision : nullptr;
    found.rest = q.rest;
    if (q.precision != nullptr) {
        from_precision(q, arena, found);
        return found;
    }
    found.complete = q.complete;
    for (Index v = 0; v < q.table.p; ++v) found.sets.push_back(q.complete ? Span{0, 0} : keep(arena, q.sets, v));
    if (q.had.n > 0) {
        found.had.resize(static_cast<std::size_t>(q.table.p));
        found.kept.resize(static_cast<std::size_t>(q.table.p));
        for (std::int64_t i = 0; i < q.had.n; ++i) {
            found.had[static_cast<std::size_t>(q.truncated[i])] = keep(arena, q.had, i);
            found.kept[static_cast<std::size_t>(q.truncated[i])] = keep(arena, q.kept, i);
        }
    }
    return found;
}

void remember(const Request& q, SetStore& arena, Ledger& ledger) {
    if (q.asked.n == 0) return;
    Rounds& rounds = ledger.rounds;
    rounds.of_target.resize(static_cast<std::size_t>(q.table.p));
    for (std::int64_t i = 0; i < q.asked.n; ++i) {
        const Span set = keep(arena, q.asked, i);
        const Index x = q.asked_x[i], y = q.asked_y[i];
        if (y < 0) {
            rounds.of_target[static_cast<std::size_t>(x)].push_back(set);
        } else {
            rounds.singly.emplace_back(set, rounds.heads.get(x, y));
            rounds.heads.put(x, y, static_cast<std::int64_t>(rounds.singly.size()) - 1);
        }
    }
}

std::unique_ptr<State> method_of(const Request& q, Ledger& ledger, SetStore& arena, const Boundaries& boundaries) {
    switch (q.method) {
        case Method::FCI: return std::make_unique<Fci>(ledger, arena, boundaries, q.options);
        case Method::RFCI: return std::make_unique<Rfci>(ledger, arena, boundaries, q.options);
        case Method::MBCS: return std::make_unique<Mbcs>(ledger, arena, boundaries, q.options);
        default: return std::make_unique<Skeleton>(ledger, arena, boundaries, q.levels);
    }
}

void flatten(const State& skeleton, const Ledger& ledger, Outcome& out) {
    out.found.reserve(4 * skeleton.found.size());
    out.events.reserve(9 * skeleton.events.size());
    out.pvalues.reserve(skeleton.events.size());
    for (const auto& [x, y] : skeleton.decided) out.decided.insert(out.decided.end(), {x, y});
    for (const auto& [x, y] : skeleton.undecided) out.undecided.insert(out.undecided.end(), {x, y});
    for (const auto& s : skeleton.found) out.found.insert(out.found.end(), {s.x, s.y, s.set.at, s.set.n});
    for (const Event& e : skeleton.events) {
        out.events.insert(out.events.end(), {e.kind, e.x, e.y, e.z, e.phase, e.set.at, e.set.n, e.more.at, e.more.n});
        out.pvalues.push_back(e.pvalue);
    }
    for (std::int64_t phase = 0; phase < PHASES; ++phase) {
        const auto& sizes = ledger.counts[phase];
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            if (sizes[size]) out.counts.insert(out.counts.end(), {phase, static_cast<std::int64_t>(size), sizes[size]});
        }
    }
    out.reason = static_cast<std::int64_t>(skeleton.ended.reason);
    out.size = skeleton.ended.size;
}

// Hand on the sets that something speaks of; a search keeps pools as well, which can be many times as much.
void keep_named_sets(SetStore& arena, Outcome& out) {
    constexpr std::size_t SMALL = 1 << 16;  // members
    if (arena.members.size() <= SMALL) {
        out.sets = std::move(arena.members);
        return;
    }
    std::unordered_map<std::int64_t, Span> moved;
    const auto move = [&](std::int64_t& at, std::int64_t n) {
        if (n <= 0) {
            at = 0;
            return;
        }
        Span& now = moved[at];
        if (now.n != n) {
            now = Span{static_cast<std::int64_t>(out.sets.size()), n};
            out.sets.insert(out.sets.end(), arena.members.data() + at, arena.members.data() + at + n);
        }
        at = now.at;
    };
    for (std::size_t i = 0; i < out.found.size(); i += 4) move(out.found[i + 2], out.found[i + 3]);
    for (std::size_t i = 0; i < out.boundaries.size(); i += 2) move(out.boundaries[i], out.boundaries[i + 1]);
    for (std::size_t i = 0; i < out.events.size(); i += 9) {
        move(out.events[i + 5], out.events[i + 6]);
        move(out.events[i + 7], out.events[i + 8]);
    }
}

void flatten(const std::vector<Use>& log, Outcome& out) {
    const auto here = [&out] { return static_cast<std::int64_t>(out.uses.size()); };
    const auto marks = [&](const Marks& list) {
        out.rules.insert(out.rules.end(), {here(), static_cast<std::int64_t>(list.size())});
        for (const Written& w : list) out.uses.insert(out.uses.end(), {w.x, w.y, w.mark});
    };
    for (const Use& use : log) {
        out.rules.insert(out.rules.end(), {use.rule, here(), static_cast<std::int64_t>(use.nodes.size())});
        out.uses.insert(out.uses.end(), use.nodes.begin(), use.nodes.end());
        marks(use.written);
        marks(use.refused);
    }
}

void run(const Request& q, Outcome& out, std::int8_t* marks, Poll poll, Report report, void* caller) {
    Stopwatch watch;
    SetStore arena;
    const Clock clock(q.seconds, poll, caller);
    const std::optional<Known> known = known_of(q.statements, q.table.p);
    const Known* const given = known ? &*known : nullptr;
    Boundaries boundaries = boundaries_of(q, arena);
    if (known && !q.complete) join_required(known->required, arena, boundaries);
    Table table = q.table;
    if (q.blocks.R != nullptr) table.blocks = &q.blocks;
    if (q.counts.codes != nullptr) table.counts = &q.counts;
    if (q.glm.basis != nullptr) table.glm = &q.glm;
    Ledger ledger(table, q.budget, clock, arena, q.total_conditioning);
    ledger.known = given;
    remember(q, arena, ledger);
    const std::unique_ptr<State> skeleton = method_of(q, ledger, arena, boundaries);
    skeleton->run(Teller{report, caller});
    skeleton->hand_on();
    out.skeleton_seconds = watch.lap();
    PathCheck* const check = skeleton->path_check();
    const Clock last = clock.at_least(q.grace);
    Orientation orientation(*skeleton, q.table.p, marks, last, check, given);
    orientation.run(q.selection);
    out.late = orientation.ended;
    if (check != nullptr) skeleton->hand_on();  // tests of paths cut edges
    if (out.unaided != nullptr) Orientation(*skeleton, q.table.p, out.unaided, last).run(q.selection);
    out.orientation_seconds = watch.lap();
    skeleton->say_how_close();
    flatten(*skeleton, ledger, out);
    flatten(orientation.log, out);
    for (const Span set : boundaries.sets) out.boundaries.insert(out.boundaries.end(), {set.at, set.n});
    keep_named_sets(arena, out);
    out.skeleton_seconds += watch.lap();
}

}  // namespace

Ending learn(const Request& q, Outcome& out, std::int8_t* marks, Poll poll, Report report, void* caller) {
    return ending_of([&] { run(q, out, marks, poll, report, caller); });
}

Ending search_boundaries(const BoundaryTask& task, FoundBoundaries& found, Poll poll, void* caller) {
    return ending_of([&] { find_boundaries(task, found, poll, caller); });
}

Ending orient_graph(const std::int8_t* graph, Index p, bool selection, const Statements& statements,
                    std::int8_t* marks, Poll poll, void* caller, Outcome* uses) {
    return ending_of([&] {
        const Clock clock(std::numeric_limits<double>::infinity(), poll, caller);
        const KnownGraph triples(graph, p);
        const std::optional<Known> known = known_of(statements, p);
        Orientation orientation(triples, p, marks, clock, nullptr, known ? &*known : nullptr);
        orientation.run(selection, true);
        if (uses != nullptr) flatten(orientation.log, *uses);
    });
}

}  // namespace lmarvel
