"""Parts of the answer to a question about an effect, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lmarvel.effects.numbers.estimate import Estimate
from lmarvel.effects.spread import Spread
from lmarvel.result.support.frequencies import percent
from lmarvel.text import counted, sentence


def again_in_words(again: Spread, estimates: Sequence[Estimate]) -> str:
    """Say what graphs of resamples say of an effect, and which interval takes the learned graph as given."""
    total = counted(sum(again.statuses.values()), "resample")
    if not any(one.fixed for one in estimates):
        return f"Learned again from {total}, each with its own graph: {again}."
    ends = "; ".join(
        labelled(replace(one, low=one.in_graph[0], high=one.in_graph[1]), len(estimates) > 1) for one in estimates
    )
    return (
        f"Learned again from {total}, each with its own graph: {again.counts}. The interval is over these, and at"
        f" least as wide as with the learned graph alone. {_unbounded(again)}With the learned graph taken as given, it"
        f" is {ends}."
    )


def _unbounded(again: Spread) -> str:
    """Say in how many graphs nothing bounds the effect, and how many of them count as 0."""
    if not again.unbounded:
        return ""
    many, maybe = counted(again.unbounded, "graph"), again.maybe_none
    if not maybe:
        return f"In {many} nothing bounds the effect, which the interval leaves out. "
    verbs = ("leaves", "counts") if maybe == 1 else ("leave", "count")
    return (
        f"In {many} nothing bounds the effect. Of these, {maybe:,} {verbs[0]} open whether there is an effect, and"
        f" {verbs[1]} as 0. "
    )


def labelled(estimate: Estimate, several: bool) -> str:
    """Return an estimate in words, with what it is of where there are several."""
    return f"{estimate.contrast}: {estimate}" if several else str(estimate)


def ratio_in_words(estimate: Estimate) -> str:
    """Return the risk ratio of an estimate in words."""
    assert estimate.ratio is not None
    value, low, high = estimate.ratio
    return f"{estimate.contrast}: risk ratio {value:.3g} ({low:.3g} to {high:.3g})"


def trimmed_in_words(estimates: Sequence[Estimate]) -> list[str]:
    """Say so where rows could hardly have had some category of the cause."""
    share = max(estimate.trimmed for estimate in estimates)
    if not share:
        return []
    return [
        f"  {percent(share)} of the rows could hardly have had another value of the cause (a chance below 1 %), so the"
        " average over all rows leans on few comparable ones."
    ]


def capital(words: str) -> str:
    """Return words with a capital letter at the start."""
    return f"{words[:1].upper()}{words[1:]}"


def in_sentences(start: str, clauses: Sequence[str]) -> str:
    """Return clauses as sentences, the first of which has a beginning."""
    first, *more = clauses
    return " ".join([f"{start}{first}.", *map(sentence, more)])
