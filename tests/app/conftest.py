"""A running app, and a browser that visits it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the app is not installed")
pytest.importorskip("uvicorn", reason="the app is not installed")

from tests.app.serving import Served
from tests.report.browsing import ARGUMENTS, BROWSER

Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start apps, each in a folder of its own, and stop them at the end."""
    started: list[Served] = []

    def start(table: Path | None = None, folder: str = "project", **options: Any) -> Served:
        started.append(Served(tmp_path / folder, table, **options))
        return started[-1]

    yield start
    for one in started:
        if one.thread.is_alive():
            one.close()


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if BROWSER is None:
        pytest.skip("no chromium on this machine")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS, headless=True)
        yield chromium
        chromium.close()


class Window:
    """A window of the app, and all that it should not do."""

    def __init__(self, browser: Any, app: Served, **options: Any) -> None:
        self.app = app
        self.context = browser.new_context(
            **{"reduced_motion": "reduce", "viewport": {"width": 1280, "height": 900}, **options}
        )
        self.trouble: list[str] = []
        self.page = self.another()
        self.page.goto(app.running.address)
        self.page.wait_for_selector("body[data-ready]")

    def another(self) -> Any:
        """Open another window of the same browser."""
        page = self.context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda m: self.trouble.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.trouble.append(str(error)))
        page.on("request", self._elsewhere)
        return page

    def _elsewhere(self, request: Any) -> None:
        if not request.url.startswith((f"http://{self.app.host}/", "data:", "blob:")):
            self.trouble.append(f"a request to {request.url}")

    def step(self, name: str) -> None:
        self.page.click(f'#steps a[href="#{name}"]')

    def close(self) -> None:
        self.context.close()
        assert self.trouble == []


@pytest.fixture
def visit(browser: Any, serve: Serve) -> Iterator[Any]:
    opened: list[Window] = []

    def go(app: Served, **options: Any) -> Window:
        opened.append(Window(browser, app, **options))
        return opened[-1]

    yield go
    for one in opened:
        one.close()
