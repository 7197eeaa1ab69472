"""The page of a result: its data, and the whole way from a table to a browser."""

import itertools
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from lmarvel import DAG, M3HC, LMarvel, MSeparation
from lmarvel.budget.clock import Clock
from lmarvel.datasets import CARS
from lmarvel.drawing import scene
from lmarvel.errors import OutputError, ParameterError
from lmarvel.graph.mixed import MixedGraph
from lmarvel.report import page_of, write_report
from lmarvel.result.trace import Adjacent
from lmarvel.result.wording import method_name
from lmarvel.simulate import LinearSEM, hide, load_network

NODES = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</script>", "ünïcode & more"]


def hostile_result():
    rng = np.random.default_rng(0)
    a, b, d = rng.normal(size=(3, 2000))
    c = a + b + rng.normal(size=2000)
    return LMarvel().fit(dict(zip(NODES, (a, b, c, c + d), strict=True))).result_


def ends(edge):
    return (edge["b"], edge["a"]), (edge["a"], edge["b"])


def test_a_page_says_what_the_result_says():
    found = LMarvel().fit(CARS).result_
    page = page_of(found, "Cars")
    assert page["title"] == "Cars"
    assert page["subtitle"] == f"Method: {method_name(found.settings)}"
    assert page["verdict"] == list(found.verdict.lines)
    assert [node["name"] for node in page["nodes"]] == list(found.pag.names)
    assert [edge["text"] for edge in page["edges"]] == [str(edge) for edge in found.pag.edges()]
    assert len(page["legend"]) == 6
    for edge in page["edges"]:
        told = found.explain(edge["a"], edge["b"])
        assert edge["why"] == told.to_dict()["why"]
        assert (edge["grade_a"], edge["grade_b"]) == tuple(found.grade(*end) for end in ends(edge))
        signs = {"o": 1, ">": 2, "-": 3}
        i, j = found.pag.index(edge["a"]), found.pag.index(edge["b"])
        assert (signs[edge["at_a"]], signs[edge["at_b"]]) == (found.pag.marks[j, i], found.pag.marks[i, j])
    assert ["Distinct tests", str(found.stats.n_tests)] in page["statistics"]
    assert ["alpha", 0.01] in page["settings"]
    assert page["data"]["rows"][0][0] == "MilesPerGallon"
    json.dumps(page)


def test_warnings_are_shown():
    hurried = page_of(LMarvel(max_tests=16).fit(CARS).result_)
    assert hurried["warnings"][0].startswith("The search ended early (max_tests=16 is used up): ")
    assert any(edge["signs"] for edge in hurried["edges"])
    study = hide(load_network("insurance"), 3, 2, seed=0)
    model = LinearSEM.random(study.dag, seed=0)
    tried = (LMarvel().fit(model.sample(study, 1100, seed=seed)).result_ for seed in range(20))
    noted = next(found for found in tried if found.why_illegal)
    assert "No MAG has exactly this PAG" in page_of(noted)["warnings"][0]


def test_p_values_are_shown_on_the_right_side_of_the_level():
    found = LMarvel().fit(CARS).result_
    near = Adjacent(0, 3, frozenset({1}), 0.009996, "adjacency")
    trace = [near if isinstance(e, Adjacent) and {e.x, e.y} == {0, 3} else e for e in found.trace]
    page = page_of(replace(found, trace=tuple(trace)))
    shown = {(edge["a"], edge["b"]): edge for edge in page["edges"]}["MilesPerGallon", "Horsepower"]
    assert (shown["strength"], shown["p"]) == (0.009996, "0.009996")
    assert "p = 0.009996, and more than 0.01 would be needed" in json.dumps(shown["why"])


def test_more_edges_than_a_page_can_show_are_left_out(monkeypatch):
    monkeypatch.setattr("lmarvel.report.build.MOST_EDGES", 5)
    page = page_of(LMarvel().fit(CARS).result_)
    assert page["edges"] == []
    assert page["warnings"][-1] == "7 edges are too many to show here: the result file has them."


def test_edges_that_there_is_no_time_to_draw_are_left_out():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 1)) + rng.normal(size=(500, 30))
    found = LMarvel(max_tests=5).fit(rows).result_
    assert found.pag.n_edges > 300
    with Clock(0.0).running():
        page = page_of(found)
    assert page["edges"] == []
    left = f"{found.pag.n_edges} edges could not be drawn in time (max_seconds): the result file has them."
    assert page["warnings"][-1] == left


@pytest.mark.parametrize(("seconds", "avoided"), [(None, 4), (0.0, 0)])
def test_edges_do_not_look_for_a_way_around_boxes_once_the_time_is_up(monkeypatch, seconds, avoided):
    names = [f"V{v}" for v in range(6)]
    graph = MixedGraph.from_edges(*(f"{a} o-o {b}" for a, b in itertools.combinations(names, 2)))
    boxes, route = [], scene.route
    monkeypatch.setattr(
        scene, "route", lambda a, b, others, taken: (boxes.append(len(others)), route(a, b, others, taken))[1]
    )
    with Clock(seconds).running():
        assert len(scene.compose(graph).lines) == graph.n_edges
    assert set(boxes) == {avoided}


def test_other_methods_and_oracles_have_pages_too():
    scored = page_of(M3HC().fit(CARS).result_)
    assert any(name == "BIC" for name, _ in scored["statistics"])
    found = LMarvel(test=MSeparation(DAG.from_edges("A --> B"))).fit().result_
    assert page_of(found)["data"] is None


def test_hostile_names_stay_data(tmp_path):
    path = tmp_path / "report.html"
    write_report(hostile_result(), path, title="<b>bold</b>")
    text = path.read_text()
    assert text.count("<script") == 2  # the data and the code
    assert "alert(1)</script>" not in text
    assert "<img" not in text
    assert "<b>bold" not in text
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", text)


def test_direction_overrides_do_not_reorder_sentences(tmp_path):
    found = LMarvel().fit({"up\u202edown": [1.0, 2, 4, 3, 7, 5], "b": [2.0, 1, 5, 3, 6, 6.5]}).result_
    write_report(found, tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert "\u202e" not in text
    assert not re.search(r"(?<!\\)\\u202e", text)  # sentences have it spelled out
    assert "up\\ufffddown" in text


def test_a_report_is_html_and_is_checked_first(tmp_path):
    found = LMarvel().fit(CARS).result_
    with pytest.raises(OutputError, match=r"should end in \.html"):
        write_report(found, tmp_path / "report.txt")
    with pytest.raises(OutputError, match="there is no directory"):
        write_report(found, tmp_path / "no" / "report.html")


def test_frequencies_and_the_check_are_on_the_page() -> None:
    found = LMarvel().fit(CARS, bootstrap=20, seed=1).result_
    page = page_of(found)
    assert page["resamples"] == 20
    edge = page["edges"][0]
    assert edge["share"] == found.stability.edge(edge["a"], edge["b"])
    assert edge["firmness"][0].endswith(" % of 20 resamples have an edge here.")
    assert ["Independences that the graph implies", "0 of 8 rejected at 0.01; 0.08 expected by chance"] in page[
        "statistics"
    ]
    assert ["In doubt, with their number allowed for", "0 independences"] in page["statistics"]
    unasked = page_of(LMarvel().fit(CARS).result_)
    assert (unasked["resamples"], unasked["edges"][0]["grade_a"]) == (40, "open")


def test_words_that_were_replaced_are_gone():
    page = page_of(LMarvel().fit(CARS, bootstrap=20, seed=1).result_, data=CARS)
    said = json.dumps([page["statistics"], page["grades"], page["widths"], page["captions"], page["signs"]])
    said += json.dumps([[edge["meaning"], edge["firmness"], edge["resamples"]] for edge in page["edges"]])
    for word in ("draw", "price", "recurs", "separation"):
        assert word not in said.replace("search for separating sets", "").lower()


def test_categories_have_no_mean():
    found = LMarvel().fit(CARS).result_
    columns = [dict(column) for column in found.data["columns"]]
    columns[0] |= {"kind": "nominal", "mean": None, "sd": None}
    del columns[1]["mean"], columns[1]["sd"]
    data = page_of(replace(found, data={**found.data, "columns": columns}))["data"]
    assert data["columns"] == ["variable", "kind", "mean", "standard deviation"]
    assert [row[2:] for row in data["rows"][:2]] == [[None, None]] * 2
    none = [{"name": column["name"]} for column in columns]
    assert page_of(replace(found, data={**found.data, "columns": none}))["data"]["columns"] == ["variable"]


def test_the_marks_to_show_are_checked():
    with pytest.raises(ParameterError, match="marks must be one of all, supported, firm, not 'some'"):
        page_of(LMarvel().fit(CARS).result_, marks="some")
