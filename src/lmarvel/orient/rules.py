"""The orientation rules R0-R10 of Zhang (2008) in one table, and why they stay right where pairs are undecided.

**Pairs that a budget left undecided.** The rules were proved for a skeleton that is known in full. Here a pair can be
an edge, a gap, or undecided, and a rule may use the first two only: an edge to walk over or to write a mark on, a gap
to conclude from. Then each mark is right in every MAG of the true equivalence class, if the edges and gaps that are
decided are right and so is each separating set:

* R0 speaks of one triple. In a MAG the middle b of an unshielded a, b, c is a collider exactly if a set that separates
  a and c leaves b out; no other pair matters. Since R0 is asked about every triple of two decided edges over a decided
  gap before any other rule is used, and again when a gap is new, such a triple that has no two arrowheads at b
  is known to be a non-collider. This is the only way in which the other rules read a gap, R4 excepted.
* R1 (b is no collider, and an arrowhead points at it, so its other end there is a tail, and an edge with a tail at b
  is b --> c, since no arrowhead meets an undirected edge), R7 (an arrowhead at b would turn a --o b into a --- b, and
  none may meet that) and R3 (d is an ancestor of a, of c or of selection, so b, at which arrowheads from a and c point,
  is no ancestor of d) need no more than the triple and marks that are right.
* R2, R6 and R8 use no gap: they follow from marks alone, as a MAG has no directed or almost directed cycle and no
  arrowhead at an undirected edge.
* R4 needs a path whose edges are decided, a decided gap between its ends, and marks on it and towards c. Along a path
  that discriminates b, b is in every set that separates v and c or in none, whatever else is adjacent.
* R5: on a cycle whose triples are all unshielded non-colliders one arrowhead would have to run round the cycle as a
  directed cycle. R9, R10: if a had an arrowhead from c, the first edge out of a would be directed, and so would each
  later edge of the uncovered path (no node on it is a collider), and a would be an ancestor of c, against a <-> c.
  These are statements on the triples of the path. That longer chords may be undecided does not matter, since the
  paths need not be chordless, only uncovered.

What suffers is completeness: a circle can be left that a decided pair would have resolved. A tail or an arrowhead
never rests on a pair that nobody looked at. The same holds if time runs out: each mark that was written stands by
itself, and if time runs out within R0 no other rule is used, because they all take R0 to be complete.

References
----------
Zhang, On the completeness of orientation rules for causal discovery in the presence of latent confounders
and selection bias, Artificial Intelligence 172 (2008) 1873-1896.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lmarvel.orient.arrowheads import R0, R1, R2, R3, R4
from lmarvel.orient.rule import Rule
from lmarvel.orient.tails import R5, R6, R7, R8, R9, R10

RULES: Mapping[str, Rule] = MappingProxyType(
    {rule.name: rule for rule in (R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10)}
)
"""Every rule by its name, in the order in which Zhang uses them."""
