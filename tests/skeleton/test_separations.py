"""What a result says about separations on data: every set that it names was tested, and passed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from lmarvel import DAG, FCI, MBCS, RFCI, Discovery, FisherZ, LMarvel
from lmarvel.datasets import CARS
from lmarvel.orient.draft import RuleApplication
from lmarvel.result.trace import Doubtful, Separated
from lmarvel.simulate import LinearSEM, Study, erdos_renyi, hide, load_network

METHODS = {
    "lmarvel": LMarvel(),
    "iamb": LMarvel(boundary="iamb"),
    "fci": FCI(boundary="tc"),
    "rfci": RFCI(boundary="tc"),
    "mbcs": MBCS(),
}


def draw(seed: int, name: str | None = None) -> dict[str, np.ndarray]:
    dag = erdos_renyi(16, 0.2, seed=seed) if name is None else load_network(name)
    study = hide(dag, 2, 2, seed=seed)
    rows = LinearSEM.random(dag, "benchmark", seed=seed).sample(study, 50 * len(study.observed), seed=seed)
    return dict(zip(study.observed, rows.T, strict=True))


def check_named_sets(found: Discovery, test: FisherZ) -> None:
    """Each named set has a p-value above the level at which it was tested."""
    place = {name: i for i, name in enumerate(test.names)}
    rest = len(test.names) - 2
    for (a, b), sepset in found.sepsets.items():
        assert not found.pag.has_edge(a, b)
        p = test.pvalue(place[a], place[b], sorted(place[v] for v in sepset))
        by_boundary = len(sepset) == rest and found.settings["boundary"] == "tc"
        updates = any(
            isinstance(e, Separated) and e.phase == "update" and {found.pag.names[e.x], found.pag.names[e.y]} == {a, b}
            for e in found.trace
        )
        level = found.settings["boundary_alpha"] if by_boundary or updates else found.settings["alpha"]
        assert p > level * (1 - 1e-9)


@pytest.mark.parametrize("model", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_every_set_that_is_named_was_tested_and_passed(model: LMarvel, seed: int) -> None:
    columns = draw(seed, "insurance" if seed % 2 else None)
    check_named_sets(model.fit(columns).result_, FisherZ(columns))


def test_every_set_that_is_named_of_a_real_table_was_tested() -> None:
    check_named_sets(LMarvel().fit(CARS).result_, FisherZ(CARS))


@pytest.mark.parametrize("model", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_no_collider_rests_on_a_set_that_was_not_tested(model: LMarvel, seed: int) -> None:
    found = model.fit(draw(seed, "insurance")).result_
    tested = {frozenset((e.x, e.y)) for e in found.trace if isinstance(e, Separated)}
    doubtful = {frozenset((e.x, e.y)) for e in found.trace if isinstance(e, Doubtful)}
    for use in found.trace:
        if isinstance(use, RuleApplication) and use.rule in ("R0", "R1"):
            gap = frozenset((use.nodes[0], use.nodes[2]))
            assert gap in tested
            assert gap not in doubtful


@pytest.mark.parametrize("seed", range(12))
def test_no_edge_is_left_that_a_step_of_the_run_found_independent(seed: int) -> None:
    assert LMarvel().fit(draw(seed, "mildew")).result_.contested == ()


def test_asking_the_full_boundary_takes_false_edges_off_trees_and_no_true_one() -> None:
    lost = extra = extra_faithful = 0
    for seed in range(20):
        rng = np.random.default_rng([5, seed])
        tree = DAG.from_edges(*(f"V{rng.integers(v)} --> V{v}" for v in range(1, 20)))
        rows = LinearSEM.random(tree, "benchmark", seed=seed).sample(Study(tree), 2000, seed=seed)
        columns = dict(zip(tree.names, rows.T, strict=True))
        for faithful in (False, True):
            pag = LMarvel(faithful=faithful).fit(columns).pag_
            wrong = sum(pag.has_edge(a, b) and not tree.has_edge(a, b) for a, b in combinations(tree.names, 2))
            if faithful:
                extra_faithful += wrong
            else:
                extra += wrong
                lost += sum(not pag.has_edge(e.a, e.b) for e in tree.edges())
    assert lost == 0
    assert extra < extra_faithful / 2
