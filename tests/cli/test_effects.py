"""``causes`` and ``effect``, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lmarvel import PAG, Discovery, Statistics
from tests.cli.running import run, write_csv
from tests.effects.graded import graded
from tests.effects.test_answer import BACKDOOR, table


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return saved(BACKDOOR, tmp_path / "result.json"), write_csv(tmp_path / "data.csv", table(500))


def saved(pag: PAG, path: Path) -> Path:
    Discovery(pag, {}, {}, Statistics({}, {})).save(path)
    return path


def test_an_effect_is_told_in_plain_words(files: tuple[Path, Path]) -> None:
    done = run("effect", *files, "X", "Y")
    assert (done.code, done.err) == (0, "")
    first, second, *rest = done.out.splitlines()
    assert first.startswith("X affects Y by 0.")
    assert first.endswith("under every explanation of these data.")
    assert second.endswith("by adjusting for A (least squares, HC3)")
    assert rest[0] == "The same by other valid adjustment sets:"
    assert rest[-1].startswith("This rests on the learned graph being right")


def test_what_cannot_be_told_is_told_with_what_would_help(files: tuple[Path, Path]) -> None:
    done = run("effect", *files, "B", "X")
    assert done.code == 0
    assert "The effect of B on X is not identified, because " in done.out
    assert ". Each of these statements, if true, would be enough: " in done.out


def test_the_command_that_would_settle_it_names_the_file(files: tuple[Path, Path], tmp_path: Path) -> None:
    mine = tmp_path / "my graph.txt"
    mine.write_text("B <-> X\nB --> X\nX --> Y\n")
    for file, named in [(saved(BACKDOOR, tmp_path / "cars.json"), "cars.json"), (mine, "my graph.txt'")]:
        last = run("effect", file, files[1], "B", "X").out.splitlines()[-1]
        assert last.startswith("What would settle it: lmarvel settle ")
        assert last.endswith(f"{named} B X")


def test_json_holds_all_of_it(files: tuple[Path, Path]) -> None:
    done = run("effect", *files, "X", "Y", "--given", "A", "--bootstrap", "20", "--seed", "3", "--format", "json")
    plain = json.loads(done.out)
    assert plain["given"] == ["A"]
    assert plain["estimates"][0]["method"] == "least squares; bootstrap of 20 replicates"
    assert plain["formula"] == "P(Y | do(X), A) = P(Y | A, X)"


def test_levels_are_told_by_option(tmp_path: Path) -> None:
    data = table(300)
    data["X"] = np.random.default_rng(1).integers(0, 3, 300).astype(float)
    paths = saved(BACKDOOR, tmp_path / "r.json"), write_csv(tmp_path / "d.csv", data)
    assert "X 2.0 in place of 0.0" in run("effect", *paths, "X", "Y", "--categorical", "X").out


@pytest.mark.parametrize(("form", "part"), [("dagitty", "X [exposure]"), ("dowhy", '"treatment": "X"')])
def test_the_question_can_be_taken_to_other_programs(files: tuple[Path, Path], form: str, part: str) -> None:
    assert part in run("effect", *files, "X", "Y", "--format", form).out


def test_causes_are_told_with_the_reason(files: tuple[Path, Path]) -> None:
    assert run("causes", files[0], "Y").out == (
        "A causes Y: A --> Y\nX causes Y: X --> Y\nB may cause Y: no edge of B o-> X --> Y points back\n"
        "This rests on the learned graph being right, and on a sample that was not selected.\n"
    )
    plain = json.loads(run("causes", files[0], "Y", "--format", "json").out)
    assert [one["status"] for one in plain["causes"]] == ["definite", "possible", "definite"]


def test_unsupported_claims_are_made_only_on_request(tmp_path: Path) -> None:
    weak = PAG.from_edges("A o-> X", "B o-> X", "X o-o Y", "A o-> Y", nodes=BACKDOOR.names)
    path = tmp_path / "r.json"
    graded(BACKDOOR, [BACKDOOR] * 10 + [weak] * 10).save(path)
    first, *_, counted, last = run("causes", path, "X").out.splitlines()
    assert first == "A may cause X: no edge of A o-> X points back"
    assert counted == "1 variable: no path to X in the learned graph (1 open); list it with --all"
    assert last.startswith("This rests on ")
    hedged = "no path from Y to X in the learned graph, but this is not established"
    assert hedged in run("causes", path, "X", "--all").out.splitlines()
    assert "X may cause Y (the learned graph has X --> Y)" in run("causes", path, "Y").out.splitlines()
    claim = "X causes Y in the learned graph: X --> Y (open)"
    caution = "the direction of X --> Y is not established (the same in 50 % of resamples)"
    assert f"{claim}. Caution: {caution}" in run("causes", path, "Y", "--marks", "all").out.splitlines()
    plain = json.loads(run("causes", path, "X", "--format", "json").out)
    by_name = {one["name"]: one for one in plain["causes"]}
    assert [by_name["Y"][key] for key in ("status", "grade", "learned")] == ["possible", "open", "impossible"]
    assert by_name["Y"]["cautions"]
    data = write_csv(tmp_path / "data.csv", table(500))
    told = json.loads(run("effect", path, data, "X", "Y", "--format", "json").out)
    assert (told["grade"], told["badge"]) == ("open", "Identified, but unreliable")
    assert told["sentence"].startswith(f"Identified, but unreliable: {told['cautions'][0]}. ")
    done = run("causes", path, "X", "--marks", "some")
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Q", "Y"], "unknown node 'Q': the graph has A, B, X, Y"),
        (["X", "X"], "an effect has a cause and an outcome, and X was given twice"),
        (["X", "Y", "--given", "Y"], "Y is asked about: it cannot be given as well"),
        (["X", "Y", "--bootstrap", "1"], "--bootstrap must be a whole number of at least 2, not 1"),
        (["X", "Y", "--seed", "-1"], "--seed must be a whole number of at least 0, not -1"),
    ],
)
def test_bad_input_is_one_line(files: tuple[Path, Path], arguments: list[str], message: str) -> None:
    done = run("effect", *files, *arguments)
    assert (done.code, done.out, done.err) == (2, "", f"lmarvel: {message}\n")


def test_a_table_without_a_variable_of_the_graph_is_one_line(tmp_path: Path) -> None:
    data = table(30)
    del data["B"]
    paths = saved(BACKDOOR, tmp_path / "r.json"), write_csv(tmp_path / "d.csv", data)
    done = run("effect", *paths, "X", "Y")
    assert done.code == 2
    assert "no such column" in done.err


def test_names_that_act_on_a_terminal_are_shown_as_text(tmp_path: Path) -> None:
    wild = BACKDOOR.relabel({"A": "A\x1b[31m"})
    done = run("causes", saved(wild, tmp_path / "r.json"), "Y")
    assert "\x1b" not in done.out


def test_a_graph_of_the_users_own_takes_the_place_of_a_result(files: tuple[Path, Path], tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("A --> X\nB --> X\nX --> Y\nA --> Y\n")
    done = run("effect", mine, files[1], "X", "Y")
    assert (done.code, done.err) == (0, "")
    first, second, *rest = done.out.splitlines()
    assert first.startswith("X affects Y by 0.")
    assert first.endswith(" in the graph you gave.")
    assert second.endswith("by adjusting for A (least squares, HC3)")
    assert rest[-1].startswith("This rests on the graph you gave being right. Every common cause")
    assert "learned" not in done.out
    assert json.loads(run("effect", mine, files[1], "X", "Y", "--format", "json").out)["adjustment"] == ["A", "B"]
    assert "X [exposure]" in run("effect", mine, files[1], "X", "Y", "--format", "dagitty").out


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        ("joined.txt", "A --> X\nB --> X\nX --> Y\nA <-> Y\n", "adjustment"),
        ("mine.csv", "from,to\nA,X\nB,X\nX,Y\nA,Y\n", "adjustment"),
        ("mine.dagitty", "dag { A -> X; B -> X; X -> Y; A -> Y }", "adjustment"),
        ("mine.dagitty", "dag { U [latent]; A -> X; B -> X; X -> Y; U -> X; U -> Y }", "not identified"),
        ("mine.dagitty", "mag { A -> X; B <-> Y; X -> Y; A -> Y }", "not identified"),
        ("latent.txt", "# latent: U\nA --> X\nB --> X\nX --> Y\nU --> A\nU --> Y\n", "adjustment"),
        ("pag.txt", "A o-> X\nB o-> X\nX --> Y\n", "adjustment"),
    ],
)
def test_graphs_in_other_files(files: tuple[Path, Path], tmp_path: Path, name: str, text: str, status: str) -> None:
    (tmp_path / name).write_text(text)
    done = run("effect", tmp_path / name, files[1], "X", "Y", "--format", "json")
    assert (done.code, json.loads(done.out)["status"]) == (0, status)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("bad.txt", "A -> X\n", "bad.txt, line 1: cannot read the edge 'A -> X'"),
        ("cut.json", '{"format": "lmarvel-res', "cut.json is cut off, or not a result"),
        ("more.txt", "A --> X\nX --> Y\nQ --> Y\n", "no column 'Q', which the graph has"),
        ("cycle.txt", "A --> X\nX --> Y\nY --> A\n", "directed cycle"),
    ],
)
def test_a_graph_that_does_not_do_is_refused_in_one_line(
    files: tuple[Path, Path], tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    done = run("effect", tmp_path / name, files[1], "X", "Y")
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert said in done.err


def test_a_damaged_result_is_not_taken_for_a_graph(files: tuple[Path, Path]) -> None:
    files[0].write_text(files[0].read_text().replace("o->", "-->", 1))
    done = run("effect", *files, "X", "Y")
    assert done.code == 2
    assert "checksum does not fit" in done.err


def test_learning_again_needs_a_result(files: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("A --> X\nX --> Y\n")
    done = run("effect", tmp_path / "mine.txt", files[1], "X", "Y", "--learn-again", "5")
    assert done.code == 2
    assert "--learn-again needs a result file" in done.err
