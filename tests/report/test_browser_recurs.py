"""Shares of resamples, in a real browser: the slider hides edges that fewer have, on the graph and in the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lmarvel import LMarvel
from lmarvel.datasets import CARS
from lmarvel.report import write_report
from tests.report.browsing import Visit


def test_the_slider_hides_what_fewer_resamples_have(browser: Any, tmp_path: Path) -> None:
    found = LMarvel().fit(CARS, bootstrap=50, seed=1).result_
    shares = found.edge_shares()
    assert shares is not None
    write_report(found, tmp_path / "r.html")
    opened = Visit(browser, tmp_path / "r.html")
    page = opened.page
    assert "Resamples" in page.inner_text("#edge-table thead")
    page.locator("#least").fill("90")
    kept = sum(share >= 0.9 for share in shares.values())
    assert 0 < kept < len(shares)
    assert page.inner_text("#edge-count") == f"{kept} of {len(shares)} shown"
    assert page.locator("#graph .edge:not(.filtered)").count() == kept
    page.locator("#edge-table tbody tr:not([hidden])").first.locator("button").click()
    assert "of 50 resamples have an edge here" in opened.details()
    opened.close()
