# Whom a long computation asks now and then whether it is to end, and tells how far it is.

cdef extern from "base/watch.hpp" namespace "lmarvel" nogil:
    struct Listener:
        cbool main_thread
        const unsigned char* cancel
        void* caller
    cbool is_cancelled(const Listener*)
    ctypedef cbool (*Poll)(void*) noexcept
    ctypedef cbool (*Report)(void*, int64_t, int64_t, int64_t) noexcept
    cppclass Teller:
        Report report
        void* caller
    cppclass Clock:
        Clock()
        Clock(double seconds, Poll poll, void* caller)

cdef extern from "base/status.hpp" namespace "lmarvel" nogil:
    cdef enum Status:
        DONE
        INTERRUPTED
        NO_MEMORY
        FAILED
        REFUSED
    struct Ending:
        Status status
        char* what


cdef class Caller:
    """Whom the engine asks now and then, and what was raised then."""

    cdef object progress
    cdef object error
    cdef const unsigned char[::1] cancel
    cdef Listener listener

    def __cinit__(self, cancel, progress=None):
        self.progress = progress
        self.listener.main_thread = get_ident() == main_thread().ident
        self.listener.caller = <void*> self
        if cancel is not None:
            self.cancel = cancel.flag
            self.listener.cancel = &self.cancel[0]

    cdef bint failed(self, work, tuple arguments):
        try:
            work(*arguments)
        except BaseException as error:
            self.error = error
            return True
        return False

    cdef int check(self, const Ending& ending) except -1:
        """Raise what ended a call early: what was raised when the engine asked, or what went wrong in it."""
        if ending.status == INTERRUPTED:
            self.raised()
        if ending.status == NO_MEMORY:
            raise MemoryError("the engine ran out of memory")
        if ending.status == REFUSED:
            raise ValueError((<bytes> ending.what).decode(errors="replace"))
        if ending.status == FAILED:
            raise RuntimeError(f"the engine failed: {(<bytes> ending.what).decode(errors='replace')}")
        return 0

    cdef raised(self):
        raise KeyboardInterrupt if self.error is None else self.error


# Signals are heard in the main thread only. No other takes Python's lock to ask: the interpreter may have ended, and
# would then end the thread inside the engine. Such threads look at a flag.
cdef cbool poll(void* listener) noexcept nogil:
    if is_cancelled(<const Listener*> listener):
        return True
    return (<const Listener*> listener).main_thread and signalled((<const Listener*> listener).caller)


cdef cbool signalled(void* caller) noexcept with gil:
    return (<Caller> caller).failed(_check_signals, ())


def _check_signals():
    PyErr_CheckSignals()


cdef cbool report(void* listener, int64_t phase, int64_t done, int64_t total) noexcept with gil:
    cdef void* caller = (<const Listener*> listener).caller
    return (<Caller> caller).failed((<Caller> caller).progress, (phase, done, total))
