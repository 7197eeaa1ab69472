"""Means, standard errors and medians of runs, and the paper's figures."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from statistics import fmean, median, stdev
from typing import NamedTuple

from lmarvel.experiments.plan import METHODS, Experiment, Job, Setting
from lmarvel.experiments.run import CONFUSION, NUMBERS, Row
from lmarvel.metrics import MARKS

Rows = Mapping[tuple[str, ...], Row]
PUBLISHED_METRICS = {
    "ci_tests": "#CI tests",
    "runtime_s": "Runtime (s)",
    "f1": "F1-score",
    "precision": "Precision",
    "recall": "Recall",
}


class Cell(NamedTuple):
    """The entry of a table: over the runs that finished, and how many did not."""

    mean: float
    error: float
    median: float
    runs: int
    unfinished: int

    @property
    def is_na(self) -> bool:
        """True if no run finished, or more than half did not: the paper's NA."""
        return self.runs == 0 or self.runs < self.unfinished


def cell(rows: Iterable[Row], metric: str) -> Cell:
    """Return the entry of one metric over some runs."""
    rows = list(rows)
    values = [float(row[metric]) for row in rows if row["status"] == "ok"]
    if not values:
        return Cell(math.nan, math.nan, math.nan, 0, len(rows))
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Cell(fmean(values), error, median(values), len(values), len(rows) - len(values))


def rows_of(rows: Rows, setting: Setting, method: str, reps: int) -> list[Row]:
    """Return the runs of one setting and method that the plan asks for."""
    keys = (Job(setting, method, rep).key for rep in range(reps))
    return [rows[key] for key in keys if key in rows]


@cache
def published() -> Mapping[tuple[str, str, str], float]:
    """Return the paper's figures by panel, method as it is called there, and metric; NA is left out."""
    text = files("lmarvel.experiments").joinpath("published.csv").read_text("utf-8")
    found = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row["value"] == "NA":
            continue
        name = row["network"]
        counts = f"-{row['observed']}-{row['latent']}-{row['selection']}" if row["table"] == "2" else ""
        found[name + counts, row["algorithm"], row["metric"]] = float(row["value"])
    return found


def in_paper(setting: Setting, method: str, metric: str) -> float | None:
    """Return the paper's figure for an entry, None where it has none; its L-MARVEL stands beside all of ours."""
    label = METHODS[method].label.split(",")[0]
    return published().get((setting.panel, label, metric)) if setting.experiment.startswith("table") else None


def summary_csv(experiment: Experiment, rows: Rows, methods: Sequence[str], reps: int) -> str:
    """Return every entry of an experiment as CSV: ours with its error and median, and the paper's."""
    stream = io.StringIO()
    out = csv.writer(stream, lineterminator="\n")
    head = ["experiment", "panel", "structure", "variables", "observed", "latent", "selection", "rows", "method"]
    out.writerow([*head, "metric", "mean", "standard_error", "median", "runs", "unfinished", "paper"])
    for s in experiment.settings:
        for method in methods:
            done = rows_of(rows, s, method, reps)
            place = [
                experiment.name,
                s.panel,
                s.structure,
                s.variables,
                s.observed,
                s.latent,
                s.selection,
                s.rows,
                method,
            ]
            for metric in NUMBERS:
                entry = cell(done, metric)
                numbers = ["" if math.isnan(v) else f"{v:.6g}" for v in entry[:3]]
                paper = in_paper(s, method, metric)
                out.writerow([*place, metric, *numbers, *entry[3:], "" if paper is None else f"{paper:g}"])
    return stream.getvalue()


def confusion(rows: Iterable[Row]) -> dict[tuple[str, str], int]:
    """Return the marks, true against learned, summed over runs."""
    total = dict.fromkeys(((a, b) for a in MARKS.values() for b in MARKS.values()), 0)
    for row in rows:
        if row["status"] == "ok":
            for name in CONFUSION:
                true, learned = name.split(":")
                total[true, learned] += int(float(row[name]))
    return total
