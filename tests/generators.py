"""Random graphs for the tests: from a seeded generator, or as Hypothesis strategies that shrink.

* ``random_dag(rng, n, degree)``: a DAG on ``n`` nodes with about ``degree`` edges a node.
* ``random_study(rng, observed, ...)``: a :class:`Study`, which unpacks as ``(dag, latent, selection)`` and has ``mag``.
* ``random_mag(rng, observed, ...)``: the MAG of a random study.
* ``shuffled(rng, graph)``: the same graph with its nodes in another order.
* ``studies()``, ``mags()``: Hypothesis strategies for 6 to 12 observed variables.

In a *selection-heavy* study (``heavy=True``) random pairs among the causally early observed variables share a selection
child each: its MAG has many undirected edges, chordless cycles among them are common, and arrows leave the cycles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np
from hypothesis import strategies as st

from lmarvel import DAG, MAG, MixedGraph

G = TypeVar("G", bound=MixedGraph)
Pair = tuple[str, str]


class Study(NamedTuple):
    """A DAG whose nodes have roles; all others are observed."""

    dag: DAG
    latent: tuple[str, ...]
    selection: tuple[str, ...]

    @property
    def mag(self) -> MAG:
        """What can be seen of it: the projection over the observed variables given the selection ones."""
        return self.dag.project(self.latent, self.selection)


# --- seeded -----------------------------------------------------------------------------------------------


def random_dag(rng: np.random.Generator, n: int, degree: float) -> DAG:
    """Return a DAG over V0 .. V(n-1): each pair is an edge with the same chance, along a random causal order."""
    names = [f"V{i}" for i in range(n)]
    order = [str(v) for v in rng.permutation(names)]
    chance = min(1.0, degree / max(n - 1, 1))
    return _dag(names, [pair for pair in combinations(order, 2) if rng.random() < chance])


def random_study(
    rng: np.random.Generator,
    observed: int,
    latent: int = 2,
    selection: int = 1,
    degree: float = 2.5,
    heavy: bool = False,
) -> Study:
    """Return a random study; its latent and selection nodes stand anywhere in the DAG."""
    names = [f"V{i}" for i in range(observed + latent + selection)]
    order, roles = ([str(v) for v in rng.permutation(names)] for _ in range(2))
    hidden, selecting, seen = roles[:latent], roles[latent : latent + selection], roles[latent + selection :]
    early = _early(order, seen) if heavy else []
    pairs = list(combinations(early, 2))
    chosen = rng.permutation(len(pairs))[: len(early) * 7 // 6].tolist()
    chance = min(1.0, degree / max(len(names) - 1, 1))
    edges = [pair for pair in _possible_edges(order, early) if rng.random() < chance]
    return _study(names, edges, hidden, selecting, [pairs[i] for i in chosen], [])


def random_mag(rng: np.random.Generator, observed: int, **options: Any) -> MAG:
    """Return the MAG of a random study with these options of :func:`random_study`."""
    return random_study(rng, observed, **options).mag


def shuffled(rng: np.random.Generator, graph: G) -> G:
    """Return the same graph with its nodes in a random order."""
    return graph.reordered([str(v) for v in rng.permutation(graph.names)])


# --- Hypothesis -------------------------------------------------------------------------------------------


@st.composite
def studies(draw: st.DrawFn, min_nodes: int = 6, max_nodes: int = 12, heavy: bool | None = None) -> Study:
    """Draw studies with this many observed variables; by default about half of them are selection-heavy."""
    n = draw(st.integers(min_nodes, max_nodes), label="observed")
    heavy = draw(st.booleans(), label="selection-heavy") if heavy is None else heavy
    hidden, selecting = draw(st.integers(0, 2), label="latent"), draw(st.integers(0, 1), label="selection")
    names = [f"V{i}" for i in range(n + hidden + selecting)]
    order = draw(st.permutations(names), label="causal order")
    roles = draw(st.permutations(names), label="roles")
    seen = roles[hidden + selecting :]
    early = _early(order, seen) if heavy else []
    edges = draw(_some(_possible_edges(order, early), n - 2, n * 3 // 2), label="edges")
    children = draw(_some(list(combinations(early, 2)), len(early), len(early) * 3 // 2), label="selection children")
    confounded = draw(_some(_possible_edges(seen, early), n // 4, n * 2 // 3), label="confounded")
    return _study(names, edges, roles[:hidden], roles[hidden : hidden + selecting], children, confounded)


def mags(min_nodes: int = 6, max_nodes: int = 12, heavy: bool | None = None) -> st.SearchStrategy[MAG]:
    """Draw the MAGs of studies."""
    return studies(min_nodes, max_nodes, heavy).map(lambda study: study.mag)


def _some(pairs: list[Pair], least: int, most: int) -> st.SearchStrategy[list[Pair]]:
    """Draw between ``least`` and ``most`` different pairs out of these."""
    size = st.integers(min(least, len(pairs)), min(most, len(pairs)))
    return size.flatmap(lambda k: st.permutations(pairs).map(lambda order: order[:k]))


# --- shared -----------------------------------------------------------------------------------------------


def _early(order: Sequence[str], seen: Sequence[str]) -> list[str]:
    """Return the causally first two thirds of the observed variables."""
    return [v for v in order if v in seen][: (2 * len(seen) + 2) // 3]


def _possible_edges(order: Sequence[str], early: Sequence[str]) -> list[Pair]:
    """Return the pairs in causal order, without those among ``early``: edges there would cut the cycles short."""
    return [(a, b) for a, b in combinations(order, 2) if not (a in early and b in early)]


def _dag(names: Sequence[str], edges: Iterable[Pair]) -> DAG:
    return DAG.from_edges(*(f"{a} --> {b}" for a, b in edges), nodes=names)


def _study(
    names: Sequence[str],
    edges: Iterable[Pair],
    latent: Iterable[str],
    selection: Iterable[str],
    selected_pairs: Iterable[Pair],
    confounded_pairs: Iterable[Pair],
) -> Study:
    """Put a study together: nodes with edges, a selection child for some pairs, a latent parent for others."""
    children = {f"S{i}": pair for i, pair in enumerate(selected_pairs)}
    parents = {f"L{i}": pair for i, pair in enumerate(confounded_pairs)}
    selects = [(v, s) for s, pair in children.items() for v in pair]
    confounds = [(u, v) for u, pair in parents.items() for v in pair]
    dag = _dag([*names, *children, *parents], [*edges, *selects, *confounds])
    return Study(dag, (*latent, *parents), (*selection, *children))
