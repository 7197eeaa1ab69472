"""Runs over processes of this machine, or over a Dask cluster, through joblib.

A result does not depend on where it was computed: each job carries its own seed. Jobs travel as plain tuples; the
cluster keeps larger objects on one worker, and they would be lost with it.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from lmarvel.errors import LMarvelError, ParameterError
from lmarvel.experiments.plan import Job, Setting
from lmarvel.experiments.run import Limits, Row, run

Task = tuple[tuple[Any, ...], str, int, int, int, float, str]


class WorkerError(LMarvelError):
    """Workers died or cannot be reached."""


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(
    jobs: Sequence[Job],
    seed: int,
    limits: Limits,
    structures: Mapping[str, str],
    workers: int,
    dask: str | None = None,
) -> Generator[Row, None, None]:
    """Iterate over the rows of all jobs as they are finished, in no particular order."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    tasks = [_task(job, seed, limits, structures) for job in jobs]
    with _back_end(workers, dask) as n_jobs:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="4*n_jobs")
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".*tasks which were still being processed")  # said better elsewhere
                yield from parallel(delayed(work)(task) for task in tasks)
        except TerminatedWorkerError:
            raise WorkerError(
                "a worker process died (out of memory?): the same command goes on from here; try fewer --jobs"
            ) from None


def work(task: Task) -> Row:
    """Do the run of a task; this is what a worker calls."""
    setting, method, rep, seed, tests, seconds, structure = task
    return run(Job(Setting(*setting), method, rep), seed, Limits(tests, seconds), structure)


def _task(job: Job, seed: int, limits: Limits, structures: Mapping[str, str]) -> Task:
    return (tuple(job.setting), job.method, job.rep, seed, *limits, structures.get(job.setting.structure, ""))


@contextmanager
def _back_end(workers: int, dask: str | None) -> Iterator[int]:
    """Choose where the work is done, and give the number of workers; each of them uses one thread."""
    from joblib import parallel_config

    if dask is None:
        with parallel_config(backend="loky", inner_max_num_threads=1), _quiet_manager():
            yield workers
        return
    client = connect(dask)
    try:
        with parallel_config(backend="dask", wait_for_workers_timeout=30):
            yield -1
    except TimeoutError:
        raise WorkerError(f"the scheduler at {dask} has no workers: start some with 'dask worker {dask}'") from None
    finally:
        client.close()


@contextmanager
def _quiet_manager() -> Iterator[None]:
    """Keep the thread that feeds the processes from printing a traceback when an interruption takes its work away."""
    usual = threading.excepthook

    def hook(error: threading.ExceptHookArgs) -> None:
        if not (error.thread and error.thread.name == "ExecutorManagerThread" and error.exc_type is KeyError):
            usual(error)

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = usual


def connect(address: str) -> Any:
    """Return a client of the scheduler at this address."""
    try:
        from distributed import Client
    except ImportError:
        raise ParameterError("a cluster needs Dask: pip install 'lmarvel[cluster]'") from None
    try:
        return Client(address, timeout=10, set_as_default=True)
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ParameterError(f"no Dask scheduler answers at {address!r} ({reason}): is it running?") from None
