// The paths that rules need: the twin of orient/paths.
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
    return uncovered_simple(route, path);  // a walk that visits a node twice is no path
}

// Breadth first over ends (previous, current): the shortest uncovered walk, if there is one.
bool Orientation::uncovered_walk(const Route& route, std::int64_t first_end, Path& path) {
    ++search_;
    std::vector<std::int64_t> queue{first_end};
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

}  // namespace lmarvel
