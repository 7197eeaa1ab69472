"""A project is a folder of plain files: written whole, opened as it was, never overwritten by a stale window."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel.app.project import RUN_FILES, SETTINGS, STATEMENTS, Project, Stale, ending_of
from lmarvel.app.settings import LearnSettings, Settings, TableSettings
from lmarvel.datasets import CARS
from lmarvel.errors import SettingsError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
NAMES = st.lists(TEXT, max_size=3, unique=True).map(tuple)


@given(
    name=TEXT,
    drop=NAMES,
    ordinal=st.dictionaries(TEXT, st.one_of(st.none(), NAMES.filter(bool)), max_size=3),
    na=st.dictionaries(TEXT, NAMES, max_size=2),
    weights=st.one_of(st.none(), TEXT),
    alpha=st.one_of(st.none(), st.just("auto"), st.floats(allow_nan=False, allow_infinity=False)),
    seed=st.one_of(st.none(), st.integers(0, 2**53 - 1)),
)
def test_settings_come_back_from_their_file(
    name: str,
    drop: tuple[str, ...],
    ordinal: dict[str, tuple[str, ...] | None],
    na: dict[str, tuple[str, ...]],
    weights: str | None,
    alpha: float | str | None,
    seed: int | None,
) -> None:
    table = TableSettings(drop, (), ordinal, "em", weights, None, na)
    settings = Settings("007.tsv.gz", name, table, LearnSettings(alpha=alpha, seed=seed))
    assert Settings.from_toml(settings.to_toml()) == settings


JSONISH = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)


@given(
    part=st.sampled_from(["drop", "ordinal", "missing", "weights", "na", "method", "alpha", "test", "bootstrap", "x"]),
    value=JSONISH,
)
def test_settings_of_any_shape_are_taken_or_refused(part: str, value: object) -> None:
    for kind in (TableSettings, LearnSettings):
        try:
            settings = kind.of({part: value})
        except SettingsError:
            continue
        again = Settings(table=settings) if isinstance(settings, TableSettings) else Settings(learn=settings)
        assert Settings.from_toml(again.to_toml()) == again


@pytest.mark.parametrize("file", ["../001.csv", "/etc/passwd", "001", "x.csv", "001.csv/../../x", "٣.csv", "001.c:v"])
def test_no_path_is_taken_from_a_settings_file(file: str) -> None:
    with pytest.raises(SettingsError, match="not a file of a project"):
        Settings.from_toml(f"format = 1\nfile = {json.dumps(file)}")


def test_a_project_opens_as_it_was(tmp_path: Path) -> None:
    project = Project(tmp_path / "cars.lmarvel")
    came = project.new_table()
    came.write_bytes(CARS.read_bytes())
    project.take_table(came, "my cars.CSV")
    revision = project.write_settings(project.settings[1], TableSettings(drop=("Weight",)))
    project.write_statements("Cylinders causes Horsepower\n", project.statements[1])
    before = project.settings, project.statements, project.log()
    project.close()
    again = Project(tmp_path / "cars.lmarvel")
    assert (again.settings, again.statements, again.log()) == before
    assert again.settings[1] == revision
    assert again.table(again.settings[0]).read_bytes() == CARS.read_bytes()
    assert [path.name for path in (tmp_path / "cars.lmarvel" / "tables").iterdir()] == ["001.csv"]
    assert again.name == "cars"
    assert any('drop is now ["Weight"]' in line for line in again.log())
    again.close()


def test_a_stale_write_is_refused_and_an_editor_counts_as_a_window(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    _, old = project.settings
    project.write_settings(old, learn=LearnSettings(alpha=0.05))
    with pytest.raises(Stale, match=r"settings.toml was changed"):
        project.write_settings(old, learn=LearnSettings(alpha=0.2))
    assert project.settings[0].learn.alpha == 0.05
    _, seen = project.statements
    (tmp_path / "p" / STATEMENTS).write_text("A causes B", encoding="utf-8")
    with pytest.raises(Stale):
        project.write_statements("B causes A", seen)
    assert project.statements[0] == "A causes B"
    project.close()


def test_a_project_is_open_once(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    code = f"from pathlib import Path; from lmarvel.app.project import Project; Project(Path({str(tmp_path / 'p')!r}))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "is open in another 'lmarvel app'" in other.stderr
    project.close()
    Project(tmp_path / "p").close()


def test_what_is_half_done_is_cleared_and_what_is_not_a_run_is_passed_over(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    came = project.new_table()
    came.write_bytes(CARS.read_bytes())
    project.take_table(came, "cars.csv")
    half, whole = project.new_run(), project.new_run()
    (half / "result.json").write_text("{", encoding="utf-8")
    for name in RUN_FILES:
        (whole / name).write_text("{}", encoding="utf-8")
    assert project.take_run(whole) == 1
    (tmp_path / "p" / "runs" / "002").mkdir()
    (tmp_path / "p" / "runs" / "notes").mkdir()
    project.new_table().write_text("half", encoding="utf-8")
    project.close()
    again = Project(tmp_path / "p")
    assert [run.number for run in again.runs()] == [1]
    assert not [*(tmp_path / "p").rglob(".lmarvel-*")]
    again.close()


def test_a_table_that_a_run_used_stays(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    for number in range(3):
        came = project.new_table()
        came.write_bytes(b"a,b\n1,2\n")
        project.take_table(came, f"{number}.csv")
        if number == 0:
            run = project.new_run()
            for name in RUN_FILES:
                (run / name).write_text("{}", encoding="utf-8")
            project.take_run(run)
    assert sorted(path.name for path in (tmp_path / "p" / "tables").iterdir()) == ["001.csv", "003.csv"]
    project.new_run()  # of a run that goes on, too
    came = project.new_table()
    came.write_bytes(b"a,b\n1,2\n")
    project.take_table(came, "4.csv")
    assert sorted(path.name for path in (tmp_path / "p" / "tables").iterdir()) == ["001.csv", "003.csv", "004.csv"]
    project.close()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (SETTINGS, b"format = 2", "format = 1"),
        (SETTINGS, b"format = ", "not TOML"),
        (SETTINGS, b"\xff\xfe", "not UTF-8"),
        (SETTINGS, b"format = 1\n[table]\ncolour = 3", "no setting 'colour'"),
        (SETTINGS, b"x = " + b"[" * 50_000, "not TOML"),
    ],
)
def test_a_damaged_project_is_refused_in_a_sentence(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / name).write_bytes(content)
    with pytest.raises(SettingsError, match=message):
        Project(tmp_path / "p")


def test_a_folder_of_other_things_is_no_project(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(SettingsError, match="no project: choose another folder"):
        Project(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("name", ["x.exe", "csv", "", ".", "x.csv/y", "x.pkl"])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="not a table that can be read"):
        ending_of(name)
