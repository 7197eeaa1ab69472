"""Random DAGs and the choice of roles."""

import numpy as np
import pytest

from lmarvel import DAG, GraphError, ParameterError
from lmarvel.simulate import Study, bounded_parents, erdos_renyi, hide, scale_free

MAKERS = [
    lambda seed: erdos_renyi(30, seed=seed),
    lambda seed: bounded_parents(30, 3, seed=seed),
    lambda seed: scale_free(30, 2, seed=seed),
]


@pytest.mark.parametrize("make", MAKERS)
def test_a_seed_gives_one_graph_and_another_seed_another(make):
    assert make(5) == make(5)
    assert make(5) != make(6)
    assert make(np.random.default_rng(5)) == make(5)


@pytest.mark.parametrize("make", MAKERS)
def test_graphs_are_acyclic_and_their_causal_order_is_not_that_of_the_columns(make):
    dag = make(7)
    DAG(dag.names, dag.marks)  # checks what _trusted did not
    forwards = [dag.names.index(e.a) < dag.names.index(e.b) for e in dag.edges()]
    assert any(forwards)
    assert not all(forwards)


def test_erdos_renyi_has_the_papers_density():
    edges = [erdos_renyi(100, seed=seed).n_edges for seed in range(60)]
    expected = 100**-0.9 * 100 * 99 / 2
    assert abs(np.mean(edges) - expected) < 4 * np.sqrt(expected / 60)


@pytest.mark.parametrize("most", [0, 3, 4])
def test_parents_are_bounded_and_every_number_of_them_occurs(most):
    dag = bounded_parents(200, most, seed=1)
    assert {len(dag.parents(v)) for v in dag.names} == set(range(most + 1))


def test_scale_free_graphs_have_hubs_that_random_graphs_of_the_same_size_do_not_have():
    free = scale_free(300, 2, seed=3)
    random = erdos_renyi(300, free.n_edges / (300 * 299 / 2), seed=3)
    hub = [max(len(g.adjacent(v)) for v in g.names) for g in (free, random)]
    assert hub[0] > 2 * hub[1]


def test_roles_are_chosen_uniformly():
    dag = erdos_renyi(6, 0.5, seed=0)
    latent = [name for seed in range(600) for name in hide(dag, 2, 1, seed=seed).latent]
    counts = [latent.count(name) for name in dag.names]
    assert min(counts) > 150
    assert max(counts) < 250


def test_a_study_knows_what_is_seen():
    dag = DAG.from_edges("U --> A", "U --> B", "A --> S", "C --> S")
    study = Study(dag, ("U",), ("S",))
    assert study.observed == ("A", "B", "C")
    assert study.mag == dag.project(["U"], ["S"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: erdos_renyi(0, seed=0), "n must be a whole number of at least 1, not 0"),
        (lambda: erdos_renyi(5, 1.5, seed=0), "the chance of an edge must lie between 0 and 1, not 1.5"),
        (lambda: bounded_parents(5, -1, seed=0), "max_parents must be"),
        (lambda: scale_free(5, 0, seed=0), "m must be a whole number of at least 1"),
        (lambda: hide(erdos_renyi(3, seed=0), 2, 1, seed=0), "leave none of the 3 to observe"),
        (lambda: hide(erdos_renyi(3, seed=0), -1, seed=0), "latent must be"),
        (lambda: Study(erdos_renyi(3, seed=0), ("X0",), ("X0",)), "X0: a variable is latent or selects"),
    ],
)
def test_nonsense_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_a_study_refuses_names_that_it_does_not_have():
    with pytest.raises(GraphError, match="unknown node 'Q'"):
        Study(erdos_renyi(3, seed=0), ("Q",))
