"""What the tests of L-MARVEL with an oracle share: graphs, a test that writes down what it is asked, sets of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from lmarvel import MAG, LMarvel, MSeparation

Question = tuple[frozenset[int], frozenset[int]]

CYCLE = MAG.from_edges("A --- B", "B --- C", "C --- D", "D --- A")
WRONG_IF_CHORDAL_IS_ASSUMED = MAG.from_edges("A --- D", "D --- C", "C --- E", "E --- A", "D --> B", "E --> B")


class Recorder:
    """A plain test that answers from a MAG, one question at a time, and writes down what it was asked."""

    def __init__(self, mag: MAG) -> None:
        self.names = mag.names
        self.oracle = MSeparation(mag)
        self.asked: list[Question] = []

    def pvalue(self, x: int, y: int, given: Sequence[int]) -> float:
        self.asked.append((frozenset((x, y)), frozenset(given)))
        return self.oracle.pvalue(x, y, given)


def learn(mag: MAG, **options: object) -> LMarvel:
    return LMarvel(test=MSeparation(mag), **options).fit()


def pairs(names: Sequence[str]) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in combinations(names, 2)}


def edges(graph: MAG) -> set[frozenset[str]]:
    return {frozenset((edge.a, edge.b)) for edge in graph.edges()}
