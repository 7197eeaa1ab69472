#include "orient/separation.hpp"

#include <algorithm>
#include <exception>
#include <limits>

#include "orient/orient.hpp"

namespace lmarvel {

namespace {
std::size_t at(Index v) { return static_cast<std::size_t>(v); }
}  // namespace

Separation::Separation(const std::int8_t* marks, Index p)
    : p_(p), edges_(marks, p), starts_(at(p) + 1, 0), seen_(2 * at(p)) {
    for (Index v = 0; v < p; ++v) {
        for (Index w = 0; w < p; ++w) {
            const std::int8_t far = marks[at(v) * at(p) + at(w)];
            if (far == NONE) continue;
            links_.push_back({w, marks[at(w) * at(p) + at(v)] == ARROW, far == ARROW});
        }
        starts_[at(v) + 1] = links_.size();
    }
    for (Nodes* nodes : {&found_, &near_, &open_, &reached_}) nodes->resize(at(p));
}

// Of the anteriors of the two what can be reached from x, of that what can be reached from y, and of the rest, one
// by one, what is needed.
void Separation::find(Index x, Index y, std::vector<Index>& out) {
    left_out_ = {x, y};
    anteriors(x, y);
    for (const Index end : {x, y}) {
        ancestors(found_);
        reach(end, found_, -1);
        for (Index v = 0; v < p_; ++v) near_[at(v)] = found_[at(v)] && reached_[at(v)];
        ancestors(near_);
        if (!reach(x, near_, y)) found_ = near_;
    }
    for (Index v = 0; v < p_; ++v) {
        if (!found_[at(v)]) continue;
        found_[at(v)] = 0;
        ancestors(found_);
        if (reach(x, found_, y)) {
            found_[at(v)] = 1;
            out.push_back(v);
        }
    }
}

void Separation::add(Index v, Nodes& to) {
    if (to[at(v)]) return;
    to[at(v)] = 1;
    stack_.push_back(v);
}

// found_: what has a path of edges --> and --- to x or y, without the two.
void Separation::anteriors(Index x, Index y) {
    std::fill(found_.begin(), found_.end(), 0);
    add(x, found_);
    add(y, found_);
    while (!stack_.empty()) {
        const Index v = stack_.back();
        stack_.pop_back();
        for (const auto* step : {&edges_.parents, &edges_.neighbors}) {
            for (const Index* w = step->begin(v); w != step->end(v); ++w) if (!left_out(v, *w)) add(*w, found_);
        }
    }
    found_[at(x)] = found_[at(y)] = 0;
}

// open_: the ancestors of a set, itself among them.
void Separation::ancestors(const Nodes& of) {
    std::fill(open_.begin(), open_.end(), 0);
    for (Index v = 0; v < p_; ++v) if (of[at(v)]) add(v, open_);
    while (!stack_.empty()) {
        const Index v = stack_.back();
        stack_.pop_back();
        for (const Index* w = edges_.parents.begin(v); w != edges_.parents.end(v); ++w) {
            if (!left_out(v, *w)) add(*w, open_);
        }
    }
}

void Separation::enter(const Link& link) {
    const std::size_t state = 2 * at(link.to) + (link.into_far ? 1 : 0);
    if (seen_[state]) return;
    seen_[state] = 1;
    states_.push_back(state);
}

// reached_: where walks from x lead whose non-colliders are outside `closed` and whose colliders are open; tell
// whether one leads to `stop`, which ends the search.
bool Separation::reach(Index x, const Nodes& closed, Index stop) {
    std::fill(seen_.begin(), seen_.end(), 0);
    std::fill(reached_.begin(), reached_.end(), 0);
    states_.clear();
    for (std::size_t i = starts_[at(x)]; i < starts_[at(x) + 1]; ++i) {
        if (!left_out(x, links_[i].to)) enter(links_[i]);
    }
    while (!states_.empty()) {
        const std::size_t state = states_.back();
        states_.pop_back();
        const auto v = static_cast<Index>(state / 2);
        reached_[at(v)] = 1;
        if (v == stop) return true;
        const bool passes = !closed[at(v)], collides = state % 2 ? open_[at(v)] != 0 : passes;
        if (!passes && !collides) continue;
        for (std::size_t i = starts_[at(v)]; i < starts_[at(v) + 1]; ++i) {
            if ((links_[i].into_near ? collides : passes) && !left_out(v, links_[i].to)) enter(links_[i]);
        }
    }
    return false;
}

Ending separating_sets(const std::int8_t* mag, Index p, const Index* x, const Index* y, std::int64_t n,
                       SeparatingSets& found, Poll poll, void* caller) {
    return ending_of([&] {
        const Clock clock(std::numeric_limits<double>::infinity(), poll, caller);
        Separation separation(mag, p);
        for (std::int64_t i = 0; i < n; ++i) {
            if (i % 64 == 63) clock.poll();
            separation.find(x[i], y[i], found.members);
            found.starts.push_back(static_cast<std::int64_t>(found.members.size()));
        }
    });
}

}  // namespace lmarvel
