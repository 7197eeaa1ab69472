"""What an answer about causes and effects rests on, and how firm that is, so that no answer is stronger than its graph.

Three things tell how firm a part of a learned graph is, where they are known: how well its marks are supported (Lift),
whether marks rest on separations that the data reject, and what recurs when the rows are drawn again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from lmarvel import wording
from lmarvel.evidence_wording import WORDS
from lmarvel.frequencies import percent
from lmarvel.graph.marks import Edge
from lmarvel.model_check import Implied, separation
from lmarvel.result import Discovery
from lmarvel.wording import readable

HALF = 0.5  # a claim that fewer draws make is not stable


def edges_among(found: object, names: Iterable[str], border: bool = False) -> list[Edge]:
    """Return the edges of a result with both ends among these variables; with ``border``, with one end at least."""
    if not isinstance(found, Discovery):
        return []
    near, enough = frozenset(names), any if border else all
    return [edge for edge in found.pag.edges() if enough(end in near for end in (edge.a, edge.b))]


def what_it_rests_on(found: object, edges: Sequence[Edge] = (), known: bool = False) -> str:
    """Say once what an answer rests on, and how firm the edges that bear on it are.

    ``known`` means that selection has been reckoned with.
    """
    doubtful = not known and (not isinstance(found, Discovery) or wording.selected(found.settings))
    rests = f"This rests on the learned graph being right{', and on a sample that was not selected' * doubtful}."
    if not isinstance(found, Discovery):
        return rests
    return " ".join([rests, *_supported(found, edges), *_rejected(found, edges)])


def caution(found: object, edges: Sequence[Edge], share: float | None = None) -> str:
    """Return what to put before a claim that is not firm: a sentence's beginning, or nothing.

    Parameters
    ----------
    found : object
        What the claim is read from.
    edges : sequence of Edge
        The edges that bear on it.
    share : float, optional
        In which share of the draws of a bootstrap the claim is made.
    """
    if not isinstance(found, Discovery):
        return ""
    if _failed(found, edges):
        return "In doubt, for the data reject a separation that it rests on: "
    if any(found.support_word(edge.a, edge.b) == "open" for edge in edges):
        return "Open, for other marks fit nearly as well or were not ruled out: "
    if share is not None and share < HALF:
        return f"Not stable, for {percent(share)} of the draws say so: "
    return ""


def along(found: object, path: Sequence[str]) -> list[Edge]:
    """Return the edges of a path."""
    if not isinstance(found, Discovery):
        return []
    return [edge for a, b in pairwise(path) if (edge := found.pag.edge(a, b)) is not None]


def beside(found: object, path: Sequence[str], x: str, y: str, claimed: bool | None) -> str:
    """Return how firm it is that x causes y (``claimed``), does not, or may (None): what stands behind the reason."""
    if not isinstance(found, Discovery):
        return ""
    edges, parts = along(found, path), []
    words = [word for edge in edges if (word := found.support_word(edge.a, edge.b)) is not None]
    if claimed and words:
        parts.append(min(words, key=WORDS.index))
    if claimed and (failed := _failed(found, edges)):
        pair = f"{readable(failed[0].x)}, {readable(failed[0].y)}"
        parts.append(f"a mark rests on a separation that the data reject: {pair}")
    if claimed is not None and (share := claim_share(found, x, y, claimed)) is not None and found.stability is not None:
        parts.append(f"{percent(share)} of {found.stability.replicates:,} draws")
    return f" ({'; '.join(parts)})" if parts else ""


def claim_share(found: object, x: str, y: str, causes: bool) -> float | None:
    """Return in which share of the draws x causes y, or does not; None without a bootstrap."""
    if not isinstance(found, Discovery) or found.stability is None:
        return None
    told = found.stability
    return told.causes_share(x, y) if causes else told.not_causes_share(x, y)


def recurs(found: object, x: str, y: str) -> str:
    """Say how often x causes y, and does not, in the draws of a bootstrap; nothing without one."""
    causes, never = claim_share(found, x, y, True), claim_share(found, x, y, False)
    if causes is None or never is None or not isinstance(found, Discovery) or found.stability is None:
        return ""
    a, b, n = readable(x), readable(y), found.stability.replicates
    return (
        f" In {n:,} draws of the rows {a} causes {b} in {percent(causes)}, and does not cause it in {percent(never)}."
    )


def _supported(found: Discovery, edges: Sequence[Edge]) -> Iterator[str]:
    """Say how well the marks of edges are supported, where the method tells."""
    if not found.evidence.distance:
        return
    words = Counter(word for edge in edges if (word := found.support_word(edge.a, edge.b)) is not None)
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
    yield f"Of the {total:,} edges that bear on it, the marks are {', '.join(parts[:-1])} and {parts[-1]}."


def _rejected(found: Discovery, edges: Sequence[Edge]) -> Iterator[str]:
    """Say which separation marks rest on that the data reject, the worst of them."""
    failed = _failed(found, edges)
    if failed:
        worst = f"{separation(failed[0])} (p = {failed[0].pvalue:.2g})"
        more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        yield f"Marks of such edges rest on a separation that the data reject: {worst}{more}."


def _failed(found: Discovery, edges: Sequence[Edge]) -> list[Implied]:
    """Return the rejected separations that marks of edges rest on, the worst first."""
    if found.check is None or not found.check.failed:
        return []
    resting = {one for e in edges for one in (*found.rests_on_rejected(e.a, e.b), *found.rests_on_rejected(e.b, e.a))}
    return [one for one in found.check.failed if one in resting]
