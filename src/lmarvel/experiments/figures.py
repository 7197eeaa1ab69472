"""The figures: a row of panels a structure or a kind of random graph, a curve a method."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from lmarvel.errors import ParameterError
from lmarvel.experiments.methods import METHODS
from lmarvel.experiments.plan import Figure as Plan
from lmarvel.experiments.plan import Setting
from lmarvel.experiments.summary import Summary
from lmarvel.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class _Style(NamedTuple):
    colour: str
    marker: str
    line: str


# Colours that colour-blind readers can tell apart (Okabe & Ito; black, greys and darker shades beside them), and
# markers for print. No two methods share colour and marker, nor do those of one experiment share either.
_STYLE = {
    "lmarvel": _Style("#0072B2", "o", "-"),
    "lmarvel-chordal": _Style("#56B4E9", ".", "--"),
    "rfci": _Style("#E69F00", "s", "-"),
    "fci": _Style("#D55E00", "^", "-"),
    "mbcs": _Style("#009E73", "D", "-"),
    "m3hc": _Style("#CC79A7", "v", "-"),
    "lift": _Style("#000000", "*", "-"),
    "lmarvel-default": _Style("#0072B2", "P", "-"),
    "lmarvel-at-alpha": _Style("#444444", "x", ":"),
    "lmarvel-second-first": _Style("#D55E00", "1", ":"),
    "lmarvel-at-alpha-second-first": _Style("#CC79A7", "+", ":"),
    "fci-pruned": _Style("#999999", "+", ":"),
    "lmarvel-gs": _Style("#E69F00", "<", "--"),
    "lmarvel-iamb": _Style("#009E73", ">", "--"),
    "lmarvel-inter-iamb": _Style("#D55E00", "h", "--"),
    "lmarvel-fast-iamb": _Style("#CC79A7", "p", "--"),
    "lmarvel-true-boundaries": _Style("#000000", "X", ":"),
    "lmarvel-oracle": _Style("#D55E00", "D", "-"),
    "mbcs-oracle": _Style("#009E73", "1", "-"),
    "causal-learn-fci": _Style("#56B4E9", "<", "--"),
    "causal-learn-boss": _Style("#777777", "h", "--"),
    "causal-learn-grasp": _Style("#882255", "X", "--"),
}
# For methods without a style of their own.
_MARKERS = ("d", "8", "H", "2", "3", "4")
_COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_LOGARITHMIC = ("ci_tests", "all_tests", "runtime_s")


class _Abscissa(NamedTuple):
    label: str
    of: Callable[[Setting], int]
    scale: str = "linear"


_ACROSS: Mapping[str, _Abscissa] = {
    "variables": _Abscissa("number of variables", lambda s: s.variables),
    "rows_per_variable": _Abscissa("sample size / |O|", lambda s: s.rows_per_variable),
    "rows": _Abscissa("sample size", lambda s: s.rows, "log"),
    "latent": _Abscissa("latent variables", lambda s: s.latent),
    "selection": _Abscissa("selection variables", lambda s: s.selection),
}


def has_matplotlib() -> bool:
    """Tell whether figures can be drawn."""
    return find_spec("matplotlib") is not None


def check_matplotlib() -> None:
    """Say before the work, not after, that figures cannot be drawn."""
    if not has_matplotlib():
        raise ParameterError("figures need Matplotlib: pip install 'lmarvel[plot]'")


def styles_of(methods: Sequence[str]) -> dict[str, _Style]:
    """Return how each of some methods is drawn: in its own style, else in the next one that no method has.

    Examples
    --------
    >>> {name: style.marker for name, style in styles_of(["fci", "new", "newer"]).items()}
    {'fci': '^', 'new': 'd', 'newer': '8'}
    """
    others = [method for method in methods if method not in _STYLE]
    lines = ("-", "--", ":", "-.")
    spare = {
        method: _Style(
            _COLOURS[i % len(_COLOURS)],
            _MARKERS[i % len(_MARKERS)],
            lines[i // (len(_COLOURS) * len(_MARKERS)) % len(lines)],
        )
        for i, method in enumerate(others)
    }
    return {method: _STYLE.get(method) or spare[method] for method in methods}


def write_figure(summary: Summary, plan: Plan, folder: Path) -> list[Path]:
    """Draw a figure and write it as PNG and SVG."""
    from matplotlib import rc_context

    figure = draw_runs(summary, plan) if plan.across == "degree" else draw(summary, plan)
    paths = [folder / f"{summary.experiment.name}.{ending}" for ending in ("png", "svg")]
    for path in paths:
        stream = io.BytesIO()
        with rc_context({"svg.hashsalt": "lmarvel"}):  # names of parts are random otherwise
            figure.savefig(stream, format=path.suffix[1:], dpi=150, metadata=_undated(path.suffix))
        write_bytes(path, stream.getvalue())
    return paths


def draw(summary: Summary, plan: Plan) -> Figure:
    """Return the figure: panels down, measures across."""
    from matplotlib.figure import Figure

    panels = {p: shown for p in plan.panels if (shown := plan.among(summary.experiment.settings, p))}
    figure = Figure(figsize=(3.1 * len(plan.measures), 2.7 * len(panels) + 0.6), layout="constrained")
    grid = figure.subplots(len(panels), len(plan.measures), squeeze=False)
    across, styles = _ACROSS[plan.across], styles_of(summary.methods)
    for axes_row, (panel, settings) in zip(grid, panels.items(), strict=True):
        for axes, (metric, label) in zip(axes_row, plan.measures.items(), strict=True):
            for method in summary.methods:
                _curve(axes, settings, summary, method, metric, across, styles[method])
            _dress(axes, metric, label, across)
        axes_row[0].set_title(plan.panels[panel], loc="left", fontsize=10, fontweight="bold")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
    return figure


def draw_runs(summary: Summary, plan: Plan) -> Figure:
    """Return the figure of single runs over the degree of the true MAG, with the bounds on the number of tests."""
    from matplotlib.figure import Figure

    panels = {p: shown for p in plan.panels if (shown := plan.among(summary.experiment.settings, p))}
    figure = Figure(figsize=(4.2 * len(panels), 3.9), layout="constrained")
    grid = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    styles = styles_of(summary.methods)
    ((metric, label),) = plan.measures.items()
    for axes, (panel, settings) in zip(grid, panels.items(), strict=True):
        runs = summary.runs_of(settings)
        bounds = runs.select("degree", "lower_bound", "upper_bound").unique().sort("degree")
        for name, line in (("upper_bound", "-"), ("lower_bound", "--")):
            style = {"color": "#777777", "linestyle": line, "linewidth": 1, "label": name.replace("_", " ")}
            axes.plot(bounds["degree"], bounds[name], **style)
        for method in summary.methods:
            look, own = styles[method], runs.filter(pl.col("method") == method)
            dots = {"color": look.colour, "marker": look.marker, "s": 14, "alpha": 0.6, "linewidths": 0.5}
            axes.scatter(own["degree"], own[metric], label=METHODS[method].label, **dots)
        _dress(axes, metric, label, _Abscissa("degree of the true MAG", lambda s: 0))
        axes.set_title(plan.panels[panel], loc="left", fontsize=10, fontweight="bold")
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
    return figure


def _curve(
    axes: Axes,
    settings: Sequence[Setting],
    summary: Summary,
    method: str,
    metric: str,
    across: _Abscissa,
    style: _Style,
) -> None:
    """Draw the curve of a method, with its standard errors; it ends where more than half of its runs did not finish."""
    entries = [(across.of(s), summary.cell(s, method, metric)) for s in settings]
    known = [(x, cell.mean, cell.error) for x, cell in entries if cell.mean is not None and not cell.is_na]
    axes.errorbar(
        [x for x, _, _ in known],
        [mean for _, mean, _ in known],
        yerr=[math.nan if error is None else error for _, _, error in known],
        label=METHODS[method].label,
        color=style.colour,
        marker=style.marker,
        linestyle=style.line,
        markersize=4,
        linewidth=1.2,
        elinewidth=0.8,
    )


def _dress(axes: Axes, metric: str, label: str, across: _Abscissa) -> None:
    if metric in _LOGARITHMIC and axes.dataLim.y1 > 0:  # there may have been nothing to test
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter("")  # a label a power of ten is enough
    axes.set_xscale(across.scale)
    axes.set_ylabel(label, fontsize=9)
    axes.set_xlabel(across.label, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def _undated(ending: str) -> dict[str, Any]:
    """Leave the date out, so that the same runs give the same file."""
    return {"Date": None} if ending == ".svg" else {}
