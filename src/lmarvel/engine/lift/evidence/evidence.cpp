#include "lift/evidence/evidence.hpp"

#include "lift/evidence/weighing.hpp"
#include "lift/width.hpp"

namespace lmarvel {

Ending weigh(const EvidenceTask& task, const Clock& clock, Evidence& found) {
    return ending_of([&] {
        try {
            with_width(task.p, [&](auto width) { Weighing<decltype(width)::value>(task, clock, found).run(); });
        } catch (const BudgetSpent&) {
            found.late = true;
        }
    });
}

}  // namespace lmarvel
