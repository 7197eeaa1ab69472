"""What the paper leaves to do, as experiments: bounds, boundaries, the order of the conditions, other rates of roles.

"bounds" counts the tests of oracle runs beside the bounds of Proposition 3 and Theorem 4. "boundaries" starts L-MARVEL
from other searches of Markov boundaries, and from the true ones. "conditions" tests the two conditions of removability
in the other order. "rates" and "random-selection" are sweeps over numbers of latent and selection variables.
"""

from __future__ import annotations

from lmarvel.experiments.methods import BOUNDARY_METHODS
from lmarvel.experiments.paper import COUNTS, TABLE2
from lmarvel.experiments.plan import Experiment, Figure, Setting, Table
from lmarvel.experiments.sweep import Sweep
from lmarvel.simulate.networks import NETWORKS

_STRUCTURES = tuple(name for name in COUNTS if name in NETWORKS)  # of Table 1, those that come with the package


def _table1(experiment: str) -> tuple[Setting, ...]:
    return tuple(Setting(experiment, name, name, *COUNTS[name], "benchmark") for name in _STRUCTURES)


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
            "benchmark structures, 50 rows a variable",
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
STUDIES = (BOUNDS, BOUNDARIES, CONDITIONS, RATES, RANDOM_SELECTION)
