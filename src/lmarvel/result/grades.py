"""How firm each part of a graph is: firm, likely, open, unchecked, or stated by the user.

One rule serves every method. The rows are resampled and the method learns again; a mark is as firm as the share of
resamples that have the same edge with the same mark, and a missing edge as the share that miss it, too. Where resamples
take too long, a search by score still knows how much worse the best graph with another mark is. Three things cap a
grade at open, whatever recurs: a PAG that no graph has, an implied independence that the data reject, and a statement
of the user is graded as such. What the words are worth on data with known truth is measured by
``benchmarks/grades.py``; docs/grades.md has the figures.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import ParameterError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import ARROW, CIRCLE, NONE

if TYPE_CHECKING:
    from lmarvel.result.discovery import Discovery

Grade = Literal["unchecked", "open", "likely", "firm", "stated"]
Shown = Literal["all", "supported", "firm"]
Basis = Literal["exact", "resamples", "score", "none"]
Levels = NDArray[np.int8]

GRADES: tuple[Grade, ...] = ("unchecked", "open", "likely", "firm", "stated")
"""The grades from the weakest to the strongest; their numbers begin with 1, and 0 is that of what has no grade."""

UNCHECKED, OPEN, LIKELY, FIRM, STATED = range(1, len(GRADES) + 1)
MARKS_SHOWN: dict[Shown, int] = {"all": 0, "supported": LIKELY, "firm": FIRM}

# Shares of the resamples, from which on a part is likely or firm; benchmarks/grades.py measured what they are worth.
LIKELY_HEAD, LIKELY_TAIL, FIRM_SHARE = 0.8, 0.85, 0.95
LIKELY_GAP = 0.8
STABLE = 0.9  # the share from which on an edge is called stable

# The same in units of the penalty per edge, by how much the best graph with another mark is worse.
LIKELY_WORSE, FIRM_WORSE = 0.9, 3.0


class Grades:
    """The grades of one result, by position.

    Attributes
    ----------
    basis : {"exact", "resamples", "score", "none"}
        What they rest on. The answers of an oracle, or of a test of the user's own, are taken as exact.
    marks : array of shape (p, p)
        The number of the grade of the mark at y on x-y; 0 at a circle and where there is no edge.
    gaps : array of shape (p, p)
        The number of the grade of each missing edge; 0 where there is an edge.

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel import Lift
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 1000))
    >>> found = Lift().fit({"A": a, "B": b, "C": a + b + rng.normal(size=1000)}).result_
    >>> found.grades.basis, found.grade("A", "C"), found.grade("C", "A")
    ('resamples', 'firm', None)
    """

    def __init__(self, result: Discovery) -> None:
        self._result = result
        self._marks = result.pag.marks

    @cached_property
    def basis(self) -> Basis:
        """What the grades rest on."""
        if self._result.settings.get("rows") is None:
            return "exact"
        if self._result.resamples is not None:
            return "resamples"
        return "score" if self._result.evidence.chose is not None else "none"

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of the resamples that have the same edge with the same mark at y; 0 without resamples."""
        counted = self._result.resamples
        if counted is None:
            return np.zeros(self._marks.shape)
        return counted.of_marks(self._marks) * counted.adjacent / counted.replicates

    @cached_property
    def marks(self) -> Levels:
        """The number of the grade of the mark at y on x-y."""
        by_basis = {"exact": self._exact, "resamples": self._resampled, "score": self._scored, "none": self._nothing}
        levels = np.where(self._marks > CIRCLE, by_basis[self.basis](), 0).astype(np.int8)
        result = self._result
        if self.basis != "exact":
            cap = np.full(levels.shape, STATED)
            if not result.undecided and result.why_illegal:
                cap[:] = OPEN
            for end in result.rejected:
                cap[end] = OPEN
            levels = np.minimum(levels, cap).astype(np.int8)
        if result.known is not None:
            names = result.pag.names
            for x, y in np.argwhere(levels > 0).tolist():
                if result.source(names[x], names[y]) in ("knowledge", "both"):
                    levels[x, y] = STATED
        return levels

    @cached_property
    def gaps(self) -> Levels:
        """The number of the grade of each missing edge."""
        result, missing = self._result, self._marks == NONE
        levels = np.full(missing.shape, FIRM if self.basis == "exact" else UNCHECKED, dtype=np.int8)
        if self.basis == "resamples" and result.resamples is not None:
            absent = 1.0 - result.resamples.adjacent / result.resamples.replicates
            levels = _levels(absent, LIKELY_GAP, FIRM_SHARE)
        elif self.basis == "score" and result.evidence.chose is not None:
            for pair, gap in result.evidence.gaps.items():
                x, y = sorted(pair)
                worse = gap.loss / result.evidence.chose.price
                levels[x, y] = levels[y, x] = _levels(np.asarray(worse), LIKELY_WORSE, FIRM_WORSE)
        if self.basis != "exact" and result.check is not None:
            for one in result.check.in_doubt:
                x, y = result.pag.index(one.x), result.pag.index(one.y)
                levels[x, y] = levels[y, x] = min(OPEN, levels[x, y])
        levels = np.where(missing, levels, 0).astype(np.int8)
        np.fill_diagonal(levels, 0)
        return levels

    def _exact(self) -> Levels:
        return np.full(self._marks.shape, FIRM, dtype=np.int8)

    def _nothing(self) -> Levels:
        return np.full(self._marks.shape, UNCHECKED, dtype=np.int8)

    def _resampled(self) -> Levels:
        """Arrowheads are right more often than tails with the same share."""
        likely = np.where(self._marks == ARROW, LIKELY_HEAD, LIKELY_TAIL)
        return _levels(self.shares, likely, FIRM_SHARE)

    def _scored(self) -> Levels:
        """One step weaker where hidden nodes gave the graph: others would change many marks at once."""
        evidence, levels = self._result.evidence, self._nothing()
        price = evidence.chose.price if evidence.chose is not None else 1.0
        for end, distance in evidence.distance.items():
            level = int(_levels(np.asarray(distance / price), LIKELY_WORSE, FIRM_WORSE))
            levels[end] = max(level - bool(evidence.hidden), OPEN)
        return levels

    def shown(self, marks: Shown) -> PAG:
        """Return the graph with circles in place of marks whose grade is too weak to be shown."""
        if marks not in MARKS_SHOWN:
            raise ParameterError(f"must be one of {', '.join(MARKS_SHOWN)}, not {marks!r}", parameter="marks")
        if marks == "all":
            return self._result.pag
        weak = (self._marks > CIRCLE) & (self.marks < MARKS_SHOWN[marks])
        return PAG._trusted(self._result.pag.names, np.where(weak, CIRCLE, self._marks).astype(np.int8))


def _levels(shares: NDArray[np.float64], likely: object, firm: float) -> Levels:
    """Return the numbers of grades of shares; a hair below a limit, which rounding makes, is the limit."""
    above = shares + 1e-9
    return np.where(above >= firm, FIRM, np.where(above >= np.asarray(likely), LIKELY, OPEN)).astype(np.int8)


def grade_named(level: int) -> Grade | None:
    """Return the grade of a number; None for that of what has no grade.

    Examples
    --------
    >>> grade_named(FIRM), grade_named(0)
    ('firm', None)
    """
    return GRADES[level - 1] if level else None
