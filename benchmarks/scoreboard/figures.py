"""The figures of the scoreboard, and the pages that state them.

``figures.json`` is summed up from the store. A page takes its numbers from there: the part between
``<!-- figures: NAME -->`` and ``<!-- end of figures -->`` is a table of :data:`BLOCKS`, and the text between
``<!-- figure: a/b/c -->`` and ``<!-- end -->`` one number, found by its keys. ``python run.py --figures`` writes both,
and a test fails where a page states something else. What grades are worth is summed up from ``grades.csv``, the record
of ``grades.py``.

A run that was late or failed counts with mark F1 0 in ``marks``, and not at all in ``marks where ended``. ``ahead`` is
how much better a method is than ``auto`` on the tables where that method ended.
"""

from __future__ import annotations

import csv
import json
import re
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from child import ENDED, FAILED, LATE, load
from environments import rivals
from store import HERE, Row
from tables import FAMILIES, SEED, TABLES

ROOT = HERE.parents[1]
FIGURES, GRADES = HERE / "figures.json", HERE.parent / "grades.csv"
PAGES = (ROOT / "README.md", ROOT / "docs" / "accuracy.md", ROOT / "docs" / "scoreboard.md", HERE.parent / "README.md")
OURS, HEADLINE = ("auto", "lift", "lmarvel"), "auto"
MOST_BEHIND = 0.03  # the bar
Figures = dict[str, Any]


def titles() -> dict[str, str]:
    """Return what each method is called in tables, by its name in the store."""
    found = {}
    for name, path in rivals().items():
        for method, title in load(path).TITLES.items():
            found[method if name == "ours" else f"{name} {method}"] = title
    return found


def summed(runs: list[Row], facts: list[Row]) -> Figures:
    """Return all figures; runs that were late with less time than others had are left out until they are repeated."""
    limit = max(row["limit_seconds"] for row in runs)
    runs = [row for row in runs if row["outcome"] != LATE or row["limit_seconds"] == limit]
    graphs = {family: of_family([row for row in runs if row["family"] == family]) for family in FAMILIES}
    graphs = {family: methods for family, methods in graphs.items() if methods}
    figures: Figures = {"protocol": protocol(runs), "graphs": graphs, "standing": standing(graphs)}
    figures["speed"] = {method: ratio for method in titles() if (ratio := slower(runs, method)) is not None}
    for row in facts:
        place = figures.setdefault(row["part"], {}).setdefault(row["family"], {}).setdefault(row["method"], {})
        place[row["name"]] = round(row["value"], 3)
    if "order" in figures:
        figures["order all"] = of_order(figures["order"])
    figures["grades"] = of_grades()
    figures["readme"] = list(by_family(figures))
    return figures


def of_grades(path: Path = GRADES) -> Figures:
    """Return how many claims of each kind and grade were made, and how many percent were right, by method."""
    found: Figures = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            kinds, made = found.setdefault(row["method"], {"tables": 0}), int(row["claims"])
            if row["kind"] == "tables":
                kinds["tables"] += made
                continue
            one = kinds.setdefault(row["kind"], {}).setdefault(row["grade"], {"claims": 0, "right": 0})
            one["claims"], one["right"] = one["claims"] + made, one["right"] + int(row["true"])
    for kinds in found.values():
        for grades in kinds.values():
            for one in grades.values() if isinstance(grades, dict) else ():
                one["percent"] = round(100 * one["right"] / one["claims"]) if one["claims"] else None
    return found


def protocol(runs: list[Row]) -> Figures:
    """Return what was run."""
    versions = {row["method"]: row["version"] for row in runs if row["outcome"] == ENDED}
    return {
        "seed": SEED,
        "limit": max(row["limit_seconds"] for row in runs),
        "families": len({row["family"] for row in runs}),
        "methods": len({row["method"] for row in runs}),
        "tables": len({(row["family"], row["number"]) for row in runs}),
        "runs": len(runs),
        "own versions": len({row["version"] for row in runs if row["method"] in OURS}),  # 1 where none is stale
        "versions": dict(sorted(versions.items())),
    }


def of_family(runs: list[Row]) -> Figures:
    """Return the figures of each method on one family."""
    own = {row["number"]: row["marks"] or 0.0 for row in runs if row["method"] == HEADLINE}
    found = {}
    for method in titles():
        mine = [row for row in runs if row["method"] == method]
        if not mine:
            continue
        ended = [row for row in mine if row["outcome"] == ENDED]
        figures: Figures = {
            "tables": len(mine),
            **{outcome: sum(row["outcome"] == outcome for row in mine) for outcome in (ENDED, LATE, FAILED)},
            "skeleton": _mean([row["skeleton"] or 0.0 for row in mine]),
            "seconds": _round(statistics.median(row["seconds"] for row in ended)) if ended else None,
        }
        marked = [row for row in ended if row["marks"] is not None]
        if marked or not ended:
            figures["marks"] = _mean([row["marks"] or 0.0 for row in mine])
            figures["marks where ended"] = _mean([row["marks"] for row in marked])
            figures["ahead"] = _mean([row["marks"] - own[row["number"]] for row in marked if row["number"] in own])
        found[method] = figures
    return found


def standing(graphs: Figures) -> Figures:
    """Return where ``auto`` leads, and by how much it is behind the best rival at worst.

    A rival that ended fewer than half of the tables of a family is not its best rival. A family on which ``auto`` has
    not run in full yet is left out.
    """
    families = {}
    for family, methods in graphs.items():
        fit = {m: f for m, f in methods.items() if m not in OURS and f.get("marks") and 2 * f[ENDED] >= TABLES}
        if methods.get(HEADLINE, {"tables": 0})["tables"] < TABLES or not fit:
            continue
        best = max(fit, key=lambda method: fit[method]["ahead"])
        families[family] = {"best rival": best, "ahead": fit[best]["ahead"], "leads": fit[best]["ahead"] <= 0}
    return {
        "families": families,
        "compared": len(families),
        "led": sum(one["leads"] for one in families.values()),
        "most behind": max((one["ahead"] for one in families.values()), default=None),
        "behind by more than the bar": [f for f, one in families.items() if one["ahead"] > MOST_BEHIND],
    }


def slower(runs: list[Row], method: str) -> float | None:
    """Return the median ratio of CPU seconds to L-MARVEL's (for rcd and FCI), or else to Lift's, where both ended."""
    beside = "lmarvel" if method in ("rcd l-marvel", "causal_learn fci") else "lift"
    times = {(r["family"], r["number"], r["method"]): r["seconds"] for r in runs if r["outcome"] == ENDED}
    ratios = [s / times[f, n, beside] for (f, n, m), s in times.items() if m == method and (f, n, beside) in times]
    return _round(statistics.median(ratios)) if ratios else None


def of_order(order: Figures) -> Figures:
    """Return the arrows between tiers over all tables, by method."""
    totals: Figures = {}
    for methods in order.values():
        for method, counts in methods.items():
            for name, value in counts.items():
                sums = totals.setdefault(method, {})
                sums[name] = sums.get(name, 0) + value
    for sums in totals.values():
        for kind in ("", "supported "):
            made = sums.get(f"{kind}on", 0) + sums.get(f"{kind}back", 0)
            if f"{kind}on" in sums:
                sums[f"{kind}share back"] = round(100 * sums[f"{kind}back"] / made) if made else None
    return totals


def _mean(values: list[float]) -> float | None:
    return round(statistics.mean(values), 3) if values else None


def _round(value: float) -> float:
    return float(f"{value:.3g}")


# --- tables of pages --------------------------------------------------------------------------------------


def by_family(figures: Figures) -> Iterator[str]:
    """Iterate over the table for README: auto, Lift, and the best rival of each family."""
    names = titles()
    yield "| family | auto | best rival | its mark F1 | better than auto by |"
    yield "|---|---|---|---|---|"
    for family, one in figures["standing"]["families"].items():
        methods = figures["graphs"][family]
        rival = methods[one["best rival"]]
        ended = "" if rival[ENDED] == TABLES else f" ({rival[ENDED]} of {TABLES} tables)"
        cells = (
            f"{methods[HEADLINE]['marks']:.2f}",
            names[one["best rival"]],
            f"{rival['marks where ended']:.2f}{ended}",
            f"{one['ahead']:+.2f}",
        )
        yield f"| {family} | {' | '.join(cells)} |"


SHORT = {"causal-learn": "cl", "tetrad-port": "tp"}  # what a program is called in the head of a table


def by_method(figures: Figures, cell: Callable[[Figures], str], programs: tuple[str, ...]) -> Iterator[str]:
    """Iterate over a table of families by methods of some programs; one without a figure is left out."""
    graphs = figures["graphs"]
    names = {m: title for m, title in titles().items() if (m if m in OURS else m.partition(" ")[0]) in programs}
    cells = {m: [cell(methods[m]) if m in methods else "" for methods in graphs.values()] for m in names}
    names = {m: title for m, title in names.items() if any(cells[m])}
    yield "| family | " + " | ".join(shortened(title) for title in names.values()) + " |"
    yield "|---|" + "---|" * len(names)
    for row, family in enumerate(graphs):
        yield f"| {family} | " + " | ".join(cells[m][row] for m in names) + " |"


def shortened(title: str) -> str:
    """Return the title of a method for the head of a narrow column.

    >>> shortened("causal-learn BOSS as a PAG (LV-Dumb)"), shortened("**auto**")
    ('cl BOSS', '**auto**')
    """
    for program, short in SHORT.items():
        title = title.replace(program, short)
    return title.partition(" as a PAG")[0].partition(" (")[0]


def _f1(name: str) -> Callable[[Figures], str]:
    """Return what writes one figure: runs that did not end count 0, and the table says how many did not."""

    def cell(one: Figures) -> str:
        if one.get(name) is None:
            return ""
        missing = one["tables"] - one[ENDED]
        few = f" of {one['tables']}" if one["tables"] < TABLES else ""
        note = f" ({one[ENDED]}{few or f' of {TABLES}'})" if missing or few else ""
        return f"{one[name]:.2f}{note}"

    return cell


def _seconds(one: Figures) -> str:
    return "" if one.get("seconds") is None else f"{one['seconds']:.2g}"


def order_table(figures: Figures) -> Iterator[str]:
    """Iterate over the arrows between tiers of every method, over all tables with a known order."""
    yield "| method | arrows between tiers | back in time | supported arrows | back in time |"
    yield "|---|---|---|---|---|"
    for method, title in titles().items():
        one = figures.get("order all", {}).get(method)
        if one and "on" in one:
            cells = [f"{one['on'] + one['back']:.0f}", _share(one, "")]
            supported = "supported on" in one
            cells += (
                [f"{one['supported on'] + one['supported back']:.0f}", _share(one, "supported ")]
                if supported
                else ["", ""]
            )
            yield f"| {title} | {' | '.join(cells)} |"


def _share(one: Figures, kind: str) -> str:
    share = one[f"{kind}share back"]
    return "-" if share is None else f"{one[f'{kind}back']:.0f} ({share} %)"


def sachs_table(figures: Figures) -> Iterator[str]:
    """Iterate over the edges and arrows among the proteins."""
    yield "| table | method | edges | of them agreed | arrows | of them agreed | of them reversed |"
    yield "|---|---|---|---|---|---|---|"
    names = titles()
    for table, methods in figures.get("sachs", {}).items():
        for method, one in methods.items():
            title = names.get(method) or f"{names[method.removesuffix(' supported')]}, supported"
            names_of = ("edges", "right edges", "arrows", "right arrows", "reversed arrows")
            cells = ["not ended", *[""] * 4] if "not ended" in one else [f"{one[name]:.0f}" for name in names_of]
            yield f"| {table} | {title} | " + " | ".join(cells) + " |"


def effects_table(figures: Figures) -> Iterator[str]:
    """Iterate over the effects that are known from elsewhere."""
    yield "| table | published | auto, order stated |"
    yield "|---|---|---|"
    for table, methods in figures.get("effects", {}).items():
        one = methods[HEADLINE]
        cells = f"{one['published']:g} ({one['published low']:g} to {one['published high']:g})"
        told = "not identified" if one.get("path") else "no path in the learned graph"
        if one["identified"]:
            told = f"{one['estimate']:.4g} ({one['low']:.4g} to {one['high']:.4g})"
        yield f"| {table} | {cells} | {told} |"


BLOCKS: dict[str, Callable[[Figures], Iterator[str]]] = {
    "scoreboard": by_family,
    "scoreboard marks": lambda figures: by_method(figures, _f1("marks"), (*OURS, "causal_learn", "pgmpy")),
    "scoreboard marks of ports": lambda figures: by_method(figures, _f1("marks"), ("auto", "tetrad_port")),
    "scoreboard skeletons": lambda figures: by_method(figures, _f1("skeleton"), (*OURS, "causal_learn", "pgmpy")),
    "scoreboard skeletons of ports": lambda figures: by_method(
        figures, _f1("skeleton"), ("auto", "tetrad_port", "rcd")
    ),
    "scoreboard seconds": lambda figures: by_method(figures, _seconds, (*OURS, "causal_learn", "pgmpy")),
    "scoreboard seconds of ports": lambda figures: by_method(figures, _seconds, ("auto", "tetrad_port", "rcd")),
    "scoreboard order": order_table,
    "scoreboard sachs": sachs_table,
    "scoreboard effects": effects_table,
}


# --- pages ------------------------------------------------------------------------------------------------

_BLOCK = re.compile(r"(<!-- figures: (scoreboard[a-z ]*?) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
_ONE = re.compile(r"(<!-- figure: ([^>]*?) -->).*?(<!-- end -->)", re.DOTALL)


def filled(text: str, figures: Figures) -> str:
    """Return the text of a page with the figures that were measured."""
    text = _BLOCK.sub(lambda m: m[1] + "\n".join(BLOCKS[m[2]](figures)) + "\n" + m[3], text)
    return _ONE.sub(lambda m: m[1] + _number(figures, m[2]) + m[3], text)


def _number(figures: Figures, path: str) -> str:
    """Return one figure as text, found by its keys."""
    value: Any = figures
    for key in path.split("/"):
        value = value.get(key)
        if value is None:
            return "not measured"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def write(figures: Figures) -> None:
    """Write the figures, and put them into the pages."""
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for page in PAGES:
        page.write_text(filled(page.read_text("utf-8"), figures), "utf-8")


def recorded(path: Path = FIGURES) -> Figures:
    """Return the figures as they were written."""
    read: Figures = json.loads(path.read_text("utf-8"))
    return read
