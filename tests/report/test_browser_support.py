"""Grades of marks, losses and hidden nodes of a search by score, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lmarvel.report import write_report
from lmarvel.result.trace import Supported
from tests.report.browsing import Visit
from tests.result.test_evidence import NODE, chain


def test_the_report_shows_it(browser: Any, tmp_path: Path) -> None:
    write_report(chain(NODE, Supported(2, 1, 45.0)), tmp_path / "r.html")
    opened = Visit(browser, tmp_path / "r.html")
    page = opened.page
    heads = [head.strip() for head in page.locator("#edge-table th").all_inner_texts()]
    assert heads[-2:] == ["Grades", "Score loss"]
    page.locator("#edge-table th button", has_text="Score loss").click()
    cells = page.locator("#edge-table tbody tr").first.inner_text().split("\t")
    assert cells[-2:] == ["– / open", "12.0"]
    page.locator("#edge-table tbody tr").first.locator("button").click()
    assert "Removing the edge worsens the score by 12.0 (an edge costs 14.0)." in opened.details()
    assert "Mark at B (arrowhead): open; another mark worsens the score by at least 45.0 (an edge costs 14.0)." in (
        opened.details()
    )
    assert "one unmeasured cause of these three fits" in page.inner_text("#hidden")
    assert "Grade of a mark: open" in page.inner_text("#kinds")
    opened.close()
