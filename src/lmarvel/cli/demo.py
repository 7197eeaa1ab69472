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
from lmarvel.effects.causes import causes
from lmarvel.estimators import Auto, LMarvel
from lmarvel.graph.kinds import DAG, PAG
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.graph.metrics import compare_graphs
from lmarvel.orient.study import Study
from lmarvel.result.discovery import Discovery
from lmarvel.result.display import caption, edge_lines, legend
from lmarvel.result.wording import method_name
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
WIDTH = 110


def demonstration() -> Iterator[str]:
    """Yield the lines of the whole demonstration."""
    yield "1. A REAL TABLE: six measurements of 392 cars (bundled; Auto MPG, UCI)"
    yield ""
    yield from _cars()
    yield ""
    yield "2. A SIMULATED STUDY whose truth is known. Genotype was not measured; only volunteers are in the sample."
    yield ""
    yield from (f"   {edge}" for edge in STUDY.dag.edges())
    yield ""
    yield from _study()
    yield ""
    yield "On a table of yours: lmarvel describe FILE"
    yield "                     lmarvel learn FILE --report report.html"


def _cars() -> Iterator[str]:
    """Yield what is found in the cars, and how much of it the data support."""
    yield from _told(Auto().fit(CARS).result_)


def _told(found: Discovery) -> Iterator[str]:
    """Yield the verdict, the supported graph with what its edges say, and the causal claims."""
    for line in found.verdict.lines:
        yield from _wrapped(line)
    yield ""
    yield f"   {caption(found)}"
    yield from (f" {line}" for line in edge_lines(found))
    if found.resamples is not None and found.pag.n_edges:
        yield f"   edge: share of {found.resamples.replicates:,} resamples of the rows that have it"
    yield ""
    for kind, text in legend(found).items():
        yield from _wrapped(f"A {kind} B   {text}", indent=10)
    yield ""
    yield from _claimed(found)
    yield f"   Method: {method_name(found.settings)}."


def _claimed(found: Discovery) -> Iterator[str]:
    """Yield which variable causes which, as far as the data support it."""
    claims = [one for y in found.pag.names for one in causes(found, y) if one.status == "definite"]
    for one in claims:
        yield from _wrapped(f"{one.sentence}.")
    if not claims:
        yield "   The data support no claim that one of these variables causes another."


def _study() -> Iterator[str]:
    """Yield what is found in the study, with data and with a perfect test, and whether it is right."""
    data = simulated_model().sample(STUDY, ROWS, seed=SEED)
    found = Auto().fit(data, names=STUDY.observed).result_
    yield from _told(found)
    yield ""
    yield from _explained(found)
    shown, truth = found.shown().marks, STUDY.pag.reordered(found.pag.names).marks
    right, of = int(((shown == truth) & (shown > CIRCLE)).sum()), int((shown > CIRCLE).sum())
    oracle = LMarvel(test=MSeparation(STUDY.dag, STUDY.latent, STUDY.selection)).fit()
    yield f"   True among the arrowheads and tails that are shown: {right} of {of}."
    yield f"   Equal to the PAG of the true graph: {_verdict(found.pag, STUDY.pag)}."
    yield f"   L-MARVEL with a perfect test instead of data: {_verdict(oracle.pag_, STUDY.pag)}."


def _explained(found: Discovery) -> Iterator[str]:
    """Yield why there is an arrow that the data support, the first of them; nothing where there is none."""
    arrows = [edge for edge in found.shown().edges() if (edge.at_a, edge.at_b) == (TAIL, ARROW)]
    for edge in arrows[:1]:
        yield "   Every edge and every mark can be explained:"
        yield ""
        for line in str(found.explain(edge.a, edge.b, depth=1)).splitlines():
            yield from _wrapped(line)
        yield ""


def _wrapped(line: str, indent: int = 3) -> list[str]:
    return wrap(f"   {line}", WIDTH, subsequent_indent=" " * (3 + indent))


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
