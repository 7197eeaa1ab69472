"""What was known beforehand, and where each mark comes from, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lmarvel import DAG, Knowledge, LMarvel, MSeparation
from lmarvel.report import write_report
from lmarvel.result.evidence_wording import SOURCES
from tests.report.browsing import Visit


def test_the_report_says_where_marks_come_from(browser: Any, tmp_path: Path) -> None:
    truth = DAG.from_edges("age --> smoking", "smoking --> bp")
    known = Knowledge(tiers=[["age"], ["smoking"], ["bp"]])
    write_report(LMarvel(test=MSeparation(truth), knowledge=known).fit().result_, tmp_path / "r.html")
    opened = Visit(browser, tmp_path / "r.html")
    page = opened.page
    assert "What you stated" in page.inner_text("#kinds")
    assert SOURCES["knowledge"] in page.inner_text("#kinds")
    page.locator("#edge-table tbody tr").first.locator("button").click()
    assert f"Mark at smoking: {SOURCES['knowledge']}" in opened.details()
    opened.close()
