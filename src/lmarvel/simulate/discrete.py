"""Discrete networks: each variable has a few states, and a table of their chances for each state of its parents.

A discrete variable is held at a value by keeping the rows that have it, which is exact. So here the selection
variables are conditioned on, as in the linear model, and the truth is the study itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import ParameterError
from lmarvel.graph.bitsets import members
from lmarvel.graph.kinds import DAG
from lmarvel.orient.study import Study
from lmarvel.simulate.graphs import Seed, check_count
from lmarvel.simulate.sem import causal_order
from lmarvel.text import counted, readable

MAX_DRAWS = 1_000
MAX_CELLS = 10_000_000


@dataclass(frozen=True)
class DiscreteNetwork:
    """A Bayesian network over discrete variables.

    Attributes
    ----------
    dag : DAG
        Its structure.
    tables : mapping from positions to arrays
        ``tables[v]`` has an axis for each parent of v, in the order of the DAG, and a last one for v itself.

    Examples
    --------
    >>> dag = DAG.from_edges("Rain --> Wet", "Sprinkler --> Wet")
    >>> network = DiscreteNetwork.random(dag, states=2, seed=0)
    >>> network.sample(Study(dag), rows=3, seed=1)
    array([[1, 0, 0],
           [0, 0, 0],
           [0, 0, 0]])
    """

    dag: DAG
    tables: Mapping[int, NDArray[np.float64]]

    @classmethod
    def random(cls, dag: DAG, states: int = 2, concentration: float = 1.0, *, seed: Seed) -> DiscreteNetwork:
        """Draw each row of each table from a Dirichlet distribution; a small concentration gives strong effects."""
        check_count("states", states, 2)
        if not 0 < concentration < math.inf:
            raise ParameterError(f"must be a positive number, not {concentration!r}", parameter="concentration")
        rng = np.random.default_rng(seed)
        tables = {}
        for v, parents in enumerate(dag.masks.parents):
            count = parents.bit_count()
            if states ** (count + 1) > MAX_CELLS:
                family = f"{readable(dag.names[v])} has {counted(count, 'parent')}"
                raise ParameterError(
                    f"{family}: its table would have {states}^{count + 1} cells; choose fewer states or a sparser graph"
                )
            tables[v] = rng.dirichlet(np.full(states, concentration), (states,) * count)
        return cls(dag, tables)

    def sample(self, study: Study, rows: int, *, seed: Seed) -> NDArray[np.int64]:
        """Draw rows of the observed variables, given that every selection variable is in its most likely state."""
        check_count("rows", rows, 1)
        study.check_model(self.dag)
        rng = np.random.default_rng(seed)
        chosen = [study.dag.index(v) for v in study.selection]
        seen = [study.dag.index(v) for v in study.observed]
        first = self._draw(rng, 20_000)
        states = np.array([np.bincount(first[:, v]).argmax() for v in chosen], dtype=np.int64)
        parts, count, tried = [], 0, 0
        while count < rows:
            drawn = self._draw(rng, max(rows, 1_000))
            tried += len(drawn)
            parts.append(drawn[(drawn[:, chosen] == states).all(axis=1)][:, seen])
            count += len(parts[-1])
            if tried > MAX_DRAWS * rows and count * MAX_DRAWS < tried:
                selecting = counted(len(chosen), "selection variable")
                raise ParameterError(f"hardly any row passes {selecting}: choose fewer")
        return np.ascontiguousarray(np.concatenate(parts)[:rows])

    def _draw(self, rng: np.random.Generator, rows: int) -> NDArray[np.int64]:
        """Draw all variables, by inverting the cumulated chances."""
        drawn = np.zeros((rows, len(self.dag)), dtype=np.int64)
        for v in causal_order(self.dag):
            parent_states = tuple(drawn[:, p] for p in members(self.dag.masks.parents[v]))
            chances = np.broadcast_to(self.tables[v][parent_states], (rows, self.tables[v].shape[-1]))
            below = rng.random(rows)[:, None] > np.cumsum(chances, axis=1)
            drawn[:, v] = np.minimum(below.sum(axis=1), chances.shape[1] - 1)
        return drawn
