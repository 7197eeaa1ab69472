"""Partial correlations come from the table that was learned from, or are not shown."""

from __future__ import annotations

import base64
import json
import zlib

import numpy as np
import pytest

from lmarvel import Lift, LMarvel
from lmarvel.data import Dataset
from lmarvel.datasets import CARS
from lmarvel.report import compressed, page_of
from lmarvel.report.association import associations, partial_correlation


def residual_correlation(rows, x, y, given):
    """The correlation of what regressions leave of two columns."""
    design = np.column_stack([np.ones(len(rows)), rows[:, given]])
    left = [rows[:, v] - design @ np.linalg.lstsq(design, rows[:, v], rcond=None)[0] for v in (x, y)]
    return np.corrcoef(*left)[0, 1]


def test_they_are_those_of_regressions():
    table = Dataset.of(CARS)
    found = LMarvel().fit(CARS).result_
    told = associations(found, table)
    assert len(told) == found.pag.n_edges
    for edge in found.pag.edges():
        one = told[frozenset((edge.a, edge.b))]
        at = [found.pag.index(name) for name in (edge.a, edge.b, *one.given)]
        expected = residual_correlation(table.values(), at[0], at[1], at[2:])
        assert one.value == pytest.approx(expected, abs=1e-9)
        around = [found.boundaries[end] - {edge.a, edge.b} for end in (edge.a, edge.b)]
        assert frozenset(one.given) in around
        assert len(one.given) == min(map(len, around))


def test_signs_and_widths_follow_them():
    rng = np.random.default_rng(0)
    a, b, d = rng.normal(size=(3, 3000))
    table = {"a": a, "b": b, "c": 2 * a - 0.2 * b + d}
    page = page_of(LMarvel().fit(table).result_, data=table)
    edges = {edge["text"]: edge for edge in page["edges"]}
    strong, weak = edges["a o-> c"], edges["b o-> c"]
    assert strong["association"]["shown"].startswith("+0.8")
    assert weak["association"]["shown"].startswith("−0.")
    assert strong["width"] > 2 * weak["width"]
    assert page["widths"].startswith("The number on an edge is its partial correlation")


def test_without_the_table_none_is_told():
    found = LMarvel().fit(CARS).result_
    page = page_of(found)
    assert {edge["association"] for edge in page["edges"]} == {None}
    assert page["widths"] == "The smaller the largest p-value of an edge, the thicker its line."
    other = {name: column * 1.5 + 1 for name, column in zip(found.pag.names, Dataset.of(CARS).values().T, strict=True)}
    assert associations(found, Dataset.of(other)) == {}  # another table says nothing of this result
    assert associations(found, Dataset.of({"x": [1.0, 2.0, 4.0], "y": [2.0, 1.0, 5.0]})) == {}


def test_scores_are_widths_where_there_is_no_table():
    found = Lift(test="fisher-z").fit(CARS).result_
    page = page_of(found)
    assert page["widths"] == "The more the score worsens without an edge, the thicker its line."
    ranked = sorted(page["edges"], key=lambda edge: edge["loss"])
    assert [edge["width"] for edge in ranked] == sorted(edge["width"] for edge in ranked)


def test_levels_have_no_correlation():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    table = {
        "x": x,
        "y": x + rng.normal(size=2000),
        "level": np.where(x > 0.5, "high", np.where(x < -0.5, "low", "mid")),
    }
    found = LMarvel().fit(table).result_
    told = associations(found, Dataset.of(table))
    assert not any("level" in pair for pair in told)
    assert all("level" not in one.given for one in told.values())


@pytest.mark.parametrize("matrix", [np.ones((3, 3)), np.array([[1.0, np.nan], [np.nan, 1.0]]), np.ones((2, 2))])
def test_what_is_not_defined_is_not_told(matrix):
    assert partial_correlation(matrix) is None


# --- what the page carries --------------------------------------------------------------------------------


def unpacked(text):
    return zlib.decompress(base64.b64decode(text)).decode()


def test_gaps_are_told_as_the_result_tells_them():
    found = LMarvel().fit(CARS, bootstrap=10, seed=0).result_
    told = json.loads(unpacked(compressed.gaps_of(found)["packed"]))
    names = found.pag.names
    gaps = {(i, j) for j in range(6) for i in range(j) if found.pag.edge(i, j) is None}
    assert {tuple(map(int, key.split(","))) for key in told["pairs"]} == gaps
    for i, j in gaps:
        meaning, reason, whole, *firmness = told["pairs"][f"{i},{j}"]
        expected = found.explain(names[i], names[j])
        head = "" if whole else f"No edge: {names[i]} and {names[j]}"
        assert told["texts"][meaning] == expected.meaning
        assert head + told["texts"][reason] == expected.adjacency.text
        assert firmness == list(expected.reliability)


def test_what_is_too_much_is_left_out_and_said(monkeypatch):
    found = LMarvel().fit(CARS).result_
    monkeypatch.setattr(compressed, "MOST_PAIRS", 7)
    monkeypatch.setattr(compressed, "MOST_BYTES", 100)
    page = page_of(found)
    assert page["gaps"]["why"] == (
        "8 pairs without an edge are too many for this page: 'lmarvel explain' says why a pair has none."
    )
    assert "too large for this page" in page["result"]["why"]
