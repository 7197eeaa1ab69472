"""The test `mixed` on tables of numbers and categories: seconds, graphs, and how often it finds what is there.

    python benchmarks/mixed.py speed     # L-MARVEL on 20 columns and 5,000 rows, beside fisher-z on the codes
    python benchmarks/mixed.py graphs    # F1 beside other tests: tables of several kinds, and of categories alone
    python benchmarks/mixed.py power     # size and power at 0.01, beside the block Gaussian test

Set OPENBLAS_NUM_THREADS=1. docs/tests.md has the figures.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from families import draw

from lmarvel import Dataset, FisherZ, LMarvel
from lmarvel.ci.block_gaussian import BlockGaussian
from lmarvel.ci.blocks import blocks_of
from lmarvel.ci.glm.residuals import ResidualProducts
from lmarvel.errors import LMarvelError
from lmarvel.graph.metrics import compare_graphs
from lmarvel.orient.study import Study
from lmarvel.simulate import MixedSEM, erdos_renyi

KINDS = ("continuous", "continuous", "binary", "ordinal", "nominal", "count")
TABLES = 12


def tables(rows: int) -> Iterator[tuple[dict[str, Any], Study]]:
    """Draw tables of 20 columns of all kinds, with the study that each comes from."""
    for seed in range(150, 150 + TABLES):
        study = Study(erdos_renyi(20, 0.15, seed=seed))
        model = MixedSEM.random(study.dag, KINDS, levels=3, seed=seed)
        yield model.sample(study, rows, seed=seed), model.truth(study)


def seconds(table: Any, test: Any) -> float:
    """Return the seconds of the processor that a run takes, the better of two."""
    found = []
    for _ in range(2):
        begun = time.process_time()
        LMarvel(test=test).fit(Dataset.of(table))
        found.append(time.process_time() - begun)
    return min(found)


def speed() -> None:
    """Print seconds and their ratio."""
    pairs = []
    for table, _ in tables(5000):
        codes = {name: np.unique(column, return_inverse=True)[1] for name, column in table.items()}
        pairs.append((seconds(table, "mixed"), seconds(codes, "fisher-z")))
    one, other = np.array(pairs).T
    ratio = one.mean() / other.mean()
    print(f"mixed {one.mean():.2f} s (largest {one.max():.2f}), fisher-z {other.mean():.4f} s, ratio {ratio:.0f}")


def graphs() -> None:
    """Print the F1 of skeletons and of marks, and seconds, by family, rows and test."""
    found: dict[tuple[str, int, str], list[tuple[float, ...]]] = defaultdict(list)

    def learn(family: str, table: Any, truth: Study, rows: int, test: str) -> None:
        begun = time.process_time()
        try:
            data = Dataset.of(table)
            asked = BlockGaussian(data, blocks_of(data)) if test == "blocks" else test
            pag = LMarvel(test=asked, max_seconds=20).fit(data).pag_
        except LMarvelError:
            return
        took = time.process_time() - begun
        same = compare_graphs(pag, truth.pag)
        found[family, rows, test].append((same.skeleton.f1, same.marks.f1, took))

    for rows in (500, 2000, 5000):
        for table, truth in tables(rows):
            for test in ("mixed", "blocks", "curved", "rank"):
                learn("all kinds", table, truth, rows, test)
    for family in ("categories", "network"):
        for number in range(40):
            drawn = draw(family, number, 150)
            if len(drawn.table) <= 30:
                for test in ("mixed", "g-square"):
                    learn(family, drawn.table, drawn.study, drawn.rows, test)
    for (family, rows, test), each in sorted(found.items()):
        skeleton, marks, took = np.mean(each, axis=0)
        print(f"{family:12s} {rows:6,} {test:9s} {len(each):3d} tables {skeleton:.3f} {marks:.3f} {took:.2f} s")


def columns_of(rng: np.random.Generator, n: int, kinds: tuple[str, str], k: int, effect: float, bent: bool) -> Any:
    """Draw X, Y and k common causes, numbers and categories in turn; X has an effect on Y, straight or bent."""
    causes = [rng.normal(size=n) if i % 2 else rng.integers(0, 3, n) for i in range(k)]

    def score() -> Any:
        parts = [1.5 * rng.normal(size=3)[z] if z.dtype.kind == "i" else 1.2 * rng.choice([-1, 1]) * z for z in causes]
        return sum(parts, np.zeros(n))

    def end(kind: str, more: Any) -> Any:
        if kind == "number":
            return score() + more + rng.normal(size=n)
        logits = np.column_stack([np.zeros(n), score() + more, score() - more])
        return (logits + rng.gumbel(size=(n, 3))).argmax(axis=1)

    x = end(kinds[0], 0.0)
    on = np.asarray(x if kinds[0] == "number" else rng.normal(size=3)[x], dtype=float)
    on = (on - on.mean()) ** 2 if bent else on
    y = end(kinds[1], effect * (on - on.mean()) / on.std())
    return dict(zip([f"v{i}" for i in range(k + 2)], (x, y, *causes), strict=True))


def power() -> None:
    """Print the shares of p-values below 0.01."""
    cases = (("size", 0.0, False), ("line", 0.2, False), ("bend", 0.3, True))
    for kinds in (("number", "number"), ("number", "category"), ("category", "category")):
        for (words, effect, bent), rows in ((case, rows) for case in cases for rows in (500, 2000)):
            below = np.zeros((2, 3))
            for at, k in enumerate((0, 2, 4)):
                rng = np.random.default_rng([150, rows, k])
                for _ in range(200):
                    columns = columns_of(rng, rows, kinds, k, effect, bent)
                    names = [name for name, c in columns.items() if c.dtype.kind == "i"]
                    data = Dataset.of(columns, categorical=names)
                    blocks = BlockGaussian(data, blocks_of(data)) if names else FisherZ(data)
                    tests = ResidualProducts(data), blocks
                    below[:, at] += [test.pvalue(0, 1, range(2, k + 2)) < 0.01 for test in tests]
            shown = " | ".join(f"{one:.3f}, {other:.3f}" for one, other in (below / 200).T)
            print(f"| {' with '.join(kinds)} | {words} | {rows:,} | {shown} |", flush=True)


if __name__ == "__main__":
    {"speed": speed, "graphs": graphs, "power": power}[sys.argv[1]]()
