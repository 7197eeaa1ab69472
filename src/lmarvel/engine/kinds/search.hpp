// The order search over local scores that know the kinds of columns.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "base/watch.hpp"
#include "kinds/local.hpp"
#include "lift/constants.hpp"

namespace lmarvel {

// A DAG: its score, and the parents of each variable.
struct ScoredParents {
    double score = 0.0;
    std::vector<std::vector<int>> parents;
};

struct KindTask {
    double noise = 0.0;
    LiftConstants constants{};
    std::vector<std::vector<int>> more;  // orders to start from beside the fixed ones, each over all variables
    const SearchLimits* known = nullptr;
};

struct KindOutcome {
    std::vector<ScoredParents> met;  // what each start led to, and last the best of all, unless the time was up
    bool late = false;
};

Ending search_kinds(KindLocal& local, const KindTask& task, const Clock& clock, const Teller& teller, KindOutcome& out);

// The value of v given parents in ascending order.
Ending value_kinds(KindLocal& local, int v, const std::vector<int>& parents, double& value, std::vector<Index>& bends);

}  // namespace lmarvel
