"""What a score should rest on where values are missing: moments by EM, pairs of columns, or the rows of each family?

    python missing.py --family random --tables 24

A third of the columns of each table loses 10 to 30 % of its values: at random (MCAR), by a column that is complete
(MAR), or by the value itself (MNAR). Reported is the F1 of marks, the mean over tables, beside that of the tables before
anything was lost, and of their complete rows. ``orders`` are the best DAG of the order search, read as a PAG; ``lift``
is the whole of Lift. Seeds 100 to 199 are for tuning.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np
from families import Drawn, draw
from numpy.typing import NDArray

from lmarvel.data.em import em_moments, imputed, observed_pairs
from lmarvel.graph.bitsets import members
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.metrics import compare_graphs
from lmarvel.orient.equivalence import orient_mag
from lmarvel.search.ancestral import AncestralGraph
from lmarvel.search.kinds.categories import CategoricalLocal, Categories
from lmarvel.search.kinds.grouped import GroupedLocal, Groups
from lmarvel.search.lift import lift
from lmarvel.search.orders import Local, Regressions, forward, from_orders

Array = NDArray[np.float64]
MECHANISMS = ("MCAR", "MAR", "MNAR")
PENALTY = 2.0


def gaps(drawn: Drawn, mechanism: str, seed: int) -> NDArray[np.bool_]:
    """Return which values are lost."""
    rng = np.random.default_rng([seed, MECHANISMS.index(mechanism)])
    columns = list(drawn.table.values())
    p, n = len(columns), drawn.rows
    chosen = rng.permutation(p)
    losing, whole = chosen[: max(p // 3, 1)], chosen[max(p // 3, 1) :]
    lost = np.zeros((n, p), dtype=bool)
    for j in losing:
        share = rng.uniform(0.1, 0.3)
        if mechanism == "MCAR":
            lost[:, j] = rng.random(n) < share
            continue
        by = j if mechanism == "MNAR" else rng.choice(whole)
        place = np.unique(columns[by], return_inverse=True)[1].reshape(-1)
        rank = np.argsort(np.argsort(place + 1e-6 * rng.random(n))) / n if len(set(place)) > 10 else place / max(place)
        driven = 3.0 * (rank - rank.mean()) / rank.std()
        low, high = -20.0, 20.0
        for _ in range(60):  # the level at which so many are lost
            level = (low + high) / 2
            low, high = (level, high) if (1 / (1 + np.exp(-driven - level))).mean() < share else (low, level)
        lost[:, j] = rng.random(n) < 1 / (1 + np.exp(-driven - level))
    return lost


def pairwise(rows: Array) -> tuple[Array, float]:
    """Return correlations, each of the rows that have the pair, made positive definite, and rows that tell as much."""
    p = rows.shape[1]
    R = np.eye(p)
    for i in range(p):
        for j in range(i):
            both = ~np.isnan(rows[:, i]) & ~np.isnan(rows[:, j])
            R[i, j] = R[j, i] = np.corrcoef(rows[both, i], rows[both, j])[0, 1]
    values, vectors = np.linalg.eigh(R)
    R = vectors * np.maximum(values, 1e-4) @ vectors.T
    scale = np.sqrt(np.diag(R))
    return R / np.outer(scale, scale), len(rows) * observed_pairs(rows)


class FamilyWise:
    """Regressions on the rows that have the family; one more parent is weighed on the rows that have it, too."""

    def __init__(self, rows: Array) -> None:
        self.n, self.seen = len(rows), ~np.isnan(rows)
        self.rows = np.nan_to_num((rows - np.nanmean(rows, axis=0)) / np.nanstd(rows, axis=0))
        self.price = PENALTY * math.log(self.n)
        self._R: dict[frozenset[int], tuple[Array, int]] = {}

    def _correlation(self, columns: list[int]) -> tuple[Array, int]:
        key = frozenset(v for v in columns if not self.seen[:, v].all())
        if key not in self._R:
            there = self.seen[:, sorted(key)].all(axis=1)
            self._R[key] = (
                np.corrcoef(self.rows[there].T) if there.any() else np.eye(self.rows.shape[1]),
                int(there.sum()),
            )
        return self._R[key]

    def _left(self, R: Array, v: int, parents: list[int]) -> float:
        """Return the logarithm of the share of v's variance that parents leave."""
        if not parents:
            return 0.0
        left = 1 - R[v, parents] @ np.linalg.lstsq(R[np.ix_(parents, parents)], R[parents, v], rcond=None)[0]
        return math.log(max(left, 1e-12))

    def value(self, v: int, parents: int) -> float:
        at = list(members(parents))
        return self.n * self._left(self._correlation([v, *at])[0], v, at)

    def additions(self, v: int, parents: int) -> tuple[float, list[int]]:
        at = list(members(parents))
        gains = []
        for u in range(self.rows.shape[1]):
            if u != v and u not in at:
                R, _ = self._correlation([v, u, *at])
                gain = self.n * (self._left(R, v, at) - self._left(R, v, [*at, u])) - self.price
                gains += [(-gain, u)] if gain > 0 else []
        return self.value(v, parents), [1 << u for _, u in sorted(gains)]

    def removal(self, v: int, parents: int) -> int:
        at = list(members(parents))
        R, _ = self._correlation([v, *at])
        full = self._left(R, v, at)
        change = [(self.n * (self._left(R, v, [w for w in at if w != u]) - full) - self.price, u) for u in at]
        worst = min(change)
        return 1 << worst[1] if worst[0] < 0 else 0


class FamilyCounts(CategoricalLocal):
    """BDeu on the rows that have the family, against no parents on the same rows, scaled to all rows."""

    def __init__(self, table: Categories) -> None:
        super().__init__(table)
        self.known: dict[int, CategoricalLocal | None] = {}

    def _on(self, family: int) -> tuple[CategoricalLocal, float]:
        lacking = sum(1 << v for v in members(family) if (self.table.codes[:, v] < 0).any())
        if lacking not in self.known:
            there = (self.table.codes[:, list(members(lacking))] >= 0).all(axis=1)
            part = CategoricalLocal(Categories(self.table.codes[there], self.table.penalty))
            part._sizes = self._sizes
            self.known[lacking] = part
        part = self.known[lacking]
        return part, self.table.n / max(part.table.n, 1)

    def value(self, v: int, parents: int) -> float:
        part, scale = self._on(parents | 1 << v)
        return scale * (part.value(v, parents) - part.value(v, 0))

    def additions(self, v: int, parents: int) -> tuple[float, list[int]]:
        gains = []
        for u in range(len(self._sizes)):
            if u != v and not parents >> u & 1:
                part, scale = self._on(parents | 1 << u | 1 << v)
                gain = scale * (part.value(v, parents) - part.value(v, parents | 1 << u)) - self.price
                gains += [(-gain, u)] if gain > 0 else []
        return self.value(v, parents), [1 << u for _, u in sorted(gains)]

    def removal(self, v: int, parents: int) -> int:
        part, scale = self._on(parents | 1 << v)
        full = part.value(v, parents)
        change = [(scale * (part.value(v, parents & ~(1 << u)) - full) - self.price, u) for u in members(parents)]
        worst = min(change)
        return 1 << worst[1] if worst[0] < 0 else 0


def ways_of_categories(codes: Array) -> Iterator[tuple[str, Callable[[], NDArray[np.int8]]]]:
    """Iterate over what is compared on a table of categories."""
    p = codes.shape[1]
    whole = codes[~np.isnan(codes).any(axis=1)]
    sizes = [int(np.nanmax(column)) + 1 for column in codes.T]
    filled = np.where(np.isnan(codes), -1, codes).astype(np.int64)
    more = np.where(np.isnan(codes), np.array(sizes), codes).astype(np.int64)
    yield "orders: families", lambda: by_orders(FamilyCounts(Categories(filled)), p)
    yield "orders: gap as category", lambda: by_orders(CategoricalLocal(Categories(more)), p)
    for many in (1, 5):
        stacked = np.concatenate(list(imputed(codes, sizes, many, 0))).astype(np.int64)
        weights = np.full(len(stacked), observed_pairs(codes) / many)
        yield (
            f"orders: {many} imputed",
            lambda s=stacked, w=weights: by_orders(CategoricalLocal(Categories(s, 2.0, w)), p),
        )
    if len(whole) > 20 and (whole.max(axis=0) > whole.min(axis=0)).all():
        yield "orders: complete rows", lambda: by_orders(CategoricalLocal(Categories(whole.astype(np.int64))), p)


def by_orders(local: Local, p: int) -> NDArray[np.int8]:
    best = Regressions(local, p)
    as_is = list(range(p))
    found = from_orders(best, (forward(best), as_is, as_is[::-1]))
    marks = AncestralGraph.of_parents(found.parents).marks()
    return orient_mag(MAG._trusted(tuple(map(str, range(p))), marks), True).marks


def groups(R: Array, n: float) -> GroupedLocal:
    return GroupedLocal(Groups(R, tuple((v,) for v in range(len(R))), round(n), PENALTY))


def em(rows: Array) -> tuple[Array, float]:
    _, covariance = em_moments(rows, tuple(map(str, range(rows.shape[1]))))
    scale = np.sqrt(np.diag(covariance))
    return covariance / np.outer(scale, scale), len(rows) * observed_pairs(rows)


def ways(rows: Array) -> Iterator[tuple[str, Callable[[], NDArray[np.int8]]]]:
    """Iterate over what is compared on a table of numbers."""
    p = rows.shape[1]
    whole = rows[~np.isnan(rows).any(axis=1)]
    R, n = em(rows)
    yield "lift: EM", lambda: lift(R, round(n), penalty=PENALTY).pag
    P, m = pairwise(rows)
    yield "lift: pairs", lambda: lift(P, round(m), penalty=PENALTY).pag
    yield "orders: EM", lambda: by_orders(groups(R, n), p)
    yield "orders: pairs", lambda: by_orders(groups(P, m), p)
    yield "orders: families", lambda: by_orders(FamilyWise(rows), p)
    if len(whole) > p + 4:
        yield "lift: complete rows", lambda: lift(np.corrcoef(whole.T), len(whole), penalty=PENALTY).pag
        yield "orders: complete rows", lambda: by_orders(groups(np.corrcoef(whole.T), len(whole)), p)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", default="random")
    parser.add_argument("--tables", type=int, default=24)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=100)
    chosen = parser.parse_args()
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for number in range(chosen.first, chosen.first + chosen.tables):
        drawn = draw(chosen.family, number, chosen.seed)
        names, true = tuple(drawn.table), drawn.study.pag
        levelled = chosen.family in ("network", "categories")
        columns = list(drawn.table.values())
        if levelled:
            columns = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in columns]
        rows = np.column_stack(columns).astype(float)

        def enter(what: str, mechanism: str, marks: NDArray[np.int8]) -> None:
            found[what, mechanism].append(compare_graphs(PAG._trusted(names, marks), true).marks.f1)

        if levelled:
            whole = CategoricalLocal(Categories(rows.astype(np.int64)))
            enter("orders: nothing lost", "", by_orders(whole, len(names)))
        else:
            enter("lift: nothing lost", "", lift(np.corrcoef(rows.T), len(rows), penalty=PENALTY).pag)
        for mechanism in MECHANISMS:
            torn = np.where(gaps(drawn, mechanism, chosen.seed + number), np.nan, rows)
            for what, learn in (ways_of_categories if levelled else ways)(torn):
                try:
                    enter(what, mechanism, learn())
                except Exception as error:
                    print(number, what, mechanism, error)
    for (what, mechanism), values in sorted(found.items()):
        print(f"{what:<24}{mechanism:<6}{np.mean(values):.3f}  ({len(values)} tables)")


if __name__ == "__main__":
    main()
