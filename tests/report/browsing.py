"""A browser for the tests of the page, and what they look for in it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from lmarvel import PAG

BROWSER = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
GRAPH = PAG.from_edges(
    "A o-> C", "B o-> C", "C --> D", "D <-> E", "E --- F", "F o-o G", nodes=[*"ABCDEFG", "V10", "V9"]
)
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(2)</script>",
    "javascript:alert(3)",
    "' onclick='alert(4)",
    "{{script}} ${alert(5)}",
    "a & b \u2028 c",
    "x" * 300,
]


class Visit:
    """A page that is open, and all that it should not do."""

    def __init__(self, browser: Any, target: Path, **options: Any) -> None:
        self.context = browser.new_context(**{"reduced_motion": "reduce", **options})
        self.page = self.context.new_page()
        self.trouble: list[str] = []
        self.requests: list[str] = []
        self.page.set_default_timeout(30_000)
        self.page.on("console", lambda m: self.trouble.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("dialog", self._refuse)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(target.as_uri())
        self.target = target

    def _refuse(self, dialog: Any) -> None:
        self.trouble.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def details(self) -> str:
        return str(self.page.inner_text("#details"))

    def close(self) -> None:
        self.context.close()
        assert self.trouble == []
        assert self.requests == [self.target.as_uri()]


def edge(page: Any, text: str) -> Any:
    return page.locator(f'#graph .edge[data-edge="{text}"]')


def node(page: Any, name: str) -> Any:
    return page.locator(f'#graph .node[aria-label="{name}"]')


def midpoint(page: Any, text: str) -> tuple[float, float]:
    """Where on the screen the middle of an edge is."""
    script = """path => { const p = path.getPointAtLength(path.getTotalLength() / 2);
        const q = new DOMPoint(p.x, p.y).matrixTransform(path.getScreenCTM()); return [q.x, q.y]; }"""
    x, y = edge(page, text).locator(".hit").evaluate(script)
    return x, y


def show(page: Any, marks: str) -> None:
    """Switch to other marks."""
    page.locator(f'#marks input[value="{marks}"]').check()
