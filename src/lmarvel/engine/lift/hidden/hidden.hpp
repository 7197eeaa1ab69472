// The search over DAGs with latent and selection nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/names.hpp"
#include "base/watch.hpp"
#include "lift/constants.hpp"

namespace lmarvel {

#define LMARVEL_HIDDEN_KINDS(X) \
    X(LATENT, "latent")         \
    X(SELECTION, "selection")
enum HiddenKind : int { LMARVEL_HIDDEN_KINDS(LMARVEL_MEMBER) };
LMARVEL_NAMES(hidden_kind_names, LMARVEL_HIDDEN_KINDS)

// A hidden node, and by how much the score would be worse without it.
struct MissedNode {
    int kind;
    std::vector<int> nodes;
    double by;
};

// The search. Models that were looked at closely are kept, and known by their number.
class AnyHidden {
public:
    virtual ~AnyHidden() = default;
    // Put hidden nodes into a DAG while the score falls. An order names each variable once, causes first.
    virtual void run(const std::vector<std::vector<int>>& parents, const std::vector<int>& order, const Watch& watch) = 0;
    // The models that have hidden nodes, and whose fits lie within the model.
    virtual std::vector<std::size_t> usable() const = 0;
    virtual double score(std::size_t i) const = 0;
    // The marks of the MAG that a model has over what is observed, p x p.
    virtual std::vector<std::int8_t> marks(std::size_t i) const = 0;
    // Whether a model says less than another, by its hidden nodes.
    virtual bool says_less(std::size_t i, std::size_t j) const = 0;
    // Drop hidden nodes that the score does not miss, while it stays below a limit; tell what the others are worth.
    // Returns the number of the simpler model, or of the same where none was dropped.
    virtual std::size_t simplified(std::size_t i, double limit, const Watch& watch, std::vector<MissedNode>& kept) = 0;
};

// What is handed over must outlive it.
std::unique_ptr<AnyHidden> make_hidden(const double* R, const double* inflation, int p, double n, double price,
                                       double noise, const LiftConstants& constants, std::vector<int> kinds,
                                       const SearchLimits* known, std::size_t memory, int threads);

}  // namespace lmarvel
