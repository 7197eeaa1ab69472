// Work in pieces, in threads. What a piece yields may depend on nothing but the piece: then the number of threads, and who
// took what, changes nothing but the time.
#pragma once

#include <atomic>
#include <cstddef>
#include <future>
#include <system_error>
#include <thread>
#include <utility>
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
            Leaving leaving{shared, worker};
            for (std::size_t i; !shared.stop && (i = shared.next++) < pieces;) work(i, worker, own);
            leaving.done = true;
        };
        const Watch told(watch.clock().asking(is_stopped, &shared.stop));
        std::vector<std::future<void>> ends;
        Others others;
        for (std::size_t worker = 1; worker < most; ++worker) {
            std::packaged_task<void()> task([&take, worker, own = told] { take(worker, own); });
            std::future<void> end = task.get_future();
            try {
                others.threads.emplace_back(std::move(task));
            } catch (const std::system_error&) {  // the system has no more threads: those that there are do the work
                break;
            }
            ends.push_back(std::move(end));
        }
        take(0, watch);
        others.join();
        if (shared.failed) ends[shared.failed - 1].get();
    }

private:
    struct Shared {
        std::atomic<std::size_t> next{0}, failed{0};  // the first of the other workers that failed; 0 if none has
        std::atomic<bool> stop{false};
    };

    // A worker that leaves by a failure tells the others. Nothing is caught here: Python may end the caller's thread, at the
    // end of the process, by an unwinding that nobody may stop.
    struct Leaving {
        Shared& shared;
        std::size_t worker;
        bool done = false;

        ~Leaving() {
            if (done) return;
            std::size_t none = 0;
            shared.failed.compare_exchange_strong(none, worker);
            shared.stop = true;
        }
    };

    struct Others {
        std::vector<std::thread> threads;

        void join() {
            for (std::thread& other : threads)
                if (other.joinable()) other.join();
        }
        ~Others() { join(); }
    };

    static bool is_stopped(void* flag) { return *static_cast<const std::atomic<bool>*>(flag); }

    std::size_t threads_;
};

}  // namespace lmarvel
