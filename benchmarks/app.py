"""How quick the app is in a browser: to a verdict, and from a key to the screen while a large table is learned.

    python app.py            # needs playwright and a Chromium
    python app.py --rows 100000 --columns 100

The first figure counts from the start of the process to the verdict on the bundled table, with one click. The second
types into the statements while the learner works, and takes from the event of each key to the frame after it.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from playwright.sync_api import sync_playwright

BROWSER = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
# The time from the event of a key to the moment after the frame that shows it.
WATCH = """() => { window.waits = [];
  addEventListener("keydown", (event) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => window.waits.push(performance.now() - event.timeStamp);
    channel.port2.postMessage(null); }), true); }"""


def started(table: str, folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start the app, and return its process and its address."""
    words = [sys.executable, "-m", "lmarvel", "app", table, "--project", str(folder), "--no-browser"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            return process, found[0]
    raise SystemExit("the app did not start")


def to_a_verdict(browser: Any, folder: Path) -> None:
    """Measure from the start to the verdict on the bundled table."""
    page, begun = browser.new_page(), time.monotonic()
    process, address = started("cars", folder)
    page.goto(address)
    page.click("#learn-now")
    page.wait_for_selector("#verdict-lines p")
    took = time.monotonic() - begun
    page.click("#stop")
    process.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    print(f"from the start to a verdict on cars: {took:.1f} s, 1 click ({cpu:.1f} s of CPU of the app, in 3 processes)")
    page.close()


def table_of(rows: int, columns: int, path: Path) -> None:
    """Write a table whose columns depend on those before them."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(rows, columns))
    for j in range(2, columns):
        values[:, j] += 0.5 * values[:, rng.integers(j)] + 0.4 * values[:, rng.integers(j)]
    pl.DataFrame({f"v{j}": values[:, j] for j in range(columns)}).write_csv(path, float_precision=4)


def while_learning(browser: Any, folder: Path, rows: int, columns: int) -> None:
    """Measure how long a key takes to the screen while a table of this size is learned."""
    path = folder.parent / "large.csv"
    table_of(rows, columns, path)
    page, begun = browser.new_page(), time.monotonic()
    page.set_default_timeout(600_000)
    process, address = started(str(path), folder)
    page.goto(address)
    page.wait_for_selector("#learn-now")
    size = f"{columns} columns, {rows:,} rows ({path.stat().st_size >> 20} MiB)"
    print(f"{size}: shown after {time.monotonic() - begun:.1f} s")
    page.evaluate(WATCH)
    begun = time.monotonic()
    page.click("#learn-now")
    page.click('#steps a[href="#know"]')
    page.locator("summary", has_text="The same as text").click()
    page.focus("#statement-text")
    while page.evaluate("document.querySelector('#spoken').textContent.startsWith('Run') === false"):
        page.keyboard.type("v1 causes v2\n", delay=40)
        page.keyboard.press("Control+A")
    took, waits = time.monotonic() - begun, page.evaluate("window.waits")
    waits.sort()
    print(
        f"learned after {took:.1f} s; {len(waits)} keys meanwhile: median {statistics.median(waits):.0f} ms, "
        f"95 % below {waits[int(0.95 * len(waits))]:.0f} ms, largest {waits[-1]:.0f} ms from key to screen"
    )
    begun = time.monotonic()
    page.click('#steps a[href="#graph"]')
    page.wait_for_selector("#verdict-lines p")
    print(f"graph shown after {time.monotonic() - begun:.1f} s")
    process.kill()
    process.wait()


def main() -> None:
    """Measure, and print."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rows", type=int, default=100_000)
    asked.add_argument("--columns", type=int, default=100)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        to_a_verdict(browser, Path(place) / "cars.lmarvel")
        while_learning(browser, Path(place) / "large.lmarvel", given.rows, given.columns)
        browser.close()


if __name__ == "__main__":
    main()
