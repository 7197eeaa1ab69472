"""What is measured of a run: a registry of functions of what was found and how it scores against the truth.

A measure that is added here is a column of the runs, a line of every summary, and at hand for tables and figures.
Tests and runtime are counted without the boundary stage, as the paper counts; ``all_tests`` has it, and so have the
bounds on the number of tests. These are about tests that are never wrong, the lower one about the worst case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lmarvel.experiments.bounds import bounds_of
from lmarvel.graph.metrics import Rate, Scores, compare_boundaries
from lmarvel.orient.study import Study
from lmarvel.result.discovery import Discovery

_LARGEST = 10**300  # a bound that is larger than any float is shown as this


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.1f}"


def _one_digit(value: float) -> str:
    return f"{value:.1f}"


def _two_digits(value: float) -> str:
    return f"{value:.2f}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value < 1e6 else f"{value:.1e}"


class Outcome(NamedTuple):
    """What a run found, how it scores, and the truth."""

    result: Discovery
    scores: Scores
    study: Study

    @property
    def boundaries(self) -> Rate | None:
        """How the Markov boundaries score; None for a method without them."""
        return compare_boundaries(self.result.boundaries, self.study.mag) if self.result.boundaries else None


class Measure(NamedTuple):
    """A number of a run, None where the method has none, and how it is shown in a table."""

    of: Callable[[Outcome], float | None]
    show: Callable[[float], str] = _two_digits


def _runtime(result: Discovery) -> float:
    return sum(seconds for phase, seconds in result.stats.seconds.items() if phase not in ("data", "boundary"))


def _bounds(study: Study) -> tuple[float, float]:
    """Return the bounds on the number of tests, as numbers that a table of runs can hold."""
    low, high = bounds_of(study.mag)
    return float(min(low.total, _LARGEST)), float(min(high.total, _LARGEST))


def _boundary(value: Callable[[Rate], float]) -> Callable[[Outcome], float | None]:
    return lambda run: None if run.boundaries is None else value(run.boundaries)


def _boundary_tests(result: Discovery) -> int:
    return result.stats.n_tests - result.stats.without("boundary").n_tests


MEASURES: Mapping[str, Measure] = {
    "ci_tests": Measure(lambda run: run.result.stats.without("boundary").n_tests, _count),
    "runtime_s": Measure(lambda run: _runtime(run.result), _seconds),
    "f1": Measure(lambda run: run.scores.skeleton.f1),
    "precision": Measure(lambda run: run.scores.skeleton.precision),
    "recall": Measure(lambda run: run.scores.skeleton.recall),
    "mean_set": Measure(lambda run: run.result.stats.without("boundary").mean_conditioning_size, _one_digit),
    "mark_f1": Measure(lambda run: run.scores.marks.f1),
    "mark_precision": Measure(lambda run: run.scores.marks.precision),
    "mark_recall": Measure(lambda run: run.scores.marks.recall),
    "arrowhead_f1": Measure(lambda run: run.scores.mark("arrowhead").f1),
    "tail_f1": Measure(lambda run: run.scores.mark("tail").f1),
    "hamming": Measure(lambda run: run.scores.hamming, _one_digit),
    "legal": Measure(lambda run: float(run.result.why_illegal is None)),
    "extra": Measure(lambda run: len(run.scores.extra)),
    "missing": Measure(lambda run: len(run.scores.missing)),
    "boundary_tests": Measure(lambda run: _boundary_tests(run.result), _count),
    "boundary_f1": Measure(_boundary(lambda rate: rate.f1)),
    "boundary_precision": Measure(_boundary(lambda rate: rate.precision)),
    "boundary_recall": Measure(_boundary(lambda rate: rate.recall)),
    "boundary_extra": Measure(_boundary(lambda rate: (rate.found - rate.right) / 2), _one_digit),
    "boundary_missing": Measure(_boundary(lambda rate: (rate.true - rate.right) / 2), _one_digit),
    "degree": Measure(lambda run: run.study.mag.delta_plus_in(), _one_digit),
    "all_tests": Measure(lambda run: run.result.stats.n_tests, _count),
    "lower_bound": Measure(lambda run: _bounds(run.study)[0], _short),
    "upper_bound": Measure(lambda run: _bounds(run.study)[1], _short),
    "total_s": Measure(lambda run: sum(run.result.stats.seconds.values()), _seconds),
}
OF_THE_TRUTH = ("degree", "lower_bound", "upper_bound")  # the same for every method of a repetition
TIMES = ("runtime_s", "total_s")
