"""What the paper ran, as data.

A *setting* is a column of a table or a point of a figure: a structure, roles, parameter ranges and a sample size. An
*experiment* is a list of settings with a number of repetitions. A *job* is one repetition of one setting with one
method.

Where the paper is silent the choice is ours: Figure 2 gives neither its numbers of variables nor a rate of selection
variables; here they are 20 to 120 variables, and none of them selects.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lmarvel.estimators import FCI, M3HC, MBCS, RFCI, LMarvel, PagEstimator


class Setting(NamedTuple):
    """A column of a table, or a point of a figure.

    ``structure`` is the name of a network, or "erdos-renyi", or "parents<=3"; ``variables`` counts all of them.
    """

    experiment: str
    panel: str
    structure: str
    variables: int
    latent: int
    selection: int
    ranges: str
    rows_per_variable: int = 50

    @property
    def observed(self) -> int:
        """The number of observed variables."""
        return self.variables - self.latent - self.selection

    @property
    def rows(self) -> int:
        """The sample size."""
        return self.rows_per_variable * self.observed

    @property
    def label(self) -> str:
        """The heading of its column."""
        return f"{self.structure} ({self.observed},{self.latent},{self.selection})"

    def entropy(self, seed: int, rep: int) -> list[int]:
        """Return what seeds a repetition: the same truth for every method and every sample size."""
        text = f"{self.structure} {self.variables} {self.latent} {self.selection} {self.ranges}"
        return [seed, zlib.crc32(text.encode()), rep]


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper."""

    name: str
    title: str
    reps: int
    settings: tuple[Setting, ...]
    is_table: bool

    def structures(self) -> list[str]:
        """Return the networks that it needs, without random graphs."""
        return list(dict.fromkeys(s.structure for s in self.settings if not is_random(s.structure)))


class Method(NamedTuple):
    """A method as the experiments run it: its name in the paper, and how it is made."""

    label: str
    make: Callable[[], PagEstimator]


# All start from the Markov boundaries of total conditioning at 2/p^2, and test at 0.01.
METHODS: Mapping[str, Method] = {
    "lmarvel": Method("L-MARVEL", lambda: LMarvel(boundary="tc")),
    "lmarvel-chordal": Method("L-MARVEL, chordal", lambda: LMarvel(boundary="tc", assume_chordal=True)),
    "rfci": Method("RFCI", lambda: RFCI(boundary="tc")),
    "fci": Method("FCI", lambda: FCI(boundary="tc", possible_d_sep="classic")),
    "mbcs": Method("MBCS*", lambda: MBCS(boundary="tc")),
    "m3hc": Method("M3HC", lambda: M3HC(boundary="tc")),
    "lmarvel-at-alpha": Method("L-MARVEL, 0.8 → alpha", lambda: LMarvel(boundary="tc", removal_threshold=0.01)),
    "fci-pruned": Method("FCI, pruned", lambda: FCI(boundary="tc")),
}
DEFAULT_METHODS = ("lmarvel", "lmarvel-chordal", "rfci", "fci", "mbcs", "m3hc")

_TABLE1 = {
    "insurance": (27, 3, 2),
    "alarm": (37, 4, 2),
    "ecoli70": (46, 3, 3),
    "barley": (48, 5, 3),
    "hailfinder": (56, 3, 3),
    "carpo": (61, 4, 4),
    "arth150": (107, 6, 6),
}
_TABLE2 = (
    ("mildew", 35, 4, 0),
    ("mildew", 35, 0, 4),
    ("mildew", 35, 3, 3),
    ("water", 32, 3, 0),
    ("water", 32, 0, 3),
    ("water", 32, 3, 3),
)
SIZES = (20, 40, 60, 80, 100, 120)
_PANELS = (
    ("a", "erdos-renyi", 0.1),
    ("b", "erdos-renyi", 0.2),
    ("c", "parents<=3", 0.1),
    ("d", "parents<=3", 0.2),
    ("e", "parents<=4", 0.1),
)


def _experiments() -> Iterator[Experiment]:
    table1 = tuple(Setting("table1", name, name, *counts, "benchmark") for name, counts in _TABLE1.items())
    yield Experiment("table1", "Table 1: benchmark structures", 50, table1, True)
    table2 = tuple(
        Setting("table2", f"{name}-{n - lat - sel}-{lat}-{sel}", name, n, lat, sel, "appendix")
        for name, n, lat, sel in _TABLE2
    )
    yield Experiment("table2", "Table 2 (appendix): latent and selection variables", 20, table2, True)
    figure2 = tuple(
        Setting("figure2", panel, structure, n, round(rate * n), 0, "random")
        for panel, structure, rate in _PANELS
        for n in SIZES
    )
    yield Experiment("figure2", "Figure 2: random graphs", 50, figure2, False)
    figure3 = tuple(
        Setting("figure3", name, name, *_TABLE1[name], "benchmark", rows)
        for name in ("insurance", "alarm")
        for rows in (10, 20, 30, 40, 50, 60)
    )
    yield Experiment("figure3", "Figure 3 (appendix): sample size", 50, figure3, False)


EXPERIMENTS: Mapping[str, Experiment] = {e.name: e for e in _experiments()}


class Job(NamedTuple):
    """One repetition of one setting with one method."""

    setting: Setting
    method: str
    rep: int

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """What tells it from all other jobs, as it stands in the file of runs."""
        s = self.setting
        return s.experiment, s.panel, f"{s.variables}x{s.rows_per_variable}", self.method, str(self.rep)


def jobs_of(experiment: Experiment, methods: Sequence[str], reps: int) -> Iterator[Job]:
    """Iterate over the jobs of an experiment; all methods of a repetition come together."""
    for rep in range(reps):
        for setting in experiment.settings:
            for method in methods:
                yield Job(setting, method, rep)


def is_random(structure: str) -> bool:
    """Tell whether a structure is drawn anew for each repetition."""
    return structure == "erdos-renyi" or structure.startswith("parents<=")
