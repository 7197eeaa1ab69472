"""The engine in threads: Python may end while they work, and Ctrl-C ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from lmarvel.engine.run import is_built

pytestmark = pytest.mark.skipif(not is_built(), reason="the package was built without a compiler")

PATIENCE = 300 if "LMARVEL_SANITIZED" in os.environ else 60  # seconds: what hangs does so for ever

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
    out, err = process.communicate(timeout=PATIENCE)
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
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "False\n", "")


# All depend on one common cause that is not there: no set separates two of them, and there are millions of sets.
SETS = """
    from lmarvel import SepsetQuery
    from lmarvel.ci.block_gaussian import BlockGaussian
    from lmarvel.ci.blocks import blocks_of
    from lmarvel.ci.g_square import GSquare
    from lmarvel.data.dataset import Dataset
    rng = np.random.default_rng(0)
    flipped = (rng.random((200_000, 1)) < 0.5) ^ (rng.random((200_000, 20)) < 0.1)
    rows = rng.normal(size=(500, 1)) + rng.normal(size=(500, 40))
    mixed = Dataset.of({**{f"v{i}": rows[:, i] for i in range(40)}, "g": np.where(rows[:, 0] > 0, "a", "b")})
    big = Moments(tuple(f"X{i}" for i in range(60)), 10**9, np.zeros(60), np.full((60, 60), 0.3) + 0.7 * np.eye(60))
    tests = {
        "counts": GSquare({f"v{i}": flipped[:, i].astype(int) for i in range(20)}),
        "blocks": BlockGaussian(mixed, blocks_of(mixed)),
        "correlations": FisherZ(big),
    }

    def search(name):
        test = tests[name]
        test.find_sepset(SepsetQuery(0, 1, tuple(range(2, len(test.names))), alpha=0.999999))
"""
SLOW = """
    class Slow:  # to end: the thread gets the time to ask whether it is to go on
        def __del__(self, sleep=time.sleep):
            sleep(0.5)
    slow = Slow()
"""


@pytest.mark.parametrize("kind", ["counts", "blocks", "correlations"])
def test_the_interpreter_may_end_while_a_thread_searches_for_a_set(kind: str) -> None:
    process = started(f"""
        {textwrap.indent(textwrap.dedent(SETS + SLOW), 8 * " ").strip()}
        threading.Thread(target=search, args=("{kind}",), daemon=True).start()
        time.sleep(0.7)
        print("done", flush=True)
    """)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "done\n", "")


@pytest.mark.skipif(
    "LMARVEL_SANITIZED" in os.environ,
    reason="Python ends a thread that waits for its lock by unwinding, where the sanitizer loses track of its stack",
)
def test_the_interpreter_may_end_while_a_thread_tells_how_far_it_is() -> None:
    process = started(f"""
        {textwrap.indent(textwrap.dedent(LIFT + SLOW), 8 * " ").strip()}
        factors = np.random.default_rng(0).normal(size=(2000, 10))
        R = np.corrcoef((np.repeat(factors, 4, axis=1) + 0.8 * np.random.default_rng(1).normal(size=(2000, 40))).T)
        told = []

        def search_and_tell():
            while True:
                lift(R, 2000, progress=lambda *stage: told.append(stage))

        threading.Thread(target=search_and_tell, daemon=True).start()
        time.sleep(1.0)
        print(len(told) > 5, flush=True)
    """)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "True\n", "")


@pytest.mark.parametrize("kind", ["counts", "blocks", "correlations"])
def test_a_signal_handler_raises_what_it_raises(kind: str) -> None:
    process = started(f"""
        {textwrap.indent(textwrap.dedent(SETS), 8 * " ").strip()}
        class Enough(Exception):
            pass
        def handler(*_):
            raise Enough("of it")
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.7)
        try:
            search("{kind}")
        except BaseException as error:
            print(repr(error))
    """)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "Enough('of it')\n", "")


@pytest.mark.parametrize(
    "work", ["LMarvel(test=test).fit()", "lift(wide, 2000)", "learn_many([R] * 4, n=10_000, n_jobs=2)"]
)
def test_what_a_signal_handler_raises_ends_a_run_and_the_next_one_is_as_before(work: str) -> None:
    process = started(f"""
        {textwrap.indent(textwrap.dedent(LIFT), 8 * " ").strip()}
        class Enough(Exception):
            pass
        def handler(*_):
            raise Enough("of it")
        test, small = FisherZ(table), wide[:8, :8]
        def asked():
            many = learn_many([R[:4, :4]], n=1000, n_jobs=1).marks.tolist()
            return test.pvalue(0, 1, (2, 3)), lift(small, 200).score, many
        before = asked()
        signal.signal(signal.SIGALRM, handler)
        for after in (0.2, 0.5):
            signal.setitimer(signal.ITIMER_REAL, after)
            try:
                {work}
            except Enough as error:
                print(error, asked() == before)
    """)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, "of it True\n" * 2, "")


def test_a_flag_ends_a_search_in_a_thread() -> None:
    process = started(f"""
        {textwrap.indent(textwrap.dedent(SETS), 8 * " ").strip()}
        from lmarvel.engine.run import CANCEL, Cancel
        flag, ended = Cancel(), []
        def work():
            CANCEL.set(flag)
            try:
                search("correlations")
            except KeyboardInterrupt:
                ended.append("ended")
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        time.sleep(0.5)
        flag.set()
        thread.join(30)
        print(ended)
    """)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "['ended']\n", "")


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
    out, err = process.communicate(timeout=PATIENCE)
    assert (out, err) == ("interrupted\n", "")


def test_replicates_obey_a_budget_of_seconds() -> None:
    process = started("""
        begun = time.monotonic()
        found = learn_many([R] * 2, n=10_000, n_jobs=2, max_seconds=0.5)
        print(all(found.ended), time.monotonic() - begun < 20)
    """)
    out, err = process.communicate(timeout=PATIENCE)
    assert (out, err) == ("True True\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_process_may_fork_while_a_thread_learns() -> None:
    """The child has no such thread, learns by itself and ends; the parent goes on until it is told to stop."""
    process = started("""
        import os, warnings
        from lmarvel.engine.run import CANCEL, Cancel
        warnings.simplefilter("ignore")  # newer Pythons warn of a fork beside threads
        stop = Cancel()

        def learn():
            CANCEL.set(stop)
            try:
                LMarvel(test=FisherZ(table)).fit()
            except KeyboardInterrupt:
                pass

        thread = threading.Thread(target=learn)
        thread.start()
        time.sleep(0.3)
        for _ in range(3):
            child = os.fork()
            if not child:
                found = learn_many(R[None, :4, :4], 1000, n_jobs=1)
                os._exit(len(found))
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        assert thread.is_alive()
        stop.set()
        thread.join()
        print("done", flush=True)
    """)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, "done\n", "")
