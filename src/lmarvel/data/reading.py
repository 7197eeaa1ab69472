"""What is read of a table, when it is asked for, and kept."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.categories import Grouped, group_many, peculiar
from lmarvel.data.checks import UnusableTable, check_levels, faults_of, missing_values, way_out
from lmarvel.data.columns import Kind, by_kind, kinds_of, not_one_a_row
from lmarvel.data.levels import Levels, written
from lmarvel.data.matrix import about_matrix, matrix_of
from lmarvel.data.missing.em import em_moments, imputed, observed_pairs
from lmarvel.data.missing.gaps import Gaps
from lmarvel.data.moments import Moments, Running
from lmarvel.data.scan import Scan, Tick, Weights
from lmarvel.data.sources.base import Rows
from lmarvel.data.sources.csv_rows import left_out_empty
from lmarvel.data.table import Table
from lmarvel.data.view import TEST_WISE, Asked, Clusters, View, all_rows, design_effect, shared_within, view_of
from lmarvel.errors import DataError, LMarvelWarning, NotNumbers, UnusableError

_NOTHING = Asked()
_LOOKED_THROUGH = 20_000_000  # values of a table that is looked through for all that is wrong with it


class Reading:
    """A table with what a user says of it, and what passes over its rows told.

    ``drawn`` is the number of rows that a resample stands for: its weights say how often each row was drawn. Where
    columns have very many categories the rare ones are taken together, unless all are to stay ``as_it_is``.
    """

    def __init__(
        self,
        table: Table,
        asked: Asked | None = None,
        weights: Weights | Callable[[], Weights] | None = None,
        clusters: Clusters | Callable[[], Clusters] | None = None,
        drawn: float | None = None,
        columns: Mapping[str, str] | None = None,
        as_it_is: bool = False,
    ) -> None:
        self.table, self.asked, self.weights, self.clusters = table, asked or _NOTHING, weights, clusters
        self.drawn, self.columns = drawn, columns or {}  # which columns hold weights and clusters
        self._view: View | None = None
        self._scan: Scan | None = None
        self._moments: Moments | None = None
        self._effective: float | None = None
        self._shared: float | None = None
        self._kinds: tuple[Kind, ...] | None = None
        self._levels: tuple[tuple[str, ...] | None, ...] | None = None
        self.as_it_is, self.grouped = as_it_is, dict[str, Grouped]()  # categories that were taken together
        self.tiers: tuple[tuple[str, ...], ...] = ()  # of a panel, the earliest first
        self._gaps: Gaps | None = None
        self._looked = False  # whether empty rows were looked for
        self.worked_out: dict[Hashable, Any] = {}  # what others make of the rows, and keep here

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as arrays: batches of rows come from functions that know files and frames, and these do not travel."""
        view = self.view()
        told = (view.weights, view.clusters, self.drawn, dict(self.columns))
        return _arrived, (view.table.names, self.rows(), view.table.levels, self._handled, *told)

    # --- passes -----------------------------------------------------------------------------------------

    def view(self) -> View:
        """Return the rows to work on; a file is read first, since it might turn out to hold text."""
        if self.scan().table.load is not None:
            self.running()
        assert self._view is not None
        return self._view

    def rows(self) -> NDArray[np.float64]:
        """Return all rows at once."""
        try:
            return all_rows(self.scan().table)
        except NotNumbers:
            self._load()
            return all_rows(self.scan().table)

    def _load(self) -> None:
        self.table, self._scan = self.table.loaded(), None
        self.scan()

    def scan(self) -> Scan:
        """Return the pass over the rows, made or not."""
        if self._scan is None:
            plain = self.asked is _NOTHING and self.weights is self.clusters is None
            self._view = View(self.table) if plain else view_of(self.table, self.asked, self.weights, self.clusters)
            if self._view.table.levels is not None and not self.as_it_is:
                table, self.grouped = group_many(self._view.table)
                self._view = self._view._replace(table=table)
            self._scan = Scan(self._view.table, self._view.weights)
        return self._scan

    def running(self, tick: Tick | None = None) -> Running:
        """Make the pass; a file that turns out to hold text is read into memory, where its columns have levels."""
        try:
            found = self.scan().running(tick)
        except NotNumbers:
            self._load()
            found = self.scan().running(tick)
        # A row can be empty only where every column has a gap.
        if self.asked.missing in ("refuse", "drop") or self._looked or not found.missing.all():
            return found
        return self._without_empty_rows(tick)

    def _without_empty_rows(self, tick: Tick | None) -> Running:
        view = self._view
        assert view is not None
        self._looked, self._view = True, view.without_empty_rows()
        if self._view is not view:
            self._scan = Scan(self._view.table, self._view.weights)
            warnings.warn(left_out_empty(self._view.empty), LMarvelWarning, stacklevel=3)
        return self.scan().running(tick)

    def moments(self, tick: Tick | None = None) -> Moments:
        """Return the moments that tests and scores are to use; a table that none can be run on is refused."""
        if self._moments is None:
            try:
                self._moments = self._usable_moments(self.running(tick))
            except UnusableError as error:
                self._refuse(error)
        return self._moments

    def _usable_moments(self, running: Running) -> Moments:
        view = self._view
        assert view is not None
        self._refuse_matrix(running.n)
        if view.table.levels is not None:
            check_levels(view.table)
        if self.filled:
            return self._filled()
        moments = self.scan().moments()
        if self.drawn is not None or view.weights is not None or view.clusters is not None:
            return replace(moments, n=round(self.effective()))
        return moments

    def _refuse_matrix(self, n: int) -> None:
        """Refuse a matrix of correlations in place of observations; no other table is as long as it is wide."""
        table = self.view().table
        if not 0 <= len(table.names) - n <= 1:
            return
        kind = matrix_of(all_rows(table), table.levels or (None,) * len(table.names), table.names)
        if kind:
            raise DataError(about_matrix(kind))

    def _refuse(self, error: UnusableError) -> NoReturn:
        """Raise an error again, unless there is more to say: then all that is wrong with the table, and a way out."""
        table = self.view().table
        if self.running().n * len(table.names) > _LOOKED_THROUGH or self.running().n < 4:
            raise error
        rows, levels = all_rows(table), table.levels or (None,) * len(table.names)
        with np.errstate(all="ignore"):
            faults = faults_of(rows, levels, table.names)
            gaps = [] if self._handled != "refuse" else missing_values(rows, table.names)
            if len(faults) + len(gaps) < 2:
                raise error
            raise UnusableTable(
                [*gaps, *faults], way_out(rows, levels, table.names, missing=self.asked.missing)
            ) from None

    def _filled(self) -> Moments:
        """Return the moments by EM, and how many rows without gaps tell as much."""
        view = self.view()
        rows = all_rows(view.table)
        effective = self.effective(rows)
        mean, covariance = em_moments(rows, view.table.names, view.weights)
        return Moments(view.table.names, max(round(effective), 1), mean, covariance, effective)

    def effective(self, rows: NDArray[np.float64] | None = None) -> float:
        """Return the number of rows that tell as much: with equal weights, and without gaps if they are filled."""
        if self._effective is None:
            found = self.told()
            if self.filled:
                found *= observed_pairs(all_rows(self.view().table) if rows is None else rows)
            self._effective = found
        return self._effective

    def told(self, kept: NDArray[np.bool_] | None = None) -> float:
        """Return the number of rows with equal weights, each a cluster of its own, that tell as much as some rows.

        All rows by default; what they lack is not looked at.
        """
        running, view = self.running(), self.view()
        rows = float(running.n if kept is None else kept.sum())
        if self.drawn is not None:
            weights = np.ones(running.n) if view.weights is None else view.weights
            return self.drawn if kept is None else self.drawn * float(weights[kept].sum() / weights.sum())
        if view.weights is not None:
            some = np.asarray(view.weights if kept is None else view.weights[kept], dtype=np.float64)
            squares = running.squares if kept is None else float(some @ some)
            rows = float(running.total if kept is None else some.sum()) ** 2 / squares if squares else rows
        if view.clusters is None:
            return rows
        if len(view.clusters) != running.n:
            raise not_one_a_row("clusters", len(view.clusters), running.n)
        if self._shared is None:
            levels = [kind is not Kind.CONTINUOUS for kind in self.kinds()]
            self._shared = shared_within(self.values(), levels, view.clusters)
        return max(rows / design_effect(view.clusters if kept is None else view.clusters[kept], self._shared), 1.0)

    def row_weights(self) -> Weights | None:
        """Return the weights of the rows, without a pass where none is needed."""
        if self.weights is None:
            return None
        shorter = self.asked.missing == "drop" or (self._view is not None and self._view.empty)
        return self.view().weights if callable(self.weights) or shorter else self.weights

    def fingerprint(self) -> str:
        """Return a digest of names, levels, weights and values."""
        self.view()
        return self.scan().fingerprint()

    def resampled(self, seed: int | Sequence[int]) -> Reading:
        """Return the same rows, with how often each was drawn for a weight."""
        n, view, generator = self.running().n, self.view(), np.random.default_rng(seed)
        if view.clusters is not None and len(view.clusters) != n:
            raise not_one_a_row("clusters", len(view.clusters), n)
        if view.clusters is None:
            counts = np.bincount(generator.integers(0, n, n), minlength=n)
        else:
            groups = int(view.clusters.max()) + 1
            counts = np.bincount(generator.integers(0, groups, groups), minlength=groups)[view.clusters]
        drawn: Weights = counts if view.weights is None else counts * view.weights
        drawn.flags.writeable = False
        return Reading(view.table, Asked(missing=self._handled), drawn, view.clusters, self.told())

    # --- gaps -------------------------------------------------------------------------------------------

    @property
    def _handled(self) -> str:
        """What becomes of gaps that are left: none are, where rows were dropped."""
        return self.asked.missing if self.asked.missing in ("em", TEST_WISE) else "refuse"

    @property
    def filled(self) -> bool:
        """Whether values are missing, and moments are those that EM finds around the gaps."""
        return self._handled != "refuse" and bool(self.running().missing.any())

    @property
    def test_wise(self) -> bool:
        """Whether values are missing, and every test uses the rows that have its variables."""
        return self.asked.missing == TEST_WISE and self.filled

    def gaps(self) -> Gaps:
        """Return how many rows lack which columns."""
        if self._gaps is None:
            self._gaps = Gaps.of(self.table.names, self.rows())
        return self._gaps

    def completed(self, seed: int) -> Reading:
        """Return the table with a likely value in every gap, which counts as the rows that tell as much."""
        view, two = self.view(), self.scan().two_valued()
        sizes = [len(named or ()) for named in self.levels()]
        whole = view.completed(next(iter(imputed(np.array(self.values()), sizes, 1, seed))), sizes, two.values)
        weights = np.ones(self.running().n) if view.weights is None else view.weights
        return Reading(whole, Asked(missing="refuse"), weights, view.clusters, self.effective(), as_it_is=True)

    def part(self, needed: Sequence[int], columns: Sequence[int]) -> Reading:
        """Return some columns of the rows that have all of the needed ones, with the categories that occur there."""
        kept, some = self.view().part(needed, columns)
        told = None if self.drawn is None and some.clusters is None else self.told(kept)
        return Reading(some.table, Asked(missing=self._handled), some.weights, None, told, as_it_is=True)

    def said(self) -> dict[str, str | int]:
        """Return what was said of the table, and the columns that have levels, where that is known."""
        found: dict[str, str | int] = {}
        if self.asked.missing in ("drop", "em"):
            found["missing"] = self.asked.missing
            found |= {"dropped_rows": self.view().dropped} if self.asked.missing == "drop" else {}
        elif self.test_wise:
            gaps = self.gaps()
            found |= {"missing": TEST_WISE, "missing_values": int(self.running().missing.sum())}
            found |= {"fewest_rows": gaps.fewest, "most_rows": gaps.most}
            found |= {"unobserved_pairs": len(gaps.apart)} if gaps.apart else {}
        if self.view().empty:
            found["empty_rows"] = self.view().empty
        if (clusters := self.view().clusters) is not None:
            found |= {"clusters": int(clusters.max()) + 1, "clustered_rows": self.running().n}
        roles = {"weights": self.weights, "cluster": self.clusters}
        found |= {role: self.columns.get(role, "given") for role, given in roles.items() if given is not None}
        found |= {"panel": self.columns["panel"]} if "panel" in self.columns else {}
        if self.view().table.levels is not None or self._kinds is not None:
            found |= (
                {"kinds": by_kind(self.table.names, self.kinds())} if set(self.kinds()) != {Kind.CONTINUOUS} else {}
            )
        return found

    # --- what columns are -------------------------------------------------------------------------------

    def kinds(self) -> tuple[Kind, ...]:
        """Return what each column measures."""
        if self._kinds is None:
            self.running()
            self._kinds = kinds_of(self.scan().two_valued().told(), self.view().table.levels)
        return self._kinds

    def levels(self) -> tuple[tuple[str, ...] | None, ...]:
        """Return the levels of each column that is not continuous."""
        if self._levels is None:
            named, two = self.view().table.levels, self.scan().two_valued()
            if named is None and not two.still.any():
                self._levels = (None,) * len(self.table.names)
                return self._levels
            found: list[tuple[str, ...] | None] = []
            for i, kind in enumerate(self.kinds()):
                known = None if named is None else named[i]
                if known is not None:
                    found.append(known.names)
                else:
                    found.append(None if kind is Kind.CONTINUOUS else tuple(map(written, two.values(i))))
            self._levels = tuple(found)
        return self._levels

    def few(self) -> tuple[int, ...]:
        """Return how many different whole numbers each continuous column has where these are few, else 0."""
        counts, kinds = self.scan().few_whole(), self.kinds()
        return tuple(k if kind is Kind.CONTINUOUS else 0 for k, kind in zip(counts, kinds, strict=True))

    def about(self) -> list[dict[str, Any]]:
        """Return what each column is, as plain data: its kind, its levels, and what is peculiar about it."""
        levels = self.levels()
        plain = not any(known is not None for known in levels)
        more = [{} for _ in levels] if plain else peculiar(self.table.names, self.values(), levels)
        return [
            {"kind": kind.value}
            | ({} if known is None else {"levels": list(known)})
            | ({"few": few} if few else {})
            | peculiarities
            | ({"grouped": list(self.grouped[name])} if name in self.grouped else {})
            for name, kind, known, few, peculiarities in zip(
                self.table.names, self.kinds(), levels, self.few(), more, strict=True
            )
        ]

    def values(self) -> NDArray[np.float64]:
        """Return all rows, with codes in place of the values of every column that is not continuous."""
        self.running()
        table, two = self.view().table, self.scan().two_valued()
        levels = table.levels or (None,) * len(table.names)
        rows = self.scan().read_rows()
        rows = all_rows(table) if rows is None else rows
        numbers = [i for i, kind in enumerate(self.kinds()) if kind is not Kind.CONTINUOUS and levels[i] is None]
        rows = rows.copy() if numbers else rows
        for i in numbers:
            rows[:, i] = np.where(np.isnan(rows[:, i]), np.nan, rows[:, i] == two.values(i)[1])
        return rows

    def codes(self) -> NDArray[np.int32]:
        """Return the codes of all columns that are not continuous; -1 where a value is missing."""
        p = len(self.table.names)
        codes = np.full((self.running().n, p), -1, dtype=np.int32, order="F")
        values = self.values()
        for i, kind in enumerate(self.kinds()):
            if kind is not Kind.CONTINUOUS:
                codes[:, i] = np.where(np.isnan(values[:, i]), -1, values[:, i])
        return codes


def _arrived(
    names: tuple[str, ...],
    rows: NDArray[np.float64],
    levels: tuple[Levels | None, ...] | None,
    missing: str,
    weights: Weights | None,
    clusters: Clusters | None,
    drawn: float | None,
    columns: dict[str, str],
) -> Reading:
    """Return a table that came from another process."""

    def batches(size: int) -> Iterator[NDArray[np.float64]]:
        return (rows[start : start + size] for start in range(0, len(rows), size))

    table = Table.of(names, Rows(batches, levels), in_memory=True)
    plain = missing == "refuse" and weights is clusters is None
    return Reading(table, None if plain else Asked(missing=missing), weights, clusters, drawn, columns)
