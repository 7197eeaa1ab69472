"""How firm a result is: what recurs in a bootstrap, and which of its separations the data reject."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from lmarvel.errors import ParameterError
from lmarvel.graph.kinds import PAG
from lmarvel.result.check import Implied, ModelCheck, separation
from lmarvel.result.encoding import items, probability, text, whole
from lmarvel.result.explanation import Explainer
from lmarvel.result.frequencies import Stability, percent
from lmarvel.result.store import read_part
from lmarvel.text import readable

_MATRICES = 6  # of counts, see Stability.counts
CLAIMED = 0.5  # the share of draws from which on a claim that the graph itself does not make is told


class LaterCheck:
    """A check of the model that is made when somebody looks; it travels, and is compared, as what it found.

    Examples
    --------
    >>> later = LaterCheck(lambda: ModelCheck(0.01, (), pairs=0))
    >>> later.made.pairs, later == LaterCheck.of(ModelCheck(0.01, (), pairs=0))
    (0, True)
    """

    def __init__(self, make: Callable[[], ModelCheck]) -> None:
        self._make = make

    @classmethod
    def of(cls, check: ModelCheck) -> LaterCheck:
        """Return a check that was made."""
        return cls(lambda: check)

    @cached_property
    def made(self) -> ModelCheck:
        """The check."""
        found = self._make()
        self._make = lambda: found  # which lets go of the data
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LaterCheck) and self.made == other.made

    def __hash__(self) -> int:
        return hash(self.made)

    def __repr__(self) -> str:
        return repr(self.made)

    def __reduce__(self) -> tuple[Any, ...]:
        return LaterCheck.of, (self.made,)


class Firm:
    """What a result says of how firm it is."""

    pag: PAG
    stability: Stability | None
    later_check: LaterCheck | None

    @cached_property
    def _explainer(self) -> Explainer:
        """What knows which records a mark rests on; one for a graph alone, where there are none."""
        return Explainer(self.pag, {}, (), {})

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_explainer"}  # it is made again

    @property
    def check(self) -> ModelCheck | None:
        """The separations that the graph implies, tested on the data; None where there was no table to test them on.

        Examples
        --------
        >>> from lmarvel import LMarvel
        >>> from lmarvel.datasets import CARS
        >>> print(LMarvel().fit(CARS).result_.check)                                         # doctest: +ELLIPSIS
        The data reject ... of the 8 separations that ...
        """
        return None if self.later_check is None else self.later_check.made

    def stable(self, share: float = 0.8) -> PAG:
        """Return what recurs in at least this share of the draws: edges, and on them marks; other marks are circles.

        It is a summary, to be read edge by edge, and need not be the PAG of any class: two variables without an edge in
        it are not thereby independent given anything.

        Examples
        --------
        >>> from lmarvel import LMarvel
        >>> from lmarvel.datasets import CARS
        >>> found = LMarvel().fit(CARS, bootstrap=100, seed=1).result_
        >>> found.stable(0.9).n_edges <= found.stable(0.5).n_edges <= found.pag.n_edges
        True
        """
        if self.stability is None:
            raise ParameterError(
                "this result does not tell what recurs: learn it with a bootstrap, fit(data, bootstrap=200)"
            )
        return self.stability.stable(self.pag, share)

    def edge_shares(self) -> dict[frozenset[str], float] | None:
        """Return in which share of the draws each edge recurs, by pair; None without a bootstrap."""
        counted = self.stability
        if counted is None:
            return None
        return {frozenset((edge.a, edge.b)): counted.edge(edge.a, edge.b) for edge in self.pag.edges()}

    # --- words ------------------------------------------------------------------------------------------

    def recurring(self, a: str, b: str) -> str | None:
        """Return how often the edge recurs, and where it does its marks at a and at b; None without a bootstrap."""
        if self.stability is None or self.pag.edge(a, b) is None:
            return None
        shares = self.stability.of_marks(self.pag.marks)
        x, y = self.pag.index(a), self.pag.index(b)
        edge, near, far = self.stability.edge(a, b), float(shares[y, x]), float(shares[x, y])
        return f"{percent(edge)}, marks {percent(near)} and {percent(far)}"

    def claims(self, least: float = CLAIMED) -> list[tuple[float, str]]:
        """Return what of causes recurs in at least this share of the draws, in words, the most frequent first."""
        counted = self.stability
        if counted is None:
            return []
        found = []
        for counts, words in ((counted.causes, "causes"), (counted.not_causes, "does not cause")):
            for x, y in np.argwhere(counts >= max(least * counted.replicates, 1)).tolist():
                a, b = readable(self.pag.names[x]), readable(self.pag.names[y])
                found.append((float(counts[x, y] / counted.replicates), f"{a} {words} {b}"))
        return sorted(found, key=lambda claim: (-claim[0], claim[1]))

    def firmness(self, a: str, b: str) -> tuple[str, ...]:
        """Return how firm is what is said of a pair: what recurs, and which rejected separations it rests on."""
        return (*self._recurs(a, b), *self._rejects(a, b))

    def _recurs(self, a: str, b: str) -> Iterator[str]:
        counted = self.stability
        if counted is None:
            return
        edge, of = counted.edge(a, b), f"{counted.replicates:,} draws"
        yield f"Recurs: an edge in {percent(edge)} of {of}"
        for near, far in ((b, a), (a, b)) if edge else ():
            marks = sorted(counted.mark(near, far).items(), key=lambda mark: -mark[1])
            shown = ", ".join(f"{word} {percent(share)}" for word, share in marks if share)
            yield f"  at {readable(far)}, where there is one: {shown}"
        for x, y in ((a, b), (b, a)):
            causes, never = counted.causes_share(x, y), counted.not_causes_share(x, y)
            if causes or never:
                yield (
                    f"  {readable(x)} causes {readable(y)} in {percent(causes)}, and does not cause it in"
                    f" {percent(never)}"
                )

    def _rejects(self, a: str, b: str) -> Iterator[str]:
        if self.check is None:
            return
        if self.pag.edge(a, b) is None:
            for one in self.check.failed:
                if {one.x, one.y} == {a, b}:
                    yield f"The data reject that {separation(one)} are independent (p = {one.pvalue:.2g})"
            return
        for near, far in ((b, a), (a, b)):
            for one in self.rests_on_rejected(near, far):
                yield (
                    f"The mark at {readable(far)} rests on a separation that the data reject: {separation(one)}"
                    f" (p = {one.pvalue:.2g})"
                )

    # --- marks that rest on what the data reject --------------------------------------------------------

    def rests_on_rejected(self, a: str, b: str) -> tuple[Implied, ...]:
        """Return the separations that the data reject and the mark at b on the edge a-b rests on, the worst first."""
        if self.check is None or not self.check.failed:
            return ()
        pairs = self._rejected.get((self.pag.index(a), self.pag.index(b)), frozenset())
        at = self.pag.index
        return tuple(one for one in self.check.failed if frozenset((at(one.x), at(one.y))) in pairs)

    @cached_property
    def _rejected(self) -> Mapping[tuple[int, int], frozenset[frozenset[int]]]:
        """For each end of an edge with a mark, the rejected pairs that it rests on."""
        assert self.check is not None
        failed = frozenset(frozenset((self.pag.index(one.x), self.pag.index(one.y))) for one in self.check.failed)
        return self._explainer.resting_on(failed)

    def unfounded(self, a: str, b: str) -> str | None:
        """Return in words that marks of an edge rest on rejected separations; None where none does."""
        found = dict.fromkeys((*self.rests_on_rejected(b, a), *self.rests_on_rejected(a, b)))
        if not found:
            return None
        first = next(iter(found))
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        return f"a mark rests on a separation that the data reject: {readable(first.x)}, {readable(first.y)}{more}"

    def _doubted(self) -> dict[frozenset[str], str]:
        """Return what stands beside edges for other reasons."""
        return {}

    @cached_property
    def doubts(self) -> dict[frozenset[str], str]:
        """What stands beside edges that are less sure than others, by pair: undecided, contested, or unfounded."""
        found = self._doubted()
        for pair, why in self._unfounded_edges().items():
            found[pair] = f"{found[pair]}; {why}" if pair in found else why
        return found

    def _unfounded_edges(self) -> dict[frozenset[str], str]:
        """Return, for each edge with marks that rest on rejected separations, that they do."""
        if self.check is None or not self.check.failed:
            return {}
        names = self.pag.names
        pairs = dict.fromkeys(frozenset(end) for end in self._rejected)
        told = (
            (frozenset(names[v] for v in pair), self.unfounded(*(names[v] for v in sorted(pair)))) for pair in pairs
        )
        return {pair: why for pair, why in told if why is not None and self.pag.edge(*pair) is not None}

    # --- files ------------------------------------------------------------------------------------------

    def _encode_firmness(self) -> dict[str, Any]:
        """Return the parts of a result file on how firm it is; a result without has neither."""
        found = {} if self.stability is None else {"stability": encode_stability(self.stability)}
        return found | ({} if self.check is None else {"check": encode_check(self.check, self.pag)})


def encode_stability(counted: Stability) -> dict[str, Any]:
    """Return frequencies as plain data: the counts are packed, since there are six for each pair.

    Examples
    --------
    >>> counted = Stability.of([PAG.from_edges("A o-> B")])
    >>> decode_stability(encode_stability(counted), ("A", "B")) == counted
    True
    """
    packed = base64.b64encode(zlib.compress(counted.counts.astype("<i4").tobytes(), 9)).decode("ascii")
    return {"replicates": counted.replicates, "drawn": counted.drawn, "seed": counted.seed, "counts": packed}


def decode_stability(plain: Mapping[str, Any], names: tuple[str, ...]) -> Stability:
    """Return the frequencies of plain data, checked."""
    size = _MATRICES * len(names) ** 2 * 4
    unpacking = zlib.decompressobj()
    try:
        raw = unpacking.decompress(base64.b64decode(text(plain["counts"]), validate=True), size + 1)
    except zlib.error as error:
        raise ValueError(f"the counts cannot be unpacked: {error}") from None
    if len(raw) != size or not unpacking.eof:
        raise ValueError("the counts are not those of pairs of these variables")
    counts = np.frombuffer(raw, dtype="<i4").astype(np.int32).reshape(_MATRICES, len(names), len(names))
    counts.setflags(write=False)
    return Stability.from_counts(names, counts, *(whole(plain[part]) for part in ("replicates", "drawn", "seed")))


def encode_check(check: ModelCheck, pag: PAG) -> dict[str, Any]:
    """Return a check as plain data; of each separation the positions of the pair and of the set, and the p-value."""
    at = pag.index
    implied = [[at(one.x), at(one.y), sorted(map(at, one.given)), one.pvalue] for one in check.implied]
    told = {"level": check.level, "pairs": check.pairs, "source": check.source, "untestable": check.untestable}
    return told | {"implied": implied}


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
    return ModelCheck(probability(plain["level"]), tuple(implied), counts[0], source, counts[1])


def decode_firmness(content: Mapping[str, Any], pag: PAG) -> dict[str, Any]:
    """Return how firm a result is; files from before, and results without, have neither part."""
    found: dict[str, Any] = {}
    if "stability" in content:
        found["stability"] = read_part(content, "stability", lambda v: decode_stability(v, pag.names))
    if "check" in content:
        found["later_check"] = LaterCheck.of(read_part(content, "check", lambda v: decode_check(v, pag)))
    return found
