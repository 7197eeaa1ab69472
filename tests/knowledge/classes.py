"""All MAGs on five nodes by class, what a statement means in them by definition, and the marks that they share."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from lmarvel import MAG, Knowledge
from lmarvel.knowledge.closure import Known
from lmarvel.knowledge.draw import true_statements
from tests.truth.make_truth import ARROW, CIRCLE, TAIL, ancestors, enumerate_mags, marks_matrix

NAMES = ("A", "B", "C", "D", "E")
KINDS = ("tiers", "causes", "not_causes", "exogenous", "mixed", "randomised", "unconfounded", "unmeasured")


class Classes(NamedTuple):
    """Marks, ancestors and anteriors of all MAGs, [node, node, graph], and where each class begins."""

    marks: np.ndarray
    ancestor: np.ndarray
    anterior: np.ndarray
    starts: np.ndarray


@cache
def all_classes() -> Classes:
    mags, keys = enumerate_mags(5)
    _, klass = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(klass.ravel(), kind="stable")
    marks = marks_matrix(mags[order].T, 5)
    ancestor = ancestors(marks)
    beside = (marks == TAIL) & (marks.swapaxes(0, 1) == TAIL)
    for k in range(5):
        beside[k, k] = True
        beside |= beside[:, k, None] & beside[None, k]
    anterior = np.zeros_like(ancestor)
    for k in range(5):
        anterior |= beside[:, k, None] & ancestor[k][None]
    starts = np.searchsorted(klass.ravel()[order], np.arange(klass.max() + 2))
    return Classes(marks, ancestor, anterior, starts)


def draw(kind: str, graph: int, rng: np.random.Generator) -> Knowledge:
    """Draw statements of a kind that are true of a graph, and often that it has no selection or no latents."""
    marks = all_classes().marks[..., graph]
    counts = {"causes": int(rng.integers(1, 3)), "not_causes": int(rng.integers(1, 3)), "exogenous": 1}
    wanted = {"tiers": {"tiers": int(rng.integers(2, 4))}, "mixed": counts, "randomised": {"randomised": 1}}
    hidden = {"unconfounded": 1 + graph % 3}
    wanted |= {"unconfounded": hidden, "unmeasured": {**hidden, "tiers": 2, "randomised": 1}}
    said = true_statements(MAG(NAMES, marks), **wanted.get(kind) or {kind: counts[kind]}, seed=rng)
    flags = {
        "selection": bool(((marks == TAIL) & (marks.T == TAIL)).any() or rng.random() < 0.5),
        "latents": bool(((marks == ARROW) & (marks.T == ARROW)).any() or rng.random() < 0.5),
    }
    return Knowledge(**said.to_dict() | flags)


def fits(known: Known, graphs: slice) -> np.ndarray:
    """Say which graphs the statements are true of, by definition."""
    _, ancestor, anterior, _ = all_classes()
    marks = all_classes().marks[..., graphs]
    true = np.ones(marks.shape[2], dtype=bool)
    for a, b in np.argwhere(known.said_causes):
        true &= ancestor[a, b, graphs]
    for a, b in np.argwhere(known.said_never):
        true &= ~anterior[a, b, graphs]
    flipped = marks.swapaxes(0, 1)
    if not known.selection:
        true &= ~((marks == TAIL) & (flipped == TAIL)).any(axis=(0, 1))
    for a, b in np.argwhere(np.triu(known.unconfounded)):
        true &= ~((marks == ARROW) & (flipped == ARROW))[a, b]
    return true


def shared(marks: np.ndarray) -> np.ndarray:
    """Return the marks that all these graphs have, circles elsewhere."""
    low, high = marks.min(axis=2), marks.max(axis=2)
    return np.where(low == high, low, CIRCLE)
