"""The app in a browser: the six jobs of a new user by mouse and by keyboard, two windows, hostile names, access."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lmarvel import Discovery
from lmarvel.app.server import door_of
from lmarvel.datasets import CARS
from tests.app.conftest import Serve, Window
from tests.report.browsing import HOSTILE

STEPS = ("table", "know", "learn", "graph", "ask", "take")


def texts(page: Any, selector: str) -> list[str]:
    return [str(text) for text in page.locator(selector).all_inner_texts()]


def saved(page: Any, link: Any, folder: Path) -> Path:
    with page.expect_download() as coming:
        link()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path


def test_the_six_jobs_by_mouse(serve: Serve, visit: Any, tmp_path: Path) -> None:
    window: Window = visit(serve())
    page = window.page
    # 1. The table: a bundled one, then a file; a remedy beside a column.
    page.get_by_role("button", name="cars", exact=True).click()
    page.wait_for_selector("#learn-now")
    page.set_input_files("#file", CARS)
    page.get_by_role("button", name="Use as ordered categories (Cylinders)").click()
    page.wait_for_selector('#use-1 option[value="ordinal"]:checked', state="attached")
    page.select_option("#use-5", "drop")
    page.wait_for_selector("tr.out")
    assert "5 variables to learn from" in page.inner_text("#table-body")
    page.get_by_text("First rows").click()
    assert texts(page, ".cells thead th")[0] == "MilesPerGallon"
    # 2. What is known: tiers by dragging; a statement that contradicts them, with the smallest set; its removal.
    window.step("know")
    page.locator(".chip-name", has_text="Cylinders").drag_to(page.locator(".tier").nth(1))
    page.locator(".chip-name", has_text="Weight").drag_to(page.locator(".tier").nth(2))
    page.wait_for_selector(".statements >> text=tiers: Cylinders < Weight")
    page.select_option("#statement-a", "Weight")
    page.select_option("#statement-b", "Cylinders")
    page.click("#statement-add")
    page.wait_for_selector("#statement-trouble li")
    assert sorted(texts(page, "#statement-trouble li")) == ["Weight causes Cylinders", "tiers: Cylinders < Weight"]
    page.get_by_role("button", name="Remove: Weight causes Cylinders").click()
    page.wait_for_selector("#statement-trouble li", state="detached")
    # 3. Learn, and the verdict on top of the graph.
    window.step("learn")
    page.click("#learn-start")
    page.wait_for_selector("#verdict-lines p")
    assert "5 variables (392 rows)" in page.inner_text("#verdict-lines p:first-child")
    # 4. An edge: the sentence, the evidence, what would change it; stated and learned again, and what changed.
    page.locator("#edge-table tbody tr").first.click()
    details = page.inner_text("#details").lower()
    assert "why" in details
    assert "what would change it" in details
    page.locator(".state-it button").last.click()
    page.wait_for_selector("#result-heading >> text=Graph of run 2")
    window.step("learn")
    page.click("#compare")
    page.wait_for_selector("#comparison p")
    assert "Stated in addition:" in page.inner_text("#comparison")
    # 5. A question: lit paths, and a way to settle it.
    window.step("ask")
    page.select_option("#cause", label="Weight")
    page.select_option("#outcome", label="MilesPerGallon")
    page.click("#answer")
    page.wait_for_selector("#effect .answer .note >> text=This rests on")
    lit = page.locator("#graph .node.selected").evaluate_all(
        "nodes => nodes.map((n) => n.getAttribute('aria-label')).sort()"
    )
    assert lit == ["MilesPerGallon", "Weight"]
    # 6. Files, commands, and the log.
    window.step("take")
    page.wait_for_selector(".recipes details")
    path = saved(page, lambda: page.get_by_role("link", name="Result file").click(), tmp_path)
    assert len(Discovery.load(path).pag) == 5
    page.locator(".recipes summary", has_text="Learn").click()
    assert "--drop SecondsTo60 --ordinal Cylinders --knowledge" in page.inner_text(".recipes")
    assert any("Asked run 2: does Weight affect MilesPerGallon?" in line for line in texts(page, ".log li"))


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def reach(page: Any, selector: str, most: int = 120) -> None:
    """Go to an element with the Tab key alone."""
    for _ in range(most):
        if page.evaluate("(s) => document.activeElement.matches(s)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} is not reached by the Tab key")


def choose(page: Any, selector: str, letters: str, tries: int = 4) -> None:
    """Choose from a list by its first letters; a browser that was busy takes late ones for a new word."""
    reach(page, selector)
    for _ in range(tries):
        page.keyboard.type(letters)
        if page.eval_on_selector(selector, "(list) => list.selectedOptions[0].text").startswith(letters):
            return
        page.wait_for_timeout(1500)  # until the browser has forgotten them
    raise AssertionError(f"{letters!r} does not choose from {selector}")


def test_the_six_jobs_by_keyboard(serve: Serve, visit: Any, tmp_path: Path) -> None:
    window: Window = visit(serve(CARS))
    page = window.page
    page.wait_for_selector("#learn-now")
    # 1. The use of a column.
    reach(page, "#use-5")
    page.keyboard.type("Leave")
    page.wait_for_selector("tr.out")
    assert page.evaluate("document.activeElement.id") == "use-5"
    # 2. A tier by arrow keys, and a statement.
    page.evaluate("document.activeElement.blur()")
    reach(page, '#steps a[href="#know"]')
    press(page, "Enter")
    reach(page, '.chip-name[aria-label="Cylinders, no tier"]')
    press(page, "ArrowRight")
    page.wait_for_selector('.chip-name[aria-label="Cylinders, tier 1"]:focus')
    reach(page, '.chip-name[aria-label="Weight, no tier"]')
    press(page, "ArrowRight")
    page.wait_for_selector('.chip-name[aria-label="Weight, tier 1"]:focus')
    press(page, "ArrowRight")
    page.wait_for_selector(".statements >> text=tiers: Cylinders < Weight")
    page.wait_for_selector('.chip-name[aria-label="Weight, tier 2"]:focus')
    choose(page, "#statement-kind", "A is")
    choose(page, "#statement-a", "Horse")
    reach(page, "#statement-add")
    press(page, "Enter")
    page.wait_for_selector(".statements >> text=Horsepower is randomised")
    reach(page, '[aria-label="Remove: Horsepower is randomised"]')
    press(page, "Enter")
    page.wait_for_selector(".statements >> text=Horsepower is randomised", state="detached")
    # 3. Learn.
    page.evaluate("document.activeElement.blur()")
    reach(page, '#steps a[href="#learn"]')
    press(page, "Enter")
    reach(page, "#learn-start")
    press(page, "Enter")
    page.wait_for_selector("#verdict-lines p")
    # 4. An edge, and what would change it.
    reach(page, "#graph .edge")
    press(page, "ArrowRight", "Enter")
    page.wait_for_selector("#details >> text=State this as knowledge and learn again")
    press(page, "Escape")
    # 5. A question.
    page.evaluate("document.activeElement.blur()")
    reach(page, '#steps a[href="#ask"]')
    press(page, "Enter")
    reach(page, "#cause")
    page.keyboard.type("Weight")
    reach(page, "#outcome")
    page.keyboard.type("Miles")
    reach(page, "#answer")
    press(page, "Enter")
    page.wait_for_selector("#effect .answer .note >> text=This rests on")
    assert page.locator("#graph .edge.way, #graph .edge.stray").count() > 0
    assert "WHAT WOULD SETTLE IT" in page.inner_text("#effect")
    # 6. A file.
    page.evaluate("document.activeElement.blur()")
    reach(page, '#steps a[href="#take"]')
    press(page, "Enter")
    page.wait_for_selector(".recipes details")
    reach(page, 'a[href$="/files/edges"]')
    path = saved(page, lambda: press(page, "Enter"), tmp_path)
    assert "nodes:" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1280, "light"),
        (390, "dark"),
        pytest.param(1280, "dark", marks=pytest.mark.slow),
        pytest.param(390, "light", marks=pytest.mark.slow),
    ],
)
def test_nobody_is_kept_out(serve: Serve, visit: Any, width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    app = serve(CARS)
    window: Window = visit(app, viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = window.page
    page.click("#learn-now")
    page.wait_for_selector("#verdict-lines p")
    page.locator("#edge-table tbody tr").first.click()
    for step in STEPS:
        window.step(step)
        page.wait_for_selector(f'#steps a[href="#{step}"][aria-current]')
        page.wait_for_timeout(300)
        found = axe.run(page).response["violations"]
        assert [
            (step, one["id"], one["nodes"][0]["target"]) for one in found if one["impact"] in ("serious", "critical")
        ] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), step


def test_two_windows_do_not_overwrite_each_other(serve: Serve, visit: Any) -> None:
    app = serve(CARS)
    window: Window = visit(app)
    other = window.another()
    other.goto(f"http://{app.host}/#know")
    other.wait_for_selector(".chip-name")
    window.step("know")
    window.page.wait_for_selector(".chip-name")
    window.page.locator("summary", has_text="The same as text").click()
    other.locator("summary", has_text="The same as text").click()
    window.page.fill("#statement-text", "Weight causes Horsepower")
    other.wait_for_selector(".statements >> text=Weight causes Horsepower")  # it hears of it
    # What an editor writes counts as another window: the page shows it, and does not write over it.
    app.running.project.write_statements("no latents", app.running.project.statements[1])
    window.trouble.clear()
    other.fill("#statement-text", "no selection")
    other.wait_for_selector("#messages >> text=changed in another window or program")
    assert app.running.project.statements[0] == "no latents"
    other.wait_for_selector(".statements >> text=no latents", state="attached")
    window.trouble[:] = [text for text in window.trouble if "409" not in text]


def test_names_are_text_and_the_end_of_the_app_is_said(serve: Serve, visit: Any, tmp_path: Path) -> None:
    names = [*HOSTILE[:6], "plain"]
    rows = [[str((k * (7 + 4 * j)) % 31 + (k % 5) * j) for j in range(len(names))] for k in range(60)]
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    table = tmp_path / "<b>t.csv"
    table.write_text("\n".join(",".join(row) for row in [quoted, *rows]), encoding="utf-8")
    app = serve(table)
    window: Window = visit(app)
    page = window.page
    page.wait_for_selector("#learn-now")
    assert page.locator("tbody th", has_text=HOSTILE[0]).count() == 1
    window.step("know")
    page.wait_for_selector(".chip-name")
    page.select_option("#statement-a", names[0])
    page.select_option("#statement-b", names[1])
    page.click("#statement-add")
    page.wait_for_selector(".statements li")
    window.step("learn")
    page.click("#learn-start")
    page.wait_for_selector("#verdict-lines p")
    window.step("take")
    page.wait_for_selector(".recipes details")
    assert page.locator("img").count() == 0
    page.click("#stop")
    page.wait_for_selector("#messages .notice")
    app.thread.join(30)
    assert not app.thread.is_alive()


def test_the_file_that_a_browser_is_given_leads_into_the_app(serve: Serve, browser: Any, tmp_path: Path) -> None:
    app = serve(CARS)
    door = door_of(tmp_path, app.running.address)
    if os.name == "posix":
        assert door.stat().st_mode & 0o077 == 0  # the address lets one in, and is for this user only
    context = browser.new_context()
    page = context.new_page()
    page.goto(door.as_uri())
    page.wait_for_selector("body[data-ready]", timeout=30_000)
    assert page.url.startswith(f"http://{app.host}/")
    assert "token" not in page.url
    context.close()
