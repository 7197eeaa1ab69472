"""Adjustment by hand: what is said of wrong sets, sets listed lazily, the smallest variance."""

from __future__ import annotations

import time
from itertools import islice

import numpy as np
import pytest

from lmarvel import MAG, PAG, GraphError, adjustment_set, adjustment_sets, all_effects, is_valid_adjustment
from lmarvel.effects import optimal_adjustment
from lmarvel.effects.adjustment import all_sets, pair_of
from lmarvel.effects.numbers.best_set import variance
from lmarvel.effects.pag_index import Prepared
from lmarvel.graph.bitsets import bits
from lmarvel.simulate import erdos_renyi, hide
from tests.effects.models import random_model

FRONT = PAG.from_edges("A o-> X", "B o-> X", "X --> M", "M --> Y", "A --> Y", "Y --> D", "M --> E")


def test_a_set_without_fault_is_valid() -> None:
    verdict = is_valid_adjustment(FRONT, "X", "Y", ["A"])
    assert verdict
    assert verdict.path == ()
    assert verdict.reason == "it has nothing that X may affect on the way to Y, and blocks every other path"


def test_an_open_path_is_named() -> None:
    verdict = is_valid_adjustment(FRONT, "X", "Y", ["B"])
    assert not verdict
    assert verdict.path == ("X", "A", "Y")
    assert verdict.reason == "the path X <-o A --> Y is open"


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        ("M", "M lies on a path on which X may affect Y: X --> M --> Y"),
        ("D", "D may be affected by Y: Y --> D"),
        ("E", "E may be affected by M, which lies on a path on which X may affect Y: M --> E"),
    ],
)
def test_a_forbidden_node_is_named_with_its_path(node: str, reason: str) -> None:
    assert is_valid_adjustment(FRONT, "X", "Y", ["A", node]).reason == reason


def test_a_collider_that_the_set_opens_is_named() -> None:
    pag = PAG.from_edges("B o-> X", "E o-> X", "X --> Y", "P o-> C", "Q o-> C", "P o-> X", "Q o-> Y")
    assert is_valid_adjustment(pag, "X", "Y")
    verdict = is_valid_adjustment(pag, "X", "Y", "C")
    assert verdict.path == ("X", "P", "C", "Q", "Y")
    assert verdict.reason == "the path X <-o P o-> C <-o Q o-> Y is open, opened at C, where two arrowheads meet"


def test_where_no_set_is_valid_the_path_is_named() -> None:
    verdict = is_valid_adjustment(FRONT, "A", "Y")
    assert not verdict
    assert verdict.reason.startswith("no set is valid: the data do not exclude that, beside the effect of A on Y")


def test_what_is_asked_about_cannot_be_adjusted_for() -> None:
    with pytest.raises(GraphError, match="X cannot be adjusted for: it is asked about"):
        is_valid_adjustment(FRONT, "X", "Y", ["X"])
    with pytest.raises(GraphError, match="X was given twice"):
        is_valid_adjustment(FRONT, "X", "X")


# --- many sets --------------------------------------------------------------------------------------------


def test_the_first_of_very_many_minimal_sets_come_at_once() -> None:
    """Twenty ways with two nodes each to cut: a million minimal sets."""
    ways = [edge for i in range(20) for edge in (f"Z --> A{i}", f"A{i} --> B{i}", f"B{i} --> Y")]
    pag = MAG.from_edges("I --> X", "Z --> X", "X --> Y", *ways)
    begin = time.process_time()
    some = list(islice(adjustment_sets(pag, "X", "Y"), 200))
    assert time.process_time() - begin < 5
    assert len(set(some)) == 200
    assert all(is_valid_adjustment(pag, "X", "Y", z) for z in some)


def test_all_pairs_of_fifty_variables_are_classified() -> None:
    told = all_effects(hide(erdos_renyi(55, 4 / 54, seed=3), latent=5, seed=3).pag)  # benchmarks/effects.py times it
    assert len(told) == 50 * 49
    assert {one.status for one in told} >= {"none", "adjustment", "not identified"}


def test_the_smallest_variance_is_the_smallest_of_all_valid_sets() -> None:
    rng = np.random.default_rng(6)
    found = 0
    while found < 20:
        model = random_model(rng)
        ready = Prepared(model.pag)
        for x in range(len(model.pag)):
            for y in range(len(model.pag)):
                if x == y or adjustment_set(ready, x, y) is None:
                    continue
                best = optimal_adjustment(ready, x, y, model.covariance)
                assert best is not None
                mine = variance(model.covariance, x, y, bits(map(model.pag.index, best)))
                others = [variance(model.covariance, x, y, z) for z in all_sets(ready, pair_of(ready, x, y))]
                assert mine == pytest.approx(min(others))
                found += 1


def test_with_many_variables_the_search_for_the_smallest_variance_ends_in_a_valid_set() -> None:
    names = [f"C{i}" for i in range(12)]
    pag = PAG.from_edges("A o-> X", "B o-> X", "X --> Y", *(f"{c} o-> Y" for c in names))
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(5000, len(pag)))
    at = pag.index
    rows[:, at("X")] += rows[:, at("A")] + rows[:, at("B")]
    rows[:, at("Y")] += rows[:, at("X")] + rows[:, [at(c) for c in names]].sum(axis=1)
    assert optimal_adjustment(pag, "X", "Y", np.cov(rows.T)) == set(names)
