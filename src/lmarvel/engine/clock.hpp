// Budgets of tests and of time, and what ends a run early.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>

namespace lmarvel {

// Asked now and then whether the user has given up (Ctrl-C); true ends the run at once.
using Poll = bool (*)(void*);

struct Interrupted : std::exception {
    const char* what() const noexcept override { return "the user has given up"; }
};

// Who hears that a user has given up: the main thread hears signals, and any thread may have a flag to look at.
struct Listener {
    bool main_thread = false;
    const unsigned char* cancel = nullptr;
    void* caller = nullptr;
};

inline bool is_cancelled(const Listener* listener) {
    return listener->cancel != nullptr && *static_cast<const volatile unsigned char*>(listener->cancel) != 0;
}

enum class Reason : std::int64_t { NONE = 0, TESTS = 1, SECONDS = 2, TOO_LARGE = 3 };

// A budget ran out; what is known so far stands. `size` is that of a set which is over the limit.
struct BudgetSpent : std::exception {
    explicit BudgetSpent(Reason why, std::int64_t over = 0) : reason(why), size(over) {}
    const char* what() const noexcept override { return "a budget ran out"; }

    Reason reason;
    std::int64_t size;
};

class Clock {
public:
    Clock(double seconds, Poll poll, void* caller)
        : limited_(std::isfinite(seconds)), poll_(poll), caller_(caller),
          deadline_(now() + (limited_ ? seconds : 0.0)) {}

    bool late() const { return limited_ && now() > deadline_; }
    void check() const { if (late()) throw BudgetSpent{Reason::SECONDS}; }
    // The same clock with at least so many seconds left.
    Clock at_least(double seconds) const {
        Clock other = *this;
        other.deadline_ = std::max(deadline_, now() + seconds);
        return other;
    }
    // Keep so many seconds back for what comes later.
    void set_aside(double seconds) { deadline_ -= seconds; }
    void poll() const { if (poll_ != nullptr && poll_(caller_)) throw Interrupted{}; }

private:
    bool limited_;
    Poll poll_;
    void* caller_;
    double deadline_;

    static double now() {
        using namespace std::chrono;
        return duration<double>(steady_clock::now().time_since_epoch()).count();
    }
};

}  // namespace lmarvel
