"""The demonstration: a real table, and a simulated study whose truth is known.

The study has a hidden cause (Genotype) and a selected sample (only those who volunteered). What is said about either
is computed here, from what was found: nothing is known of the result beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lmarvel.ci.oracle import MSeparation
from lmarvel.datasets import CARS
from lmarvel.estimators import LMarvel
from lmarvel.graph.kinds import DAG, PAG
from lmarvel.graph.marks import ARROW, TAIL, counted
from lmarvel.metrics import compare_graphs
from lmarvel.result import Discovery
from lmarvel.simulate import LinearSEM
from lmarvel.study import Study

STUDY = Study(
    DAG.from_edges(
        "Diet --> Cholesterol",
        "Genotype --> Cholesterol",
        "Genotype --> HeartDisease",
        "Stress --> HeartDisease",
        "HeartDisease --> Fatigue",
        "Age --> Fatigue",
        "Age --> Volunteered",
        "Education --> Volunteered",
    ),
    latent=("Genotype",),
    selection=("Volunteered",),
)
ROWS, SEED = 4000, 1
STRICT = 0.001


def demonstration() -> Iterator[str]:
    """Yield the lines of the whole demonstration."""
    yield "1. A REAL TABLE: six measurements of 392 cars (bundled; Auto MPG, UCI)"
    yield ""
    yield from _cars()
    yield ""
    yield "2. A SIMULATED STUDY whose truth is known. Genotype was not measured; only those who volunteered are in it."
    yield ""
    yield from (f"   {edge}" for edge in STUDY.dag.edges())
    yield ""
    yield from _study()


def _cars() -> Iterator[str]:
    """Yield what is found in the cars, how to read it, and how firm it is."""
    found = LMarvel().fit(CARS).result_
    yield from _edges(found)
    yield ""
    rows = counted(found.settings["rows"], "row")
    yield f"   The tests looked for straight-line dependence in {rows}. Where one of them answers wrongly, an edge"
    yield "   may be missing or too many, and several marks may turn."
    chosen = sum((edge.at_a, edge.at_b) == (TAIL, TAIL) for edge in found.pag.edges())
    if chosen:
        read = "reads" if chosen == 1 else "read"
        yield f"   {counted(chosen, 'edge')} with two tails {read} as selection: both ends influence which cars are in"
        yield "   the table. Curved relations and test errors can leave the same marks."
    yield from _firmness(found)


def _firmness(found: Discovery) -> Iterator[str]:
    """Yield how much of a result stays with a stricter test."""
    kept = compare_graphs(LMarvel(alpha=STRICT).fit(CARS).pag_, found.pag)
    edges, marks, extra = kept.skeleton, kept.marks, len(kept.extra)
    stay = f"{edges.right} of {counted(edges.true, 'edge')} and {marks.right} of {counted(marks.true, 'mark')} stay"
    more = f", and {counted(extra, 'edge')} {'comes' if extra == 1 else 'come'} in" if extra else ""
    yield f"   At the level {STRICT:g} instead of {found.settings['alpha']:g}, {stay}{more}."
    if marks.recall < edges.recall:
        yield "   So the marks are less firm here than the edges."


def _study() -> Iterator[str]:
    """Yield what is found in the study, with data and with a perfect test, and whether it is right."""
    data = simulated_model().sample(STUDY, ROWS, seed=SEED)
    found = LMarvel().fit(data, names=STUDY.observed).result_
    tests = counted(found.stats.n_tests, "independence test")
    yield f"   What L-MARVEL finds in {counted(ROWS, 'row')} with {tests}:"
    yield ""
    yield from _edges(found)
    yield ""
    yield f"   Variables were removed in the order {', '.join(found.removal_order)}."
    oracle = LMarvel(test=MSeparation(STUDY.dag, STUDY.latent, STUDY.selection)).fit()
    yield f"   Equal to the PAG of the true graph: {_verdict(found.pag, STUDY.pag)}."
    yield f"   With a perfect test instead of data: {_verdict(oracle.pag_, STUDY.pag)}."


def simulated_model() -> LinearSEM:
    """Return the model of the study: every variable is the sum of its causes and of standard noise."""
    dag = STUDY.dag
    weights = ((dag.marks == ARROW) & (dag.marks.T == TAIL)).T.astype(np.float64)
    return LinearSEM(dag, weights, np.ones(len(dag)))


def _verdict(learned: PAG, truth: PAG) -> str:
    """Return yes, or no with what differs."""
    if learned == truth:
        return "yes"
    scores = compare_graphs(learned, truth)
    wrong = scores.hamming - len(scores.extra) - len(scores.missing)
    extra, missing = counted(len(scores.extra), "extra edge"), counted(len(scores.missing), "missing edge")
    return f"no ({extra}, {missing}, {counted(wrong, 'other mark')})"


def _edges(found: Discovery) -> Iterator[str]:
    for edge in found.pag.edges():
        yield f"   {found.describe(edge.a, edge.b)}"
        yield f"      from: {found.origin(edge.a, edge.b)}"


def main() -> None:
    """Print the demonstration."""
    print("\n".join(demonstration()))


if __name__ == "__main__":
    main()
