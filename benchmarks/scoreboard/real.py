"""Real systems: tables with a known order in time, Sachs' proteins, and two effects that are known from elsewhere.

``order`` needs a folder of tables as https://github.com/cmu-phil/example-causal-datasets has them (CC0): a folder for
each, with a tab-separated table and Tetrad's knowledge beside it. The order is withheld from the learner. An arrow
between two tiers, ``a --> b``, goes back in time where ``a`` is in the later one. ``sachs`` counts directed claims
against the agreed network of proteins: an arrow is right where there is a directed path that way. ``effects`` learns
with the order of causes, treatment and outcome stated, on tables of the package ``causaldata``.
"""

from __future__ import annotations

import multiprocessing
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from child import bounded

from lmarvel import DAG, PAG, Auto, Dataset, Knowledge, Lift, LMarvel, LMarvelError
from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.knowledge.text import parse_tetrad
from lmarvel.result.support.frequencies import reachable

OURS = {"auto": Auto, "lift": Lift, "lmarvel": LMarvel}
# In the file of abalones the knowledge names columns by other names than the table.
RENAMED = {"Len": "Length", "Hei": "Height", "WhW": "Whole", "ShkW": "Shucked", "VisW": "Viscera", "ShlW": "Shell"}


class Real(NamedTuple):
    """A real table, and in which tier each column is, as far as that is known."""

    name: str
    frame: pl.DataFrame
    categorical: tuple[str, ...]
    tiers: dict[str, int]

    def coded(self) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return numbers and kinds, as rivals get them; they get the rows without a missing value."""
        whole = self.frame.drop_nulls()
        columns = [
            np.unique(whole[name].cast(pl.String).to_numpy(), return_inverse=True)[1]
            if name in self.categorical
            else whole[name].to_numpy()
            for name in whole.columns
        ]
        kinds = tuple("category" if name in self.categorical else "number" for name in whole.columns)
        return np.column_stack(columns).astype(float), kinds

    def data(self) -> Dataset:
        """Return the table as this package gets it."""
        text = self.frame.with_columns(pl.col(self.categorical).cast(pl.String)) if self.categorical else self.frame
        return Dataset.of(text)


def tables(folder: Path) -> Iterator[Real]:
    """Iterate over the tables of a folder that have tiers."""
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        if place.name == "sachs":
            continue
        (known,), (table,) = (list(place.glob(end)) for end in ("*.knowledge.txt", "*[!e].txt"))
        frame, categorical = read(table)
        tiers: dict[str, int] = {}
        for statement in parse_tetrad(known.read_text()):
            if statement.kind == "tiers":
                for level, names in enumerate(statement.about):
                    tiers |= {RENAMED.get(name, name): level for name in names}
        yield Real(place.name, frame, categorical, {name: tiers[name] for name in frame.columns if name in tiers})


def read(path: Path) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return a table and its categorical columns: text, and those with as few values as the file's name says."""
    frame = pl.read_csv(path, separator="\t", null_values="*", infer_schema_length=None)
    few = re.search(r"max(?:imum)?\.(\d+)", path.name)
    most = int(few[1]) if few else 0
    text = {name for name in frame.columns if frame[name].dtype == pl.String}
    chosen = tuple(n for n in frame.columns if n in text or frame[n].drop_nulls().n_unique() <= most)
    return frame, chosen


def arrows(pag: PAG) -> list[tuple[str, str]]:
    """Return the pairs a --> b."""
    marks = pag.marks
    return [(pag.names[i], pag.names[j]) for i, j in np.argwhere((marks == ARROW) & (marks.T == TAIL)).tolist()]


def between(pairs: list[tuple[str, str]], tiers: dict[str, int]) -> dict[str, int]:
    """Return how many arrows go on, and how many back in time."""
    steps = [tiers[b] - tiers[a] for a, b in pairs if a in tiers and b in tiers]
    return {"on": sum(step > 0 for step in steps), "back": sum(step < 0 for step in steps)}


def ours(data: Dataset, method: str, **how: Any) -> tuple[PAG, PAG] | None:
    """Return the graph that a method of ours learns, and what of it is supported; None where it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = OURS[method](**how).fit(data).result_
            return found.pag, found.grades.shown("supported")
        except LMarvelError as refused:
            print(f"{method}: {refused}", file=sys.stderr)
            return None


def _answer(table: Real, method: str, limit: float, pipe: Any) -> None:
    bounded(limit)
    pipe.send(ours(table.data(), method))


def within(limit: float, table: Real, method: str) -> tuple[PAG, PAG] | None:
    """Return the graphs of :func:`ours`, learned in a process of its own; None also where it was late."""
    fresh = multiprocessing.get_context("spawn")
    here, there = fresh.Pipe(duplex=False)
    process = fresh.Process(target=_answer, args=(table, method, limit, there))
    process.start()
    there.close()
    try:
        graphs: tuple[PAG, PAG] | None = here.recv()
    except EOFError:
        print(f"{table.name}: {method} was late", file=sys.stderr)
        graphs = None
    process.join()
    here.close()
    return graphs


def order(table: Real, method: str, limit: float) -> dict[str, int]:
    """Return the arrows between tiers of one of our methods, all and supported."""
    graphs = within(limit, table, method)
    if graphs is None:
        return {"not ended": 1}
    counts = between(arrows(graphs[0]), table.tiers) | {"edges": graphs[0].n_edges}
    counts["pairs"] = len(table.frame.columns) * (len(table.frame.columns) - 1) // 2
    return counts | {f"supported {name}": n for name, n in between(arrows(graphs[1]), table.tiers).items()}


# --- proteins ---------------------------------------------------------------------------------------------


def proteins(folder: Path) -> dict[str, tuple[Real, DAG]]:
    """Return Sachs' table without and with the columns that say what was done, and the agreed network."""
    text = (folder / "sachs" / "sachs.2005.ground.truth.graph.txt").read_text()
    edges = [" ".join(words) for words in re.findall(r"^\d+\. (\S+) (-->) (\S+)$", text, re.MULTILINE)]
    agreed = DAG.from_edges(*edges)
    found = {}
    for name, path in (
        ("Sachs, measurements only", "sachs.2005.continuous.txt"),
        ("Sachs, with experiments", "sachs.2005.continuous.discrete.experimental.mixed.maximum.2.txt"),
    ):
        frame, categorical = read(folder / "sachs" / path)
        found[name] = Real(name, frame, categorical, {}), agreed
    return found


def agreement(pag: PAG, agreed: DAG) -> dict[str, int]:
    """Return how many edges and arrows among the proteins agree with the network."""
    names = agreed.names
    direct = (agreed.marks == ARROW) & (agreed.marks.T == TAIL)
    causes = reachable(direct)
    pairs = [(names.index(a), names.index(b)) for a, b in arrows(pag) if a in names and b in names]
    at = [pag.names.index(name) for name in names]
    edges, true = pag.marks[np.ix_(at, at)] > 0, direct | direct.T
    return {
        "edges": int(edges.sum()) // 2,
        "right edges": int((edges & true).sum()) // 2,
        "agreed edges": int(true.sum()) // 2,
        "arrows": len(pairs),
        "right arrows": sum(bool(causes[pair]) for pair in pairs),
        "reversed arrows": sum(bool(causes[pair[::-1]]) and not causes[pair] for pair in pairs),
    }


# --- effects ----------------------------------------------------------------------------------------------

BACKGROUND = {
    "NHEFS": (
        "nhefs_complete",
        ("sex", "race", "age", "school", "wt71", "smokeintensity", "smokeyrs", "exercise", "active"),
        "qsmk",
        "wt82_71",
    ),
    "Lalonde, experiment": ("nsw_mixtape", ("age", "educ", "black", "hisp", "marr", "re74", "re75"), "treat", "re78"),
}
CATEGORIES = ("sex", "race", "exercise", "active", "qsmk", "black", "hisp", "marr", "treat")
# Hernan and Robins, Causal Inference: What If, program 15.1, regression without effect modification: 3.46 kg, standard
# error 0.44. Dehejia and Wahba 1999, difference of the randomised groups: 1,794 dollars, standard error 633.
PUBLISHED = {"NHEFS": (3.5, 2.6, 4.3), "Lalonde, experiment": (1794.0, 553.0, 3035.0)}


def effect(name: str) -> dict[str, float]:
    """Return the effect of a treatment as this package estimates it, with the order stated."""
    import causaldata

    table, before, treatment, outcome = BACKGROUND[name]
    frame = getattr(causaldata, table).load_pandas().data[[*before, treatment, outcome]]
    columns = {
        column: np.array([f"c{value:.0f}" for value in frame[column].astype(float)])
        if column in CATEGORIES and column != treatment
        else frame[column].astype(float).to_numpy()
        for column in frame
    }
    known = Knowledge(tiers=[list(before), [treatment], [outcome]])
    if name.endswith("experiment"):
        known = Knowledge(tiers=[list(before), [treatment], [outcome]], randomised=[treatment])
    found = Auto(knowledge=known).fit(Dataset.of(columns)).result_
    told = found.effect(treatment, outcome, columns)
    published = dict(zip(("published", "published low", "published high"), PUBLISHED[name], strict=True))
    if not told.estimates:
        return published | {"identified": 0, "path": told.identified.status != "none"}
    estimate = told.estimates[0]
    return published | {"identified": 1, "estimate": estimate.value, "low": estimate.low, "high": estimate.high}
