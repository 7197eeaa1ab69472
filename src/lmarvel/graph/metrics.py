"""How close a learned graph is to the true one.

The paper scores the skeleton only: precision, recall and their harmonic mean F1 over the edges. A PAG says more, so
here its marks are scored too. A *mark* is what stands at one end of one pair of variables; the two ends of a pair
that is not adjacent have the mark "none". Markov boundaries, from which most methods start, are scored by member.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from lmarvel.errors import GraphError
from lmarvel.graph.marks import Mark
from lmarvel.graph.mixed import MixedGraph
from lmarvel.text import readable

Pair = tuple[str, str]
MARKS = {Mark.ARROW: "arrowhead", Mark.TAIL: "tail", Mark.CIRCLE: "circle", Mark.NONE: "none"}


@dataclass(frozen=True)
class Rate:
    """Precision, recall and F1 of a set that was found against the true one.

    Nothing found is precise, and nothing to find is all found: the paper's tables have no such case.

    Examples
    --------
    >>> rate = Rate(right=3, found=4, true=6)
    >>> rate.precision, rate.recall, rate.f1
    (0.75, 0.5, 0.6)
    """

    right: int
    found: int
    true: int

    @property
    def precision(self) -> float:
        """The share of what was found that is right."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """The share of what is true that was found."""
        return self.right / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.right / (self.found + self.true) if self.found + self.true else 1.0


@dataclass(frozen=True)
class Scores:
    """The comparison of a learned graph with the true one.

    Attributes
    ----------
    skeleton : Rate
        Over edges, marks ignored.
    marks : Rate
        Over the two ends of every edge: a mark is right if the truth has the same mark there.
    extra, missing : tuple of pairs
        Edges that the truth does not have, and edges that were not found.
    confusion : mapping
        ``confusion[true, learned]`` counts the ends of pairs by their mark: "arrowhead", "tail", "circle", "none".
    hamming : int
        The structural Hamming distance: how many edges to add, delete, and marks to change, one each.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> truth = PAG.from_edges("A o-> C", "B o-> C", "C --> D")
    >>> scores = compare_graphs(PAG.from_edges("A o-> C", "B --> C", nodes=list("ABCD")), truth)
    >>> scores.skeleton.f1, scores.marks.precision, scores.hamming
    (0.8, 0.75, 2)
    >>> scores.missing
    (('C', 'D'),)
    >>> print(scores.table())
    truth \\ learned  arrowhead       tail     circle       none
    arrowhead                2          0          0          1
    tail                     0          0          0          1
    circle                   0          1          1          0
    none                     0          0          0          6
    """

    skeleton: Rate
    marks: Rate
    extra: tuple[Pair, ...]
    missing: tuple[Pair, ...]
    confusion: Mapping[tuple[str, str], int]
    hamming: int

    def mark(self, name: str) -> Rate:
        """Return the rate of one mark: "arrowhead", "tail" or "circle"."""
        if name not in list(MARKS.values())[:3]:
            raise GraphError(f"unknown mark {name!r}: choose from arrowhead, tail, circle")
        n_learned = sum(count for (_, learned), count in self.confusion.items() if learned == name)
        n_true = sum(count for (truth, _), count in self.confusion.items() if truth == name)
        return Rate(self.confusion[name, name], n_learned, n_true)

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain data, ready for JSON."""
        rates = {"skeleton": self.skeleton, "marks": self.marks}
        rates |= {name: self.mark(name) for name in ("arrowhead", "tail", "circle")}
        plain = {
            name: {
                "precision": rate.precision,
                "recall": rate.recall,
                "f1": rate.f1,
                "right": rate.right,
                "learned": rate.found,
                "true": rate.true,
            }
            for name, rate in rates.items()
        }
        return {
            **plain,
            "hamming": self.hamming,
            "extra": [list(pair) for pair in self.extra],
            "missing": [list(pair) for pair in self.missing],
            "confusion": [
                {"true": true, "learned": learned, "ends": ends} for (true, learned), ends in self.confusion.items()
            ],
        }

    def table(self) -> str:
        """Return the confusion of marks as text, a row for each true mark."""
        names = list(MARKS.values())
        rows = [("truth \\ learned", *names)]
        rows += [(a, *(str(self.confusion[a, b]) for b in names)) for a in names]
        return "\n".join(f"{head:<15}" + "".join(f"{cell:>11}" for cell in cells) for head, *cells in rows)


def compare_graphs(learned: MixedGraph, true: MixedGraph) -> Scores:
    """Score a learned graph against the true one, over the same variables in any order.

    Parameters
    ----------
    learned, true : MixedGraph
        Two PAGs, or graphs of any kind if only the skeleton matters.
    """
    _check_names(learned, true)
    learned = learned.reordered(true.names)
    names, n = true.names, len(true)
    here, there = learned.marks, true.marks
    differing = [(i, j) for i, j in combinations(range(n), 2) if bool(here[i, j]) != bool(there[i, j])]
    extra = tuple((names[i], names[j]) for i, j in differing if here[i, j])
    missing = tuple((names[i], names[j]) for i, j in differing if there[i, j])
    off = ~np.eye(n, dtype=bool)
    confusion = {
        (a_name, b_name): int(((there == a) & (here == b) & off).sum())
        for a, a_name in MARKS.items()
        for b, b_name in MARKS.items()
    }
    both = (here > 0) & (there > 0)
    changed = int((both & (here != there)).sum())
    right = int((both & (here == there)).sum())
    return Scores(
        skeleton=Rate(int(both.sum()) // 2, learned.n_edges, true.n_edges),
        marks=Rate(right, 2 * learned.n_edges, 2 * true.n_edges),
        extra=extra,
        missing=missing,
        confusion=confusion,
        hamming=len(differing) + changed,
    )


def structural_hamming_distance(learned: MixedGraph, true: MixedGraph) -> int:
    """Return how many edges to add or delete and marks to change lead from one graph to the other.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> structural_hamming_distance(PAG.from_edges("A o-o B"), PAG.from_edges("A <-> B"))
    2
    """
    return compare_graphs(learned, true).hamming


def compare_boundaries(learned: Mapping[str, Collection[str]], true: MixedGraph) -> Rate:
    """Score Markov boundaries against those of the true MAG.

    Parameters
    ----------
    learned : mapping from names to collections of names
        The boundaries, such as ``result.boundaries``.
    true : MAG or DAG
        The truth over the same variables.

    Returns
    -------
    Rate
        Over members: Y in the boundary of X is one, X in the boundary of Y another.

    Examples
    --------
    >>> from lmarvel import MAG
    >>> truth = MAG.from_edges("A --> C", "B --> C", "C --> D")
    >>> rate = compare_boundaries({"A": {"C"}, "B": {"C"}, "C": {"A", "B", "D"}, "D": {"C"}}, truth)
    >>> rate.precision, rate.recall                       # A and B have a common child
    (1.0, 0.75)
    """
    _check_same(set(learned), set(true.names))
    here = {(x, y) for x, members in learned.items() for y in members}
    strangers = {y for _, y in here} - set(true.names)
    if strangers:
        raise GraphError(f"a boundary holds {readable(min(strangers))}, which is not a variable of the true graph")
    there = {(x, y) for x in true.names for y in true.markov_boundary(x)}
    return Rate(len(here & there), len(here), len(there))


def _check_names(learned: MixedGraph, true: MixedGraph) -> None:
    _check_same(set(learned.names), set(true.names))


def _check_same(here: set[str], there: set[str]) -> None:
    if here != there:
        sides = (("learned", here - there), ("true", there - here))
        only = [f"{side} only: {', '.join(map(readable, sorted(names)[:5]))}" for side, names in sides if names]
        raise GraphError(f"the graphs are over different variables ({'; '.join(only)}): give both the same names")
