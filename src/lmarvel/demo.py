"""The demonstration: a small study with a hidden cause and a selected sample.

The truth is known here, so the learned PAG can be laid beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

from lmarvel.ci.oracle import MSeparation
from lmarvel.estimators import LMarvel
from lmarvel.graph.kinds import DAG
from lmarvel.orient.equivalence import mag_to_pag

STUDY = (
    "Diet --> Cholesterol",
    "Genotype --> Cholesterol",
    "Genotype --> HeartDisease",
    "Stress --> HeartDisease",
    "HeartDisease --> Fatigue",
    "Education --> Volunteered",
    "Age --> Volunteered",
    "Age --> Fatigue",
)
LATENT = ("Genotype",)
SELECTION = ("Volunteered",)


def demo_from_graph() -> Iterator[str]:
    """Yield the lines of the demonstration with an oracle: truth, learned PAG, meaning and origin of each edge."""
    truth = DAG.from_edges(*STUDY)
    yield "A study of volunteers. The true causes, of which Genotype was not measured:"
    yield from (f"    {edge}" for edge in truth.edges())
    yield "Only those who volunteered are in the sample: Volunteered is a selection variable."
    model = LMarvel(test=MSeparation(truth, LATENT, SELECTION)).fit()
    found = model.result_
    yield ""
    yield f"What L-MARVEL finds from {model.n_ci_tests_} independence tests on the {len(found.pag)} measured variables:"
    for edge in found.pag.edges():
        yield f"    {found.describe(edge.a, edge.b)}"
        yield f"        from: {found.origin(edge.a, edge.b)}"
    yield ""
    yield f"Removed in the order: {', '.join(found.removal_order)}"
    exact = found.pag == mag_to_pag(truth.project(LATENT, SELECTION))
    yield f"Equal to the PAG of the true graph: {'yes' if exact else 'NO'}"


def main() -> None:
    """Print the demonstration."""
    print("\n".join(demo_from_graph()))


if __name__ == "__main__":
    main()
