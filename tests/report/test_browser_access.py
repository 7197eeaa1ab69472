"""axe-core finds nothing wrong with the page: on the screen, light or dark, narrow, and on paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lmarvel import LMarvel
from lmarvel.datasets import CARS
from lmarvel.report import write_report
from tests.report.browsing import Visit


@pytest.fixture(scope="module")
def axe() -> str:
    package = pytest.importorskip(
        "axe_playwright_python", reason="axe-playwright-python, which holds axe-core, is not installed"
    )
    return (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("access") / "report.html"
    write_report(LMarvel().fit(CARS, bootstrap=20, seed=1).result_, target, data=CARS)
    return target


def violations(page: Any, axe: str) -> list[str]:
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [f"{one['impact']}: {one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.slow)])
def test_the_screen(browser: Any, report: Path, axe: str, scheme: str, width: int) -> None:
    opened = Visit(browser, report, color_scheme=scheme, viewport={"width": width, "height": 900})
    page = opened.page
    page.select_option("#cause", label="Weight")
    page.select_option("#outcome", label="Horsepower")
    page.wait_for_selector(".absence .meaning")
    page.fill("#search", "e")
    assert violations(page, axe) == []
    opened.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_details_of_an_edge_and_of_a_variable(browser: Any, report: Path, axe: str, scheme: str) -> None:
    opened = Visit(browser, report, color_scheme=scheme)
    opened.page.locator("#edge-table tbody tr").first.click()
    assert violations(opened.page, axe) == []
    opened.page.locator("#details .ends .link").first.click()
    assert violations(opened.page, axe) == []
    opened.close()


def test_the_paper(browser: Any, report: Path, axe: str) -> None:
    opened = Visit(browser, report)
    opened.page.emulate_media(media="print")
    opened.page.wait_for_selector("#explanations article")
    assert violations(opened.page, axe) == []
    opened.close()


@pytest.mark.slow
def test_axe_would_find_something(browser: Any, report: Path, axe: str) -> None:
    opened = Visit(browser, report)
    opened.page.evaluate("document.querySelector('label[for=search]').remove()")
    opened.page.evaluate("document.getElementById('search').removeAttribute('placeholder')")
    assert any(line.startswith(("critical", "serious")) for line in violations(opened.page, axe))
    opened.close()
