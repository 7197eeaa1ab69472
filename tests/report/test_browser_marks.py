"""The verdict and the switch between all, supported and firm marks, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lmarvel import Discovery, Lift
from lmarvel.datasets import CARS
from lmarvel.report import write_report
from lmarvel.result.display import CAPTIONS
from tests.cli.running import run
from tests.report.browsing import GRAPH, Visit, edge, midpoint, show
from tests.report.graded import graded, likely

SVG = "{http://www.w3.org/2000/svg}"
SHOWN = {
    "all": ["A o-> C", "B o-> C", "C --> D", "C --> E", "E --> F"],
    "supported": ["A o-> C", "B o-> C", "C --> D", "C o-> E", "E o-o F"],
}


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    visits: list[Visit] = []

    def go(found: Discovery, data: Any = None, marks: Any = "supported", **options: Any) -> Visit:
        write_report(found, tmp_path / "report.html", data=data, marks=marks)
        visits.append(Visit(browser, tmp_path / "report.html", **options))
        return visits[-1]

    yield go
    for one in visits:
        one.context.close()
        assert one.trouble == []


def drawn(page: Any) -> list[str]:
    return list(page.locator("#graph .edge").evaluate_all("all => all.map(e => e.dataset.edge)"))


@pytest.fixture(scope="module")
def cars() -> Discovery:
    return Lift(test="fisher-z").fit(CARS, bootstrap=20, seed=0).result_


# --- the verdict ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 390])
def test_the_verdict_is_the_first_thing_on_the_page(opened: Any, width: int) -> None:
    page = opened(graded(), viewport={"width": width, "height": 800}).page
    assert page.locator("#verdict-lines p").all_inner_texts() == list(graded().verdict.lines)
    text = page.inner_text("body").split("\n")
    lines = [line for line in text if line.strip() and line != "Skip to the list of edges"]
    assert [lines[0], *lines[2:4]] == ["Causal graph", *graded().verdict.lines[:2]]  # between them a hidden heading
    box = page.locator("#verdict").bounding_box()
    assert box["y"] < 100
    assert page.locator(".canvas").bounding_box()["y"] > box["y"] + box["height"]


def test_a_page_without_a_verdict_shows_no_empty_box(visit: Any) -> None:
    page = visit(GRAPH).page
    assert page.locator("#verdict").is_hidden()
    assert page.locator("#marks").is_hidden()


# --- the switch -------------------------------------------------------------------------------------------


def test_the_page_opens_with_what_is_supported_and_the_switch_shows_the_rest(opened: Any) -> None:
    page = opened(graded()).page
    assert page.is_checked('#marks input[value="supported"]')
    assert drawn(page) == SHOWN["supported"]
    assert page.inner_text("#caption") == f"{CAPTIONS['supported']}."
    assert page.locator("#graph .hollow").count() == 0
    assert page.locator(".hollow-key").is_hidden()
    show(page, "all")
    assert drawn(page) == SHOWN["all"]
    assert page.inner_text("#caption") == page.inner_text("#status") == f"{CAPTIONS['all']}."
    assert page.get_attribute("body", "data-marks") == "all"
    assert edge(page, "C --> E").locator(".tail.hollow.at-a").count() == 1
    assert edge(page, "E --> F").locator(".hollow").count() == 2
    assert edge(page, "C --> D").locator(".hollow").count() == 0
    assert "not established" in edge(page, "E --> F").get_attribute("aria-label")
    assert page.locator(".hollow-key").is_visible()
    assert edge(page, "C --> E").locator(".tail.hollow").evaluate("e => getComputedStyle(e).fill") == page.locator(
        ".canvas"
    ).evaluate("e => getComputedStyle(e).backgroundColor")


def test_firm_marks_alone(opened: Any) -> None:
    page = opened(likely()).page
    assert drawn(page) == SHOWN["all"]
    show(page, "firm")
    assert drawn(page) == ["A o-o C", "B o-o C", "C o-o D", "C o-o E", "E o-o F"]
    assert page.inner_text("#caption") == f"{CAPTIONS['firm']}."


def test_table_legend_and_details_follow_the_switch(opened: Any) -> None:
    visit = opened(graded(), viewport={"width": 1280, "height": 1100})
    page = visit.page
    kinds = "all => all.map(e => [e.querySelector('code').textContent, e.querySelector('.count').textContent])"
    counts = dict(page.locator("#kinds li:has(input)").evaluate_all(kinds))
    assert (counts["-->"], counts["o->"], counts["o-o"]) == ("1", "3", "1")
    page.mouse.click(*midpoint(page, "E o-o F"))
    assert "E o-o F" in visit.details()
    assert "Direction not established (the learned graph has E --> F)." in visit.details()
    show(page, "all")
    assert "Direction not established (the learned graph has E --> F)." in visit.details()
    assert page.inner_text("#details .code") == "E --> F"
    counts = dict(page.locator("#kinds li:has(input)").evaluate_all(kinds))
    assert (counts["-->"], counts["o->"], counts["o-o"]) == ("3", "2", "0")
    rows = page.locator("#edge-table .link").evaluate_all("all => all.map(e => e.getAttribute('aria-label'))")
    assert rows == [f"Explain {text}" for text in SHOWN["all"]]
    cells = page.locator("#edge-table td.grades").all_inner_texts()
    assert cells == ["– / firm", "– / firm", "firm / firm", "open / firm", "open / open"]
    page.locator('#kinds input[data-kind="-->"]').uncheck()
    assert page.inner_text("#edge-count") == "2 of 5 shown"
    show(page, "supported")  # what was hidden stays so, by the kind that is shown
    assert page.inner_text("#edge-count") == "4 of 5 shown"
    assert edge(page, "C --> D").is_hidden()


def test_the_switch_is_used_by_keyboard(opened: Any) -> None:
    page = opened(graded()).page
    page.focus("#save-json")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.value") == "supported"
    outline = "getComputedStyle(document.activeElement.nextElementSibling).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("ArrowLeft")
    assert drawn(page) == SHOWN["all"]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "graph"
    names = page.locator("#marks").get_by_role("radio").evaluate_all("all => all.map(e => e.labels[0].innerText)")
    assert names == ["All", "Supported", "Firm"]
    assert page.get_by_role("group", name="Marks").count() == 1


def test_a_report_can_open_with_all_marks(browser: Any, tmp_path: Path) -> None:
    graded().save(tmp_path / "r.json")
    assert run("report", tmp_path / "r.json", tmp_path / "r.html", "--marks", "all").code == 0
    visit = Visit(browser, tmp_path / "r.html")
    assert visit.page.is_checked('#marks input[value="all"]')
    assert drawn(visit.page) == SHOWN["all"]
    visit.close()


def test_a_saved_picture_has_the_caption_below_all_else(opened: Any) -> None:
    page = opened(graded(), accept_downloads=True).page
    with page.expect_download() as waiting:
        page.click("#save-svg")
    root = ElementTree.fromstring(Path(waiting.value.path()).read_bytes())
    [caption] = [text for text in root.iter(f"{SVG}text") if text.text == f"{CAPTIONS['supported']}."]
    left, top, wide, high = map(float, root.get("viewBox", "").split())
    lowest = page.locator("#graph .node").evaluate_all(
        "all => Math.max(...all.map(e => e.transform.baseVal[0].matrix.f + e.getBBox().height / 2))"
    )
    assert lowest + 12 < float(caption.get("y", "0")) < top + high
    assert left < float(caption.get("x", "0"))
    assert wide > 6 * len(caption.text or "")


# --- room -------------------------------------------------------------------------------------------------


def test_doubtful_edges_are_hit_as_easily_as_others(opened: Any, cars: Discovery) -> None:
    page = opened(cars, marks="all").page
    doubtful = page.locator("#graph .edge.doubtful")
    assert 0 < doubtful.count() < cars.pag.n_edges
    widths = page.locator("#graph .hit").evaluate_all("all => all.map(e => getComputedStyle(e).strokeWidth)")
    assert set(widths) == {"16px"}
    bands = doubtful.locator(".band").evaluate_all(
        "all => all.map(e => [getComputedStyle(e).strokeWidth, getComputedStyle(e).pointerEvents])"
    )
    assert set(map(tuple, bands)) == {("9px", "none")}
    assert "Doubtful" in page.inner_text("#reading")
    show(page, "supported")  # what is not shown needs no warning
    assert page.locator("#graph .edge.doubtful").count() == 0
    assert "Doubtful" not in page.inner_text("#reading")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_table_of_edges_fits_its_box(opened: Any, cars: Discovery, width: int, scheme: str) -> None:
    page = opened(cars, CARS, viewport={"width": width, "height": 900}, color_scheme=scheme).page
    heads = page.locator("#edge-table th:visible").all_inner_texts()
    wide = ["Meaning", "Grades", "Resamples", "Partial correlation", "Score loss"]
    assert [head.strip() for head in heads] == ["Variable", "Edge", "With", *(wide if width > 520 else ["Grades"])]
    assert page.evaluate(
        "(() => { const e = document.querySelector('#edge-table'); return e.scrollWidth <= e.clientWidth; })()"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1280, 390])
def test_switch_and_caption_stay_in_their_box(opened: Any, width: int) -> None:
    page = opened(graded(), viewport={"width": width, "height": 900}).page
    box = page.locator("#marks").bounding_box()
    parts = [page.locator(f"#marks {part}").bounding_box() for part in ("fieldset", "#caption")]
    for part in parts:
        assert part["x"] >= box["x"]
        assert part["x"] + part["width"] <= box["x"] + box["width"]
    assert parts[0]["x"] + parts[0]["width"] <= parts[1]["x"] or parts[0]["y"] + parts[0]["height"] <= parts[1]["y"]
