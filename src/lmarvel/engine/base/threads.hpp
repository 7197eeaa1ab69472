// Work in pieces, in threads. What a piece yields may depend on nothing but the piece: then the number of threads, and who
// took what, changes nothing but the time.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/watch.hpp"

namespace lmarvel {

// The caller's thread is the first worker, and the only one that asks Python whether the user has given up; the others hear
// of it, as of any failure, by a flag.
class Workers {
public:
    explicit Workers(int threads = 1) : threads_(threads < 1 ? 1 : std::size_t(threads)) {}

    std::size_t count() const { return threads_; }

    // Call `work` with each piece from 0 on, the number of the worker, and its watch. The first failure ends them all, and
    // is thrown again.
    template <class Work>
    void each(std::size_t pieces, const Watch& watch, const Work& work) const {
        const std::size_t most = threads_ < pieces ? threads_ : pieces;
        if (most <= 1) {
            for (std::size_t i = 0; i < pieces; ++i) work(i, std::size_t(0), watch);
            return;
        }
        Shared shared;
        const auto take = [&](std::size_t worker, const Watch& own) {
            try {
                for (std::size_t i; !shared.stop && (i = shared.next++) < pieces;) work(i, worker, own);
            } catch (...) {
                shared.fail(std::current_exception());
            }
        };
        const Watch told(watch.clock().asking(is_stopped, &shared.stop));
        std::vector<std::thread> others;
        for (std::size_t worker = 1; worker < most; ++worker) {
            try {
                others.emplace_back([&take, worker, own = told] { take(worker, own); });
            } catch (const std::system_error&) {  // the system has no more threads: those that there are do the work
                break;
            }
        }
        take(0, watch);
        for (std::thread& other : others) other.join();
        if (shared.failure) std::rethrow_exception(shared.failure);
    }

private:
    struct Shared {
        std::atomic<std::size_t> next{0};
        std::atomic<bool> stop{false};
        std::mutex lock;
        std::exception_ptr failure;

        void fail(std::exception_ptr why) {
            const std::lock_guard<std::mutex> held(lock);
            if (!failure) failure = why;
            stop = true;
        }
    };

    static bool is_stopped(void* flag) { return *static_cast<const std::atomic<bool>*>(flag); }

    std::size_t threads_;
};

}  // namespace lmarvel
