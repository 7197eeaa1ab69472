"""The tables in the paper's layout: a block of rows a method, a column a structure, ours beside the paper's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from lmarvel.experiments.plan import METHODS, Experiment, Setting
from lmarvel.experiments.summary import PUBLISHED_METRICS, Cell, Rows, cell, confusion, in_paper, rows_of
from lmarvel.metrics import MARKS, Rate


def table(experiment: Experiment, rows: Rows, methods: Sequence[str], reps: int) -> str:
    """Return the table as Markdown: mean ± standard error, and the paper's figure after a bar."""
    lines = [f"### {experiment.title}", "", _legend(reps), "", _header(experiment)]
    for method in methods:
        for metric, label in PUBLISHED_METRICS.items():
            cells = [_entry(experiment, rows, i, method, metric, reps) for i in range(len(experiment.settings))]
            lines.append(_line([METHODS[method].label if metric == "ci_tests" else "", label, *cells]))
            if metric == "ci_tests":
                medians = [_median(rows, s, method, reps) for s in experiment.settings]
                lines.append(_line(["", "median", *medians]))
    return "\n".join(lines) + "\n"


def beyond(experiment: Experiment, rows: Rows, methods: Sequence[str], reps: int) -> str:
    """Return what the paper does not show: accuracy of the marks, and how often the PAG is legal."""
    metrics = {
        "mark_f1": "F1 of marks",
        "mark_precision": "precision",
        "mark_recall": "recall",
        "hamming": "Hamming distance",
        "legal": "legal PAGs",
        "mean_set": "mean conditioning set",
    }
    lines = [f"### {experiment.title}: marks and sets", "", _header(experiment)]
    for method in methods:
        for metric, label in metrics.items():
            cells = [_plain(cell(rows_of(rows, s, method, reps), metric), metric) for s in experiment.settings]
            lines.append(_line([METHODS[method].label if metric == "mark_f1" else "", label, *cells]))
    return "\n".join(lines) + "\n\n" + "\n".join(_marks(experiment, rows, methods, reps)) + "\n"


def _marks(experiment: Experiment, rows: Rows, methods: Sequence[str], reps: int) -> Iterator[str]:
    """Give the confusion table of marks of each method, over all its runs of the experiment."""
    names = list(MARKS.values())
    yield f"### {experiment.title}: true marks against learned ones, all runs"
    yield ""
    yield _line(["method", "true mark", *(f"learned {name}" for name in names), "precision", "recall"])
    yield _line(["---", "---", *["---:"] * (len(names) + 2)])
    for method in methods:
        done = [row for s in experiment.settings for row in rows_of(rows, s, method, reps)]
        counts = confusion(done)
        known = any(row["status"] == "ok" for row in done)
        for name in names:
            found = sum(counts[true, name] for true in names)
            true = sum(counts[name, learned] for learned in names)
            rate = Rate(counts[name, name], found, true)
            shown = [f"{rate.precision:.2f}", f"{rate.recall:.2f}"] if known else ["NA", "NA"]
            rates = shown if name != "none" else ["", ""]
            label = METHODS[method].label if name == names[0] else ""
            yield _line([label, name, *(f"{counts[name, learned]:,}" for learned in names), *rates])


def _header(experiment: Experiment) -> str:
    labels = [s.label for s in experiment.settings]
    return _line(["", "", *labels]) + "\n" + _line(["---", "---", *["---:"] * len(labels)])


def _legend(reps: int) -> str:
    return (
        f"Ours is the mean over {reps} repetitions ± its standard error; after the bar stands the paper's figure."
        " Tests and runtime do not count the boundary stage. NA: more than half of the runs did not finish;"
        " \\[k/n]: only k of n runs finished, and the entry is theirs."
    )


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _entry(experiment: Experiment, rows: Rows, column: int, method: str, metric: str, reps: int) -> str:
    setting = experiment.settings[column]
    ours = _plain(cell(rows_of(rows, setting, method, reps), metric), metric)
    paper = in_paper(setting, method, metric)
    return f"{ours} \\| {_number(paper, metric) if paper is not None else 'NA'}"


def _median(rows: Rows, setting: Setting, method: str, reps: int) -> str:
    entry = cell(rows_of(rows, setting, method, reps), "ci_tests")
    return "NA" if entry.is_na else f"{entry.median:,.0f}"


def _plain(entry: Cell, metric: str) -> str:
    if entry.is_na:
        return "NA"
    error = "" if math.isnan(entry.error) else f" ± {_number(entry.error, metric)}"
    part = f" \\[{entry.runs}/{entry.runs + entry.unfinished}]" if entry.unfinished else ""
    return f"{_number(entry.mean, metric)}{error}{part}"


def _number(value: float, metric: str) -> str:
    if metric == "ci_tests":
        return f"{value:,.0f}"
    if metric == "runtime_s":
        return f"{value:.3f}" if value < 1 else f"{value:.1f}"
    if metric in ("hamming", "mean_set"):
        return f"{value:.1f}"
    return f"{value:.2f}"
