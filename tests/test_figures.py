"""The figures that the manual and the explanations state are those that were measured."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from lmarvel.result.support.reliability import WORTH

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def study() -> ModuleType:
    """The script of the study of grades."""
    return script("grades")


def script(name: str) -> ModuleType:
    """Return a script of a study as a module; it stands outside the package."""
    path = ROOT / "benchmarks" / f"{name}.py"
    before = list(sys.path)
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(f"{path.stem}_study", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path[:] = before


@pytest.mark.parametrize("name", ["grades", "kinds"])
def test_a_page_has_the_figures_that_were_measured(name: str) -> None:
    study = script(name)
    text = study.PAGE.read_text("utf-8")
    between = text.partition(study.BEGIN)[2].partition(study.END)[0].strip("\n")
    assert between.splitlines() == list(study.page(study.kept(study.SUMS)))


def test_pages_state_the_figures_of_the_scoreboard() -> None:
    board = script("scoreboard/figures")
    figures = board.recorded()
    stating = 0
    for page in board.PAGES:
        text = page.read_text("utf-8")
        assert board.filled(text, figures) == text, f"{page.name}: run benchmarks/scoreboard/run.py --figures"
        stating += "<!-- figure" in text
    assert stating >= 3


def test_the_figures_of_the_scoreboard_are_those_of_its_runs(tmp_path: Path) -> None:
    board, store = script("scoreboard/figures"), script("scoreboard/store")
    with store.Store(tmp_path / "runs.sqlite") as kept:
        assert board.summed(kept.rows("graphs"), kept.facts()) == board.recorded()


def test_the_scoreboard_has_enough_methods_families_and_tables(tmp_path: Path) -> None:
    with script("scoreboard/store").Store(tmp_path / "runs.sqlite") as kept:
        tables: dict[tuple[str, str], set[int]] = {}
        for row in kept.rows("graphs"):
            tables.setdefault((row["method"], row["family"]), set()).add(row["number"])
    full = [method for (method, _), numbers in tables.items() if len(numbers) >= 10]
    assert sum(full.count(method) >= 12 for method in set(full)) >= 8


@pytest.mark.parametrize(("by", "method"), [("score", "auto"), ("tests", "lmarvel")])
def test_explanations_state_the_shares_that_were_measured(study: ModuleType, by: str, method: str) -> None:
    sums = [row for row in study.kept(study.SUMS) if row["method"] == method]
    for (grade, kind), share in WORTH[by].items():
        rows = [row for row in sums if (row["kind"], row["grade"]) == (kind, grade)]
        made, right = (sum(int(row[name]) for row in rows) for name in ("claims", "true"))
        assert made >= 100  # fewer say little
        assert share == round(right / made, 2)


def test_what_is_claimed_is_wrong_in_at_most_five_percent(study: ModuleType) -> None:
    sums = study.kept(study.SUMS)
    for method in {row["method"] for row in sums}:
        assert study.wrong_share([row for row in sums if row["method"] == method]) <= 0.05
    assert sum(int(row["rejected"]) for row in sums) == 0
