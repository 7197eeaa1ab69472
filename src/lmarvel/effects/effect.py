"""The answer to a question about an effect, in words: the sentence, the numbers beside it, and what they rest on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lmarvel.deferred import Deferred
from lmarvel.effects.caveats import listed_statements
from lmarvel.effects.classify import ASSUME, Identified
from lmarvel.effects.formula import Formula
from lmarvel.effects.knowing.ways import Way
from lmarvel.effects.numbers.estimate import Estimate
from lmarvel.effects.numbers.sensitivity import Sensitivity
from lmarvel.effects.numbers.sensitivity import in_sentences as strength_in_sentences
from lmarvel.effects.numbers.two_stage import Instrumented
from lmarvel.effects.numbers.witness import Witness
from lmarvel.effects.phrases import again_in_words, capital, in_sentences, labelled, ratio_in_words, trimmed_in_words
from lmarvel.effects.ranges import Range
from lmarvel.effects.spread import Spread
from lmarvel.graph.marks import quote
from lmarvel.result.support.grades import GRADES, Grade
from lmarvel.text import ShownAsText, listing, readable

IGNORES = " The interval ignores uncertainty about the graph."
IN_YOURS = " in the graph you gave"
MOST_ENOUGH = 3  # statements that are named where an effect is not identified


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
    grade : 'firm', 'likely', 'open', 'unchecked', 'stated' or None
        How firm the parts of the learned graph are that bear on the answer; None where nothing is claimed or graded.
    cautions : tuple of str
        What speaks against relying on the answer.
    associated : str
        What to say in place of "does not affect" where the data reject that the two are independent.
    stated : bool
        Whether the graph is a DAG or ADMG that the user gave, and nothing that was learned.
    statements : tuple of str
        What was stated beforehand, on which the answer rests, too.
    groups : tuple of Estimate
        The effect within groups, where these were asked for.
    instrument : Instrumented or None
        The effect by an instrument that the user stated.
    sensitivity : tuple of Sensitivity
        For each estimate by adjustment, how strong an unmeasured common cause would have to be to explain it away.
    witnesses : tuple of Witness
        Why unmeasured common causes of x and what it affects are excluded, in a learned graph.
    again : Spread or None
        What graphs say that were learned again from resamples; then intervals are over these.
    later_enough : Deferred
        Where it is not identified, single statements that would identify it; looked for when somebody reads them.

    Examples
    --------
    >>> from lmarvel import PAG, effect
    >>> print(effect(PAG.from_edges("A o-> X", "B o-> X", "X --> Y"), "A", "Y"))  # doctest: +ELLIPSIS
    The effect of A on Y is not identified, because the data do not show whether A affects ...
    """

    identified: Identified
    given: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    others: tuple[Estimate, ...]
    range: Range | None
    affected: tuple[str, ...]
    rests_on: str
    names: tuple[str, ...]
    grade: Grade | None = None
    cautions: tuple[str, ...] = ()
    associated: str = ""
    stated: bool = False
    statements: tuple[str, ...] = ()
    groups: tuple[Estimate, ...] = ()
    instrument: Instrumented | None = None
    sensitivity: tuple[Sensitivity, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    again: Spread | None = None
    later_enough: Deferred[tuple[Way, ...]] = field(default_factory=lambda: Deferred.of(()), repr=False, compare=False)

    @property
    def enough(self) -> tuple[Way, ...]:
        """Single statements that would identify an effect that is not; of few that are tried."""
        return self.later_enough.made

    @property
    def status(self) -> str:
        """One of 'none', 'adjustment', 'formula', 'not identified'."""
        return self.identified.status

    @property
    def value(self) -> float | None:
        """The estimate; None if there is none, or several; 0 where the data support that there is no effect."""
        if self.status == "none":
            return 0.0 if self.reliable else None
        if self.status == "not identified" and self.instrument is not None:
            return self.instrument.value
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

    def over(self, again: Spread) -> Effect:
        """Return the answer with intervals over graphs learned again, where there are enough of them.

        No interval is narrower than the one that takes the learned graph as given. Graphs that find no effect count
        with 0, and so do those that leave open whether there is one. In graphs that do not identify it nothing bounds
        the effect; where these, or those that find none, are more than 2.5 %, this is a caution.
        """
        ends = [again.interval(one.contrast) for one in self.estimates]
        estimates = tuple(
            one if end is None else one.widened(*end) for one, end in zip(self.estimates, ends, strict=True)
        )
        strengths = tuple(
            replace(one, low=estimate.low, high=estimate.high)
            for one, estimate in zip(self.sensitivity, estimates, strict=False)
        )
        rests_on = self.rests_on.replace(IGNORES, "") if ends and None not in ends else self.rests_on
        found = () if again.caution is None or not estimates else (again.caution,)
        told = replace(self, cautions=(*self.cautions, *found), again=again, rests_on=rests_on)
        return replace(told, estimates=estimates, sensitivity=strengths)

    def not_again(self, why: str) -> Effect:
        """Return the answer with the reason why its intervals take the learned graph as given."""
        ignores = f"{IGNORES.rstrip('.')}, because {why}."
        return replace(self, rests_on=self.rests_on.replace(IGNORES, ignores))

    # --- words --------------------------------------------------------------------------------------------

    @property
    def reliable(self) -> bool:
        """Whether the data support the parts of the graph that bear on the answer, and valid sets agree."""
        return self.disagreement is None and self.grade not in ("open", "unchecked")

    @property
    def badge(self) -> str:
        """The answer in a few words."""
        if self.status == "not identified":
            return "Not identified"
        if self.status == "none":
            no_effect = "Probably no effect" if self.grade == "likely" else "No effect"
            return no_effect if self.reliable else "Not established"
        if not self.reliable:
            return "Identified, but unreliable"
        return "Probably identified" if self.grade == "likely" else "Identified"

    @property
    def sentence(self) -> str:
        """The answer in words, no stronger than the graph that it is read from; cautions come first."""
        return " ".join(self._sentences)

    @property
    def _sentences(self) -> list[str]:
        """What to be cautious about, and the answer."""
        if self.status == "none":
            return [self._no_effect]
        if self.status == "not identified":
            return [self._not_identified]
        if self.reliable:
            return [*([in_sentences("Caution: ", self.cautions)] if self.cautions else []), self._effect]
        under = f"{'In the graph you gave' if self.stated else 'Under the learned graph'}, {self._effect_in_words}"
        return [in_sentences(f"{self.badge}: ", self.cautions), under]

    @property
    def _that_fits(self) -> str:
        return " that fits what you stated" * bool(self.statements)

    @property
    def _pair(self) -> tuple[str, str]:
        return readable(self.identified.x), readable(self.identified.y)

    @property
    def _among(self) -> str:
        return f"among those with the same {listing(sorted(self.given))}, " if self.given else ""

    @property
    def _no_effect(self) -> str:
        x, y = self._pair
        among, because = capital(self._among), self.identified.because
        if self.grade is None:
            where = IN_YOURS if self.stated else f" under any explanation of these data{self._that_fits}"
            return f"{among}{x} does not affect {y}{where}: {because}."
        if not self.reliable:
            if self.associated:
                return f"{self.associated}."
            doubt = "was not checked" if self.grade == "unchecked" else "is not established"
            return in_sentences(f"{among}{because if among else capital(because)}, but this {doubt}: ", self.cautions)
        claim = "probably does not affect" if self.grade == "likely" else "does not affect"
        stated = ", as you stated" * (self.grade == "stated")
        return f"{among}{x} {claim} {y}{stated}: {because}."

    @property
    def _not_identified(self) -> str:
        x, y = self._pair
        why = f"because {self.identified.because}. {self._what_helps}"
        if self.identified.cause == "definite" and not self.given and self.reliable:
            claim = "probably causes" if self.grade == "likely" else "causes"
            stated = IN_YOURS if self.stated else ", as you stated" * (self.grade == "stated")
            caution = in_sentences(" Caution: ", self.cautions) if self.cautions else ""
            return f"{x} {claim} {y}{stated}. The size of the effect is not identified, {why}{caution}"
        return f"{capital(f'{self._among}the')} effect of {x} on {y} is not identified, {why}"

    @property
    def _what_helps(self) -> str:
        """What would help to identify the effect, and which statements would be enough, where that was looked for."""
        if not self.enough:
            return f"It would help if {self.identified.unless}."
        one_of = "This statement" if len(self.enough) == 1 else "Each of these statements"
        listed = "; ".join(readable(way.statements[0]) for way in self.enough[:MOST_ENOUGH])
        measure = self.identified.unless.partition(ASSUME)[0]
        return f"It would help if {measure}. {one_of}, if true, would be enough: {listed}."

    @property
    def _effect(self) -> str:
        words = self._effect_in_words
        return words if words.startswith(self._pair[0]) else capital(words)

    @property
    def _effect_in_words(self) -> str:
        """The effect, identified; with a small letter."""
        x, y = self._pair
        among, probably = self._among, "probably " * (self.grade == "likely")
        everywhere = ""
        if self.reliable and (self.stated or self.grade not in GRADES[:3]):
            everywhere = IN_YOURS if self.stated else f" under every explanation of these data{self._that_fits}"
        if not self.estimates:
            mine = IN_YOURS * self.stated
            is_identified = f"is {probably}identified{mine}, and can be estimated" * self.reliable or "can be estimated"
            return f"{among}the effect of {x} on {y} {is_identified}{self._how}."
        number, zero = self._numbers
        if self.affected:
            conditions, late = listing(sorted(self.given)), listing(sorted(self.affected))
            return (
                f"if {x} is set, {y} among those who then have the same {conditions} {probably}differs by {number}"
                f"{everywhere}. {late} may be affected by {x}, so this is not an effect within a group that exists"
                f" before.{zero}"
            )
        if len(self.estimates) > 1:
            return f"{among}{x} {probably}affects {y}{everywhere}: {number}.{zero}"
        return f"{among}{x} {probably}affects {y} by {number}{everywhere}.{zero}"

    @property
    def _numbers(self) -> tuple[str, str]:
        """The estimates in words, and what to say of intervals that include 0."""
        holds = sum(estimate.low <= 0 <= estimate.high for estimate in self.estimates)
        if len(self.estimates) == 1:
            return str(self.estimates[0]), " The interval includes 0." if holds else ""
        all_of = "All intervals include 0." if holds == len(self.estimates) else f"{holds} of the intervals include 0."
        one_of = "One of the intervals includes 0."
        listed = "; ".join(f"{estimate.contrast}: {estimate}" for estimate in self.estimates)
        return listed, f" {one_of if holds == 1 else all_of}" if holds else ""

    @property
    def _how(self) -> str:
        if self.identified.adjustment is None:
            return " by a formula"
        return f" by adjusting for {listing(sorted(self.identified.adjustment))}"

    @property
    def disagreement(self) -> str | None:
        """The caution where the interval of another valid set lies apart from that of the one chosen; else None."""
        mine = {chosen.contrast: chosen for chosen in self.estimates}
        for alternative in self.others:
            chosen = mine[alternative.contrast]
            low, high = chosen.in_graph
            if alternative.low > high or alternative.high < low:
                ours, theirs = listing(sorted(chosen.adjusted or ())), listing(sorted(alternative.adjusted or ()))
                sets = f"adjusting for {ours} gives {chosen}, for {theirs} {alternative}"
                return f"valid sets disagree ({sets}), so the graph is wrong or the effect is not linear"
        return None

    def __str__(self) -> str:
        return self.with_file("GRAPH" if self.stated else "RESULT")

    def with_file(self, file: str) -> str:
        """Return the answer in words, where the command that would settle an open question names this file."""
        lines = [*self._sentences] if self.instrument is None else [str(self.instrument), *self._sentences]
        if self.estimates:
            lines += [
                f"  {estimate.contrast}: {estimate}, standard error {estimate.error:.2g}, by {self._by(estimate)}"
                for estimate in self.estimates
            ]
            lines += [f"  {ratio_in_words(estimate)}" for estimate in self.estimates if estimate.ratio is not None]
            lines += trimmed_in_words(self.estimates)
        if self.again is not None:
            lines.append(again_in_words(self.again, self.estimates))
        if self.groups:
            lines += ["Within groups:", *(f"  {estimate.contrast}: {estimate}" for estimate in self.groups)]
        if self.others:
            lines += ["The same by other valid adjustment sets:"]
            lines += [f"  {self.labelled(estimate)}, {self._by(estimate)}" for estimate in self.others]
        lines += self.fragility
        if self.formula and self.status == "formula":
            lines += [
                f"Formula: {self.formula}",
                *(f"  {i}. {step}" for i, step in enumerate(self.identified.steps, 1)),
            ]
        if self.range is not None:
            lines.append(str(self.range))
        if self.statements:
            lines.append(f"You stated: {listed_statements(self.statements)}.")
        return "\n".join([*lines, self.rests_on, *self._next(file)])

    def _next(self, file: str) -> list[str]:
        """Where to ask what would settle the question, if it is open."""
        if self.status != "not identified" or self.given or self.instrument is not None:
            return []
        x, y = (quote(name) for name in (self.identified.x, self.identified.y))
        return [f"What would settle it: lmarvel settle {file} {x} {y}"]

    @property
    def fragility(self) -> list[str]:
        """Why unmeasured common causes are excluded, and how strong one would have to be; in sentences."""
        return [*map(str, self.witnesses), *strength_in_sentences(self.sensitivity)]

    def labelled(self, estimate: Estimate) -> str:
        """Return an estimate in words, with what it is of where there are several."""
        return labelled(estimate, len(self.estimates) > 1)

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
            "badge": self.badge,
            "sentence": self.sentence,
            "grade": self.grade,
            "cautions": list(self.cautions),
            "estimates": [estimate.to_dict() for estimate in self.estimates],
            "groups": [estimate.to_dict() for estimate in self.groups],
            "sensitivity": [one.to_dict() for one in self.sensitivity],
            "witnesses": [one.to_dict() for one in self.witnesses],
            "others": [estimate.to_dict() for estimate in self.others],
            "disagreement": self.disagreement,
            "formula": self.formula,
            "latex": self.latex,
            "steps": list(self.identified.steps),
            "range": None if self.range is None else self.range.to_dict(),
            "instrument": None if self.instrument is None else self.instrument.to_dict(),
            "enough": [way.to_dict() for way in self.enough],
            "rests_on": self.rests_on,
            "statements": list(self.statements),
            **({} if self.again is None else {"learned_again": self.again.to_dict()}),
        }
