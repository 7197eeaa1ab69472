"""Lay out the sources of the site: the pages of the repository, linked for their place in it, and generated ones.

The pages are plain Markdown whose links are right where the files lie in the repository, so that they read well there.
Each link is resolved there, and written anew for the place that its target has in the site.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from pathlib import Path

from cards import with_cards

from reference import API, api_pages, command_page

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = {  # what is shown and does not lie in docs/, with its place in the site
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
    "benchmarks/growth.png": "growth.png",
    "src/lmarvel/datasets/README.md": "datasets.md",
    "src/lmarvel/simulate/structures/README.md": "structures.md",
}
INSTEAD = {"README.md": "index.md"}  # the start of the site takes its place
INDEX = "README.md"  # what a folder is opened with, here; there it is index.md
TREE = {  # what is under what in the site's navigation
    "index.md": ("get-started", "tutorials/index", "guides", "api/index", "commands", "evidence", "contributing"),
    "get-started.md": ("installation", "glossary", "limits", "cite", "r", "changelog"),
    "tutorials/index.md": (
        *("tutorials/first-steps", "tutorials/hidden-cause", "tutorials/health-survey", "tutorials/churn"),
        *("tutorials/panel", "tutorials/intervention", "tutorials/gene-expression", "tutorials/selection-bias"),
        *("tutorials/knowledge", "tutorials/how-sure", "tutorial-effect", "tutorials/cars-and-tetrad"),
        *("tutorials/own-test", "tutorials/coming-from"),
    ),
    "guides.md": (
        *("guide", "app", "kinds", "missing", "panels", "wide", "large_data", "methods", "tests", "knowledge"),
        *("stability", "grades", "effects", "theory", "result-file", "datasets", "structures"),
    ),
    "commands.md": ("cli", "command-line"),
    "evidence.md": ("accuracy", "scoreboard", "reproduction", "benchmarks", "archive/index"),
    "archive/index.md": ("archive/reproduction", "archive/tests"),
    "api/index.md": API,
    "contributing.md": ("architecture", "decisions/index", "security"),
    "decisions/index.md": tuple(
        f"decisions/{path.stem}" for path in sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    ),
}
LINK = re.compile(r"(?<!\\)(!?)\[((?:[^\[\]\n]|\[[^\]\n]*\])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^( *)(```+)(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)


def stage(target: Path) -> None:
    """Write the sources of the site into an empty folder."""
    shutil.rmtree(target, ignore_errors=True)
    for source, place in sources().items():
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        if place.endswith(".md"):
            text = with_cards((ROOT / source).read_text(encoding="utf-8"), ROOT / source)
            (target / place).write_text(relinked(text, source, place) + navigation(place), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / source, target / place)
    for place, text in generated().items():
        (target / place).parent.mkdir(exist_ok=True)
        (target / place).write_text(text + navigation(place), encoding="utf-8")


def generated() -> dict[str, str]:
    """Return the pages that are not in the repository, by their place in the site."""
    return {**api_pages(), "cli.md": command_page()}


def sources() -> dict[str, str]:
    """Return the files that the site holds, by their path in the repository, with their place in the site."""
    docs = (path for path in sorted((ROOT / "docs").rglob("*")) if path.suffix in {".md", ".svg", ".png"})
    inside = {path.relative_to(ROOT).as_posix(): path.relative_to(ROOT / "docs") for path in docs}
    return ELSEWHERE | {
        source: (place.with_name("index.md") if place.name == INDEX else place).as_posix()
        for source, place in inside.items()
    }


def navigation(place: str) -> str:
    """Return the part of a page that puts others under it, unseen on the page itself."""
    below = TREE.get(place)
    return "" if below is None else "\n```{toctree}\n:hidden:\n\n" + "\n".join(f"/{page}" for page in below) + "\n```\n"


def relinked(text: str, source: str, place: str) -> str:
    """Return the text of a page with its links for its place in the site; code is left as it is.

    A link to a file of the repository that the site does not hold becomes its text.
    """
    known = {**sources(), **INSTEAD}

    def relink(found: re.Match[str]) -> str:
        sign, label, target = found.groups()
        address, hash_sign, anchor = target.partition("#")
        if not address or re.match(r"[a-z][a-z0-9+.-]*:", address):
            return found.group()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), address))
        if path in known:
            there = os.path.relpath(known[path], posixpath.dirname(place) or ".")
            return f"{sign}[{label}]({there}{hash_sign}{anchor})"
        if (ROOT / path).exists() and not sign:
            return label
        raise ValueError(f"{source} links to {target}, which is not there")

    parts, end = [], 0
    for fence in FENCE.finditer(text):
        block = re.sub(r"\n\n( *```+ *)$", r"\n\1", fence.group())  # the blank line that ends what is expected
        parts += [LINK.sub(relink, text[end : fence.start()]), block]
        end = fence.end()
    return "".join([*parts, LINK.sub(relink, text[end:])])
