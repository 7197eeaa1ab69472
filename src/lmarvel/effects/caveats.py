"""What an answer about causes and effects rests on, and how firm that is, so that no answer is stronger than its graph.

Three things tell how firm a part of a learned graph is, where they are known: how well its marks are supported (Lift),
whether marks rest on separations that the data reject, and what recurs when the rows are drawn again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lmarvel.graph.marks import ARROW, TAIL, Edge
from lmarvel.result import wording
from lmarvel.result.check import Implied, separation
from lmarvel.result.discovery import Discovery
from lmarvel.result.frequencies import percent
from lmarvel.text import joined, readable

HALF = 0.5  # a claim that fewer draws make is not stable


def edges_among(result: object, names: Iterable[str], border: bool = False) -> list[Edge]:
    """Return the edges of a result with both ends among these variables; with ``border``, with one end at least."""
    if not isinstance(result, Discovery):
        return []
    near, enough = frozenset(names), any if border else all
    return [edge for edge in result.pag.edges() if enough(end in near for end in (edge.a, edge.b))]


def says_selection(edge: Edge) -> bool:
    """Tell whether an edge, --- or --o, says that the sample was selected."""
    return TAIL in (edge.at_a, edge.at_b) and ARROW not in (edge.at_a, edge.at_b)


def what_it_rests_on(result: object, edges: Sequence[Edge] = (), known: bool = False) -> str:
    """Say once what an answer rests on, and how firm the edges that bear on it are.

    ``known`` means that selection has been reckoned with.
    """
    doubtful = not known and (not isinstance(result, Discovery) or wording.selected(result.settings))
    rests = f"This rests on the learned graph being right{', and on a sample that was not selected' * doubtful}."
    if not isinstance(result, Discovery):
        return rests
    return " ".join([rests, *_supported(result, edges), *_rejected(result, edges)])


def caution(result: object, edges: Sequence[Edge], unstable: str = "") -> str:
    """Return what to put before a claim that is not firm: a sentence's beginning, or nothing.

    Parameters
    ----------
    result : object
        What the claim is read from.
    edges : sequence of Edge
        The edges that bear on it.
    unstable : str
        What recurs too rarely of it, in words.
    """
    if not isinstance(result, Discovery):
        return ""
    if _failed(result, edges):
        return "In doubt, for the data reject a separation that it rests on: "
    if any(result.support_word(edge.a, edge.b) == "open" for edge in edges):
        return "Open, for other marks fit nearly as well or were not ruled out: "
    return f"Not stable, for {unstable}: " if unstable else ""


def beside(result: object, path: Sequence[str], x: str, y: str, claimed: bool | None) -> str:
    """Return how firm it is that x causes y (``claimed``), does not, or may (None): what stands behind the reason."""
    if not isinstance(result, Discovery) or claimed is None:
        return ""
    edges, parts = along(result, path), []
    words = [word for edge in edges if (word := result.support_word(edge.a, edge.b)) is not None]
    if claimed and words:
        parts.append(min(words, key=WORDS.index))
    if claimed and (failed := _failed(result, edges)):
        pair = f"{readable(failed[0].x)}, {readable(failed[0].y)}"
        parts.append(f"a mark rests on a separation that the data reject: {pair}")
    recurring = Recurring.of(result, path, x, y, claimed)
    if recurring is not None:
        parts.append(recurring.words)
    return "; ".join(parts)


def along(result: Discovery, path: Sequence[str]) -> list[Edge]:
    """Return the edges of a path."""
    return [edge for a, b in pairwise(path) if (edge := result.pag.edge(a, b)) is not None]


@dataclass(frozen=True)
class Recurring:
    """In which share of the draws of a bootstrap a claim is made, in words too.

    A bootstrap allows for selection, where the result does: then it claims nothing of an x without an arrowhead. Where
    x has none in the learned graph either, that tells nothing, and the edge of the path that recurs least does.
    """

    share: float
    words: str

    @classmethod
    def of(cls, result: object, path: Sequence[str], x: str, y: str, claimed: bool) -> Recurring | None:
        """Return how often it recurs that x causes y, or does not; None where no bootstrap tells."""
        counted = result.stability if isinstance(result, Discovery) else None
        if not isinstance(result, Discovery) or counted is None:
            return None
        pointed = bool((result.pag.marks[:, result.pag.index(x)] == ARROW).any())
        if pointed or not wording.selected(result.settings):
            share = counted.causes_share(x, y) if claimed else counted.not_causes_share(x, y)
            return cls(share, f"{percent(share)} of {counted.replicates:,} draws")
        marks = counted.of_marks(result.pag.marks)
        by_edge = []
        for edge in along(result, path) if claimed else ():
            i, j = result.pag.index(edge.a), result.pag.index(edge.b)
            least = counted.edge(edge.a, edge.b) * min(float(marks[i, j]), float(marks[j, i]))
            by_edge.append(cls(least, f"{edge} in {result.recurring(edge.a, edge.b)} of {counted.replicates:,} draws"))
        return min(by_edge, key=lambda claim: claim.share, default=None)

    @property
    def too_rare(self) -> bool:
        """Whether fewer than half of the draws make the claim."""
        return self.share < HALF


def _supported(result: Discovery, edges: Sequence[Edge]) -> Iterator[str]:
    """Say how well the marks of edges are supported, where the method tells."""
    if not result.evidence.distance:
        return
    words = Counter(word for edge in edges if (word := result.support_word(edge.a, edge.b)) is not None)
    if not words:
        return
    total, kinds = sum(words.values()), [word for word in reversed(WORDS) if words[word]]
    if total == 1:
        yield f"The marks of the edge that bears on it are {kinds[0]}."
        return
    if len(kinds) == 1:
        yield f"The marks of {'both' if total == 2 else f'all {total:,}'} edges that bear on it are {kinds[0]}."
        return
    parts = [f"{word} at {words[word]:,}" for word in kinds]
    yield f"Of the {total:,} edges that bear on it, the marks are {joined(parts)}."


def _rejected(result: Discovery, edges: Sequence[Edge]) -> Iterator[str]:
    """Say which separation marks rest on that the data reject, the worst of them."""
    failed = _failed(result, edges)
    if failed:
        worst = f"{separation(failed[0])} (p = {failed[0].pvalue:.2g})"
        more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        yield f"Marks of such edges rest on a separation that the data reject: {worst}{more}."


def _failed(result: Discovery, edges: Sequence[Edge]) -> list[Implied]:
    """Return the rejected separations that marks of edges rest on, the worst first."""
    if result.check is None or not result.check.in_doubt:
        return []
    resting = {
        implied for e in edges for implied in (*result.rests_on_rejected(e.a, e.b), *result.rests_on_rejected(e.b, e.a))
    }
    return [implied for implied in result.check.in_doubt if implied in resting]
