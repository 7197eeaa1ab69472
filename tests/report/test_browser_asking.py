"""Any two variables are asked about, the wheel is the page's own, and only what is dragged is routed anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lmarvel import Discovery, LMarvel
from lmarvel.datasets import CARS
from lmarvel.report import page_of, write_report
from lmarvel.report.grading import Grading
from lmarvel.report.page import render_page
from tests.report.browsing import GRAPH, Visit, edge, node, show


@pytest.fixture(scope="module")
def found() -> Discovery:
    return LMarvel().fit(CARS, bootstrap=20, seed=1).result_


@pytest.fixture(scope="module")
def report(found: Discovery, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("asking") / "report.html"
    write_report(found, target, data=CARS)
    return target


def ask(page: Any, x: str, y: str) -> None:
    page.select_option("#cause", label=x)
    page.select_option("#outcome", label=y)


def test_all_pairs_are_explained_as_the_command_does(browser: Any, found: Discovery, report: Path) -> None:
    opened = Visit(browser, report)
    page, names = opened.page, found.pag.names
    for k, y in enumerate(names):
        for x in names[:k]:
            ask(page, x, y)
            told, there = found.explain(x, y), found.pag.edge(x, y)
            page.wait_for_selector(".absence .meaning" if found.pag.edge(x, y) is None else ".answer .link")
            answer = page.evaluate("document.querySelector('.answer').textContent")
            meaning = told.meaning if there is None else Grading(found).meaning(there)
            assert meaning.lower() in answer.lower()
            if found.pag.edge(x, y) is None:
                assert told.adjacency.text.removeprefix("No edge: ") in answer
                assert all(line.strip() in answer for line in told.reliability)
    ask(page, "Weight", "MilesPerGallon")
    page.click(".answer .link")
    assert "Partial correlation given Horsepower: −0.50" in opened.details()
    opened.close()


def test_a_variable_begins_a_question(browser: Any, report: Path) -> None:
    opened = Visit(browser, report)
    node(opened.page, "Weight").click()
    opened.page.click("text=Ask about this variable and another")
    assert opened.page.evaluate("document.getElementById('cause').selectedOptions[0].text") == "Weight"
    assert opened.page.evaluate("document.activeElement.id") == "outcome"
    opened.close()


def test_what_is_not_carried_is_not_told(browser: Any, found: Discovery, tmp_path: Path) -> None:
    page = page_of(found)
    page["gaps"] = {"why": "Too many."}
    (tmp_path / "r.html").write_text(render_page(page), encoding="utf-8")
    opened = Visit(browser, tmp_path / "r.html")
    ask(opened.page, "Weight", "Horsepower")
    assert "Too many." in opened.page.inner_text(".answer")
    opened.close()


def test_signs_and_numbers_stand_in_the_picture(browser: Any, found: Discovery, report: Path) -> None:
    opened = Visit(browser, report)
    page = opened.page
    show(page, "all")
    assert edge(page, "Weight --> MilesPerGallon").locator(".signs").text_content() == "!"
    assert edge(page, "Weight --> MilesPerGallon").locator(".value").text_content() == "−0.50"
    assert (
        "Partial correlation given Horsepower: −0.50"
        in edge(page, "Weight --> MilesPerGallon").locator("title").text_content()
    )
    wide = "e => parseFloat(getComputedStyle(e).strokeWidth)"
    weak = edge(page, "MilesPerGallon --> Horsepower").locator(".line")
    strong = edge(page, "Displacement --> Cylinders").locator(".line")
    assert strong.evaluate(wide) > 1.5 * weak.evaluate(wide)
    assert float(weak.evaluate("e => getComputedStyle(e).opacity")) < float(
        strong.evaluate("e => getComputedStyle(e).opacity")
    )
    legend = page.inner_text("#reading")
    assert "Contradicted" in legend
    assert "Width and faintness" in legend
    assert "The number on an edge is its partial correlation: the larger, the thicker the line." in legend
    assert "The more of 20 resamples have an edge, the less faint its line." in legend
    opened.close()


def test_the_undirected_look_strongest(visit: Any) -> None:
    page = visit(GRAPH).page
    wide = "e => parseFloat(getComputedStyle(e).strokeWidth)"
    both = edge(page, "E --- F")
    assert both.locator(".line").evaluate(wide) > 2 * edge(page, "C --> D").locator(".line").evaluate(wide)
    assert both.locator(".between").count() == 1
    assert both.locator(".line").evaluate("e => getComputedStyle(e).strokeDasharray") == "none"


def test_the_wheel_scrolls_the_page_until_the_graph_has_the_focus(visit: Any) -> None:
    page = visit(GRAPH, viewport={"width": 1280, "height": 600}).page
    before = page.get_attribute("#graph", "viewBox")
    page.locator("#graph").hover(position={"x": 300, "y": 60})
    page.mouse.wheel(0, 120)
    page.wait_for_function("() => scrollY > 50")
    assert page.get_attribute("#graph", "viewBox") == before
    page.evaluate("scrollTo(0, 0)")
    page.locator("#graph").click(position={"x": 300, "y": 60})
    page.mouse.wheel(0, 120)
    page.wait_for_function("old => document.getElementById('graph').getAttribute('viewBox') !== old", arg=before)
    assert page.evaluate("scrollY") == 0
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")  # the first deselects, or nothing; then the page has the wheel again
    page.mouse.wheel(0, 120)
    page.wait_for_function("() => scrollY > 50")


def test_curves_are_those_of_the_data_and_only_dragged_ones_change(
    browser: Any, found: Discovery, report: Path
) -> None:
    opened = Visit(browser, report, viewport={"width": 1280, "height": 1000})
    page = opened.page
    show(page, "all")
    shown = page.locator("#graph .edge").evaluate_all(
        "all => all.map(e => [e.dataset.edge, e.querySelector('.hit').getAttribute('d')])"
    )
    for told, (text, path) in zip(page_of(found)["edges"], shown, strict=True):
        a, b, c, d, e, f = told["curve"]
        assert (told["text"], f"M{a:.1f} {b:.1f}Q{c:.1f} {d:.1f} {e:.1f} {f:.1f}") == (text, path)
    box = node(page, "Cylinders").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] - 30, steps=3)
    page.mouse.up()
    after = dict(
        page.locator("#graph .edge").evaluate_all(
            "all => all.map(e => [e.dataset.edge, e.querySelector('.hit').getAttribute('d')])"
        )
    )
    changed = {text for text, path in shown if after[text] != path}
    assert changed == {str(one) for one in found.pag.edges() if "Cylinders" in (one.a, one.b)}
    opened.close()


def test_paper_has_the_explanations_and_heads_on_each_page(browser: Any, found: Discovery, report: Path) -> None:
    opened = Visit(browser, report)
    page = opened.page
    assert page.locator("#explanations").is_hidden()
    page.emulate_media(media="print")
    page.wait_for_selector("#explanations article")
    assert page.locator("#explanations article").count() == found.pag.n_edges
    told = page.inner_text("#explanations")
    for one in found.pag.edges():
        for reason in found.explain(one.a, one.b, depth=8).reasons():
            assert reason.text in told
    assert (
        page.evaluate("getComputedStyle(document.querySelector('#edge-table thead')).display") == "table-header-group"
    )
    assert page.locator("#edge-table thead .paper").first.is_visible()
    assert page.locator("#edge-table thead button").first.is_hidden()
    wrap = page.locator("#edge-table td, #edge-table .link").evaluate_all(
        "all => all.map(e => getComputedStyle(e).overflowWrap)"
    )
    assert set(wrap) == {"break-word"}
    assert page.locator("#edge-table .words").first.is_hidden()  # each explanation says it
    opened.close()


def test_what_the_lines_show_stands_right_below_the_graph(browser: Any, report: Path) -> None:
    opened = Visit(browser, report, viewport={"width": 1280, "height": 900})
    graph, reading = (opened.page.locator(f"#{name}").bounding_box() for name in ("graph", "reading"))
    assert graph is not None
    assert reading is not None
    assert 0 <= reading["y"] - (graph["y"] + graph["height"]) <= 2
    assert opened.page.locator("#reading #least").is_visible()
    opened.close()


@pytest.mark.parametrize("width", [1440, 1280, 1024, 390])
def test_what_is_said_of_the_lines_stays_in_its_place(browser: Any, report: Path, width: int) -> None:
    opened = Visit(browser, report, viewport={"width": width, "height": 900})
    right = opened.page.evaluate("document.querySelector('#reading').getBoundingClientRect().right")
    ends = opened.page.locator("#reading strong, #reading p, #reading output").evaluate_all(
        "all => all.map(e => { const r = document.createRange(); r.selectNodeContents(e);"
        " return r.getBoundingClientRect().right })"
    )
    assert ends
    assert max(ends) <= right
    opened.close()


def test_no_number_is_torn_from_its_percent(browser: Any, report: Path) -> None:
    opened = Visit(browser, report)
    opened.page.locator("#edge-table tbody tr").first.click()
    rows = opened.page.locator("#details .whole").evaluate_all(
        "all => all.map(e => [e.innerText, e.getClientRects().length])"
    )
    assert any(text.endswith(" %") for text, _ in rows)
    assert {count for _, count in rows} == {1}
    opened.close()


def test_a_narrow_screen_has_places_of_its_own(browser: Any, found: Discovery, report: Path) -> None:
    opened = Visit(browser, report, viewport={"width": 390, "height": 800})
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#graph .node.mute").count() == 0
    sizes = page.locator("#graph .node text").evaluate_all(
        "all => all.map(e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a)"
    )
    assert min(sizes) >= 11
    whole = "all => all.filter(e => !/[a-z][A-Z]/.test(e.textContent)).map(e => e.getClientRects().length)"
    rows = page.locator("#edge-table td.name span").evaluate_all(whole)
    assert set(rows) == {1}  # none of these names has a place at which to break
    opened.close()
