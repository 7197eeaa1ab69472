"""What the child processes do, task by task. Each takes plain data and returns plain data; files are written beside."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lmarvel.app.settings import LearnSettings, TableSettings
from lmarvel.app.tables import described
from lmarvel.data import Dataset
from lmarvel.effects import effect, settle
from lmarvel.effects.numbers.again import over_graphs
from lmarvel.errors import DataError, KnowledgeError, LMarvelError, SettingsError
from lmarvel.files import write_text
from lmarvel.interchange.registry import write_graph
from lmarvel.knowledge import Knowledge, Known
from lmarvel.knowledge.contradictions import contradictory, smallest
from lmarvel.knowledge.statements import PAIRS, SINGLE
from lmarvel.knowledge.text import parse
from lmarvel.knowledge.vocabulary import Statement
from lmarvel.report import page_of, write_report
from lmarvel.report.effects import answer_of
from lmarvel.report.page import as_json
from lmarvel.result.discovery import Discovery
from lmarvel.result.wording import method_name
from lmarvel.text import sentence

Report = Callable[[str, int, int], None]
SETTLING = 5.0  # seconds to look for statements that settle a question
EXPORTS = {
    "report": "report.html",
    "drawing": "graph.svg",
    "picture": "graph.png",
    "edges": "graph.txt",
    "dot": "graph.dot",
    "dagitty": "graph.dagitty",
}


def describe(table: str, said: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Look through a table."""
    return described(Path(table), TableSettings.of(said))


# --- what is known ----------------------------------------------------------------------------------------------


def check(text: str, edit: Mapping[str, Any] | None, names: Sequence[str], report: Report) -> dict[str, Any]:
    """Return a text of statements after an edit, its statements one by one, and what is wrong with them.

    Of statements that contradict each other, a smallest contradictory set is named.
    """
    found: dict[str, Any] = {"text": text, "statements": [], "error": None, "conflict": []}
    try:
        statements = parse(text)
        if edit is not None:
            statements = _edited(statements, edit)
            found["text"] = "".join(f"{one}\n" for one in statements)
        found["statements"] = [{"text": str(s), "kind": s.kind, "about": s.about} for s in statements]
        if names and contradictory(Known.of(statements, names)):
            found["conflict"] = [str(one) for one in smallest(statements, names)]
            found["error"] = "These statements contradict each other: change or remove one of them."
        Knowledge.of(statements)
    except LMarvelError as error:
        found["error"] = found["error"] or sentence(str(error))
    return found


def _edited(statements: list[Statement], edit: Mapping[str, Any]) -> list[Statement]:
    """Return statements with one added or removed, or with other tiers."""
    if "tiers" in edit:
        tiers = tuple(tuple(map(_name, tier)) for tier in _listed(edit["tiers"]) if _listed(tier))
        others = [one for one in statements if one.kind != "tiers"]
        return [Statement("tiers", tiers), *others] if len(tiers) > 1 else others
    if "remove" in edit:
        return [one for one in statements if str(one) != edit["remove"]]
    kind, about = edit.get("kind"), tuple(map(_name, _listed(edit.get("about", []))))
    wanted = 2 if kind in PAIRS else 1 if kind in SINGLE else 0 if kind in ("selection", "latents") else None
    if wanted is None or len(about) != wanted:
        raise KnowledgeError("a statement needs a kind, and the variables that it is about")
    return list(dict.fromkeys([*statements, Statement(str(kind), about)]))


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise KnowledgeError("a list of names is needed")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise KnowledgeError("a name of a variable is needed")
    return value


# --- learning ---------------------------------------------------------------------------------------------------


def learn(
    table: str, name: str, said: Mapping[str, Any], how: Mapping[str, Any], statements: str, folder: str, report: Report
) -> dict[str, Any]:
    """Learn from a table, and write the files of the run into a folder."""
    begun = time.monotonic()
    settings = LearnSettings.of(how)
    knowledge = Knowledge.parse(statements)
    model = settings.estimator(knowledge if knowledge else None)
    report("Reading the table", 0, 1)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        data = Dataset.of(Path(table), **TableSettings.of(said).options)
        found = model.fit(data, progress=report, **settings.resampling).result_
        report("Weighing the evidence", 0, 1)
        verdict = list(found.verdict.lines)
        report("Drawing the graph", 0, 1)
        page = page_of(found, name, data, effects=False)
    page["warnings"] += list(dict.fromkeys(sentence(str(one.message)) for one in warned))
    page["change"] = [_what_would_change(edge, page["penalty"]) for edge in page["edges"]]
    place = Path(folder)
    found.save(place / "result.json")
    write_text(place / "page.json", as_json(page))
    about = {
        "verdict": verdict,
        "method": method_name(found.settings),
        "seconds": round(time.monotonic() - begun, 2),
        "made": time.strftime("%Y-%m-%d %H:%M:%S"),
        "variables": list(found.pag.names),
        "rows": None if found.data is None else found.data.get("rows"),
        "edges": [[e["a"], e["b"], e["at_a"], e["at_b"], e["grade_a"], e["grade_b"]] for e in page["edges"]],
        "stopped": found.budget_ended,
        "statements": [str(one) for one in knowledge.statements],
    }
    write_text(place / "run.json", json.dumps(about, ensure_ascii=False))
    return {"seconds": about["seconds"]}


def _what_would_change(edge: Mapping[str, Any], penalty: float | None) -> list[str]:
    """Say what would take an edge away, or turn its marks."""
    lines = []
    if edge["loss"] is not None and penalty is not None:
        worse = f"worse by {edge['loss']:.1f} (an edge costs {penalty:.1f})"
        lines.append(f"The best graph without this edge that the search met has a score that is {worse}.")
    if edge["p"] is not None:
        lines.append(f"At a significance level below its largest p-value ({edge['p']}), it would have been removed.")
    if isinstance(edge.get("share"), float) and edge["share"] < 1:
        lines.append(
            f"It is absent from {100 * (1 - edge['share']):.0f} % of the resamples, so other rows may lack it."
        )
    if {"open", "unchecked", None} & {edge["grade_a"], edge["grade_b"]}:
        lines.append("More rows, or a statement about its direction, could settle the marks that are not established.")
    elif "likely" in (edge["grade_a"], edge["grade_b"]):
        lines.append("A likely mark can change with other rows: a bootstrap shows how often.")
    if "stated" in (edge["grade_a"], edge["grade_b"]):
        lines.append("A mark that you stated changes when the statement does.")
    if edge.get("follows_a") or edge.get("follows_b"):
        lines.append("A mark that follows from your statements changes when they do.")
    return lines


# --- questions --------------------------------------------------------------------------------------------------


def ask(result: str, table: str, x: str, y: str, report: Report) -> dict[str, Any]:
    """Answer whether one variable affects another, by how much, how fragile that is, and what would settle it."""
    found, trouble = Discovery.load(Path(result)), ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            told = effect(found, x, y, Path(table))
        except DataError as error:
            told, trouble = effect(found, x, y), f"It is not estimated: {sentence(str(error))}"
        told = over_graphs(found, told, Path(table), progress=partial(report, "Learning again from resamples"))
        answer = answer_of(found, told)
        answer["notes"] = [*answer.get("notes", []), *filter(None, [trouble])]
        if told.status == "not identified":
            report("Looking for what would settle it", 0, 1)
            ways = settle(found, x, y, seconds=SETTLING)
            answer["settle"] = [{"text": str(way), "statements": list(way.statements)} for way in ways.ways]
            answer["searched"] = ways.complete
    return answer


# --- files ------------------------------------------------------------------------------------------------------


def export(result: str, table: str, kind: str, title: str, folder: str, report: Report) -> str:
    """Write a result as a file to take away; return its name."""
    if kind not in EXPORTS:
        raise SettingsError(f"{kind!r} is not one of {', '.join(EXPORTS)}")
    found, out = Discovery.load(Path(result)), Path(folder) / EXPORTS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "report":
            write_report(found, out, title, Path(table))
        elif kind in ("drawing", "picture"):
            found.draw(out, title=title)
        else:
            write_graph(found.shown("supported"), out)
    return out.name


TASKS: Mapping[str, Callable[..., Any]] = {
    "describe": describe,
    "check": check,
    "learn": learn,
    "ask": ask,
    "export": export,
}
