"""Runs over processes of this machine through joblib, or over a Dask cluster.

A result does not depend on where it was computed: each job carries its own seed, and travels as a plain tuple. The
cluster is used through its own client: joblib's back end for it runs everything here if the cluster has one thread.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

from lmarvel.errors import LMarvelError, ParameterError
from lmarvel.experiments.plan import Job, Setting
from lmarvel.experiments.run import Limits, Row, run

Task = tuple[tuple[Any, ...], str, int, int, int, float, str]


class WorkerError(LMarvelError):
    """Workers died or cannot be reached."""


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def run_all(
    jobs: Sequence[Job],
    seed: int,
    limits: Limits,
    structures: Mapping[str, str],
    workers: int,
    dask: str | None = None,
) -> Generator[Row, None, None]:
    """Iterate over the rows of all jobs as they are finished, in no particular order."""
    tasks = [_task(job, seed, limits, structures) for job in jobs]
    rows = _on_processes(tasks, workers) if dask is None else _on_cluster(tasks, dask)
    with closing(rows):
        yield from rows


def _on_processes(tasks: Sequence[Task], workers: int) -> Generator[Row, None, None]:
    """Run over processes of this machine, one thread each."""
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    with parallel_config(backend="loky", inner_max_num_threads=1), _quiet_manager(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*tasks which were still being processed")  # said better elsewhere
        parallel = Parallel(n_jobs=min(workers, len(tasks)), return_as="generator_unordered", pre_dispatch="4*n_jobs")
        try:
            yield from parallel(delayed(work)(task) for task in tasks)
        except TerminatedWorkerError:
            raise WorkerError(
                "a worker process died (out of memory?): the same command goes on from here; try fewer --jobs"
            ) from None


def _on_cluster(tasks: Sequence[Task], address: str) -> Generator[Row, None, None]:
    """Run over a Dask cluster; a task whose worker is lost is given to another."""
    from distributed import as_completed

    with _quiet_logs():
        client = connect(address)
        try:
            client.wait_for_workers(1, timeout=30)
            for future in as_completed(client.map(work, tasks, pure=False)):
                yield future.result()
        except TimeoutError:
            raise WorkerError(
                f"the scheduler at {address} has no workers: start one with 'dask worker {address}'"
            ) from None
        except LMarvelError:
            raise
        except (Exception, asyncio.CancelledError) as error:  # whatever a client raises when it loses its cluster
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise WorkerError(f"lost the cluster at {address} ({reason}): the same command goes on from here") from None
        finally:
            with suppress(Exception):  # it may be gone
                client.close(timeout=2)


def work(task: Task) -> Row:
    """Do the run of a task; this is what a worker calls."""
    setting, method, rep, seed, tests, seconds, structure = task
    return run(Job(Setting(*setting), method, rep), seed, Limits(tests, seconds), structure)


def _task(job: Job, seed: int, limits: Limits, structures: Mapping[str, str]) -> Task:
    return (tuple(job.setting), job.method, job.rep, seed, *limits, structures.get(job.setting.structure, ""))


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


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """Keep Dask from logging what is told in one line here."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def connect(address: str) -> Any:
    """Return a client of the scheduler at this address."""
    try:
        from distributed import Client
    except ImportError:
        raise ParameterError("a cluster needs Dask: pip install 'lmarvel[cluster]'") from None
    try:
        return Client(address, timeout=10)
    except Exception:  # each kind of address fails in its own way
        raise ParameterError(
            f"no Dask scheduler answers at {address!r}: is it running, and is this its address, as in tcp://host:8786?"
        ) from None
