"""The level, or the penalty, from the data: learn along a path of values, and say what changes and which to take.

No level is right for all tables. Three ways to choose one are offered, each with its reason:

* **bic**: the value whose graph has the best BIC. A PAG is scored by one of its MAGs, so only legal ones have a BIC.
* **held-out**: the value whose graph predicts best: rows are dealt to folds, each is left out in turn, the graph is
  learned and fitted on the others, and its likelihood on the fold is what counts.
* **stability**: the most lenient value at which edges still recur. The instability of an edge of frequency f is
  2 f (1 - f), the chance that two draws disagree on it (StARS [1]_); the average over pairs, made monotone along the
  path from the strictest value, must stay below 0.05.

References
----------
.. [1] Liu, Roeder & Wasserman, Stability approach to regularization selection for high dimensional graphical models,
NeurIPS 2010.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from lmarvel.errors import DataError, GraphError, ParameterError
from lmarvel.graph.kinds import PAG
from lmarvel.result.support.frequencies import Stability
from lmarvel.text import counted

T = TypeVar("T")
By = Literal["bic", "held-out", "stability"]
WAYS: tuple[By, ...] = ("bic", "held-out", "stability")
ALPHAS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1)
PENALTIES = (6.0, 4.0, 3.0, 2.5, 2.0, 1.5, 1.0)
UNSTABLE = 0.05
FOLDS = 5


@dataclass(frozen=True)
class Step:
    """What was learned at one value.

    Attributes
    ----------
    value : float
        The level or penalty.
    pag : PAG
        The graph.
    bic : float or None
        Its BIC; None where it is illegal and has none.
    held_out : float or None
        Minus two log-likelihood per row of rows that it was not learned from; None where that was not asked for, or the
        graph of a fold was illegal.
    instability : float or None
        The chance that two draws disagree on an edge, averaged over pairs; None where that was not asked for.
    """

    value: float
    pag: PAG
    bic: float | None = None
    held_out: float | None = None
    instability: float | None = None


@dataclass(frozen=True)
class TuningPath:
    """Graphs along a path of values, from the strictest to the most lenient, and which to take.

    Attributes
    ----------
    parameter : {"alpha", "penalty"}
        What was varied.
    by : {"bic", "held-out", "stability"}
        How the choice was made.
    steps : tuple of Step
        What was learned at each value.
    chosen : int
        The step to take.
    reason : str
        Why.

    Examples
    --------
    >>> steps = tuple(Step(alpha, PAG.from_edges("A o-o B"), score) for alpha, score in ((0.01, 5.0), (0.05, 4.0)))
    >>> TuningPath("alpha", "bic", steps, 1, "its graph has the lowest BIC of the 2, by 1").value
    0.05
    """

    parameter: str
    by: By
    steps: tuple[Step, ...]
    chosen: int
    reason: str

    @property
    def value(self) -> float:
        """The value to take."""
        return self.steps[self.chosen].value

    def changes(self, i: int) -> list[str]:
        """Return what changes from step i - 1 to step i, edge by edge.

        Examples
        --------
        >>> texts = ["A o-o B"], ["A o-> B", "C o-> B"]
        >>> graphs = (PAG.from_edges(*edges, nodes=["A", "B", "C"]) for edges in texts)
        >>> steps = tuple(Step(alpha, pag) for alpha, pag in zip([0.01, 0.05], graphs))
        >>> TuningPath("alpha", "bic", steps, 0, "").changes(1)
        ['A o-o B becomes A o-> B', 'C o-> B is new']
        """
        at = self.steps[i].pag.index
        before, after = (
            {tuple(sorted(map(at, edge[:2]))): edge for edge in step.pag.edges()} for step in self.steps[i - 1 : i + 1]
        )
        found = []
        for pair in sorted({*before, *after}):
            if pair not in before:
                found.append(f"{after[pair]} is new")
            elif pair not in after:
                found.append(f"{before[pair]} goes")
            elif before[pair] != after[pair]:
                found.append(f"{before[pair]} becomes {after[pair]}")
        return found


Learn = Callable[[float], PAG]


def tune(
    parameter: str,
    values: Sequence[float],
    learn: Learn,
    *,
    by: By = "bic",
    bic: Callable[[PAG], float] | None = None,
    held_out: Callable[[float], float] | None = None,
    stability: Callable[[float], Stability] | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> TuningPath:
    """Learn along a path, from the strictest value to the most lenient one, and choose.

    Parameters
    ----------
    parameter : str
        What is varied: "alpha" or "penalty".
    values : sequence of float
        The values.
    learn : callable
        ``learn(value)`` gives the graph.
    by : {"bic", "held-out", "stability"}
        How to choose.
    bic : callable
        ``bic(pag)``; it raises :class:`~lmarvel.GraphError` for an illegal PAG.
    held_out, stability : callable
        The criterion of a value, where the choice needs it.

    Examples
    --------
    >>> graphs = {0.01: PAG.from_edges("A o-o B"), 0.05: PAG.from_edges("A o-o B", "B o-o C")}
    >>> path = tune("alpha", [0.05, 0.01], graphs.__getitem__, bic=lambda pag: 10.0 - pag.n_edges)
    >>> path.value, path.reason
    (0.05, 'its graph has the lowest BIC of the 2, by 1')
    """
    if by not in WAYS:
        raise ParameterError(f"a value is chosen by one of {', '.join(WAYS)}, not {by!r}")
    if not values:
        raise ParameterError(f"there is no {parameter} to try: give at least one")
    strictest_first = sorted(set(values), reverse=parameter == "penalty")
    steps = []
    for done, value in enumerate(strictest_first):
        progress(done, len(strictest_first))
        pag = learn(value)
        steps.append(
            Step(
                value,
                pag,
                None if bic is None else _or_none(bic, pag),
                None if held_out is None else _or_none(held_out, value),
                None if stability is None else instability(stability(value)),
            )
        )
    progress(len(strictest_first), len(strictest_first))
    chosen, reason = _choose(steps, by)
    return TuningPath(parameter, by, tuple(steps), chosen, reason)


def _or_none(compute: Callable[[T], float], of: T) -> float | None:
    """Return a number, or None where the graph is illegal and has none."""
    try:
        return compute(of)
    except GraphError:
        return None


def instability(stability: Stability) -> float:
    """Return the chance that two draws disagree on an edge, averaged over pairs.

    Examples
    --------
    >>> one, other = PAG.from_edges("A o-o B"), PAG.from_edges(nodes=["A", "B"])
    >>> instability(Stability.of([one, other]))
    0.5
    """
    p = len(stability.names)
    share = stability.adjacent[np.triu_indices(p, 1)] / stability.replicates
    return float((2 * share * (1 - share)).mean()) if p > 1 else 0.0


def _choose(steps: Sequence[Step], by: By) -> tuple[int, str]:
    if by == "stability":
        worst = np.maximum.accumulate([step.instability or 0.0 for step in steps])
        stable = np.flatnonzero(worst <= UNSTABLE)
        if not len(stable):
            return 0, f"no value keeps the instability of edges below {UNSTABLE:g}: this is the strictest one"
        return int(stable[-1]), f"it is the most lenient whose edges disagree in at most {UNSTABLE:.0%} of resamples"
    found = [step.bic if by == "bic" else step.held_out for step in steps]
    known = [(value, i) for i, value in enumerate(found) if value is not None and math.isfinite(value)]
    if not known:
        raise DataError(
            f"none of {counted(len(steps), 'graph')} along the path is legal, so none can be scored: choose by"
            " stability, or use the method lift, whose graphs are always legal"
        )
    best, chosen = min(known)
    others = sorted(value for value, i in known if i != chosen)
    lead = f", by {others[0] - best:.3g}" if others else ""
    if others and others[0] == best:
        lead = "; it is the strictest of those with it"
    illegal = len(steps) - len(known)
    left_out = f" ({counted(illegal, 'illegal graph')} left out)" if illegal else ""
    if by == "bic":
        return chosen, f"its graph has the lowest BIC of the {len(known)}{lead}{left_out}"
    return chosen, f"its graphs have the highest likelihood on rows that were left out{lead}{left_out}"


def folds(n: int, seed: int, k: int = FOLDS) -> list[np.ndarray]:
    """Deal rows to folds at random.

    Examples
    --------
    >>> [len(fold) for fold in folds(11, seed=0, k=3)]
    [4, 4, 3]
    """
    if n < 2 * k:
        raise DataError(f"{counted(n, 'row')} cannot be dealt to {k} folds: choose by bic")
    return [np.sort(part) for part in np.array_split(np.random.default_rng(seed).permutation(n), k)]


def gaussian_loss(Sigma: np.ndarray, S: np.ndarray) -> float:
    """Return minus two log-likelihood per row, without constants, of rows with covariance S under a model's Sigma.

    Examples
    --------
    >>> round(gaussian_loss(np.eye(2), np.eye(2)), 9)
    2.0
    """
    sign, log_det = np.linalg.slogdet(Sigma)
    return float(log_det + np.trace(np.linalg.solve(Sigma, S))) if sign > 0 else math.inf
