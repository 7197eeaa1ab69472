"""How firm each part of a graph is: firm, likely, open, unchecked, or stated by the user.

One rule serves every method. The rows are resampled and the method learns again; a mark is as firm as the share of
resamples that have the same edge with the same mark, and a missing edge as the share that miss it, too. A method that
errs in the same way on every resample is not found out so. Hence doubts raise what is asked for: the data reject
independences that the graph implies, or relations are curved where the method sees straight lines. They weigh more
where single tests decided, at categories, and where values lie far out. A mark that rests on a rejected independence,
and every mark of a PAG that no graph has, is open. Without resamples a search by score still knows how much worse the
best graph with another mark is.

What the words are worth on data with known truth is measured by ``benchmarks/grades.py``; docs/grades.md has the
figures.
"""

from __future__ import annotations

import math
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.missing.gaps import gaps_of
from lmarvel.errors import ParameterError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import CIRCLE, NONE, TAIL, positions

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

# Shares of the resamples from which on a mark, or a missing edge, is firm or likely. The aim is that firm ones are
# right in .95 of every family of tables and likely ones in .85; docs/grades.md says where that is met.
FIRM_SHARE, LIKELY_SHARE, LIKELY_GAP = 0.975, 0.9, 0.8
# With one doubt nothing is firm, and this is likely; with more a mark is open, and a missing edge needs the last.
DOUBTED_SHARE, DOUBTED_GAP, MORE_DOUBTED_GAP = 1.0, 0.9, 0.975
# A missing edge says little where a strong association would have been missed: the smallest correlation that is noticed
# may be at most so large for it to be firm, or likely.
NOTICED_FIRM, NOTICED_LIKELY = 0.2, 0.3
STABLE = 0.9  # the share from which on an edge is called stable
# Without resamples nothing is firm. In penalties per edge, by which the best graph with another mark, or with the
# missing edge, is worse: likely from here on. A tail denies every hidden common cause, and needs more.
LIKELY_WORSE, LIKELY_TAIL_WORSE, LIKELY_GAP_WORSE = 3.0, 5.0, 0.8


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
    ('resamples', 'likely', None)
    """

    def __init__(self, result: Discovery) -> None:
        self._result = result
        self._marks = result.pag.marks
        self._drawn: dict[Shown, PAG] = {}

    @cached_property
    def basis(self) -> Basis:
        """What the grades rest on."""
        if self._result.settings.get("rows") is None:
            return "exact"
        if self._result.resamples is not None:
            return "resamples"
        return "score" if self._result.evidence.chose is not None else "none"

    @property
    def illegal(self) -> bool:
        """Whether no graph has the PAG, although the search came to its end."""
        return not self._result.undecided and self._result.why_illegal is not None

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of the resamples that have the same edge with the same mark at y; 0 without resamples."""
        counted = self._result.resamples
        if counted is None:
            return np.zeros(self._marks.shape)
        return counted.of_marks(self._marks) * counted.adjacent / counted.replicates

    @cached_property
    def doubts(self) -> Levels:
        """How many things speak against taking what recurs for true, for each pair."""
        result, p = self._result, len(self._result.pag)
        bent, outlying = np.zeros(p, dtype=bool), np.zeros(p, dtype=bool)
        for bend in result.grounds.bends:
            ends = [result.pag.index(bend.x), result.pag.index(bend.y)]
            bent[ends] = True
            outlying[ends] |= bend.outlying
        doubts = np.full((p, p), bent.any(), dtype=np.int8) + (outlying[:, None] | outlying)
        doubts += self._coded[:, None] | self._coded  # which show little where they are rare
        if result.mag is None:
            doubts += bent[:, None] | bent
        if result.check is not None and not result.check.fits:
            doubts += 1 + (result.mag is None)
        return doubts

    @cached_property
    def marks(self) -> Levels:
        """The number of the grade of the mark at y on x-y."""
        result = self._result
        levels = np.where(self._marks > CIRCLE, self._by_basis(), 0).astype(np.int8)
        if self.basis != "exact":
            cap = np.full(levels.shape, OPEN if self.illegal else STATED, dtype=np.int8)
            for end in result.rejected:
                cap[end] = OPEN
            levels = np.minimum(levels, cap)
        if result.known is not None:
            names = result.pag.names
            for x, y in positions(levels > 0).tolist():
                if result.source(names[x], names[y]) in ("knowledge", "both"):
                    levels[x, y] = STATED
        return levels

    def _by_basis(self) -> Levels:
        shape = self._marks.shape
        if self.basis == "resamples":
            return _graded(self.shares, self.doubts + self._beside_category, LIKELY_SHARE, DOUBTED_SHARE, math.inf)
        if self.basis == "score":
            return self._scored()
        return np.full(shape, FIRM if self.basis == "exact" else UNCHECKED, dtype=np.int8)

    @cached_property
    def gaps(self) -> Levels:
        """The number of the grade of each missing edge."""
        result, missing = self._result, self._marks == NONE
        levels = np.full(missing.shape, FIRM if self.basis == "exact" else UNCHECKED, dtype=np.int8)
        if result.resamples is not None and self.basis == "resamples":
            absent = 1.0 - result.resamples.adjacent / result.resamples.replicates
            levels = _graded(absent, self.doubts, LIKELY_GAP, DOUBTED_GAP, MORE_DOUBTED_GAP)
        elif self.basis == "score" and result.evidence.chose is not None:
            for pair, gap in result.evidence.gaps.items():
                x, y = sorted(pair)
                likely = gap.loss >= LIKELY_GAP_WORSE * result.evidence.chose.price and not self.doubts[x, y]
                levels[x, y] = levels[y, x] = LIKELY if likely else OPEN
        if self.basis != "exact":
            noticed = self.noticed
            cap = np.where(noticed <= NOTICED_FIRM, STATED, np.where(noticed <= NOTICED_LIKELY, LIKELY, OPEN))
            coded = self._coded[:, None] | self._coded
            cap[coded] = np.where(noticed[coded] <= NOTICED_FIRM, LIKELY, OPEN)  # a rare category shows little
            levels = np.minimum(levels, cap)
            for one in () if result.check is None else result.check.in_doubt:
                x, y = result.pag.index(one.x), result.pag.index(one.y)
                levels[x, y] = levels[y, x] = min(OPEN, levels[x, y])
            if self.illegal:
                levels = np.minimum(levels, OPEN)
        levels = np.where(missing, levels, 0).astype(np.int8)
        np.fill_diagonal(levels, 0)
        return levels

    @cached_property
    def _coded(self) -> NDArray[np.bool_]:
        """Which variables are categories."""
        columns = (self._result.data or {}).get("columns", ())
        kinds = [column.get("kind", "continuous") != "continuous" for column in columns]
        return np.array(kinds or [False] * len(self._result.pag))

    @cached_property
    def _beside_category(self) -> Levels:
        """Which pairs of numbers have a neighbour that is a category: their marks rest on edges that it may lack."""
        coded, near = self._coded, self._marks != NONE
        beside = coded | (near & coded).any(axis=1)
        return np.asarray((beside[:, None] | beside) & ~(coded[:, None] | coded), dtype=np.int8)

    @cached_property
    def noticed(self) -> NDArray[np.float64]:
        """The smallest correlation of each pair that earns an edge, or that a test notices; 0 where it is not known.

        A category is several columns, and an edge pays for each pair of them.
        """
        result = self._result
        columns = (result.data or {}).get("columns", ())
        widths = np.array([max(len(c.get("levels") or ()) - 1, 1) for c in columns] or [1] * len(result.pag))
        pairs = np.outer(widths, widths)
        rows, chose = result.settings.get("rows"), result.evidence.chose
        if not rows:
            return np.zeros(pairs.shape)
        if (lacking := gaps_of(result.data)) is not None:
            rows = np.maximum(lacking.pairs * min(rows / lacking.rows, 1.0), 1.0)
        needed = _chi_square(pairs, result.alpha) if chose is None else chose.price * pairs
        return np.asarray(np.sqrt(1 - np.exp(-needed / rows)))

    def _scored(self) -> Levels:
        """Hidden nodes make marks near them open: others would change many at once, which no single edge shows."""
        evidence, levels = self._result.evidence, np.full(self._marks.shape, UNCHECKED, dtype=np.int8)
        price = evidence.chose.price if evidence.chose is not None else 1.0
        near = self._near_hidden()
        for end, distance in evidence.distance.items():
            doubted = near[list(end)].any() or self.doubts[end] or self._beside_category[end]
            worse = LIKELY_TAIL_WORSE if self._marks[end] == TAIL else LIKELY_WORSE
            likely = distance >= worse * price and not doubted
            levels[end] = LIKELY if likely else OPEN
        return levels

    def _near_hidden(self) -> NDArray[np.bool_]:
        """Return which variables a hidden node touches, or joins by an edge to one that it touches."""
        touched = np.zeros(len(self._marks), dtype=bool)
        for node in self._result.evidence.hidden:
            touched[list(node.members)] = True
        return np.asarray(touched | (self._marks[touched] != NONE).any(axis=0))

    def shown(self, marks: Shown) -> PAG:
        """Return the graph with circles in place of marks whose grade is too weak to be shown."""
        if marks not in MARKS_SHOWN:
            raise ParameterError(f"must be one of {', '.join(MARKS_SHOWN)}, not {marks!r}", parameter="marks")
        if marks == "all":
            return self._result.pag
        if marks not in self._drawn:
            self._drawn[marks] = self._without(self.marks < MARKS_SHOWN[marks])
        return self._drawn[marks]

    def _without(self, weak: NDArray[np.bool_]) -> PAG:
        """Return the graph with circles in place of its marks at the ends where ``weak`` is True."""
        ends = positions((self._marks > CIRCLE) & weak)
        if not len(ends):
            return self._result.pag
        marks = self._marks.copy()
        marks[tuple(ends.T)] = CIRCLE
        return PAG._trusted(self._result.pag.names, marks)


def _graded(shares: NDArray[np.float64], doubts: Levels, likely: float, doubted: float, more: float) -> Levels:
    """Return the numbers of grades of shares; ``likely`` without a doubt, ``doubted`` with one, ``more`` beyond."""
    above = shares + 1e-9  # 39 of 40 are 97.5 %, however they round
    asked = np.select([doubts == 0, doubts == 1], [likely, doubted], more)
    levels = np.where(above >= asked, LIKELY, OPEN)
    return np.where((above >= FIRM_SHARE) & (doubts == 0), FIRM, levels).astype(np.int8)


def _chi_square(freedom: NDArray[np.int64], level: float) -> NDArray[np.float64]:
    """Return the critical values of chi-square, by Wilson and Hilferty; with one degree of freedom exactly."""
    z, ninth = NormalDist().inv_cdf(1 - level), 2 / (9 * freedom)
    exact = NormalDist().inv_cdf(1 - level / 2) ** 2
    return np.where(freedom == 1, exact, freedom * (1 - ninth + z * np.sqrt(ninth)) ** 3)


def grade_named(level: int) -> Grade | None:
    """Return the grade of a number; None for that of what has no grade.

    Examples
    --------
    >>> grade_named(FIRM), grade_named(0)
    ('firm', None)
    """
    return GRADES[level - 1] if level else None


def encode_grades(result: Discovery) -> dict[str, Any]:
    """Return the grades as plain data, for whoever reads a result file: they follow from its other parts.

    Each edge with an arrowhead or a tail is listed with its ends and the grades of the marks at them.
    """
    names = result.pag.names
    marked = np.unique(np.sort(positions(result.pag.marks > CIRCLE), axis=1), axis=0)
    listed = [
        [names[x], names[y], grade_named(int(result.grades.marks[y, x])), grade_named(int(result.grades.marks[x, y]))]
        for x, y in marked.tolist()
    ]
    return {"basis": result.grades.basis, "marks": listed}
