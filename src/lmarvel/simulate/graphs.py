"""Random DAGs, and random roles of their nodes, each from an explicit seed.

Nodes are named ``X0``, ``X1``, ... and stand in a random causal order, so that the order of the columns tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from lmarvel.errors import ParameterError
from lmarvel.graph.checks import check_size
from lmarvel.graph.kinds import DAG
from lmarvel.graph.marks import Mark
from lmarvel.orient.study import Study
from lmarvel.text import counted

MOST = 10**10
Seed = int | np.random.Generator | np.random.SeedSequence


def erdos_renyi(n: int, p: float | None = None, *, seed: Seed) -> DAG:
    """Return a DAG in which each pair is an edge with chance ``p``, along a random order.

    Parameters
    ----------
    n : int
        Number of nodes.
    p : float, optional
        Chance of an edge; n^-0.9 by default, as in the paper's figure.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Examples
    --------
    >>> erdos_renyi(50, seed=1)
    <DAG: 50 nodes, 34 edges>
    """
    check_count("n", n, 1)
    check_size(n)
    p = n**-0.9 if p is None else p
    if not 0 <= p <= 1:
        raise ParameterError(f"the chance of an edge must lie between 0 and 1, not {p!r}")
    rng = np.random.default_rng(seed)
    # A row at a time: all at once would take eight bytes a pair.
    drawn = ((cause, np.flatnonzero(rng.random(n) < p).tolist()) for cause in range(n))
    return _along_random_order(rng, n, [(i, j) for i, effects in drawn for j in effects if i < j])


def bounded_parents(n: int, max_parents: int, *, seed: Seed) -> DAG:
    """Return a DAG in which each node has 0 to ``max_parents`` parents among the earlier ones, uniformly.

    Examples
    --------
    >>> dag = bounded_parents(50, 3, seed=1)
    >>> max(len(dag.parents(v)) for v in dag.names)
    3
    """
    check_count("n", n, 1)
    check_size(n)
    check_count("max_parents", max_parents, 0)
    rng = np.random.default_rng(seed)
    counts = [int(rng.integers(0, min(max_parents, child) + 1)) for child in range(n)]
    edges = [(cause, child) for child in range(n) for cause in rng.choice(child, counts[child], replace=False)]
    return _along_random_order(rng, n, edges)


def scale_free(n: int, m: int = 2, *, seed: Seed) -> DAG:
    """Return a DAG with hubs: each node draws ``m`` causes with chances that grow with their degree.

    The growth is that of Barabasi and Albert (1999); an edge points from the older node to the newer one.

    Examples
    --------
    >>> dag = scale_free(100, 2, seed=1)
    >>> dag.n_edges, max(len(dag.adjacent(v)) for v in dag.names) > 12
    (197, True)
    """
    check_count("n", n, 1)
    check_size(n)
    check_count("m", m, 1)
    rng = np.random.default_rng(seed)
    degree = np.zeros(n)
    edges = []
    for child in range(1, n):
        chance = degree[:child] + 1.0
        causes = rng.choice(child, min(m, child), replace=False, p=chance / chance.sum())
        edges += [(cause, child) for cause in causes]
        degree[causes] += 1
        degree[child] += len(causes)
    return _along_random_order(rng, n, edges)


def cliques(n: int, k: int, *, seed: Seed) -> DAG:
    """Return a DAG of cliques of ``k`` nodes side by side, and one of what is left: the worst case of Theorem 4.

    Examples
    --------
    >>> dag = cliques(10, 4, seed=1)
    >>> dag.n_edges, dag.delta_plus_in()
    (13, 3)
    """
    check_count("n", n, 1)
    check_size(n)
    check_count("k", k, 1)
    rng = np.random.default_rng(seed)
    starts = range(0, n, k)
    edges = (pair for start in starts for pair in combinations(range(start, min(start + k, n)), 2))
    return _along_random_order(rng, n, edges)


def hide(dag: DAG, latent: int = 0, selection: int = 0, *, seed: Seed) -> Study:
    """Choose latent and selection variables uniformly at random, as the paper does.

    Examples
    --------
    >>> hide(DAG.from_edges("A --> B", "B --> C", "C --> D"), latent=1, selection=1, seed=0)
    Study(dag=<DAG: 4 nodes, 3 edges>, latent=('C',), selection=('A',))
    """
    check_count("latent", latent, 0)
    check_count("selection", selection, 0)
    if latent + selection >= len(dag):
        hidden = f"{latent:,} latent and {counted(selection, 'selection variable')}"
        raise ParameterError(f"{hidden} leave none of the {len(dag)} to observe: choose fewer")
    chosen = np.random.default_rng(seed).permutation(len(dag))[: latent + selection]
    names = [dag.names[i] for i in chosen]
    return Study(dag, tuple(sorted(names[:latent])), tuple(sorted(names[latent:])))


def _along_random_order(rng: np.random.Generator, n: int, edges: Iterable[tuple[int, int]]) -> DAG:
    """Return the DAG of edges between places of the causal order, with the order shuffled over the nodes."""
    order = rng.permutation(n)
    marks = np.zeros((n, n), dtype=np.int8)
    for cause, effect in edges:
        i, j = order[cause], order[effect]
        marks[i, j], marks[j, i] = Mark.ARROW, Mark.TAIL
    return DAG._trusted(tuple(f"X{i}" for i in range(n)), marks)  # edges follow the order: no cycle


def check_count(name: str, value: int, least: int) -> None:
    """Refuse what is no whole number of at least ``least``."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ParameterError(f"must be a whole number of at least {least}, not {value!r}", parameter=name)
    if value > MOST:
        raise ParameterError(f"{name} is {value}: more than {MOST:,} do not fit into any memory")
