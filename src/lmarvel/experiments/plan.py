"""What an experiment is, as data.

A *setting* is a column of a table or a point of a figure: a structure, roles, parameter ranges and a sample size. An
*experiment* is a list of settings with a number of repetitions, and says which tables and which figure show it. A
*job* is one repetition of one setting with one method. ``paper``, ``accuracy`` and ``studies`` hold the experiments
themselves, and ``sweep`` makes one of what a user asks for.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, NamedTuple

from lmarvel.errors import ParameterError

COUNTED = ("parents<=", "degree=", "cliques=")  # kinds of random graphs that go with a number


class Setting(NamedTuple):
    """A column of a table, or a point of a figure.

    ``structure`` is the name of a network, or of a kind of random graph: "erdos-renyi" (the paper's, ever sparser with
    the number of variables), "degree=2" (this degree on average), "parents<=3", or "cliques=4" (cliques of four side by
    side, the worst case for the number of tests). ``variables`` counts all of them.
    The sample has ``rows_per_variable`` rows for each observed variable, or ``sample`` rows if that is given.
    """

    experiment: str
    panel: str
    structure: str
    variables: int
    latent: int
    selection: int
    ranges: str
    rows_per_variable: int = 50
    sample: int | None = None
    heading: str = ""

    @property
    def observed(self) -> int:
        """The number of observed variables."""
        return self.variables - self.latent - self.selection

    @property
    def rows(self) -> int:
        """The sample size."""
        return self.rows_per_variable * self.observed if self.sample is None else self.sample

    @property
    def size(self) -> str:
        """What distinguishes it from the other settings of its panel."""
        per_variable = f"{self.variables}x{self.rows_per_variable}"
        return per_variable if self.sample is None else f"{self.variables}n{self.sample}"

    @property
    def label(self) -> str:
        """The heading of its column."""
        return self.heading or f"{self.structure} ({self.observed},{self.latent},{self.selection})"

    def entropy(self, seed: int, rep: int) -> list[int]:
        """Return what seeds a repetition: the same truth for every method and every sample size."""
        text = f"{self.structure} {self.variables} {self.latent} {self.selection} {self.ranges}"
        return [seed, zlib.crc32(text.encode()), rep]


class Table(NamedTuple):
    """A table: the panels that are its columns, and its measures with their labels; means, or medians."""

    title: str
    panels: tuple[str, ...]
    measures: Mapping[str, str]
    medians: bool = False


class Figure(NamedTuple):
    """A figure: its panels from top to bottom, its measures with their labels, and what stands on the abscissa.

    A panel shows the settings of the same panel, or those that ``members`` names. With the degree on the abscissa,
    which the runs of a setting do not share, each run is a point, and the bounds on the number of tests are drawn.
    """

    panels: Mapping[str, str]
    measures: Mapping[str, str]
    across: Literal["variables", "rows_per_variable", "rows", "latent", "selection", "degree"]
    members: Mapping[str, tuple[Setting, ...]] = MappingProxyType({})

    def among(self, settings: Sequence[Setting], panel: str) -> list[Setting]:
        """Return those of some settings that a panel shows."""
        if panel in self.members:
            return [s for s in self.members[panel] if s in settings]
        return [s for s in settings if s.panel == panel]


@dataclass(frozen=True)
class Experiment:
    """Settings, how often to repeat them with which methods, and what shows the outcome.

    One that ``is_published`` has the layout of the paper's tables, with the paper's figures beside ours. Structures
    that are ``optional`` are left out where there is no directory to look for them.
    """

    name: str
    title: str
    reps: int
    settings: tuple[Setting, ...]
    methods: tuple[str, ...]
    is_published: bool = False
    tables: tuple[Table, ...] = ()
    figure: Figure | None = None
    optional: tuple[str, ...] = ()

    @property
    def has_table(self) -> bool:
        """True if there is more to show than a figure."""
        return self.is_published or bool(self.tables)

    def structures(self) -> list[str]:
        """Return the networks that it needs, without random graphs."""
        return list(dict.fromkeys(s.structure for s in self.settings if not is_random(s.structure)))

    def without(self, structures: Sequence[str]) -> Experiment:
        """Return the experiment without some structures."""
        left = tuple(s for s in self.settings if s.structure not in structures)
        if not left:
            raise ParameterError(f"nothing is left of {self.name} without {', '.join(structures)}")
        return replace(self, settings=left)

    def of_panels(self, panels: Sequence[str]) -> list[Setting]:
        """Return the settings of some panels, in the order of the panels."""
        return [s for panel in panels for s in self.settings if s.panel == panel]


class Job(NamedTuple):
    """One repetition of one setting with one method."""

    setting: Setting
    method: str
    rep: int

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What distinguishes it from all other jobs, as the runs have it."""
        return self.setting.experiment, self.setting.panel, self.setting.size, self.method, self.rep


def jobs_of(experiment: Experiment, methods: Sequence[str], reps: int) -> Iterator[Job]:
    """Iterate over the jobs of an experiment; all methods of a repetition come together."""
    for rep in range(reps):
        for setting in experiment.settings:
            for method in methods:
                yield Job(setting, method, rep)


def is_random(structure: str) -> bool:
    """Tell whether a structure is made for each repetition, and is no network."""
    return structure == "erdos-renyi" or structure.startswith(COUNTED)
