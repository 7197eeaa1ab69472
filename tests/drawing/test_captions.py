"""Drawings of results show supported marks and say so; of all marks those that are not established are hollow."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lmarvel import PAG
from lmarvel.drawing import draw
from lmarvel.drawing.labels import ems, wrapped
from lmarvel.drawing.scene import CAPTION_SIZE, MARGIN, compose
from lmarvel.errors import ParameterError
from lmarvel.graph.mixed import MixedGraph
from lmarvel.result.display import CAPTIONS
from tests.cli.running import run
from tests.drawing.test_svg import SVG, boxes, distance, numbers
from tests.report.graded import graded, likely


def edges(text: str) -> dict[str, dict[str, str]]:
    """For each edge, as its picture has it, the look of the mark at each end."""
    found: dict[str, dict[str, str]] = {}
    for group in ElementTree.fromstring(text).iter(f"{SVG}g"):
        if (group.get("class") or "").startswith("edge"):
            marks = [shape.get("class", "").split() for shape in group if "mark" in shape.get("class", "")]
            looks = {where: " ".join(look) for _, where, *look in marks}
            found[f"{group.get('data-a')} {group.get('data-kind')} {group.get('data-b')}"] = looks
    return found


def captions(text: str) -> str:
    return " ".join(
        row.text or "" for row in ElementTree.fromstring(text).iter(f"{SVG}text") if row.get("class") == "caption"
    )


def test_a_result_draws_what_is_supported() -> None:
    text = graded().draw()
    assert list(edges(text)) == ["A o-> C", "B o-> C", "C --> D", "C o-> E", "E o-o F"]
    assert "hollow" not in text
    assert captions(text) == CAPTIONS["supported"]
    assert edges(text) == edges(draw(graded().shown()))
    assert CAPTIONS["supported"] in (ElementTree.fromstring(text).get("aria-label") or "")


def test_of_all_marks_those_not_established_are_hollow() -> None:
    text = graded().draw(marks="all")
    looks = edges(text)
    assert looks["C --> D"] == {"at-b": "arrow"}
    assert looks["C --> E"] == {"at-a": "tail hollow", "at-b": "arrow"}
    assert looks["E --> F"] == {"at-a": "tail hollow", "at-b": "arrow hollow"}
    assert captions(text) == CAPTIONS["all"]
    assert "E --&gt; F; 100 % of resamples have the edge; mark at E not established; mark at F not established" in text
    for fill in re.findall(r'hollow" d="[^"]*" fill="([^"]*)" stroke="#1558a8"', text):
        assert fill == "#ffffff"
    assert text.count(' hollow"') == 3


def test_firm_marks_alone() -> None:
    assert list(edges(graded().draw(marks="firm"))) == ["A o-> C", "B o-> C", "C --> D", "C o-> E", "E o-o F"]
    text = likely().draw(marks="firm")
    assert set(edges(text)) == {"A o-o C", "B o-o C", "C o-o D", "C o-o E", "E o-o F"}
    assert captions(text) == CAPTIONS["firm"]
    assert "C --> D" in edges(likely().draw())
    assert ' hollow"' not in likely().draw(marks="all")


def test_other_marks_are_refused() -> None:
    with pytest.raises(ParameterError, match="marks must be one of all, supported, firm, not 'some'"):
        graded().draw(marks="some")


def test_a_graph_has_neither() -> None:
    text = draw(graded().pag)
    assert "hollow" not in text
    assert "caption" not in text


@pytest.mark.parametrize("layout", ["layered", "spring"])
@pytest.mark.parametrize("kind", ["-->", "<->", "---", "o->"])
def test_hollow_marks_stand_outside_the_boxes_and_point_at_them(kind: str, layout: str) -> None:
    graph = MixedGraph.from_edges(f"A {kind} B")
    root = ElementTree.fromstring(draw(graph, layout=layout, hollow=[("A", "B"), ("B", "A")]))
    where = boxes(root)
    shapes = [shape for shape in root.iter(f"{SVG}path") if "hollow" in (shape.get("class") or "")]
    assert len(shapes) == 2 - kind.count("o")
    for shape in shapes:
        flat = numbers(shape.get("d", ""))
        corners = list(zip(flat[::2], flat[1::2], strict=True))
        assert len(corners) == (4 if "tail" in (shape.get("class") or "") else 3)
        box = where["A" if "at-a" in (shape.get("class") or "") else "B"]
        assert min(distance(corner, box) for corner in corners) > 0.7  # half of the outline
        assert distance(corners[0], box) < distance(corners[-1], box)


@pytest.mark.parametrize("caption", CAPTIONS.values())
@pytest.mark.parametrize("graph", ["A o-> B", "a_rather_long_name_of_a_variable --> another_long_name_of_a_variable"])
def test_a_caption_overlaps_nothing_and_stays_inside(caption: str, graph: str) -> None:
    drawn = MixedGraph.from_edges(graph)
    scene, bare = compose(drawn, title="T", caption=caption), compose(drawn, title="T")
    lowest = max(box.y + box.h / 2 for box in scene.boxes)
    text = draw(drawn, title="T", caption=caption)
    rows = [row for row in ElementTree.fromstring(text).iter(f"{SVG}text") if row.get("class") == "caption"]
    for row in rows:
        assert float(row.get("y", "0")) - CAPTION_SIZE > lowest
        assert float(row.get("y", "0")) + 4 < scene.height
        assert MARGIN + ems(row.text or "") * CAPTION_SIZE <= scene.width
    assert " ".join(scene.caption) == caption
    assert scene.height > bare.height
    left, right = min(b.x - b.w / 2 for b in scene.boxes), max(b.x + b.w / 2 for b in scene.boxes)
    if scene.width > bare.width:  # a picture that is widened stays in the middle
        assert left == pytest.approx(scene.width - right, abs=0.2)


def test_rows_of_a_caption_are_as_wide_as_they_may_be() -> None:
    assert wrapped("one two three", 100.0) == ("one two three",)
    assert wrapped("one two", 1.0) == ("one", "two")
    assert all(ems(row) <= 12 for row in wrapped(CAPTIONS["supported"], 12.0))


@pytest.mark.parametrize("ending", ["png", "pdf"])
def test_other_formats_show_them_too(tmp_path: Path, ending: str) -> None:
    for marks in ("all", "supported"):
        graded().draw(tmp_path / f"{marks}.{ending}", marks=marks)
    draw(graded().pag, tmp_path / f"bare.{ending}", shares=graded().edge_shares())
    draw(graded().pag, tmp_path / f"captioned.{ending}", shares=graded().edge_shares(), caption=CAPTIONS["all"])
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 4


# --- command line and notebook ----------------------------------------------------------------------------


@pytest.mark.parametrize("marks", ["all", "supported", "firm"])
def test_the_command_draws_the_same(tmp_path: Path, marks: Any) -> None:
    graded().save(tmp_path / "r.json")
    assert run("draw", tmp_path / "r.json", tmp_path / "r.svg", "--marks", marks).code == 0
    assert (tmp_path / "r.svg").read_text() == graded().draw(marks=marks)


def test_the_command_draws_what_is_supported_unless_told(tmp_path: Path) -> None:
    graded().save(tmp_path / "r.json")
    assert run("draw", tmp_path / "r.json", tmp_path / "r.svg").code == 0
    assert (tmp_path / "r.svg").read_text() == graded().draw()


def test_a_plain_graph_has_no_marks_to_choose(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text(str(PAG.from_edges("A o-> B")))
    assert run("draw", tmp_path / "g.txt", tmp_path / "g.svg").code == 0
    assert "caption" not in (tmp_path / "g.svg").read_text()
    done = run("draw", tmp_path / "g.txt", tmp_path / "h.svg", "--marks", "all")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "--marks needs a result file" in done.err
    assert not (tmp_path / "h.svg").exists()


def test_a_notebook_begins_with_the_verdict_and_shows_what_is_supported() -> None:
    text = graded()._repr_html_()
    at = [text.index(part) for part in (graded().verdict.lines[0], "<svg", CAPTIONS["supported"], "<table")]
    assert at == sorted(at)
    assert "hollow" not in text
    assert "A --&gt; B" in text
    assert "A o-o B" in text  # E o-o F, which was learned as E --> F
    assert "of 20 resamples have it" in text
