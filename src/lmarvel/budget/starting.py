"""What a command sets before the program is loaded, which takes a few tenths of a second.

The products of matrices here are small. Threads of BLAS, one for each processor, mostly wait for each other then, in a
loop that takes a processor each: a command that had a second to run used up to two of CPU. So they are one, unless the
environment says how many they are. With one thread results do not depend on the number of processors either.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from lmarvel.deferred import without_collection

_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@contextmanager
def loading() -> Iterator[None]:
    """Let a process that has loaded nothing yet load the program: with one thread for BLAS, and interruptible.

    Where NumPy is loaded already, this is no process of a command, and nothing is changed.
    """
    if "numpy" in sys.modules:
        yield
        return
    if "OMP_NUM_THREADS" not in os.environ:
        for name in _THREADS:
            os.environ.setdefault(name, "1")
    atexit.register(gc.freeze)  # else the collector looks through all objects once more, for 0.15 s
    with without_collection(), _leaving():
        yield
    gc.freeze()  # what was loaded stays


@contextmanager
def _leaving() -> Iterator[None]:
    """Let an interruption end the process at once, unless it is ignored, as in the background, or somebody's own."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(signum: int, frame: object) -> None:
    """End the process: an exception from the midst of a module would be told as a fault of that module."""
    os.write(2, b"lmarvel: interrupted\n")
    os._exit(130)
