"""The answer to a question about an effect, in words: the sentence, the numbers beside it, and what they rest on."""

from __future__ import annotations

from dataclasses import dataclass

from lmarvel.effects.classify import Identified
from lmarvel.effects.estimate import Estimate
from lmarvel.effects.formula import Formula
from lmarvel.effects.ranges import Range
from lmarvel.text import ShownAsText, listing, readable


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
    stated : bool
        Whether the graph is a DAG or ADMG that the user gave, and nothing that was learned.

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
    stated: bool = False

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
    def _where(self) -> str:
        """Of what an answer holds."""
        return "in the graph you gave" if self.stated else "under every explanation of these data"

    @property
    def _answer(self) -> str:
        x, y = readable(self.identified.x), readable(self.identified.y)
        among = f"Among those with the same {listing(sorted(self.given))}, " if self.given else ""
        if self.status == "none":
            nowhere = self._where if self.stated else "under any explanation of these data"
            return f"{among}{x} does not affect {y} {nowhere}: {self.identified.because}."
        if self.status == "not identified":
            why = f"because {self.identified.because}, unless {self.identified.unless}"
            if self.identified.cause == "definite" and not self.given:
                where = f" {self._where}" if self.stated else ""
                return f"{x} affects {y}{where}, but by how much cannot be told from these data, {why}."
            question = f"{'whether' if among else 'Whether'} and how much {x} affects {y}"
            return f"{among}{question} cannot be told from these data, {why}."
        if not self.estimates:
            same = "can be estimated in the graph you gave"
            how = same if self.stated else "is the same under every explanation of these data, and can be estimated"
            return f"{among}{'the' if among else 'The'} effect of {x} on {y} {how}{self._how}."
        number, zero = self._numbers
        if self.affected:
            conditions, late = listing(sorted(self.given)), listing(sorted(self.affected))
            return (
                f"If {x} is set, {y} among those who then have the same {conditions} differs by {number},"
                f" {self._where}. {late} may be affected by {x}, so this is no effect within a group that"
                f" exists before.{zero}"
            )
        if len(self.estimates) > 1:
            return f"{among}{x} affects {y} {self._where}: {number}.{zero}"
        return f"{among}{x} affects {y} by {number} {self._where}.{zero}"

    @property
    def _numbers(self) -> tuple[str, str]:
        """The estimates in words, and what to say of intervals that hold 0."""
        holds = sum(estimate.low <= 0 <= estimate.high for estimate in self.estimates)
        if len(self.estimates) == 1:
            return str(self.estimates[0]), " The interval holds 0." if holds else ""
        all_of = "All intervals hold 0." if holds == len(self.estimates) else f"{holds} of the intervals hold 0."
        one_of = "One of the intervals holds 0."
        listed = "; ".join(f"{estimate.contrast}: {estimate}" for estimate in self.estimates)
        return listed, f" {one_of if holds == 1 else all_of}" if holds else ""

    @property
    def _how(self) -> str:
        if self.identified.adjustment is None:
            return " by a formula"
        return f" by adjusting for {listing(sorted(self.identified.adjustment))}"

    @property
    def disagreement(self) -> str | None:
        """What to say where the interval of another valid set lies apart from that of the one chosen; else None."""
        mine = {chosen.contrast: chosen for chosen in self.estimates}
        for alternative in self.others:
            chosen = mine[alternative.contrast]
            if alternative.low > chosen.high or alternative.high < chosen.low:
                ours, theirs = listing(sorted(chosen.adjusted or ())), listing(sorted(alternative.adjusted or ()))
                sets = f"adjusting for {ours} gives {chosen}, for {theirs} {alternative}"
                return f"Valid sets disagree: {sets}. Either the graph is not right, or the effect is not linear."
        return None

    def __str__(self) -> str:
        lines = [self.sentence]
        if self.estimates:
            lines += [
                f"  {estimate.contrast}: {estimate}, standard error {estimate.error:.2g}, by {self._by(estimate)}"
                for estimate in self.estimates
            ]
        if self.others:
            lines += ["The same by other valid adjustment sets:"]
            lines += [f"  {self.labelled(estimate)}, {self._by(estimate)}" for estimate in self.others]
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

    def labelled(self, estimate: Estimate) -> str:
        """Return an estimate in words, with what it is of where there are several."""
        return f"{estimate.contrast}: {estimate}" if len(self.estimates) > 1 else str(estimate)

    def _by(self, estimate: Estimate) -> str:
        if estimate.adjusted is None:
            return estimate.method
        return f"adjusting for {listing(sorted(estimate.adjusted))} ({estimate.method})"

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data, ready for JSON."""
        return {
            **self.identified.to_dict(),
            "given": list(self.given),
            "affected": list(self.affected),
            "sentence": self.sentence,
            "estimates": [estimate.to_dict() for estimate in self.estimates],
            "others": [estimate.to_dict() for estimate in self.others],
            "disagreement": self.disagreement,
            "formula": self.formula,
            "latex": self.latex,
            "steps": list(self.identified.steps),
            "range": None if self.range is None else self.range.to_dict(),
            "rests_on": self.rests_on,
        }
