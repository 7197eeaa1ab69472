"""One run: draw the truth and the data, learn, score.

A run depends on its job and the seed alone, never on what ran before it or where. Its time is the machine's;
everything else is the same on every machine as long as the limit of tests, not of seconds, is what ends it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lmarvel.data.moments import moments_of
from lmarvel.errors import LMarvelError, LMarvelWarning
from lmarvel.experiments.plan import METHODS, Job, is_random
from lmarvel.graph.kinds import DAG
from lmarvel.metrics import MARKS, Scores, compare_graphs
from lmarvel.result import Discovery
from lmarvel.simulate.graphs import bounded_parents, erdos_renyi, hide
from lmarvel.simulate.sem import LinearSEM
from lmarvel.study import Study

Row = dict[str, str]

KEY = ("experiment", "panel", "size", "method", "rep")
NUMBERS = (
    "ci_tests",
    "runtime_s",
    "f1",
    "precision",
    "recall",
    "mean_set",
    "mark_f1",
    "mark_precision",
    "mark_recall",
    "hamming",
    "legal",
    "extra",
    "missing",
    "boundary_tests",
    "total_s",
)
CONFUSION = tuple(f"{true}:{learned}" for true in MARKS.values() for learned in MARKS.values())
COLUMNS = (*KEY, "structure", "observed", "latent", "selection", "rows", "status", *NUMBERS, *CONFUSION)


class Limits(NamedTuple):
    """What ends a run that does not keep up: then its entries are the paper's NA."""

    tests: int
    seconds: float


def draw(job: Job, seed: int, structure: str) -> tuple[Study, np.ndarray]:
    """Draw the truth and the data of a job; ``structure`` is the text of its network, empty for a random graph."""
    setting = job.setting
    graph, roles, parameters, rows = np.random.SeedSequence(setting.entropy(seed, job.rep)).spawn(4)
    if not is_random(setting.structure):
        dag = DAG.from_edges(structure)
    elif setting.structure == "erdos-renyi":
        dag = erdos_renyi(setting.variables, seed=graph)
    else:
        dag = bounded_parents(setting.variables, int(setting.structure.removeprefix("parents<=")), seed=graph)
    study = hide(dag, setting.latent, setting.selection, seed=roles)
    model = LinearSEM.random(dag, setting.ranges, seed=parameters)
    return study, model.sample(study, setting.rows, seed=rows)


def run(job: Job, seed: int, limits: Limits, structure: str = "") -> Row:
    """Do one run and return its row of the results."""
    study, data = draw(job, seed, structure)
    model = METHODS[job.method].make().set_params(max_tests=limits.tests, max_seconds=limits.seconds)
    moments = moments_of(dict(zip(study.observed, data.T, strict=True)))
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LMarvelWarning)  # a fit that stopped early is still a result here
            found = model.fit(moments).result_
    except LMarvelError as error:
        return _row(job, "error: " + " ".join(str(error).split()), {})
    if found.budget_ended:
        return _row(job, "limit", {})
    return _row(job, "ok", _numbers(found, compare_graphs(found.pag, study.pag), time.perf_counter() - started))


def _numbers(found: Discovery, scores: Scores, total: float) -> dict[str, float | int]:
    """Return the entries of a run; tests and runtime without the boundary stage, as the paper counts."""
    after = found.stats.without("boundary")
    numbers = {
        "ci_tests": after.n_tests,
        "runtime_s": sum(s for phase, s in found.stats.seconds.items() if phase not in ("data", "boundary")),
        "f1": scores.skeleton.f1,
        "precision": scores.skeleton.precision,
        "recall": scores.skeleton.recall,
        "mean_set": after.mean_conditioning_size,
        "mark_f1": scores.marks.f1,
        "mark_precision": scores.marks.precision,
        "mark_recall": scores.marks.recall,
        "hamming": scores.hamming,
        "legal": int(found.why_illegal is None),
        "extra": len(scores.extra),
        "missing": len(scores.missing),
        "boundary_tests": found.stats.n_tests - after.n_tests,
        "total_s": total,
    }
    return numbers | {f"{true}:{learned}": count for (true, learned), count in scores.confusion.items()}


def _row(job: Job, status: str, numbers: Mapping[str, float | int]) -> Row:
    s = job.setting
    head = dict(zip(KEY, job.key, strict=True)) | {
        "structure": s.structure,
        "observed": str(s.observed),
        "latent": str(s.latent),
        "selection": str(s.selection),
        "rows": str(s.rows),
        "status": status,
    }
    return head | {name: f"{numbers[name]:.6g}" if name in numbers else "" for name in (*NUMBERS, *CONFUSION)}
