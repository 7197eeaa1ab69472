"""The figures: a row of panels a structure or a kind of random graph, a curve a method."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmarvel.atomic import write_bytes
from lmarvel.errors import ParameterError
from lmarvel.experiments.plan import METHODS, Experiment, Setting
from lmarvel.experiments.summary import Rows, cell, rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that colour-blind readers can tell apart (Okabe & Ito), and markers for print.
_STYLE = {
    "lmarvel": ("#0072B2", "o", "-"),
    "lmarvel-chordal": ("#56B4E9", ".", "--"),
    "rfci": ("#E69F00", "s", "-"),
    "fci": ("#D55E00", "^", "-"),
    "mbcs": ("#009E73", "D", "-"),
    "m3hc": ("#CC79A7", "v", "-"),
    "lmarvel-at-alpha": ("#444444", "x", ":"),
    "fci-pruned": ("#999999", "+", ":"),
}
_NAMES = {
    "ci_tests": "CI tests",
    "runtime_s": "runtime (s)",
    "f1": "F1-score",
    "mean_set": "mean conditioning set",
    "precision": "precision",
    "recall": "recall",
}
_LOGARITHMIC = ("ci_tests", "runtime_s")
FIGURE2 = ("runtime_s", "ci_tests", "mean_set", "f1")
FIGURE3 = ("runtime_s", "ci_tests", "mean_set", "precision", "recall", "f1")
_TITLES = {
    "a": "(a) Erdős–Rényi, 10 % latent",
    "b": "(b) Erdős–Rényi, 20 % latent",
    "c": "(c) at most 3 parents, 10 % latent",
    "d": "(d) at most 3 parents, 20 % latent",
    "e": "(e) at most 4 parents, 10 % latent",
    "insurance": "Insurance",
    "alarm": "Alarm",
}


def check_matplotlib() -> None:
    """Say before the work, not after, that figures cannot be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ParameterError("figures need Matplotlib: pip install 'lmarvel[plot]'") from None


def write_figure(experiment: Experiment, rows: Rows, methods: Sequence[str], reps: int, folder: Path) -> list[Path]:
    """Draw a figure and write it as PNG and SVG."""
    from matplotlib import rc_context

    figure = draw(experiment, rows, methods, reps)
    paths = [folder / f"{experiment.name}.{ending}" for ending in ("png", "svg")]
    for path in paths:
        stream = io.BytesIO()
        with rc_context({"svg.hashsalt": "lmarvel"}):  # names of parts are random otherwise
            figure.savefig(stream, format=path.suffix[1:], dpi=150, metadata=_undated(path.suffix))
        write_bytes(path, stream.getvalue())
    return paths


def draw(experiment: Experiment, rows: Rows, methods: Sequence[str], reps: int) -> Figure:
    """Return the figure: panels down, metrics across."""
    from matplotlib.figure import Figure

    sizes = experiment.name == "figure2"
    metrics = FIGURE2 if sizes else FIGURE3
    panels = list(dict.fromkeys(s.panel for s in experiment.settings))
    figure = Figure(figsize=(3.1 * len(metrics), 2.7 * len(panels) + 0.6), layout="constrained")
    grid = figure.subplots(len(panels), len(metrics), squeeze=False)
    for axes_row, panel in zip(grid, panels, strict=True):
        settings = [s for s in experiment.settings if s.panel == panel]
        for axes, metric in zip(axes_row, metrics, strict=True):
            for method in methods:
                _curve(axes, settings, rows, method, metric, reps, _variables if sizes else _rows)
            _dress(axes, metric, "number of variables" if sizes else "sample size / |O|")
        axes_row[0].set_title(_TITLES.get(panel, panel), loc="left", fontsize=10, fontweight="bold")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
    return figure


def _curve(
    axes: Axes,
    settings: Sequence[Setting],
    rows: Rows,
    method: str,
    metric: str,
    reps: int,
    place: Callable[[Setting], int],
) -> None:
    """Draw the curve of a method, with its standard errors; it ends where more than half of its runs did not finish."""
    colour, marker, line = _STYLE[method]
    entries = [(place(s), cell(rows_of(rows, s, method, reps), metric)) for s in settings]
    known = [(x, entry) for x, entry in entries if not entry.is_na]
    axes.errorbar(
        [x for x, _ in known],
        [entry.mean for _, entry in known],
        yerr=[entry.error for _, entry in known],
        label=METHODS[method].label,
        color=colour,
        marker=marker,
        linestyle=line,
        markersize=4,
        linewidth=1.2,
        elinewidth=0.8,
    )


def _dress(axes: Axes, metric: str, across: str) -> None:
    if metric in _LOGARITHMIC:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter("")  # a label a power of ten is enough
    axes.set_ylabel(_NAMES[metric], fontsize=9)
    axes.set_xlabel(across, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def _variables(setting: Setting) -> int:
    return setting.variables


def _rows(setting: Setting) -> int:
    return setting.rows_per_variable


def _undated(ending: str) -> dict[str, Any]:
    """Leave the date out, so that the same runs give the same file."""
    return {"Date": None} if ending == ".svg" else {}
