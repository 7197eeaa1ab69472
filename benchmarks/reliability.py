"""What a frequency is worth: of edges, marks and claims that recur in such a share of draws, how many are true?

    python reliability.py --method lmarvel --tables 20 --draws 100

Tables are drawn from the structures of the paper's Table 1, with its latent and selection variables, so that the truth
is known. From each table as many more are drawn again as ``--draws`` says. Every edge of the learned graph falls into a
bin by its frequency, every mark on it by that of the mark given the edge, and so do the claims "x causes y" and "x does
not cause y" that recur in at least one draw in two. Reported is the share of true ones in each bin. The true PAG tells
of edges and marks (a mark of an edge that is not true is not either), the true DAG of causes. The diagram goes to
``reliability-METHOD.svg``, the numbers to a CSV beside it.

What each table told is kept in ``reliability-METHOD-tables.csv``, and the same command goes on from there: with
``--minutes 8`` a long run is done in pieces.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from lmarvel.estimators import METHODS
from lmarvel.experiments.paper import COUNTS, TABLE1
from lmarvel.experiments.plan import Job
from lmarvel.experiments.run import draw
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.orient.study import Study
from lmarvel.result.support.frequencies import reachable
from lmarvel.simulate import NETWORKS, load_network

BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0 + 1e-9)
SEED = 1
KINDS = ("edge", "mark", "causes", "does not cause")
COLUMNS = ("structure", "table", "draws", "kind", "from", "parts", "frequencies", "true")


def counted(method: str, structure: str, number: int, draws: int, jobs: int) -> Iterator[tuple[str, float, bool]]:
    """Iterate over all parts of one result: what it is, how often it recurs, and whether it is true."""
    setting = next(setting for setting in TABLE1.settings if setting.structure == structure)
    study, data = draw(Job(setting, method, number), SEED, str(load_network(structure)))
    found = METHODS[method]().fit(data, names=study.observed, bootstrap=draws, seed=number, n_jobs=jobs).result_
    told, true, marks = found.stability, study.pag.marks, found.pag.marks
    assert told is not None
    shares = told.of_marks(marks)
    for x, y in np.argwhere(np.triu(marks)).tolist():
        yield "edge", float(told.adjacent[x, y] / told.replicates), bool(true[x, y])
    for x, y in np.argwhere(marks > CIRCLE).tolist():
        yield "mark", float(shares[x, y]), bool(true[x, y] == marks[x, y])
    causes = ancestors(study)
    for kind, counts, right in (("causes", told.causes, causes), ("does not cause", told.not_causes, ~causes)):
        for x, y in np.argwhere(counts * 2 >= told.replicates).tolist():
            yield kind, float(counts[x, y] / told.replicates), bool(right[x, y])


def ancestors(study: Study) -> np.ndarray:
    """Return which observed variables cause which in the true DAG, latent and selection variables included."""
    marks = study.dag.marks
    everything = reachable((marks == ARROW) & (marks.T == TAIL))
    at = [study.dag.index(name) for name in study.observed]
    return everything[np.ix_(at, at)]


def binned(parts: Iterable[tuple[str, float, bool]]) -> Iterator[dict[str, object]]:
    """Iterate over what is kept of one table: parts, the sum of their frequencies, and how many are true, by bin."""
    told = list(parts)
    for kind in KINDS:
        for low, high in pairwise(BINS):
            here = [(share, right) for of, share, right in told if of == kind and low <= share < high]
            if here:
                shares, right = zip(*here, strict=True)
                yield {"kind": kind, "from": low, "parts": len(here), "frequencies": sum(shares), "true": sum(right)}


def table_of(kept: list[dict[str, str]]) -> list[dict[str, object]]:
    """Return the share of true ones by kind and bin."""
    rows: list[dict[str, object]] = []
    for kind in KINDS:
        for low, high in pairwise(BINS):
            here = [row for row in kept if row["kind"] == kind and float(row["from"]) == low]
            parts, shares, true = (sum(float(row[key]) for row in here) for key in ("parts", "frequencies", "true"))
            if here:
                told = {"kind": kind, "from": low, "to": min(high, 1.0), "parts": int(parts)}
                rows.append({**told, "mean_frequency": round(shares / parts, 3), "true": true / parts})
    return rows


def draw_diagram(rows: list[dict[str, object]], path: Path, title: str) -> None:
    """Draw frequency against truth, a line a kind; on the diagonal a frequency would be a probability."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5.2, 4.4))
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle=":")
    for kind, colour in zip(KINDS, ("#1558a8", "#b42318", "#7a2fa0", "#4d5561"), strict=True):
        mine = [row for row in rows if row["kind"] == kind and int(str(row["parts"])) >= 10]
        axes.plot([r["mean_frequency"] for r in mine], [r["true"] for r in mine], "o-", color=colour, label=kind)
    axes.set(xlabel="share of draws in which it recurs", ylabel="share that is true", ylim=(0, 1.02), title=title)
    axes.legend(loc="upper left", frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def stored(path: Path) -> list[dict[str, str]]:
    """Return what earlier pieces of the run kept."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def keep(path: Path, rows: Iterable[dict[str, object]]) -> None:
    """Append what one table told."""
    begun = path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not begun:
            writer.writeheader()
        writer.writerows(rows)


def report(rows: list[dict[str, object]], out: Path, method: str, draws: int) -> None:
    """Print the shares of true ones, and write them and the diagram."""
    with (out / f"reliability-{method}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "true": f"{row['true']:.3f}"} for row in rows)
    for row in rows:
        print(f"{row['kind']:<15} {row['from']:.2f}-{row['to']:.2f} {row['parts']:>6} parts, true {row['true']:.3f}")
    draw_diagram(rows, out / f"reliability-{method}.svg", f"{method}, {draws} draws a table")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="lmarvel", choices=METHODS)
    parser.add_argument("--structures", default=",".join(name for name in COUNTS if name in NETWORKS))
    parser.add_argument("--tables", type=int, default=20, help="tables of each structure")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no table after so many")
    parser.add_argument("--out", type=Path, default=Path())
    chosen = parser.parse_args()
    path, begin = chosen.out / f"reliability-{chosen.method}-tables.csv", time.monotonic()
    wanted = [(name, number) for number in range(chosen.tables) for name in chosen.structures.split(",")]
    done = {(row["structure"], int(row["table"])) for row in stored(path) if int(row["draws"]) == chosen.draws}
    for structure, number in wanted:
        if (structure, number) in done or time.monotonic() - begin > 60 * chosen.minutes:
            continue
        of = {"structure": structure, "table": number, "draws": chosen.draws}
        parts = counted(chosen.method, structure, number, chosen.draws, chosen.jobs)
        keep(path, ({**of, **row} for row in binned(parts)))
        done.add((structure, number))
    mine = [r for r in stored(path) if int(r["draws"]) == chosen.draws and (r["structure"], int(r["table"])) in wanted]
    print(f"{len(done.intersection(wanted))} of {len(wanted)} tables")
    if mine:
        report(table_of(mine), chosen.out, chosen.method, chosen.draws)


if __name__ == "__main__":
    main()
