"""From a MAG to the PAG of its Markov equivalence class and back, and whether a PAG is one at all.

The rules R0-R10 are sound and complete (Zhang 2008), so the PAG that they give identifies the class: two
MAGs are Markov equivalent exactly if their PAGs are equal. For the way back, turn ``o->`` and ``--o`` into
``-->`` and orient the circle edges, which form a chordal graph, as a DAG without new unshielded colliders.
"""

from __future__ import annotations

import numpy as np

from lmarvel.errors import GraphError
from lmarvel.graph.kinds import (
    DAG,
    MAG,
    PAG,
    explain_not_ancestral,
    explain_not_maximal,
    find_unsimplicial,
    maximum_cardinality_order,
)
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.graph.mixed import MixedGraph
from lmarvel.graph.paths import bits, members
from lmarvel.orient.engine import Oriented, orient


def orient_mag(mag: MixedGraph, selection: bool = True) -> Oriented:
    """Orient a skeleton by rules alone, asking the MAG (or the PAG) only which triples are colliders."""
    marks = mag.marks

    def is_collider(v: int, a: int, b: int, c: int) -> bool:
        return bool(marks[a, b] == ARROW and marks[c, b] == ARROW)

    edges = ((x, y) for x, links in enumerate(mag.links) for y, _, _ in links if x < y)
    return orient(len(mag), edges, is_collider, selection)


def mag_to_pag(mag: MAG | DAG, selection: bool = True) -> PAG:
    """Return the PAG: the marks that every MAG Markov equivalent to this one shares.

    Parameters
    ----------
    mag : MAG or DAG
        A DAG is read as the MAG that it is.
    selection : bool
        False switches R5-R7 off, which read marks from selection; only for graphs known to have none.

    Examples
    --------
    >>> from lmarvel import MAG, mag_to_pag
    >>> print(mag_to_pag(MAG.from_edges("A --> C", "B <-> C", "C --> D")))
    nodes: A C B D
    A o-> C
    B o-> C
    C --> D
    """
    if not isinstance(mag, MAG | DAG):
        raise GraphError(f"mag_to_pag needs a MAG or DAG, not a {type(mag).__name__}")
    return PAG._trusted(mag.names, orient_mag(mag, selection).marks)


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
        raise GraphError(
            f"only graphs over the same nodes can be compared; {', '.join(odd)} stands in one of them only"
        )
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


def explain_invalid(graph: MixedGraph) -> str | None:
    """Return why a graph is not what it claims to be, or None if it is.

    A DAG or MAG is valid by construction. A PAG is legal if some MAG has exactly this PAG; PAGs learned
    from finite samples often are not, whatever the program. A plain mixed graph is read as a MAG.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> explain_invalid(PAG.from_edges("A o-> C", "B o-> C", "C o-o D"))
    'C o-o D should be C --> D in every MAG with these adjacencies and colliders'
    """
    if isinstance(graph, PAG):
        return _member(graph)[0]
    return explain_not_ancestral(graph) or explain_not_maximal(graph)


def _member(pag: PAG) -> tuple[str | None, MAG | None]:
    """Return (None, a MAG with this PAG) or (why there is none, None)."""
    marks = pag.marks.copy()
    circle = (marks == CIRCLE) & (marks.T == CIRCLE)
    component = [bits(np.flatnonzero(row).tolist()) for row in circle]
    left = find_unsimplicial(component)
    if left:
        cycle = ", ".join(pag.names[v] for v in members(left))
        return f"the o-o edges among {cycle} hold a cycle of four or more without a chord", None
    marks[~circle & (marks == CIRCLE) & (marks.T == ARROW)] = TAIL
    marks[~circle & (marks == CIRCLE) & (marks.T == TAIL)] = ARROW
    order = maximum_cardinality_order(component)
    for x, y in np.argwhere(circle):
        marks[x, y] = ARROW if order[x] < order[y] else TAIL
    candidate = MixedGraph._trusted(pag.names, marks)
    reason = explain_not_ancestral(candidate) or explain_not_maximal(candidate)
    if reason:
        return reason, None
    mag = MAG._trusted(pag.names, marks)
    # First against the marks that follow from the PAG's own colliders: the candidate may have made a new one.
    own = PAG._trusted(pag.names, orient_mag(pag).marks)
    reason = _first_difference(pag, own) or _first_difference(pag, mag_to_pag(mag))
    return reason, None if reason else mag


def _first_difference(pag: PAG, right: PAG) -> str | None:
    for x, y in np.argwhere(pag.marks != right.marks):
        ours, theirs = pag.edge(int(x), int(y)), right.edge(int(x), int(y))
        assert ours is not None
        assert theirs is not None
        if theirs.at_a == ARROW:
            ours, theirs = ours.reversed(), theirs.reversed()
        return f"{ours} should be {theirs} in every MAG with these adjacencies and colliders"
    return None
