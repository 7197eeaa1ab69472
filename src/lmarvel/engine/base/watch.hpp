// Time and budgets: the clock of a run, who is asked whether the user has given up, who is told how far it is, and why a
// run ended.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>

#include "base/names.hpp"

namespace lmarvel {

// Asked now and then whether the user has given up (Ctrl-C); true ends the run at once.
using Poll = bool (*)(void*);

struct Interrupted : std::exception {
    const char* what() const noexcept override { return "the user has given up"; }
};

// Called with a phase, how much of it is done, and of how much; true ends the run.
using Report = bool (*)(void*, std::int64_t, std::int64_t, std::int64_t);

struct Teller {
    Report report = nullptr;
    void* caller = nullptr;
    void operator()(std::int64_t phase, std::int64_t done, std::int64_t total) const {
        if (report != nullptr && report(caller, phase, done, total)) throw Interrupted{};
    }
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

// Which budget ran out.
#define LMARVEL_REASONS(X)    \
    X(NONE, "none")           \
    X(TESTS, "tests")         \
    X(SECONDS, "seconds")     \
    X(TOO_LARGE, "too-large")
enum class Reason : std::int64_t { LMARVEL_REASONS(LMARVEL_MEMBER) };
LMARVEL_NAMES(reason_names, LMARVEL_REASONS)

// A budget ran out; what is known so far stands. `size` is that of a set which is over the limit.
struct BudgetSpent : std::exception {
    explicit BudgetSpent(Reason why, std::int64_t over = 0) : reason(why), size(over) {}
    const char* what() const noexcept override { return "a budget ran out"; }

    Reason reason;
    std::int64_t size;
};

class Clock {
public:
    Clock() = default;  // one that never ends
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
    // The same clock, for whom somebody else knows whether the user has given up.
    Clock asking(Poll poll, void* caller) const {
        Clock other = *this;
        other.poll_ = poll, other.caller_ = caller;
        return other;
    }
    void poll() const { if (poll_ != nullptr && poll_(caller_)) throw Interrupted{}; }

private:
    bool limited_ = false;
    Poll poll_ = nullptr;
    void* caller_ = nullptr;
    double deadline_ = 0.0;

    static double now() {
        using namespace std::chrono;
        return duration<double>(steady_clock::now().time_since_epoch()).count();
    }
};

// A clock for searches that look at it before each step: the time that is left each time, and the user now and then.
class Watch {
public:
    Watch() = default;
    explicit Watch(const Clock& clock, const Teller& teller = {}) : clock_(clock), teller_(teller) {}

    void check() const {
        clock_.check();
        const auto now = Time::now();
        if (now - polled_ < std::chrono::milliseconds(20)) return;  // asking Python means waiting for its lock
        polled_ = now;
        clock_.poll();
    }
    const Clock& clock() const { return clock_; }
    void tell(std::int64_t phase, std::int64_t done, std::int64_t total) const {
        check();
        teller_(phase, done, total);
    }

private:
    using Time = std::chrono::steady_clock;
    Clock clock_;
    Teller teller_;
    mutable Time::time_point polled_ = Time::now();
};

}  // namespace lmarvel
