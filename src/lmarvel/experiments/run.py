"""One run: draw the truth and the data, learn, score.

A run depends on its job and the seed alone, never on what ran before it or where. Its time is the machine's;
everything else is the same on every machine as long as the limit of tests, not of seconds, is what ends it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lmarvel.errors import LMarvelError, LMarvelWarning
from lmarvel.experiments.measures import MEASURES, Outcome
from lmarvel.experiments.methods import METHODS
from lmarvel.experiments.peers import Peer
from lmarvel.experiments.plan import Job, Setting, is_random
from lmarvel.graph.kinds import DAG
from lmarvel.metrics import MARKS, compare_graphs
from lmarvel.result import Discovery
from lmarvel.simulate.graphs import Seed, bounded_parents, cliques, erdos_renyi, hide
from lmarvel.simulate.sem import LinearSEM
from lmarvel.study import Study

Row = dict[str, str | int | float | None]

KEY = ("experiment", "panel", "size", "method", "rep")
NUMBERS = tuple(MEASURES)
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
    dag = _random_graph(setting, graph) if is_random(setting.structure) else DAG.from_edges(structure)
    study = hide(dag, setting.latent, setting.selection, seed=roles)
    model = LinearSEM.random(dag, setting.ranges, seed=parameters)
    return study, model.sample(study, setting.rows, seed=rows)


def _random_graph(setting: Setting, seed: Seed) -> DAG:
    kind, n = setting.structure, setting.variables
    if kind.startswith("parents<="):
        return bounded_parents(n, int(kind.removeprefix("parents<=")), seed=seed)
    if kind.startswith("cliques="):
        return cliques(n, int(kind.removeprefix("cliques=")), seed=seed)
    chance = float(kind.removeprefix("degree=")) / (n - 1) if kind.startswith("degree=") else None
    return erdos_renyi(n, chance, seed=seed)


def run(job: Job, seed: int, limits: Limits, structure: str = "") -> Row:
    """Do one run and return its row of the results."""
    study, data = draw(job, seed, structure)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LMarvelWarning)  # a fit that stopped early is still a result here
            found = _learn(job.method, study, dict(zip(study.observed, data.T, strict=True)), limits)
    except LMarvelError as error:
        return _row(job, "error: " + " ".join(str(error).split()), {})
    if found.budget_ended:
        return _row(job, "limit", {})
    return _row(job, "ok", _numbers(Outcome(found, compare_graphs(found.pag, study.pag), study)))


def _learn(method: str, study: Study, columns: Mapping[str, np.ndarray], limits: Limits) -> Discovery:
    model = METHODS[method].informed(study)
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
