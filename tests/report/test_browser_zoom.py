"""A hundred variables: from afar no name covers another, and one search or click brings each near enough to be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmarvel import mag_to_pag
from lmarvel.report import render_page
from tests.generators import random_mag
from tests.report.browsing import Visit
from tests.report.sample import sample_page

LEAST = 11.0  # CSS pixels

NAMES = """() => [...document.querySelectorAll('#graph .node:not(.mute)')].map(node => {
    const box = node.querySelector('text').getBoundingClientRect();
    const whole = document.getElementById('graph').getBoundingClientRect();
    const size = parseFloat(getComputedStyle(node.querySelector('text')).fontSize) * node.getScreenCTM().a;
    const middle = (box.top + box.bottom) / 2;
    const over = [box.left + 3, box.right - 3].map(x => document.elementFromPoint(x, middle)).filter(Boolean);
    return [node.getAttribute('aria-label'), box.left, box.top, box.right, box.bottom, size,
        box.left >= whole.left - 1 && box.right <= whole.right + 1, over.every(one => node.contains(one))];
})"""

FIND = """name => {
    const input = document.getElementById('search');
    input.value = name;
    input.dispatchEvent(new Event('input'));
    input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
    const node = [...document.querySelectorAll('#graph .node')].find(n => n.getAttribute('aria-label') === name);
    const text = node.querySelector('text'), box = text.getBoundingClientRect();
    const over = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
    const near = [...document.querySelectorAll('#graph .node.near')];
    return { size: parseFloat(getComputedStyle(text).fontSize) * node.getScreenCTM().a, height: box.height,
        free: node.contains(over), selected: node.classList.contains('selected'),
        named: near.every(n => !n.classList.contains('mute')) };
}"""


@pytest.fixture(scope="module")
def hundred(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a hundred variables with three edges each, on average."""
    mag = random_mag(np.random.default_rng(3), 100, latent=10, degree=2.0)
    words = ["age", "income", "blood_pressure_visit_2", "bmi", "exercise_hours_per_week"]
    pag = mag_to_pag(mag).relabel({name: f"{words[k % 5]}_{k}" for k, name in enumerate(mag.names)})
    assert 140 <= pag.n_edges <= 160
    target = tmp_path_factory.mktemp("hundred") / "report.html"
    target.write_text(render_page(sample_page(pag)), encoding="utf-8")
    return target


@pytest.fixture
def opened(browser: Any, hundred: Path, width: int) -> Iterator[Visit]:
    visit = Visit(browser, hundred, viewport={"width": width, "height": 900})
    yield visit
    visit.close()


@pytest.fixture
def width() -> int:
    return 1280


def overlaps(names: list[list[Any]]) -> list[tuple[str, str]]:
    found = []
    for k, (a, left, top, right, bottom, *_) in enumerate(names):
        for b, left_, top_, right_, bottom_, *_ in names[:k]:
            if left < right_ - 0.5 and left_ < right - 0.5 and top < bottom_ - 0.5 and top_ < bottom - 0.5:
                found.append((a, b))
    return found


@pytest.mark.parametrize("width", [1280, 390])
def test_from_afar_no_name_covers_another(opened: Visit, width: int) -> None:
    page = opened.page
    names = page.evaluate(NAMES)
    assert len(names) >= (50 if width > 1000 else 10)
    assert overlaps(names) == []
    assert all(name[5] >= LEAST for name in names)
    assert all(name[6] for name in names)  # none sticks out
    assert [name[0] for name in names if not name[7]] == []  # none is covered
    before = len(names)
    for _ in range(3):
        page.click("#zoom-in")
    closer = page.evaluate(NAMES)
    assert len(closer) > before  # more names appear as one comes nearer
    assert overlaps(closer) == []


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_one_search_makes_each_name_readable(opened: Visit, step: int) -> None:
    page = opened.page
    page.locator("#graph").scroll_into_view_if_needed()
    names = page.locator("#graph .node").evaluate_all("all => all.map(node => node.getAttribute('aria-label'))")
    assert len(names) == 100
    names = names[::step]
    for name, seen in zip(names, page.evaluate(f"names => names.map({FIND})", names), strict=True):
        assert seen["selected"], name
        assert seen["size"] >= LEAST, name
        assert seen["height"] >= LEAST, name
        assert seen["free"], name
        assert seen["named"], name
    assert overlaps(page.evaluate(NAMES)) == []


def test_one_click_makes_a_name_readable(opened: Visit) -> None:
    page = opened.page
    mute = page.locator("#graph .node.mute").first
    name = mute.get_attribute("aria-label")
    mute.click()
    assert opened.details().startswith(name)
    seen = {found[0]: found for found in page.evaluate(NAMES)}
    assert seen[name][5] >= LEAST


def test_matches_that_do_not_fit_are_counted(opened: Visit) -> None:
    page = opened.page
    page.fill("#search", "_")
    assert page.locator("#matches [id]").count() == 50
    assert page.locator("#matches li").last.inner_text() == "and 50 more: type more of the name"
    page.fill("#search", "bmi_3")
    assert "more" not in page.inner_text("#matches")
