"""True statements about a MAG, drawn at random: for experiments on what knowledge is worth."""

from __future__ import annotations

import numpy as np

from lmarvel.errors import ParameterError
from lmarvel.graph.kinds import MAG
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.knowledge.closure import Matrix, reach
from lmarvel.knowledge.statements import Knowledge

Pair = tuple[str, str]


def true_statements(
    mag: MAG,
    *,
    tiers: int = 0,
    causes: int = 0,
    not_causes: int = 0,
    edges: int = 0,
    no_edges: int = 0,
    exogenous: int = 0,
    randomised: int = 0,
    unconfounded: int = 0,
    seed: int | np.random.Generator = 0,
) -> Knowledge:
    """Draw so many statements of each kind, fewer where there are not as many.

    Parameters
    ----------
    mag : MAG
        The truth.
    tiers : int
        In how many tiers, of about the same size, all variables are put; 0 for none.
    causes, not_causes, edges, no_edges, exogenous, randomised, unconfounded : int
        The numbers of statements.
    seed : int or Generator
        What they are drawn from.

    Examples
    --------
    >>> mag = MAG.from_edges("A --> B", "B --> C", "D <-> C")
    >>> print(true_statements(mag, tiers=2, causes=1, seed=1))
    tiers: A, D < B, C
    A causes B
    """
    counts = {"tiers": tiers, "causes": causes, "not_causes": not_causes, "edges": edges, "no_edges": no_edges}
    more = {"exogenous": exogenous, "randomised": randomised, "unconfounded": unconfounded}
    for name, value in {**counts, **more}.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ParameterError(f"must be a whole number of at least 0, not {value!r}", parameter=name)
    rng = np.random.default_rng(seed)
    names = mag.names
    directed = (mag.marks == ARROW) & (mag.marks.T == TAIL)
    anterior = reach(directed | ((mag.marks == TAIL) & (mag.marks.T == TAIL)))
    off_diagonal = ~np.eye(len(names), dtype=bool)
    roots = [names[v] for v in range(len(names)) if not (anterior & off_diagonal)[:, v].any()]
    spouses = (mag.marks == ARROW) & (mag.marks.T == ARROW)
    alone = [name for name in roots if not spouses[mag.index(name)].any()]

    def some(which: Matrix, count: int) -> list[Pair]:
        pairs = [(names[a], names[b]) for a, b in np.argwhere(which & off_diagonal).tolist()]
        return [pairs[i] for i in np.sort(rng.permutation(len(pairs))[:count]).tolist()]

    return Knowledge(
        tiers=_tiers(names, anterior, tiers, rng) if tiers else (),
        causes=tuple(some(reach(directed), causes)),
        not_causes=tuple(some(~anterior, not_causes)),
        edges=tuple(some(np.triu(mag.marks != 0), edges)),
        no_edges=tuple(some(np.triu(mag.marks == 0), no_edges)),
        exogenous=tuple(sorted(rng.choice(roots, min(exogenous, len(roots)), replace=False))) if roots else (),
        randomised=tuple(sorted(rng.permutation(alone)[:randomised].tolist())) if randomised else (),
        unconfounded=tuple(some(np.triu(~spouses), unconfounded)) if unconfounded else (),
    )


def _tiers(
    names: tuple[str, ...], anterior: Matrix, count: int, rng: np.random.Generator
) -> tuple[tuple[str, ...], ...]:
    """Cut a random order, in which nothing comes before what is anterior to it, into tiers."""
    waiting = set(range(len(names)))
    tiers: list[list[int]] = [[]]
    placed = 0
    while waiting:
        free = [v for v in sorted(waiting) if not any(anterior[u, v] and not anterior[v, u] for u in waiting)]
        v = free[rng.integers(len(free))]
        together = [v, *(u for u in sorted(waiting) if u != v and anterior[u, v] and anterior[v, u])]
        if placed >= len(names) * len(tiers) / count and len(tiers) < count:
            tiers.append([])
        tiers[-1] += together
        waiting -= set(together)
        placed += len(together)
    return tuple(tuple(names[v] for v in sorted(tier)) for tier in tiers)
