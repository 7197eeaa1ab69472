"""Tests on tables of levels: power and speed beside causal-learn, and what indicators cost beside plain numbers.

    python tables.py [--draws 1000] [--only speed|power|indicators]

All on the same tables. Set OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from causallearn.search.ConstraintBased.FCI import fci
from causallearn.utils.cit import CIT

from lmarvel import FCI, Dataset, LMarvel, SepsetQuery
from lmarvel.ci.g_square import GSquare

Question = tuple[int, int, tuple[int, ...]]


def levels(codes: np.ndarray) -> list[str]:
    return [f"l{code}" for code in codes]


def network(rng: np.random.Generator, n: int, p: int, q: int = 3) -> np.ndarray:
    """Draw columns of q levels, each with up to two parents among those before it."""
    columns: list[np.ndarray] = []
    for v in range(p):
        logits = np.zeros((n, q))
        for parent in rng.permutation(v)[: rng.integers(0, 3)]:
            logits += 1.2 * rng.normal(size=(q, q))[columns[parent]]
        columns.append(np.argmax(logits + rng.gumbel(size=(n, q)), axis=1))
    return np.column_stack(columns)


def table_of(codes: np.ndarray) -> dict[str, list[str]]:
    return {f"V{v}": levels(column) for v, column in enumerate(codes.T)}


def seconds(work: Callable[[], Any], repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def asked_afresh(peer: Any, question: Question) -> float:
    peer.pvalue_cache = {"data_hash": None, "method_name": None, "parameters_hash": None}
    x, y, given = question
    return float(peer(x, y, list(given)))


def speed(rng: np.random.Generator) -> None:
    codes = network(rng, 10_000, 20)
    ours, theirs = GSquare(table_of(codes)), CIT(codes, "gsq")
    questions: list[Question] = []
    for k in (0, 1, 2, 3):
        for _ in range(40):
            x, y, *rest = rng.permutation(20).tolist()
            questions.append((x, y, tuple(sorted(rest[:k]))))
    print("g-square, 20 columns of 3 levels, 10,000 rows, microseconds a test:")
    for k in (0, 1, 2, 3):
        some = [question for question in questions if len(question[2]) == k]
        quick = seconds(lambda some=some: [ours.pvalue(*question) for question in some], 5) / len(some) * 1e6
        slow = seconds(lambda some=some: [asked_afresh(theirs, question) for question in some], 2) / len(some) * 1e6
        print(f"  {k} given: one at a time {quick:.1f}, causal-learn {slow:.0f}, ratio {slow / quick:.0f}x")
    pairs = [(x, y) for x in range(0, 20, 3) for y in range(x + 1, 20, 4)]
    queries = []
    for x, y in pairs:
        pool = tuple(v for v in range(20) if v not in (x, y))[:10]
        queries.append(SepsetQuery(x, y, pool, max_size=3, alpha=1 - 1e-9))
    tests = sum(sum(ours.find_sepset(query).tests_by_size) for query in queries)
    quick = seconds(lambda: [ours.find_sepset(query) for query in queries], 3)
    few = queries[:2]
    every = [(q.x, q.y, zs) for q in few for k in range(4) for zs in combinations(q.pool, k)]
    slow = seconds(lambda: [asked_afresh(theirs, question) for question in every], 1) / len(every) * tests
    print(f"  searches of up to 3 of 10: {quick / tests * 1e6:.1f} a test, causal-learn {slow / tests * 1e6:.0f},")
    print(f"  ratio {slow / quick:.0f}x over {tests} tests")
    data = Dataset.of(table_of(codes))
    quick = seconds(lambda: FCI(test="g-square").fit(data), 3)
    slow = seconds(lambda: fci(codes, "gsq", 0.01, show_progress=False), 1)
    print(f"  FCI as a whole: {quick * 1e3:.0f} ms, causal-learn {slow * 1e3:.0f}, ratio {slow / quick:.0f}x")


def drawn(rng: np.random.Generator, n: int, k: int, strength: float) -> np.ndarray:
    """Draw X, Y and what they are caused by; with a strength of 0 the two are independent given the others."""
    Z = [rng.choice(3, n, p=(0.6, 0.3, 0.1)) for _ in range(k)]
    base = np.log((0.6, 0.3, 0.1)) + sum(0.5 * rng.normal(size=(3, 3))[z] for z in Z)
    X = np.argmax(base + rng.gumbel(size=(n, 3)), axis=1)
    pull = strength * np.array([[1.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 1.0]])[X]
    return np.column_stack([X, np.argmax(base + pull + rng.gumbel(size=(n, 3)), axis=1), *Z])


def pvalues(rng: np.random.Generator, n: int, k: int, strength: float, draws: int) -> np.ndarray:
    """Return p-values of X and Y given the others: ours, and those of gsq and chisq."""
    given = tuple(range(2, k + 2))
    found: list[list[float]] = []
    while len(found) < draws:
        codes = drawn(rng, n, k, strength)
        if min(np.unique(column, return_counts=True)[1].min() for column in codes.T) < 2:
            continue  # a level with a single row, which tables are refused for
        ours = GSquare(Dataset.of(codes, categorical=[f"X{v}" for v in range(k + 2)])).pvalue(0, 1, given)
        found.append([ours, *(asked_afresh(CIT(codes, name), (0, 1, given)) for name in ("gsq", "chisq"))])
    return np.array(found)


def power(rng: np.random.Generator, draws: int) -> None:
    """Print rejections at 0.05, and of dependences where each rejects 5 % and 1 % of these independences."""
    print("\nX and Y given Z (3 levels, 60 : 30 : 10), ours, causal-learn gsq and chisq:")
    print("| rows | given | independent, at 0.05 | dependent, at 0.05 | at equal size, 0.05 | at equal size, 0.01 |")
    print("|---|---|---|---|---|---|")
    for n, k in ((200, 1), (500, 1), (500, 2), (2000, 2), (2000, 3)):
        none, some = pvalues(rng, n, k, 0.0, 2 * draws), pvalues(rng, n, k, 0.3, draws)
        shares = [(none < 0.05).mean(axis=0), (some < 0.05).mean(axis=0)]
        shares += [(some < np.quantile(none, size, axis=0)).mean(axis=0) for size in (0.05, 0.01)]
        shown = " | ".join(", ".join(f"{share:.3f}" for share in found) for found in shares)
        print(f"| {n} | {k} | {shown} |", flush=True)


def indicators(rng: np.random.Generator) -> None:
    print("\nL-MARVEL with mixed on a table a third of whose columns have 3 levels, beside fisher-z on their codes:")
    for p, n in ((15, 2000), (30, 5000), (60, 10_000)):
        values: list[np.ndarray] = []
        for v in range(p):
            value = rng.normal(size=n) + sum(
                (rng.choice([-1, 1]) * values[u] for u in rng.permutation(v)[: rng.integers(0, 3)]), np.zeros(n)
            )
            if v % 3 == 2:
                value = np.digitize(value, np.quantile(value, [0.3, 0.7])).astype(float)
            values.append(value)
        numbers = np.column_stack(values)
        nominal = [f"X{v}" for v in range(2, p, 3)]
        frame = pl.DataFrame({f"X{v}": column for v, column in enumerate(values)})
        text = frame.with_columns(pl.Series(name, levels(frame[name].to_numpy().astype(int))) for name in nominal)
        one, other = Dataset.of(numbers, categorical=nominal), Dataset.of(numbers)
        pairs = (
            (
                "an array, codes declared",
                partial(Dataset.of, numbers),
                partial(Dataset.of, numbers, categorical=nominal),
            ),
            ("a frame with text", partial(Dataset.of, frame), partial(Dataset.of, text)),
            ("once it is read", lambda other=other: other, lambda one=one: one),
        )
        print(f"  {p} columns, {n} rows:", end="")
        for words, plain, blocks in pairs:
            quick, slow = learned(plain, "fisher-z"), learned(blocks, "mixed")
            print(f" {words} {quick:.1f} and {slow:.1f} ms, {slow / quick:.1f}x;", end="")
        print()


def learned(source: Callable[[], Dataset], test: str) -> float:
    """Return the milliseconds that it takes to open a table and learn."""
    return seconds(lambda: LMarvel(test=test).fit(source()), 15) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000, help="dependent tables; of independent ones twice as many")
    parser.add_argument("--only", choices=("speed", "power", "indicators"))
    asked = parser.parse_args()
    parts = {"speed": speed, "power": partial(power, draws=asked.draws), "indicators": indicators}
    for name, part in parts.items():
        if asked.only in (None, name):
            part(np.random.default_rng(0))


if __name__ == "__main__":
    main()
