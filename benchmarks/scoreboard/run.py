"""The scoreboard: named rivals beside this package, on the same tables, each in an environment of its own.

    make scoreboard                                  # what is missing, then figures.json and the pages
    python run.py --rivals tetrad_port --families alarm
    python run.py --parts order,sachs --real folder  # parts by name
    python run.py --rivals ours --again auto         # some methods anew, whatever is kept
    python run.py --figures                          # only sum up what is kept

A run that was stopped goes on where it was. Results of this package carry a digest of its code, and are measured anew
when that changes; results of rivals carry their versions. A rival that fails, or needs more CPU seconds than the limit,
counts as such. One that was late on a table is not run on another one of the same network or density with at least as
many rows and columns, and counts as late there. A new rival is one file in ``rivals``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import figures
import real
from child import ENDED, FAILED, LATE, load
from environments import HERE, make, rivals
from store import Row, Store, own_version
from tables import FAMILIES, TABLES, Table, draw, variant

from lmarvel.errors import LMarvelError
from lmarvel.experiments.peers import pag_of_cpdag
from lmarvel.graph.kinds import DAG, PAG
from lmarvel.graph.metrics import compare_graphs
from lmarvel.graph.mixed import MixedGraph

LIMIT = 60.0  # CPU seconds
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
Answers = dict[str, dict[str, Any]]


class Rival:
    """The file of a rival, its interpreter, and what it calls itself."""

    def __init__(self, name: str, path: Path, only: set[str] | None = None) -> None:
        self.name, self.path, self.only = name, path, only
        self.module: ModuleType = load(path)
        self.python = make(self.module)
        self.process: subprocess.Popen[str] | None = None

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(m for m in self.module.METHODS if self.only is None or self.key(m) in self.only)

    @property
    def version(self) -> str:
        return ", ".join(f"{name} {version}" for name, version in self.module.PACKAGES.items())

    def key(self, method: str) -> str:
        """Return the name of a method in the store."""
        return method if self.name == "ours" else f"{self.name} {method}"

    def start(self) -> subprocess.Popen[str]:
        """Return the process that answers, with the rival imported."""
        if self.process is None or self.process.poll() is not None:
            environment = os.environ | dict.fromkeys(THREADS, "1")
            if self.python != sys.executable:
                environment.pop("PYTHONPATH", None)
            self.process = subprocess.Popen(
                [self.python, str(HERE / "child.py"), str(self.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
            )
        return self.process

    def ask(self, methods: list[str], values: np.ndarray, kinds: tuple[str, ...], limit: float) -> Answers:
        """Run methods on a table; return the answer of each, or how it ended."""
        process = self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        with tempfile.TemporaryDirectory() as place:
            table = Path(place) / "table.npz"
            np.savez(table, values=values, kinds=np.array(kinds))
            asked = {"methods": methods, "table": str(table), "answers": place, "limit": limit}
            with contextlib.suppress(BrokenPipeError):  # no answer will be there
                print(json.dumps(asked), file=process.stdin, flush=True)
            if process.stdout.readline() != "done\n":
                process.wait()
            answers = {}
            for method in methods:
                answer = Path(place) / f"{method}.json"
                missing = {"outcome": FAILED, "why": f"its process ended: {process.poll()}", "version": self.name}
                answers[method] = json.loads(answer.read_text()) if answer.exists() else missing
        return answers

    def stop(self) -> None:
        """End the process that answers."""
        if self.process is not None:
            self.process.communicate()
            self.process = None

    def pag(self, method: str, names: tuple[str, ...], marks: list[list[int]]) -> PAG:
        """Return an answer as a PAG."""
        matrix = np.array(marks, dtype=np.int8).reshape(len(names), len(names))
        return pag_of_cpdag(MixedGraph(names, matrix)) if method in self.module.DAGS else PAG(names, matrix)


def scored(rival: Rival, method: str, answer: dict[str, Any], table: Table) -> Row:
    """Return the figures of an answer, held against the true PAG."""
    row: Row = {name: answer.get(name) for name in ("outcome", "seconds", "version", "why")}
    if answer["outcome"] != ENDED:
        return row
    try:
        scores = compare_graphs(rival.pag(method, table.names, answer["marks"]), table.study.pag)
    except ValueError as wrong:
        return row | {"outcome": FAILED, "why": str(wrong)[:200]}
    marks = None if method in getattr(rival.module, "SKELETONS", ()) else round(scores.marks.f1, 5)
    return row | {"marks": marks, "skeleton": round(scores.skeleton.f1, 5), "seconds": round(row["seconds"], 5)}


def hopeless(kept: Iterable[Row], method: str, family: str, number: int, shape: tuple[int, ...]) -> bool:
    """Whether a method was late on a table that is no larger, of the same network or density."""
    return any(
        row["outcome"] == LATE
        and (row["method"], row["family"]) == (method, family)
        and variant(family, row["number"]) == variant(family, number)
        and row["rows"] <= shape[0]
        and row["variables"] <= shape[1]
        for row in kept
    )


def fill(
    store: Store, chosen: list[Rival], families: list[str], tables: int, limit: float, again: Iterable[str] = ()
) -> None:
    """Run what is not kept yet, is stale or is asked for again, table by table, smaller tables of a family first."""
    own = own_version()
    kept = {(row["family"], row["number"], row["method"]): row for row in store.rows("graphs")}
    old = {key for key, row in kept.items() if row["version"].startswith("lmarvel") and row["version"] != own}
    old |= {key for key in kept if key[2] in set(again)}
    old |= {key for key, row in kept.items() if row["outcome"] == LATE and row["limit_seconds"] < limit}
    done = {key: row for key, row in kept.items() if key not in old}
    for family in families:
        keys = {rival.key(method) for rival in chosen for method in rival.methods}
        wanted = [n for n in range(tables) if any((family, n, key) not in done for key in keys)]
        try:
            drawn = {number: draw(family, number) for number in wanted}
        except (ImportError, LMarvelError) as missing:
            print(f"{family} is left out: {missing}", file=sys.stderr)
            continue
        for number in sorted(wanted, key=lambda n: drawn[n].values.size):
            table = drawn[number]
            rows, variables = table.values.shape
            for rival in chosen:
                todo = [m for m in rival.methods if (family, number, rival.key(m)) not in done]
                late = [m for m in todo if hopeless(done.values(), rival.key(m), family, number, table.values.shape)]
                runs = [method for method in todo if method not in late]
                answers = rival.ask(runs, table.values, table.kinds, limit) if runs else {}
                skipped = {"outcome": LATE, "why": "late on a table no larger: not run", "version": rival.version}
                for method in todo:
                    row = scored(rival, method, answers.get(method, skipped), table)
                    if rival.name == "ours":
                        row["version"] = own
                    key = {"part": "graphs", "family": family, "number": number, "method": rival.key(method)}
                    row |= key | {"variables": variables, "rows": rows, "limit_seconds": limit}
                    store.keep(row)
                    done[family, number, rival.key(method)] = row
                    told = row.get("why") or f"{row.get('marks')} {row.get('seconds')}"
                    print(time.strftime("%H:%M:%S"), *key.values(), row["outcome"], told, file=sys.stderr, flush=True)


def order(store: Store, chosen: list[Rival], folder: Path, limit: float) -> None:
    """Learn from tables with a known order in time, which is withheld."""
    for table in real.tables(folder):
        for rival, method, version in _missing(store, "order", table.name, chosen):
            if rival.name == "ours":
                found = real.order(table, method, limit)
            else:
                values, kinds = table.coded()
                pag = _learned(rival, method, values, kinds, tuple(table.frame.columns), limit)
                found = {"not ended": 1} if pag is None else real.between(real.arrows(pag), table.tiers)
            store.state("order", table.name, rival.key(method), version, found)


def sachs(store: Store, chosen: list[Rival], folder: Path, limit: float) -> None:
    """Learn from the table of proteins, without and with the columns that say what was done."""
    for name, (table, agreed) in real.proteins(folder).items():
        for rival, method, version in _missing(store, "sachs", name, chosen):
            if rival.name == "ours":
                graphs = real.within(limit, table, method)
                shown = (("", graphs[0]), (" supported", graphs[1])) if graphs is not None else (("", None),)
                for suffix, pag in shown:
                    store.state("sachs", name, method + suffix, version, agreement_of(pag, agreed))
            else:
                values, kinds = table.coded()
                pag = _learned(rival, method, values, kinds, tuple(table.frame.columns), limit)
                store.state("sachs", name, rival.key(method), version, agreement_of(pag, agreed))


def agreement_of(pag: PAG | None, agreed: DAG) -> dict[str, int]:
    """Return how a graph agrees with the network, or that there is none."""
    return {"not ended": 1} if pag is None else real.agreement(pag, agreed)


def effects(store: Store, chosen: list[Rival]) -> None:
    """Ask for two effects that are known from elsewhere."""
    for name in real.BACKGROUND:
        if any(method == "auto" for _, method, _ in _missing(store, "effects", name, chosen)):
            try:
                store.state("effects", name, "auto", own_version(), real.effect(name))
            except LMarvelError as refused:
                print(f"{name} is left out: {refused}", file=sys.stderr)


def _missing(store: Store, part: str, family: str, chosen: list[Rival]) -> Iterator[tuple[Rival, str, str]]:
    """Iterate over the methods whose facts are missing or stale, with the version to keep."""
    kept = {(row["method"], row["version"]) for row in store.facts() if (row["part"], row["family"]) == (part, family)}
    for rival in chosen:
        for method in rival.methods:
            version = own_version() if rival.name == "ours" else rival.version
            if (rival.key(method), version) not in kept and method not in getattr(rival.module, "SKELETONS", ()):
                yield rival, method, version


def _learned(
    rival: Rival, method: str, values: np.ndarray, kinds: tuple[str, ...], names: tuple[str, ...], limit: float
) -> PAG | None:
    """Return the graph of a rival; None where it was late or failed."""
    answer = rival.ask([method], values, kinds, limit)[method]
    with contextlib.suppress(ValueError):  # marks that are not a graph's
        return rival.pag(method, names, answer["marks"]) if answer["outcome"] == ENDED else None
    return None


PARTS = ("graphs", "order", "sachs", "effects")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--rivals", default=",".join(rivals()))
    parser.add_argument("--methods", help="only these, as the store names them: auto,tetrad_port boss")
    parser.add_argument("--again", default="", help="methods to run anew on all tables, as the store names them")
    parser.add_argument("--families", default=";".join(FAMILIES), help="separated by semicolons")
    parser.add_argument("--tables", type=int, default=TABLES, help="tables per family")
    parser.add_argument("--limit", type=float, default=LIMIT, help="CPU seconds per table and method")
    parser.add_argument("--real", type=Path, help="folder of tables with a known order in time, and sachs")
    parser.add_argument("--figures", action="store_true", help="only sum up what is kept")
    parser.add_argument("--learn-only", action="store_true", help="leave figures.json and the pages as they are")
    told = parser.parse_args()
    parts, names, families = told.parts.split(","), told.rivals.split(","), told.families.split(";")
    for given, known in ((parts, PARTS), (names, rivals()), (families, FAMILIES)):
        if unknown := set(given) - set(known):
            parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    with Store() as store:
        if not told.figures:
            learn(store, parts, names, families, told)
        if not told.learn_only:
            store.write()
            figures.write(figures.summed(store.rows("graphs"), store.facts()))


def learn(store: Store, parts: list[str], names: list[str], families: list[str], told: argparse.Namespace) -> None:
    """Run the parts that were asked for, as far as they are not kept."""
    chosen = []
    for name in names:
        try:
            chosen.append(Rival(name, rivals()[name], set(told.methods.split(",")) if told.methods else None))
        except OSError as wrong:
            print(f"{name} is left out: {wrong}", file=sys.stderr)
    if "graphs" in parts:
        fill(store, chosen, families, told.tables, told.limit, told.again.split(","))
    for part, run in (("order", order), ("sachs", sachs)):
        if part in parts and told.real is None:
            print(f"{part} is left out: it needs a folder of real tables, --real FOLDER", file=sys.stderr)
        elif part in parts:
            run(store, chosen, told.real, told.limit)
    if "effects" in parts and find_spec("causaldata") is None:
        print("effects is left out: it needs causaldata, pip install causaldata", file=sys.stderr)
    elif "effects" in parts:
        effects(store, chosen)
    for rival in chosen:
        rival.stop()


if __name__ == "__main__":
    main()
