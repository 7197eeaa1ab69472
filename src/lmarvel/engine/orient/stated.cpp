// The rules that read what is known beforehand, K0-K4: the twin of orient/stated.
#include <algorithm>

#include "orient/orient.hpp"

namespace lmarvel {

namespace {

// The transitive closure of a relation.
Rows closed(Rows found, Index p) {
    for (Index k = 0; k < p; ++k) {
        for (Index x = 0; x < p; ++x) if (found.has(x, k)) found.take_in(x, found, k);
    }
    return found;
}

// A shortest path of a relation from a to b, itself where they are the same; empty if there is none.
Path shortest(const Rows& direct, Index p, Index a, Index b) {
    std::vector<Index> origin(static_cast<std::size_t>(p), -1), queue{a};
    origin[static_cast<std::size_t>(a)] = a;
    for (std::size_t i = 0; i < queue.size() && origin[static_cast<std::size_t>(b)] < 0; ++i) {
        direct.each(queue[i], [&](Index w) {
            if (origin[static_cast<std::size_t>(w)] >= 0) return;
            origin[static_cast<std::size_t>(w)] = queue[i];
            queue.push_back(w);
        });
    }
    if (origin[static_cast<std::size_t>(b)] < 0) return {};
    Path path{b};
    while (path.back() != a) path.push_back(origin[static_cast<std::size_t>(path.back())]);
    std::reverse(path.begin(), path.end());
    return path;
}

}  // namespace

// K0: the marks that statements give at once.
void Orientation::said() {
    for (Index x = 0; x < static_cast<Index>(p_); ++x) {
        for (std::int64_t e = begin(x); e < end(x); ++e) {
            const Index y = near(e);
            const bool arrow = known_->never.has(y, x);
            const bool pointed = known_->never.has(x, y) && !known_->confounded(x, y);
            if (arrow || pointed || known_->causes.has(y, x)) apply(K0, {true, {x, y}, {{x, y, arrow ? ARROW : TAIL}}});
        }
    }
}

// --- K1: statements on variables that are not adjacent ----------------------------------------------------

// Use K1, which reads whole paths, where nothing else is left to use; tell whether it wrote a mark.
bool Orientation::use_linked() {
    const std::size_t first = log.size();
    linked();
    bool any = false;
    for (std::size_t i = first; i < log.size(); ++i) {
        wake(&log[i]);
        any = any || !log[i].written.empty();
    }
    return any;
}

void Orientation::linked() {
    const auto p = static_cast<Index>(p_);
    Rows direct = known_->causes;
    add_directed(direct);
    const Rows leads = closed(direct, p);
    Rows own = leads, unreached(p), never(p);
    for (Index v = 0; v < p; ++v) own.set(v, v);
    // If u leads to y, x leads to w, and u does not cause w, then y does not cause x.
    for (Index u = 0; u < p; ++u) own.each(u, [&](Index y) { unreached.take_in(y, known_->never, u); });
    for (Index y = 0; y < p; ++y) {
        tick();
        for (Index x = 0; x < p; ++x) if (unreached.meets(y, own, x)) never.set(y, x);
    }
    const auto around = [&](Index x, Index y) {  // a path u, .., y, x, .., w where u does not cause w
        Index u = 0;
        while (!(own.has(u, y) && known_->never.meets(u, own, x))) ++u;
        Index w = 0;
        while (!(known_->never.has(u, w) && own.has(x, w))) ++w;
        Path path = shortest(direct, p, u, y);
        const Path rest = shortest(direct, p, x, w);
        path.insert(path.end(), rest.begin(), rest.end());
        return path;
    };
    for (Index x = 0; x < p; ++x) {
        for (std::int64_t e = begin(x); e < end(x); ++e) {
            const Index y = near(e);
            if (mark(x, y) != CIRCLE || (leads.has(x, y) && leads.has(y, x))) continue;
            tick();
            if (leads.has(y, x)) apply(K1, {true, shortest(direct, p, y, x), {{x, y, TAIL}, {y, x, ARROW}}});
            else if (leads.has(x, y)) apply(K1, {true, shortest(direct, p, x, y), {{x, y, ARROW}}});
            else if (never.has(y, x)) apply(K1, {true, around(x, y), {{x, y, ARROW}}});
            else onward_to(e, never);
        }
    }
    Rows by_edges(p);
    add_directed(by_edges);
    by_edges = closed(by_edges, p);
    std::vector<Pair> open;
    for (Index a = 0; a < p; ++a) {
        known_->as_said.each(a, [&](Index b) { if (!by_edges.has(a, b)) open.emplace_back(a, b); });
    }
    for (const auto& [a, b] : open) only_way(a, b);
}

void Orientation::add_directed(Rows& relation) const {
    for (std::size_t e = 0; e < near_.size(); ++e) if (directed(from_[e], near_[e])) relation.set(from_[e], near_[e]);
}

// With a tail at y on x-y an uncovered possibly directed path makes y anterior to its end; not so if y is not.
void Orientation::onward_to(std::int64_t end, const Rows& never) {
    const Index x = from(end), y = near(end);
    Path path;
    bool found = false;
    never.each(y, [&](Index w) {
        if (found || w == x) return;
        found = uncovered_path(Route{y, x, w, ONWARD, -1, false}, reverse_[static_cast<std::size_t>(end)], path);
    });
    if (found) apply(K1, {true, path, {{x, y, ARROW}}});
}

// Of the edges that could lead from a cause to its effect, direct those without which none would.
void Orientation::only_way(Index a, Index b) {
    const auto p = static_cast<Index>(p_);
    Rows ways(p);
    std::vector<Pair> all;
    for (std::size_t e = 0; e < near_.size(); ++e) {
        const Index from = from_[e], to = near_[e];
        if (!onward(from, to) || known_->never.has(from, to)) continue;
        ways.set(from, to);
        all.emplace_back(from, to);
    }
    for (const auto& [x, y] : triples_.undecided) {  // which may be edges
        if (!undecided_.has(x, y)) continue;
        if (!known_->never.has(x, y)) ways.set(x, y);
        if (!known_->never.has(y, x)) ways.set(y, x);
    }
    const Path one = shortest(ways, p, a, b);  // any edge that is needed is on it
    for (const auto& [from, to] : all) {
        tick();
        if (directed(from, to)) continue;
        if (!one.empty()) {
            const auto at = std::find(one.begin(), one.end(), from);
            if (at == one.end() || at + 1 == one.end() || at[1] != to) continue;
            ways.drop(from, to);
            const bool needed = shortest(ways, p, a, b).empty();
            ways.set(from, to);
            if (!needed) continue;
        }
        apply(K1, {true, {a, from, to, b}, {{to, from, TAIL}, {from, to, ARROW}}});
    }
}

// --- K2, K3, K4 -------------------------------------------------------------------------------------------

// Without selection no edge has two tails.
Orientation::Wanted Orientation::k2(Index x, Index y) {
    return mark(y, x) == TAIL ? Wanted{true, {x, y}, {{x, y, ARROW}}} : Wanted{};
}

// Without an unmeasured cause of both ends none has two arrowheads.
Orientation::Wanted Orientation::k3(Index x, Index y) {
    return mark(y, x) == ARROW && !known_->confounded(x, y) ? Wanted{true, {x, y}, {{x, y, TAIL}}} : Wanted{};
}

Orientation::Wanted Orientation::k4(Index d, Index b) {
    std::vector<Index> into;
    for (std::int64_t e = begin(d); e < end(d); ++e) {
        if (mark(d, near(e)) != NONE && mark(near(e), b) == ARROW) into.push_back(near(e));
    }
    for (Index a : into) if (mark(a, d) == TAIL) return {true, {d, a, b}, {{d, b, ARROW}}};
    for (std::size_t i = 0; i < into.size(); ++i) {
        if (mark(into[i], d) == ARROW) continue;
        for (std::size_t j = i + 1; j < into.size(); ++j) {
            if (mark(into[j], d) != ARROW && gap(into[i], d, into[j])) {
                return {true, {into[i], b, into[j], d}, {{d, b, ARROW}}};
            }
        }
    }
    return {};
}

}  // namespace lmarvel
