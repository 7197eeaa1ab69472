"""The decisions of the paper's own program beside this package's, on identical data.

    python authors_program.py --panels mildew-31-4-0 --reps 100

The program of the paper's authors is here written anew from its description; no line of it is used. What it decides
where the paper's text leaves a choice:

- Boundaries by total conditioning at 2/p^2; Fisher's z compared with Student's t on N - |Z| - 3 degrees of freedom.
- For variables outside each other's boundary all other variables are the separating set.
- Adjacency: subsets of Mb(X) without Y from size 0 to |Mb(X)| - 2, at alpha = 0.01.
- Removability: Condition 1 at alpha, Condition 2 broken only by a p-value above 0.8; pairs known to be adjacent are
  skipped, and pairs whose separating set does not hold X. Not tried again until the boundary changes.
- Boundaries are updated at 2/p^2.
- It stops when no variable is removable; what is not decided then is no edge.
- Every test counts, however often it is repeated.

Variables with equally large boundaries are visited in the order of the columns ("authors"), and, so that the two
programs differ in their decisions only, in the order by content of this package ("authors, our order").
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations

import numpy as np
from scipy.stats import t as student

from lmarvel.ci.registry import as_ci_test
from lmarvel.data.dataset import Dataset
from lmarvel.experiments.methods import METHODS
from lmarvel.experiments.plan import Job, Setting
from lmarvel.experiments.reproduce import EXPERIMENTS
from lmarvel.experiments.run import draw
from lmarvel.graph.kinds import MAG
from lmarvel.graph.metrics import Rate
from lmarvel.simulate import NETWORKS, load_network

Independent = Callable[[int, int, Iterable[int], float], bool]
OURS = ("lmarvel", "lmarvel-chordal")


class AuthorsProgram:
    """One run: ``independent(x, y, z, level)`` answers whether the p-value exceeds the level."""

    def __init__(self, n: int, independent: Independent, alpha: float = 0.01, threshold: float = 0.8) -> None:
        self.n, self.ask, self.alpha, self.threshold = n, independent, alpha, threshold
        self.boundary_alpha = 2 / n**2
        self.tests = 0
        self.distinct: set[tuple[frozenset[int], frozenset[int]]] = set()
        self.edges: set[frozenset[int]] = set()
        self.sepsets: dict[frozenset[int], frozenset[int]] = {}
        self.left: set[int] = set()  # what remained when nothing was removable

    def independent(self, x: int, y: int, given: Iterable[int], level: float) -> bool:
        self.tests += 1
        self.distinct.add((frozenset((x, y)), frozenset(given)))
        return self.ask(x, y, given, level)

    def learn(self) -> AuthorsProgram:
        """Run it on all variables; ``edges`` is the skeleton, and ``tests`` leaves the boundary stage out."""
        everything = frozenset(range(self.n))
        mb: dict[int, set[int]] = {v: set() for v in everything}
        for x, y in combinations(range(self.n), 2):
            others = everything - {x, y}
            if self.ask(x, y, others, self.boundary_alpha):
                self.sepsets[frozenset((x, y))] = others
            else:
                mb[x].add(y)
                mb[y].add(x)
        failed: set[int] = set()
        while mb:
            chosen = self._first_removable(mb, failed)
            if chosen is None:
                self.left = set(mb)
                break
            failed -= mb[chosen]
            self._remove(chosen, mb)
        return self

    def _first_removable(self, mb: dict[int, set[int]], failed: set[int]) -> int | None:
        for x in sorted(mb, key=lambda v: (len(mb[v]), v)):
            if x not in failed:
                self._find_adjacent(x, mb[x])
                if self._is_removable(x, mb[x]):
                    return x
                failed.add(x)
        return None

    def _find_adjacent(self, x: int, mb: set[int]) -> None:
        for y in sorted(mb):
            pair = frozenset((x, y))
            if pair in self.edges or pair in self.sepsets:
                continue
            found = self._search(x, y, mb - {y}, self.alpha, most=len(mb) - 2)
            if found is None:
                self.edges.add(pair)
            else:
                self.sepsets[pair] = found

    def _is_removable(self, x: int, mb: set[int]) -> bool:
        near = [y for y in sorted(mb) if frozenset((x, y)) in self.edges]
        for y, z in _pairs(near, sorted(mb)):
            pair = frozenset((y, z))
            known = self.sepsets.get(pair)
            if pair in self.edges or (known is not None and x not in known):
                continue
            pool = mb - {y, z}
            without = self._search(y, z, pool, self.alpha)
            if without is not None:
                self.sepsets[pair] = without
                continue
            with_x = self._search(y, z, pool, self.threshold, always={x})
            if with_x is not None:
                self.sepsets.setdefault(pair, with_x)
                return False
        return True

    def _remove(self, x: int, mb: dict[int, set[int]]) -> None:
        """Part the pairs whose collider paths all went through x, one test each, and take x out."""
        apart = []
        for y, z in combinations(sorted(mb[x]), 2):
            if z in mb[y] and frozenset((y, z)) not in self.edges:
                given = min(mb[y] - {x, z}, mb[z] - {x, y}, key=len)
                if self.independent(y, z, given, self.boundary_alpha):
                    apart.append((y, z, frozenset(given)))
        for y, z, given in apart:
            mb[y].discard(z)
            mb[z].discard(y)
            self.sepsets.setdefault(frozenset((y, z)), given)
        for y in mb.pop(x):
            mb[y].discard(x)

    def _search(
        self, x: int, y: int, pool: set[int], level: float, always: set[int] = frozenset(), most: int | None = None
    ) -> frozenset[int] | None:
        """Return the first subset of the pool, small ones first, that separates together with ``always``."""
        top = len(pool) if most is None else max(most, 0)
        for size in range(top + 1):
            for chosen in combinations(sorted(pool), size):
                given = frozenset(chosen) | always
                if self.independent(x, y, given, level):
                    return given
        return None


def _pairs(near: list[int], boundary: list[int]) -> Iterator[tuple[int, int]]:
    """Iterate over Y in Adj(X), Z in Mb(X), each pair once."""
    seen = set()
    for y in near:
        for z in boundary:
            if y != z and frozenset((y, z)) not in seen:
                seen.add(frozenset((y, z)))
                yield y, z


def fisher(data: np.ndarray) -> Independent:
    """Return Fisher's z test of partial correlation, compared with Student's t."""
    rows, correlation = len(data), np.corrcoef(data.T)

    @cache
    def critical(level: float, freedom: int) -> float:
        return float(student.isf(level / 2, freedom))

    def independent(x: int, y: int, given: Iterable[int], level: float) -> bool:
        where = [x, y, *given]
        inverse = np.linalg.inv(correlation[np.ix_(where, where)])
        r = -inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1])
        freedom = rows - (len(where) - 2) - 3
        return bool(np.sqrt(freedom) * abs(np.arctanh(np.clip(r, -1 + 1e-15, 1 - 1e-15))) < critical(level, freedom))

    return independent


def skeleton_rate(edges: set[frozenset[str]], mag: MAG) -> Rate:
    true = {frozenset((edge.a, edge.b)) for edge in mag.edges()}
    return Rate(len(edges & true), len(edges), len(true))


def authors(data: np.ndarray, names: Sequence[str], order: Sequence[int]) -> tuple[set[frozenset[str]], int, int]:
    """Run the program with the columns in some order; return its edges, its tests and how many of them are distinct."""
    run = AuthorsProgram(len(names), fisher(data[:, order])).learn()
    return {frozenset(names[order[v]] for v in pair) for pair in run.edges}, run.tests, len(run.distinct)


def one(setting: Setting, rep: int, seed: int) -> dict[str, tuple[float, ...]]:
    """Return F1, precision, recall, tests and distinct tests of each program on one data set."""
    study, data = draw(Job(setting, "lmarvel", rep), seed, str(load_network(setting.structure)))
    names = study.observed
    columns = dict(zip(names, data.T, strict=True))
    content = as_ci_test("auto", Dataset.of(columns)).canonical_order()
    found = {
        "authors": authors(data, names, range(len(names))),
        "authors, our order": authors(data, names, content),
    }
    for method in OURS:
        result = METHODS[method].make().fit(columns).result_
        learned = {frozenset((edge.a, edge.b)) for edge in result.pag.edges()}
        tests = result.stats.without("boundary").n_tests
        found[method] = (learned, tests, tests)
    rates = {name: (skeleton_rate(learned, study.mag), tests) for name, (learned, *tests) in found.items()}
    return {name: (rate.f1, rate.precision, rate.recall, *tests) for name, (rate, tests) in rates.items()}


def main() -> None:
    settings = {s.panel: s for e in ("table1", "table2") for s in EXPERIMENTS[e].settings if s.structure in NETWORKS}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--panels", default="mildew-31-4-0", help=f"with commas: {', '.join(settings)}")
    parser.add_argument("--reps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=2021)
    options = parser.parse_args()
    unknown = [panel for panel in options.panels.split(",") if panel not in settings]
    if unknown:
        parser.error(f"unknown panel {unknown[0]!r}: choose from {', '.join(settings)}")
    print("| column | program | F1 | precision | recall | tests | distinct | F1, less that in our order |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for panel in options.panels.split(","):
        runs = [one(settings[panel], rep, options.seed) for rep in range(options.reps)]
        base = np.array([run["authors, our order"] for run in runs])
        for name in runs[0]:
            values = np.array([run[name] for run in runs])
            rates, tests = values.mean(axis=0)[:3], values.mean(axis=0)[3:]
            gap = values[:, 0] - base[:, 0]
            error = gap.std(ddof=1) / len(gap) ** 0.5 if len(gap) > 1 else float("nan")
            shown = [*(f"{rate:.3f}" for rate in rates), *(f"{count:,.0f}" for count in tests)]
            print(f"| {panel} | {name} | {' | '.join(shown)} | {gap.mean():+.4f} ± {error:.4f} |", flush=True)


if __name__ == "__main__":
    main()
