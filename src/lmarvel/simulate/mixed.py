"""Tables of several kinds of columns whose truth is known: measurements, curves, counts, levels with and without order.

Each variable has a score for each of its outcomes, a sum of the effects of its causes. What becomes of it depends
on the kind of variable:

========== ============================================================================================
continuous the score, and Gaussian noise
curved     the same, but its numeric causes enter through a curve (a bend, a wave, a bowl)
count      a Poisson count whose logarithm of the mean is half the score
binary     0 or 1, by a logistic regression on the score
ordinal    1, 2, ...: how many limits the score with logistic noise has passed
nominal    a, b, ...: one score a level, by a multinomial logistic regression
========== ============================================================================================

Numeric causes are standardised before they have an effect, so that effects are of one size along a chain. A cause with
levels has an effect for each level; those of an ordinal one rise or fall with the level.

As in :mod:`lmarvel.simulate.additive` the sample is selected as it is in life, by a child of each selection variable:
the chance of a row to be kept rises with the variable. The truth of a sample is :meth:`MixedSEM.truth`.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import ParameterError
from lmarvel.graph.bitsets import members
from lmarvel.graph.kinds import DAG
from lmarvel.orient.study import Study
from lmarvel.simulate.additive import MAX_DRAWS, select_by_children
from lmarvel.simulate.graphs import Seed, check_count
from lmarvel.simulate.sem import causal_order
from lmarvel.text import counted, readable

Array = NDArray[np.float64]

KINDS = ("continuous", "curved", "count", "binary", "ordinal", "nominal")
LEVELLED = ("binary", "ordinal", "nominal")
CURVES: Sequence[Callable[[Array], Array]] = (
    lambda x: 1.5 * np.tanh(2 * x),
    lambda x: 1.4 * np.sin(2 * x),
    lambda x: (x * x - 1) / 1.4,
)
PILOT = 4_000  # rows from which means and spreads of numeric causes are taken
LARGEST_MEAN = 6.0  # of the logarithm of a count: e^6 = 403


@dataclass(frozen=True)
class Influence:
    """The effect of one cause: a coefficient and a curve, or one row a level; a column for each score of the child."""

    effects: Array
    curve: int = -1

    def of(self, values: Array, levelled: bool) -> Array:
        """Return what the values of the cause, standardised numbers or levels, add to the scores of the child."""
        if levelled:
            return np.asarray(self.effects[values.astype(np.int64)])
        bent = values if self.curve < 0 else CURVES[self.curve](values)
        return np.asarray(np.outer(bent, self.effects[0]))


@dataclass(frozen=True)
class MixedSEM:
    """A model whose variables are of several kinds.

    Attributes
    ----------
    dag : DAG
        Its structure.
    kinds : tuple of str
        The kind of each variable, one of ``KINDS``.
    levels : tuple of int
        How many levels each has, 0 for numbers.
    limits : tuple of arrays
        The scores without causes: of each level (nominal), the limits between levels (ordinal), the constant (others).
    influences : mapping from (child, cause) to Influence
        The effects.
    centre, spread : arrays
        Mean and standard deviation of each numeric variable.

    Examples
    --------
    >>> study = Study(DAG.from_edges("Region --> Diet", "Diet --> Weight", "Age --> Weight"))
    >>> model = MixedSEM.random(study.dag, {"Region": "nominal", "Diet": "ordinal", "Weight": "curved"}, seed=0)
    >>> table = model.sample(study, rows=5, seed=1)
    >>> [str(v) for v in table["Region"]], table["Diet"].tolist(), table["Age"].dtype
    (['c', 'b', 'b', 'a', 'a'], [2, 3, 3, 1, 1], dtype('float64'))
    """

    dag: DAG
    kinds: tuple[str, ...]
    levels: tuple[int, ...]
    limits: tuple[Array, ...]
    influences: Mapping[tuple[int, int], Influence]
    centre: Array
    spread: Array

    @classmethod
    def random(
        cls,
        dag: DAG,
        kinds: Mapping[str, str] | Sequence[str] = KINDS,
        levels: int = 3,
        strength: float = 1.2,
        *,
        seed: Seed,
    ) -> MixedSEM:
        """Draw a model.

        Parameters
        ----------
        dag : DAG
            The structure.
        kinds : mapping or sequence of str
            The kind of each variable by name (those left out are continuous), or the kinds to draw from.
        levels : int
            How many levels ordinal and nominal variables have.
        strength : float
            The mean size of an effect, in standard deviations of a continuous child's noise.
        seed : int or SeedSequence
            The same seed gives the same model.
        """
        check_count("levels", levels, 2)
        if levels > len(string.ascii_lowercase):
            raise ParameterError(f"must be at most {len(string.ascii_lowercase)}, not {levels}", parameter="levels")
        if not 0 < strength < math.inf:
            raise ParameterError(f"must be a positive number, not {strength!r}", parameter="strength")
        rng = np.random.default_rng(seed)
        chosen = _kinds(dag, kinds, rng)
        counts = tuple({"binary": 2}.get(k, levels) if k in LEVELLED else 0 for k in chosen)
        limits = tuple(_limits(kind, n, rng) for kind, n in zip(chosen, counts, strict=True))
        influences = {
            (v, c): _influence(chosen[c], counts[c], chosen[v], counts[v], strength, rng)
            for v, causes in enumerate(dag.masks.parents)
            for c in members(causes)
        }
        centre, spread = np.zeros(len(dag)), np.ones(len(dag))
        pilot = cls(dag, chosen, counts, limits, influences, centre, spread)
        _draw(pilot, rng, PILOT, learn=True)  # fills centre and spread as it goes
        for array in (centre, spread):
            array.setflags(write=False)
        return pilot

    def truth(self, study: Study) -> Study:
        """Return the study that a sample comes from: selection by a child of each selection variable."""
        return select_by_children(study)

    def sample(self, study: Study, rows: int, *, seed: Seed) -> dict[str, NDArray[Any]]:
        """Draw rows of the observed variables; a row is kept with a chance that rises with each selection variable."""
        check_count("rows", rows, 1)
        study.check_model(self.dag)
        rng = np.random.default_rng(seed)
        chosen = [study.dag.index(v) for v in study.selection]
        parts, count, tried = [], 0, 0
        while count < rows:
            drawn = _draw(self, rng, max(rows, 1_000))
            tried += len(drawn)
            if chosen:
                chances = 1 / (1 + np.exp(-3 * self._standardised(drawn, chosen)))
                drawn = drawn[(rng.random(chances.shape) < chances).all(axis=1)]
            parts.append(drawn)
            count += len(drawn)
            if tried > MAX_DRAWS * rows and count * MAX_DRAWS < tried:
                selecting = counted(len(chosen), "selection variable")
                raise ParameterError(f"fewer than one row in {MAX_DRAWS:,} passes {selecting}: choose fewer")
        table = np.concatenate(parts)[:rows]
        return {name: self._shown(self.dag.index(name), table) for name in study.observed}

    def _standardised(self, drawn: Array, at: list[int]) -> Array:
        """Return columns with mean 0 and spread 1, levels by their number."""
        top = np.array([max(self.levels[v] - 1, 1) for v in at])
        levelled = np.array([self.levels[v] > 0 for v in at])
        middle = np.where(levelled, top / 2, self.centre[at])
        return np.asarray((drawn[:, at] - middle) / np.where(levelled, top / 2, self.spread[at]))

    def _shown(self, v: int, table: Array) -> NDArray[Any]:
        """Return a column as a person has it in a table."""
        column, kind = table[:, v], self.kinds[v]
        if kind == "nominal":
            return np.array(list(string.ascii_lowercase))[column.astype(np.int64)]
        if kind in ("continuous", "curved"):
            return np.ascontiguousarray(column)
        return column.astype(np.int64) + (kind == "ordinal")


def _kinds(dag: DAG, kinds: Mapping[str, str] | Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Return the kind of each variable, as told or drawn."""
    listed = list(kinds.values()) if isinstance(kinds, Mapping) else list(kinds)
    for kind in listed:
        if kind not in KINDS:
            raise ParameterError(f"unknown kind {readable(str(kind))}: choose from {', '.join(KINDS)}")
    if isinstance(kinds, Mapping):
        for name in kinds:
            dag.index(name)  # refuses unknown names
        return tuple(kinds.get(name, "continuous") for name in dag.names)
    if not listed:
        raise ParameterError(f"there is no kind to draw from: give at least one of {', '.join(KINDS)}")
    return tuple(listed[i] for i in rng.integers(len(listed), size=len(dag)))


def _limits(kind: str, levels: int, rng: np.random.Generator) -> Array:
    """Draw what the scores are without causes: chances of levels differ, none is rare."""
    if kind == "ordinal":
        shares = np.cumsum(0.5 / levels + 0.5 * rng.dirichlet(np.full(levels, 4.0)))[:-1]
        return np.asarray(np.log(shares / (1 - shares)))
    if kind == "nominal":
        return rng.uniform(-0.4, 0.4, levels)
    return np.array([rng.uniform(0.5, 1.5) if kind == "count" else rng.uniform(-0.4, 0.4)])


def _influence(
    cause: str, cause_levels: int, child: str, child_levels: int, strength: float, rng: np.random.Generator
) -> Influence:
    """Draw the effect of a cause on the scores of a child."""
    columns = child_levels if child == "nominal" else 1
    # Logistic noise has a standard deviation of 1.8, and a choice among levels shows less still of what was behind it.
    size = strength * rng.uniform(0.75, 1.25) * (2.0 if child in LEVELLED else 1.0)
    if not cause_levels:
        effects = rng.standard_normal((1, columns)) if columns > 1 else rng.choice([-1.0, 1.0], (1, 1))
        curve = int(rng.integers(len(CURVES))) if child == "curved" else -1
        return Influence(effects / np.sqrt((effects**2).mean()) * size, curve)
    effects = rng.standard_normal((cause_levels, columns))
    if cause != "nominal":
        effects = np.cumsum(np.abs(effects) + 0.3, axis=0) * rng.choice([-1.0, 1.0], columns)
    effects -= effects.mean(axis=0)
    return Influence(effects / np.sqrt((effects**2).mean()) * size)


def _draw(model: MixedSEM, rng: np.random.Generator, rows: int, learn: bool = False) -> Array:
    """Draw all variables, levels from 0; a pilot learns the means and spreads of numbers on the way."""
    drawn = np.empty((rows, len(model.dag)))
    for v in causal_order(model.dag):
        kind = model.kinds[v]
        score = np.zeros((rows, model.levels[v] if kind == "nominal" else 1))
        for c in members(model.dag.masks.parents[v]):
            levelled = model.levels[c] > 0
            values = drawn[:, c] if levelled else (drawn[:, c] - model.centre[c]) / model.spread[c]
            score += model.influences[v, c].of(values, levelled)
        drawn[:, v] = _outcome(kind, score, model.limits[v], rng)
        if learn and not model.levels[v]:
            model.centre[v], model.spread[v] = drawn[:, v].mean(), drawn[:, v].std() or 1.0
    return drawn


def _outcome(kind: str, score: Array, limits: Array, rng: np.random.Generator) -> Array:
    """Draw the values of a variable from its scores."""
    rows = len(score)
    if kind == "nominal":  # the largest of scores with Gumbel noise is a draw from the multinomial logistic model
        return np.asarray((score + limits + rng.gumbel(size=score.shape)).argmax(axis=1), dtype=np.float64)
    if kind == "ordinal":
        return np.asarray((score + rng.logistic(size=(rows, 1)) > limits).sum(axis=1), dtype=np.float64)
    total = score[:, 0] + limits[0]
    if kind == "binary":
        return np.asarray(total + rng.logistic(size=rows) > 0, dtype=np.float64)
    if kind == "count":
        mean = np.exp(np.minimum(limits[0] + score[:, 0] / 2, LARGEST_MEAN))
        return np.asarray(rng.poisson(mean), dtype=np.float64)
    return np.asarray(total + rng.standard_normal(rows))
