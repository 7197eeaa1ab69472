"""Small tables of all kinds of columns whose truth is known, and tests on them with and without the compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel import Dataset
from lmarvel.ci.block_gaussian import BlockGaussian
from lmarvel.ci.blocks import Form, blocks_of
from lmarvel.ci.g_square import GSquare
from lmarvel.ci.table_test import TableTest


def levels(codes: NDArray[Any]) -> list[str]:
    """Return codes as text, so that a table takes them for levels."""
    return [f"l{code}" for code in codes]


def discrete(rng: np.random.Generator, n: int, p: int, most: int = 4, strength: float = 1.5) -> dict[str, list[str]]:
    """Return columns of 2 to ``most`` levels, each with up to two parents among those before it."""
    columns: list[NDArray[Any]] = []
    for v in range(p):
        k = int(rng.integers(2, most + 1))
        logits = np.tile(rng.normal(size=k), (n, 1))
        for parent in rng.permutation(v)[: rng.integers(0, 3)]:
            logits += strength * rng.normal(size=(int(columns[parent].max()) + 1, k))[columns[parent]]
        columns.append(np.argmax(logits + rng.gumbel(size=(n, k)), axis=1))
    return {f"V{v}": levels(column) for v, column in enumerate(columns)}


def mixed(rng: np.random.Generator, n: int, p: int) -> dict[str, Any]:
    """Return columns of numbers and of three levels in turn, each with up to two parents among those before it."""
    numbers: list[NDArray[Any]] = []
    columns: dict[str, Any] = {}
    for v in range(p):
        value = rng.normal(size=n)
        for parent in rng.permutation(v)[: rng.integers(0, 3)]:
            value += rng.choice([-1, 1]) * numbers[parent]
        if v % 3 == 2:
            codes = np.digitize(value, np.quantile(value, [0.3, 0.7]))
            columns[f"V{v}"], value = levels(codes), np.array([1.0, -1.0, 0.5])[codes]
        else:
            columns[f"V{v}"] = value
        numbers.append(value)
    return columns


def with_gaps(rng: np.random.Generator, table: dict[str, list[str]], share: float) -> Dataset:
    """Return a table with values missing at random in every second column."""
    gappy = {
        name: [None if v % 2 and rng.random() < share else value for value in column]
        for v, (name, column) in enumerate(table.items())
    }
    return Dataset.of(gappy, missing="em")


def on_blocks(data: Any, form: Form = "plain", compiled: bool = True) -> BlockGaussian:
    """Return the block Gaussian test of a table."""
    table = Dataset.of(data)
    return BlockGaussian(table, blocks_of(table, form), compiled)


def twins(rng: np.random.Generator, kind: str, n: int, p: int) -> tuple[TableTest, TableTest]:
    """Return a test, compiled and readable."""
    if kind in ("plain", "rank"):
        data = Dataset.of(mixed(rng, n, p))
        return on_blocks(data, kind), on_blocks(data, kind, compiled=False)  # type: ignore[arg-type]
    table = discrete(rng, n, p, most=3)
    if kind == "gaps":
        data = with_gaps(rng, table, 0.1)
    else:
        data = Dataset.of(table, weights=rng.uniform(0.5, 2.0, n) if kind == "weights" else None)
    return GSquare(data), GSquare(data, compiled=False)


KINDS = ("plain", "rank", "counts", "gaps", "weights")
