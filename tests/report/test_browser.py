"""The page in a real browser: it shows, explains, finds, filters and sorts, and asks for nothing."""

from __future__ import annotations

from typing import Any

import pytest

from lmarvel import PAG
from lmarvel.graph.mixed import MixedGraph
from tests.report.browsing import GRAPH, HOSTILE, edge, midpoint, node


def test_the_graph_appears(visit: Any) -> None:
    page = visit(GRAPH).page
    assert page.locator("#graph .node").count() == 9
    assert page.locator("#graph .edge").count() == 6
    assert node(page, "A").locator("text").text_content() == "A"
    assert page.title() == page.inner_text("h1") == "Causal graph of a sample"
    assert "not that of any MAG" in page.inner_text("#warnings")
    assert "1,234" in page.inner_text("#statistics")
    assert "FisherZ" in page.inner_text("#settings")
    assert page.locator("#data tbody tr").count() == 9


def test_marks_are_drawn_at_their_ends(visit: Any) -> None:
    page = visit(GRAPH).page
    near = """(group, name) => { const box = [...document.querySelectorAll('.node')].find(
        n => n.getAttribute('aria-label') === name).querySelector('rect').getBoundingClientRect();
        const by = 5;  // a box that is drawn smaller than its place stands 4.3 pixels from its mark
        return [...group.querySelectorAll('.mark')].filter(mark => { const m = mark.getBoundingClientRect();
        return m.right > box.left - by && m.left < box.right + by && m.bottom > box.top - by && m.top < box.bottom + by;
        }).map(mark => mark.classList.contains('circle') ? 'o' : '>').join('') }"""
    for text in ("A o-> C", "C --> D", "D <-> E", "E --- F", "F o-o G"):
        a, kind, b = text.split()
        assert edge(page, text).evaluate(near, a) == kind[0].replace("<", ">").replace("-", "")
        assert edge(page, text).evaluate(near, b) == kind[2].replace("-", "")


def test_clicking_an_edge_explains_it_and_escape_deselects(visit: Any) -> None:
    opened = visit(GRAPH)
    page = opened.page
    page.mouse.click(*midpoint(page, "A o-> C"))
    assert "C does not cause A." in opened.details()
    assert "Arrowhead at C by R0" in opened.details()
    assert edge(page, "A o-> C").get_attribute("aria-pressed") == "true"
    assert page.locator("#graph .node.near").count() == 2
    inner = page.locator("#details details details")
    assert inner.get_attribute("open") is None
    inner.locator("summary").click()
    assert "no set of the search separates them" in opened.details()
    page.keyboard.press("Escape")
    assert "9 variables and 6 edges" in opened.details()
    assert page.locator("#graph .selected").count() == 0


def test_clicking_a_node_shows_its_neighbourhood(visit: Any) -> None:
    opened = visit(GRAPH)
    page = opened.page
    node(page, "C").click()
    assert "Markov boundary: A, B, D." in opened.details()
    near = page.locator("#graph .node.near").evaluate_all("all => all.map(n => n.getAttribute('aria-label'))")
    assert near == ["A", "B", "C", "D"]
    page.wait_for_function("getComputedStyle(document.querySelector('.node:not(.near)')).opacity < 0.5")
    page.get_by_role("button", name="C --> D", exact=True).last.click()  # in the panel
    assert "C causes D" in opened.details()
    page.click("#clear")
    assert page.locator("#graph.chosen").count() == 0


def test_a_click_on_nothing_deselects(visit: Any) -> None:
    page = visit(GRAPH).page
    node(page, "C").click()
    page.locator("#graph").click(position={"x": 4, "y": 4})
    assert page.locator("#graph .selected").count() == 0


def test_search_finds_and_selects(visit: Any) -> None:
    opened = visit(GRAPH)
    page = opened.page
    page.fill("#search", "v")
    assert page.locator("#matches li").all_inner_texts() == ["V9", "V10"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert opened.details().startswith("V10")
    assert "No edges".lower() in opened.details().lower()
    page.fill("#search", "nowhere")
    assert "No variable" in page.inner_text("#matches")
    page.keyboard.press("Escape")
    assert page.locator("#matches").is_hidden()
    assert opened.details().startswith("V10")  # the first Escape closes the list only
    page.keyboard.press("Escape")
    assert "9 variables" in opened.details()


def test_filters_hide_a_kind_of_edge(visit: Any) -> None:
    page = visit(GRAPH).page
    box = page.locator('#kinds input[data-kind="o->"]')
    box.uncheck()
    assert edge(page, "A o-> C").is_hidden()
    assert edge(page, "C --> D").is_visible()
    assert page.inner_text("#edge-count") == "4 of 6 shown"
    assert page.locator("#edge-table tbody tr:visible").count() == 4
    box.check()
    assert edge(page, "A o-> C").is_visible()
    assert page.locator("#kinds input").count() == 6
    assert "Undecided" in page.inner_text("#reading")


def test_the_table_sorts_and_selects(visit: Any) -> None:
    opened = visit(GRAPH)
    page = opened.page
    first = "all => all.map(row => row.cells[0].innerText)"
    rows = page.locator("#edge-table tbody tr")
    head = page.locator("#edge-table th").first
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert rows.evaluate_all(first) == ["A", "B", "C", "D", "E", "F"]
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert rows.evaluate_all(first) == ["F", "E", "D", "C", "B", "A"]
    strength = page.locator("#edge-table th").last
    strength.locator("button").click()
    values = rows.evaluate_all("all => all.map(row => row.cells[4].innerText)")
    assert values[-1] == "–"  # what is missing comes last
    assert values[:-1] == sorted(values[:-1], key=float)
    assert head.get_attribute("aria-sort") is None
    rows.filter(has_text="unmeasured common cause").last.click()
    assert page.locator("#edge-table tr.selected").count() == 1
    assert "unmeasured" in opened.details()
    names = page.locator("#data tbody tr")
    page.locator("#data th").first.locator("button").click()
    assert names.evaluate_all(first)[-2:] == ["V9", "V10"]


def test_the_keyboard_reaches_everything(visit: Any) -> None:
    opened = visit(GRAPH)
    page = opened.page
    page.focus("#save-csv")  # the last that can be pressed: this page carries no result
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "graph"
    before = page.get_attribute("#graph", "viewBox")
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#graph", "viewBox") != before
    page.keyboard.press("0")
    assert page.get_attribute("#graph", "viewBox") == before
    page.keyboard.press("Tab")  # an edge, then a node
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert "Arrowhead" in opened.details()
    page.keyboard.press("Tab")
    name = page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("ArrowDown")
    other = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert other != name
    page.keyboard.press("Enter")
    assert opened.details().startswith(other)
    page.locator("#edge-table tbody button").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#edge-table tr.selected").count() == 1
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_the_view_is_moved_and_nodes_are_dragged(visit: Any) -> None:
    page = visit(GRAPH).page
    before = page.get_attribute("#graph", "viewBox")
    page.click("#zoom-in")
    page.hover("#graph")
    page.mouse.wheel(0, -200)
    page.wait_for_function("old => document.getElementById('graph').getAttribute('viewBox') !== old", arg=before)
    page.click("#fit")
    assert page.get_attribute("#graph", "viewBox") == before
    box = node(page, "A").bounding_box()
    line = edge(page, "A o-> C").locator(".line")
    drawn = line.get_attribute("d")
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 65, box["y"] - 15, steps=4)
    page.mouse.up()
    moved = node(page, "A").bounding_box()
    assert (moved["x"], moved["y"]) == pytest.approx((box["x"] + 60, box["y"] - 20), abs=2)
    assert line.get_attribute("d") != drawn
    assert page.locator("#graph .selected").count() == 0  # a drag is not a click
    page.locator("#graph").hover(position={"x": 5, "y": 5})
    page.mouse.down()
    page.mouse.move(300, 400, steps=3)
    page.mouse.up()
    assert page.get_attribute("#graph", "viewBox") != before


def test_two_fingers_zoom(visit: Any) -> None:
    opened = visit(GRAPH, has_touch=True, viewport={"width": 390, "height": 800})
    page = opened.page
    page.locator("#graph").scroll_into_view_if_needed()
    box = page.locator("#graph").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = opened.context.new_cdp_session(page)
    before = float(page.get_attribute("#graph", "viewBox").split()[2])
    for kind, apart in [("touchStart", 30), ("touchMove", 45), ("touchMove", 60), ("touchEnd", None)]:
        points = [] if apart is None else [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.wait_for_function("document.getElementById('graph').getAttribute('viewBox').split(' ')[2] > 0")
    assert float(page.get_attribute("#graph", "viewBox").split()[2]) == pytest.approx(before / 2, rel=0.05)
    assert page.locator("#graph .selected").count() == 0


def test_hostile_names_run_nothing_and_show_as_text(visit: Any) -> None:
    marks = ["o->", "-->", "<->", "o-o", "---", "o->", "-->"]
    pairs = zip(HOSTILE, marks, HOSTILE[1:], strict=False)
    graph = MixedGraph.from_edges(*(f"{as_text(a)} {kind} {as_text(b)}" for a, kind, b in pairs))
    hostile = {"title": HOSTILE[0], "subtitle": HOSTILE[1], "footer": HOSTILE[2], "warnings": HOSTILE}
    hostile["statistics"] = hostile["settings"] = [[name, name] for name in HOSTILE]
    opened = visit(graph, hostile)
    page = opened.page
    assert page.inner_text("h1") == page.title() == HOSTILE[0]
    assert page.inner_text("#footer") == HOSTILE[2]
    for k, name in enumerate(HOSTILE):
        page.locator("#graph .node").nth(k).focus()
        page.keyboard.press("Enter")
        assert page.text_content("#details h2") == name
    for k in range(7):
        page.locator("#graph .edge").nth(k).focus()
        page.keyboard.press("Enter")
        assert HOSTILE[k] in page.text_content("#details")
    page.fill("#search", "<script")
    assert page.locator("#matches li").first.inner_text() == HOSTILE[0]
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2


def as_text(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\u2028", "\\u2028") + '"'


@pytest.mark.parametrize("graph", [PAG.from_edges(), PAG.from_edges(nodes=["A"]), PAG.from_edges(nodes=list("ABCD"))])
def test_graphs_without_edges_look_fine(graph: PAG, visit: Any) -> None:
    parts = {} if len(graph) else {"data": None, "legend": [], "warnings": []}
    page = visit(graph, parts).page
    assert page.locator("#graph .node").count() == len(graph)
    assert "no edges" in page.inner_text("#edges")
    assert page.locator("#nothing").is_visible() == (len(graph) == 0)
    page.click("#fit")
    page.click("#zoom-out")
    assert "NaN" not in page.get_attribute("#graph", "viewBox")


@pytest.mark.parametrize("width", [320, 375, 1280])
def test_nothing_sticks_out_sideways(width: int, visit: Any) -> None:
    parts = {"title": "x" * 200, "warnings": ["y" * 300]}
    page = visit(GRAPH, parts, viewport={"width": width, "height": 700}).page
    node(page, "C").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_print_shows_everything_and_no_controls(visit: Any) -> None:
    page = visit(GRAPH, color_scheme="dark").page
    before = page.get_attribute("#graph", "viewBox")
    node(page, "C").click()
    page.click("#zoom-in")
    page.emulate_media(media="print")
    for gone in ("#search", "#fit", "#details", "#kinds input"):
        assert page.locator(gone).first.is_hidden()
    for there in ("#graph", "#legend", "#edge-table", "#statistics", "#settings", "#data", "#warnings"):
        assert page.locator(there).is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.wait_for_function("getComputedStyle(document.querySelector('.node:not(.near)')).opacity === '1'")
    page.emulate_media(media="screen")
    assert page.get_attribute("#graph", "viewBox") != before  # the view is as it was left


def test_edges_in_doubt_are_marked(visit: Any) -> None:
    page = visit(GRAPH).page
    assert edge(page, "C --> D").locator(".signs").text_content() == "?"
    assert edge(page, "C --> D").get_attribute("aria-label") == "C --> D, undecided"
    assert page.locator("#graph .signs").count() == 1
    assert page.locator("#edge-table .badge").all_inner_texts() == ["Undecided"]
    assert "the search ended before the edge was shown to be there" in page.inner_text("#reading")
