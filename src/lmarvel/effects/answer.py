"""Does X affect Y, and by how much? The answer, with the numbers and what they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from lmarvel.data import Kind
from lmarvel.deferred import Deferred
from lmarvel.effects.adjustment import Pair, blocks, canonical_set, checked_pair, minimal_sets, pair_of
from lmarvel.effects.causes import NOT_ESTABLISHED, do_not_conclude, no_path
from lmarvel.effects.caveats import (
    Bearing,
    missed_below,
    rejection,
    statements_of,
    what_it_rests_on,
    why_not_impossible,
)
from lmarvel.effects.claims import Claims
from lmarvel.effects.classify import FOLLOWS, Identified, classify, classify_given, ready_for_effects
from lmarvel.effects.effect import IGNORES, Effect
from lmarvel.effects.knowing.instruments import stated_instrument
from lmarvel.effects.knowing.settle import enough
from lmarvel.effects.numbers.again import learned_again, over_graphs
from lmarvel.effects.numbers.doubly_robust import Learner, check_learner
from lmarvel.effects.numbers.estimate import DEFAULT, Estimate, Estimation
from lmarvel.effects.numbers.estimating import adjusted_estimates, effects_by_group
from lmarvel.effects.numbers.identified import best_set, identified_estimates, ordered_covariance
from lmarvel.effects.numbers.question import check_counts, checked_group, checked_values, read_table
from lmarvel.effects.numbers.sensitivity import sensitivity
from lmarvel.effects.numbers.table import IMPUTED, Columns
from lmarvel.effects.numbers.two_stage import Instrumented, by_instrument
from lmarvel.effects.numbers.witness import Witness, witnesses
from lmarvel.effects.pag_index import Askable, Prepared, Stated, node_set, selection_near
from lmarvel.effects.ranges import MOST, Range, effect_range
from lmarvel.errors import GraphError, ParameterError
from lmarvel.graph.bitsets import closure
from lmarvel.graph.kinds import MAG
from lmarvel.graph.mixed import Node
from lmarvel.result.discovery import Discovery
from lmarvel.result.support.grades import LIKELY, OPEN, STATED, grade_named
from lmarvel.text import readable

ROOM = 0.5  # share of an effect: where the test of its witness leaves room for a larger bias, the answer says so first
SIDE_BY_SIDE = 12  # other valid sets that are shown


def effect(
    result: Discovery | Askable | Prepared,
    x: Node,
    y: Node,
    data: Any = None,
    *,
    given: Node | Iterable[Node] = (),
    by: Node | None = None,
    values: tuple[Any, Any] | None = None,
    learner: Learner = "glm",
    bootstrap: int | None = None,
    seed: int = 0,
    nominal: Sequence[str] = (),
    most: int = MOST,
    instrument: Node | None = None,
    again: int | Literal["auto"] | None = None,
    limit: float | None = None,
) -> Effect:
    """Return whether ``x`` affects ``y``, and by how much, under every explanation of the data that a PAG represents.

    Parameters
    ----------
    result : Discovery, PAG, MAG, DAG or ADMG
        What was learned, or a DAG or ADMG of your own. In yours each arrow is an effect, and each ``<->`` an unmeasured
        common cause. No other unmeasured common cause exists.
    x, y : str
        Cause and outcome.
    data : array, frame, mapping, path or Dataset, optional
        The table; without it the answer has no numbers. It is read as the one that the result was learned from, in all
        that is not said of it (:meth:`lmarvel.Dataset.of`).
    given : str or sequence of str
        Variables to condition on: the effect among those with the same values of them.
    by : str, optional
        Also estimate the effect within each group of this variable: its categories, or below and above its median.
    values : tuple, optional
        Two values of the cause to compare: the second in place of the first. By default one unit more, or each
        category in place of the first one.
    learner : {"glm", "boosting"}
        What the average effect of a cause with categories is estimated with: regressions, or gradient-boosted trees of
        scikit-learn.
    bootstrap : int, optional
        Number of replicates for the interval. By default, standard errors where there are some, else 200.
    seed : int
        For the bootstrap and for folds.
    nominal : sequence of str
        Columns whose numbers are labels.
    most : int
        How many MAGs of the class to look at where the effect is not identified.
    instrument : str, optional
        A variable of which you state that ``x`` does not affect it, and that it affects ``y`` only through ``x`` and
        shares no unmeasured cause with ``y``: the effect is then also estimated with it as an instrument.
    again : int or "auto", optional
        Number of resamples to learn again from, as the result was learned: intervals are then over their graphs
        (:func:`lmarvel.effect_learned_again`). "auto" is what the command line, the app and the report do: 200, 100 or
        50, as many as 10 seconds allow, and where these are too few, the answer says why.
    limit : float, optional
        Assume that unmeasured causes of ``x`` explain at most this share, between 0 and 1, of what is left of ``x`` and
        of ``y`` given what is measured. Then an effect that is not identified has a bound, and one that is a wider
        interval beside its own.

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel import PAG
    >>> pag = PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "A --> Y")
    >>> rng = np.random.default_rng(1)
    >>> a, b = rng.normal(size=(2, 2000))
    >>> x = a + b + rng.normal(size=2000)
    >>> table = {"A": a, "B": b, "X": x, "Y": 0.4 * x + a + rng.normal(size=2000)}
    >>> print(effect(pag, "X", "Y", table).sentence)
    X affects Y by 0.388 (0.357 to 0.42) under every explanation of these data.
    """
    ready = ready_for_effects(result)
    i, j = checked_pair(ready, x, y)
    z = node_set(ready.graph, given)
    if z & (1 << i | 1 << j):
        raise GraphError(
            f"{readable(ready.graph.names[i if z >> i & 1 else j])} is asked about: it cannot be given as well"
        )
    check_counts(bootstrap, most, None if again == "auto" else again)
    if again is not None and (data is None or not isinstance(result, Discovery)):
        raise ParameterError(
            "needs a result and its table: a graph does not say how it was learned, and nothing else can be resampled",
            parameter="again",
        )
    check_learner(learner)
    if limit is not None and not (isinstance(limit, int | float) and 0 <= limit < 1):
        raise ParameterError(f"must be a share of at least 0 and below 1, not {limit!r}", parameter="limit")
    group = checked_group(ready, by, i, j)
    identified = classify_given(ready, i, j, z) if z else classify(ready, i, j)
    table = None if data is None else read_table(ready, data, result, nominal)
    how = Estimation(bootstrap, seed, learner, checked_values(values))
    answered = Answering(ready, table, result, how, group=group)
    span = None
    one_graph = isinstance(ready, Stated)  # and no class of graphs
    if identified.status == "not identified" and identified.path and not z and not one_graph:
        near = None if table is None else _comparable(ready, table, i, j)
        span = effect_range(ready, i, j, near, most, limit, 0 if table is None else table.n)
    told = answered.answer(identified, z, span)
    if identified.status == "not identified" and not z:
        told = replace(told, later_enough=Deferred(lambda: enough(result, ready, i, j)))
    if limit is not None:
        told = replace(told, sensitivity=tuple(replace(one, limit=limit) for one in told.sensitivity))
    if instrument is not None:
        if z or by is not None or values is not None or table is None:
            raise ParameterError("needs a table, and goes with neither given, by nor values", parameter="instrument")
        told = replace(told, instrument=_instrumented(answered, instrument, i, j))
    if again is None or not isinstance(result, Discovery):
        return told
    if again == "auto":
        return over_graphs(result, told, data, how, tuple(nominal))
    asked = [(told.identified.x, told.identified.y)]
    found = learned_again(result, asked, data, again, told.given, how, tuple(nominal))
    assert not isinstance(found, float)
    return told.over(found[0])


@dataclass(frozen=True)
class Answering:
    """What answers to questions about one graph have in common.

    Attributes
    ----------
    ready : Prepared
        The graph.
    table : Columns or None
        The table; without it answers have no numbers.
    result : object
        What the graph comes from, which may tell how firm it is.
    how : Estimation
        How numbers are estimated.
    beside : int
        How many other valid adjustment sets to estimate with.
    climb : bool
        Whether to look further for a set of small variance than among minimal sets and the largest.
    claims : Claims
        What the graph says about causes, and how firm that is; by default, read from the result.
    group : int or None
        The variable whose groups the effect is estimated in as well.
    """

    ready: Prepared
    table: Columns | None = None
    result: object = None
    how: Estimation = DEFAULT
    beside: int = SIDE_BY_SIDE
    climb: bool = True
    claims: Claims | None = None
    group: int | None = None

    def __post_init__(self) -> None:
        if self.claims is None:
            object.__setattr__(self, "claims", Claims.of(self.result, self.ready))

    def answer(self, identified: Identified, given: int = 0, span: Range | None = None) -> Effect:
        """Return the answer for a pair, with numbers if there is a table and the effect is identified."""
        ready = self.ready
        i, j = ready.graph.index(identified.x), ready.graph.index(identified.y)
        estimates: list[Estimate] = []
        others: list[Estimate] = []
        if self.table is not None and identified.status == "adjustment":
            estimates, others = self._by_adjustment(pair_of(ready, i, j), self.table)
        elif self.table is not None and identified.status == "formula":
            estimates = identified_estimates(ready, identified, self.table, self.how)
        told = Effect(
            identified,
            ready.named(given),
            tuple(estimates),
            tuple(others),
            span,
            ready.named(ready.possible_descendants(1 << i) & given),
            self.rests_on(bool(estimates), selection_near(ready.graph, 1 << i | 1 << j) is not None),
            ready.graph.names,
            stated=isinstance(ready, Stated),
            statements=statements_of(self.result),
            groups=self._by_group(identified, pair_of(ready, i, j), estimates),
            witnesses=self._witnesses(identified, i, j),
        )
        if self.table is not None:
            told = replace(told, sensitivity=sensitivity(self.table, identified.x, identified.y, estimates, self.how))
        return self._graded(told, i, j, given)

    def _graded(self, told: Effect, i: int, j: int, given: int) -> Effect:
        """Return an answer with how firm it is, and what to be cautious about."""
        claims = self.claims
        assert claims is not None
        differ = () if told.disagreement is None else (told.disagreement,)
        if claims.result is None:
            return replace(told, cautions=differ)
        claim, one, status = claims.on(j)[i], claims.rejected(i, j), told.identified.status
        own = () if one is None else (rejection(one),)
        if status == "none" and not given:
            return _without_effect(told, claims, i, j)
        if status == "not identified" and (told.identified.cause != "definite" or given):
            return told
        if status == "not identified":
            bearing = Bearing(claims).along(claims.path(i, j))
            level = claim.level if claim.status == "definite" else OPEN
        else:
            bearing = Bearing(claims).within(self.ready.possible_ancestors(1 << i | 1 << j | given))
            level = min(bearing.level, claim.level if claim.status == "definite" else OPEN if own else STATED)
        found = () if level == STATED else (*bearing.cautions(), *own, *self._weak_witness(told))
        return _with_cautions(told, min(level, OPEN) if differ else level, (*found, *differ))

    def _weak_witness(self, told: Effect) -> tuple[str, ...]:
        """Return the caution where the test that excludes an unmeasured common cause leaves room for a large bias."""
        if len(told.estimates) != 1 or self.how.values is not None:
            return ()
        least = abs(told.estimates[0].value) * ROOM
        return tuple(one.caution for one in told.witnesses if one.bias is not None and one.bias >= least)

    def _witnesses(self, identified: Identified, i: int, j: int) -> tuple[Witness, ...]:
        """Return why unmeasured common causes of x and what it affects are excluded, where the effect is identified."""
        if identified.status not in ("adjustment", "formula") or isinstance(self.ready, Stated):
            return ()
        near = None if self.table is None else _comparable(self.ready, self.table, i, j)
        return witnesses(self.ready, pair_of(self.ready, i, j), self.result, near)

    def rests_on(self, numbers: bool = False, selected: bool = False) -> str:
        """Say what answers rest on; with ``numbers``, what these do.

        ``selected`` means that the answer is that the sample was selected.
        """
        filled = IMPUTED if numbers and self.table is not None and self.table.incomplete else ""
        if isinstance(self.ready, Stated):
            return self.ready.assumes + filled
        if isinstance(self.ready.graph, MAG):  # which nothing learns
            unselected = "" if selected else ", and on a sample that was not selected"
            return f"This rests on the graph you gave being right{unselected}.{filled}"
        chance = IGNORES if numbers else ""
        return what_it_rests_on(self.result, selected) + chance + filled + self._elsewhere(numbers)

    def _elsewhere(self, numbers: bool) -> str:
        """Say so where the numbers are of another table than the graph."""
        learned = self.result.data if isinstance(self.result, Discovery) else None
        if not numbers or learned is None or self.table is None or self.table.fingerprint == learned["fingerprint"]:
            return ""
        return " The graph was learned from another table: this assumes that it is right for both."

    def _by_group(self, identified: Identified, pair: Pair, estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
        """Estimate within groups, where adjusting for what makes them as well is valid."""
        if self.group is None or self.table is None or not estimates:
            return ()
        ready, bit = self.ready, 1 << self.group
        z = node_set(ready.graph, estimates[0].adjusted or ()) | bit
        affected = bit & (pair.forbidden | ready.possible_descendants(1 << pair.x))
        if identified.status != "adjustment" or affected or not blocks(ready, pair, z):
            name = readable(ready.graph.names[self.group])
            raise GraphError(
                f"the effect within groups of {name} is not identified by adjustment: {name} may be affected by"
                f" {readable(identified.x)}, or comparing its groups opens a path"
            )
        names = ready.graph.names
        return tuple(
            effects_by_group(self.table, identified.x, identified.y, ready.named(z), names[self.group], self.how)
        )

    def _by_adjustment(self, pair: Pair, table: Columns) -> tuple[list[Estimate], list[Estimate]]:
        """Estimate with the set of smallest variance, and with the minimal ones and the largest beside it."""
        ready = self.ready
        best = best_set(ready, pair, table, self.climb)
        largest = canonical_set(ready, pair)
        assert largest is not None
        beside = dict.fromkeys(
            z for z in (*islice(minimal_sets(ready, pair), self.beside), largest) if z != best and self.beside
        )
        x, y = ready.graph.names[pair.x], ready.graph.names[pair.y]
        estimates = [adjusted_estimates(table, x, y, ready.named(z), self.how) for z in (best, *beside)]
        return estimates[0], [estimate for part in estimates[1:] for estimate in part]


def _instrumented(answering: Answering, instrument: Node, x: int, y: int) -> Instrumented:
    """Return the effect by an instrument that is stated, and how firm what the graph adds to the statement is."""
    ready, table, claims = answering.ready, answering.table, answering.claims
    assert table is not None
    assert claims is not None
    w, held = stated_instrument(ready, instrument, x, y)
    names = ready.graph.names
    found = by_instrument(table, names[w], names[x], names[y], ready.named(held), answering.how.seed)
    if claims.result is None:
        return found
    near = [around & ~(1 << x) for around in ready.graph.masks.adjacent]
    near[w], near[y], near[x] = near[w] & ~(1 << y), near[y] & ~(1 << w), 0
    one, other = closure(near, 1 << w), closure(near, 1 << y)  # what else is tied to either of them
    bearing = Bearing(claims).across(one, other)
    bearing.ends[:] = False
    if one & other:
        bearing.within(one)
    bearing.pairs[w, y] = bearing.pairs[y, w] = bearing.ends[w, y] = bearing.ends[y, w] = False  # which is stated
    level = bearing.level
    return replace(found, grade=grade_named(level), cautions=bearing.cautions() if level < LIKELY else ())


def _without_effect(told: Effect, claims: Claims, i: int, j: int) -> Effect:
    """Return the answer that there is no effect with how firm that is: as firm as that i does not cause j."""
    assert claims.result is not None
    claim, one = claims.on(j)[i], claims.rejected(i, j)
    level = claim.level if claim.status == "impossible" else OPEN
    x, y = (readable(name) for name in (told.identified.x, told.identified.y))
    because = no_path(x, y, missed_below(claims.result, i, j) if level >= LIKELY else None)
    if told.identified.because != FOLLOWS:
        told = replace(told, identified=replace(told.identified, because=because))
    if level >= LIKELY:
        return replace(told, grade=grade_named(level))
    told = replace(told, associated="" if one is None else do_not_conclude(one, x, y))
    own = () if one is None else (rejection(one),)
    return _with_cautions(told, level, (*own, *why_not_impossible(claims, i, j)))


def _with_cautions(told: Effect, level: int, cautions: Sequence[str]) -> Effect:
    """Return an answer with its grade and its cautions, each once; one that is not established has some."""
    general = (NOT_ESTABLISHED,) if level < LIKELY else ()
    return replace(told, grade=grade_named(level), cautions=tuple(dict.fromkeys(cautions)) or general)


def _comparable(ready: Prepared, table: Columns, x: int, y: int) -> Any:
    """Return the covariance, unless what bears on the pair has levels without an order, of which it says nothing."""
    near = ready.named(ready.possible_ancestors(1 << x | 1 << y))
    return None if any(table.kind(name) == Kind.NOMINAL for name in near) else ordered_covariance(ready, table)
