"""The commands that the documentation shows do what it shows; links lead somewhere."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.cli.running import run

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "docs" / "command-line.md"]
BUNDLED = "lmarvel: there is no file cars here: this is the bundled table of that name\n"
NEEDED = (
    "](docs/report.png)",
    "pip install",
    "lmarvel demo",
    "](docs/get-started.md)",
    "from lmarvel import Auto",
    "hidden cause",
)
WHOLE = (
    "`A --> B`",
    "`A <-> B`",
    "`A o-> B`",
    "No edge",
    "make demo",
    "make test",
    "tigramite",
    "Tetrad",
    "DoWhy",
    "No Java",
)
LINKED = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/command-line.md")
SHOWN = re.compile(r"^\$ lmarvel (.*)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)
CASES = [(page.name, *case) for page in PAGES for case in SHOWN.findall(page.read_text("utf-8"))]


@pytest.mark.parametrize(("page", "command", "shown"), CASES, ids=[f"{page}: {command}" for page, command, _ in CASES])
def test_a_command_prints_what_is_shown(
    page: str, command: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = command.split()
    named = words if "--method" in words else [*words, "--method", "auto"]  # the default, which the helper changes
    done = run(*named)
    got = done.out or done.err.replace(
        "lmarvel: there is no file cars here: this is the bundled table of that name\n", ""
    )
    assert doctest.OutputChecker().check_output(shown, got, doctest.ELLIPSIS), got


def test_the_first_screen_of_the_readme_has_what_a_newcomer_needs() -> None:
    screen = "\n".join((ROOT / "README.md").read_text("utf-8").splitlines()[:25])
    assert [part for part in NEEDED if part not in screen] == []
    whole = (ROOT / "README.md").read_text("utf-8")
    assert [part for part in WHOLE if part not in whole] == []


@pytest.mark.parametrize("page", LINKED)
def test_links_lead_to_files(page: str) -> None:
    path = ROOT / page
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text("utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []
