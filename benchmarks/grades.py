"""What the grades are worth: of the marks and claims that are called firm, likely or open, how many are true?

    python grades.py --tables 24 --seed 1                     # auto on all families
    python grades.py --method lmarvel --tables 12 --seed 1
    python grades.py --record                                 # sum up what is kept: grades.csv and docs/grades.md

Tables come from :mod:`families`, drawn from a seed that nothing was tuned on. A mark is true if the true MAG has the
same edge with the same mark there; "x causes y" and "x does not cause y" are held against the true DAG, hidden
variables included. What each table gave is kept in ``grades-METHOD-SEED.csv`` beside this file, and the same command
goes on from there; ``--minutes 8`` does a long run in pieces. ``grades.csv`` holds the sums by method and family.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from families import FAMILIES, Drawn, draw

from lmarvel import Auto, Discovery, LMarvelError
from lmarvel.effects.claims import Claims
from lmarvel.effects.pag_index import Prepared
from lmarvel.estimators import METHODS
from lmarvel.graph.marks import ARROW, CIRCLE
from lmarvel.result.support.grades import GRADES

HERE = Path(__file__).parent
SUMS, PAGE = HERE / "grades.csv", HERE.parent / "docs" / "grades.md"
BEGIN, END = "<!-- figures: benchmarks/grades.py --record -->", "<!-- end of figures -->"
KINDS = ("arrowhead", "tail", "causes", "does not cause")
COLUMNS = ("family", "number", "rows", "kind", "grade", "claims", "true", "rejected")


def parts(drawn: Drawn, found: Discovery) -> Iterator[tuple[str, str, bool, bool]]:
    """Iterate over what is claimed: its kind, its grade, whether it is true, and whether a caution is missing.

    A caution is missing where a claim stands on a pair whose own implied independence the data reject.
    """
    names, marks, levels = found.pag.names, found.pag.marks, found.grades.marks
    at = [drawn.study.observed.index(name) for name in names]
    true = drawn.study.mag.marks[np.ix_(at, at)]
    for x, y in np.argwhere(marks > CIRCLE).tolist():
        kind = "arrowhead" if marks[x, y] == ARROW else "tail"
        yield kind, GRADES[levels[x, y] - 1], bool(true[x, y] == marks[x, y]), False
    order = list(drawn.table)
    causes = drawn.causes()[np.ix_(*[[order.index(name) for name in names]] * 2)]
    claims = Claims.of(found, Prepared(found.pag))
    for y in range(len(names)):
        for x, claim in enumerate(claims.on(y)):
            if x != y and claim.grade is not None:
                claimed = claim.status == "definite"
                bare = not claimed and claim.holds and claims.rejected(x, y) is not None
                yield ("causes" if claimed else "does not cause"), claim.grade, bool(causes[x, y]) == claimed, bare


def measured(family: str, number: int, seed: int, method: str) -> list[dict[str, object]]:
    """Return what one table gave, counted by kind and grade."""
    drawn = draw(family, number, seed)
    learner = Auto() if method == "auto" else METHODS[method]()
    try:
        found = learner.fit(drawn.data()).result_
    except LMarvelError as error:
        return [_row(family, number, drawn.rows, "refused", str(error)[:60], 1, 0, 0)]
    claims, true, rejected = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for kind, grade, is_true, is_rejected in parts(drawn, found):
        claims[kind, grade] += 1
        true[kind, grade] += is_true
        rejected[kind, grade] += is_rejected
    rows = [_row(family, number, drawn.rows, *key, claims[key], true[key], rejected[key]) for key in claims]
    return rows or [_row(family, number, drawn.rows, "nothing", "", 0, 0, 0)]


def _row(*values: object) -> dict[str, object]:
    return dict(zip(COLUMNS, values, strict=True))


def run(method: str, seed: int, tables: int, families: list[str], minutes: float) -> None:
    """Draw the tables that are not kept yet, learn from each, and keep what it gave."""
    path, begun = HERE / f"grades-{method}-{seed}.csv", time.monotonic()
    done = {(row["family"], int(row["number"])) for row in kept(path)}
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for number in range(tables):
            for family in families:
                if (family, number) in done:
                    continue
                if time.monotonic() - begun > 60 * minutes:
                    return
                writer.writerows(measured(family, number, seed, method))
                file.flush()


def kept(path: Path) -> list[dict[str, str]]:
    """Return what was kept."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def summed(method: str, rows: list[dict[str, str]]) -> list[dict[str, object]]:
    """Return the sums over the tables of a family, by kind and grade; and how many tables there were."""
    sums: dict[tuple[str, str, str], Counter[str]] = {}
    for row in rows:
        grade = "" if row["kind"] in ("refused", "nothing") else row["grade"]
        sums.setdefault((row["family"], row["kind"], grade), Counter()).update(
            {name: int(row[name]) for name in ("claims", "true", "rejected")}
        )
    for family in {row["family"] for row in rows}:
        numbers = {row["number"] for row in rows if row["family"] == family}
        sums[family, "tables", ""] = Counter({"claims": len(numbers)})
    return [
        {"method": method, "family": family, "kind": kind, "grade": grade}
        | {name: counts[name] for name in ("claims", "true", "rejected")}
        for (family, kind, grade), counts in sorted(sums.items())
    ]


def page(sums: list[dict[str, str]]) -> Iterator[str]:
    """Iterate over the tables of docs/grades.md: the share of true ones and their number."""
    auto = [row for row in sums if row["method"] == "auto"]
    for title, kinds in (("Marks", KINDS[:2]), ("Causal claims", KINDS[2:])):
        columns = [(kind, grade) for grade in ("firm", "likely", "open") for kind in kinds]
        yield f"**{title}**, method `auto`"
        yield ""
        yield "| family | tables | " + " | ".join(f"{grade}: {kind}" for kind, grade in columns) + " |"
        yield "|---|---|" + "---|" * len(columns)
        for family in (*FAMILIES, "all"):
            here = [row for row in auto if family in (row["family"], "all")]
            tables = sum(int(row["claims"]) for row in here if row["kind"] == "tables")
            if tables:
                yield f"| {family} | {tables} | " + " | ".join(_cell(here, *column) for column in columns) + " |"
        yield ""
    yield "**All families**, each method"
    yield ""
    columns = [(kind, grade) for grade in ("firm", "likely") for kind in KINDS]
    yield "| method | tables | " + " | ".join(f"{grade}: {kind}" for kind, grade in columns) + " | wrong |"
    yield "|---|---|" + "---|" * (len(columns) + 1)
    for method in dict.fromkeys(row["method"] for row in sums):
        here = [row for row in sums if row["method"] == method]
        tables = sum(int(row["claims"]) for row in here if row["kind"] == "tables")
        cells = " | ".join(_cell(here, *column) for column in columns)
        yield f"| `{method}` | {tables} | {cells} | {100 * wrong_share(here):.1f} % |"


def _cell(rows: list[dict[str, str]], kind: str, grade: str) -> str:
    chosen = [row for row in rows if (row["kind"], row["grade"]) == (kind, grade)]
    made, right = (sum(int(row[name]) for row in chosen) for name in ("claims", "true"))
    return f"{right / made:.2f} ({made:,})" if made else ""


def wrong_share(rows: list[dict[str, str]]) -> float:
    """Return the share of wrong ones among all that is firm or likely."""
    claimed = [row for row in rows if row["grade"] in ("firm", "likely") and row["kind"] in KINDS]
    made, right = (sum(int(row[name]) for row in claimed) for name in ("claims", "true"))
    return 1 - right / made if made else 0.0


def record(seed: int) -> None:
    """Write the sums of all that is kept, and put the tables into the page of the manual.

    README takes its figures from the same sums: ``scoreboard/run.py --figures`` puts them there. A family that a method
    was not run on with this seed keeps the figures that it has.
    """
    sums: list[dict[str, object]] = []
    for method in ("auto", *METHODS):
        rows = kept(HERE / f"grades-{method}-{seed}.csv")
        again = {row["family"] for row in rows}
        sums += (dict(row) for row in kept(SUMS) if row["method"] == method and row["family"] not in again)
        sums += summed(method, rows)
    sums.sort(key=lambda row: (["auto", *METHODS].index(str(row["method"])), row["family"], row["kind"], row["grade"]))
    with SUMS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(sums[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(sums)
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}\n" + "\n".join(page(kept(SUMS))) + f"\n{END}{after}", "utf-8")
    print("now put the sums into README: python scoreboard/run.py --figures")


def main() -> None:
    """Run the study, or show what is kept of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="auto", choices=["auto", *METHODS])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", type=int, default=24, help="tables per family")
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--record", action="store_true", help="sum up what is kept, and learn nothing")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.record:
        record(given.seed)
        return
    run(given.method, given.seed, given.tables, given.families.split(","), given.minutes)
    rows = summed(given.method, kept(HERE / f"grades-{given.method}-{given.seed}.csv"))
    print("\n".join(page([{name: str(value) for name, value in row.items()} for row in rows])))


if __name__ == "__main__":
    main()
