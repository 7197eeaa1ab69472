"""The child process: it takes one task after the other from its parent, and reports as it works.

Both directions are lines of JSON. A task is ``{"task": name, "with": {...}}``; replies are ``{"progress": [phase, done,
total]}``, and at the end ``{"done": value}`` or ``{"error": message}``. The parent ends a task by ending the process; a
parent that ends, however, is noticed by the end of the input, and the child ends, too, with all that it started.
"""

from __future__ import annotations

import io
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from lmarvel.app.tasks import TASKS
from lmarvel.errors import LMarvelError
from lmarvel.report.page import as_json
from lmarvel.text import sentence

if os.name != "nt":
    import resource

_BLINK = 0.1  # seconds between two reports of one phase
_NICE = 5


def main(memory: int) -> None:
    """Take tasks until the input ends; ``memory`` is the most bytes to use, 0 for no limit."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)  # what a library prints is no reply
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    limit_memory(memory)
    if hasattr(os, "nice"):
        os.nice(_NICE)  # so that the page stays quick while learning
    tasks: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, tasks), daemon=True).start()

    def send(reply: dict[str, Any]) -> None:
        try:
            out.write(f"{as_json(reply)}\n")
            out.flush()
        except OSError:  # nobody is there to hear it
            os._exit(0)

    send({"ready": True})
    while True:
        send(perform(json.loads(tasks.get()), send))


def perform(task: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Return the reply to a task; every error is a message.

    Examples
    --------
    >>> perform({"task": "check", "with": {"text": "a causes a", "edit": None, "names": ["a"]}}, print)["done"]["error"]
    "'a causes a' names one variable only: a pair needs two."
    >>> perform({"task": "describe", "with": {"table": "none.csv", "said": {}}}, print)
    {'error': 'There is no file none.csv.'}
    """
    shown = ("", 0.0)

    def report(phase: str, done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if phase != shown[0] or done == total or now - shown[1] > _BLINK:
            shown = phase, now
            send({"progress": [phase, int(done), int(total)]})

    try:
        return {"done": TASKS[task["task"]](**task["with"], report=report)}
    except LMarvelError as error:
        return {"error": sentence(str(error))}
    except MemoryError:
        return {"error": "There is not enough memory for this: leave out columns, or raise the limit with --memory."}
    except BaseException as error:
        if (
            not isinstance(error, Exception) and type(error).__module__ != "pyo3_runtime"
        ):  # a panic of a library in Rust
            raise
        traceback.print_exc()  # on the terminal, where it helps whoever reports it
        name = type(error).__name__
        return {"error": f"This went wrong inside the program ({name}). The terminal shows the details."}


def limit_memory(most: int) -> None:
    """Limit the memory of this process, where the system can: allocations beyond it fail."""
    if most and os.name != "nt":
        kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
        hard = resource.getrlimit(kind)[1]
        within = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (within, hard))


def _read(stream: io.BufferedIOBase, tasks: queue.Queue[str]) -> None:
    """Hand on line after line; end the process, and those that it started, when the parent is gone."""
    for line in stream:
        tasks.put(line.decode("utf-8"))
    if os.name != "nt" and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
