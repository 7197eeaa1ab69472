"""An effect for other programs: a DAG of the class, with roles, and the adjustment set, for dagitty and DoWhy.

These programs want one DAG. The one given here is of the class: a MAG of it, with an unmeasured variable for each
``<->``. What is valid in the PAG is valid in it, so the adjustment set carries over. The converse does not hold: the
DAG has arrows that the data do not show. So where an effect is not identified, the DAG is of a MAG that does not
identify it, with an unmeasured variable behind each arrow that can have one; then no program finds more in it than the
data say. Where there is no such DAG, as where every MAG identifies the effect and only their values differ, the
question is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from lmarvel.effects.adjustment import adjustment_sets, checked_pair, pair_of
from lmarvel.effects.classify import classify, ready_for_effects
from lmarvel.effects.pag_index import Askable, Prepared, Stated, prepare, selection_near
from lmarvel.effects.ranges import MOST, effect_formula, fitting_members
from lmarvel.errors import GraphError
from lmarvel.graph.kinds import ADMG, DAG, MAG
from lmarvel.graph.marks import Edge, Mark
from lmarvel.graph.mixed import Node
from lmarvel.interchange import dagitty, dot
from lmarvel.result.discovery import Discovery
from lmarvel.text import readable


@dataclass(frozen=True)
class Exported:
    """A question about an effect, as other programs take it.

    Attributes
    ----------
    x, y : str
        Cause and outcome.
    status : str
        What the PAG says about the effect: 'none', 'adjustment', 'formula' or 'not identified'.
    because : str
        Why it is not identified, where it is not.
    dag : DAG
        A DAG of the class.
    latent : tuple of str
        Its unmeasured variables.
    adjustment : tuple of str or None
        A smallest valid adjustment set that was found; None if there is none.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> out = exported(PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "A --> Y"), "X", "Y")
    >>> print(out.dagitty, end="")
    dag {
    A [adjusted]
    X [exposure]
    B
    Y [outcome]
    A -> X
    A -> Y
    B -> X
    X -> Y
    }
    >>> out.dowhy["treatment"], out.dowhy["adjustment"]
    ('X', ['A'])
    """

    x: str
    y: str
    status: str
    dag: DAG
    latent: tuple[str, ...]
    adjustment: tuple[str, ...] | None
    because: str = ""

    @property
    def dagitty(self) -> str:
        """The DAG in DAGitty's language, with exposure, outcome, latent and adjusted variables."""
        roles = {**dict.fromkeys(self.adjustment or (), "adjusted"), self.x: "exposure", self.y: "outcome"}
        lines = dagitty.dumps(self.dag, latent=self.latent).splitlines()
        for name, role in roles.items():
            lines[1 + self.dag.index(name)] += f" [{role}]"  # after the header, a line a node
        return "\n".join([*lines, ""])

    @property
    def dowhy(self) -> dict[str, object]:
        """What DoWhy's ``CausalModel`` takes: treatment, outcome and graph (DOT); and the adjustment set."""
        return {
            "treatment": self.x,
            "outcome": self.y,
            "graph": dot.dumps(self.dag),
            "unobserved": list(self.latent),
            "adjustment": None if self.adjustment is None else list(self.adjustment),
            "status": self.status,
            "because": self.because,
        }

    @property
    def econml(self) -> dict[str, object]:
        """What EconML's estimators take, by role: outcome Y, treatment T, and controls W; only with a valid set."""
        if self.adjustment is None:
            why = f"it is not identified, because {self.because}" if self.because else "no adjustment set is valid"
            raise GraphError(f"EconML adjusts for controls, and for the effect of {self.x} on {self.y} {why}")
        return {"Y": self.y, "T": self.x, "W": list(self.adjustment)}


def exported(result: Discovery | Askable | Prepared, x: Node, y: Node) -> Exported:
    """Return a question about an effect as other programs take it."""
    ready = ready_for_effects(result)
    i, j = checked_pair(ready, x, y)
    selected = selection_near(ready.graph, ready.everything)
    if selected is not None:
        raise GraphError(f"{selected}, and the other program would treat it as one that was not")
    names = ready.graph.names
    identified = classify(ready, i, j)
    unknown = identified.status == "not identified"
    if isinstance(ready, Stated):
        dag, latent = ready.stated.canonical_dag()
    else:
        dag, latent = (_unidentified(ready, i, j) if unknown else _graph(ready)).canonical_dag()
    smallest = min(adjustment_sets(ready, i, j), key=lambda z: (len(z), sorted(z)), default=None)
    chosen = None if smallest is None or unknown else tuple(sorted(smallest))
    return Exported(names[i], names[j], identified.status, dag, latent, chosen, identified.because if unknown else "")


def _graph(ready: Prepared) -> ADMG:
    """Return a MAG of the class as an ADMG."""
    edges = [edge if edge.at_b == Mark.ARROW else edge.reversed() for edge in ready.mag.edges()]
    return ADMG(ready.mag.names, edges)


def _confounded(ready: Prepared, x: int, y: int) -> ADMG:
    """Return a MAG as an ADMG with unmeasured causes behind invisible arrows: all, or first those from x towards y."""
    plain, at = _graph(ready), ready.mag.index
    behind = [
        Edge(edge.a, edge.b, Mark.ARROW, Mark.ARROW)
        for edge in plain.edges
        if edge.at_a == Mark.TAIL and not ready.visible[at(edge.a)] >> at(edge.b) & 1
    ]
    whole = ADMG(plain.names, [*plain.edges, *behind])
    if _looks_like(whole, ready.mag):
        return whole
    found = plain
    first = pair_of(ready, x, y).first
    for edge in sorted(behind, key=lambda edge: (at(edge.a) != x, not first >> at(edge.b) & 1)):
        more = ADMG(plain.names, [*found.edges, edge])
        found = more if _looks_like(more, ready.mag) else found
    return found


def _looks_like(graph: ADMG, mag: MAG) -> bool:
    dag, latent = graph.canonical_dag()
    return dag.project(latent) == mag


def _unidentified(ready: Prepared, x: int, y: int) -> ADMG:
    """Return a graph of the class that does not identify the effect, or refuse."""
    for member in islice(fitting_members(ready, ready.possible_ancestors(1 << x | 1 << y)), MOST):
        if effect_formula(member, x, y) is None:
            graph = _confounded(member, x, y)
            if classify(prepare(graph), x, y).status == "not identified":
                return graph
    a, b = readable(ready.graph.names[x]), readable(ready.graph.names[y])
    raise GraphError(
        f"the effect of {a} on {b} is not identified, and no single graph shows that: another program would take the"
        " effect in one of several explanations for the answer"
    )
