"""Does X affect Y, and by how much? The answer in words, with the numbers and what they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from lmarvel.data import Dataset, Kind
from lmarvel.effects.adjustment import Pair, canonical_set, checked_pair, minimal_sets, pair_of
from lmarvel.effects.columns import Columns
from lmarvel.effects.estimate import Estimate, adjusted_estimates, formula_estimates
from lmarvel.effects.formula import Density, Formula
from lmarvel.effects.grounds import Recurring, caution, edges_among, says_selection, what_it_rests_on
from lmarvel.effects.identified import Identified, classify, classify_given, ready_for_effects
from lmarvel.effects.prepared import Prepared, node_set, selection_near
from lmarvel.effects.ranges import MOST, Range, effect_range
from lmarvel.effects.variance import smallest_variance
from lmarvel.errors import GraphError, ParameterError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import Edge
from lmarvel.graph.mixed import Node
from lmarvel.prompt import ShownAsText
from lmarvel.result import Discovery
from lmarvel.wording import listing, readable

SIDE_BY_SIDE = 12  # other valid sets that are shown


@dataclass(frozen=True)
class Effect(ShownAsText):
    """The answer to a question about an effect; print it to read it.

    Attributes
    ----------
    identified : Identified
        Whether and how the effect is the same under every explanation.
    given : tuple of str
        What is held, by looking at those with the same values.
    estimates : tuple of Estimate
        The effect: one number, or one for each level. Empty without data, and where it is not identified.
    others : tuple of Estimate
        The same by other valid adjustment sets. They estimate the same thing, so where they disagree the graph is in
        doubt.
    range : Range or None
        The values over the explanations, where it is not identified.
    affected : tuple of str
        Those of ``given`` that x may affect; then the number is not the effect in a group that exists before x is set.
    rests_on : str
        What has to be true for the answer to be.
    names : tuple of str
        The variables of the graph.
    caution : str
        What stands before the sentence where it makes a claim that is not firm.

    Examples
    --------
    >>> from lmarvel import PAG, effect
    >>> print(effect(PAG.from_edges("A o-> X", "B o-> X", "X --> Y"), "A", "Y"))  # doctest: +ELLIPSIS
    Whether and how much A affects Y cannot be told from these data, because the data do not tell whether A affects ...
    """

    identified: Identified
    given: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    others: tuple[Estimate, ...]
    range: Range | None
    affected: tuple[str, ...]
    rests_on: str
    names: tuple[str, ...]
    caution: str = ""

    @property
    def status(self) -> str:
        """One of 'none', 'adjustment', 'formula', 'not identified'."""
        return self.identified.status

    @property
    def value(self) -> float | None:
        """The estimate; None if there is none, or one for each of several levels."""
        if self.status == "none":
            return 0.0
        return self.estimates[0].value if len(self.estimates) == 1 else None

    @property
    def formula(self) -> str | None:
        """The formula as text; None where there is no effect, or it is not identified."""
        return None if self._formula is None else f"{self._asked} = {self._formula.text(self.names)}"

    @property
    def latex(self) -> str | None:
        """The formula as LaTeX."""
        if self._formula is None:
            return None
        seen = "".join(rf", \text{{{name}}}" for name in self.given)
        left = rf"P(\text{{{self.identified.y}}} \mid \operatorname{{do}}(\text{{{self.identified.x}}}){seen})"
        return f"{left} = {self._formula.latex(self.names)}"

    @property
    def _formula(self) -> Formula | None:
        return None if self.status in ("none", "not identified") else self.identified.formula

    @property
    def _asked(self) -> str:
        seen = "".join(f", {name}" for name in self.given)
        return f"P({self.identified.y} | do({self.identified.x}){seen})"

    # --- words --------------------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        """The answer in one sentence, no stronger than the graph that it is read from."""
        return f"{self.caution if self._claims else ''}{self._answer}"

    @property
    def _claims(self) -> bool:
        """Whether something is claimed, and not only that it cannot be told."""
        return self.status != "not identified" or (self.identified.cause == "definite" and not self.given)

    @property
    def _answer(self) -> str:
        x, y = readable(self.identified.x), readable(self.identified.y)
        among = f"Among those with the same {listing(self.given)}, " if self.given else ""
        if self.status == "none":
            return f"{among}{x} does not affect {y} under any explanation of these data: {self.identified.because}."
        if self.status == "not identified":
            why = f"because {self.identified.because}, unless {self.identified.unless}"
            if self.identified.cause == "definite" and not self.given:
                return f"{x} affects {y}, but by how much cannot be told from these data, {why}."
            asked = f"{'whether' if among else 'Whether'} and how much {x} affects {y}"
            return f"{among}{asked} cannot be told from these data, {why}."
        if not self.estimates:
            how = "is the same under every explanation of these data, and can be estimated"
            return f"{among}{'the' if among else 'The'} effect of {x} on {y} {how}{self._how}."
        number, zero = self._numbers
        if self.affected:
            given, late = listing(self.given), listing(self.affected)
            return (
                f"If {x} is set, {y} among those who then have the same {given} differs by {number}, under every"
                f" explanation of these data. {late} may be affected by {x}, so this is no effect within a group that"
                f" exists before.{zero}"
            )
        if len(self.estimates) > 1:
            return f"{among}{x} affects {y} under every explanation of these data: {number}.{zero}"
        return f"{among}{x} affects {y} by {number} under every explanation of these data.{zero}"

    @property
    def _numbers(self) -> tuple[str, str]:
        """The estimates in words, and what to say of intervals that hold 0."""
        holds = sum(one.low <= 0 <= one.high for one in self.estimates)
        if len(self.estimates) == 1:
            return str(self.estimates[0]), " The interval holds 0." if holds else ""
        all_of = "All intervals hold 0." if holds == len(self.estimates) else f"{holds} of the intervals hold 0."
        one_of = "One of the intervals holds 0."
        told = "; ".join(f"{one.contrast}: {one}" for one in self.estimates)
        return told, f" {one_of if holds == 1 else all_of}" if holds else ""

    @property
    def _how(self) -> str:
        if self.identified.adjustment is None:
            return " by a formula"
        return f" by adjusting for {listing(self.identified.adjustment)}"

    @property
    def disagreement(self) -> str | None:
        """What to say where the interval of another valid set lies apart from that of the one chosen; else None."""
        mine = {one.contrast: one for one in self.estimates}
        for other in self.others:
            one = mine[other.contrast]
            if other.low > one.high or other.high < one.low:
                ours, theirs = listing(one.adjusted or ()), listing(other.adjusted or ())
                sets = f"adjusting for {ours} gives {one}, for {theirs} {other}"
                return f"Valid sets disagree: {sets}. Either the graph is not right, or the effect is not linear."
        return None

    def __str__(self) -> str:
        lines = [self.sentence]
        if self.estimates:
            lines += [
                f"  {one.contrast}: {one}, standard error {one.error:.2g}, by {self._by(one)}" for one in self.estimates
            ]
        if self.others:
            lines += ["The same by other valid adjustment sets:"]
            lines += [f"  {self.labelled(one)}, {self._by(one)}" for one in self.others]
        if self.disagreement:
            lines.append(self.disagreement)
        if self.formula and self.status == "formula":
            lines += [
                f"Formula: {self.formula}",
                *(f"  {i}. {step}" for i, step in enumerate(self.identified.steps, 1)),
            ]
        if self.range is not None:
            lines.append(str(self.range))
        return "\n".join([*lines, self.rests_on])

    def labelled(self, one: Estimate) -> str:
        """Return an estimate in words, with what it is of where there are several."""
        return f"{one.contrast}: {one}" if len(self.estimates) > 1 else str(one)

    def _by(self, one: Estimate) -> str:
        if one.adjusted is None:
            return one.method
        return f"adjusting for {listing(one.adjusted)} ({one.method})"

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data, ready for JSON."""
        return {
            **self.identified.to_dict(),
            "given": list(self.given),
            "affected": list(self.affected),
            "sentence": self.sentence,
            "estimates": [one.to_dict() for one in self.estimates],
            "others": [one.to_dict() for one in self.others],
            "disagreement": self.disagreement,
            "formula": self.formula,
            "latex": self.latex,
            "steps": list(self.identified.steps),
            "range": None if self.range is None else self.range.to_dict(),
            "rests_on": self.rests_on,
        }


def effect(
    found: Discovery | PAG | Prepared,
    x: Node,
    y: Node,
    data: Any = None,
    *,
    given: Node | Iterable[Node] = (),
    bootstrap: int | None = None,
    seed: int = 0,
    nominal: Sequence[str] = (),
    most: int = MOST,
) -> Effect:
    """Return whether ``x`` affects ``y``, and by how much, under every explanation of the data that a PAG stands for.

    Parameters
    ----------
    found : Discovery or PAG
        What was learned.
    x, y : str
        Cause and outcome.
    data : array, frame, mapping, path or Dataset, optional
        The table; without it the answer has no numbers.
    given : str or sequence of str
        Variables to condition on: the effect among those with the same values of them.
    bootstrap : int, optional
        Number of replicates for the interval. By default, HC3 standard errors where least squares does, else 200.
    seed : int
        For the bootstrap.
    nominal : sequence of str
        Columns whose numbers are labels.
    most : int
        How many MAGs of the class to look at where the effect is not identified.

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
    ready = ready_for_effects(found)
    i, j = checked_pair(ready, x, y)
    z = node_set(ready.graph, given)
    if z & (1 << i | 1 << j):
        raise GraphError(
            f"{readable(ready.graph.names[i if z >> i & 1 else j])} is asked about: it cannot be given as well"
        )
    _check_counts(bootstrap, most)
    told = classify_given(ready, i, j, z) if z else classify(ready, i, j)
    table = None if data is None else Columns(Dataset.of(data, columns=ready.graph.names), nominal)
    answered = Answering(ready, table, found, bootstrap, seed)
    span = None
    if told.status == "not identified" and told.path and not z:
        span = effect_range(ready, i, j, None if table is None else _comparable(ready, table, i, j), most)
    return answered.answer(told, z, span)


@dataclass(frozen=True)
class Answering:
    """What answers to questions about one graph have in common.

    Attributes
    ----------
    ready : Prepared
        The graph.
    table : Columns or None
        The table; without it answers have no numbers.
    found : object
        What the graph comes from, which may tell how firm it is.
    bootstrap, seed
        See :func:`effect`.
    beside : int
        How many other valid adjustment sets to estimate with.
    climb : bool
        Whether to look further for a set of small variance than among minimal sets and the largest.
    """

    ready: Prepared
    table: Columns | None = None
    found: object = None
    bootstrap: int | None = None
    seed: int = 0
    beside: int = SIDE_BY_SIDE
    climb: bool = True

    def answer(self, told: Identified, given: int = 0, span: Range | None = None) -> Effect:
        """Return the answer for a pair, with numbers if there is a table and the effect is identified."""
        ready = self.ready
        i, j = ready.graph.index(told.x), ready.graph.index(told.y)
        estimates: list[Estimate] = []
        others: list[Estimate] = []
        if self.table is not None and told.status == "adjustment":
            estimates, others = self._by_adjustment(pair_of(ready, i, j), self.table)
        elif self.table is not None and told.status == "formula":
            estimates = _by_formula(ready, told, self.table, self.bootstrap, self.seed)
        chance = " The interval does not hold the chance of learning another graph." if estimates else ""
        near = ready.possible_ancestors(1 << i | 1 << j | given)
        selected = selection_near(ready.graph, 1 << i | 1 << j) is not None
        edges = edges_among(self.found, ready.named(near), border=told.status == "none")
        if selected:  # which is why nothing can be told
            edges = [edge for edge in edges_among(self.found, ready.graph.names) if says_selection(edge)]
        often = None
        if told.cause != "possible":
            often = Recurring.of(self.found, told.path, told.x, told.y, told.cause == "definite")
        return Effect(
            told,
            ready.named(given),
            tuple(estimates),
            tuple(others),
            span,
            ready.named(ready.possible_descendants(1 << i) & given),
            self.rests_on(edges, selected) + _recurs(told, often) + chance + self._elsewhere(bool(estimates)),
            ready.graph.names,
            caution(self.found, edges, f"it recurs in {often.words}" if often and often.too_rare else ""),
        )

    def rests_on(self, edges: Sequence[Edge], selected: bool = False) -> str:
        """Say what answers rest on, and how firm the edges are that bear on them.

        ``selected`` means that the answer is that the sample was selected.
        """
        whole = not isinstance(self.found, Discovery) or self.ready.graph is self.found.pag
        left_out = "" if whole else " What was said beforehand is left out: the graph is that of the data alone."
        return what_it_rests_on(self.found, edges, selected) + left_out

    def _elsewhere(self, numbers: bool) -> str:
        """Say so where the numbers are of another table than the graph."""
        learned = self.found.data if isinstance(self.found, Discovery) else None
        if not numbers or learned is None or self.table is None or self.table.fingerprint == learned["fingerprint"]:
            return ""
        return " The graph was learned from another table than these numbers: that it is right for both is assumed."

    def _by_adjustment(self, pair: Pair, table: Columns) -> tuple[list[Estimate], list[Estimate]]:
        """Estimate with the set of smallest variance, and with the minimal ones and the largest beside it."""
        ready = self.ready
        best = smallest_variance(ready, pair, _covariance(ready, table), self.climb)
        largest = canonical_set(ready, pair)
        assert best is not None
        assert largest is not None
        beside = dict.fromkeys(
            z for z in (*islice(minimal_sets(ready, pair), self.beside), largest) if z != best and self.beside
        )
        x, y = ready.graph.names[pair.x], ready.graph.names[pair.y]
        found = [adjusted_estimates(table, x, y, ready.named(z), self.bootstrap, self.seed) for z in (best, *beside)]
        return found[0], [one for part in found[1:] for one in part]


def _recurs(told: Identified, often: Recurring | None) -> str:
    """Say how often what is claimed of a pair recurs, where a bootstrap tells."""
    if often is None:
        return ""
    verb = "causes" if told.cause == "definite" else "does not cause"
    return f" That {readable(told.x)} {verb} {readable(told.y)} recurs: {often.words}."


def _by_formula(ready: Prepared, told: Identified, table: Columns, bootstrap: int | None, seed: int) -> list[Estimate]:
    formula = told.formula
    if isinstance(formula, Density):  # P(y | x, z): a regression
        z = ready.named(formula.given & ~(1 << ready.graph.index(told.x)))
        return adjusted_estimates(table, told.x, told.y, z, bootstrap, seed)
    assert formula is not None
    return formula_estimates(table, formula, ready.graph.names, told.x, told.y, bootstrap, seed)


def _covariance(ready: Prepared, table: Columns) -> Any:
    at = [table.names.index(name) for name in ready.graph.names]
    return table.covariance[np.ix_(at, at)]


def _comparable(ready: Prepared, table: Columns, x: int, y: int) -> Any:
    """Return the covariance, unless what bears on the pair has levels without an order, of which it says nothing."""
    near = ready.named(ready.possible_ancestors(1 << x | 1 << y))
    return None if any(table.kind(name) == Kind.NOMINAL for name in near) else _covariance(ready, table)


def _check_counts(bootstrap: int | None, most: int) -> None:
    for name, value, least in (("bootstrap", bootstrap, 2), ("most", most, 1)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise ParameterError(f"{name} must be a whole number of at least {least}, not {value!r}")
