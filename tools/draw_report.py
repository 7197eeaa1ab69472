"""Take the picture of a report that the README shows: ``python tools/draw_report.py [FILE]``.

The report is that of the bundled study, whose hidden cause is known. Needs playwright and Chromium, as the tests of the
report do, and Pillow, which comes with Matplotlib.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from lmarvel import Auto
from lmarvel.datasets import HEART
from lmarvel.report import write_report

TARGET = Path(__file__).parents[1] / "docs" / "report.png"
EDGE = "Cholesterol <-> HeartDisease"
WIDTH, HEIGHT, SCALE, COLOURS = 1280, 820, 1.25, 128
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main(target: Path) -> None:
    """Write the report into a folder of its own, open it, select an edge, and keep what is seen."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        write_report(Auto().fit(HEART, bootstrap=200, seed=1).result_, page, data=HEART, title="heart.csv")
        _photograph(page, target)
    Image.open(target).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


def _photograph(report: Path, target: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        size = {"width": WIDTH, "height": HEIGHT}
        page = chromium.new_page(viewport=size, device_scale_factor=SCALE, reduced_motion="reduce")
        page.goto(report.as_uri())
        page.locator(f'#edge-table button[aria-label="Explain {EDGE}"]').click()
        page.evaluate("scrollTo(0, 0)")
        canvas = page.locator(".canvas").bounding_box()
        assert canvas is not None
        page.screenshot(
            path=target,
            full_page=True,
            clip={"x": 0, "y": 0, "width": WIDTH, "height": canvas["y"] + canvas["height"] + 8},
        )
        chromium.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
