"""A browser, and pages opened in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lmarvel.graph.mixed import MixedGraph
from lmarvel.report import render_page
from tests.report.browsing import ARGUMENTS, BROWSER, Visit
from tests.report.sample import sample_page


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if BROWSER is None:
        pytest.skip("no chromium on this machine")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS, headless=True)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Any]:
    opened: list[Visit] = []

    def go(graph: MixedGraph, parts: dict[str, Any] | None = None, **options: Any) -> Visit:
        target = tmp_path / "report.html"
        target.write_text(render_page(sample_page(graph, **(parts or {}))), encoding="utf-8")
        opened.append(Visit(browser, target, **options))
        return opened[-1]

    yield go
    for one in opened:
        one.close()
