"""The tables of the scoreboard: families with a known truth, most of them other people's.

A table is drawn from its family and number alone, with one seed for all. Published networks have their published
parameters (:func:`lmarvel.simulate.load_model`). ``Tetrad`` are random linear models as studies with Tetrad have them.
Its manual (docs/manual/index.html of cmu-phil/tetrad) has the defaults varLow 1, varHigh 3, coefLow 0, coefHigh 1 and
both signs; its own studies usually set coefLow to 0.2, and so do these tables. In them and in networks, 0, 10 or 20 %
of the variables are hidden, and there are 500 to 10,000 rows. Curves, kinds of columns, hidden causes and
selection come from :mod:`families`, sensors of real devices from :mod:`chambers`.
"""

from __future__ import annotations

import functools
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
import chambers  # noqa: E402
import families  # noqa: E402

from lmarvel.orient.study import Study  # noqa: E402
from lmarvel.simulate import LinearSEM, Ranges, erdos_renyi, hide, load_model  # noqa: E402

SEED = 29  # nothing was tuned on it
TABLES = 10
ROWS = (500, 1_000, 2_000, 5_000, 10_000)
HIDDEN = (0.0, 0.1, 0.2)
NUMBER, CATEGORY, ORDINAL = "number", "category", "ordinal"
TETRAD = Ranges((0.2, 1.0), (1.0, np.sqrt(3.0)))
load_model = functools.lru_cache(load_model)


class Table(NamedTuple):
    """A table as every method sees it: codes or numbers, what each column is; and the truth."""

    study: Study
    values: np.ndarray
    kinds: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.study.observed)


def draw(family: str, number: int) -> Table:
    """Draw a table of a family."""
    rng = np.random.default_rng([SEED, zlib.crc32(family.encode()), number])
    return FAMILIES[family](number, rng)


def variant(family: str, number: int) -> int:
    """Return which of its networks, densities or shapes a family draws a table from."""
    return number % VARIANTS.get(family, 1)


def coded(study: Study, columns: dict[str, Any], ordinal: tuple[str, ...] = ()) -> Table:
    """Return columns as numbers; text becomes the place of each value in its sorted list of values."""
    values, kinds = [], []
    for name in study.observed:
        column = np.asarray(columns[name])
        text = column.dtype.kind in "OUS"
        values.append(np.unique(column, return_inverse=True)[1] if text else column)
        kinds.append(CATEGORY if text else ORDINAL if name in ordinal else NUMBER)
    return Table(study, np.column_stack(values).astype(float), tuple(kinds))


def _network(*names: str) -> Callable[[int, np.random.Generator], Table]:
    def make(number: int, rng: np.random.Generator) -> Table:
        model = load_model(names[number % len(names)])
        hidden = round(len(model.dag) * HIDDEN[number // 2 % 3])
        study = hide(model.dag, hidden, 0, seed=rng)
        columns = model.sample(study, ROWS[number % 5], seed=rng)
        constant = [name for name, values in columns.items() if len(np.unique(values)) == 1]
        return coded(Study(study.dag, latent=(*study.latent, *constant)), columns)

    return make


def _tetrad(variables: int, degrees: tuple[int, ...]) -> Callable[[int, np.random.Generator], Table]:
    def make(number: int, rng: np.random.Generator) -> Table:
        hidden = round(variables * HIDDEN[number // 2 % 3])
        everything = variables + hidden
        dag = erdos_renyi(everything, degrees[number % len(degrees)] / (everything - 1), seed=rng)
        study = hide(dag, hidden, 0, seed=rng)
        weights = LinearSEM.random(dag, TETRAD, seed=rng).weights
        model = LinearSEM(dag, weights, np.sqrt(rng.uniform(1, 3, everything)))  # variances are uniform there
        return coded(study, dict(zip(study.observed, model.sample(study, ROWS[number % 5], seed=rng).T, strict=True)))

    return make


def _ours(*names: str) -> Callable[[int, np.random.Generator], Table]:
    def make(number: int, rng: np.random.Generator) -> Table:
        drawn = families.draw(names[number % len(names)], number, SEED)
        return coded(drawn.study, drawn.table, drawn.ordinal)

    return make


def _chamber(number: int, rng: np.random.Generator) -> Table:
    return coded(*chambers.draw(number, ROWS[number // 2], rng))


VARIANTS = {
    "sachs, child": 2,
    "water, mildew, barley": 3,
    "hailfinder, win95pts, hepar2": 3,
    "magic-niab, magic-irri": 2,
    "Tetrad, 20 variables": 3,
    "Tetrad, 50 variables": 3,
    "Tetrad, 100 variables": 2,
    "not Gaussian": 4,
    "curved": 5,
    "orders and counts": 2,
    "causal chambers": 2,
}
FAMILIES: dict[str, Callable[[int, np.random.Generator], Table]] = {
    "sachs, child": _network("sachs", "child"),
    "insurance": _network("insurance"),
    "alarm": _network("alarm"),
    "water, mildew, barley": _network("water", "mildew", "barley"),
    "hailfinder, win95pts, hepar2": _network("hailfinder", "win95pts", "hepar2"),
    "ecoli70": _network("ecoli70"),
    "magic-niab, magic-irri": _network("magic-niab", "magic-irri"),
    "arth150": _network("arth150"),
    "Tetrad, 20 variables": _tetrad(20, (2, 4, 6)),
    "Tetrad, 50 variables": _tetrad(50, (2, 4, 6)),
    "Tetrad, 100 variables": _tetrad(100, (2, 4)),
    "many hidden": _ours("many hidden"),
    "selected": _ours("selected"),
    "not Gaussian": _ours("skewed", "heavy-tailed", "scales", "unequal noise"),
    "curved": _ours("tanh", "signed square", "sine", "square", "bend"),
    "mixed": _ours("mixed"),
    "orders and counts": _ours("ordinal", "counts"),
    "causal chambers": _chamber,
}
