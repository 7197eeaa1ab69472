"""M3HC as an estimator: tests restrict the pairs, a score chooses the graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmarvel.boundary.boundaries import Boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.data.dataset import Dataset
from lmarvel.errors import ParameterError
from lmarvel.estimators.base import PagEstimator
from lmarvel.estimators.discover import Chosen
from lmarvel.estimators.lift import table_of
from lmarvel.orient.equivalence import orient_mag
from lmarvel.score.m3hc import M3HCResult, m3hc
from lmarvel.skeleton.state import Progress
from lmarvel.trace import BudgetEnded, Event, Moved


@dataclass(kw_only=True, repr=False, eq=False)
class M3HC(PagEstimator):
    """Learn a MAG and its PAG with M3HC, hill climbing on BIC (Tsirlis, Lagani, Triantafillou & Tsamardinos 2018).

    A test restricts the pairs that may be adjacent (MMPC), then edges are added, turned and deleted greedily, with a
    tabu list. It always returns a legal PAG, and guarantees no more: a greedy search can end in a local optimum. It
    cannot represent selection (no undirected edges). The score is Gaussian, so it needs a table.

    Parameters
    ----------
    alpha, test, boundary_alpha, selection, max_conditioning, max_tests, max_seconds
        As for :class:`LMarvel`.
    boundary : {"auto", "none", "tc", "gs", "iamb", "inter-iamb", "fast-iamb"} or mapping
        Where pairs are chosen from: Markov boundaries, or all pairs with "none".
    max_k : int
        The largest conditioning set of MMPC.
    tabu : int
        How many of the last graphs not to go back to.
    patience : int
        How many moves without a better graph to make before giving up.
    max_iterations : int, optional
        The most moves to make.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, d, u = rng.normal(size=(3, 2000))
    >>> b, c = a + u + 0.5 * rng.normal(size=2000), d + u + 0.5 * rng.normal(size=2000)
    >>> model = M3HC().fit({"A": a, "B": b, "C": c, "D": d})
    >>> print(model.pag_)
    nodes: A B C D
    A o-> B
    B <-> C
    D o-> C
    """

    max_k: int = 10
    tabu: int = 100
    patience: int = 50
    max_iterations: int | None = None

    @classmethod
    def _starts_complete(cls) -> bool:
        return True

    def _check(self) -> None:
        for name, least in (("max_k", 0), ("tabu", 1), ("patience", 1), ("max_iterations", 0)):
            value = vars(self)[name]
            optional = name == "max_iterations" and value is None
            if not optional and (not isinstance(value, int) or isinstance(value, bool) or value < least):
                raise ParameterError(f"{name} must be a whole number of at least {least}, not {value!r}")

    def learn(self, ledger: Ledger, boundaries: Boundaries, data: Dataset | None, report: Progress) -> Chosen:
        """Run M3HC."""
        found = m3hc(
            ledger,
            None if boundaries.method == "none" else [set(mb) for mb in boundaries.sets],
            table_of(ledger.test, data),
            self.alpha,
            self.max_k,
            self.tabu,
            self.patience,
            self.max_iterations,
            report,
            self.selection,
        )
        undecided = np.array(found.undecided, dtype=np.intp).reshape(-1, 2)
        return Chosen(found.mag.marks, found.pag.marks, found.bic, _trace(found, self.selection), undecided)


def _trace(found: M3HCResult, selection: bool) -> tuple[Event, ...]:
    moves = tuple(Moved(*move) for move in found.moves)
    ended = () if found.ended is None else (BudgetEnded(found.ended),)
    return (*moves, *ended, *orient_mag(found.mag, selection).log)
