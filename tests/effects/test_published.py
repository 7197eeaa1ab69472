"""Published examples, by the number of their figure or example.

* Perković, Textor, Kalisch & Maathuis: A complete generalized adjustment criterion, UAI 2015; and Complete graphical
  characterization and construction of adjustment sets in Markov equivalence classes of ancestral graphs, JMLR 18
  (2018). The manual page ``gac`` of pcalg gives the graphs of both, with the sets that are valid and some that are not.
* Jaber, Zhang & Bareinboim: Causal identification under Markov equivalence: completeness results, ICML 2019; and
  Identification of conditional causal effects under Markov equivalence, NeurIPS 2019.
* Jaber, Ribeiro, Zhang & Bareinboim: Causal identification under Markov equivalence: calculus, algorithm, and
  completeness, NeurIPS 2022. The simulations of its authors' program PAGId give the graphs of all three.

Where a DAG is given, the formula is evaluated too, in a linear model of it, beside what setting the variables does.
"""

from __future__ import annotations

import numpy as np
import pytest

from lmarvel import DAG, MAG, PAG, adjustment_sets, is_valid_adjustment, mag_to_pag
from lmarvel.effects.formula import Formula, slope
from lmarvel.effects.identify import identify, identify_given
from lmarvel.effects.pag_index import Prepared
from lmarvel.graph.bitsets import bits
from tests.effects.models import Model, model_of

# --- Perković and others ----------------------------------------------------------------------------------


def valid(graph: PAG | MAG, *sets: str) -> list[bool]:
    return [bool(is_valid_adjustment(graph, "X", "Y", z.split())) for z in sets]


def test_figure_1_of_2015_and_example_2_of_2018() -> None:
    """A class of DAGs there. With latent variables allowed the same six sets are valid: V1 makes X --> Y visible."""
    arrows = ["V1 --> V2", "V2 --> V4", "V2 --> V5", "V4 --> V5", "V1 --> X", "V2 --> X", "V4 --> X"]
    dag = DAG.from_edges(*arrows, "X --> Y", "V4 --> Y", "V5 --> Y")
    pag = model_of(dag, [], np.random.default_rng(0)).pag
    six = ["V2 V4", "V4 V5", "V1 V2 V4", "V1 V4 V5", "V2 V4 V5", "V1 V2 V4 V5"]
    assert {" ".join(sorted(z)) for z in adjustment_sets(pag, "X", "Y", minimal=False)} == set(six)
    assert {" ".join(sorted(z)) for z in adjustment_sets(pag, "X", "Y")} == set(six[:2])
    assert valid(pag, "V2", "") == [False, False]


def test_figure_3_of_2015_and_example_3_of_2018() -> None:
    assert valid(PAG.from_edges("V1 o-o X", "X o-o V3", "X o-o Y", "V3 o-o Y"), "") == [False]
    assert valid(MAG.from_edges("X --> V1", "X --> V3", "X --> Y", "V3 --> Y"), "") == [False]
    assert valid(MAG.from_edges("V1 --> X", "X --> V3", "X --> Y", "V3 --> Y"), "") == [True]


def test_figure_4a_of_2015_and_example_4_of_2018() -> None:
    """There V5 o-> Y, which no MAG with these adjacencies and colliders shares: the circle is put back."""
    first = ["V1 o-> X", "V2 o-> X", "X --> Y", "X --> V5", "V5 o-o Y"]
    pag = PAG.from_edges(*first, "V6 o-> X", "V6 --> Y", "V6 --> V5")
    assert valid(pag, "", "V6", "V1 V6", "V2 V6", "V1 V2 V6", "V5 V6") == [False, True, True, True, True, False]


def test_figure_4b_of_2015_and_example_4_of_2018() -> None:
    pag = PAG.from_edges("V1 o-> X", "V2 o-> X", "X --> V5", "V5 --> Y", "V6 --> Y", "X <-> V6", "V5 <-> V6")
    assert valid(pag, "", "V6", "V5 V6") == [False, False, False]
    assert list(adjustment_sets(pag, "X", "Y")) == []


def test_figure_5b_of_2015_and_example_8_of_2018() -> None:
    """X1 and X2 are set at once, and V3, V4 with or without V1, V2 are valid for that: so the effect is identified."""
    edges = ["V1 o-> X1", "V2 o-> X1", "X1 --> V3", "V3 --> V4", "V4 <-> Y", "X1 --> Y", "V4 --> X2"]
    assert identified(PAG.from_edges(*edges), "X1 X2", "Y")


# --- Jaber and others -------------------------------------------------------------------------------------


def asked(pag: PAG, x: str, y: str, z: str = "") -> Formula | None:
    return identify_given(Prepared(pag), *(bits(map(pag.index, names.split())) for names in (x, y, z))).formula


def identified(pag: PAG, x: str, y: str, z: str = "") -> bool:
    return asked(pag, x, y, z) is not None


def set_at_once(model: Model, x: list[int], y: int, z: list[int]) -> list[float]:
    """The slopes in x of E[y | do(x), z]: all of x are set."""
    at = [model.observed[v] for v in x]
    cut, noise = model.weights.copy(), model.noise.copy()
    cut[at], noise[at] = 0, 0
    total = np.linalg.inv(np.eye(len(cut)) - cut)
    covariance = total @ np.diag(noise) @ total.T
    seen, j = [model.observed[v] for v in z], model.observed[y]
    slopes = np.linalg.solve(covariance[np.ix_(seen, seen)], covariance[seen, j])
    return [float(total[j, i] - slopes @ total[seen, i]) for i in at]


def model_with(arrows: str, hidden: str, seed: int) -> Model:
    """A linear model: arrows as pairs of names, and pairs of names that share a hidden cause."""
    latent = [f"U{i}" for i, _ in enumerate(hidden.split())]
    forks = [f"{u} --> {v}" for u, pair in zip(latent, hidden.split(), strict=True) for v in pair.split(">")]
    arrow_list = [" --> ".join(pair.split(">")) for pair in arrows.split()]
    return model_of(DAG.from_edges(*arrow_list, *forks), latent, np.random.default_rng(seed))


def check(model: Model, x: str, y: str, z: str = "") -> None:
    """The formula that the PAG gives is right in the model."""
    formula = asked(model.pag, x, y, z)
    assert formula is not None
    causes, seen = ([model.pag.index(name) for name in names.split()] for names in (x, z))
    outcome = model.pag.index(y)
    found = [slope(formula, model.covariance, cause, outcome) for cause in causes]
    np.testing.assert_allclose(found, set_at_once(model, causes, outcome, seen), atol=1e-9)


ALL = ("X1 X2", "Y1 Y2 Y3 Y4 Y5")


def test_figure_2a_of_jaber_2019_icml() -> None:
    """PAGId draws Y5 --> Y1, but the MAG with Y5 <-> Y1 and Y5 --> Y4 --> Y3 is of the same class."""
    model = model_with("X1>Y1 X2>Y2 Y4>Y3 Y5>Y1 Y5>Y4", "X1>X2 Y2>Y3 Y4>Y5 X1>Y3 X2>Y1", 5)
    first = ["X1 <-> X2", "X1 <-> Y3", "X1 --> Y1", "X2 --> Y2", "X2 <-> Y1", "Y2 <-> Y3"]
    assert model.pag == PAG.from_edges(*first, "Y4 o-> Y3", "Y4 o-o Y5", "Y5 o-> Y1", nodes=model.pag.names)
    other = MAG.from_edges(*first, "Y4 --> Y3", "Y5 --> Y4", "Y5 <-> Y1", nodes=model.pag.names)
    assert mag_to_pag(other) == model.pag
    for outcome in ("Y1", "Y2", "Y3"):
        check(model, "X1 X2", outcome)
    assert identify(Prepared(model.pag), *(bits(map(model.pag.index, names.split())) for names in ALL)).formula


def test_figure_3a_of_jaber_2019_icml() -> None:
    assert not identified(PAG.from_edges("X o-o Y"), "X", "Y")


def test_figure_3b_of_jaber_2019_icml() -> None:
    pag = PAG.from_edges("V1 o-> X", "X --> Y2", "X <-> Y1", "Y2 <-> Y1")
    assert not identified(pag, "X", "Y1 Y2")
    assert identified(pag, "X", "Y2")  # X --> Y2 is visible


def test_figure_3c_of_jaber_2019_icml() -> None:
    edges = ["X1 <-> X2", "X1 <-> Y3", "X1 --> Y1", "X2 --> Y2", "X2 <-> Y1", "Y2 <-> Y3", "Y3 <-> Y4", "Y1 <-> Y4"]
    assert not identified(PAG.from_edges(*edges), "X1 X2", "Y1 Y2 Y3 Y4")


@pytest.mark.parametrize(
    ("arrows", "hidden", "edges", "given"),
    [
        pytest.param("Z>X Z>Y", "Z>Y", "X o-o Z, Z o-o Y", "Z", id="a"),
        pytest.param("Z>X Z>Y W>X W>Y", "Z>W Z>Y", "X o-o Z, X o-o W, Z o-o W, Z o-o Y, W o-o Y", "Z W", id="b"),
        pytest.param("X>Z1 Z2>Z1 Z1>Y Z2>Y", "X>Z1 Z1>Z2", "X o-> Z1, Z2 o-> Z1, Z1 --> Y, Z2 --> Y", "Z1 Z2", id="c"),
        pytest.param(
            "X>Z1 W>Z1 Z2>Y Z1>Y", "X>Z1 W>Z2", "X o-> Z1, W o-> Z1, Z1 --> Y, Z2 --> Y, W o-o Z2", "Z1 Z2", id="d"
        ),
    ],
)
def test_figures_2a_to_2d_of_jaber_2019_neurips(arrows: str, hidden: str, edges: str, given: str) -> None:
    model = model_with(arrows, hidden, 6)
    assert model.pag == PAG.from_edges(*edges.split(", "), nodes=model.pag.names)
    check(model, "X", "Y", given)
    assert not identified(model.pag, "X", f"Y {given}")  # what is seen cannot be left out of the question


def test_figure_5_of_jaber_2022() -> None:
    """P(y | do(a, f), b, e)."""
    model = model_with("E>Y B>Y B>F B>E F>E F>Y D>E D>F C>E", "A>B", 7)
    check(model, "A F", "Y", "B E")


def test_three_conditional_effects_of_the_program_of_jaber_2022() -> None:
    """Its examples g1 and g2 are identified, its PAG 3 is not."""
    first = model_with("W>Z Z>Y A>Y A>W A>X1 X1>W X2>X1", "X1>X2 W>X2 A>X1 A>W", 8)
    edges = ["W --> Z", "Z --> Y", "A --> Y", "A o-> W", "A o-> X1", "X2 o-> X1", "X2 o-> W", "X1 o-o W"]
    assert first.pag == PAG.from_edges(*edges, nodes=first.pag.names)
    check(first, "W X1 X2", "Y", "Z")
    second = model_with("A>E A>C B>E B>C B>Y C>E C>Y E>Y", "C>E C>B A>E", 9)
    check(second, "C", "Y", "B E")
    third = ["Z --> Y", "W --> Y", "W o-> X", "W o-> Z", "T o-> X", "T o-> Z", "X o-o Z"]
    assert not identified(PAG.from_edges(*third), "X", "Y", "Z")


def test_figure_5c_of_hyttinen_and_others_2015() -> None:
    """Do-calculus when the true graph is unknown, UAI 2015; the graph as PAGId gives it."""
    check(model_with("X>Z Z>Y H>Y", "W>X X>H", 10), "X", "Y")
