// The search over DAGs with latent and selection nodes, as Python sees it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/linear.hpp"
#include "base/watch.hpp"

namespace lmarvel {

#define LMARVEL_HIDDEN_KINDS(X) \
    X(LATENT, "latent")         \
    X(SELECTION, "selection")
enum HiddenKind : int { LMARVEL_HIDDEN_KINDS(LMARVEL_MEMBER) };
LMARVEL_NAMES(hidden_kind_names, LMARVEL_HIDDEN_KINDS)

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

// The narrowest search that holds p observed variables and the latent nodes that it may put; none beyond 1,000.
std::unique_ptr<AnyHidden> make_hidden(const double* R, int p, double n, double price, double noise,
                                       std::vector<int> kinds);

}  // namespace lmarvel
