"""The tables: those of the paper in its layout, ours beside the paper's, and plain ones of any measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lmarvel.experiments.measures import MEASURES, OF_THE_TRUTH
from lmarvel.experiments.methods import METHODS
from lmarvel.experiments.plan import Setting, Table
from lmarvel.experiments.summary import PUBLISHED_METRICS, Cell, Summary, in_paper
from lmarvel.graph.metrics import MARKS, Rate

_BEYOND = {
    "mark_f1": "F1 of marks",
    "mark_precision": "precision",
    "mark_recall": "recall",
    "hamming": "Hamming distance",
    "legal": "legal PAGs",
    "mean_set": "mean conditioning set",
}
_NOT_AVAILABLE = (
    "NA: more than half of the runs did not finish; \\[k/n]: only k of n runs finished, and the entry is theirs."
)


def tables(summary: Summary) -> str:
    """Return all tables of an experiment as Markdown."""
    experiment = summary.experiment
    if experiment.is_published:
        return f"{_paper_table(summary)}\n{_beyond(summary)}"
    return "\n".join(_plain_table(summary, t) for t in experiment.tables if experiment.of_panels(t.panels))


def _paper_table(summary: Summary) -> str:
    """Return the table as the paper has it: mean ± standard error, and the paper's figure after a bar."""
    settings = summary.experiment.settings
    legend = (
        f"Ours is the mean over {summary.reps} repetitions ± its standard error; the paper's figure"
        f" is after the bar. Tests and runtime do not count the boundary stage. {_NOT_AVAILABLE}"
    )
    lines = [f"### {summary.experiment.title}", "", legend, "", _header(settings)]
    for method in summary.methods:
        for metric, label in PUBLISHED_METRICS.items():
            cells = [_beside_paper(summary, s, method, metric) for s in settings]
            lines.append(_line([METHODS[method].label if metric == "ci_tests" else "", label, *cells]))
            if metric == "ci_tests":
                medians = [_median(summary.cell(s, method, metric), metric) for s in settings]
                lines.append(_line(["", "median", *medians]))
    return "\n".join(lines) + "\n"


def _beyond(summary: Summary) -> str:
    """Return what the paper does not show: accuracy of the marks, and how often the PAG is legal."""
    title, settings = summary.experiment.title, summary.experiment.settings
    lines = [f"### {title}: marks and sets", "", _header(settings)]
    for method in summary.methods:
        for metric, label in _BEYOND.items():
            cells = [_shown(summary.cell(s, method, metric), metric) for s in settings]
            lines.append(_line([METHODS[method].label if metric == "mark_f1" else "", label, *cells]))
    return "\n".join(lines) + "\n\n" + "\n".join(_marks(summary)) + "\n"


def _marks(summary: Summary) -> Iterator[str]:
    """Give the confusion table of marks of each method, over all its runs of the experiment."""
    names = list(MARKS.values())
    yield f"### {summary.experiment.title}: true marks against learned ones, all runs"
    yield ""
    yield _line(["method", "true mark", *(f"learned {name}" for name in names), "precision", "recall"])
    yield _line(["---", "---", *["---:"] * (len(names) + 2)])
    for method in summary.methods:
        counts = summary.confusion(method)
        known = counts or dict.fromkeys(((a, b) for a in names for b in names), 0)
        for name in names:
            shown = ["", ""] if name == "none" else _rates(known, name) if counts else ["NA", "NA"]
            label = METHODS[method].label if name == names[0] else ""
            yield _line([label, name, *(f"{known[name, learned]:,}" for learned in names), *shown])


def _rates(counts: Mapping[tuple[str, str], int], name: str) -> list[str]:
    n_learned = sum(count for (_, learned), count in counts.items() if learned == name)
    n_true = sum(count for (truth, _), count in counts.items() if truth == name)
    rate = Rate(counts[name, name], n_learned, n_true)
    return [f"{rate.precision:.2f}", f"{rate.recall:.2f}"]


def _plain_table(summary: Summary, table: Table) -> str:
    """Return a table of mean ± standard error, or of medians: one block of rows per measure, one row per method."""
    settings = summary.experiment.of_panels(table.panels)
    entry = "median" if table.medians else "mean"
    legend = f"The {entry} over {summary.reps} repetitions{'' if table.medians else ' ± its standard error'}."
    legend = f"{legend} {_NOT_AVAILABLE}"
    lines = [f"### {summary.experiment.title}: {table.title}", "", legend, "", _header(settings)]
    show = _middle if table.medians else _shown
    for metric, label in table.measures.items():
        if metric in OF_THE_TRUTH:  # the same for every method: from the one that finished most runs
            known = [max((summary.cell(s, m, metric) for m in summary.methods), key=lambda c: c.runs) for s in settings]
            lines.append(_line([label, "", *(show(cell, metric) for cell in known)]))
            continue
        for method in summary.methods:
            cells = [show(summary.cell(s, method, metric), metric) for s in settings]
            lines.append(_line([label if method == summary.methods[0] else "", METHODS[method].label, *cells]))
    return "\n".join(lines) + "\n"


def _header(settings: Sequence[Setting]) -> str:
    return _line(["", "", *(s.label for s in settings)]) + "\n" + _line(["---", "---", *["---:"] * len(settings)])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _beside_paper(summary: Summary, setting: Setting, method: str, metric: str) -> str:
    paper = in_paper(setting, method, metric)
    theirs = "NA" if paper is None else MEASURES[metric].show(paper)
    return f"{_shown(summary.cell(setting, method, metric), metric)} \\| {theirs}"


def _median(entry: Cell, metric: str) -> str:
    return "NA" if entry.is_na or entry.median is None else MEASURES[metric].show(entry.median)


def _middle(entry: Cell, metric: str) -> str:
    return _median(entry, metric) + _part(entry)


def _shown(entry: Cell, metric: str) -> str:
    if entry.is_na or entry.mean is None:
        return "NA"
    show = MEASURES[metric].show
    error = "" if entry.error is None else f" ± {show(entry.error)}"
    return f"{show(entry.mean)}{error}{_part(entry)}"


def _part(entry: Cell) -> str:
    """Say how many runs finished, if not all did."""
    incomplete = entry.unfinished and not entry.is_na
    return f" \\[{entry.runs}/{entry.runs + entry.unfinished}]" if incomplete else ""
