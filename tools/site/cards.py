"""Lists of links as cards with thumbnails.

A list below the line ``<!-- cards -->`` reads as a list in the repository, and is shown as cards in the site. Each item
is ``- [Title](page.md): text``; its thumbnail is the first picture of the page that it links to.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

LIST = re.compile(r"<!-- cards -->\n\n((?:(?:-|\d+\.) .*\n)+)")
ITEM = re.compile(r"(?:-|\d+\.) \[([^\]]+)\]\(([^)]+)\): (.*)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+\.(?:svg|png))\)")


def with_cards(text: str, page: Path) -> str:
    """Return the text of a page with its marked lists as grids of cards; their links are still the page's own."""
    return LIST.sub(lambda found: _grid(found.group(1).splitlines(), page), text)


def _grid(lines: list[str], page: Path) -> str:
    pictured = sum(_thumbnail_of(line, page) is not None for line in lines)
    cards = [_card(line, page, 2 * pictured >= len(lines)) for line in lines]  # a single one leaves holes beside it
    return "\n".join(["::::{grid} 1 2 2 3", ":gutter: 3", ":class-container: cards", "", *cards, "::::", ""])


def _thumbnail_of(line: str, page: Path) -> Path | None:
    found = ITEM.fullmatch(line)
    return None if found is None else thumbnail(page.parent / found.group(2).partition("#")[0])


def _card(line: str, page: Path, pictured: bool) -> str:
    found = ITEM.fullmatch(line)
    if found is None:
        raise ValueError(f"{page.name}: a card is '- [Title](page.md): text', not {line!r}")
    title, target, text = found.groups()
    picture = _thumbnail_of(line, page) if pictured else None
    above = [] if picture is None else [f"![{title}]({os.path.relpath(picture, page.parent)})", ""]
    return "\n".join(
        [":::{grid-item-card}", *above, f"**[{title}]({target})**", "", text[:1].upper() + text[1:], ":::", ""]
    )


def thumbnail(page: Path) -> Path | None:
    """Return the first picture of a page, or None if it has none."""
    found = PICTURE.search(page.read_text(encoding="utf-8")) if page.is_file() else None
    return None if found is None else page.parent / found.group(1)
