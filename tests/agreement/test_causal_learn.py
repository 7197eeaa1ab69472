"""FCI beside causal-learn's, on samples large enough that both read the same independences.

The skeletons are equal. Where the marks differ, and the separating sets that ours rest on are right, so are our marks:
causal-learn's rules miss or misplace marks on some graphs.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from lmarvel import DAG, FCI, MAG, PAG, mag_to_pag

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what the peer's own imports warn about is not ours
    fci_module = pytest.importorskip("causallearn.search.ConstraintBased.FCI", reason="causal-learn is not installed")

ROWS, ALPHA = 20_000, 1e-4


def study(seed: int) -> tuple[np.ndarray, MAG]:
    """Return a sample of a random model with one hidden cause, and the true MAG."""
    rng = np.random.default_rng([5, seed])
    n = 7
    parent = np.tril(rng.random((n, n)) < 0.4, -1)
    weights = parent * rng.uniform(0.6, 1.2, (n, n)) * rng.choice([-1, 1], (n, n))
    sample = np.linalg.solve(np.eye(n) - weights, rng.standard_normal((n, ROWS))).T
    marks = np.where(parent.T, 2, np.where(parent, 3, 0))
    dag = DAG([f"X{i}" for i in range(n)], marks)
    hidden = int(rng.integers(n - 2))
    return np.delete(sample, hidden, axis=1), dag.project([hidden])


def theirs(data: np.ndarray, names: tuple[str, ...]) -> PAG:
    """Return causal-learn's PAG: its endpoint at i on the edge i-j is graph[i, j], with -1 tail, 1 arrow, 2 circle."""
    graph, _ = fci_module.fci(data, "fisherz", ALPHA, show_progress=False, verbose=False)
    codes = {0: 0, -1: 3, 1: 2, 2: 1}
    marks = np.vectorize(codes.get)(graph.graph.astype(int)).T
    return PAG(names, marks)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.filterwarnings("ignore")
def test_where_the_two_differ_ours_is_right(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    data, truth = study(seed)
    found = FCI(alpha=ALPHA).fit(data, names=truth.names).result_
    peer = theirs(data, truth.names)
    assert found.pag.skeleton() == peer.skeleton()
    read_right = all(truth.m_separated(a, b, sepset) for (a, b), sepset in found.sepsets.items())
    if found.pag != peer and read_right and found.pag.skeleton() == truth.skeleton():
        assert found.pag == mag_to_pag(truth)
