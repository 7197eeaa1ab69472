// The time that is left, asked before each step of a search, and whether the user has given up, asked now and then.
#pragma once

#include <chrono>

#include "clock.hpp"

namespace lmarvel {

// Why a search ended.
enum class Ended : int { DONE = 0, LATE = 1, INTERRUPTED = 2 };

class Watch {
public:
    explicit Watch(const Clock& clock) : clock_(clock) {}

    void check() {
        clock_.check();
        if (++asked_ % 16) return;
        const auto time = std::chrono::steady_clock::now();
        if (time - polled_ < std::chrono::milliseconds(50)) return;
        polled_ = time;
        clock_.poll();
    }

private:
    Clock clock_;
    std::chrono::steady_clock::time_point polled_ = std::chrono::steady_clock::now();
    unsigned asked_ = 0;
};

// Do some work; tell why it ended.
template <class Work>
Ended watched(const Clock& clock, Work work) {
    Watch watch(clock);
    try {
        work(watch);
    } catch (const BudgetSpent&) {
        return Ended::LATE;
    } catch (const Interrupted&) {
        return Ended::INTERRUPTED;
    }
    return Ended::DONE;
}

}  // namespace lmarvel
