"""What is learned from tables with missing values, by what a score rests on and by what becomes of rows with gaps.

    python missing.py --family random --tables 24           # what a score should rest on
    python missing.py --family mixed --tables 12 --whole    # the package as it is: test-wise, drop, em

A third of the columns of each table (benchmarks/families.py) loses 10 to 30 % of its values: at random (MCAR), by a
column that is complete (MAR), or by the value itself (MNAR). Reported is the F1 of marks, the mean over tables, beside
that of the same tables before anything was lost. ``lift`` is the whole of Lift, and ``orders`` the best DAG of the
order search, read as a PAG, which is all that a score by families allows. Seeds 100 to 199 are for tuning.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from families import Drawn, draw
from numpy.typing import NDArray
from scipy import special

from lmarvel import Lift, LMarvel
from lmarvel.data.missing.em import em_moments, imputed, observed_pairs
from lmarvel.errors import LMarvelError
from lmarvel.graph.bitsets import members
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.metrics import compare_graphs
from lmarvel.orient.equivalence import orient_mag
from lmarvel.search.ancestral import AncestralGraph
from lmarvel.search.kinds.grouped import GroupedLocal, Groups
from lmarvel.search.lift import lift
from lmarvel.search.orders import Local, Regressions, forward, from_orders

Array = NDArray[np.float64]
Marks = NDArray[np.int8]
Ways = Iterator[tuple[str, Callable[[], Marks]]]
MECHANISMS = ("MCAR", "MAR", "MNAR")
PENALTY = 2.0
STEEP = 3.0  # how much the chance to be lost depends on a standardised rank


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
        else:
            by = columns[j if mechanism == "MNAR" else rng.choice(whole)]
            lost[:, j] = rng.random(n) < _chances(by, share, rng)
    return lost


def _chances(values: Any, share: float, rng: np.random.Generator) -> Array:
    """Return the chance of each row to lose a value: it grows with a column, and its mean is a share."""
    place = np.unique(values, return_inverse=True)[1].reshape(-1)
    rank = np.argsort(np.argsort(place + 1e-6 * rng.random(len(place)))) if place.max() > 9 else place
    driven = STEEP * (rank - rank.mean()) / rank.std()
    low, high = -20.0, 20.0
    for _ in range(60):
        level = (low + high) / 2
        low, high = (level, high) if (1 / (1 + np.exp(-driven - level))).mean() < share else (low, level)
    return np.asarray(1 / (1 + np.exp(-driven - low)))


# --- numbers ----------------------------------------------------------------------------------------------


def em(rows: Array) -> tuple[Array, int]:
    """Return correlations by EM, and rows that tell as much."""
    _, covariance = em_moments(rows, tuple(map(str, range(rows.shape[1]))))
    scale = np.sqrt(np.diag(covariance))
    return covariance / np.outer(scale, scale), round(len(rows) * observed_pairs(rows))


def pairwise(rows: Array) -> tuple[Array, int]:
    """Return correlations, each of the rows that have the pair, made positive definite, and rows that tell as much."""
    p = rows.shape[1]
    R = np.eye(p)
    for i in range(p):
        for j in range(i):
            both = ~np.isnan(rows[:, [i, j]]).any(axis=1)
            R[i, j] = R[j, i] = np.corrcoef(rows[both, i], rows[both, j])[0, 1]
    values, vectors = np.linalg.eigh(R)
    R = vectors * np.maximum(values, 1e-4) @ vectors.T
    scale = np.sqrt(np.diag(R))
    return R / np.outer(scale, scale), round(len(rows) * observed_pairs(rows))


class FamilyWise:
    """Regressions on the rows that have the family; one more parent is weighed on the rows that have it, too."""

    def __init__(self, rows: Array) -> None:
        self.n, self.seen = len(rows), ~np.isnan(rows)
        self.rows = np.nan_to_num((rows - np.nanmean(rows, axis=0)) / np.nanstd(rows, axis=0))
        self.price = PENALTY * math.log(self.n)
        self._known: dict[frozenset[int], Array] = {}

    def _correlation(self, columns: list[int]) -> Array:
        key = frozenset(v for v in columns if not self.seen[:, v].all())
        if key not in self._known:
            there = self.seen[:, sorted(key)].all(axis=1)
            self._known[key] = np.corrcoef(self.rows[there].T) if there.any() else np.eye(self.rows.shape[1])
        return self._known[key]

    def _left(self, R: Array, v: int, parents: list[int]) -> float:
        """Return n times the logarithm of the share of v's variance that parents leave."""
        if not parents:
            return 0.0
        slopes = np.linalg.lstsq(R[np.ix_(parents, parents)], R[parents, v], rcond=None)[0]
        return self.n * math.log(max(1 - float(R[v, parents] @ slopes), 1e-12))

    def value(self, v: int, parents: int) -> float:
        """Return the score of v given parents, against none on the same rows."""
        at = list(members(parents))
        return self._left(self._correlation([v, *at]), v, at)

    def additions(self, v: int, parents: int) -> tuple[float, list[int]]:
        """Return the value, and the variables that pay their price as one more parent."""
        at, gains = list(members(parents)), []
        for u in range(self.rows.shape[1]):
            if u != v and u not in at:
                R = self._correlation([v, u, *at])
                gains.append((self._left(R, v, [*at, u]) - self._left(R, v, at) + self.price, u))
        return self.value(v, parents), [1 << u for gain, u in sorted(gains) if gain < 0]

    def removal(self, v: int, parents: int) -> int:
        """Return the parent that is best left out."""
        at = list(members(parents))
        R = self._correlation([v, *at])
        loss, u = min((self._left(R, v, [w for w in at if w != u]) - self._left(R, v, at), u) for u in at)
        return 1 << u if loss < self.price else 0


def ways_of_numbers(rows: Array) -> Ways:
    """Iterate over what a score of numbers may rest on."""
    whole = rows[~np.isnan(rows).any(axis=1)]
    sources = {"EM": em(rows), "pairs": pairwise(rows)}
    if len(whole) > rows.shape[1] + 4:
        sources["complete rows"] = np.corrcoef(whole.T), len(whole)
    for what, (R, n) in sources.items():
        yield f"lift: {what}", lambda R=R, n=n: lift(R, n, penalty=PENALTY).pag  # type: ignore[misc]
        groups = Groups(R, tuple((v,) for v in range(len(R))), n, PENALTY)
        yield f"orders: {what}", lambda g=groups: by_orders(GroupedLocal(g), rows.shape[1])  # type: ignore[misc]
    yield "orders: families", lambda: by_orders(FamilyWise(rows), rows.shape[1])


# --- categories -------------------------------------------------------------------------------------------


class Counts:
    """BDeu with an equivalent sample of one row: minus two log of the chance of counts, which pays for parameters."""

    price = 0.0

    def __init__(self, codes: Array, sizes: list[int], weights: Array | None = None) -> None:
        self.codes, self.sizes, self.weights = codes.astype(np.int64), sizes, weights
        self._known: dict[tuple[int, int], float] = {}

    def value(self, v: int, parents: int) -> float:
        """Return the score of v given parents."""
        if (v, parents) not in self._known:
            self._known[v, parents] = self._value(v, list(members(parents)))
        return self._known[v, parents]

    def _value(self, v: int, parents: list[int]) -> float:
        r, a = self.sizes[v], 1.0 / math.prod(self.sizes[u] for u in parents)
        which = np.zeros(len(self.codes), dtype=np.int64)
        for u in parents:
            which = np.unique(which * self.sizes[u] + self.codes[:, u], return_inverse=True)[1].reshape(-1)
        counts = np.bincount(which * r + self.codes[:, v], self.weights, r * (which.max(initial=0) + 1)).reshape(-1, r)
        chance = float((special.gammaln(a) - special.gammaln(a + counts.sum(axis=1))).sum())
        return -2.0 * (chance + float((special.gammaln(a / r + counts) - special.gammaln(a / r)).sum()))

    def change(self, v: int, parents: int, others: int) -> float:
        """Return what other parents change in the score."""
        return self.value(v, others) - self.value(v, parents)

    def additions(self, v: int, parents: int) -> tuple[float, list[int]]:
        """Return the value, and the variables that pay their price as one more parent."""
        free = [u for u in range(len(self.sizes)) if u != v and not parents >> u & 1]
        gains = [(self.change(v, parents, parents | 1 << u) + self.price, u) for u in free]
        return self.value(v, parents), [1 << u for gain, u in sorted(gains) if gain < -1e-9]

    def removal(self, v: int, parents: int) -> int:
        """Return the parent that is best left out."""
        loss, u = min((self.change(v, parents, parents & ~(1 << u)), u) for u in members(parents))
        return 1 << u if loss < self.price - 1e-9 else 0


class FamilyCounts(Counts):
    """The same on the rows that have the family, against no parents on the same rows, scaled to all rows."""

    def __init__(self, codes: Array, sizes: list[int]) -> None:
        super().__init__(codes, sizes)
        self._parts: dict[int, Counts] = {}

    def _on(self, family: int) -> tuple[Counts, float]:
        lacking = sum(1 << v for v in members(family) if (self.codes[:, v] < 0).any())
        if lacking not in self._parts:
            there = (self.codes[:, list(members(lacking))] >= 0).all(axis=1)
            self._parts[lacking] = Counts(self.codes[there], self.sizes)
        return self._parts[lacking], len(self.codes) / max(len(self._parts[lacking].codes), 1)

    def value(self, v: int, parents: int) -> float:
        """Return the score of v given parents, against none on the same rows."""
        part, scale = self._on(parents | 1 << v)
        return scale * part.change(v, 0, parents)

    def change(self, v: int, parents: int, others: int) -> float:
        """Return what other parents change in the score, on the rows that have all of them."""
        part, scale = self._on(parents | others | 1 << v)
        return scale * part.change(v, parents, others)


def ways_of_categories(codes: Array) -> Ways:
    """Iterate over what a score of categories may rest on."""
    p = codes.shape[1]
    whole = codes[~np.isnan(codes).any(axis=1)]
    sizes = [int(np.nanmax(column)) + 1 for column in codes.T]
    lacking = np.isnan(codes)
    yield "orders: families", lambda: by_orders(FamilyCounts(np.where(lacking, -1, codes), sizes), p)
    yield "orders: a gap as a category", lambda: by_orders(_local(np.where(lacking, np.array(sizes), codes)), p)
    for many in (1, 5):
        stacked = np.concatenate(list(imputed(codes, sizes, many, 0)))
        weights = np.full(len(stacked), observed_pairs(codes) / many)
        yield f"orders: {many} imputed", lambda s=stacked, w=weights: by_orders(_local(s, w), p)  # type: ignore[misc]
    if len(whole) > 20 and (whole.max(axis=0) > whole.min(axis=0)).all():
        yield "orders: complete rows", lambda: by_orders(_local(whole), p)


def _local(codes: Array, weights: Array | None = None) -> Counts:
    return Counts(codes, [int(column.max()) + 1 for column in codes.T], weights)


def by_orders(local: Local, p: int) -> Marks:
    """Return the PAG of the best DAG of the order search."""
    best, as_is = Regressions(local, p), list(range(p))
    found = from_orders(best, (forward(best), as_is, as_is[::-1]))
    marks = AncestralGraph.of_parents(found.parents).marks()
    return orient_mag(MAG._trusted(tuple(map(str, range(p))), marks), True).marks


# --- the package as it is ---------------------------------------------------------------------------------


def ways_of_the_package(table: dict[str, Any]) -> Ways:
    """Iterate over what becomes of rows with gaps, with tests and with a score."""
    for method in (LMarvel, Lift):
        for missing in ("test-wise", "drop", "em"):
            fit = lambda m=method, w=missing: m().fit(table, missing=w).result_.pag.marks  # noqa: E731
            yield f"{method.__name__}: {missing}", fit


def ways(drawn: Drawn, lost: NDArray[np.bool_] | None, whole: bool) -> Ways:
    """Iterate over everything that is compared on a table without what was lost."""
    if whole:
        columns = {name: list(map(_plain, column)) for name, column in drawn.table.items()}
        if lost is None:
            for method in (LMarvel, Lift):
                yield f"{method.__name__}: nothing lost", lambda m=method: m().fit(columns).result_.pag.marks  # type: ignore[misc]
            return
        gone = dict(zip(columns, lost.T, strict=True))
        yield from ways_of_the_package(
            {
                name: [None if g else v for v, g in zip(column, gone[name], strict=True)]
                for name, column in columns.items()
            }
        )
        return
    levelled = drawn.family in ("network", "categories")
    coded = [np.unique(v, return_inverse=True)[1].reshape(-1) if levelled else v for v in drawn.table.values()]
    rows = np.column_stack(coded).astype(float)
    if lost is not None:
        torn = np.where(lost, np.nan, rows)
        yield from ways_of_categories(torn) if levelled else ways_of_numbers(torn)
    elif levelled:
        yield "orders: nothing lost", lambda: by_orders(_local(rows), rows.shape[1])
    else:
        yield "lift: nothing lost", lambda: lift(np.corrcoef(rows.T), len(rows), penalty=PENALTY).pag


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", default="random")
    parser.add_argument("--tables", type=int, default=24)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--whole", action="store_true", help="compare what the package does, not scores")
    chosen = parser.parse_args()
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for number in range(chosen.tables):
        drawn = draw(chosen.family, number, chosen.seed)
        for mechanism in ("", *MECHANISMS):
            lost = gaps(drawn, mechanism, chosen.seed + number) if mechanism else None
            for what, learn in ways(drawn, lost, chosen.whole):
                try:
                    learned = PAG._trusted(tuple(drawn.table), learn())
                    found[what, mechanism].append(compare_graphs(learned, drawn.study.pag).marks.f1)
                except LMarvelError:  # too few rows are left: nothing is learned
                    found[what, mechanism].append(0.0)
    for (what, mechanism), values in sorted(found.items()):
        print(f"{what:<28}{mechanism:<6}{np.mean(values):.3f}  ({len(values)} tables)")


if __name__ == "__main__":
    main()
