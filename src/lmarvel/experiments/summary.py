"""Means, standard errors and medians of runs, and the paper's figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import NamedTuple

import polars as pl

from lmarvel.experiments.methods import METHODS
from lmarvel.experiments.plan import Experiment, Setting
from lmarvel.experiments.run import CONFUSION, NUMBERS
from lmarvel.graph.metrics import MARKS

PUBLISHED_METRICS = {
    "ci_tests": "#CI tests",
    "runtime_s": "Runtime (s)",
    "f1": "F1-score",
    "precision": "Precision",
    "recall": "Recall",
}
_PLACE = ("experiment", "panel", "size", "method")
_OK = pl.col("status") == "ok"


class Cell(NamedTuple):
    """The entry of a table: over the runs that finished, and how many did not; None where too few finished to tell."""

    mean: float | None
    error: float | None
    median: float | None
    runs: int
    unfinished: int

    @property
    def is_na(self) -> bool:
        """True if no run finished, or more than half did not: the paper's NA."""
        return self.runs == 0 or self.runs < self.unfinished


@dataclass(frozen=True)
class Summary:
    """The outcome of an experiment with some methods.

    Attributes
    ----------
    experiment : Experiment
    methods : sequence of str
    reps : int
    runs : DataFrame
        Its runs, a row each.
    """

    experiment: Experiment
    methods: Sequence[str]
    reps: int
    runs: pl.DataFrame

    @cached_property
    def entries(self) -> pl.DataFrame:
        """Every entry, a row each: setting, method and metric; mean, standard error and median; the paper's figure."""
        places = pl.DataFrame([_place(s, method) for s in self.experiment.settings for method in self.methods])
        grid = places.join(pl.DataFrame({"metric": NUMBERS}), how="cross")
        measured = grid.join(summarise(self.runs), on=[*_PLACE, "metric"], how="left", maintain_order="left")
        return measured.with_columns(pl.col("runs", "unfinished").fill_null(0)).join(
            published(), on=["experiment", "panel", "label", "metric"], how="left", maintain_order="left"
        )

    @cached_property
    def _cells(self) -> Mapping[tuple[str, ...], Cell]:
        columns = ("panel", "size", "method", "metric", "mean", "standard_error", "median", "runs", "unfinished")
        return {row[:4]: Cell(*row[4:]) for row in self.entries.select(columns).iter_rows()}

    def cell(self, setting: Setting, method: str, metric: str) -> Cell:
        """Return one entry."""
        return self._cells[setting.panel, setting.size, method, metric]

    def runs_of(self, settings: Sequence[Setting]) -> pl.DataFrame:
        """Return the finished runs of some settings."""
        places = pl.DataFrame([(s.panel, s.size) for s in settings], ("panel", "size"), orient="row")
        return self.runs.filter(_OK).join(places, on=["panel", "size"], how="semi")

    def confusion(self, method: str) -> dict[tuple[str, str], int] | None:
        """Return the marks, true against learned, summed over the finished runs of a method; None if there are none."""
        done = self.runs.filter(_OK, pl.col("method") == method)
        sums = done.select(pl.col(CONFUSION).sum().cast(pl.Int64)).row(0, named=True)
        pairs = {f"{true}:{learned}": (true, learned) for true in MARKS.values() for learned in MARKS.values()}
        return {pairs[name]: total for name, total in sums.items()} if done.height else None

    def csv(self) -> str:
        """Return every entry as CSV."""
        numbers = pl.col("mean", "standard_error", "median", "paper").map_elements(_six_digits, return_dtype=pl.String)
        return self.entries.drop("size", "label").with_columns(numbers).write_csv()


def summary_of(experiment: Experiment, runs: pl.DataFrame, methods: Sequence[str], reps: int) -> Summary:
    """Return the outcome of the runs that the plan asks for, out of all that a results directory holds."""
    settings = pl.DataFrame([(s.experiment, s.panel, s.size) for s in experiment.settings], _PLACE[:3], orient="row")
    planned = runs.filter(pl.col("rep") < reps, pl.col("method").is_in(list(methods)))
    return Summary(experiment, methods, reps, planned.join(settings, on=_PLACE[:3], how="semi"))


def summarise(runs: pl.DataFrame) -> pl.DataFrame:
    """Return mean, standard error and median of every measure, and how many runs finished, by setting and method."""
    value = pl.col("value").filter(_OK)
    return (
        runs.unpivot(NUMBERS, index=[*_PLACE, "status"], variable_name="metric")
        .group_by(*_PLACE, "metric")
        .agg(
            mean=value.mean(),
            standard_error=value.std() / value.len().sqrt(),
            median=value.median(),
            runs=_OK.sum(),
            unfinished=(~_OK).sum(),
        )
    )


@cache
def published() -> pl.DataFrame:
    """Return the paper's figures by experiment, panel, label of the method and metric; NA is left out.

    The paper's L-MARVEL stands beside every variant of ours.
    """
    text = files("lmarvel.experiments").joinpath("published.csv").read_bytes()
    counts = pl.format("{}-{}-{}-{}", "network", "observed", "latent", "selection")
    labels = pl.DataFrame({"label": [m.label for m in METHODS.values()]}).with_columns(
        algorithm=pl.col("label").str.split(",").list.first()
    )
    return (
        pl.read_csv(text, null_values="NA", schema_overrides={"value": pl.Float64})
        .drop_nulls("value")
        .with_columns(
            experiment=pl.format("table{}", "table"),
            panel=pl.when(pl.col("table") == 2).then(counts).otherwise("network"),
        )
        .join(labels, on="algorithm")
        .select("experiment", "panel", "label", "metric", paper="value")
    )


@cache
def _published() -> Mapping[tuple[str, ...], float]:
    return {row[:4]: row[4] for row in published().iter_rows()}


def in_paper(setting: Setting, method: str, metric: str) -> float | None:
    """Return the paper's figure for an entry, None where it has none."""
    return _published().get((setting.experiment, setting.panel, METHODS[method].label, metric))


def _place(s: Setting, method: str) -> dict[str, str | int]:
    return {
        "experiment": s.experiment,
        "panel": s.panel,
        "size": s.size,
        "structure": s.structure,
        "variables": s.variables,
        "observed": s.observed,
        "latent": s.latent,
        "selection": s.selection,
        "rows": s.rows,
        "method": method,
        "label": METHODS[method].label,
    }


def _six_digits(value: float) -> str:
    return f"{value:.6g}"
