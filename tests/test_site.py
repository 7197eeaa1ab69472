"""The documentation site: generated pages are whole, links are resolved, and what is wrong with one is found."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import lmarvel

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")


@pytest.fixture(scope="module")
def tools() -> dict[str, ModuleType]:
    """The modules that build the site; they need no Sphinx."""
    sys.path.insert(0, str(ROOT / "tools" / "site"))
    try:
        return {name: importlib.import_module(name) for name in ("reference", "stage", "links", "cards")}
    finally:
        sys.path.pop(0)


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_every_public_name_has_its_place_in_the_reference(tools: dict[str, ModuleType]) -> None:
    pages = tools["reference"].api_pages()
    text = "\n".join(pages.values())
    assert [name for name in lmarvel.__all__ if f":: lmarvel.{name}\n" not in text] == []


def test_a_public_name_without_a_place_is_refused(
    tools: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lmarvel, "__all__", [*lmarvel.__all__, "Newcomer"])
    with pytest.raises(ValueError, match="Newcomer"):
        tools["reference"].api_pages()


def test_every_command_and_option_is_on_the_page_of_commands(tools: dict[str, ModuleType]) -> None:
    import typer

    from lmarvel.cli import app

    page = tools["reference"].command_page()
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        section = page.split(f"## {name}\n")[1].split("\n## ")[0]
        flags = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
        assert [flag for flag in flags if not re.search(rf"{flag}[ ,`]", section)] == [], name


def test_every_page_has_its_place_in_the_navigation(tools: dict[str, ModuleType]) -> None:
    stage = tools["stage"]
    listed = {f"{page}.md" for below in stage.TREE.values() for page in below} | {"index.md"}
    shown = {place for place in [*stage.sources().values(), *stage.generated()] if place.endswith(".md")}
    assert shown == listed


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_the_links_of_a_page_lead_to_files_of_the_repository(page: Path, tools: dict[str, ModuleType]) -> None:
    tools["stage"].relinked(page.read_text(encoding="utf-8"), label(page), "there/page.md")


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_the_pictures_of_a_page_are_there(page: Path) -> None:
    missing = [one for one in PICTURE.findall(page.read_text(encoding="utf-8")) if not (page.parent / one).is_file()]
    assert missing == []


def test_links_are_written_for_the_place_in_the_site(tools: dict[str, ModuleType]) -> None:
    relinked = tools["stage"].relinked
    source = "docs/tutorials/first-steps.md"
    page = "[a](../guide.md#your-table) [b](../../CHANGELOG.md) [c](../../Makefile) [d](https://x.org/y) [e](#f)"
    changed = "[a](../guide.md#your-table) [b](../changelog.md) c [d](https://x.org/y) [e](#f)"
    assert relinked(page, source, "tutorials/first-steps.md") == changed
    assert relinked("```\n[a](nowhere.md)\n```\n", source, "x.md") == "```\n[a](nowhere.md)\n```\n"
    with pytest.raises(ValueError, match=r"first-steps\.md links to nowhere\.md"):
        relinked("[a](nowhere.md)", source, "x.md")


def test_what_is_wrong_with_links_is_found(tools: dict[str, ModuleType], tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<h1 id="top-of-it">x</h1>', encoding="utf-8")
    (tmp_path / "page.html").write_text(
        '<a href="other.html#top-of-it">good</a> <a href="https://example.org/a">good</a> <a href="#">good</a>'
        '<a href="other.html#not">1</a> <a href="gone.html">2</a> <a href="https://nodots/a">3</a>'
        '<script src="https://example.org/a.js"></script><img src="gone.png">',
        encoding="utf-8",
    )
    found = "\n".join(tools["links"].faults(tmp_path))
    assert found.count("\n") == 4
    for part in ("other.html#not has no such", "gone.html leads", "nodots/a is no", "loads https", "gone.png leads"):
        assert part in found


@pytest.mark.slow
def test_the_figures_are_those_that_the_examples_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    drawing = importlib.import_module("draw_tutorial")
    drawing.main(tmp_path)
    drawn = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.svg"))
    assert len(drawn) == sum(map(len, drawing.FIGURES.values()))
    charts = {"gene-expression-rows.svg", "selection-bias-scatter.svg"}  # whose bytes are Matplotlib's, by its version
    differ = [one for one in drawn if (tmp_path / one).read_bytes() != (ROOT / "docs" / one).read_bytes()]
    assert [one for one in differ if one.name not in charts] == []


# --- finding one's way -----------------------------------------------------------------------------------------

SOUGHT = {  # what people type into the search box, and the page that is to come first
    "install": "installation.md",
    "time series": "panels.md",
    "intervention": "tutorials/intervention.md",
    "glossary": "glossary.md",
}


@pytest.fixture(scope="module")
def titles(tools: dict[str, ModuleType]) -> dict[str, str]:
    """The titles of all pages of the site, by place."""
    stage = tools["stage"]
    texts = {
        place: (ROOT / source).read_text("utf-8") for source, place in stage.sources().items() if place[-3:] == ".md"
    }
    return {
        place: re.findall(r"^# (.+)$", text, re.MULTILINE)[0] for place, text in {**texts, **stage.generated()}.items()
    }


def test_no_two_pages_have_one_title(titles: dict[str, str]) -> None:
    lowered = [title.lower().removeprefix("the ") for title in titles.values()]
    assert sorted({title for title in lowered if lowered.count(title) > 1}) == []


@pytest.mark.parametrize(("words", "page"), SOUGHT.items())
def test_one_page_has_in_its_title_what_people_search_for(words: str, page: str, titles: dict[str, str]) -> None:
    """Sphinx ranks titles first, so the page that is meant is the only one whose title has the words."""
    assert [place for place, title in titles.items() if all(word in title.lower() for word in words.split())] == [page]


def test_the_seven_doors(tools: dict[str, ModuleType], titles: dict[str, str]) -> None:
    doors = [titles[f"{page}.md"] for page in tools["stage"].TREE["index.md"]]
    assert doors == ["Get started", "Tutorials", "Guide", "API", "Command line", "Evidence", "Contributing"]


def test_each_estimator_has_a_page_with_its_parameters_and_fit(tools: dict[str, ModuleType]) -> None:
    reference = tools["reference"]
    pages = reference.api_pages()
    for name in reference.ESTIMATORS:
        assert f".. autoclass:: lmarvel.{name}\n   :members:" in pages[f"api/{name}.md"]
        assert f"[{name}]({name}.md)" in pages["api/index.md"]
        assert "fit" not in reference.INNER


def test_lists_become_cards_with_thumbnails(tools: dict[str, ModuleType]) -> None:
    page = ROOT / "docs" / "tutorials" / "README.md"
    with_cards = tools["cards"].with_cards
    text = with_cards(page.read_text("utf-8"), page)
    assert text.count(":::{grid-item-card}") == len(tools["stage"].TREE["tutorials/index.md"])
    assert text.count("![") >= 10
    with pytest.raises(ValueError, match="a card is"):
        with_cards("<!-- cards -->\n\n- no link\n", page)
