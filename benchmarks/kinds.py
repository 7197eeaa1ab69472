"""How well graphs are learned from every kind of column, and which of our own ways is best for which table.

    python kinds.py --tables 24 --seed 7                       # auto and our other ways on all families
    python kinds.py --ways auto --families network,mixed --seed 7
    python kinds.py --record --seed 7                          # sum up what is kept: kinds.csv and docs/kinds.md

Tables come from :mod:`families`. Marks and skeletons are held against the true PAG by their F1. ``boss-bdeu`` is
causal-learn's BOSS with the BDeu score, its DAG read as a PAG, on tables of categories. What each table gave is kept
in ``kinds-SEED.csv``, and the same command goes on from there; ``--minutes 8`` does a long run in pieces.

``beaten`` says by how much the graph of ``auto`` is worse than the best graph of L-MARVEL and of Lift without hidden
causes, in the score that ``auto`` chose for the table, in units of the price of an edge; 0 where it is the best.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from families import FAMILIES, Drawn, draw
from grades import kept

from lmarvel import MAG, PAG, Auto, Lift, LMarvel, LMarvelError, mag_to_pag, pag_to_mag
from lmarvel.ci.glm.kinds import KindTable
from lmarvel.ci.registry import as_ci_test
from lmarvel.data.dataset import Dataset
from lmarvel.estimators.scoring import Scored, scored_table
from lmarvel.graph.bitsets import members
from lmarvel.graph.metrics import compare_graphs
from lmarvel.search.ancestral import AncestralGraph
from lmarvel.search.kinds.grouped import GroupedBlocks, Groups
from lmarvel.search.scores import GaussianBlocks, minus_two_log_likelihood

HERE = Path(__file__).parent
SUMS, PAGE = HERE / "kinds.csv", HERE.parent / "docs" / "kinds.md"
BEGIN, END = "<!-- figures: benchmarks/kinds.py --record -->", "<!-- end of figures -->"
COLUMNS = (
    "family",
    "number",
    "rows",
    "way",
    "skeleton",
    "marks",
    "edges",
    "true_edges",
    "latent",
    "selection",
    "seconds",
    "beaten",
)
PENALTY = 2.0
CATEGORICAL = ("network", "categories")
Found = tuple[PAG, int, int]


def learned(learner: Any, drawn: Drawn) -> Found:
    """Return a PAG, and whether it rests on a latent or a selection node or edge."""
    found = learner.fit(drawn.data()).result_
    kinds = {kind for kind, _, _ in found.hidden}
    return found.pag, int("latent" in kinds), int("selection" in kinds)


def score_of(graph: MAG, table: Scored) -> float:
    """Return the score of a graph, the lower the better; infinite where the score is of DAGs and the graph is none."""
    ancestral = AncestralGraph.of_marks(graph.marks)
    if isinstance(table, KindTable):
        if any(ancestral.spouses) or any(ancestral.neighbors):
            return math.inf
        local, price = table.scores(), table.prices["edge"]
        fit = sum(local.value(v, members(parents))[0] for v, parents in enumerate(ancestral.parents))
    elif isinstance(table, Groups):
        fit, price = minus_two_log_likelihood(GroupedBlocks(table), ancestral), table.price
    else:
        fit = minus_two_log_likelihood(GaussianBlocks(table.correlation(), int(table.n)), ancestral)
        price = PENALTY * math.log(table.n)
    return float(fit + price * ancestral.n_edges)


def beaten(drawn: Drawn) -> float:
    """Return by how many prices of an edge the model of auto, hidden nodes included, is worse than other graphs."""
    data = Dataset.of(drawn.table)
    table = scored_table(as_ci_test("auto", data, measured=True), data, PENALTY)
    own, scores = Auto().fit(drawn.table).result_.bic, []
    for other in (LMarvel(), Lift(latents=False, selection=False)):
        try:
            scores.append(score_of(pag_to_mag(other.fit(drawn.table).result_.pag), table))
        except LMarvelError:  # a PAG of tests need not be legal
            continue
    return max(0.0, own - min(scores, default=own)) / (PENALTY * math.log(drawn.rows)) if own is not None else 0.0


def boss(drawn: Drawn) -> Found:
    """Return the PAG of the DAG that BOSS finds by BDeu."""
    from causallearn.search.PermutationBased.BOSS import boss as search

    names = list(drawn.table)
    codes = np.column_stack([np.unique(values, return_inverse=True)[1] for values in drawn.table.values()])
    graph = search(codes.astype(float), score_func="local_score_BDeu", verbose=False).graph
    arrows = [f'"{names[i]}" --> "{names[j]}"' for i, j in zip(*np.where((graph.T == 1) & (graph == -1)), strict=True)]
    undirected = [(i, j) for i, j in zip(*np.where((graph == -1) & (graph.T == -1)), strict=True) if i < j]
    return mag_to_pag(MAG.from_edges(*arrows, *_directed(undirected, names), nodes=names)), 0, 0


def _directed(edges: list[tuple[int, int]], names: list[str]) -> list[str]:
    """Direct the undirected part of a CPDAG, which is chordal, along an order of maximum cardinality."""
    near = defaultdict(set)
    for i, j in edges:
        near[i].add(j)
        near[j].add(i)
    order: list[int] = []
    while left := [v for v in near if v not in order]:
        order.append(max(left, key=lambda v: (len(near[v] & set(order)), -v)))
    return [f'"{names[i]}" --> "{names[j]}"' for i, j in (sorted(edge, key=order.index) for edge in edges)]


WAYS: dict[str, Callable[[Drawn], Found]] = {
    "auto": lambda drawn: learned(Auto(), drawn),
    "lines": lambda drawn: learned(Lift(test="fisher-z"), drawn),
    "ranks": lambda drawn: learned(Lift(test="rank"), drawn),
    "scores": lambda drawn: learned(Lift(test="scores"), drawn),
    "indicators": lambda drawn: learned(Lift(test="mixed"), drawn),
    "skewed": lambda drawn: learned(Lift(test="skewed"), drawn),
    "curves": lambda drawn: learned(Lift(test="curved"), drawn),
    "lmarvel": lambda drawn: learned(LMarvel(), drawn),
    "boss-bdeu": boss,
}


def fitting(way: str, drawn: Drawn) -> bool:
    """Tell whether a way is one for such a table."""
    numbers = all(np.asarray(values).dtype.kind in "if" for values in drawn.table.values())
    if way == "boss-bdeu":
        return drawn.family in CATEGORICAL
    return numbers or way not in ("lines", "ranks", "skewed")


def measured(family: str, number: int, seed: int, way: str) -> dict[str, object] | None:
    """Return what one way made of one table; None where it is none for it."""
    drawn = draw(family, number, seed)
    if not fitting(way, drawn):
        return None
    true, begun = drawn.study.pag, time.process_time()
    try:
        pag, latent, selection = WAYS[way](drawn)
    except LMarvelError:
        return dict(zip(COLUMNS, (family, number, drawn.rows, way, 0, 0, 0, true.n_edges, 0, 0, 0, 0), strict=True))
    seconds, held = time.process_time() - begun, compare_graphs(pag, true)
    values = (round(held.skeleton.f1, 4), round(held.marks.f1, 4), pag.n_edges, true.n_edges, latent, selection)
    behind = round(beaten(drawn), 3) if way == "auto" else 0
    return dict(zip(COLUMNS, (family, number, drawn.rows, way, *values, round(seconds, 3), behind), strict=True))


def run(seed: int, tables: int, families: list[str], ways: list[str], minutes: float) -> None:
    """Learn from the tables that are not kept yet, and keep what each gave."""
    path, begun = HERE / f"kinds-{seed}.csv", time.monotonic()
    done = {(row["family"], int(row["number"]), row["way"]) for row in kept(path)}
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for number in range(tables):
            for family in families:
                for way in ways:
                    if (family, number, way) in done:
                        continue
                    if time.monotonic() - begun > 60 * minutes:
                        return
                    row = measured(family, number, seed, way)
                    if row is not None:
                        writer.writerow(row)
                        file.flush()


def sums_of(rows: list[dict[str, str]]) -> list[dict[str, object]]:
    """Return means by family, rows and way."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["family"], int(row["rows"]), row["way"]].append(row)
    return [
        {"family": family, "rows": n, "way": way, "tables": len(found)}
        | {name: f"{np.mean([float(row[name]) for row in found]):.3f}" for name in COLUMNS[4:]}
        for (family, n, way), found in sorted(
            groups.items(), key=lambda item: (FAMILIES.index(item[0][0]), item[0][1:])
        )
    ]


def page(sums: list[dict[str, str]]) -> Iterator[str]:
    """Iterate over the table of docs/kinds.md: mark F1 (skeleton F1 of auto) by family and rows."""
    ways = [way for way in WAYS if any(row["way"] == way for row in sums)]
    yield "| family | rows | tables | skeleton, auto | " + " | ".join(f"marks, {way}" for way in ways) + " |"
    yield "|---|---|---|---|" + "---|" * len(ways)
    for family, n in dict.fromkeys((row["family"], int(row["rows"])) for row in sums):
        here = {row["way"]: row for row in sums if row["family"] == family and int(row["rows"]) == n}
        if "auto" not in here:
            continue
        cells = " | ".join(_short(here[way]["marks"]) if way in here else "" for way in ways)
        auto = here["auto"]
        yield f"| {family} | {n:,} | {auto['tables']} | {_short(auto['skeleton'])} | {cells} |"


def _short(value: str) -> str:
    return f"{float(value):.2f}"


def record(seed: int) -> None:
    """Sum up what is kept of a seed, and write the figures into the page."""
    sums = sums_of(kept(HERE / f"kinds-{seed}.csv"))
    with SUMS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(sums[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(sums)
    text = PAGE.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    figures = "\n".join(page([{name: str(value) for name, value in row.items()} for row in sums]))
    PAGE.write_text(f"{before}{BEGIN}\n{figures}\n{END}{after}")


def main() -> None:
    """Run the study, or sum it up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=24)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--ways", default="auto")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--record", action="store_true")
    asked = parser.parse_args()
    if asked.record:
        record(asked.seed)
        return
    warnings.simplefilter("ignore")
    run(asked.seed, asked.tables, asked.families.split(","), asked.ways.split(","), asked.minutes)


if __name__ == "__main__":
    main()
