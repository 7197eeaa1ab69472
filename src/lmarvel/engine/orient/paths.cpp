// The paths that rules need, the twin of orient/paths, and the rules that need them.
#include <algorithm>

#include "orient/orient.hpp"

namespace lmarvel {

// A shortest discriminating path (v, .., a, b, c) for b.
bool Orientation::discriminating_path(Index b, Index c, Path& path) {
    std::vector<std::pair<Index, std::int64_t>> reached;  // node, and which entry led to it
    ++search_;
    const auto reach = [&](Index v, std::int64_t by) {
        met_[static_cast<std::size_t>(v)] = search_;
        reached.emplace_back(v, by);
    };
    for (std::int64_t e = begin(b); e < end(b); ++e) {
        const Index a = near(e);
        if (mark(b, a) == ARROW && a != c && directed(a, c)) reach(a, -1);
    }
    for (std::size_t i = 0; i < reached.size(); ++i) {
        tick();
        const Index q = reached[i].first;
        for (std::int64_t e = begin(q); e < end(q); ++e) {
            const Index v = near(e);
            if (v == b || v == c || mark(v, q) != ARROW || met_[static_cast<std::size_t>(v)] == search_) continue;
            if (apart(v, c)) {
                // Said to be apart, and no set separates them: nothing is known of colliders.
                if (known_ != nullptr && !gap(v, q, c)) continue;
                path.assign(1, v);
                auto at = static_cast<std::int64_t>(i);
                while (at >= 0) {
                    path.push_back(reached[static_cast<std::size_t>(at)].first);
                    at = reached[static_cast<std::size_t>(at)].second;
                }
                path.push_back(b);
                path.push_back(c);
                return true;
            }
            if (mark(q, v) == ARROW && directed(v, c)) reach(v, static_cast<std::int64_t>(i));
        }
    }
    return false;
}

bool Orientation::uncovered_path(const Route& route, std::int64_t first_end, Path& path) {
    if (!uncovered_walk(route, first_end, path)) return false;
    Path nodes = path;
    std::sort(nodes.begin(), nodes.end());
    if (std::adjacent_find(nodes.begin(), nodes.end()) == nodes.end()) return true;
    // A walk that visits a node twice is no path. In the PAG of a MAG, one of circles that closes has a shorter cycle of
    // circles within it, from which R6 and R7 lead to the rest (docs/theory.md): no need to search further.
    if (of_mag_ && route.closes) return false;
    return uncovered_simple(route, path);
}

// Breadth first over ends (previous, current): the shortest uncovered walk, if there is one. Without a goal it goes
// wherever such walks go, and leaves stamps on their ends.
bool Orientation::uncovered_walk(const Route& route, std::int64_t first_end, Path& path) {
    ++search_;
    std::vector<std::int64_t>& queue = queue_;
    queue.assign(1, first_end);
    stamp_[static_cast<std::size_t>(first_end)] = search_;
    origin_[static_cast<std::size_t>(first_end)] = -1;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        tick();
        const std::int64_t state = queue[i];
        const Index before = from(state), q = near(state);
        for (std::int64_t e = begin(q); e < end(q); ++e) {
            const Index r = near(e);
            if (r == route.not_through || !may_step(route.steps, q, r)) continue;
            if (r == before || r == route.a || stamp_[static_cast<std::size_t>(e)] == search_) continue;
            if (!gap(before, q, r)) continue;
            if (r == route.goal) {
                if (route.closes && !gap(route.a, r, q)) continue;
                path.assign(1, r);
                for (std::int64_t at = state; at >= 0; at = origin_[static_cast<std::size_t>(at)]) {
                    path.push_back(near(at));
                }
                path.push_back(route.a);
                std::reverse(path.begin(), path.end());
                return true;
            }
            stamp_[static_cast<std::size_t>(e)] = search_;
            origin_[static_cast<std::size_t>(e)] = state;
            queue.push_back(e);
        }
    }
    return false;
}

// Depth first over simple uncovered paths: exponential at worst, and rarely needed.
bool Orientation::uncovered_simple(const Route& route, Path& path) {
    path = {route.a, route.first};
    std::vector<std::int64_t> next{begin(route.first)};
    tick();
    while (!next.empty()) {
        const Index q = path.back(), before = path[path.size() - 2];
        if (next.back() == end(q)) {
            next.pop_back();
            path.pop_back();
            continue;
        }
        const Index r = near(next.back()++);
        if (r == route.not_through || !may_step(route.steps, q, r)) continue;
        if (std::find(path.begin(), path.end(), r) != path.end() || !gap(before, q, r)) continue;
        if (r == route.goal) {
            if (route.closes && !gap(route.a, r, q)) continue;
            path.push_back(r);
            return true;
        }
        path.push_back(r);
        next.push_back(begin(r));
        tick();
    }
    return false;
}

// --- the rules --------------------------------------------------------------------------------------------

Orientation::Wanted Orientation::r4(Index c, Index b) {
    Path path;
    if (!discriminating_path(b, c, path)) return {};
    const Index v = path.front(), a = path[path.size() - 3];
    if (triples_.collides(v, a, b, c)) return {true, path, {{a, b, ARROW}, {c, b, ARROW}, {b, c, ARROW}}};
    return {true, path, {{c, b, TAIL}, {b, c, ARROW}}};
}

Orientation::Wanted Orientation::r5(Index a, Index b) {
    Path path;
    for (std::int64_t e = begin(a); e < end(a); ++e) {
        const Index c = near(e);
        if (c == b || !may_step(CIRCLES, a, c) || !gap(b, a, c)) continue;
        if (!uncovered_path(Route{a, c, b, CIRCLES, -1, true}, e, path)) continue;
        Wanted wanted{true, path, {}};
        for (std::size_t i = 0; i < path.size(); ++i) {
            const Index x = path[i], y = path[(i + 1) % path.size()];
            wanted.marks.push_back({x, y, TAIL});
            wanted.marks.push_back({y, x, TAIL});
        }
        return wanted;
    }
    return {};
}

Orientation::Wanted Orientation::r9(Index c, Index a) {
    if (mark(a, c) != ARROW) return {};
    Path path;
    for (std::int64_t e = begin(a); e < end(a); ++e) {
        const Index b = near(e);
        if (b == c || !onward(a, b) || !gap(b, a, c)) continue;
        if (uncovered_path(Route{a, b, c, ONWARD, -1, false}, e, path)) return {true, path, {{c, a, TAIL}}};
    }
    return {};
}

// Those of the nodes that an uncovered walk from an end leads to, around `not_through`: most paths that R10 asks for are
// not there, and one search tells of all.
std::vector<Index> Orientation::reached_from(std::int64_t first_end, Index not_through, const std::vector<Index>& nodes) {
    Path none;
    uncovered_walk(Route{from(first_end), near(first_end), -1, ONWARD, not_through, false}, first_end, none);
    std::vector<Index> reached;
    for (Index v : nodes) {
        for (std::int64_t e = begin(v); e < end(v); ++e) {
            if (stamp_[static_cast<std::size_t>(reverse_[static_cast<std::size_t>(e)])] != search_) continue;
            reached.push_back(v);
            break;
        }
    }
    return reached;
}

Orientation::Wanted Orientation::r10(Index c, Index a) {
    if (mark(a, c) != ARROW) return {};
    std::vector<Index> causes;
    for (std::int64_t e = begin(c); e < end(c); ++e) {
        if (near(e) != a && directed(near(e), c)) causes.push_back(near(e));
    }
    if (causes.size() < 2) return {};
    std::vector<std::pair<Index, std::vector<Path>>> routes;  // first node, and a path to each cause that it leads to
    for (std::int64_t e = begin(a); e < end(a); ++e) {
        const Index first = near(e);
        if (first == c || !onward(a, first)) continue;
        std::vector<Path> paths;
        for (Index b : reached_from(e, c, causes)) {
            Path path{a, b};
            if (first == b || uncovered_path(Route{a, first, b, ONWARD, c, false}, e, path)) paths.push_back(path);
        }
        if (!paths.empty()) routes.emplace_back(first, std::move(paths));
    }
    for (std::size_t i = 0; i < routes.size(); ++i) {
        for (std::size_t j = i + 1; j < routes.size(); ++j) {
            if (!gap(routes[i].first, a, routes[j].first)) continue;
            for (const Path& one : routes[i].second) {
                for (const Path& other : routes[j].second) {
                    if (one.back() == other.back()) continue;
                    Path nodes = one;
                    nodes.push_back(c);
                    nodes.insert(nodes.end(), other.rbegin(), other.rend() - 1);
                    return {true, nodes, {{c, a, TAIL}}};
                }
            }
        }
    }
    return {};
}

}  // namespace lmarvel
