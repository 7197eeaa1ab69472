"""What a result says of what was known beforehand: where its marks come from, and which statements the tests deny."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from lmarvel.errors import GraphError
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.knowledge import Known
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.stated import K0
from lmarvel.result.trace import Adjacent, Overruled, Separated, StatementCost, but_separated
from lmarvel.text import readable

if TYPE_CHECKING:
    from lmarvel.result.discovery import Discovery


class Conflict(NamedTuple):
    """A statement that was kept though the tests contradict it.

    Attributes
    ----------
    a, b : str
        The two variables.
    statement : str
        What was said of them, in words.
    given : tuple of str, optional
        The set of the test that speaks against it: given it the two are independent though said to be adjacent; or it
        came closest to separating them though they were said not to be; or it separates two variables with a third, at
        which the statement puts a tail, between them. None where no single test does.
    pvalue : float, optional
        Its p-value.
    loss : float, optional
        By how much the statement worsens the score; only searches by score tell. ``a`` and ``b`` are empty where the
        statement is not on a pair.
    """

    a: str
    b: str
    statement: str
    given: tuple[str, ...] | None
    pvalue: float | None
    loss: float | None = None


Denied = tuple[int, int, str, frozenset[int] | None, float | None]  # a pair, a statement, the test that speaks


def source_of(result: Discovery, a: str, b: str) -> str | None:
    """Return where the mark at b on the edge a-b comes from; None at a circle, or where nothing was known.

    Examples
    --------
    >>> from lmarvel import DAG, Knowledge, LMarvel, MSeparation
    >>> truth = MSeparation(DAG.from_edges("A --> B", "B --> C"))
    >>> found = LMarvel(test=truth, knowledge=Knowledge(tiers=[["A"], ["B", "C"]])).fit().result_
    >>> print(found.pag, found.source("A", "B"), found.source("B", "C"), sep="\\n")
    nodes: A B C
    A o-> B
    B --> C
    knowledge
    together
    """
    x, y = result.pag.index(a), result.pag.index(b)
    mark = result.pag.marks[x, y]
    if result.known is None or result.unaided is None or mark <= CIRCLE:
        return None
    stated = result.known.mark(x, y) == mark
    if result.unaided.marks[x, y] == mark:
        return "both" if stated else "data"
    return "knowledge" if stated else "together"


def by_statements(result: Discovery, a: str, b: str) -> Literal["stated", "follows"] | None:
    """Return whether the mark at b on the edge a-b was stated, or holds only with what was; None if the data give it.

    What resamples say of such a mark they say given the statements, with which each of them was learned.

    Examples
    --------
    >>> from lmarvel import DAG, Knowledge, LMarvel, MSeparation
    >>> truth = MSeparation(DAG.from_edges("A --> B", "B --> C"))
    >>> found = LMarvel(test=truth, knowledge=Knowledge(tiers=[["A"], ["B", "C"]])).fit().result_
    >>> by_statements(found, "A", "B"), by_statements(found, "B", "C")
    ('stated', 'follows')
    """
    source = source_of(result, a, b)
    if source in ("knowledge", "both"):
        return "stated"
    return "follows" if source == "together" else None


def count_sources(result: Discovery) -> dict[str, int]:
    """Return how many marks come from where; nothing where nothing was known."""
    if result.known is None:
        return {}
    ends = ((a, b) for edge in result.pag.edges() for a, b in ((edge.b, edge.a), (edge.a, edge.b)))
    return dict(Counter(where for end in ends if (where := source_of(result, *end)) is not None))


def conflicts_of(result: Discovery) -> tuple[Conflict, ...]:
    """Return the statements that the tests contradict.

    Examples
    --------
    >>> from lmarvel import DAG, Knowledge, LMarvel, MSeparation
    >>> truth = MSeparation(DAG.from_edges("A --> B", "B --> C"))
    >>> LMarvel(test=truth, knowledge=Knowledge(edges=[("A", "C")])).fit().result_.conflicts[0]
    Conflict(a='A', b='C', statement='you stated that A and C are adjacent', given=('B',), pvalue=1.0, loss=None)
    """
    if result.known is None:
        return ()
    names, conflicts = result.pag.names, dict[tuple[int, int, str], Conflict]()
    for x, y, statement, given, p in chain(*(look(result, result.known) for look in (_overruled, _refused, _lost))):
        sepset = None if given is None else tuple(sorted(names[v] for v in given))
        key = min(x, y), max(x, y), statement
        conflicts.setdefault(key, Conflict(names[key[0]], names[key[1]], statement, sepset, p))
    return (*conflicts.values(), *_against_the_score(result, result.known))


def costs_of(result: Discovery) -> dict[str, float]:
    """Return by how much each statement alone worsens the score, "" all together; nothing where nobody looked."""
    return {e.statement: e.loss for e in but_separated(result.trace) if isinstance(e, StatementCost)}


def _price_of_edge(result: Discovery) -> float:
    """Return what an edge costs the score: Lift says so, and M3HC has that of Lift by default."""
    chose = result.evidence.chose
    return 2 * math.log(result.settings["rows"]) if chose is None else chose.price


def _against_the_score(result: Discovery, known: Known) -> Iterator[Conflict]:
    """Iterate over the statements that cost the score more than an edge does."""
    costs = costs_of(result)
    price = _price_of_edge(result) if costs else 0.0
    for statement, about in known.sources:
        loss = costs.get(str(statement), 0.0)
        if loss <= price:
            continue
        pairs = np.argwhere(np.triu(about | about.T)).tolist()
        if len(pairs) != 1:
            yield Conflict("", "", f"you stated '{statement}'", None, None, loss)
            continue
        x, y = pairs[0]
        pair, names = frozenset((x, y)), result.pag.names
        test = result.evidence.edges.get(pair) or result.evidence.gaps.get(pair)
        given = None if test is None else tuple(sorted(names[v] for v in test.given))
        p = None if test is None else test.pvalue
        yield Conflict(names[x], names[y], f"you stated '{statement}'", given, p, loss)
    if costs.get("", 0.0) > price and not any(costs.get(str(one), 0.0) > price for one, _ in known.sources):
        yield Conflict("", "", "your statements together", None, None, costs[""])


def _overruled(result: Discovery, known: Known) -> Iterator[Denied]:
    for e in but_separated(result.trace):
        if isinstance(e, Overruled):
            yield e.x, e.y, known.why_pair(e.x, e.y), e.strongest, e.pvalue


def _refused(result: Discovery, known: Known) -> Iterator[Denied]:
    """Iterate over the marks that a rule wanted where a statement had put another."""
    rules = result.rules
    stated = {(x, y) for e in rules if e.rule == K0.name for x, y, _ in e.written}
    tests = {frozenset((e.x, e.y)): e for e in result.trace if isinstance(e, Separated)}
    for use in rules:
        for x, y, _ in use.refused:
            if (x, y) in stated:
                test = tests.get(frozenset((use.nodes[0], use.nodes[-1]))) if use.rule == "R0" else None
                speaks = (None, None) if test is None else (test.sepset, test.pvalue)
                yield x, y, known.why_mark(x, y), *speaks


def _lost(result: Discovery, known: Known) -> Iterator[Denied]:
    """Iterate over the marks that the data alone give otherwise than a statement."""
    marks = result.pag.marks
    for x, y in np.argwhere(marks > CIRCLE).tolist():
        alone = CIRCLE if result.unaided is None else result.unaided.marks[x, y]
        if known.mark(x, y) != CIRCLE and alone > CIRCLE and alone != marks[x, y]:
            yield x, y, known.why_mark(x, y), None, None


def encode_knowledge(result: Discovery) -> dict[str, Any]:
    """Return the parts of a result file that only a result with knowledge has."""
    if result.knowledge is None or result.unaided is None:
        return {}
    conflicts = [
        {
            "pair": [c.a, c.b],
            "statement": c.statement,
            "given": c.given and list(c.given),
            "pvalue": c.pvalue,
            "loss": c.loss,
        }
        for c in result.conflicts
    ]
    return {
        "knowledge": result.knowledge.to_dict(),
        "unaided": [str(edge) for edge in result.unaided.edges()],
        "sources": [[e.a, e.b, result.source(e.b, e.a), result.source(e.a, e.b)] for e in result.pag.edges()],
        "conflicts": conflicts,
    }


def origin_of(result: Discovery, a: str, b: str) -> str:
    """Return where the edge between two variables and its marks came from."""
    i, j = result.pag.index(a), result.pag.index(b)
    if i == j:
        raise GraphError(f"an edge joins two variables, and {a} was given twice")
    return "; ".join(_origins(result, i, j))


def _origins(result: Discovery, i: int, j: int) -> Iterator[str]:
    names = [readable(name) for name in result.pag.names]
    for e in but_separated(result.trace):
        if isinstance(e, Adjacent) and {e.x, e.y} == {i, j}:
            yield f"no separating set in the {e.phase} search"
        elif isinstance(e, RuleApplication):
            for x, y, mark in e.written:
                if {x, y} == {i, j}:
                    kind = {ARROW: "arrowhead", TAIL: "tail"}[mark]
                    where = ", ".join(names[v] for v in e.nodes)
                    yield f"{kind} at {names[y]} by {e.rule} on {where}"
