"""The demonstration: a real table, and a simulated study whose truth is known.

The study has a hidden cause (Genotype) and a selected sample (only those who volunteered). What is said about either
is computed here, from what was found: nothing is known of the result beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lmarvel.ci.oracle import MSeparation
from lmarvel.datasets import CARS
from lmarvel.estimators import Auto, LMarvel
from lmarvel.frequencies import percent
from lmarvel.graph.kinds import DAG, PAG
from lmarvel.graph.marks import ARROW, TAIL, counted
from lmarvel.metrics import compare_graphs
from lmarvel.result import Discovery
from lmarvel.simulate import LinearSEM
from lmarvel.study import Study
from lmarvel.wording import edge_kinds, kind_of

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
DRAWS = 100  # tables that are drawn again from the rows
RECURS = 0.8  # the share of them in which what is said has to recur


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
    """Yield what is found in the cars, how often it recurs, and what can be said for that."""
    found = Auto().fit(CARS, bootstrap=DRAWS, seed=SEED).result_
    yield f"   Method {found.settings['chosen']}."
    yield ""
    yield from _recurring(found)
    yield ""
    kept = found.stable(RECURS)
    yield f"   What recurs in at least {percent(RECURS)} of the draws, other marks as circles:"
    yield ""
    yield from (f"   {edge}" for edge in kept.edges())
    yield ""
    kinds = set(map(kind_of, kept.edges()))
    yield from (f"   A {kind} B: {text}" for kind, text in edge_kinds().items() if kind in kinds)
    yield "   The score looks at straight-line dependence. A circle says that the data do not tell."
    yield from _said_of_causes(found)
    yield f"   {found.check}"


def _recurring(found: Discovery) -> Iterator[str]:
    """Yield the edges, each with its share of the draws and those of its marks."""
    yield f"   What is found, and in which share of {DRAWS} draws of the rows the edge is, and then its marks are:"
    yield ""
    for edge in found.pag.edges():
        yield f"   {edge!s:<32} {found.recurring(edge.a, edge.b)}"


def _said_of_causes(found: Discovery) -> Iterator[str]:
    """Yield what recurs of who causes whom, and that nothing does where nothing does."""
    claims = found.claims(RECURS)
    if not claims:
        yield f"   Who causes whom is not told: no such claim recurs in {percent(RECURS)} of the draws."
    for share, claim in claims:
        yield f"   {claim}: in {percent(share)} of the draws."


def _study() -> Iterator[str]:
    """Yield what is found in the study, with data and with a perfect test, and whether it is right."""
    data = simulated_model().sample(STUDY, ROWS, seed=SEED)
    found = Auto().fit(data, names=STUDY.observed, bootstrap=DRAWS, seed=SEED).result_
    yield f"   What {found.settings['method']} finds in {counted(ROWS, 'row')}:"
    yield ""
    yield from _edges(found)
    yield ""
    yield from _recurring(found)
    yield ""
    yield from _said_of_causes(found)
    yield f"   {found.check}"
    yield ""
    oracle = LMarvel(test=MSeparation(STUDY.dag, STUDY.latent, STUDY.selection)).fit()
    yield f"   Equal to the PAG of the true graph: {_verdict(found.pag, STUDY.pag)}."
    yield f"   L-MARVEL with a perfect test instead of data: {_verdict(oracle.pag_, STUDY.pag)}."


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
        if origin := found.origin(edge.a, edge.b):
            yield f"      from: {origin}"


def main() -> None:
    """Print the demonstration."""
    print("\n".join(demonstration()))


if __name__ == "__main__":
    main()
