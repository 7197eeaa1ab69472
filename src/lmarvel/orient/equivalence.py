"""From a MAG to the PAG of its Markov equivalence class and back, and whether a PAG is one at all.

The rules R0-R10 are sound and complete (Zhang 2008), so the PAG that they give identifies the class: two
MAGs are Markov equivalent exactly if their PAGs are equal. For the way back, turn ``o->`` and ``--o`` into
``-->`` and orient the circle edges, which form a chordal graph, as a DAG without new unshielded colliders.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.engine import names as compiled_names
from lmarvel.engine import run as compiled
from lmarvel.engine.legality import judge_mag, judge_pag
from lmarvel.engine.run import is_built, orient_graph
from lmarvel.errors import GraphError
from lmarvel.graph.bitsets import bits, members
from lmarvel.graph.kinds import (
    DAG,
    MAG,
    PAG,
    Fault,
    describe_fault,
    find_not_ancestral,
    find_not_maximal,
    find_unsimplicial,
    maximum_cardinality_order,
)
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL, arrow
from lmarvel.graph.mixed import MixedGraph
from lmarvel.knowledge.closure import Known, reach
from lmarvel.knowledge.contradictions import known_of
from lmarvel.knowledge.statements import Knowledge
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.worklist import Oriented, orient

Matrix = NDArray[Any]


def orient_mag(mag: MixedGraph, selection: bool = True, known: Known | None = None) -> Oriented:
    """Orient a skeleton by rules alone, asking the MAG (or the PAG) only which triples are colliders."""
    marks = mag.marks

    def is_collider(v: int, a: int, b: int, c: int) -> bool:
        return bool(marks[a, b] == ARROW and marks[c, b] == ARROW)

    edges = ((x, y) for x, links in enumerate(mag.links) for y, _, _ in links if x < y)
    return orient(len(mag), edges, is_collider, selection, known=known, of_mag=True)


def uses_of_rules(mag: MixedGraph, selection: bool = True, known: Known | None = None) -> Sequence[RuleApplication]:
    """Return the log of :func:`orient_mag`, in less time."""
    if known is not None or not is_built():
        return orient_mag(mag, selection, known).log
    return applications(*compiled.uses_of_rules(mag.marks, selection), range(len(mag)))


def applications(rules: Matrix, uses: Matrix, place: Sequence[int]) -> list[RuleApplication]:
    """Return uses of rules from the arrays of the engine as records, where variable v stands at ``place[v]``."""
    names, parts = compiled_names("rules"), uses.tolist()

    def marks(at: int, n: int) -> tuple[tuple[int, int, int], ...]:
        ends = (parts[i : i + 3] for i in range(at, at + 3 * n, 3))
        return tuple((place[x], place[y], mark) for x, y, mark in ends)

    return [
        RuleApplication(names[rule], tuple(place[v] for v in parts[at : at + n]), marks(*rest[:2]), marks(*rest[2:]))
        for rule, at, n, *rest in rules.tolist()
    ]


def _oriented(mag: MixedGraph, selection: bool = True) -> Matrix:
    """Return the marks of :func:`orient_mag`, in less time: nobody asks by which rules."""
    return orient_graph(mag.marks, selection) if is_built() else orient_mag(mag, selection).marks


def mag_to_pag(mag: MAG | DAG, selection: bool = True, *, knowledge: Knowledge | None = None) -> PAG:
    """Return the PAG: the marks that every MAG Markov equivalent to this one shares.

    With ``knowledge`` only the MAGs count that it leaves. All their common marks are found for tiers, exogenous
    variables, no selection and no latents; for other statements nearly all are, and each one found is right
    (docs/knowledge.md has the figures).

    Parameters
    ----------
    mag : MAG or DAG
        A DAG is read as the MAG that it is.
    selection : bool
        False switches R5-R7 off, which read marks from selection; only for graphs known to have none.
    knowledge : Knowledge, optional
        What is known beforehand. A class that it contradicts is refused.

    Examples
    --------
    >>> from lmarvel import MAG, mag_to_pag
    >>> print(mag_to_pag(MAG.from_edges("A --> C", "B <-> C", "C --> D")))
    nodes: A C B D
    A o-> C
    B o-> C
    C --> D
    >>> from lmarvel import Knowledge
    >>> print(mag_to_pag(MAG.from_edges("A --> B", "B --> C"), knowledge=Knowledge(tiers=[["A"], ["B", "C"]])))
    nodes: A B C
    A o-> B
    B --> C
    """
    if not isinstance(mag, MAG | DAG):
        raise GraphError(f"mag_to_pag needs a MAG or DAG, not a {type(mag).__name__}")
    if knowledge is None:
        return PAG._trusted(mag.names, _oriented(mag, selection))
    known = known_of(knowledge, mag.names)
    oriented = orient_mag(mag, selection, known)
    pag = PAG._trusted(mag.names, oriented.marks)
    plain = PAG._trusted(mag.names, _oriented(mag, selection and known.selection))
    reason = explain_unfit(pag, known) or _first_refusal(pag, oriented) or _new_collider(mag, pag)
    reason = reason or _first_loss(plain, pag)
    if reason:
        raise GraphError(f"no MAG with the class of this one fits what is known: {reason}")
    return pag


def markov_equivalent(a: MAG | DAG, b: MAG | DAG) -> bool:
    """Tell whether two MAGs (or DAGs) over the same nodes have the same m-separations.

    Examples
    --------
    >>> from lmarvel import MAG
    >>> markov_equivalent(MAG.from_edges("A --> B"), MAG.from_edges("A <-> B"))
    True
    """
    if set(a.names) != set(b.names):
        odd = sorted(set(a.names) ^ set(b.names))
        raise GraphError(f"only graphs over the same nodes can be compared; {', '.join(odd)} is in one of them only")
    return mag_to_pag(a) == mag_to_pag(b)


def pag_to_mag(pag: PAG) -> MAG:
    """Return a MAG of the class that the PAG stands for; an illegal PAG raises, and the message says why.

    Examples
    --------
    >>> from lmarvel import PAG, pag_to_mag
    >>> print(pag_to_mag(PAG.from_edges("A o-o B", "B o-o C")))
    nodes: A B C
    A --> B
    B --> C
    """
    if not isinstance(pag, PAG):
        raise GraphError(f"pag_to_mag needs a PAG, not a {type(pag).__name__}")
    reason, mag = _member(pag)
    if mag is None:
        raise GraphError(f"no MAG has this PAG: {reason}")
    return mag


def explain_invalid(graph: MixedGraph, knowledge: Knowledge | None = None) -> str | None:
    """Return why a graph is not what it claims to be, or None if it is.

    With ``knowledge`` a DAG or MAG must fit it. A PAG must have the marks that follow from it and from its own
    adjacencies and colliders.

    A DAG or MAG is valid by construction. A PAG is legal if some MAG has exactly this PAG; PAGs learned
    from finite samples often are not, whatever the program. A plain mixed graph is read as a MAG.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> explain_invalid(PAG.from_edges("A o-> C", "B o-> C", "C o-o D"))
    'C o-o D should be C --> D in every MAG with these adjacencies and colliders'
    >>> from lmarvel import Knowledge
    >>> explain_invalid(PAG.from_edges("A o-o B"), Knowledge(tiers=[["A"], ["B"]]))
    'A o-o B should be A o-> B: you stated that nothing in tier 2 causes tier 1'
    """
    known = None if knowledge is None else known_of(knowledge, graph.names)
    unfit = None if known is None else explain_unfit(graph, known)
    if unfit:
        return unfit
    if isinstance(graph, PAG) and known is None:
        return _member(graph)[0] if graph.n_edges else None  # without an edge no mark is wrong
    if isinstance(graph, PAG) and known is not None:
        return _explain_informed(graph, known)
    fault = judge_mag(graph.marks) if is_built() else find_not_ancestral(graph) or find_not_maximal(graph)
    return None if fault is None else describe_fault(graph, fault)


def explain_unfit(graph: MixedGraph, known: Known) -> str | None:
    """Return which statement a graph breaks by an edge, a gap, a mark or a path; None if by none."""
    names, marks = graph.names, graph.marks
    for x, y in np.argwhere(known.required & (marks == 0)).tolist():
        return f"{names[x]} and {names[y]} have no edge: {known.why_pair(x, y)}"
    for x, y in np.argwhere(known.forbidden & (marks != 0)).tolist():
        return f"{names[x]} and {names[y]} have an edge: {known.why_pair(x, y)}"
    for x, y in np.argwhere(marks).tolist():
        wanted = known.mark(x, y)
        if wanted not in (CIRCLE, marks[x, y]):
            right = marks.copy()
            right[x, y] = wanted
            return f"{_edge(names, marks, x, y)} should be {_edge(names, right, x, y)}: {known.why_mark(x, y)}"
        if marks[x, y] == marks[y, x] == TAIL and not known.selection:
            return f"{_edge(names, marks, x, y)} means selection: you stated that there is no selection"
        if marks[x, y] == marks[y, x] == ARROW and known.unconfounded[x, y]:
            return f"{_edge(names, marks, x, y)} means a latent cause: you stated that there are no latent causes"
    return _explain_paths(graph, known)


def _explain_paths(graph: MixedGraph, known: Known) -> str | None:
    """Return which statement on variables that are not adjacent a path breaks, or the lack of one."""
    names, marks = graph.names, graph.marks
    directed = (marks == ARROW) & (marks.T == TAIL)
    undirected = (marks == TAIL) & (marks.T == TAIL)
    anterior = reach(directed | undirected)
    for a, b in np.argwhere(anterior & known.never & ~np.eye(len(names), dtype=bool)).tolist():
        return f"a path leads from {names[a]} to {names[b]}: {known.why_never(a, b)}"
    possible = reach((marks != 0) & (marks != TAIL) & (marks.T != ARROW))
    for a, b in np.argwhere(known.causes & ~possible).tolist():
        return f"no directed path can lead from {names[a]} to {names[b]}: {known.why_causes(a, b)}"
    return None


def _explain_informed(pag: PAG, known: Known) -> str | None:
    """Return why a PAG is not what its own colliders and what is known give."""
    plain = _oriented(pag)
    reason, _ = _member(PAG._trusted(pag.names, plain))
    if reason:
        return reason
    for x, y in np.argwhere((plain == TAIL) & (plain.T == TAIL)).tolist():
        if not known.selection:
            return f"{pag.names[x]} --- {pag.names[y]} in every MAG of the class: you stated that there is no selection"
    oriented = orient_mag(pag, known.selection, known)
    return _first_refusal(pag, oriented) or _first_difference(pag, PAG._trusted(pag.names, oriented.marks))


def _first_refusal(pag: PAG, oriented: Oriented) -> str | None:
    for use in oriented.log:
        for x, y, mark in use.refused:
            kind = "an arrowhead" if mark == ARROW else "a tail"
            edge = _edge(pag.names, oriented.marks, x, y)
            return f"{use.rule} wants {kind} at {pag.names[y]} on {edge}"
    return None


def _first_loss(plain: PAG, informed: PAG) -> str | None:
    """Return a mark of a class that what is known would turn into another."""
    for x, y in np.argwhere((plain.marks > CIRCLE) & (plain.marks != informed.marks)).tolist():
        return f"{plain.edge(x, y)} in all of them, and {informed.edge(x, y)} as is known"
    return None


def _new_collider(mag: MixedGraph, pag: PAG) -> str | None:
    """Return an unshielded collider of the PAG that the MAG does not have."""
    into, was = pag.marks == ARROW, mag.marks == ARROW
    for b in range(len(pag)):
        for a, c in combinations(np.flatnonzero(into[:, b]).tolist(), 2):
            if not pag.marks[a, c] and not (was[a, b] and was[c, b]):
                return f"{pag.names[b]} would have to be a collider between {pag.names[a]} and {pag.names[c]}"
    return None


def _edge(names: tuple[str, ...], marks: Matrix, x: int, y: int) -> str:
    if marks[x, y] != ARROW and marks[y, x] == ARROW:
        x, y = y, x
    return f"{names[x]} {arrow(int(marks[y, x]), int(marks[x, y]))} {names[y]}"


def _member(pag: PAG) -> tuple[str | None, MAG | None]:
    """Return (None, a MAG with this PAG) or (why there is none, None)."""
    if is_built():
        judged = judge_pag(pag.marks)
        fault, marks, right = judged.fault, judged.mag, judged.right
    else:
        fault, marks, right = find_member(pag)
    if fault is None:
        return None, MAG._trusted(pag.names, marks)
    if fault[0] == "circle cycle":
        cycle = ", ".join(pag.names[v] for v in fault[1])
        return f"the o-o edges among {cycle} hold a cycle of four or more without a chord", None
    if fault[0] == "wrong mark":
        return _first_difference(pag, PAG._trusted(pag.names, right)), None
    return describe_fault(MixedGraph._trusted(pag.names, marks), fault), None


def find_member(pag: PAG) -> tuple[Fault | None, Matrix, Matrix]:
    """Return why no MAG has this PAG or None, the marks of a MAG that may have it, and those that it should have."""
    marks = pag.marks.copy()
    circle = (marks == CIRCLE) & (marks.T == CIRCLE)
    component = [bits(np.flatnonzero(row).tolist()) for row in circle]
    left = find_unsimplicial(component)
    if left:
        return ("circle cycle", tuple(members(left))), marks, marks
    marks[~circle & (marks == CIRCLE) & (marks.T == ARROW)] = TAIL
    marks[~circle & (marks == CIRCLE) & (marks.T == TAIL)] = ARROW
    order = maximum_cardinality_order(component)
    for x, y in np.argwhere(circle):
        marks[x, y] = ARROW if order[x] < order[y] else TAIL
    candidate = MixedGraph._trusted(pag.names, marks)
    fault = find_not_ancestral(candidate) or find_not_maximal(candidate)
    if fault:
        return fault, marks, marks
    # First against the marks that follow from the PAG's own colliders: the candidate may have made a new one.
    for graph in (pag, candidate):
        right = orient_mag(graph).marks
        for x, y in np.argwhere(pag.marks != right).tolist():
            return ("wrong mark", (x, y)), marks, right
    return None, marks, marks


def _first_difference(pag: PAG, right: PAG) -> str | None:
    for x, y in np.argwhere(pag.marks != right.marks):
        ours, theirs = pag.edge(int(x), int(y)), right.edge(int(x), int(y))
        assert ours is not None
        assert theirs is not None
        if theirs.at_a == ARROW:
            ours, theirs = ours.reversed(), theirs.reversed()
        return f"{ours} should be {theirs} in every MAG with these adjacencies and colliders"
    return None
