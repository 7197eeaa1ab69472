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
    folder = ROOT / "benchmarks"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location(f"{name}_study", folder / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(folder))


@pytest.mark.parametrize("name", ["grades", "kinds"])
def test_a_page_has_the_figures_that_were_measured(name: str) -> None:
    study = script(name)
    text = study.PAGE.read_text("utf-8")
    between = text.partition(study.BEGIN)[2].partition(study.END)[0].strip("\n")
    assert between.splitlines() == list(study.page(study.kept(study.SUMS)))


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
