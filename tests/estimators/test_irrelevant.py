"""A column that has to do with nothing changes nothing: the PAG over the other columns stays as it was.

A number or a text column more may change the test, the score and the search that a table gets, and the graph must not
show it. The seeds are fixed; a random column would be joined to another in about one of 10,000 pairs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lmarvel import Auto
from lmarvel.engine.run import is_built

pytestmark = pytest.mark.skipif(not is_built(), reason="the engine is not built")

N = 2_000
EXTRA = "extra"
Table = dict[str, np.ndarray]
Draw = Callable[[np.random.Generator], Table]


def linear(rng: np.random.Generator, hidden: int = 0) -> Table:
    """Draw six numbers along straight lines, with some hidden variables beside them."""
    p = 6 + hidden
    order, slopes, values = rng.permutation(p), np.zeros((p, p)), np.zeros((N, p))
    for i in range(p):
        for j in range(i):
            if rng.random() < 2.4 / (p - 1):
                slopes[order[i], order[j]] = rng.choice([-1, 1]) * rng.uniform(0.5, 1.0)
    for v in order:
        values[:, v] = values @ slopes[v] + rng.normal(size=N)
    return {f"v{i}": values[:, i] for i in range(6)}


def linear_with_hidden(rng: np.random.Generator) -> Table:
    return linear(rng, hidden=2)


def patients(rng: np.random.Generator) -> Table:
    """Draw age -> bmi, age -> sbp, bmi -> sbp and bmi -> chol."""
    age = rng.uniform(20, 80, N)
    bmi = 20 + 0.08 * age + 3 * rng.normal(size=N)
    sbp = 80 + 0.5 * age + 1.2 * bmi + 10 * rng.normal(size=N)
    return {"age": age, "bmi": bmi, "sbp": sbp, "chol": 120 + 3 * bmi + 25 * rng.normal(size=N)}


def curved(rng: np.random.Generator) -> Table:
    a, b = rng.normal(size=(2, N))
    c = np.sin(2 * a) + b**2 + 0.5 * rng.normal(size=N)
    return {"a": a, "b": b, "c": c, "d": np.tanh(2 * c) + 0.4 * rng.normal(size=N)}


def noisy(rng: np.random.Generator, values: np.ndarray, size: int) -> np.ndarray:
    return np.where(rng.random(N) < 0.2, rng.integers(0, size, N), values % size)


def categories(rng: np.random.Generator, interact: bool = False) -> Table:
    """Draw a -> c <- b and c -> d -> e; where categories interact, e is the parity of d and b."""
    a, b = rng.integers(0, 3, N), rng.integers(0, 2, N)
    c = noisy(rng, np.maximum(a, 2 * b), 3)
    d = noisy(rng, c, 3)
    e = noisy(rng, d + b if interact else np.minimum(d, 1), 2)
    words = np.array(["x", "y", "z"])
    return {name: words[codes] for name, codes in zip("abcde", (a, b, c, d, e), strict=True)}


def interacting(rng: np.random.Generator) -> Table:
    return categories(rng, interact=True)


def mixed(rng: np.random.Generator) -> Table:
    """Draw g -> x -> y -> h -> z and x -> z, where g and h are categories."""
    g = rng.integers(0, 3, N)
    x = 0.8 * g + rng.normal(size=N)
    y = 0.7 * x + rng.normal(size=N)
    h = (rng.random(N) < 1 / (1 + np.exp(-1.5 * y))).astype(int)
    z = 0.8 * h + 0.5 * x + rng.normal(size=N)
    return {"g": np.array(["r", "s", "t"])[g], "x": x, "y": y, "h": np.array(["no", "yes"])[h], "z": z}


def random_column(kind: int, seed: int) -> np.ndarray:
    """Return a random number, or a text column of so many categories."""
    rng = np.random.default_rng([seed, 1_000])
    return rng.normal(size=N) if kind == 0 else np.array(list("pqrst"))[rng.integers(0, kind, N)]


def edges(table: Table) -> dict[frozenset[str], str]:
    """Return the edges that are learned, with their marks; the columns stand in the order of the table."""
    found = Auto().fit(table).pag_
    return {frozenset((str(edge.a), str(edge.b))): str(edge) for edge in found.edges()}


def check(draw: Draw, seed: int, kind: int) -> None:
    table = draw(np.random.default_rng(seed))
    before, after = edges(table), edges({**table, EXTRA: random_column(kind, seed)})
    assert len(before) > 2
    assert set(after) == set(before)
    assert after == before


KINDS = pytest.mark.parametrize("kind", [0, 2, 5], ids=["number", "2 categories", "5 categories"])


@KINDS
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("draw", [linear, linear_with_hidden, patients, curved, categories, mixed])
def test_a_random_column_changes_no_edge_and_no_mark(draw: Draw, seed: int, kind: int) -> None:
    check(draw, seed, kind)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [2, 5])
def test_random_categories_change_nothing_where_categories_interact(seed: int, kind: int) -> None:
    check(interacting, seed, kind)


@pytest.mark.parametrize("seed", range(4))
def test_a_random_number_changes_nothing_where_categories_interact(seed: int) -> None:
    check(interacting, seed, 0)
