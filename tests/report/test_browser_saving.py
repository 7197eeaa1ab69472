"""What the page hands out: the picture, the edges and the result, as files that others read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from lmarvel import Discovery, LMarvel
from lmarvel.report import write_report
from tests.report.browsing import Visit

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["<script>alert(1)</script>", 'quoted "twice", and a comma', "ünï\u202ecode \U0001f600", "nul\x01", "d" * 90]


@pytest.fixture(scope="module")
def found() -> Discovery:
    rng = np.random.default_rng(0)
    a, b, d, e = rng.normal(size=(4, 2000))
    c = a + b + rng.normal(size=2000)
    columns = (a, b, c, c + d, c - e)
    return LMarvel().fit(dict(zip(NAMES, columns, strict=True)), bootstrap=10, seed=0).result_


@pytest.fixture
def opened(browser: Any, found: Discovery, tmp_path: Path) -> Iterator[Visit]:
    write_report(found, tmp_path / "r.html", title="A / B: <report>")
    visit = Visit(browser, tmp_path / "r.html", accept_downloads=True)
    yield visit
    visit.context.close()
    assert visit.trouble == []
    assert [url for url in visit.requests if not url.startswith(("blob:", "data:"))] == [visit.target.as_uri()]


def saved(opened: Visit, button: str) -> bytes:
    with opened.page.expect_download() as waiting:
        opened.page.click(f"#save-{button}")
    assert waiting.value.suggested_filename == f"a-b-report.{button}"
    return Path(waiting.value.path()).read_bytes()


def test_the_pictures(opened: Visit, found: Discovery) -> None:
    opened.page.locator("#graph .node").first.click()  # a selection dims the rest, but not in the file
    root = ElementTree.fromstring(saved(opened, "svg"))
    assert len(root.findall(f".//{SVG}rect")) >= 1 + len(NAMES)
    titles = [title.text or "" for title in root.iter(f"{SVG}title")]
    assert NAMES[0] in titles
    assert any(title.startswith(str(next(iter(found.pag.edges()))).split(" ")[0]) for title in titles)
    lines = [path for path in root.iter(f"{SVG}path") if path.get("fill") == "none"]
    assert len(lines) == found.pag.n_edges
    assert all(path.get("stroke", "").startswith("rgb") for path in lines)
    assert opened.page.locator("#graph.chosen .node.selected").count() == 1  # and the selection is as it was
    picture = saved(opened, "png")
    assert picture.startswith(b"\x89PNG\r\n")
    assert len(picture) > 5000


def test_the_edges_are_a_table(opened: Visit, found: Discovery, tmp_path: Path) -> None:
    text = saved(opened, "csv").decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    plain = [(edge.a.replace("\u202e", "\ufffd"), edge.b.replace("\u202e", "\ufffd")) for edge in found.pag.edges()]
    assert [(row["from"], row["to"]) for row in rows] == plain  # a page holds no override of directions
    assert [float(row["share_of_resamples"]) for row in rows] == list((found.edge_shares() or {}).values())
    grades = [(found.grade(edge.b, edge.a) or "", found.grade(edge.a, edge.b) or "") for edge in found.pag.edges()]
    assert [(row["grade_from"], row["grade_to"]) for row in rows] == grades
    assert "partial_correlation" not in rows[0]  # the report was written without the table


def test_the_result_is_the_result(opened: Visit, found: Discovery, tmp_path: Path) -> None:
    (tmp_path / "again.json").write_bytes(saved(opened, "json"))
    assert Discovery.load(tmp_path / "again.json") == found


def test_numbers_are_numbers(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    a, b, d = rng.normal(size=(3, 2000))
    table = {"a": a, "b": b, "c": a + b + d}
    result = LMarvel().fit(table).result_
    write_report(result, tmp_path / "r.html", data=table)
    visit = Visit(browser, tmp_path / "r.html", accept_downloads=True)
    with visit.page.expect_download() as waiting:
        visit.page.click("#save-csv")
    rows = list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text("utf-8"))))
    visit.context.close()
    assert [f"{row['from']} {row['edge']} {row['to']}" for row in rows] == list(map(str, result.pag.edges()))
    assert all(float(row["partial_correlation"]) > 0.3 for row in rows)
