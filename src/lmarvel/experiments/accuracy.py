"""How right the methods are, edges and marks: more structures, roles and sample sizes than the paper has.

The structures of the paper's Table 1 have the paper's latent and selection variables and 50 rows a variable; those that
the package does not have are left out where no directory holds them. The random graphs are alike but for one thing
each: more edges, no latent variables, no selection, neither, or many latent variables. Last, four of the structures are
run with 200 to 50,000 rows.
"""

from __future__ import annotations

from lmarvel.estimators import METHODS
from lmarvel.experiments.paper import COUNTS
from lmarvel.experiments.plan import Experiment, Figure, Setting, Table
from lmarvel.simulate.networks import NETWORKS

_MEASURES = {
    "f1": "skeleton F1",
    "mark_f1": "mark F1",
    "arrowhead_f1": "arrowhead F1",
    "tail_f1": "tail F1",
    "legal": "legal PAGs",
    "total_s": "seconds",
}
_STRUCTURES = tuple(COUNTS)
# Degree; variables, latent and selection variables.
_RANDOM = {
    "sparse": (2, (40, 4, 2)),
    "dense": (5, (30, 3, 2)),
    "no latents": (2, (40, 0, 4)),
    "no selection": (2, (40, 4, 0)),
    "neither": (2, (40, 0, 0)),
    "many latents": (2, (40, 12, 0)),
}
_BY_ROWS = ("insurance", "alarm", "ecoli70", "hailfinder")
_ROWS = (200, 500, 5_000, 50_000)


def _settings() -> tuple[Setting, ...]:
    structures = [Setting("accuracy", name, name, *COUNTS[name], "benchmark") for name in _STRUCTURES]
    graphs = [
        Setting("accuracy", panel, f"degree={degree}", *counts, "benchmark", heading=_heading(panel, *counts))
        for panel, (degree, counts) in _RANDOM.items()
    ]
    by_rows = [
        Setting("accuracy", _panel(name), name, *COUNTS[name], "benchmark", sample=rows, heading=f"{rows:,} rows")
        for name in _BY_ROWS
        for rows in _ROWS
    ]
    return (*structures, *graphs, *by_rows)


def _heading(panel: str, variables: int, latent: int, selection: int) -> str:
    return f"{panel} ({variables - latent - selection},{latent},{selection})"


def _panel(name: str) -> str:
    return f"{name} by rows"


ACCURACY = Experiment(
    "accuracy",
    "Accuracy of edges and marks",
    20,
    _settings(),
    tuple("lmarvel-default" if name == "lmarvel" else name for name in METHODS),
    tables=(
        Table("benchmark structures, 50 rows a variable", _STRUCTURES, _MEASURES),
        Table("random graphs, 50 rows a variable", tuple(_RANDOM), _MEASURES),
        *(Table(f"{name} by sample size", (_panel(name),), _MEASURES) for name in _BY_ROWS),
    ),
    figure=Figure(
        {_panel(name): name.capitalize() for name in _BY_ROWS},
        {name: label for name, label in _MEASURES.items() if name != "total_s"},
        "rows",
    ),
    optional=tuple(name for name in _STRUCTURES if name not in NETWORKS),
)
