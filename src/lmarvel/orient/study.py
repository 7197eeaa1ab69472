"""A DAG whose nodes have roles: observed, latent, or selecting the sample.

Simulators draw data from a study, and files of true graphs hold one; what such data can show is its PAG. So a study
stands above the orientation, which makes the PAG, and below both simulators and file formats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lmarvel.errors import ParameterError
from lmarvel.graph.kinds import DAG, MAG, PAG
from lmarvel.knowledge import Knowledge
from lmarvel.knowledge.draw import true_statements
from lmarvel.orient.equivalence import mag_to_pag
from lmarvel.text import readable


@dataclass(frozen=True)
class Study:
    """The truth behind data.

    Attributes
    ----------
    dag : DAG
        All variables.
    latent, selection : tuple of str
        Those that are not measured, and those on which the sample was selected.

    Examples
    --------
    >>> study = Study(DAG.from_edges("U --> A", "U --> B", "A --> S", "C --> S"), ("U",), ("S",))
    >>> study.observed
    ('A', 'B', 'C')
    >>> print(study.pag)
    nodes: A B C
    A o-o B
    A o-o C
    """

    dag: DAG
    latent: tuple[str, ...] = ()
    selection: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in (*self.latent, *self.selection):
            self.dag.index(name)  # refuses unknown names
        twice = sorted(map(readable, set(self.latent) & set(self.selection)))
        if twice:
            raise ParameterError(f"{', '.join(twice)}: a variable is latent or selects the sample, not both")

    def check_model(self, dag: DAG) -> None:
        """Refuse a model of another graph: positions of its variables would mean something else here."""
        if dag is not self.dag and (dag.names != self.dag.names or dag != self.dag):
            raise ParameterError("the model and the study have different graphs: make the model from study.dag")

    @property
    def observed(self) -> tuple[str, ...]:
        """The variables that the data show, in the order of the DAG."""
        hidden = {*self.latent, *self.selection}
        return tuple(name for name in self.dag.names if name not in hidden)

    @cached_property
    def mag(self) -> MAG:
        """The MAG over the observed variables, conditioned on the selection variables."""
        return self.dag.project(self.latent, self.selection)

    @cached_property
    def pag(self) -> PAG:
        """The PAG: all that data can tell about the MAG."""
        return mag_to_pag(self.mag)

    def knowledge(
        self,
        *,
        tiers: int = 0,
        causes: int = 0,
        not_causes: int = 0,
        edges: int = 0,
        no_edges: int = 0,
        exogenous: int = 0,
        seed: int | np.random.Generator = 0,
    ) -> Knowledge:
        """Draw true statements at random: so many tiers, and so many statements of the other kinds.

        "No selection" and "no latents" are said where the study has none of them.

        Examples
        --------
        >>> study = Study(DAG.from_edges("A --> B", "B --> C", "U --> C", "U --> D"), ("U",))
        >>> print(study.knowledge(tiers=2, not_causes=1))
        tiers: A, D < B, C
        C does not cause B
        no selection
        """
        counts = {"causes": causes, "not_causes": not_causes, "edges": edges, "no_edges": no_edges}
        statements = true_statements(self.mag, tiers=tiers, **counts, exogenous=exogenous, seed=seed)
        return replace(statements, selection=bool(self.selection), latents=bool(self.latent))
