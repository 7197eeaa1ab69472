// The search over DAGs with latent and selection nodes, as Python sees it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "clock.hpp"
#include "linear.hpp"
#include "status.hpp"

namespace lmarvel {

enum HiddenKind : int { LATENT = 0, SELECTION = 1 };

constexpr int most_rounds = 12;
constexpr int most_new_nodes = 2 * most_rounds;  // the way over large cliques has two climbs, a node a round each

// A model as it travels to and from Python.
struct FlatModel {
    std::vector<std::vector<int>> parents, selections;
    std::vector<int> order;
    Vector B, log_variance, V;
    double score = 0.0;
};

// A hidden node, and by how much the score would be worse without it.
struct MissedNode {
    int kind;
    std::vector<int> nodes;
    double by;
};

// What ends a search early, and whom it tells how far it is. `report` returns true if the search is to end.
class Watch {
public:
    using Report = bool (*)(void*, int, int);

    Watch(double seconds, Poll poll, Report report, void* caller)
        : clock_(seconds, poll, caller), report_(report), caller_(caller), polled_(Time::now()) {}

    void check() const {
        clock_.check();
        const auto now = Time::now();
        if (now - polled_ < std::chrono::milliseconds(20)) return;  // asking Python means waiting for its lock
        polled_ = now;
        clock_.poll();
    }
    void tell(int done) const {
        check();
        if (report_ != nullptr && report_(caller_, done, most_rounds)) throw Interrupted{};
    }

private:
    using Time = std::chrono::steady_clock;
    Clock clock_;
    Report report_;
    void* caller_;
    mutable Time::time_point polled_;
};

enum class Ended : int { NO = 0, LATE = 1, INTERRUPTED = 2 };

class AnyHidden {
public:
    virtual ~AnyHidden() = default;
    virtual int capacity() const = 0;  // of observed and latent nodes
    virtual FlatModel fitted(const FlatModel& model) = 0;
    virtual Ended run(const FlatModel& model, const Watch& watch) = 0;
    virtual Ended simplified(const FlatModel& model, double limit, const Watch& watch, FlatModel& simpler, bool& changed,
                             std::vector<MissedNode>& kept) = 0;
    virtual std::size_t n_met() const = 0;
    virtual FlatModel met(std::size_t i) const = 0;
};

// The same as `run`, for whoever cannot take an exception: what is told of its progress may end the thread.
inline Ending run_hidden(AnyHidden& search, const FlatModel& model, const Watch& watch, Ended& ended) {
    return ending_of([&] { ended = search.run(model, watch); });
}

// The narrowest search that holds p observed variables and the latent nodes that it may put; none beyond 1,000.
std::unique_ptr<AnyHidden> make_hidden(const double* R, int p, double n, double price, double noise,
                                       std::vector<int> kinds);

}  // namespace lmarvel
