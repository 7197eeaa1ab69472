"""Draw tables in which two columns are independent given others, and hold the p-values of each test against uniform.

    python tools/calibrate.py [--draws 2000] [--only NAME] [--write docs/tests.md]

Writes the table of docs/tests.md between its marks, or with --only the rows of one test: for each test and model the
Kolmogorov-Smirnov p-value, and the share of p-values below 0.01, by rows and by size of the conditioning set. Set
OPENBLAS_NUM_THREADS=1: products are small.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kstest

from lmarvel import Dataset
from lmarvel.ci.blocks import indicators, normal_scores
from lmarvel.ci.g_square import ROWS_A_CELL
from lmarvel.ci.glm.residuals import ResidualProducts
from lmarvel.ci.registry import TESTS
from lmarvel.ci.table_test import _tests

OF_RESIDUALS = ("mixed", "curved")
UNEVEN = (0.7, 0.2, 0.1)
SHAPES = (lambda z: z, lambda z: (z**2 - 1) / 1.4, lambda z: 1.3 * np.sin(2 * z), lambda z: np.tanh(2 * z))
ROWS = (200, 1000, 5000)
SIZES = (0, 1, 2, 3, 4)
CHECKED = 2  # draws of each cell, whose p-value is compared with that of the test as users get it
Draw = Callable[[np.random.Generator, int, int], list[NDArray[Any]]]


class Model(NamedTuple):
    """A test, a way to draw tables for it, and whether the test is made for them."""

    test: str
    words: str
    draw: Draw
    fits: bool = True
    levels: int = 3


# --- ways to draw numbers or codes of levels; X and Y are independent given all others --------------------------


def linear(rng: np.random.Generator, n: int, k: int) -> list[NDArray[Any]]:
    """Draw Gaussian columns with common causes."""
    Z = list(rng.normal(size=(k, n)))
    ends = [sum((rng.normal() * z for z in Z), rng.normal(size=n)) for _ in range(2)]
    return [*ends, *Z]


def skewed_noise(rng: np.random.Generator, n: int, k: int) -> list[NDArray[Any]]:
    """Draw columns with common causes and exponential noise."""
    Z = list(rng.exponential(size=(k, n)))
    ends = [sum((rng.normal() * z for z in Z), rng.exponential(size=n)) for _ in range(2)]
    return [*ends, *Z]


def skewed(rng: np.random.Generator, n: int, k: int) -> list[NDArray[Any]]:
    """Draw the same on scales that nobody knows."""
    return [np.exp(2 * column) for column in linear(rng, n, k)]


def apart(shares: tuple[float, ...]) -> Draw:
    """Draw columns of levels, all independent."""

    def draw(rng: np.random.Generator, n: int, k: int) -> list[NDArray[Any]]:
        return [drawn(rng, n, shares) for _ in range(k + 2)]

    return draw


def drawn(rng: np.random.Generator, n: int, shares: tuple[float, ...]) -> NDArray[Any]:
    """Draw levels with these shares."""
    chance = rng.random(n, dtype=np.float32)
    return sum((chance > bound for bound in np.cumsum(shares)[:-1]), np.zeros(n, dtype=np.intp))


def caused(shares: tuple[float, ...], strength: float) -> Draw:
    """Draw columns of levels with common causes, by logits that are sums."""

    def draw(rng: np.random.Generator, n: int, k: int) -> list[NDArray[Any]]:
        q = len(shares)
        Z = [drawn(rng, n, shares) for _ in range(k)]
        ends = []
        for _ in range(2):
            logits = np.log(shares) + sum((strength * rng.normal(size=(q, q))[z] for z in Z), np.zeros((n, q)))
            ends.append(np.argmax(logits + rng.gumbel(size=(n, q)), axis=1))
        return [*ends, *Z]

    return draw


End = Callable[[np.random.Generator, Callable[[int], NDArray[Any]]], NDArray[Any]]


def categories(shares: tuple[float, ...] = UNEVEN) -> End:
    """Return what draws categories by logits that are sums."""

    def draw(rng: np.random.Generator, sums: Callable[[int], NDArray[Any]]) -> NDArray[Any]:
        logits = np.log(shares) + sums(len(shares))
        return np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)

    return draw


def measure(rng: np.random.Generator, sums: Callable[[int], NDArray[Any]]) -> NDArray[Any]:
    """Draw numbers around a sum."""
    mean = sums(1)[:, 0]
    return np.asarray(mean + rng.normal(size=len(mean)))


def count(rng: np.random.Generator, sums: Callable[[int], NDArray[Any]]) -> NDArray[Any]:
    """Draw counts, the logarithm of whose mean is half a sum."""
    return rng.poisson(np.exp(np.clip(0.5 * sums(1)[:, 0], -3, 3))).astype(float)


def beside(one: End, two: End, strength: float, bent: bool = False) -> Draw:
    """Draw X and Y of these kinds; their causes, categories and numbers in turn, act by sums, if asked along curves."""

    def draw(rng: np.random.Generator, n: int, k: int) -> list[NDArray[Any]]:
        Z = [rng.normal(size=n) if i % 2 else drawn(rng, n, UNEVEN) for i in range(k)]

        def sums(width: int) -> NDArray[Any]:
            total = np.zeros((n, width))
            for z in Z:
                if z.dtype.kind == "i":
                    total += rng.normal(size=(3, width))[z]
                else:
                    total += np.outer(SHAPES[rng.integers(4)](z) if bent else z, rng.normal(size=width))
            return strength * total

        return [one(rng, sums), two(rng, sums), *Z]

    return draw


def exclusive(rng: np.random.Generator, n: int, k: int) -> list[NDArray[Any]]:
    """Draw categories whose chances depend on whether two causes of two values are equal: no sum says that."""
    Z = [rng.integers(0, 2, n) for _ in range(k)]
    same = Z[0] ^ Z[1] if k > 1 else np.zeros(n, dtype=np.intp)
    ends = [(rng.random(n) < np.where(same == 1, 0.7, 0.3)).astype(np.intp) for _ in range(2)]
    return [*ends, *Z]


def curves(rng: np.random.Generator, n: int, k: int) -> list[NDArray[Any]]:
    """Draw numbers whose common causes act along curves, by sums."""
    Z = list(rng.normal(size=(k, n)))
    ends = [sum((SHAPES[rng.integers(4)](z) for z in Z), rng.normal(size=n)) for _ in range(2)]
    return [*ends, *Z]


MODELS = (
    Model("fisher-z", "Gaussian, common causes", linear),
    Model("rank", "the same on exponential scales", skewed),
    Model("g-square", "2 levels, even", apart((0.5, 0.5)), levels=2),
    Model("g-square", "2 levels, 80 : 20", apart((0.8, 0.2)), levels=2),
    Model("g-square", "3 levels, 70 : 20 : 10", apart(UNEVEN)),
    Model("g-square", "3 levels, even, common causes", caused((1 / 3, 1 / 3, 1 / 3), 1.0)),
    Model("g-square", "3 levels, 90 : 7 : 3", apart((0.9, 0.07, 0.03))),
    Model("mixed", "categories (70 : 20 : 10) with a number, common causes", beside(categories(), measure, 1.0)),
    Model("mixed", "categories with categories, strong common causes", beside(categories(), categories(), 1.5)),
    Model("mixed", "two values with two values, strong common causes", beside(*[categories((0.7, 0.3))] * 2, 1.5)),
    Model("mixed", "a number with a number, common causes", beside(measure, measure, 1.0)),
    Model("mixed", "a count with categories, common causes", beside(count, categories(), 1.0)),
    Model(
        "mixed",
        "categories with a number, common causes along curves",
        beside(categories(), measure, 1.0, True),
        fits=False,
    ),
    Model("mixed", "counts with counts, strong common causes", beside(count, count, 1.5), fits=False),
    Model("mixed", "two values, by whether two common causes are equal", exclusive, fits=False),
    Model("curved", "Gaussian, common causes", linear),
    Model("curved", "curves, common causes", curves, fits=False),
    Model("scores", "Gaussian, common causes", linear),
    Model("skewed", "exponential noise, common causes", skewed_noise),
)


class Cell(NamedTuple):
    """What p-values were found for a number of rows and a size: None where there are too few rows."""

    rows: int
    size: int
    ks: float | None
    below: float


# --- one p-value of a table, without what else is done for tables that nobody knows ------------------------------


@cache
def scores(n: int) -> NDArray[np.float64]:
    """Return what ranks from the lowest on become: their normal scores."""
    return normal_scores(np.arange(n, dtype=float))[None]


def block(column: NDArray[Any], form: str) -> NDArray[np.float64]:
    """Return a column as a block, as :mod:`lmarvel.ci.blocks` makes it."""
    if column.dtype.kind == "i":
        return np.array(indicators(column))
    if form in ("fisher-z", "scores", "skewed"):  # numbers that are no counts stay as they are
        return column[None]
    made = scores(len(column))
    placed = np.empty_like(made)
    placed[:, np.argsort(column)] = made
    return placed


def kernel(form: str, columns: list[NDArray[Any]]) -> Any:
    """Return the compiled test of a table whose numbers have no ties and whose levels all have rows."""
    n = len(columns[0])
    if form == "g-square":
        codes, most = np.array(columns, dtype=np.uint16), np.array([c.max() + 1 for c in columns], dtype=np.int32)
        counts = (codes, most, None, np.zeros(len(columns), dtype=np.uint8), float(n), float(ROWS_A_CELL))
        return _tests.Kernel(None, n, None, counts)
    blocks = [block(column, form) for column in columns]
    widths = np.array([len(rows) for rows in blocks], dtype=np.int32)
    starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int32)
    rows = np.concatenate(blocks)
    rows = rows - rows.mean(axis=1, keepdims=True)
    gram = rows @ rows.T
    spread = np.sqrt(np.diag(gram))
    correlation = gram / np.outer(spread, spread)
    np.fill_diagonal(correlation, 1.0)
    return _tests.Kernel(correlation, n, starts)


def usual(form: str, columns: list[NDArray[Any]]) -> Any:
    """Return the test that a user gets on the same table."""
    names = [f"V{v}" for v in range(len(columns))]
    nominal = [name for name, column in zip(names, columns, strict=True) if column.dtype.kind == "i"]
    data = Dataset.of(dict(zip(names, columns, strict=True)), categorical=nominal)
    return ResidualProducts(data) if form in OF_RESIDUALS else TESTS[form].make(data)


def pvalues(model: Model, n: int, k: int, draws: int) -> NDArray[np.float64] | None:
    """Return p-values of X and Y given all others, in tables drawn anew; None where the test lacks rows."""
    rng = np.random.default_rng([MODELS.index(model), n, k])
    given = tuple(range(2, k + 2))
    found: list[float] = []
    while len(found) < draws:
        columns = model.draw(rng, n, k)
        least = 2 if model.test in OF_RESIDUALS else model.levels
        if any(c.dtype.kind == "i" and np.bincount(c, minlength=least).min() < 2 for c in columns):
            continue  # a level with a single row, in a table that nobody would have
        told = (usual if model.test in OF_RESIDUALS else kernel)(model.test, columns).result(0, 1, given)
        if told is None:
            return None
        if len(found) < CHECKED and not np.isclose(told[0], usual(model.test, columns).pvalue(0, 1, given)):
            raise RuntimeError(f"{model.test}: the short way to a p-value leads elsewhere")
        found.append(told[0])
    return np.array(found)


def cells(model: Model, draws: int) -> Iterator[Cell]:
    """Return the row of a model."""
    for n in ROWS:
        for k in SIZES:
            found = pvalues(model, n, k, draws)
            if found is None:
                yield Cell(n, k, None, 0.0)
            else:
                yield Cell(n, k, float(kstest(found, "uniform").pvalue), float(np.mean(found < 0.01)))


def lines(models: list[Model], draws: int) -> Iterator[str]:
    """Return the table as Markdown."""
    yield "| test | model | rows | " + " | ".join(f"{k} given" for k in SIZES) + " |"
    yield "|---|---|---|" + "---|" * len(SIZES)
    for model in models:
        found = list(cells(model, draws))
        for n in ROWS:
            shown = ["too few rows" if c.ks is None else f"{c.ks:.3f} ({c.below:.3f})" for c in found if c.rows == n]
            yield f"| `{model.test}` | {model.words} | {n:,} | " + " | ".join(shown) + " |"


MARKS = ("<!-- calibration -->", "<!-- end of calibration -->")


def main() -> None:
    """Read the options, and do what they say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--only", help="one test")
    parser.add_argument("--write", type=Path, help="a file with the marks of the table")
    asked = parser.parse_args()
    models = [m for m in MODELS if asked.only in (None, m.test)]
    table = []
    for line in lines(models, asked.draws):
        print(line, flush=True)
        table.append(line)
    if asked.write is not None:
        text = asked.write.read_text(encoding="utf-8")
        before, after = text.split(MARKS[0])[0], text.split(MARKS[1])[1]
        if asked.only is not None:
            table = merged(text.split(MARKS[0])[1].split(MARKS[1])[0].strip().splitlines(), table)
        asked.write.write_text(f"{before}{MARKS[0]}\n{chr(10).join(table)}\n{MARKS[1]}{after}", encoding="utf-8")


def merged(old: list[str], new: list[str]) -> list[str]:
    """Return a table with the rows of one test in place of those that it had, in the order of the models."""
    made = {tuple(row.split(" | ")[:3]): row for row in (*old[2:], *new[2:])}
    order = [(f"| `{model.test}`", model.words, f"{n:,}") for model in MODELS for n in ROWS]
    return new[:2] + [made[key] for key in order if key in made]


if __name__ == "__main__":
    main()
