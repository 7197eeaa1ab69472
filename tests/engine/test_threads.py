"""The engine in threads: Python may end while they work, and Ctrl-C ends them."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time

import pytest

from lmarvel.engine.run import is_built

pytestmark = pytest.mark.skipif(not is_built(), reason="the package was built without a compiler")

# Every pair depends on each other, weakly: without limits there are millions of sets to try.
HARD = """
    import signal, threading, time
    import numpy as np
    from lmarvel import FisherZ, LMarvel, Moments, learn_many
    p = 30
    R = np.full((p, p), 0.3) + 0.7 * np.eye(p)
    table = Moments(tuple(f"X{i}" for i in range(p)), 10_000, np.zeros(p), R)
"""


def started(script: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", textwrap.dedent(HARD) + textwrap.dedent(script)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_interpreter_may_end_while_a_thread_learns() -> None:
    process = started("""
        threading.Thread(target=lambda: LMarvel(test=FisherZ(table)).fit(), daemon=True).start()
        time.sleep(0.5)
        print("done", flush=True)
    """)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "done\n", "")


LIFT = """
    from lmarvel.search.lift import lift
    rows = np.random.default_rng(0).normal(size=(60, 120)) @ np.random.default_rng(1).normal(size=(120, 120))
    wide = np.corrcoef(np.vstack([rows, np.eye(120)]).T)
"""


def test_the_interpreter_may_end_while_a_thread_searches_by_score() -> None:
    process = started(f"""
        {textwrap.indent(textwrap.dedent(LIFT), 8 * " ").strip()}
        ended = threading.Event()

        class Slow:  # to end: the thread gets the time to ask whether it is to go on
            def __del__(self, sleep=time.sleep):
                sleep(0.3)

        slow = Slow()
        threading.Thread(target=lambda: (lift(wide, 2000), ended.set()), daemon=True).start()
        time.sleep(0.5)
        print(ended.is_set(), flush=True)
    """)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "False\n", "")


def test_an_interruption_ends_all_replicates() -> None:
    process = started("""
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start without
        print("begun", flush=True)
        try:
            learn_many([R] * 4, n=10_000, n_jobs=2)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (out, err) == ("interrupted\n", "")


def test_replicates_obey_a_budget_of_seconds() -> None:
    process = started("""
        begun = time.monotonic()
        found = learn_many([R] * 2, n=10_000, n_jobs=2, max_seconds=0.5)
        print(all(found.ended), time.monotonic() - begun < 20)
    """)
    out, err = process.communicate(timeout=60)
    assert (out, err) == ("True True\n", "")
