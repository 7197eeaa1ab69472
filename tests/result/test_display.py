"""How results, explanations and answers show themselves: printed, at a prompt, and in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

import numpy as np
import pytest

from lmarvel import DAG, FCI, Discovery, Knowledge, LMarvel, MSeparation
from lmarvel.cli.text import as_text
from lmarvel.datasets import CARS
from lmarvel.result.display import MOST_LINES, MOST_OPEN, caption, edge_lines, legend, warnings_of
from lmarvel.result.trace import Trace
from lmarvel.simulate import LinearSEM, erdos_renyi, hide

PAGE = 60  # lines
VOID = {"br", "hr", "img", "path", "rect", "circle"}


class Balanced(HTMLParser):
    """Reads HTML, and notes elements that are not closed, what they hold as text, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.said: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)


@pytest.fixture(scope="module")
def cars() -> Discovery:
    return LMarvel().fit(CARS).result_


@pytest.fixture(scope="module")
def wide() -> Discovery:
    dag = erdos_renyi(500, 0.005, seed=1)
    study = hide(dag, 0, 0, seed=1)
    rows = LinearSEM.random(dag, "benchmark", seed=1).sample(study, 400, seed=2)
    return LMarvel().fit(rows, names=study.observed).result_


def oracle(*edges: str) -> Discovery:
    return LMarvel(test=MSeparation(DAG.from_edges(*edges))).fit().result_


# --- printed ----------------------------------------------------------------------------------------------


def test_a_small_result_prints_all_its_edges_its_legend_and_its_notes(cars: Discovery) -> None:
    text = str(cars)
    assert text.startswith(f"{cars.verdict}\n\n{caption(cars)}\n")
    assert text.startswith(
        "7 associations among 6 variables (392 rows); 5 of them appear in at least 90 % of resamples."
    )
    for line in edge_lines(cars):
        assert line[:120] in text
    for kind in legend(cars):
        assert f"  A {kind} B   " in text
    assert text.count("Note: ") == len(warnings_of(cars)) == 2
    assert "no MAG has exactly this PAG" in text


def test_a_result_over_500_variables_prints_on_a_page(wide: Discovery) -> None:
    lines = str(wide).splitlines()
    assert wide.pag.n_edges > 400
    assert len(lines) < PAGE
    assert max(map(len, lines)) <= 160
    assert f"  and {wide.pag.n_edges - MOST_LINES:,} more edges, which print(result.shown()) shows" in lines


def test_long_names_and_many_notes_do_not_make_it_longer() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    found = LMarvel().fit({"A" * 5000: a, "B": a + rng.normal(size=300)}).result_
    assert max(map(len, str(found).splitlines())) <= 160


def test_one_edge_is_one_edge() -> None:
    found = oracle("A --> B")
    assert str(found).startswith("1 association among 2 variables.\n")
    assert repr(found) == "<Discovery: 1 association among 2 variables by LMarvel>"


def test_a_search_that_learned_nothing_says_so() -> None:
    found = LMarvel(max_tests=1, boundary="gs").fit(CARS).result_
    assert str(found).startswith("Nothing was learned about 6 variables (392 rows): the search ended ")
    assert caption(found) not in str(found)
    assert "<svg" not in found._repr_html_()


# --- notebooks --------------------------------------------------------------------------------------------


def test_a_notebook_shows_a_picture_that_fits_with_legend_and_warnings(cars: Discovery) -> None:
    page = Balanced(cars._repr_html_())
    assert page.open == []
    said = "".join(page.said)
    assert ("style", "max-width:100%;height:auto") in page.attributes
    for meaning in legend(cars).values():
        assert meaning in said
    for warning in warnings_of(cars):
        assert warning in said
    assert "392 rows" in said


def test_what_the_data_reject_is_a_warning() -> None:
    found = LMarvel(alpha=0.001).fit(CARS).result_
    assert found.check is not None
    assert found.check.failed
    rejected = (
        "The data reject 2 of 8 implied independences (0.008 expected by chance): do not read causes from this graph."
    )
    assert rejected in "".join(Balanced(found._repr_html_()).said)
    assert rejected in str(found).splitlines()[:4]


def test_what_was_known_changes_the_legend() -> None:
    known = Knowledge(selection=False, latents=False)
    found = LMarvel(test=MSeparation(DAG.from_edges("A --> C", "B --> C", "C --> D")), knowledge=known).fit().result_
    assert "in the sample" not in found._repr_html_()
    assert "unmeasured" not in str(found)


def test_names_reach_a_notebook_as_text() -> None:
    evil = "<script>alert(1)</script>"
    found = oracle(f'"{evil}" --> B', "A --> B")
    for shown in (found._repr_html_(), found.explain(evil, "B")._repr_html_()):
        assert "<script" not in shown
        assert evil in "".join(Balanced(shown).said)


def test_a_graph_without_edges_shows_that_there_are_none() -> None:
    rng = np.random.default_rng(3)
    found = LMarvel().fit({"A": rng.normal(size=200), "B": rng.normal(size=200)}).result_
    assert "no edges: no association was found" in found._repr_html_()


def test_an_explanation_shows_its_words(cars: Discovery) -> None:
    told = cars.explain("Weight", "SecondsTo60")
    assert repr(told) == str(told)
    page = Balanced(told._repr_html_())
    assert page.open == []
    said = " ".join(page.said)
    for reason in told.reasons():
        assert reason.text in said


@pytest.mark.parametrize("ask", [lambda f: f.check, lambda f: f.causes("D"), lambda f: f.effect("C", "D")])
def test_answers_show_their_words_at_a_prompt(ask: Callable[[Discovery], object]) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 2000))
    c = a + b + rng.normal(size=2000)
    found = LMarvel().fit({"A": a, "B": b, "C": c, "D": c + rng.normal(size=2000)}).result_
    answer = ask(found)
    shown = answer._repr_mimebundle_()  # type: ignore[attr-defined]
    assert shown == {"text/plain": str(answer)}
    assert "(" not in str(answer).split()[0]


def test_of_very_many_undecided_pairs_a_page_shows_the_first_and_counts_the_others() -> None:
    rng = np.random.default_rng(0)
    table = {f"V{v}": column for v, column in enumerate(rng.normal(size=(80, 200)))}
    found = FCI(boundary="none", max_tests=1500).fit(table).result_
    assert len(found.undecided) > MOST_OPEN
    assert not found.nothing_learned
    lines = list(edge_lines(found))
    assert sum("   undecided: " in line for line in lines) == MOST_OPEN
    left_out = len(found.undecided) - MOST_OPEN
    assert lines[-1] == f"  and {left_out:,} more undecided pairs, which --format edges prints"
    assert len(lines) == found.pag.n_edges - left_out + 1
    assert sum(doubts[0].kind == "undecided" for doubts in found.doubts.values()) == len(found.undecided)


def test_a_page_and_a_large_file_make_no_records_of_separated_pairs() -> None:
    rng = np.random.default_rng(0)
    table = {f"V{v}": column for v, column in enumerate(rng.normal(size=(160, 200)))}
    found = FCI(boundary="none").fit(table).result_
    assert isinstance(found.trace, Trace)
    assert found.pag.n_edges > 0
    as_text(found), str(found), found.to_dict()
    assert not found.trace.is_made
