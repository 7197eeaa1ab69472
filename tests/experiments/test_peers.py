"""Programs of others beside ours: read right, limited, and missed politely."""

import numpy as np
import pytest

from lmarvel.errors import ParameterError, PeerError
from lmarvel.experiments import peers
from lmarvel.experiments.methods import METHODS
from lmarvel.experiments.peers import Peer, pag_of_cpdag
from lmarvel.experiments.reproduce import Request, reproduce
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.graph.mixed import MixedGraph
from lmarvel.orient.equivalence import mag_to_pag
from lmarvel.simulate import LinearSEM, Study
from tests.generators import random_dag


def cpdag_of(dag):
    """Return the CPDAG by Meek's first three rules from the unshielded colliders, which is all that it takes."""
    n, directed = len(dag), np.zeros((len(dag), len(dag)), dtype=bool)
    adjacent = dag.marks > 0
    cause = (dag.marks == ARROW) & (dag.marks.T == TAIL)
    for c in range(n):
        parents = np.flatnonzero(cause[:, c])
        for a in parents:
            directed[a, c] |= any(not adjacent[a, b] for b in parents if b != a)
    while True:
        free = adjacent & ~directed & ~directed.T
        new = next(((a, b) for a, b in np.argwhere(free) if _meek(directed, adjacent, free, a, b)), None)
        if new is None:
            break
        directed[new] = True
    marks = np.where(adjacent, TAIL, 0)
    marks[directed] = ARROW
    return MixedGraph(dag.names, marks)


def _meek(directed, adjacent, free, a, b):
    first = np.any(directed[:, a] & ~adjacent[:, b] & (np.arange(len(free)) != b))
    second = np.any(directed[a] & directed[:, b])
    third = np.flatnonzero(free[a] & directed[:, b])
    return first or second or any(not adjacent[k, m] for k in third for m in third if k != m)


@pytest.mark.parametrize("seed", range(60))
def test_the_pag_of_a_cpdag_is_that_of_its_dags(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 8, rng.uniform(1, 5))
    assert pag_of_cpdag(cpdag_of(dag)) == mag_to_pag(dag)


@pytest.fixture(scope="module")
def table():
    pytest.importorskip("causallearn")
    study = Study(random_dag(np.random.default_rng(3), 5, 1.5))
    data = LinearSEM.random(study.dag, seed=1).sample(study, 3000, seed=2)
    return study, dict(zip(study.observed, data.T, strict=True))


@pytest.mark.parametrize("name", ["causal-learn-fci", "causal-learn-boss", "causal-learn-grasp"])
def test_a_peer_finds_an_easy_graph(table, name):
    study, columns = table
    found = METHODS[name].make().set_params(max_seconds=60.0).fit(columns).result_
    assert study.pag.n_edges > 2
    assert found.pag == study.pag
    assert found.budget_ended is None
    assert 0 < sum(found.stats.seconds.values()) < 60


def test_a_peer_that_is_late_is_ended(table):
    found = Peer(program="fci", max_seconds=1e-4).fit(table[1]).result_
    assert found.budget_ended == "max_seconds"


def test_a_peer_that_fails_is_told_in_one_line(table):
    columns = {name: np.full(50, np.nan) for name in table[1]}
    with pytest.raises(PeerError, match=r"fci of causal-learn failed: \S+.*NaN"):
        Peer(program="fci").fit(columns)


def test_a_peer_that_is_not_installed_is_told_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    with pytest.raises(ParameterError, match="boss of causal-learn needs causal-learn: pip install causal-learn"):
        reproduce(Request(["accuracy"], tmp_path / "out", methods=["lmarvel", "causal-learn-boss"]))
    assert not (tmp_path / "out").exists()
    assert isinstance(METHODS["causal-learn-boss"].make(), Peer), "only running it needs causal-learn"
