"""Runs of experiments: draw the truth and the data, learn, score; and many runs over processes or a cluster.

A run depends on its job and the seed alone, never on what ran before it or where: each job carries its own seed, and
travels as a plain tuple. Its time is the machine's. Everything else is the same on every machine as long as the limit
of tests, not of seconds, is what ends it.

Processes of this machine are used through joblib, a Dask cluster through its own client: joblib's back end for Dask
runs everything here if the cluster has one thread.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, NamedTuple

import numpy as np

from lmarvel.deferred import late
from lmarvel.errors import LMarvelError, LMarvelWarning, ParameterError, WorkerError
from lmarvel.experiments.measures import MEASURES, Outcome
from lmarvel.experiments.methods import METHODS
from lmarvel.experiments.peers import Peer
from lmarvel.experiments.plan import Job, Setting, is_random
from lmarvel.graph.kinds import DAG
from lmarvel.graph.metrics import MARKS, compare_graphs
from lmarvel.orient.study import Study
from lmarvel.result.discovery import Discovery
from lmarvel.simulate.graphs import Seed, bounded_parents, cliques, erdos_renyi, hide
from lmarvel.simulate.sem import LinearSEM

asyncio = late("asyncio")
joblib = late("joblib")
process_executor = late("joblib.externals.loky.process_executor")


Row = dict[str, str | int | float | None]

KEY = ("experiment", "panel", "size", "method", "rep")
NUMBERS = tuple(MEASURES)
CONFUSION = tuple(f"{true}:{learned}" for true in MARKS.values() for learned in MARKS.values())
COLUMNS = (*KEY, "structure", "observed", "latent", "selection", "rows", "status", *NUMBERS, *CONFUSION)
Task = tuple[tuple[Any, ...], str, int, int, int, float, str]


class Limits(NamedTuple):
    """What ends a run that does not keep up: then its entries are the paper's NA."""

    tests: int
    seconds: float


# --- one run ----------------------------------------------------------------------------------------------


def draw(job: Job, seed: int, structure: str) -> tuple[Study, np.ndarray]:
    """Draw the truth and the data of a job; ``structure`` is the text of its network, empty for a random graph."""
    setting = job.setting
    graph, roles, parameters, rows = np.random.SeedSequence(setting.entropy(seed, job.rep)).spawn(4)
    dag = _random_graph(setting, graph) if is_random(setting.structure) else DAG.from_edges(structure)
    study = hide(dag, setting.latent, setting.selection, seed=roles)
    model = LinearSEM.random(dag, setting.ranges, seed=parameters)
    return study, model.sample(study, setting.rows, seed=rows)


def run(job: Job, seed: int, limits: Limits, structure: str = "") -> Row:
    """Do one run and return its row of the results."""
    study, data = draw(job, seed, structure)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LMarvelWarning)  # a fit that stopped early is still a result here
            result = _learn(job.method, study, dict(zip(study.observed, data.T, strict=True)), limits)
    except LMarvelError as error:
        return _row(job, "error: " + " ".join(str(error).split()), {})
    if result.budget_ended:
        return _row(job, "limit", {})
    return _row(job, "ok", _numbers(Outcome(result, compare_graphs(result.pag, study.pag), study)))


def _random_graph(setting: Setting, seed: Seed) -> DAG:
    kind, n = setting.structure, setting.variables
    if kind.startswith("parents<="):
        return bounded_parents(n, int(kind.removeprefix("parents<=")), seed=seed)
    if kind.startswith("cliques="):
        return cliques(n, int(kind.removeprefix("cliques=")), seed=seed)
    chance = float(kind.removeprefix("degree=")) / (n - 1) if kind.startswith("degree=") else None
    return erdos_renyi(n, chance, seed=seed)


def _learn(method: str, study: Study, columns: Mapping[str, np.ndarray], limits: Limits) -> Discovery:
    model = METHODS[method].make_for(study)
    budgets = {"max_tests": limits.tests, "max_seconds": limits.seconds}
    known = model.get_params()
    model.set_params(**{name: value for name, value in budgets.items() if name in known})
    if isinstance(model, Peer):
        return model.fit(columns).result_
    return model.fit(columns).result_


def _numbers(run: Outcome) -> dict[str, float]:
    """Return the measures of a run and its marks, true against learned, with six significant digits."""
    measured = {name: measure.of(run) for name, measure in MEASURES.items()}
    measured |= {f"{true}:{learned}": count for (true, learned), count in run.scores.confusion.items()}
    return {name: float(f"{value:.6g}") for name, value in measured.items() if value is not None}


def _row(job: Job, status: str, numbers: Mapping[str, float]) -> Row:
    s = job.setting
    return {
        **dict(zip(KEY, job.key, strict=True)),
        "structure": s.structure,
        "observed": s.observed,
        "latent": s.latent,
        "selection": s.selection,
        "rows": s.rows,
        "status": status,
        **{name: numbers.get(name) for name in (*NUMBERS, *CONFUSION)},
    }


# --- many runs --------------------------------------------------------------------------------------------


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


def work(task: Task) -> Row:
    """Do the run of a task; this is what a worker calls."""
    setting, method, rep, seed, tests, seconds, structure = task
    return run(Job(Setting(*setting), method, rep), seed, Limits(tests, seconds), structure)


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


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _task(job: Job, seed: int, limits: Limits, structures: Mapping[str, str]) -> Task:
    return (tuple(job.setting), job.method, job.rep, seed, *limits, structures.get(job.setting.structure, ""))


def _on_processes(tasks: Sequence[Task], workers: int) -> Generator[Row, None, None]:
    """Run over processes of this machine, one thread each."""
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1), _quiet_manager(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*tasks which were still being processed")  # said better elsewhere
        parallel = joblib.Parallel(
            n_jobs=min(workers, len(tasks)), return_as="generator_unordered", pre_dispatch="4*n_jobs"
        )
        try:
            yield from parallel(joblib.delayed(work)(task) for task in tasks)
        except process_executor.TerminatedWorkerError:
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
    """Keep Dask from logging what is reported in one line here."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
