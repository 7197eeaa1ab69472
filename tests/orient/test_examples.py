"""A worked example for each orientation rule, in which the rule is needed: without it a mark is lost.

The graphs are the standard ones of the literature, or the smallest in which no other rule gives the mark.

References
----------
* Spirtes, Glymour & Scheines, Causation, Prediction, and Search, 2nd ed., MIT Press 2000 (R0-R4).
* Ali, Richardson, Spirtes & Zhang, Towards characterizing Markov equivalence classes for directed acyclic graph models
  with latent variables, UAI 2005 (discriminating paths).
* Zhang, On the completeness of orientation rules for causal discovery in the presence of latent confounders and
  selection bias, Artificial Intelligence 172 (2008) 1873-1896 (R5-R10).
* Colombo, Maathuis, Kalisch & Richardson, Learning high-dimensional directed acyclic graphs with latent and selection
  variables, Annals of Statistics 40 (2012) 294-321 (the rules as implemented in practice).
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from lmarvel import MAG, PAG, Mark, mag_to_pag
from lmarvel.orient.equivalence import orient_mag
from lmarvel.orient.rules import RULES
from lmarvel.orient.worklist import orient
from tests.orient.naive import skeleton_of, truth_of


@dataclass(frozen=True)
class Example:
    """A MAG, its PAG, and the edges that the PAG would have instead if the rule were missing."""

    rule: str
    title: str
    mag: str
    pag: str
    without: str

    def __str__(self) -> str:
        return f"{self.rule} {self.title}"


EXAMPLES = [
    # Two causes of C that are independent: the arrowheads are what their dependence given C shows.
    Example("R0", "collider", "A --> C, B --> C", "A o-> C, B o-> C", "A o-o C, B o-o C"),
    # The Y structure (Spirtes et al. 2000): the smallest pattern that proves a cause in spite of hidden variables.
    Example(
        "R1",
        "Y structure",
        "A --> C, B --> C, C --> D",
        "A o-> C, B o-> C, C --> D",
        "C o-o D",
    ),
    # E and D are confounded, D causes C: C, below D, cannot be a cause of E.
    Example(
        "R2",
        "away from a cycle, the second edge directed",
        "A --> E, B --> D, D <-> E, D --> C, C <-> E",
        "A o-> E, B o-> D, D <-> E, D --> C, C <-> E",
        "C o-> E",
    ),
    # B causes D, and the edge from D has an arrowhead at C: so has the edge from B.
    Example(
        "R2",
        "away from a cycle, the first edge directed",
        "A --> B, A --> C, E --> B, B --> D, B <-> C, C <-> D",
        "A o-> B, A o-> C, E o-> B, B --> D, B <-> C, C <-> D",
        "C o-> B, D o-> C",
    ),
    # The kite: D is adjacent to both causes of C and no collider between them, so C cannot cause D.
    Example(
        "R3",
        "kite",
        "D --> A, D --> B, A --> C, B --> C, D --> C",
        "D o-o A, D o-o B, A o-> C, B o-> C, D o-> C",
        "D o-o C",
    ),
    # Income, parents' smoking, smoking, genotype, lung cancer: the study that runs through Zhang (2008). Income,
    # Smoking, Genotype, Cancer is a discriminating path for Genotype, which is no collider on it.
    Example(
        "R4",
        "discriminated non-collider",
        "Income --> Smoking, Parents --> Smoking, Genotype --> Smoking, Genotype --> Cancer, Smoking --> Cancer",
        "Income o-> Smoking, Parents o-> Smoking, Genotype o-> Smoking, Genotype --> Cancer, Smoking --> Cancer",
        "Genotype o-> Cancer",
    ),
    # The same skeleton with a collider at the discriminated node: it is confounded with both.
    Example(
        "R4",
        "discriminated collider",
        "V --> A, A <-> B, A --> C, B <-> C",
        "V o-> A, A <-> B, A --> C, B <-> C",
        "B o-> A, B o-> C",
    ),
    # A discriminating path of four edges (Ali et al. 2005), with either outcome at its end D.
    Example(
        "R4",
        "discriminated non-collider at the end of a longer path",
        "V --> A, A <-> B, B <-> D, A --> C, B --> C, D --> C",
        "V o-> A, A <-> B, D o-> B, A --> C, B --> C, D --> C",
        "B o-> C, D o-> C",
    ),
    Example(
        "R4",
        "discriminated collider at the end of a longer path",
        "V --> A, A <-> B, B <-> D, A --> C, B --> C, D <-> C",
        "V o-> A, A <-> B, B <-> D, A --> C, B --> C, D <-> C",
        "D o-> B, B o-> C, D o-> C",
    ),
    # Four variables in a ring: no DAG over them has these independences, only selection can make them (Zhang 2008).
    Example(
        "R5",
        "chordless ring",
        "A --- B, B --- C, C --- D, D --- A",
        "A --- B, B --- C, C --- D, D --- A",
        "A o-o B, B o-o C, C o-o D, D o-o A",
    ),
    # A member of the ring influences selection, so all of its edges have a tail at it.
    Example(
        "R6",
        "ring with an appendix",
        "A --- B, B --- C, C --- D, D --- A, A --> X",
        "A --- B, B --- C, C --- D, D --- A, A --o X",
        "A o-o X",
    ),
    # The tail goes on along the appendix, since X is no collider between A and Y.
    Example(
        "R7",
        "ring with a longer appendix",
        "A --- B, B --- C, C --- D, D --- A, A --> X, X --> Y",
        "A --- B, B --- C, C --- D, D --- A, A --o X, X --o Y",
        "X o-o Y",
    ),
    # A causes B and B causes C. No other rule tells that A --> C here: it takes seven variables.
    Example(
        "R8",
        "transitivity",
        "X --> A, Y --> A, X --> C, Y --> C, A --> B, B --> C, A --> C, B --> D, W --> D, D --> C",
        "X o-> A, Y o-> A, X o-> C, Y o-> C, A --> B, B --> C, A --> C, B --> D, W o-> D, D --> C",
        "A o-> C",
    ),
    # The diamond: if A did not cause C, the path A, D, B would need a collider that the data deny.
    Example(
        "R9",
        "diamond",
        "D --> A, D --> B, A --> C, B --> C",
        "D o-o A, D o-o B, A --> C, B --> C",
        "A o-> C, B o-> C",
    ),
    # E is a cause of A or of B, both causes of C.
    Example(
        "R10",
        "one of two causes",
        "D --> A, D --> B, D --> E, E --> A, E --> B, A --> C, B --> C, E --> C",
        "D o-o A, D o-o B, D o-o E, E o-o A, E o-o B, A --> C, B --> C, E --> C",
        "E o-> C",
    ),
    # The same with paths of several edges: a hexagon A B C D E F around H, which E does not touch.
    Example(
        "R10",
        "one of two causes, further away",
        "A --> B, B --> C, C --> D, A --> F, F --> E, E --> D, A --> H, B --> H, C --> H, D --> H, F --> H",
        "A o-o B, B o-o C, C --> D, A o-o F, F o-o E, E --> D, A --> H, B --> H, C --> H, D --> H, F --> H",
        "A o-> H, B o-> H",
    ),
]
TITLES = [str(e) for e in EXAMPLES]


def pag_without(mag: MAG, rule: str) -> PAG:
    others = [other for other in RULES.values() if other.name != rule]
    return PAG(mag.names, orient(len(mag), skeleton_of(mag), truth_of(mag), rules=others).marks)


def edges(text: str) -> list[str]:
    return text.split(", ")


@pytest.mark.parametrize("example", EXAMPLES, ids=TITLES)
def test_the_rules_together_give_the_pag(example: Example) -> None:
    mag = MAG.from_edges(*edges(example.mag))
    assert mag_to_pag(mag) == PAG.from_edges(*edges(example.pag))
    assert example.rule in {a.rule for a in orient_mag(mag).log}


@pytest.mark.parametrize("example", EXAMPLES, ids=TITLES)
def test_without_the_rule_exactly_these_marks_are_lost(example: Example) -> None:
    mag = MAG.from_edges(*edges(example.mag))
    right = mag_to_pag(mag)
    poorer = pag_without(mag, example.rule)
    changed = [edge for e in right.edges() if (edge := poorer.edge(e.a, e.b)) is not None and edge != e]
    assert PAG.from_edges(*changed) == PAG.from_edges(*edges(example.without))
    assert (poorer.marks[right.marks != poorer.marks] == Mark.CIRCLE).all()


def test_every_rule_has_an_example() -> None:
    assert {e.rule for e in EXAMPLES} == set(RULES)
