"""What the paper leaves to do, as experiments: accuracy, bounds, boundaries, the order of the conditions, other rates.

"accuracy" tells how right the methods are, edges and marks, on more structures, roles and sample sizes than the paper
has. The structures of the paper's Table 1 have the paper's latent and selection variables and 50 rows a variable; those
that the package does not have are left out where no directory holds them. The random graphs are alike but for one thing
each: more edges, no latent variables, no selection, neither, or many latent variables. Last, four of the structures are
run with 200 to 50,000 rows.

"bounds" counts the tests of oracle runs beside the bounds of Proposition 3 and Theorem 4. "boundaries" starts L-MARVEL
from other searches of Markov boundaries, and from the true ones. "conditions" tests the two conditions of removability
in the other order. "rates" and "random-selection" are sweeps over numbers of latent and selection variables.
"""

from __future__ import annotations

from lmarvel.estimators import METHODS
from lmarvel.experiments.methods import BOUNDARY_METHODS
from lmarvel.experiments.paper import COUNTS, TABLE2
from lmarvel.experiments.plan import Experiment, Figure, Setting, Table
from lmarvel.experiments.sweep import Sweep
from lmarvel.simulate.networks import NETWORKS

_STRUCTURES = tuple(name for name in COUNTS if name in NETWORKS)  # of Table 1, those that come with the package


def _table1(experiment: str) -> tuple[Setting, ...]:
    return tuple(Setting(experiment, name, name, *COUNTS[name], "benchmark") for name in _STRUCTURES)


# --- accuracy ---------------------------------------------------------------------------------------------

_MEASURES = {
    "f1": "skeleton F1",
    "mark_f1": "mark F1",
    "arrowhead_f1": "arrowhead F1",
    "tail_f1": "tail F1",
    "legal": "legal PAGs",
    "total_s": "seconds",
}
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


def _accuracy() -> tuple[Setting, ...]:
    structures = [Setting("accuracy", name, name, *COUNTS[name], "benchmark") for name in COUNTS]
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
    _accuracy(),
    tuple("lmarvel-default" if name == "lmarvel" else name for name in METHODS),
    tables=(
        Table("benchmark structures, 50 rows per variable", tuple(COUNTS), _MEASURES),
        Table("random graphs, 50 rows per variable", tuple(_RANDOM), _MEASURES),
        *(Table(f"{name} by sample size", (_panel(name),), _MEASURES) for name in _BY_ROWS),
    ),
    figure=Figure(
        {_panel(name): name.capitalize() for name in _BY_ROWS},
        {name: label for name, label in _MEASURES.items() if name != "total_s"},
        "rows",
    ),
    optional=tuple(name for name in COUNTS if name not in NETWORKS),
)

# --- bounds -----------------------------------------------------------------------------------------------

_OBSERVED = (20, 40)
_KINDS = ("parents<=2", "parents<=3", "cliques=3", "cliques=5", "cliques=7")


def _of_kind(structure: str, observed: int) -> Setting:
    """Return graphs with so many observed variables; a tenth more are latent and selecting, but not of cliques."""
    hidden = (0, 0) if structure.startswith("cliques") else (observed // 10, observed // 20)
    panel = f"{structure}-{observed}"
    return Setting("bounds", panel, structure, observed + sum(hidden), *hidden, "benchmark")


_BY_SIZE = {f"{n} variables": tuple(_of_kind(kind, n) for kind in _KINDS) for n in _OBSERVED}
_COUNTS = {
    "degree": "degree of the MAG",
    "lower_bound": "lower bound (worst case)",
    "all_tests": "tests, boundaries included",
    "upper_bound": "upper bound",
}
BOUNDS = Experiment(
    "bounds",
    "Tests and their bounds",
    20,
    (*_table1("bounds"), *(s for settings in _BY_SIZE.values() for s in settings)),
    ("lmarvel-oracle", "lmarvel"),
    tables=(
        Table("benchmark structures", _STRUCTURES, _COUNTS, medians=True),
        *(Table(f"graphs with {size}", tuple(s.panel for s in of), _COUNTS, True) for size, of in _BY_SIZE.items()),
    ),
    figure=Figure({size: size for size in _BY_SIZE}, {"all_tests": "CI tests"}, "degree", _BY_SIZE),
)

# --- boundaries -------------------------------------------------------------------------------------------

BOUNDARIES = Experiment(
    "boundaries",
    "L-MARVEL from other Markov boundaries",
    50,
    _table1("boundaries"),
    ("lmarvel", *BOUNDARY_METHODS),
    tables=(
        Table(
            "benchmark structures, 50 rows per variable",
            _STRUCTURES,
            {
                "f1": "skeleton F1",
                "mark_f1": "mark F1",
                "boundary_precision": "boundary precision",
                "boundary_recall": "boundary recall",
                "boundary_extra": "pairs too many",
                "boundary_missing": "pairs missing",
                "boundary_tests": "tests for boundaries",
                "ci_tests": "tests after that",
            },
        ),
    ),
)

# --- the order of the conditions --------------------------------------------------------------------------

_OF_TABLE2 = tuple(s._replace(experiment="conditions") for s in TABLE2.settings)
_OUTCOME = {
    "f1": "skeleton F1",
    "precision": "precision",
    "recall": "recall",
    "mark_f1": "mark F1",
    "ci_tests": "CI tests",
}
CONDITIONS = Experiment(
    "conditions",
    "The order of the conditions of removability",
    50,
    (*_table1("conditions"), *_OF_TABLE2),
    ("lmarvel", "lmarvel-second-first", "lmarvel-at-alpha", "lmarvel-at-alpha-second-first"),
    tables=(
        Table("structures of Table 1", _STRUCTURES, _OUTCOME),
        Table("structures of Table 2", tuple(s.panel for s in _OF_TABLE2), _OUTCOME),
    ),
)

# --- rates of latent and selection variables --------------------------------------------------------------

RATES = Sweep(("insurance", "alarm"), latent=(0, 2, 4, 8), selection=(0, 2, 4)).experiment(
    lambda name: COUNTS[name][0], "rates", "Rates of latent and selection variables"
)
RANDOM_SELECTION = Sweep(("parents<=3", "erdos-renyi"), (4,), (0, 2, 4, 8), variables=(40,)).experiment(
    lambda name: 0, "random-selection", "Random graphs with selection"
)
STUDIES = (ACCURACY, BOUNDS, BOUNDARIES, CONDITIONS, RATES, RANDOM_SELECTION)
