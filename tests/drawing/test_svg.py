"""The SVG shows each mark at the right end, and nothing in a name breaks it."""

from __future__ import annotations

import math
import random
import re
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from lmarvel import DAG, PAG, mag_to_pag
from lmarvel.drawing import MOST_EDGES, draw, to_svg
from lmarvel.drawing.labels import ems, one_line, printable, shortened
from lmarvel.errors import LMarvelError, ParameterError
from lmarvel.graph.mixed import MixedGraph
from lmarvel.report import build
from tests.generators import random_mag

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a & b",
    "]]>",
    "\x00nul\x1b",
    "lone \ud800",
    "\uffff",
    "line\nbreak",
    "\u202eright to left",
    "日本語の名前",
    "$x_1$ \\frac",
    "'quoted'",
    "x" * 400,
    " ",
]


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", text)]


def boxes(root: ElementTree.Element) -> dict[str, tuple[float, float, float, float]]:
    """Left, top, right and bottom of each node."""
    found = {}
    for group in root.iter(f"{SVG}g"):
        if group.get("class") == "node":
            rect = group.find(f"{SVG}rect")
            assert rect is not None
            x, y, w, h = (float(rect.get(key, "")) for key in ("x", "y", "width", "height"))
            found[group.get("data-name", "")] = (x, y, x + w, y + h)
    return found


def distance(point: tuple[float, float], box: tuple[float, float, float, float]) -> float:
    x, y = point
    return math.hypot(max(box[0] - x, 0, x - box[2]), max(box[1] - y, 0, y - box[3]))


def mark_at(edge: ElementTree.Element, name: str, where: dict[str, tuple[float, float, float, float]]) -> str:
    """Read off the picture what mark stands at a node, by position alone."""
    near = []
    for shape in edge:
        if "mark" not in shape.get("class", ""):
            continue
        if shape.tag == f"{SVG}circle":
            point, sign = (float(shape.get("cx", "")), float(shape.get("cy", ""))), "o"
            assert shape.get("fill") == "#ffffff"
        else:
            tip = numbers(shape.get("d", ""))
            point, sign = (tip[0], tip[1]), ">"
            base = ((tip[2] + tip[4]) / 2, (tip[3] + tip[5]) / 2)
            end = min(where, key=lambda node: distance(point, where[node]))
            assert distance(base, where[end]) > distance(point, where[end])  # it points at the box
        if distance(point, where[name]) < 9:
            near.append(sign)
    assert len(near) <= 1
    return near[0] if near else "-"


@pytest.mark.parametrize(("left", "right"), list(product("<o-", ">o-")))
@pytest.mark.parametrize("layout", ["layered", "spring"])
def test_each_mark_stands_at_its_end(left: str, right: str, layout: str) -> None:
    root = parsed(to_svg(MixedGraph.from_edges(f"A {left}-{right} B"), layout=layout))
    where = boxes(root)
    [edge] = [g for g in root.iter(f"{SVG}g") if g.get("class", "").startswith("edge")]
    assert mark_at(edge, "A", where) == left.replace("<", ">")
    assert mark_at(edge, "B", where) == right


def test_the_marks_of_a_large_pag_are_those_of_its_matrix() -> None:
    pag = mag_to_pag(random_mag(np.random.default_rng(5), 40, latent=6, selection=2))
    root = parsed(to_svg(pag))
    where = boxes(root)
    edges = [g for g in root.iter(f"{SVG}g") if g.get("class", "").startswith("edge")]
    assert len(edges) == pag.n_edges
    for group in edges:
        a, b = group.get("data-a", ""), group.get("data-b", "")
        edge = pag.edge(a, b)
        assert edge is not None
        signs = {1: "o", 2: ">", 3: "-"}
        assert (mark_at(group, a, where), mark_at(group, b, where)) == (signs[edge.at_a], signs[edge.at_b])


def test_families_differ_without_colour() -> None:
    text = to_svg(MixedGraph.from_edges("A --> B", "B <-> C", "C --- D", "D o-o E"))
    looks = {}
    for group in parsed(text).iter(f"{SVG}g"):
        if group.get("class", "").startswith("edge"):
            line = group.find(f"{SVG}path")
            assert line is not None
            double = any(path.get("class") == "between" for path in group.iter(f"{SVG}path"))
            looks[group.get("class")] = (line.get("stroke"), (line.get("stroke-dasharray"), double))
    assert len(looks) == 4
    assert len({colour for colour, _ in looks.values()}) == 4
    assert len({looks[f"edge {family}"][1] for family in ("directed", "bidirected", "undirected")}) == 3


def test_it_is_accessible() -> None:
    root = parsed(to_svg(PAG.from_edges("A o-> B"), title="Two"))
    assert root.get("role") == "img"
    assert root.get("aria-label") == "Two: 2 nodes, 1 edge"
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert titles == ["Two: 2 nodes, 1 edge", "A o-> B", "A", "B"]


def test_hostile_names_stay_text() -> None:
    graph = DAG.from_edges(nodes=HOSTILE)
    for title in (None, *HOSTILE):
        root = parsed(draw(graph, title=title))
        assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {"svg", "title", "rect", "text", "g"}
    names = [g.get("data-name") for g in root.iter(f"{SVG}g")]
    assert names == [printable(name) for name in HOSTILE]


def test_a_long_name_is_shortened_and_kept_as_title() -> None:
    name = "a rather long name of a variable, measured twice, visit 2"
    text = to_svg(DAG.from_edges(nodes=[name]))
    assert f"<title>{name}</title>" in text
    assert f">{name}</text>" not in text
    assert "visit 2</text>" in text
    assert ems(shortened(name)) < 13
    assert one_line("a\n\t b") == "a b"


def test_the_same_graph_gives_the_same_picture() -> None:
    pag = mag_to_pag(random_mag(np.random.default_rng(8), 30, latent=4))
    first = to_svg(pag)
    random.seed(99)
    state = random.getstate()
    assert to_svg(pag) == first
    assert random.getstate() == state


@pytest.mark.parametrize("graph", [DAG.from_edges(), DAG.from_edges(nodes=["A"]), DAG.from_edges(nodes=list("ABCDE"))])
def test_graphs_without_edges_are_drawn(graph: DAG) -> None:
    root = parsed(draw(graph))
    assert len(boxes(root)) == len(graph)
    assert float(root.get("width", "0")) > 0


@pytest.mark.parametrize("ending", ["svg", "png", "pdf", "PNG"])
def test_files_are_written(ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"a.{ending}"
    text = draw(MixedGraph.from_edges("A --> B", "B <-> C", "C --- D", "D o-o E"), target, title="$T$")
    magic = {"svg": b"<svg ", "png": b"\x89PNG\r\n", "pdf": b"%PDF-"}[ending.lower()]
    assert target.read_bytes().startswith(magic)
    assert text.startswith("<svg ")
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_files_are_reproducible_and_survive_hostile_names(tmp_path: Path) -> None:
    graph = DAG.from_edges(nodes=HOSTILE)
    for ending in ("png", "pdf", "svg"):
        target = tmp_path / f"a.{ending}"
        draw(graph, target)
        first = target.read_bytes()
        draw(graph, str(target))
        assert target.read_bytes() == first


@pytest.mark.parametrize("name", ["a.jpg", "a", "a.svg.gz", "no/a.svg"])
def test_a_bad_target_is_refused_before_any_work(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lmarvel.drawing.compose", None)
    with pytest.raises(LMarvelError, match=r"cannot (draw to|write) .*a.*: (the name must end in|there is no)"):
        draw(DAG.from_edges("A --> B"), tmp_path / name)


def test_a_bad_layout_is_refused() -> None:
    for function in (draw, to_svg):
        with pytest.raises(ParameterError, match="layout must be one of auto, layered, spring, not 'circle'"):
            function(DAG.from_edges("A --> B"), layout="circle")


def test_without_matplotlib_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(LMarvelError, match=re.escape("pip install 'lmarvel[plot]'")):
        draw(DAG.from_edges("A --> B"), tmp_path / "a.png")
    assert draw(DAG.from_edges("A --> B"), tmp_path / "a.svg")


# --- too much to be drawn ---------------------------------------------------------------------------------


def test_a_graph_of_too_many_edges_is_not_drawn(tmp_path: Path) -> None:
    n = 143  # 143 * 142 / 2 = 10,153
    marks = np.where(np.eye(n, dtype=bool), 0, 1)
    graph = PAG([f"X{i}" for i in range(n)], marks)
    with pytest.raises(LMarvelError, match="a drawing of 10,153 edges shows nothing: at most 10,000 are drawn"):
        draw(graph, tmp_path / "x.svg")
    with pytest.raises(LMarvelError, match="at most 10,000"):
        to_svg(graph)
    assert list(tmp_path.iterdir()) == []
    assert graph._repr_svg_() is None  # a notebook then shows its numbers
    assert (graph.subgraph(range(3))._repr_svg_() or "").count('class="edge ') == 3


def test_drawings_and_reports_have_one_limit() -> None:
    assert build.MOST_EDGES is MOST_EDGES
