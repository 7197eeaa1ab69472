"""Truth for effects under statements: the MAGs of a class that fit, by definition, and models of each that fit too."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel import ADMG, MAG, PAG, Edge, Knowledge, Mark, pag_to_mag
from lmarvel.effects.ranges import class_members
from lmarvel.knowledge.closure import Known
from lmarvel.knowledge.draw import true_statements
from tests.effects.classes import total_effects

KINDS = ("tiers", "not_causes", "causes", "randomised", "unconfounded", "latents", "mixed")


class Models(NamedTuple):
    """Covariances of what is observed, total effects[model, effect, cause], and the MAGs that fit."""

    covariance: NDArray[np.float64]
    effects: NDArray[np.float64]
    mags: list[MAG]


def drawn(kind: str, mag: MAG, rng: np.random.Generator) -> Knowledge:
    """Draw statements of a kind that are true of a MAG."""
    some = int(rng.integers(1, 3))
    counts = {
        "tiers": {"tiers": int(rng.integers(2, 4))},
        "latents": {"tiers": int(rng.integers(0, 2)) * 2},
        "mixed": {"tiers": 2, "causes": 1, "not_causes": some, "unconfounded": some + 1},
    }
    said = true_statements(mag, **counts.get(kind) or {kind: some}, seed=rng)
    spouses = any(edge.at_a == edge.at_b == Mark.ARROW for edge in mag.edges())
    return Knowledge(**said.to_dict() | {"selection": False, "latents": kind != "latents" or spouses})


def fits(mag: MAG, known: Known) -> bool:
    """Tell by definition whether statements are true of a MAG without undirected edges."""
    n = len(mag)
    above = [{mag.index(v) for v in mag.ancestors(y)} - {y} for y in range(n)]
    spouses = {frozenset((e.a, e.b)) for e in mag.edges() if e.at_a == e.at_b}
    return (
        all(a in above[b] for a, b in np.argwhere(known.said_causes).tolist())
        and not any(a in above[b] for a, b in np.argwhere(known.said_never).tolist())
        and not any(
            frozenset((mag.names[a], mag.names[b])) in spouses for a, b in np.argwhere(known.unconfounded).tolist()
        )
    )


def tied(graph: ADMG, a: str, b: str) -> bool:
    """Tell whether unmeasured causes tie two variables together: a path of colliders into both, that cause either."""
    into: dict[str, list[tuple[str, bool]]] = {name: [] for name in graph.names}  # v <-* w, and whether also v *-> w
    parents: dict[str, set[str]] = {name: set() for name in graph.names}
    for edge in graph.edges:
        for v, w, at_v, at_w in ((edge.a, edge.b, edge.at_a, edge.at_b), (edge.b, edge.a, edge.at_b, edge.at_a)):
            if at_v == Mark.ARROW:
                into[v].append((w, at_w == Mark.ARROW))
                if at_w == Mark.TAIL:
                    parents[v].add(w)
    causes, stack = {a, b}, [a, b]
    while stack:
        new = parents[stack.pop()] - causes
        causes |= new
        stack += new
    reached, stack = {a}, [a]
    while stack:
        for w, both in into[stack.pop()]:
            if both and w == b:
                return True
            if both and w in causes and w not in reached:
                reached.add(w)
                stack.append(w)
    return False


def graphs(mag: MAG, known: Known) -> list[ADMG]:
    """The ADMG of a MAG, and those with one, two or all arrows confounded that look the same, if they fit."""
    edges = [edge if edge.at_b == Mark.ARROW else edge.reversed() for edge in mag.edges()]
    arrows = [edge for edge in edges if edge.at_a == Mark.TAIL]
    chosen = [(), *((edge,) for edge in arrows), *combinations(arrows, 2), tuple(arrows)]
    free = [(mag.names[a], mag.names[b]) for a, b in np.argwhere(np.triu(known.unconfounded)).tolist()]
    found = []
    for some in dict.fromkeys(chosen):
        graph = ADMG(mag.names, [*edges, *(Edge(e.a, e.b, Mark.ARROW, Mark.ARROW) for e in some)])
        if any(tied(graph, a, b) for a, b in free):
            continue
        dag, latent = graph.canonical_dag()
        if not some or dag.project(latent) == mag:
            found.append(graph)
    return found


def models(pag: PAG, known: Known, rng: np.random.Generator, most: int) -> Models:
    """A random linear model of each graph of each MAG that fits; of ``most`` MAGs, if more do."""
    mags = [mag for mag in class_members(pag_to_mag(pag)) if fits(mag, known)]
    n, covariances, effects = len(pag), [], []
    for mag in mags if len(mags) <= most else [mags[i] for i in rng.permutation(len(mags))[:most]]:
        for graph in graphs(mag, known):
            dag, _ = graph.canonical_dag()
            arrows = (dag.marks.T == Mark.ARROW).astype(float)  # [child, parent]
            size = arrows.shape
            total = total_effects(arrows * rng.uniform(0.4, 1.0, size) * rng.choice((-1.0, 1.0), size))
            covariances.append((total @ np.diag(rng.uniform(0.5, 1.5, len(dag))) @ total.T)[:n, :n])
            effects.append(total[:n, :n])
    return Models(np.array(covariances), np.array(effects), mags)
