// Grow-shrink regressions: the twin of Regressions in lmarvel.search.orders.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "base/arena.hpp"
#include "base/bits.hpp"
#include "base/linear.hpp"
#include "lift/constants.hpp"

namespace lmarvel {

// What more parents would gain, and which they are.
using Paying = std::vector<std::pair<double, std::int16_t>>;

// An order of some variables, the parents of each variable, and the score of that DAG.
template <int W>
struct FoundOrder {
    std::vector<int> order;
    std::vector<Bits<W>> parents;
    double score = 0.0;
};

// The parents that a variable takes among its predecessors, those that it took on the way, and what would have led
// elsewhere.
template <int W>
struct ChosenFamily {
    double score = 0.0;
    Bits<W> parents, grown, tempting;
};

// `Local` knows the table: it has `size`, `price`, and
//   extended(v, path, known, paying)  the value of v given the parents on a path, and what pays as one more;
//   value_of(v, parents)              the same value, of parents in ascending order;
//   removal(v, parents)               the parent that is best left out since it does not pay its price; -1 if all pay.
// A value is minus two log-likelihood of all rows, without the price that every edge has.
//
// Every variable has a tree of the ways that were gone, and no step is computed twice while there is room. Beyond that the
// trees that were not used for longest go, and are made again: what a way leads to depends on nothing but the way.
template <int W, class Local>
class Regressions {
public:
    static constexpr std::size_t usual_memory = std::size_t(1) << 28;  // bytes

    // Parents that are excluded by what is known are not taken.
    explicit Regressions(Local& local, const SearchLimits* known = nullptr, std::size_t memory = usual_memory)
        : local_(local), m_(local.size()), price_(local.price()), known_beforehand_(known), memory_(memory),
          trees_(std::size_t(m_)) {}

    int size() const { return m_; }
    double price() const { return price_; }

    // Walk from no parents to the end. `allowed` says of a variable whether it is a predecessor; `passed` is called with
    // those that would have been taken earlier if they were.
    template <class Allowed, class Passed>
    double score(int v, const Allowed& allowed, const Passed& passed) {
        return end_of(v, allowed, passed).score;
    }

    // The parents that were taken on the last walk.
    const std::vector<int>& taken() const { return path_; }

    template <class Allowed>
    ChosenFamily<W> best(int v, const Allowed& allowed) {
        ChosenFamily<W> found;
        const Node& end = end_of(v, allowed, [&found](int u) { found.tempting.add(u); });
        for (int u : path_) found.grown.add(u);
        found.score = end.score;
        found.parents = found.grown;
        for (int i = 0; i < end.n_dropped; ++i) found.parents.drop(end.dropped[i]);
        return found;
    }

private:
    // The end of a way: what pays its price as one more parent, best first, and what is left if it ends here.
    struct Node {
        double value = std::numeric_limits<double>::infinity();
        double score = std::numeric_limits<double>::quiet_NaN();  // unknown until somebody ends here
        const std::int16_t* steps = nullptr;
        Node** next = nullptr;  // of the first steps: nullptr until somebody goes there
        const std::int16_t* dropped = nullptr;
        std::int16_t n_steps = 0, n_next = 0, n_dropped = 0;
    };

    struct Tree {
        Arena arena;
        Node* root = nullptr;
        std::uint64_t used = 0;  // the number of the last walk in it
    };

    template <class Allowed, class Passed>
    const Node& end_of(int v, const Allowed& allowed, const Passed& passed) {
        if (held_ > memory_) make_room(memory_ / 2);
        try {
            return walked(v, allowed, passed);
        } catch (const std::bad_alloc&) {  // go on with half of what there was room for
            memory_ = std::max(held_ / 2, least_memory_);
            make_room(0);
        }
        return walked(v, allowed, passed);
    }

    template <class Allowed, class Passed>
    const Node& walked(int v, const Allowed& allowed, const Passed& passed) {
        Tree& tree = trees_[std::size_t(v)];
        const std::size_t before = tree.arena.bytes();
        tree.used = ++walks_;
        path_.clear();
        if (!tree.root) tree.root = node(v, tree.arena);
        Node* at = tree.root;
        for (;;) {
            int i = 0;
            while (i < at->n_steps && !allowed(at->steps[i])) passed(at->steps[i++]);
            if (i == at->n_steps) break;
            path_.push_back(at->steps[i]);
            at = next(v, *at, i, tree.arena);
        }
        if (std::isnan(at->score)) shrink(v, *at, tree.arena);
        held_ += tree.arena.bytes() - before;
        return *at;
    }

    Node* next(int v, Node& at, int i, Arena& arena) {
        if (i >= at.n_next) {  // most go one of the first ways
            const int room = std::min<int>(at.n_steps, std::max(4, 2 * i));
            Node** more = arena.template take<Node*>(std::size_t(room));
            std::copy_n(at.next, at.n_next, more);
            at.next = more, at.n_next = std::int16_t(room);
        }
        if (!at.next[i]) at.next[i] = node(v, arena);
        return at.next[i];
    }

    // The value at the end of `path_`, and what pays its price as one more, best first.
    Node* node(int v, Arena& arena) {
        paying_.clear();
        const double value = local_.extended(v, path_, known_beforehand_, paying_);
        std::sort(paying_.begin(), paying_.end(), [](const auto& a, const auto& b) {
            return a.first > b.first || (a.first == b.first && a.second < b.second);
        });
        std::int16_t* steps = arena.template take<std::int16_t>(paying_.size());
        for (std::size_t i = 0; i < paying_.size(); ++i) steps[i] = paying_[i].second;
        Node* made = arena.template take<Node>(1);
        made->value = value, made->steps = steps, made->n_steps = std::int16_t(paying_.size());
        return made;
    }

    // Leave out what does not pay, at the end of `path_`.
    void shrink(int v, Node& at, Arena& arena) {
        near_.assign(path_.begin(), path_.end());
        std::sort(near_.begin(), near_.end());
        dropped_.clear();
        while (!near_.empty()) {
            const int step = local_.removal(v, near_);
            if (step < 0) break;
            near_.erase(std::find(near_.begin(), near_.end(), step));
            dropped_.push_back(std::int16_t(step));
        }
        const double value = dropped_.empty() ? at.value : local_.value_of(v, near_);
        std::int16_t* dropped = arena.template take<std::int16_t>(dropped_.size());
        std::copy(dropped_.begin(), dropped_.end(), dropped);
        at.dropped = dropped, at.n_dropped = std::int16_t(dropped_.size());
        at.score = value + price_ * double(near_.size());
    }

    // Drop the trees that were not used for longest.
    void make_room(std::size_t most) {
        std::vector<int> oldest(trees_.size());
        std::iota(oldest.begin(), oldest.end(), 0);
        std::sort(oldest.begin(), oldest.end(), [this](int a, int b) { return trees_[a].used < trees_[b].used; });
        std::size_t held = 0;
        for (const Tree& tree : trees_) held += tree.arena.bytes();
        for (int v : oldest) {
            if (held <= most) break;
            held -= trees_[v].arena.bytes();
            trees_[v] = Tree{};
        }
        held_ = held;
    }

    static constexpr std::size_t least_memory_ = std::size_t(1) << 20;

    Local& local_;
    int m_;
    double price_;
    const SearchLimits* known_beforehand_;
    std::size_t memory_, held_ = 0;  // bytes
    std::uint64_t walks_ = 0;
    std::vector<Tree> trees_;
    std::vector<int> near_, path_;
    std::vector<std::int16_t> dropped_;
    Paying paying_;
};

}  // namespace lmarvel
