"""How sentences are written: what a person reads has none of the phrases and lengths that we do not use.

Collected are the sentences of a run (string constants in ``src``, option help among them), the texts of the report
(HTML and JavaScript), the docstrings of the public API and the Markdown pages. :data:`OLD_STYLE` is the one list of
what is not written, each with what to write in its place.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import lmarvel

ROOT = Path(__file__).resolve().parents[1]
ARCHIVE = ROOT / "docs" / "archive"
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks" / "README.md"]
    if ARCHIVE not in path.parents
)
ONE = (  # of what there is one per something
    r"(edge|row|table|variable|structure|second|column|line|test|run|minute|pair|draw|page|size|observation|graph|node|"
    r"mark|method|set|year|file|kind|step|case|core|parameter|cell|group|fold|round|sample|resample|copy|person|unit|size)"
)
COUNTED = r"(\d+|one|two|edges?|rows?|\w*seconds?|ms|us|tests?|penalty|states|bytes|figures?|CPU time|data set|faults?)"
THING = r"(collider|number|graph|table|file|PAG|MAG|DAG|name|test|method|column|parameter|variable|edge|node|mark|text)"
OLD_STYLE = {  # pattern: what to write
    r"(?<!here )\b(is|are) none\b(?! of)": "is not a ...",
    r"\bcom(e|es|ing) of\b|\bcame of\b": "comes from",
    r", for (the|it|they|there|no|its|that|this|each|an?|one)\b[^.;:,]* (is|are|has|have|was|does|cannot)\b": "because",
    rf"\b{COUNTED} an? {ONE}\b(?! (of|is|that|has))": "per",
    r"\b(is|are|was|were|be|been) told\b|\btells\b|\bto tell\b|\btell (how|what|which|whether)\b": "shows, reports",
    r"\b(is|are) said\b": "is reported, is called",
    r"\bstands?\b(?! (for|in for|out|alone)\b)|\bstood\b": "is, is written",
    r"\brecurs?\b": "appears in ... of resamples",
    r"\bprices? (of|per|an?)\b(?! fuel)": "penalty",
    r"\b(of the|in all|of \d+) draws\b|\bdrawn again\b|\bdraws? rows again\b": "resamples",
    r"\blevels without an order\b|\b(has|have|merge|codes of|columns? of) levels?\b": "categories",
    r"\bwhatever else\b": "whichever ... are held fixed",
    r"\bso many\b(?! (that|as))": "the number itself",
    r"\bholds? (0|zero|the truth|nothing)\b": "includes",
    r"likely, not firm": "probably",
    rf"(?<!here )\b(is|are) no {THING}\b": "is not a ...",
    r"\b(it|they|each|this|what|edges?|words|methods?|grades|tiers) (is|was|are|were) worth\b": "the figure",
    r"\bspeaks? of\b": "concerns, is about",
    r"\bby itself\b": "automatically, alone",
    r"\byou said\b": "you stated",
    r"\bclaims? on causes\b": "causal claim",
    r"\bwhether and how much\b": "the effect of",
    r"\b(take|takes|taking|taken) (it|them|these|this|each|one) for (missing|one|the|names|granted)\b": "treat as",
    r"\bheld against\b|\bholds? \w+ against\b": "compared with",
    r"\bgo(es)? on from there\b": "continues from there",
    r"\bturns? (it|a region|a whole region) (round|around)\b": "reverses its marks",
}
"""Every pattern that no sentence of ours matches, and what is written in its place."""

MOST_WORDS = 25
QUOTED = re.compile(r"'[^']*'|`[^`]*`|\([^()]*\)|\"[^\"]*\"")


class Sentence(NamedTuple):
    """A text that a person may read, and where it is written."""

    where: str
    text: str


def texts_of_the_program() -> Iterator[Sentence]:
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                skipped |= {id(part) for value in node.values for part in ast.walk(value)}
        for node in ast.walk(tree):
            if id(node) not in skipped and isinstance(node, (ast.Constant, ast.JoinedStr)):
                text = _spoken(node)
                if len(text.split()) > 2:
                    yield Sentence(f"{path.relative_to(ROOT)}:{node.lineno}", text)


def _spoken(node: ast.expr) -> str:
    """Return the text of a constant or an f-string, whose values are written as {}."""
    if isinstance(node, ast.JoinedStr):
        return "".join("{}" if isinstance(part, ast.FormattedValue) else _spoken(part) for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def texts_of_the_report() -> Iterator[Sentence]:
    """The texts of the report and of the app: their HTML, and the strings of their scripts."""
    folders = [ROOT / "src" / "lmarvel" / room for room in ("report", "app")]
    for path in sorted(path for folder in folders for path in folder.rglob("*.html")):
        yield Sentence(path.name, re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8")))
    for path in sorted(path for folder in folders for path in folder.rglob("*.js")):
        for text in re.findall(r"\"([^\"\n]*)\"|`([^`\n]*)`", path.read_text(encoding="utf-8")):
            if len("".join(text).split()) > 2:
                yield Sentence(path.name, "".join(text))


def docstrings() -> Iterator[Sentence]:
    for name in lmarvel.__all__:
        thing = getattr(lmarvel, name)
        yield Sentence(name, _prose(inspect.getdoc(thing) or ""))
        if inspect.isclass(thing):
            for member, value in inspect.getmembers(thing):
                home = getattr(value, "__module__", None) or getattr(getattr(value, "fget", None), "__module__", "")
                if not member.startswith("_") and (home or "").startswith("lmarvel"):
                    yield Sentence(f"{name}.{member}", _prose(inspect.getdoc(value) or ""))


def _prose(text: str) -> str:
    """Return a docstring without its examples."""
    return re.sub(r"^ *(>>>|\.\.\.) .*$", "", text, flags=re.MULTILINE)


def pages() -> Iterator[Sentence]:
    for path in PAGES:
        yield Sentence(str(path.relative_to(ROOT)), prose_of_page(path.read_text(encoding="utf-8")))


def prose_of_page(text: str) -> str:
    """Return a page without its code, comments and the addresses of its links; line numbers stay."""
    text = re.sub(r"^<!--.*?-->$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^( *)```.*?^\1```", lambda m: "\n" * m.group().count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "`code`", re.sub(r"\]\([^)\s]*\)", "]", text))


def blocks_of_page(text: str) -> list[str]:
    """Return the paragraphs and list items of a page."""
    return re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", prose_of_page(text))


def long_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page with too many words; code and what is in brackets do not count.

    A colon or a semicolon ends a sentence, too. Tables, headings and pictures have no sentences.
    """
    for block in blocks_of_page(text):
        if not block.lstrip().startswith(("|", "#", "![")):
            spoken = re.sub(r"<!--.*?-->|`[^`]*`|\([^()]*\)", "", " ".join(block.split()))
            for sentence in re.split(r"(?<=[.?!:;])\s+(?=[\w`\"*\[(-])", spoken):
                if len(re.findall(r"\w[\w'.,/-]*", sentence)) > MOST_WORDS:
                    yield sentence


COLLECTED = {
    "program": texts_of_the_program,
    "report": texts_of_the_report,
    "docstrings": docstrings,
    "pages": pages,
}


@pytest.mark.parametrize("source", COLLECTED)
def test_no_sentence_has_the_old_style(source: str) -> None:
    found = [
        f"{one.where}: {one.text[max(0, hit.start() - 50) : hit.end() + 40]!r} -> {better}"
        for one in COLLECTED[source]()
        for pattern, better in OLD_STYLE.items()
        for hit in re.finditer(pattern, one.text)
    ]
    assert found == [], "\n" + "\n".join(found)


@pytest.mark.parametrize("source", ["program", "report"])
def test_sentences_are_short(source: str) -> None:
    long = [
        f"{one.where}: {len(words)} words: {part.strip()[:100]}"
        for one in COLLECTED[source]()
        if not one.where.endswith(".html") and "(?P<" not in one.text
        for part in re.split(r"[.;:?!]\s|[.;:?!]$|\n\n", QUOTED.sub("", one.text))
        if len(words := part.split()) > MOST_WORDS
    ]
    assert long == [], "\n" + "\n".join(long)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_paragraphs_of_pages_are_short(path: Path) -> None:
    blocks = blocks_of_page(path.read_text(encoding="utf-8"))
    long = [block.strip()[:80] for block in blocks if not block.lstrip().startswith("|") and len(block.split()) >= 100]
    assert long == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_sentences_of_pages_are_short(path: Path) -> None:
    long = list(long_sentences(path.read_text(encoding="utf-8")))
    assert long == [], "\n" + "\n".join(long)


def test_the_list_finds_what_it_is_for() -> None:
    old = [
        "matrix number 3 is none",
        "a penalty of 11.9 an edge",
        "one row an observation",
        "open, for the data are few",
        "B is no collider",
        "what comes of it is told",
        "the mark stands at A",
        "no claim on causes recurs",
        "0.059 us a test",
        "--na x takes it for missing",
        "grades are held against the truth",
    ]
    assert [text for text in old if not any(re.search(pattern, text) for pattern in OLD_STYLE)] == []
    fine = "One row per observation. B is not a collider, because a set without it separates A and C. There is no file."
    assert not any(re.search(pattern, fine) for pattern in OLD_STYLE)
    words = "one " * MOST_WORDS
    assert list(long_sentences(f"Fine.\n\n- {words}\n  more. Short.")) == [f"- {words}more."]
    assert not list(long_sentences(f"{words}(not counted) `nor this`. {words}\n\n| {words} more |"))
