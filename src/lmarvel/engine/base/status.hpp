// How a call into the engine came to its end, for a caller that cannot take C++ exceptions.
#pragma once

#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>

#include "base/watch.hpp"

namespace lmarvel {

enum Status : int { DONE = 0, INTERRUPTED = 1, NO_MEMORY = 2, FAILED = 3, REFUSED = 4 };

struct Ending {
    Status status = DONE;
    char what[200] = "";  // of a refusal or a failure; a string would need memory
};

// Do some work, and tell how it ended. When Python ends a thread that waits for its lock, that unwinds through here, and
// nothing may stop it: so there is no `catch (...)`. All that the engine throws is a `std::exception`.
template <class Work>
Ending ending_of(Work work) {
    Ending ending;
    const auto told = [&ending](Status status, const std::exception& error) {
        ending.status = status;
        std::snprintf(ending.what, sizeof ending.what, "%s", error.what());
    };
    try {
        work();
    } catch (const Interrupted&) {
        ending.status = INTERRUPTED;
    } catch (const std::bad_alloc&) {
        ending.status = NO_MEMORY;
    } catch (const std::invalid_argument& error) {
        told(REFUSED, error);
    } catch (const std::exception& error) {
        told(FAILED, error);
    }
    return ending;
}

}  // namespace lmarvel
