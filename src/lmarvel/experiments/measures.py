"""What is measured of a run: a registry of functions of what was found and how it scores against the truth.

A measure that is added here is a column of the runs, a line of every summary, and at hand for tables and figures.
Tests and runtime are counted without the boundary stage, as the paper counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lmarvel.metrics import Scores
from lmarvel.result import Discovery


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.1f}"


def _one_digit(value: float) -> str:
    return f"{value:.1f}"


def _two_digits(value: float) -> str:
    return f"{value:.2f}"


class Measure(NamedTuple):
    """A number of a run, and how it is shown in a table."""

    of: Callable[[Discovery, Scores], float]
    show: Callable[[float], str] = _two_digits


def _runtime(found: Discovery) -> float:
    return sum(seconds for phase, seconds in found.stats.seconds.items() if phase not in ("data", "boundary"))


def _boundary_tests(found: Discovery) -> int:
    return found.stats.n_tests - found.stats.without("boundary").n_tests


MEASURES: Mapping[str, Measure] = {
    "ci_tests": Measure(lambda found, scores: found.stats.without("boundary").n_tests, _count),
    "runtime_s": Measure(lambda found, scores: _runtime(found), _seconds),
    "f1": Measure(lambda found, scores: scores.skeleton.f1),
    "precision": Measure(lambda found, scores: scores.skeleton.precision),
    "recall": Measure(lambda found, scores: scores.skeleton.recall),
    "mean_set": Measure(lambda found, scores: found.stats.without("boundary").mean_conditioning_size, _one_digit),
    "mark_f1": Measure(lambda found, scores: scores.marks.f1),
    "mark_precision": Measure(lambda found, scores: scores.marks.precision),
    "mark_recall": Measure(lambda found, scores: scores.marks.recall),
    "arrowhead_f1": Measure(lambda found, scores: scores.mark("arrowhead").f1),
    "tail_f1": Measure(lambda found, scores: scores.mark("tail").f1),
    "hamming": Measure(lambda found, scores: scores.hamming, _one_digit),
    "legal": Measure(lambda found, scores: float(found.why_illegal is None)),
    "extra": Measure(lambda found, scores: len(scores.extra)),
    "missing": Measure(lambda found, scores: len(scores.missing)),
    "boundary_tests": Measure(lambda found, scores: _boundary_tests(found)),
    "total_s": Measure(lambda found, scores: sum(found.stats.seconds.values()), _seconds),
}
TIMES = ("runtime_s", "total_s")
