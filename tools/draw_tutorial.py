"""Draw the figures of the documentation from the examples on its pages: ``python tools/draw_tutorial.py [FOLDER]``.

The examples of a page are run, as the tests run them, and what they learn is drawn. Nothing else goes into a figure, so
the same versions of the libraries give the same files. A folder is written to in place of ``docs``.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

from lmarvel import Discovery
from lmarvel.drawing import draw
from lmarvel.result.display import CAPTIONS
from lmarvel.result.support.grades import Shown

DOCS = Path(__file__).parents[1] / "docs"
BLUE, RED, GREY = "#1558a8", "#b42318", "#8a94a3"

Names = dict[str, Any]
Picture = Callable[[Names, Path], object]


def graph_of(name: str, marks: Shown = "supported") -> Picture:
    """Return what draws the graph of a result that is shown, or a graph itself; edges of many resamples are thick."""

    def picture(names: Names, path: Path) -> None:
        found = names[name]
        if isinstance(found, Discovery):
            found.draw(path, marks=marks)
        else:
            draw(found, path)

    return picture


def connected(names: Names, path: Path) -> None:
    """Draw the supported graph of a result without the variables that have no edge."""
    found = names["found"]
    kept = [name for name in found.pag.names if found.pag.adjacent(name)]
    draw(found.shown().subgraph(kept), path, shares=found.edge_shares(), caption=CAPTIONS["supported"])


def rows_chart(names: Names, path: Path) -> None:
    """Draw how edges and marks get better with rows."""
    figure, axes = _axes(1, 5.2)
    for method, colour in (("LMarvel", BLUE), ("Lift", RED)):
        points = {rows: scores for (name, rows), scores in names["learned"].items() if name == method}
        for label, style, values in (
            ("true edges found", "-", [s.skeleton.recall for s in points.values()]),
            ("marks right", "--", [s.marks.precision for s in points.values()]),
        ):
            axes[0].plot(list(points), values, style, color=colour, marker="o", label=f"{method}: {label}")
    axes[0].set(xscale="log", xlabel="rows", ylabel="share", ylim=(0, 1.02), xticks=[30, 100, 300, 1000, 3000])
    axes[0].set_xticklabels(["30", "100", "300", "1,000", "3,000"])
    axes[0].minorticks_off()
    axes[0].legend(frameon=False, fontsize=8)
    _save(figure, path)


def patients_chart(names: Names, path: Path) -> None:
    """Draw two diseases, among everybody and among those who were admitted."""
    figure, axes = _axes(2, 7.2)
    everybody, patients = names["everybody"], names["patients"]
    for one, people, colour, title in (
        (axes[0], everybody, GREY, "everybody"),
        (axes[1], patients, RED, "patients"),
    ):
        one.plot(people["Diabetes"][:500], people["Fracture"][:500], ".", color=colour, markersize=3)
        one.set(xlabel="diabetes", ylabel="fracture", title=title, xlim=(-4, 4), ylim=(-4, 4))
    _save(figure, path)


def _axes(columns: int, width: float) -> tuple[Any, list[Any]]:
    matplotlib.use("agg")
    matplotlib.rcParams.update({"svg.hashsalt": "lmarvel", "font.size": 9})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, columns, figsize=(width, 3.2), layout="constrained", squeeze=False)
    for one in axes[0]:
        one.spines[["top", "right"]].set_visible(False)
    return figure, list(axes[0])


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    text = path.read_text(encoding="utf-8")
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")


FIGURES: dict[str, dict[str, Picture]] = {
    "get-started.md": {"tutorials/figures/get-started.svg": graph_of("found")},
    "tutorials/hidden-cause.md": {"tutorials/figures/hidden-cause.svg": graph_of("found")},
    "tutorials/churn.md": {"tutorials/figures/churn.svg": graph_of("found")},
    "tutorials/panel.md": {"tutorials/figures/panel.svg": graph_of("found")},
    "tutorials/intervention.md": {"tutorials/figures/intervention.svg": graph_of("found")},
    "tutorials/cars-and-tetrad.md": {"tutorials/figures/cars-and-tetrad.svg": graph_of("found")},
    "tutorial-effect.md": {
        "tutorial-effect-cars.svg": graph_of("found", "all"),
        "tutorial-effect-measured.svg": graph_of("measured"),
    },
    "tutorials/first-steps.md": {"tutorials/figures/first-steps.svg": graph_of("found")},
    "tutorials/health-survey.md": {"tutorials/figures/health-survey.svg": graph_of("found")},
    "tutorials/gene-expression.md": {
        "tutorials/figures/gene-expression.svg": connected,
        "tutorials/figures/gene-expression-rows.svg": rows_chart,
    },
    "tutorials/selection-bias.md": {
        "tutorials/figures/selection-bias-scatter.svg": patients_chart,
        "tutorials/figures/selection-bias-story.svg": graph_of("story"),
        "tutorials/figures/selection-bias.svg": lambda names, path: draw(
            names["story"].project(selection=["Admitted"]), path
        ),
    },
    "tutorials/knowledge.md": {
        "tutorials/figures/knowledge-alone.svg": graph_of("alone"),
        "tutorials/figures/knowledge-told.svg": graph_of("told"),
    },
    "tutorials/how-sure.md": {"tutorials/figures/how-sure.svg": graph_of("by_score")},
    "tutorials/own-test.md": {"tutorials/figures/own-test.svg": graph_of("found")},
    "tutorials/coming-from.md": {"tutorials/figures/coming-from.svg": graph_of("found")},
}


def names_of(page: Path) -> Names:
    """Run the examples of a page, and return the names that they leave."""
    names: Names = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")):
            if example.exc_msg is None:
                exec(compile(example.source, str(page), "single"), names)  # the page's own code, which the tests run
    return names


def main(target: Path = DOCS) -> None:
    """Draw all figures."""
    for page, pictures in FIGURES.items():
        names = names_of(DOCS / page)
        for figure, picture in pictures.items():
            (target / figure).parent.mkdir(parents=True, exist_ok=True)
            picture(names, target / figure)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
