"""The page of large graphs and of real runs, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmarvel import PAG, Discovery, LMarvel, mag_to_pag
from lmarvel.datasets import CARS
from lmarvel.report import write_report
from tests.cli.running import run
from tests.generators import random_mag
from tests.report.browsing import Visit, midpoint, show
from tests.result.test_wording import sampled


def test_a_large_graph_is_usable(visit: Any) -> None:
    rng = np.random.default_rng(0)
    edges = {(int(rng.integers(j)), j) for j in range(1, 1000)} | {(j - 3, j) for j in range(3, 1000, 2)}
    graph = PAG.from_edges(*(f"V{i} o-> V{j}" for i, j in sorted(edges)))
    names = [{"name": v, "x": at(k)[0], "y": at(k)[1], "w": 50.0, "h": 30.0} for k, v in enumerate(graph.names)]
    page = visit(PAG.from_edges(), {"nodes": names, "edges": large_edges(sorted(edges)), "legend": []}).page
    assert page.locator("#graph .node").count() == 1000
    assert "far" in page.get_attribute("#graph", "class")
    shown = page.locator("#graph .node:not(.mute)").count()
    assert 0 < shown < 500  # names that have no room are left out
    page.fill("#search", "V777")
    page.keyboard.press("Enter")
    assert page.text_content("#details h2") == "V777"
    assert "far" not in (page.get_attribute("#graph", "class") or "")


def at(k: int) -> tuple[float, float]:
    return 90.0 * (k % 40), 70.0 * (k // 40)


def large_edges(pairs: list[tuple[int, int]]) -> list[dict[str, Any]]:
    rest = {
        "at_a": "o",
        "at_b": ">",
        "kind": "o->",
        "meaning": "m",
        "strength": None,
        "p": None,
        "why": [],
    }
    return [
        {"a": f"V{i}", "b": f"V{j}", "text": f"V{i} o-> V{j}", "curve": [*at(i), *at(j), *at(j)], **rest}
        for i, j in pairs
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_hundred_variables_have_enough_contrast(scheme: str, visit: Any) -> None:
    pag = mag_to_pag(random_mag(np.random.default_rng(2), 100, latent=12, degree=2.6))
    page = visit(pag, color_scheme=scheme).page
    assert page.locator("#graph .edge").count() == pag.n_edges
    for selector, paint, least in [
        ("h1", "color", 4.5),
        (".subtitle", "color", 4.5),
        (".hint", "color", 4.5),
        ("#kinds p", "color", 4.5),
        ("#edge-table .link", "color", 4.5),
        ("#graph .node text", "fill", 4.5),
        ("#graph .directed .line", "stroke", 3.0),
        ("#graph .partial .line", "stroke", 3.0),
    ]:
        colour = page.locator(selector).first.evaluate(f"e => getComputedStyle(e).{paint}")
        ground = page.locator(".canvas").evaluate("e => getComputedStyle(e).backgroundColor")
        assert contrast(colour, ground) >= least, selector


def contrast(first: str, second: str) -> float:
    """The ratio of luminances, as WCAG defines it."""

    def luminance(colour: str) -> float:
        parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


# --- the report of a real run -----------------------------------------------------------------------------


@pytest.fixture
def learn_and_visit(browser: Any, tmp_path: Path) -> Iterator[Any]:
    opened: list[Visit] = []

    def go(table: Path) -> tuple[Visit, Discovery]:
        report, result = tmp_path / "report.html", tmp_path / "result.json"
        done = run("learn", table, "--report", report, "-o", result)
        assert done.code == 0, done.err
        opened.append(Visit(browser, report, viewport={"width": 1280, "height": 1200}))  # all of the graph is in sight
        return opened[-1], Discovery.load(result)

    yield go
    for one in opened:
        one.close()


def test_the_report_of_a_table_explains_each_of_its_edges(learn_and_visit: Any) -> None:
    seen, found = learn_and_visit(Path(CARS))
    assert seen.page.locator("#graph .edge").count() == found.pag.n_edges
    show(seen.page, "all")
    for edge_ in found.pag.edges():
        seen.page.mouse.click(*midpoint(seen.page, str(edge_)))
        told = found.explain(edge_.a, edge_.b)
        shown = seen.page.locator("#details").evaluate("panel => panel.textContent")  # folded parts included
        for reason in told.reasons():
            assert reason.text in shown


def test_hostile_columns_of_a_table_are_shown_as_text(learn_and_visit: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a, b, d = rng.normal(size=(3, 1000))
    names = ["<script>alert(1)</script>", '""><img src=x onerror=alert(1)>', "</script>"]
    table = tmp_path / "table.csv"
    head = ",".join(f'"{name}"' for name in names)
    rows = np.column_stack([a, b, a + b + d])
    table.write_text(head + "\n" + "\n".join(",".join(map(repr, row)) for row in rows.tolist()))
    seen, found = learn_and_visit(table)
    assert found.pag.names[0] == "<script>alert(1)</script>"
    assert found.pag.n_edges == 2
    labels = seen.page.locator("#graph .node").evaluate_all("nodes => nodes.map(n => n.getAttribute('aria-label'))")
    assert labels == list(found.pag.names)
    seen.page.locator("#edges tbody tr").first.click()
    assert "<script>alert(1)</script>" in seen.details()


def test_contested_edges_are_marked_and_explained(browser: Any, tmp_path: Path) -> None:
    tried = (LMarvel(faithful=True).fit(sampled(seed)).result_ for seed in range(60))
    found = next(result for result in tried if result.contested)
    write_report(found, tmp_path / "r.html")
    opened = Visit(browser, tmp_path / "r.html")
    contested = {f"{a} {b}" for a, b, *_ in found.contested}
    signed = opened.page.locator("#graph .edge.contradicted").evaluate_all("all => all.map(e => e.dataset.edge)")
    assert contested <= {" ".join(text.split()[::2]) for text in signed}
    assert "contradict each other on this edge" in opened.page.inner_text("#reading")
    row = opened.page.locator("#edge-table tr", has_text=found.contested[0][0]).filter(has_text=found.contested[0][1])
    row.filter(has_text="Contradicted").first.click()
    assert "The tests disagree: independent given" in opened.details()
    opened.close()
