"""The page is one file, holds the data safely, and forbids everything else."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from typing import Any

import pytest

from lmarvel import PAG
from lmarvel.report import render_page
from lmarvel.report.page import as_json
from tests.report.sample import sample_page

PAG_OF_FOUR = PAG.from_edges("A o-> C", "B o-> C", "C --> D", "A <-> D")


def data_of(text: str) -> Any:
    [block] = re.findall(r'<script type="application/json" id="page-data">(.*?)</script>', text, flags=re.DOTALL)
    return json.loads(block)


def test_the_data_come_back_as_they_were_given() -> None:
    page = sample_page(PAG_OF_FOUR, settings=[])
    assert data_of(render_page(page)) == page


def test_hostile_text_ends_no_block() -> None:
    hostile = "</script><!-- ]]> & \u2028\u2029 {{script}} \ud800 \x00"
    text = render_page({"title": hostile, "nodes": [], "edges": []})
    assert data_of(text)["title"] == hostile
    assert text.lower().count("</script") == 2
    assert "<!--" not in text
    assert text.encode("utf-8")
    assert as_json("<>&\u2028") == '"\\u003c\\u003e\\u0026\\u2028"'


def test_numbers_that_json_lacks_are_replaced() -> None:
    assert json.loads(as_json({"a": [float("nan"), float("inf"), -float("inf"), 1.5]})) == {"a": [None, "∞", "−∞", 1.5]}


def test_the_policy_names_what_stands_inside() -> None:
    text = render_page(sample_page(PAG_OF_FOUR))
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    policy = html.unescape(policy)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        [content] = re.findall(rf"<{tag}>(.*?)</{tag}>", text, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_nothing_is_loaded_and_no_markup_is_made_from_text() -> None:
    text = render_page(sample_page(PAG_OF_FOUR))
    assert set(re.findall(r"https?://[^\"'\s]+", text)) == {"http://www.w3.org/2000/svg"}
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "fetch(",
        "@import",
        "url(",
    ):
        assert word not in text
    assert '<html lang="en">' in text


@pytest.mark.parametrize(
    "page", [{}, {"title": ""}, sample_page(PAG.from_edges()), sample_page(PAG.from_edges(nodes=["A"]))]
)
def test_small_pages_are_written(page: dict[str, Any]) -> None:
    assert render_page(page).startswith("<!doctype html>")
