"""Draw the figures of docs/tutorial-effect.md from the examples that stand there."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

from lmarvel.drawing import draw

DOCS = Path(__file__).parents[1] / "docs"
FIGURES = {"found": "tutorial-effect-cars.svg", "measured": "tutorial-effect-measured.svg"}


def main() -> None:
    """Run the examples, and draw the graphs that they learn."""
    page = DOCS / "tutorial-effect.md"
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")):
        if not example.source.startswith("print("):
            exec(example.source, names)  # the page's own code, which the tests run as well
    for name, figure in FIGURES.items():
        draw(names[name].pag, DOCS / figure)


if __name__ == "__main__":
    main()
