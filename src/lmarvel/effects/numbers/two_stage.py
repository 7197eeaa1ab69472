"""The effect of a cause by an instrument: two-stage least squares, with the interval of Anderson and Rubin (1949) [1]_.

An instrument W, given Z, predicts the outcome with coefficient p and the cause with coefficient q; the estimate is
p / q. An effect b is in the interval if the data do not reject that W predicts y - b x with coefficient 0, that is, if

    (p - b q)^2 <= c (Var p - 2 b Cov(p, q) + b^2 Var q)

This holds however weak W is. Solved for b it is an interval, or everything outside one, or everything. Variances are
HC3, or those of clusters.

References
----------
.. [1] Estimation of the parameters of a single equation in a complete system of stochastic equations, Annals of
   Mathematical Statistics 20 (1949).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, sqrt

import numpy as np

from lmarvel.deferred import late
from lmarvel.effects.numbers.estimate import LEVEL
from lmarvel.effects.numbers.table import Columns, Vector
from lmarvel.errors import DataError
from lmarvel.result.support.grades import Grade
from lmarvel.text import ShownAsText, listing, readable, sentence

special = late("scipy.special")

WEAK = 10.0  # a first-stage F below it is called weak
Piece = tuple[float, float]


@dataclass(frozen=True)
class Instrumented(ShownAsText):
    """The effect of a cause by an instrument.

    Attributes
    ----------
    instrument, x, y : str
        The instrument, the cause and the outcome.
    given : tuple of str
        What is held fixed.
    contrast : str
        What changes.
    value : float
        The estimate of two-stage least squares.
    pieces : tuple of (float, float)
        The 95 % interval of Anderson and Rubin; two pieces where it is everything outside of an interval.
    f : float
        The F statistic of the first stage.
    grade : 'firm', 'likely', 'open', 'unchecked', 'stated' or None
        How firm the parts of a learned graph are that decide what is held fixed, and whether other paths are blocked.
    cautions : tuple of str
        What speaks against relying on these parts.

    Examples
    --------
    >>> print(Instrumented("W", "X", "Y", (), "one unit more of X", 0.5, ((0.4, 0.6),), 120.0).number)
    0.5 (0.4 to 0.6)
    """

    instrument: str
    x: str
    y: str
    given: tuple[str, ...]
    contrast: str
    value: float
    pieces: tuple[Piece, ...]
    f: float
    grade: Grade | None = None
    cautions: tuple[str, ...] = ()

    @property
    def low(self) -> float:
        """The lower end; minus infinity where there is none."""
        return self.pieces[0][0]

    @property
    def high(self) -> float:
        """The upper end; infinity where there is none."""
        return self.pieces[-1][1]

    def covers(self, value: float) -> bool:
        """Tell whether the interval includes a value."""
        return any(low <= value <= high for low, high in self.pieces)

    @property
    def number(self) -> str:
        """The estimate with its interval."""
        if self.pieces == ((-inf, inf),):
            return f"{self.value:.3g} (the interval has no bounds)"
        parts = [
            f"{low:.3g} to {high:.3g}" if isfinite(low) and isfinite(high) else _one_sided(low, high)
            for low, high in self.pieces
        ]
        return f"{self.value:.3g} ({' or '.join(parts)})"

    @property
    def assumes(self) -> str:
        """What was stated."""
        w, x, y = map(readable, (self.instrument, self.x, self.y))
        given = f", given {listing(sorted(self.given))}" if self.given else ""
        return (
            f"{x} does not affect {w}, and {w} affects {y} only through {x} and shares no unmeasured cause with {y}"
            f"{given}"
        )

    def __str__(self) -> str:
        w, x, y = map(readable, (self.instrument, self.x, self.y))
        lines = [f"With {w} as an instrument, as you stated, {x} {self._probably}affects {y} by {self.number}."]
        if self.grade in ("open", "unchecked"):
            lines.append(f"This is unreliable. {' '.join(map(sentence, self.cautions))}")
        if self.f < WEAK:
            hardly = f"{w} is a weak instrument: it predicts {x} with F = {self.f:.3g} only."
            lines.append(hardly + " The interval allows for that; more rows would narrow it.")
        given = f" given {listing(sorted(self.given))}" if self.given else ""
        how = f"two-stage least squares{given}, Anderson-Rubin interval, first-stage F = {self.f:.3g}"
        assumed = f"You stated: {self.assumes}. The data cannot show this."
        same = "The effect is taken to be linear and the same for everybody."
        return "\n".join([*lines, f"  {self.contrast}: {how}", f"{assumed} {same}"])

    @property
    def _probably(self) -> str:
        return "" if self.grade in (None, "firm", "stated") else "probably " if self.grade == "likely" else "possibly "

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data; an end that is missing is None."""
        ends = [[end if isfinite(end) else None for end in piece] for piece in self.pieces]
        return {
            **self.__dict__,
            "given": list(self.given),
            "pieces": ends,
            "assumes": self.assumes,
            "cautions": list(self.cautions),
        }


def _one_sided(low: float, high: float) -> str:
    return f"below {high:.3g}" if isfinite(high) else f"above {low:.3g}"


def by_instrument(table: Columns, w: str, x: str, y: str, z: Sequence[str], seed: int = 0) -> Instrumented:
    """Estimate the effect of x on y by an instrument w, given z.

    Examples
    --------
    >>> from lmarvel import Dataset
    >>> rng = np.random.default_rng(0)
    >>> w, u, e, f = rng.normal(size=(4, 2000))
    >>> x = w + u + e
    >>> print(by_instrument(Columns(Dataset.of({"W": w, "X": x, "Y": 0.5 * x + u + f})), "W", "X", "Y", ()).number)
    0.475 (0.406 to 0.539)
    """
    for name in (w, x, y):
        if table.is_level(name) and len(table.contrasts(name)) > 1:
            raise DataError(
                f"{readable(name)} has more than two categories: an instrument needs numbers, or two of them"
            )
    if table.incomplete:
        parts = [_stages(whole, w, x, y, z) for whole in table.completed(seed)]
        stages = np.array([stage for stage, _, _ in parts])
        between = (1 + 1 / len(parts)) * np.cov(stages.T)
        stage, spread = stages.mean(axis=0), np.mean([one for _, one, _ in parts], axis=0) + between
        freedom = parts[0][2]
    else:
        stage, spread, freedom = _stages(table, w, x, y, z)
    chance = f": {table.outcomes(y)[0][1]}" if table.is_level(y) else ""
    contrast = f"{table.contrasts(x)[0]}{chance}"
    limit = float(special.fdtri(1, freedom, LEVEL))
    value, first = float(stage[0] / stage[1]), float(stage[1] ** 2 / spread[1, 1])
    return Instrumented(w, x, y, tuple(z), contrast, value, anderson_rubin(stage, spread, limit), first)


def anderson_rubin(stage: Vector, spread: Vector, limit: float) -> tuple[Piece, ...]:
    """Return the effects that are not rejected, from the coefficients of the instrument for outcome and cause.

    Examples
    --------
    >>> anderson_rubin(np.array([0.5, 1.0]), np.diag([0.0001, 0.0001]), 4.0)  # doctest: +ELLIPSIS
    ((0.47..., 0.52...),)
    >>> anderson_rubin(np.array([0.5, 0.01]), np.eye(2), 4.0)
    ((-inf, inf),)
    """
    p, q = (float(one) for one in stage)
    a = q * q - limit * float(spread[1, 1])
    half = p * q - limit * float(spread[0, 1])
    c = p * p - limit * float(spread[0, 0])
    root = half * half - a * c
    if a > 0:
        width = sqrt(max(root, 0.0)) / a
        return ((half / a - width, half / a + width),)
    if a == 0 or root <= 0:
        return ((-inf, inf),)
    ends = sorted(((half - sqrt(root)) / a, (half + sqrt(root)) / a))
    return ((-inf, ends[0]), (ends[1], inf))


def _stages(table: Columns, w: str, x: str, y: str, z: Sequence[str]) -> tuple[Vector, Vector, int]:
    """Return how the instrument predicts outcome and cause, the covariance of both, and the degrees of freedom."""
    if not table.has_rows:
        return _from_matrix(table, w, x, y, z)
    columns = [table.indicators(name)[0] for name in (w, *z)]
    design = np.column_stack([*columns[:1], np.ones(len(table.rows)), *columns[1:]])
    both = np.column_stack([table.indicators(name)[0] for name in (y, x)])
    n, k = design.shape
    root = np.sqrt(table.weights)[:, None]
    scaled = design * root
    if n < k + 2 or np.linalg.matrix_rank(scaled / np.sqrt((scaled**2).sum(axis=0)), tol=1e-9) < k:
        raise DataError(
            f"the columns {listing(sorted((w, *z)))} determine each other, or there are too few rows: leave one out"
        )
    inverse = np.linalg.inv(scaled.T @ scaled)
    coefficients = inverse @ (scaled.T @ (both * root))
    leverage = ((scaled @ inverse) * scaled).sum(axis=1)
    residuals = (both - design @ coefficients) * root / np.maximum(1 - leverage, 1e-12)[:, None]
    influence = (scaled @ inverse[0])[:, None] * residuals
    freedom = n - k
    if table.clustered:
        units = table.units
        influence = np.column_stack([np.bincount(units, one) for one in influence.T])
        freedom = len(influence) - 1
    return coefficients[0], influence.T @ influence, freedom


def _from_matrix(table: Columns, w: str, x: str, y: str, z: Sequence[str]) -> tuple[Vector, Vector, int]:
    """The same from a covariance alone, with equal variances."""
    among = table.scatter([table.names.index(name) for name in (w, *z, y, x)])(table.weights)
    k = len(z) + 1
    inverse = np.linalg.inv(among[:k, :k])
    coefficients = inverse @ among[:k, k:]
    left = among[k:, k:] - among[k:, :k] @ coefficients
    freedom = table.n - k - 1
    return coefficients[0], left * inverse[0, 0] / freedom, freedom
