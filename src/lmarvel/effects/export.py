"""An effect for other programs: a DAG of the class, with roles, and the adjustment set, for dagitty and DoWhy.

These programs want one DAG. The one given here is of the class: a MAG of it, with an unmeasured variable for each
``<->``. What is valid in the PAG is valid in it, so the adjustment set carries over. The converse does not hold: the
DAG has arrows that the data do not show, and a program that reads it may find an effect identified that is not.
"""

from __future__ import annotations

from dataclasses import dataclass

from lmarvel.effects.adjustment import adjustment_sets, checked_pair
from lmarvel.effects.classify import classify, ready_for_effects
from lmarvel.effects.pag_index import Askable, Prepared, Stated, selection_near
from lmarvel.errors import GraphError
from lmarvel.graph.kinds import ADMG, DAG
from lmarvel.graph.marks import Mark
from lmarvel.graph.mixed import Node
from lmarvel.interchange import dagitty, dot
from lmarvel.result.discovery import Discovery


@dataclass(frozen=True)
class Exported:
    """A question about an effect, as other programs take it.

    Attributes
    ----------
    x, y : str
        Cause and outcome.
    status : str
        What the PAG says about the effect; where it is 'not identified', no answer that another program reads
        off this DAG holds for the class.
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
        }


def exported(result: Discovery | Askable | Prepared, x: Node, y: Node) -> Exported:
    """Return a question about an effect as other programs take it."""
    ready = ready_for_effects(result)
    i, j = checked_pair(ready, x, y)
    selected = selection_near(ready.graph, ready.everything)
    if selected is not None:
        raise GraphError(f"{selected}, and the other program would take it for one that was not")
    mag = ready.mag
    edges = [edge if edge.at_b == Mark.ARROW else edge.reversed() for edge in mag.edges()]
    stated = ready.stated if isinstance(ready, Stated) else ADMG(mag.names, edges)
    dag, latent = stated.canonical_dag()
    identified = classify(ready, i, j)
    smallest = min(adjustment_sets(ready, i, j), key=lambda z: (len(z), sorted(z)), default=None)
    chosen = None if smallest is None or identified.status == "not identified" else tuple(sorted(smallest))
    return Exported(mag.names[i], mag.names[j], identified.status, dag, latent, chosen)
