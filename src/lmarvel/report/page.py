"""One HTML file from plain data.

The page asks nothing of any server: its style and its scripts stand inside, and its Content-Security-Policy
names them by hash and forbids all else. The data stand in a JSON block that is never run; the scripts put
every text of it on the page as text.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

SCRIPTS = (
    *("dom.js", "geometry.js", "view.js", "labels.js", "hands.js", "marks.js", "graph.js"),  # the drawing
    *(
        "panels.js",
        "tables.js",
        "search.js",
        "forest.js",
        "effects.js",
        "save.js",
        "printing.js",
        "page.js",
        "start.js",
    ),  # and all around it
)
STYLES = ("page.css", "graph.css", "narrow.css", "paper.css")

# What must not stand in a script block, though JSON allows it; the rest is ASCII already.
_UNSAFE = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
_ILLEGAL = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Direction overrides in a name would reorder the sentence that it stands in.
_OVERRIDES = re.compile("[\u202a-\u202e\u2066-\u2069]")
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def render_page(page: Mapping[str, Any]) -> str:
    """Return a report as the text of an HTML file.

    Parameters
    ----------
    page : mapping
        Plain data: ``title``, ``subtitle``, ``nodes``, ``edges``, ``narrow``, ``legend``, ``signs``, ``widths``,
        ``supports``, ``statistics``, ``settings``, ``hidden``, ``warnings``, ``data``, ``effects``, ``gaps``,
        ``result`` and ``footer``. Each part may be missing, and its section is then left out.

    Examples
    --------
    >>> text = render_page({"title": "Tiny", "nodes": [], "edges": []})
    >>> text.startswith("<!doctype html>"), "<title>Tiny</title>" in text
    (True, True)
    """
    style = "\n".join(_part(f"styles/{name}") for name in STYLES)
    script = "\n".join(_part(f"scripts/{name}") for name in SCRIPTS)
    slots = {
        "title": html.escape(_ILLEGAL.sub("\ufffd", str(page.get("title") or "Report"))),
        "policy": html.escape(_policy(style, script)),
        "style": style,
        "data": as_json(page),
        "script": script,
    }
    return _SLOT.sub(lambda slot: slots[slot[1]], _part("page.html"))  # one pass: values are not searched


def as_json(value: object) -> str:
    """Return data as JSON that may stand in a script block.

    Examples
    --------
    >>> print(as_json({"name": "</script>", "p": float("nan")}))
    {"name":"\\u003c/script\\u003e","p":null}
    """
    return json.dumps(_finite(value), separators=(",", ":"), allow_nan=False).translate(_UNSAFE)


def _finite(value: object) -> object:
    """Return the data with what a page cannot hold replaced: no number becomes null, infinity its sign."""
    if value is None or isinstance(value, bool | int):  # the frequent and cheap questions first
        return value
    if isinstance(value, str):
        return value if value.isascii() else _OVERRIDES.sub("\ufffd", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else "∞" if value > 0 else "−∞"
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return {str(key): _finite(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def _policy(style: str, script: str) -> str:
    """Return the policy that allows this style and these scripts, and nothing from anywhere."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _part(name: str) -> str:
    """Return a part of the template; line ends are those of the text, wherever it was installed."""
    text = resources.files("lmarvel.report").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")
