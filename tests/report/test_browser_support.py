"""The support of marks, the losses and the hidden nodes, in a real browser."""

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
    assert [head.strip() for head in page.locator("#edge-table th").all_inner_texts()][-2:] == ["Marks", "Loss without"]
    page.locator("#edge-table th button", has_text="Marks").click()
    assert page.locator("#edge-table tbody tr").last.inner_text().split("\t")[-2:] == ["likely", "12.0"]
    page.locator("#edge-table tbody tr").last.locator("button").click()
    assert "The weaker of its marks is likely." in opened.details()
    assert "Without the edge the score worsens by 12.0." in opened.details()
    assert "one unmeasured cause of these three fits" in page.inner_text("#hidden")
    assert "Marks: firm" in page.inner_text("#kinds")
    opened.close()
