"""Sweeps: every combination of structures, latent and selection variables and sample sizes, as an experiment.

What a user asks for becomes settings, tables and a figure like those of the other experiments; so it is run, kept,
resumed and shown in the same way. A run is known by its structure, roles, ranges and sample size: a wider sweep into
the same directory goes on from what is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from lmarvel.errors import ParameterError
from lmarvel.experiments.plan import COUNTED, Experiment, Figure, Setting, Table, is_random
from lmarvel.simulate.sem import RANGES

METHODS = ("lmarvel", "rfci", "mbcs")
MEASURES = {
    "f1": "skeleton F1",
    "mark_f1": "mark F1",
    "legal": "legal PAGs",
    "ci_tests": "CI tests",
    "boundary_f1": "boundary F1",
}
LONGEST = 9  # digits of a number that is asked for
_LEAST_ROWS = 4  # with which there is a test
# A degree is a mean, so it need not be whole.
_NUMBERS = {kind: re.compile(r"[0-9]{1,6}(\.[0-9]{1,4})?" if kind == "degree=" else r"[0-9]{1,6}") for kind in COUNTED}
_Across = Literal["latent", "selection", "rows", "variables"]
_ACROSS: tuple[_Across, ...] = ("latent", "selection", "rows", "variables")


@dataclass(frozen=True)
class Sweep:
    """What to vary.

    Parameters
    ----------
    structures : sequence of str
        Networks by name, or kinds of random graphs: "erdos-renyi", "parents<=3", "degree=2", "cliques=4".
    latent, selection : sequence of int
        Numbers of variables that are not measured, and that select the sample.
    rows : sequence of str
        Sample sizes: "1000", or "50x" for 50 rows for each observed variable.
    variables : sequence of int, optional
        Numbers of variables of random graphs, hidden ones included; 40 by default. Networks have their own.
    ranges : str
        Of coefficients and noise: "benchmark", "random" or "appendix".

    Examples
    --------
    >>> plan = Sweep(["alarm", "parents<=3"], latent=[0, 4], selection=[0, 2]).experiment(lambda name: 37)
    >>> len(plan.settings), plan.figure.across
    (8, 'latent')
    >>> [setting.label for setting in plan.settings][:2]
    ['alarm (37,0,0) 50x', 'alarm (35,0,2) 50x']
    """

    structures: Sequence[str] = ("parents<=3",)
    latent: Sequence[int] = (0,)
    selection: Sequence[int] = (0,)
    rows: Sequence[str] = ("50x",)
    variables: Sequence[int] | None = None
    ranges: str = "benchmark"

    def check(self) -> None:
        """Refuse what cannot be run, before any work."""
        self._check_lists()
        for structure in self._kinds:
            _check_structure(structure)
        if self.ranges not in RANGES:
            raise ParameterError(f"unknown --ranges {self.ranges!r}: choose from {', '.join(RANGES)}")
        for text in self.rows:
            _rows(text)

    def _check_lists(self) -> None:
        texts = {"structure": self._kinds, "rows": self.rows}
        counts = {"latent": self.latent, "selection": self.selection, "variables": self._sizes}
        for name, values in {**texts, **counts}.items():
            if not values:
                raise ParameterError(f"--{name} is empty: give at least one value")
            if name in counts and max(counts[name]) >= 10**LONGEST:
                raise ParameterError(f"--{name} must be less than {10**LONGEST:,}")
            if len(set(values)) < len(values):
                raise ParameterError(f"--{name} names a value twice: {', '.join(map(str, values))}")
        for name, numbers in counts.items():
            least = 2 if name == "variables" else 0
            if min(numbers) < least:
                raise ParameterError(f"--{name} must be at least {least}, not {min(numbers)}")

    def experiment(
        self, nodes: Callable[[str], int], name: str = "sweep", title: str = "Sweep", reps: int = 20
    ) -> Experiment:
        """Return the sweep as an experiment; ``nodes`` returns how many variables a network has."""
        self.check()
        sizes = {kind: self._sizes if is_random(kind) else (nodes(kind),) for kind in self._kinds}
        if self.variables is not None and not any(map(is_random, sizes)):
            raise ParameterError(f"--variables is for random graphs, and {', '.join(sizes)} has its own")
        settings = tuple(self._setting(name, *place) for place in self._places(sizes))
        tables = tuple(
            Table(name, tuple(dict.fromkeys(s.panel for s in settings if s.structure == name)), MEASURES)
            for name in dict.fromkeys(s.structure for s in settings)
        )
        return Experiment(name, title, reps, settings, METHODS, tables=tables, figure=self._figure(settings))

    @property
    def _kinds(self) -> list[str]:
        return [_canonical(structure) for structure in self.structures]

    @property
    def _sizes(self) -> Sequence[int]:
        return (40,) if self.variables is None else self.variables

    def _places(self, sizes: Mapping[str, Sequence[int]]) -> list[tuple[str, int, int, int, str]]:
        """Return every combination, and refuse one that leaves too few variables to observe, or has too few rows."""
        places = []
        for structure, own in sizes.items():
            for n, latent, selection, rows in product(own, self.latent, self.selection, self.rows):
                observed = n - latent - selection
                if observed < 2:
                    raise ParameterError(
                        f"--latent {latent} and --selection {selection} leave {max(observed, 0)} of the"
                        f" {n} variables of {structure} to observe: choose fewer, 2 have to be left"
                    )
                per_variable, sample = _rows(rows)
                if sample is None and per_variable * observed < _LEAST_ROWS:
                    raise ParameterError(
                        f"--rows {rows} is {per_variable * observed} rows for the {observed} observed variables of"
                        f" {structure}: at least {_LEAST_ROWS} are needed"
                    )
                places.append((structure, n, latent, selection, rows))
        return places

    def _setting(self, name: str, structure: str, n: int, latent: int, selection: int, rows: str) -> Setting:
        per_variable, sample = _rows(rows)
        panel = f"{structure}-{latent}-{selection}" + ("" if self.ranges == "benchmark" else f"-{self.ranges}")
        heading = f"{structure} ({n - latent - selection},{latent},{selection}) {rows}"
        return Setting(name, panel, structure, n, latent, selection, self.ranges, per_variable, sample, heading)

    def _figure(self, settings: Sequence[Setting]) -> Figure | None:
        """Return the figure over what varies first: latent, selection, rows, variables; None if nothing does."""
        varied = (self.latent, self.selection, self.rows, self._sizes)
        across = next((name for name, values in zip(_ACROSS, varied, strict=True) if len(values) > 1), None)
        if across is None:
            return None
        groups: dict[str, list[Setting]] = {}
        for s in sorted(settings, key=lambda s: _value(s, across)):
            groups.setdefault(_title(s, across), []).append(s)
        titles = {title: title for s in settings for title in [_title(s, across)]}
        return Figure(titles, MEASURES, across, {title: tuple(members) for title, members in groups.items()})


def _value(s: Setting, name: _Across) -> int:
    return {"latent": s.latent, "selection": s.selection, "rows": s.rows, "variables": s.variables}[name]


def _title(s: Setting, across: _Across) -> str:
    """Return the title of a panel: all that does not vary in it."""
    rows = f"{s.rows_per_variable} rows per variable" if s.sample is None else f"{s.sample:,} rows"
    parts = {
        "variables": f"{s.variables} variables",
        "latent": f"{s.latent} latent",
        "selection": f"{s.selection} selecting",
        "rows": rows,
    }
    return ", ".join([s.structure, *(text for name, text in parts.items() if name != across)])


def _canonical(structure: str) -> str:
    """Return the name of a structure as the plan has it: one name for one kind, whichever way its number is written.

    A shell reads "<" as something else, so "=" will do.
    """
    if structure.startswith("parents="):
        structure = structure.replace("parents=", "parents<=", 1)
    kind, text = _parted(structure)
    if not kind or not _NUMBERS[kind].fullmatch(text):
        return structure
    number = float(text)
    return f"{kind}{int(number) if number.is_integer() else number}"


def _parted(structure: str) -> tuple[str, str]:
    """Return a kind of random graph that goes with a number, and the number; no kind for all else."""
    kind = next((kind for kind in COUNTED if structure.startswith(kind)), "")
    return kind, structure.removeprefix(kind)


def _check_structure(structure: str) -> None:
    """Refuse a kind of random graph that there is not, or whose number is none; networks are looked up when read."""
    kind, text = _parted(structure)
    if not kind:
        if "=" in structure:
            raise ParameterError(
                f"--structure {shown(structure)} is not a kind of random graph: choose from erdos-renyi (without a"
                " number), parents=K, degree=K, cliques=K, or name a network"
            )
        return
    least = 1 if kind == "cliques=" else 0
    if not (_NUMBERS[kind].fullmatch(text) and float(text) >= least):
        raise ParameterError(
            f"--structure {kind}{shown(text)}: {kind} goes with a number of at least {least}, not {shown(text)!r}"
            " (at most six digits" + (", and four decimals)" if kind == "degree=" else ")")
        )


def _rows(text: str) -> tuple[int, int | None]:
    """Return the rows for each observed variable, and the sample size if that was given."""
    if not re.fullmatch(r"[1-9][0-9]*x?", text):
        raise ParameterError(f"--rows takes sample sizes such as 1000, or 50x for 50 per variable, not {shown(text)!r}")
    digits = text.removesuffix("x")
    if len(digits) > LONGEST:
        raise ParameterError(f"--rows takes numbers of at most {LONGEST} digits, not {shown(text)}")
    if text.endswith("x"):
        return int(digits), None
    if int(digits) < _LEAST_ROWS:
        raise ParameterError(f"--rows must be at least {_LEAST_ROWS}, not {digits}")
    return 50, int(digits)


def shown(text: str, most: int = 40) -> str:
    """Return a text as messages show it: not more than its beginning."""
    return text if len(text) <= most else f"{text[:most]}..."
