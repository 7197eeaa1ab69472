"""How reliable a result is: what recurs in a bootstrap, and which of its separations the data reject."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lmarvel.deferred import Deferred
from lmarvel.errors import ParameterError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import ARROW
from lmarvel.result.evidence_wording import GIVEN, of_statements
from lmarvel.result.file.parts import read_part
from lmarvel.result.file.records import items, probability, whole
from lmarvel.result.sources import by_statements
from lmarvel.result.support.check import Cut, Implied, ModelCheck, separation
from lmarvel.result.support.frequencies import Stability, decode_stability, encode_stability, percent
from lmarvel.result.support.grounds import decode_grounds, encode_grounds
from lmarvel.result.trace import Adjacent, Doubtful, but_separated
from lmarvel.result.wording import UNDECIDED, disagreement
from lmarvel.text import readable

if TYPE_CHECKING:
    from lmarvel.result.discovery import Discovery

Contested = tuple[str, str, frozenset[str], float]
WORTH = {
    "score": {
        ("firm", "arrowhead"): 0.99,
        ("firm", "tail"): 1.0,
        ("likely", "arrowhead"): 0.98,
        ("likely", "tail"): 0.97,
        ("open", "arrowhead"): 0.77,
        ("open", "tail"): 0.75,
    },
    "tests": {
        ("open", "arrowhead"): 0.57,
        ("open", "tail"): 0.64,
    },
}
"""The share of marks of each grade that were right, by score (auto) and by tests (lmarvel): benchmarks/grades.csv."""
CLAIMED = 0.5  # the share of resamples from which on a claim that the graph itself does not make is told


class Claim(NamedTuple):
    """What a share of the resamples of a bootstrap says of two variables: that a causes b, or that it does not."""

    share: float
    a: str
    b: str
    causes: bool

    def __str__(self) -> str:
        return f"{readable(self.a)} {'causes' if self.causes else 'does not cause'} {readable(self.b)}"


class Doubt(NamedTuple):
    """Why an edge is less sure than others: "undecided", "contested" or "rejected", and that in words."""

    kind: str
    text: str


def recurring(result: Discovery, a: str, b: str) -> str | None:
    """Return how often an edge recurs, and where it does its marks at a and at b; None without a bootstrap."""
    stability = result.stability
    if stability is None or result.pag.edge(a, b) is None:
        return None
    shares = stability.of_marks(result.pag.marks)
    x, y = result.pag.index(a), result.pag.index(b)
    edge, near, far = stability.edge(a, b), float(shares[y, x]), float(shares[x, y])
    marks = (_share_of_mark(result, *ends, share) for ends, share in (((b, a), near), ((a, b), far)))
    return f"edge {percent(edge)}; marks {' / '.join(marks)}"


def _share_of_mark(result: Discovery, a: str, b: str, share: float) -> str:
    """Return the share of the resamples that have the mark at b; none where statements put it there in each of them."""
    return {"stated": "stated", "follows": "from statements"}.get(str(by_statements(result, a, b)), percent(share))


def claims_of(result: Discovery, least: float = CLAIMED) -> list[Claim]:
    """Return what of causes recurs in at least this share of the resamples, the most frequent first.

    What was stated is left out: each resample was learned with it.
    """
    stability = result.stability
    if stability is None:
        return []
    claims = []
    for counts, causes in ((stability.causes, True), (stability.not_causes, False)):
        for x, y in np.argwhere(counts >= max(least * stability.replicates, 1)).tolist():
            share = float(counts[x, y] / stability.replicates)
            a, b = result.pag.names[x], result.pag.names[y]
            if not _is_stated(result, a, b):
                claims.append(Claim(share, a, b, causes))
    return sorted(claims, key=lambda claim: (-claim.share, str(claim)))


def contested_edges(result: Discovery) -> Iterator[Contested]:
    """Iterate over the edges that the search kept and another step of the run found independent, see ``contested``."""
    names, contested = result.pag.names, dict[tuple[str, str], Contested]()
    for e in but_separated(result.trace):
        if (
            isinstance(e, Adjacent)
            and e.strongest is not None
            and e.pvalue > result.alpha
            and result.pag.marks[e.x, e.y]
        ):
            if frozenset((e.x, e.y)) in result.explainer.overruled:
                continue  # a statement keeps the edge, and the result lists that
            a, b = names[min(e.x, e.y)], names[max(e.x, e.y)]
            if not result.explainer.is_undecided(e.x, e.y):
                contested[a, b] = (a, b, frozenset(names[v] for v in e.strongest), e.pvalue)
    yield from contested.values()


def doubtful_pairs(result: Discovery) -> tuple[tuple[str, str], ...]:
    """Return the pairs without an edge, outside each other's boundary, that no set which was tried separates."""
    names, marks = result.pag.names, result.pag.marks
    pairs = (e for e in but_separated(result.trace) if isinstance(e, Doubtful) and not marks[e.x, e.y])
    return tuple((names[min(e.x, e.y)], names[max(e.x, e.y)]) for e in pairs)


def stable_graph(result: Discovery, share: float) -> PAG:
    """Return what recurs in at least this share of the resamples.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> found = LMarvel().fit(CARS, bootstrap=100, seed=1).result_
    >>> found.stable(0.9).n_edges <= found.stable(0.5).n_edges <= found.pag.n_edges
    True
    """
    if result.stability is None:
        raise ParameterError("this result has no resamples: learn it with a bootstrap, fit(data, bootstrap=200)")
    return result.stability.stable(result.pag, share)


def edge_shares(result: Discovery) -> dict[frozenset[str], float] | None:
    """Return the share of resamples that have each edge, by pair; None without a bootstrap."""
    stability = result.stability
    if stability is None:
        return None
    return {frozenset((edge.a, edge.b)): stability.edge(edge.a, edge.b) for edge in result.pag.edges()}


def reliability_lines(result: Discovery, a: str, b: str) -> Iterator[str]:
    """Say how reliable is what is said of a pair: what recurs, and which rejected separations it rests on."""
    if result.resamples is not None:
        yield from _recurrence(result, result.resamples, a, b)
    if result.check is not None:
        yield from _rejections(result, result.check, a, b)


def _recurrence(result: Discovery, counts: Stability, a: str, b: str) -> Iterator[str]:
    edge = counts.edge(a, b)
    yield f"Edge: in {percent(edge)} of {counts.replicates:,} resamples"
    for near, far in ((b, a), (a, b)) if edge else ():
        if (source := by_statements(result, near, far)) is not None:
            said = _from_statements(result, near, far, source)
            yield f"  mark at {readable(far)}: {_kind(result, near, far)}, {said}"
            continue
        marks = sorted(counts.mark(near, far).items(), key=lambda mark: -mark[1])
        shown = ", ".join(f"{word} {percent(share)}" for word, share in marks if share)
        yield f"  mark at {readable(far)} in these: {shown}{_worth(result, near, far)}"
    given = f" ({GIVEN})" if result.known is not None else ""
    for x, y in ((a, b), (b, a)):
        causes, never = counts.causes_share(x, y), counts.not_causes_share(x, y)
        if (causes or never) and not _is_stated(result, x, y):
            shares = f"in {percent(causes)} of resamples, and does not cause it in {percent(never)}{given}"
            yield f"  {readable(x)} causes {readable(y)} {shares}"


def _is_stated(result: Discovery, a: str, b: str) -> bool:
    """Tell whether it was stated that a causes b, or that it does not."""
    x, y = result.pag.index(a), result.pag.index(b)
    return result.known is not None and bool(result.known.causes[x, y] or result.known.never[x, y])


def _from_statements(result: Discovery, near: str, far: str, source: str) -> str:
    """Return what to say in place of a share of resamples, each of which was learned with the statements."""
    grade = result.grade(near, far)
    if source == "stated":
        return "as you stated"
    return of_statements(grade) if grade in ("firm", "likely") else f"from your statements, {grade}"


def _kind(result: Discovery, near: str, far: str) -> str:
    return "arrowhead" if result.pag.marks[result.pag.index(near), result.pag.index(far)] == ARROW else "tail"


def _worth(result: Discovery, near: str, far: str) -> str:
    """Return the grade of a mark, and how many such marks were right in the study of docs/grades.md."""
    grade = result.grade(near, far)
    kind = _kind(result, near, far)
    right = None if grade is None else WORTH["score" if result.mag is not None else "tests"].get((grade, kind))
    if right is None:
        return f" ({grade})" if grade else ""
    return f" ({grade}; {percent(right)} of {grade} {kind}s were right in simulated tables)"


def _rejections(result: Discovery, check: ModelCheck, a: str, b: str) -> Iterator[str]:
    if result.pag.edge(a, b) is None:
        for one in check.in_doubt:
            if {one.x, one.y} == {a, b}:
                yield f"The data reject that {separation(one)} are independent (p = {one.pvalue:.2g})"
        return
    for near, far in ((b, a), (a, b)):
        for one in rests_on_rejected(result, near, far):
            why = f"{separation(one)} (p = {one.pvalue:.2g})"
            yield f"The mark at {readable(far)} rests on an independence that the data reject: {why}"


# --- marks that rest on what the data reject --------------------------------------------------------------


def rejected_pairs(result: Discovery) -> dict[tuple[int, int], frozenset[frozenset[int]]]:
    """Return, for each end of an edge with a mark that rests on rejected separations, the pairs of these."""
    if result.check is None or not result.check.in_doubt:
        return {}
    at = result.pag.index
    return result.explainer.resting_on(frozenset(frozenset((at(one.x), at(one.y))) for one in result.check.in_doubt))


def rests_on_rejected(result: Discovery, a: str, b: str) -> tuple[Implied, ...]:
    """Return the separations that the data reject and the mark at b on the edge a-b rests on, the worst first."""
    if result.check is None or not result.check.in_doubt:
        return ()
    at = result.pag.index
    pairs = result.rejected.get((at(a), at(b)), frozenset())
    return tuple(one for one in result.check.in_doubt if frozenset((at(one.x), at(one.y))) in pairs)


def unfounded(result: Discovery, a: str, b: str) -> str | None:
    """Return in words that marks of an edge rest on rejected separations; None where none does."""
    rejected = list(dict.fromkeys((*rests_on_rejected(result, b, a), *rests_on_rejected(result, a, b))))
    if not rejected:
        return None
    more = f" and {len(rejected) - 1} more" if len(rejected) > 1 else ""
    pair = f"{readable(rejected[0].x)}, {readable(rejected[0].y)}"
    return f"a mark rests on an independence that the data reject: {pair}{more}"


def doubts_of(result: Discovery) -> dict[frozenset[str], tuple[Doubt, ...]]:
    """Return, by pair, why edges are less sure than others: undecided, contested, or with unfounded marks."""
    doubts = ((frozenset((edge.a, edge.b)), doubts_about(result, edge.a, edge.b)) for edge in result.pag.edges())
    return {pair: why for pair, why in doubts if why}


def doubts_about(result: Discovery, a: str, b: str) -> tuple[Doubt, ...]:
    """Return why one edge is less sure than others; a page shows few edges, and there may be a million."""
    doubts = result.tested_doubts.get(frozenset((a, b)), ())
    is_contested = any(doubt.kind == "contested" for doubt in doubts)
    if is_contested or not result.explainer.is_undecided(result.pag.index(a), result.pag.index(b)):
        return doubts
    return (Doubt("undecided", UNDECIDED), *doubts)


def tested_doubts(result: Discovery) -> dict[frozenset[str], tuple[Doubt, ...]]:
    """Return, by pair, the doubts that come from tests: edges that are contested, or with unfounded marks."""
    doubts: dict[frozenset[str], tuple[Doubt, ...]] = {}
    for a, b, given, p in result.contested:
        doubts[frozenset((a, b))] = (Doubt("contested", disagreement(given, p, result.alpha)),)
    names = result.pag.names
    for ends in dict.fromkeys(map(frozenset, result.rejected)):
        a, b = (names[v] for v in sorted(ends))
        why = unfounded(result, a, b)
        if why is not None and result.pag.edge(a, b) is not None:
            pair = frozenset((a, b))
            doubts[pair] = (*doubts.get(pair, ()), Doubt("rejected", why))
    return doubts


# --- files ------------------------------------------------------------------------------------------------


def encode_reliability(result: Discovery) -> dict[str, Any]:
    """Return the parts of a result file on how reliable it is; a result without has neither."""
    parts = {} if result.stability is None else {"stability": encode_stability(result.stability)}
    parts |= encode_grounds(result.grounds, result.pag)
    return parts | ({} if result.check is None else {"check": encode_check(result.check, result.pag)})


def encode_check(check: ModelCheck, pag: PAG) -> dict[str, Any]:
    """Return a check as plain data; of each separation the positions of the pair and of the set, and the p-value."""
    at = pag.index
    implied = [[at(one.x), at(one.y), sorted(map(at, one.given)), one.pvalue] for one in check.implied]
    counts = {"pairs": check.pairs, "source": check.source, "untestable": check.untestable}
    cut = {} if check.cut is Cut.NONE else {"cut": check.cut.value}
    return {"level": check.level, **counts, **cut, "implied": implied}


def decode_check(plain: Mapping[str, Any], pag: PAG) -> ModelCheck:
    """Return the check of plain data: the pairs must be without an edge in the graph."""
    implied = []
    for x, y, given, pvalue in map(items, items(plain["implied"])):
        pair, members = (whole(x), whole(y)), frozenset(map(whole, items(given)))
        if pair[0] == pair[1] or members & {*pair} or pag.marks[pair]:
            raise ValueError("a separation is of two variables without an edge, by others")
        a, b = (pag.names[v] for v in pair)
        implied.append(Implied(a, b, frozenset(pag.names[v] for v in members), probability(pvalue)))
    source = plain["source"]
    if source not in ("graph", "search"):
        raise ValueError(f"the sets come from the graph or the search, not {source!r}")
    counts = (whole(plain["pairs"]), whole(plain["untestable"]))
    if len(implied) + counts[1] > counts[0] or [one.pvalue for one in implied] != sorted(i.pvalue for i in implied):
        raise ValueError("the separations are more than the pairs, or not in order")
    cut = Cut(plain.get("cut", Cut.NONE.value))
    return ModelCheck(probability(plain["level"]), tuple(implied), counts[0], source, counts[1], cut)


def decode_reliability(content: Mapping[str, Any], pag: PAG) -> dict[str, Any]:
    """Return how reliable a result is; results without have neither part."""
    parts: dict[str, Any] = {}
    if "stability" in content:
        parts["stability"] = read_part(content, "stability", lambda v: decode_stability(v, pag.names))
    parts["later_grounds"] = Deferred.of(decode_grounds(content, pag))
    if "check" in content:
        parts["later_check"] = Deferred.of(read_part(content, "check", lambda v: decode_check(v, pag)))
    return parts
