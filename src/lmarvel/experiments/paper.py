"""What the paper ran.

Where it is silent the choice is ours: Figure 3 gives neither its numbers of variables nor a rate of selection
variables; here they are 20 to 120 variables, and none of them selects.
"""

from __future__ import annotations

from lmarvel.experiments.plan import Experiment, Figure, Setting

METHODS = ("lmarvel", "lmarvel-chordal", "rfci", "fci", "mbcs", "m3hc")
COUNTS = {
    "insurance": (27, 3, 2),
    "alarm": (37, 4, 2),
    "ecoli70": (46, 3, 3),
    "barley": (48, 5, 3),
    "hailfinder": (56, 3, 3),
    "carpo": (61, 4, 4),
    "arth150": (107, 6, 6),
}  # variables, latent and selection variables of Table 1
_TABLE2 = (
    ("mildew", 35, 4, 0),
    ("mildew", 35, 0, 4),
    ("mildew", 35, 3, 3),
    ("water", 32, 3, 0),
    ("water", 32, 0, 3),
    ("water", 32, 3, 3),
)
_SIZES = (20, 40, 60, 80, 100, 120)
_PANELS = (
    ("a", "erdos-renyi", 0.1),
    ("b", "erdos-renyi", 0.2),
    ("c", "parents<=3", 0.1),
    ("d", "parents<=3", 0.2),
    ("e", "parents<=4", 0.1),
)
_COST = {"runtime_s": "runtime (s)", "ci_tests": "CI tests", "mean_set": "mean conditioning set"}

TABLE1 = Experiment(
    "table1",
    "Table 1: benchmark structures",
    50,
    tuple(Setting("table1", name, name, *counts, "benchmark") for name, counts in COUNTS.items()),
    METHODS,
    is_published=True,
)
TABLE2 = Experiment(
    "table2",
    "Table 2 (appendix): latent and selection variables",
    20,
    tuple(
        Setting("table2", f"{name}-{n - lat - sel}-{lat}-{sel}", name, n, lat, sel, "appendix")
        for name, n, lat, sel in _TABLE2
    ),
    METHODS,
    is_published=True,
)
FIGURE3 = Experiment(
    "figure3",
    "Figure 3: random graphs",
    50,
    tuple(
        Setting("figure3", panel, structure, n, round(rate * n), 0, "random")
        for panel, structure, rate in _PANELS
        for n in _SIZES
    ),
    METHODS,
    figure=Figure(
        {
            "a": "(a) Erdős–Rényi, 10 % latent",
            "b": "(b) Erdős–Rényi, 20 % latent",
            "c": "(c) at most 3 parents, 10 % latent",
            "d": "(d) at most 3 parents, 20 % latent",
            "e": "(e) at most 4 parents, 10 % latent",
        },
        {**_COST, "f1": "F1-score"},
        "variables",
    ),
)
FIGURE4 = Experiment(
    "figure4",
    "Figure 4 (appendix): sample size",
    50,
    tuple(
        Setting("figure4", name, name, *COUNTS[name], "benchmark", rows)
        for name in ("insurance", "alarm")
        for rows in (10, 20, 30, 40, 50, 60)
    ),
    METHODS,
    figure=Figure(
        {"insurance": "Insurance", "alarm": "Alarm"},
        {**_COST, "precision": "precision", "recall": "recall", "f1": "F1-score"},
        "rows_per_variable",
    ),
)
