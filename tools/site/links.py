"""Every link of a built site leads somewhere: pages, anchors and pictures are there, other addresses are well formed.

Nothing is asked of the network. What a page loads by itself (pictures, styles, scripts) must lie in the site.
"""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """What a page links to, loads, and can be linked at."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADED and LOADED[tag] in given:
            self.loaded.append(given[LOADED[tag]])


def faults(site: Path) -> list[str]:
    """Return what is wrong with the links of a site, a line each."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}
    found = []
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        for target in page.links + page.loaded:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loaded:
                    found.append(f"{where}: loads {target}, which is not in the site")
                elif not well_formed(target):
                    found.append(f"{where}: {target} is no address")
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not goal.is_file():
                found.append(f"{where}: {target} leads nowhere")
            elif goal in pages and unquote(parts.fragment) not in pages[goal].anchors:
                found.append(f"{where}: {target} has no such anchor")
    return found


def well_formed(address: str) -> bool:
    """Whether an address could be one: a scheme that is expected, and a host with a dot."""
    parts = urlsplit(address)
    if parts.scheme == "mailto":
        return "@" in parts.path
    return parts.scheme in {"http", "https"} and "." in (parts.hostname or "") and " " not in address
