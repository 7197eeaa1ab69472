"""The effects of a page: what stands in its data, and what a reader sees of it in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmarvel import PAG, Dataset, Discovery, Lift, Statistics, all_effects, effect
from lmarvel.report import effects, page_of, write_report
from tests.cli.running import run, write_csv
from tests.effects.graded import graded
from tests.report.browsing import Visit, edge, node

PAIRS = PAG.from_edges("Z o-> X", "W o-> X", "X --> M", "M --> Y", "Z --> Y", "nodes: Z W X M Y Q")


def result(pag: PAG = PAIRS) -> Discovery:
    return Discovery(pag, {}, {}, Statistics({}, {}))


def table(n: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    z, w, q, u, v, e = rng.normal(size=(6, n))
    x = z + w + u
    m = 0.7 * x + v
    return {"Z": z, "W": w, "X": x, "M": m, "Y": 0.6 * m + 0.8 * z + e, "Q": q}


def told(data: Any = None, pag: PAG = PAIRS) -> dict[str, Any]:
    return dict(page_of(result(pag), data=data)["effects"])


def pair(shown: dict[str, Any], x: str, y: str) -> dict[str, Any] | None:
    found: dict[str, Any] | None = shown["pairs"].get(f"{PAIRS.index(x)},{PAIRS.index(y)}")
    return found


# --- data -------------------------------------------------------------------------------------------------


def test_where_nothing_is_learned_again_the_page_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def notes() -> str:
        return " ".join(effects.effects_of(found, Dataset.of(rows))["notes"])

    rows = table(3000)
    found = Lift().fit(rows).result_
    ignored = "Intervals ignore uncertainty about the graph, because "
    monkeypatch.setattr(effects, "WITHIN", 0.0)
    assert f"{ignored}learning again from 200 resamples would take about " in notes()
    assert f"{ignored}the result does not say by which method it was learned" in " ".join(told(table())["notes"])
    monkeypatch.setattr(effects, "MOST_AGAIN", 0)
    assert " too many to learn again for: 'lmarvel effect' learns again for one pair." in notes()


def test_every_pair_has_its_answer_and_those_without_effect_share_one() -> None:
    shown = told()
    expected = {(one.x, one.y): one.status for one in all_effects(PAIRS)}
    for (x, y), status in expected.items():
        found = pair(shown, x, y)
        assert (found["status"] if found else "none") == status
    sentence = shown["none"].replace("{x}", "Y").replace("{y}", "X")
    assert sentence == effect(PAIRS, "Y", "X").sentence


def test_an_identified_pair_tells_a_smallest_set_and_the_paths_that_it_blocks() -> None:
    found = pair(told(), "X", "Y")
    assert found is not None
    assert found["adjust"] == [PAIRS.index("Z")]
    assert found["paths"] == [[PAIRS.index("Z"), [PAIRS.index(v) for v in "XZY"], "X <-o Z --> Y"]]
    assert "by adjusting for Z" in found["sentence"]
    assert "numbers" not in found
    alone = pair(told(), "X", "M")
    assert alone is not None
    assert alone["adjust"] == []


def test_a_table_gives_the_estimate_with_its_interval() -> None:
    data = table()
    found = pair(told(data), "X", "Y")
    assert found is not None
    [[contrast, number, _, method]] = found["numbers"]
    assert (contrast, method) == ("one unit more of X", "least squares, HC3")
    assert found["sentence"] == f"X affects Y by {number} under every explanation of these data."
    told_by = effect(result(), "X", "Y", data)
    [[compared, rows]] = found["forest"]
    assert compared == contrast
    assert [row[0] for row in rows] == ["Adjusting for Z", "Adjusting for W, Z"]
    assert rows[0][1:4] == pytest.approx([told_by.estimates[0].value, *told_by.estimates[0].in_graph], rel=1e-5)
    assert found["fragile"] == told_by.fragility


def test_a_pair_that_cannot_be_told_names_the_path_in_the_way() -> None:
    found = pair(told(table()), "Z", "Y")
    assert found is not None
    assert found["paths"] == [[None, [PAIRS.index("Z"), PAIRS.index("Y")]]]
    assert " if you measure " in found["sentence"]


def test_the_work_is_bounded_and_what_was_left_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "WORK", 0.0)
    shown = told(table())
    assert "numbers" not in (pair(shown, "X", "Y") or {})
    assert shown["notes"] == [
        "3 identified effects have no estimate here, to save time: 'lmarvel effect' estimates one pair."
    ]


def test_a_table_that_cannot_be_used_is_a_note_and_not_the_end() -> None:
    flat = table()
    flat["X"][:] = 1.0
    [note] = told(flat)["notes"]
    assert note.startswith("No effect is estimated here: ")
    short = {name: column[:5] for name, column in table().items()}
    assert "more rows are needed" in str(told(short))


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (result(PAG.from_edges("A --> B", "B --> C", "A <-> C")), "No effect can be read from this PAG, because "),
        (result(PAG.from_edges(nodes=[f"V{i}" for i in range(61)])), "61 variables are too many for this page"),
        (
            Discovery(PAIRS, {}, {}, Statistics({}, {}), undecided=(("Z", "X"),)),
            "The search ended before 1 pair of variables could be decided",
        ),
    ],
)
def test_where_no_effect_can_be_read_the_page_says_why(found: Discovery, why: str) -> None:
    assert why in page_of(found)["effects"]["why"]


# --- command line -----------------------------------------------------------------------------------------


def test_a_report_of_a_result_takes_the_table(tmp_path: Path) -> None:
    result().save(tmp_path / "r.json")
    data = write_csv(tmp_path / "d.csv", table())
    plain, full = tmp_path / "plain.html", tmp_path / "full.html"
    assert run("report", tmp_path / "r.json", plain).code == 0
    assert run("report", tmp_path / "r.json", full, "--data", data).code == 0
    assert "least squares, HC3" not in plain.read_text()
    assert "least squares, HC3" in full.read_text()


def test_a_report_of_learning_has_estimates(tmp_path: Path) -> None:
    data = write_csv(tmp_path / "d.csv", table(2000))
    assert run("learn", data, "--report", tmp_path / "r.html", "--quiet").code == 0
    assert "least squares, HC3" in (tmp_path / "r.html").read_text()


def test_options_of_a_table_without_a_table_are_refused(tmp_path: Path) -> None:
    result().save(tmp_path / "r.json")
    done = run("report", tmp_path / "r.json", tmp_path / "r.html", "--missing", "drop")
    assert (done.code, done.err) == (2, "lmarvel: options of a table need the table: name it with --data\n")


# --- browser ----------------------------------------------------------------------------------------------


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    visits: list[Visit] = []

    def go(found: Discovery, data: Any = None, **options: Any) -> Any:
        write_report(found, tmp_path / "report.html", data=data)
        visits.append(Visit(browser, tmp_path / "report.html", **options))
        return visits[-1].page

    yield go
    for one in visits:
        one.close()


def ask(page: Any, x: str, y: str) -> str:
    page.select_option("#cause", label=x)
    page.select_option("#outcome", label=y)
    return str(page.inner_text(".answer"))


def classes(found: Any) -> set[str]:
    return set((found.get_attribute("class") or "").split())


def test_the_answer_is_read_and_what_it_speaks_of_is_lit(opened: Any) -> None:
    page = opened(result(), table())
    answer = ask(page, "X", "Y")
    assert "Identified" in answer
    assert "X affects Y by 0." in answer
    assert "Without Z this path is open: X <-o Z --> Y" in answer
    assert "way" in classes(edge(page, "X --> M"))
    assert "stray" in classes(edge(page, "Z --> Y"))
    assert "near" not in classes(edge(page, "W o-> X"))
    assert "adjusted" in classes(node(page, "Z"))
    assert "selected" in classes(node(page, "X")) & classes(node(page, "Y"))
    assert page.inner_text("#status") == "Effect of X on Y: identified"
    assert "Nothing: no other path is open." in ask(page, "X", "M")


def test_the_other_way_round_there_is_no_effect(opened: Any) -> None:
    page = opened(result(), table())
    assert "The interval ignores uncertainty" in ask(page, "X", "Y")
    page.click("#swap")
    answer = page.inner_text(".answer")
    assert answer.endswith("This rests on the learned graph being right, and on a sample that was not selected.")
    assert "Y does not affect X under any explanation of these data" in answer
    assert page.locator("#graph .way, #graph .stray, #graph .adjusted").count() == 0


def test_a_selection_takes_the_place_of_the_answer_which_can_be_asked_for_again(opened: Any) -> None:
    page = opened(result())
    ask(page, "Z", "Y")
    assert "Not identified" in page.inner_text(".answer")
    page.keyboard.press("Escape")
    assert page.locator("#graph.chosen, #graph .stray").count() == 0
    assert page.inner_text(".answer") == ""
    page.click("#answer")
    assert "stray" in classes(edge(page, "Z --> Y"))
    page.click("#edge-table .link >> nth=0")
    assert page.locator("#graph .stray").count() == 0
    assert page.locator("#graph .edge.selected").count() == 1


def test_a_question_is_asked_by_keyboard_alone(opened: Any) -> None:
    page = opened(result())
    page.focus("#cause")
    page.keyboard.type("X")
    page.keyboard.press("Tab")
    page.keyboard.type("Y")
    assert page.evaluate("document.activeElement.id") == "outcome"
    assert "The effect of X on Y is identified, and can be estimated by adjusting for Z." in page.inner_text(".answer")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert "Y does not affect X" in page.inner_text(".answer")


def test_a_variable_and_itself_are_no_question(opened: Any) -> None:
    page = opened(result())
    assert ask(page, "X", "X") == "Choose two different variables."
    assert page.is_disabled("#answer")


@pytest.mark.parametrize("width", [390, 1300])
def test_the_question_fits_the_screen(opened: Any, width: int) -> None:
    long = {name: f"{name}_" + "very_long_name_of_a_variable_" * 4 for name in PAIRS.names}
    page = opened(result(PAIRS.relabel(long)), viewport={"width": width, "height": 800})
    ask(page, long["X"], long["Y"])
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_same_effect_by_each_adjustment_set_is_a_forest_plot(opened: Any) -> None:
    page = opened(result(), table())
    answer = ask(page, "X", "Y")
    assert "HOW FRAGILE IS IT?" in answer
    assert "would bring this to 0" in answer
    assert page.locator(".forest li").count() == 2
    assert "Adjusting for W, Z: " in page.inner_text(".forest li:last-child")
    middles = [bar.get_attribute("cx") for bar in page.locator(".forest circle").all()]
    starts = [bar.get_attribute("x1") for bar in page.locator(".forest .zero").all()]
    assert all(0 < float(place[:-1]) < 100 for place in (*middles, *starts))
    assert len(set(starts)) == 1  # one scale for all
    assert "M" in ask(page, "X", "M")
    ask(page, "Z", "Y")
    assert page.locator(".forest").count() == 0  # it is not identified


def test_names_are_text_in_answers(opened: Any) -> None:
    wild = {"X": "<img src=x onerror=alert(1)>", "Y": "{x} {y}", "Z": "</script><script>alert(2)</script>"}
    page = opened(result(PAIRS.relabel(wild)))
    assert wild["X"] in ask(page, wild["X"], wild["Y"])
    assert "{x} {y} does not affect <img" in ask(page, wild["Y"], wild["X"])


def test_a_page_that_cannot_answer_says_why(opened: Any) -> None:
    page = opened(result(PAG.from_edges("A --> B", "B --> C", "A <-> C")))
    page.select_option("#cause", index=1)
    page.select_option("#outcome", index=2)
    assert "No effect can be read from this PAG" in page.inner_text("#effect")
    assert page.locator(".answer .badge").all_inner_texts() == ["Edge"]


def test_a_learned_graph_says_how_firm_it_is(opened: Any) -> None:
    weak = PAG.from_edges("Z o-> X", "W o-> X", "X o-o M", "M --> Y", "Z --> Y", nodes=PAIRS.names)
    page = opened(graded(PAIRS, [PAIRS] * 10 + [weak] * 10), table())
    assert "Identified, but unreliable: the direction of X --> M is not established" in ask(page, "X", "Y")
    answer = ask(page, "M", "X")
    assert "Not established" in answer
    assert "No path from M to X in the learned graph, but this is not established: " in answer
    assert "does not affect" not in answer
    assert "plain" not in classes(page.locator(".answer .badge").last)  # so that it is seen to be in doubt


def test_many_pairs_without_an_effect_share_one_answer(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "MOST_ABSENT", 5)
    page = opened(graded(PAIRS, [PAIRS] * 10), table())
    answer = ask(page, "M", "X")
    assert "No path from M to X in the learned graph. How firm that is: 'lmarvel effect' reports it." in answer
    assert "does not affect" not in answer
