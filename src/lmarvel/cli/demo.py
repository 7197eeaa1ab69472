"""The demonstration: a real table, and a simulated study whose truth is known.

The study has a hidden cause (Genotype) and a selected sample (only those who volunteered). What is said about either
is computed here, from what was found: nothing is known of the result beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

import numpy as np

from lmarvel.ci.oracle import MSeparation
from lmarvel.datasets import CARS
from lmarvel.estimators import Auto, LMarvel
from lmarvel.graph.kinds import DAG, PAG
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.graph.metrics import compare_graphs
from lmarvel.orient.study import Study
from lmarvel.result.discovery import Discovery
from lmarvel.result.support.frequencies import percent
from lmarvel.result.support.reliability import Claim, claims_of
from lmarvel.result.wording import edge_kinds, kind_of
from lmarvel.simulate import LinearSEM
from lmarvel.text import counted

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
WIDTH = 110


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
    yield ""
    yield "On a table of yours: lmarvel describe FILE"
    yield "                     lmarvel learn FILE --bootstrap 100 --seed 1 --report report.html"


def _cars() -> Iterator[str]:
    """Yield what is found in the cars, how often it recurs, and what can be said for that."""
    found = Auto().fit(CARS, bootstrap=DRAWS, seed=SEED).result_
    yield f"   Method {found.settings['chosen']}."
    yield ""
    yield from _told(found)
    yield "   The score looks at straight-line dependence."


def _told(found: Discovery) -> Iterator[str]:
    """Yield the edges with their shares of the draws, and of what they say only what recurs."""
    yield f"   What is found, and in which share of {DRAWS} draws of the rows the edge is, and then its marks are:"
    yield ""
    yield from (f"   {edge!s:<32} {found.recurring(edge.a, edge.b)}" for edge in found.pag.edges())
    yield ""
    kept = found.stable(RECURS)
    yield f"   What recurs in at least {percent(RECURS)} of the draws, other marks as circles:"
    yield ""
    yield from (f"   {edge}" for edge in kept.edges())
    yield from () if kept.n_edges else ("   nothing",)
    yield ""
    kinds = set(map(kind_of, kept.edges()))
    for kind, text in edge_kinds().items():
        if kind in kinds:
            yield from wrap(f"   A {kind} B: {text}", WIDTH, subsequent_indent=" " * 12)
    yield "   A circle says that the data do not tell."
    yield ""
    yield from _said_of_causes(found)
    yield f"   {found.check}"


def _said_of_causes(found: Discovery) -> Iterator[str]:
    """Yield what recurs of who causes whom, and that nothing does where nothing does."""
    claims = claims_of(found, RECURS)
    if not claims:
        yield f"   Who causes whom is not told: no such claim recurs in {percent(RECURS)} of the draws."
    yield from (f"   {claim}: in {percent(claim.share)} of the draws." for claim in claims if claim.causes)
    denied: dict[str, list[Claim]] = {}
    for claim in claims:
        if not claim.causes:
            denied.setdefault(claim.a, []).append(claim)
    for cause, denials in sorted(denied.items()):
        least = percent(min(claim.share for claim in denials))
        named = ", ".join(sorted(claim.b for claim in denials))
        said = f"   {cause} does not cause {named}: in {least} of the draws or more."
        yield from wrap(said, WIDTH, subsequent_indent=" " * 6)


def _study() -> Iterator[str]:
    """Yield what is found in the study, with data and with a perfect test, and whether it is right."""
    data = simulated_model().sample(STUDY, ROWS, seed=SEED)
    found = Auto().fit(data, names=STUDY.observed, bootstrap=DRAWS, seed=SEED).result_
    yield f"   {found.settings['method']} on {counted(ROWS, 'row')}."
    yield ""
    yield from _told(found)
    yield ""
    yield from _explained(found)
    oracle = LMarvel(test=MSeparation(STUDY.dag, STUDY.latent, STUDY.selection)).fit()
    yield f"   Equal to the PAG of the true graph: {_verdict(found.pag, STUDY.pag)}."
    yield f"   L-MARVEL with a perfect test instead of data: {_verdict(oracle.pag_, STUDY.pag)}."


def _explained(found: Discovery) -> Iterator[str]:
    """Yield why there is an arrow that recurs, the first of them; nothing where none does."""
    kept = [edge for edge in found.stable(RECURS).edges() if (edge.at_a, edge.at_b) == (TAIL, ARROW)]
    for edge in kept[:1]:
        yield "   Every edge and every mark can be explained:"
        yield ""
        for line in str(found.explain(edge.a, edge.b, depth=1)).splitlines():
            yield from wrap(f"   {line}", WIDTH, subsequent_indent=" " * 6)
        yield ""


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


def main() -> None:
    """Print the demonstration."""
    print("\n".join(demonstration()))


if __name__ == "__main__":
    main()
