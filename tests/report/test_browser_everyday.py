"""What people do with a report: click, tap on a phone, print it, read its legend."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from lmarvel import Auto
from lmarvel.datasets import HEART
from lmarvel.report import write_report

HEIGHT = 844


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("heart") / "heart.html"
    write_report(Auto().fit(HEART, bootstrap=30, seed=1).result_, target, data=HEART)
    return target


@pytest.fixture
def page(browser: Any, report: Path) -> Any:
    page = browser.new_page(viewport={"width": 1280, "height": HEIGHT})
    page.goto(report.as_uri())
    yield page
    page.close()


def test_a_click_leaves_no_frame(page: Any) -> None:
    page.locator("#graph .node").first.click()
    for style in page.evaluate("[document.activeElement, document.body].map(e => getComputedStyle(e).outlineStyle)"):
        assert style == "none"


def test_the_keyboard_leaves_the_graph_in_view(page: Any) -> None:
    for selector in ("#graph .edge", "#graph .node"):
        page.locator("#graph").focus()
        page.keyboard.press("Tab")
        page.locator(selector).first.focus()
        top, bottom = page.evaluate(
            "(r => [r.top, r.bottom])(document.querySelector('#graph .node, #graph').getBoundingClientRect())"
        )
        assert 0 <= top < HEIGHT, selector
        assert bottom > 0, selector


def test_on_a_phone_the_details_are_in_view_with_what_was_tapped(browser: Any, report: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": HEIGHT}, has_touch=True, is_mobile=True)
    phone = context.new_page()
    phone.goto(report.as_uri())
    phone.locator("#graph .node", has_text="Fatigue").tap()
    top, bottom, node = phone.evaluate(
        "(r => [r.top, r.bottom, document.querySelector('#graph .selected').getBoundingClientRect().bottom])"
        "(document.querySelector('#details').getBoundingClientRect())"
    )
    assert HEIGHT * 0.4 < top < HEIGHT * 0.8
    assert bottom <= HEIGHT + 1
    assert node <= top
    phone.locator("#details .close").tap()
    assert phone.locator("#graph .selected").count() == 0
    context.close()


def test_six_variables_print_on_three_pages(page: Any) -> None:
    printed = page.pdf(format="A4")
    assert int(re.findall(rb"/Count (\d+)", printed)[0]) <= 3


def test_the_legend_says_what_the_numbers_are(page: Any) -> None:
    assert "The number on an edge is its partial correlation" in page.locator("#reading").inner_text()
