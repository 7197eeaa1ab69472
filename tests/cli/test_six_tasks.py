"""Six tasks of new users, command by command: each ends in a right answer, or in one that is honestly open."""

import csv
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmarvel import DAG, LMarvel, MSeparation, mag_to_pag
from lmarvel.orient.study import Study
from tests.cli.running import Outcome, run, run_apart

SUPPORTED = ("firm", "likely")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, columns: Mapping[str, Sequence[Any]]) -> str:
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return name


def done(*arguments: str) -> Outcome:
    outcome = run(*arguments)
    assert outcome.code == 0, outcome.err
    return outcome


def assert_honest(result: str, truth: DAG) -> int:
    """Hold every supported claim of a result about causes against the truth; return how many there were."""
    claims = 0
    for y in json.loads(Path(result).read_text())["nodes"]:
        for cause in json.loads(done("causes", result, y, "--format", "json").out)["causes"]:
            if cause["grade"] in SUPPORTED and cause["status"] != "possible":
                claims += 1
                assert (cause["status"] == "definite") == (cause["name"] in truth.ancestors([y])), (cause, y)
    return claims


def opens_with_the_verdict(text: str) -> bool:
    first, second, *_ = text.splitlines()
    return "association" in first and "arrow direction" in second


# --- a survey with gaps, codes and weights ----------------------------------------------------------------


def survey(n: int = 1500) -> dict[str, list[Any]]:
    rng = np.random.default_rng(11)
    region, age = rng.normal(size=n), rng.normal(size=n)
    income = 0.9 * region + 0.9 * age + rng.normal(size=n)
    health = 0.9 * income + rng.normal(size=n)
    columns = {"region": region, "age": 45 + 12 * age, "income": 2000 + 500 * income, "health": health}
    table: dict[str, list[Any]] = {name: [f"{v:.3f}" for v in values] for name, values in columns.items()}
    for i in rng.choice(n, 60, replace=False).tolist():
        table["income"][i] = "-9"
    for i in rng.choice(n, 40, replace=False).tolist():
        table["health"][i] = ""
    table["w"] = [f"{v:.3f}" for v in rng.uniform(0.5, 1.5, n)]
    return table


def test_a_survey_with_gaps_codes_and_weights() -> None:
    data = write("survey.csv", survey())
    described = done("describe", data)
    assert "-9" in described.out
    command = shlex.split(described.out.splitlines()[-1].strip())
    assert command[:2] == ["lmarvel", "learn"]
    assert "--na" in command
    learned = done(*command[1:], "--weights", "w", "-o", "r.json", "--method", "auto")
    assert opens_with_the_verdict(learned.out)
    assert assert_honest("r.json", DAG.from_edges("region --> income", "age --> income", "income --> health")) > 0
    answer = done("effect", "r.json", data, "income", "health")
    assert "reading the table as when the graph was learned" in answer.err
    assert "--weights w" in answer.err
    number = json.loads(done("effect", "r.json", data, "income", "health", "--format", "json").out)
    assert number["grade"] in SUPPORTED
    estimate = number["estimates"][0]
    assert estimate["low"] < 0.9 / 500 < estimate["high"]


# --- genes with more columns than rows --------------------------------------------------------------------


def test_genes_with_more_columns_than_rows() -> None:
    rng, n, p = np.random.default_rng(5), 60, 90
    values = rng.normal(size=(n, p))
    for j in range(1, 20):
        values[:, j] += 1.5 * values[:, j - 1]
    data = write("genes.csv", {f"g{j}": [f"{v:.4f}" for v in values[:, j]] for j in range(p)})
    learned = done("learn", data, "-o", "r.json", "--method", "auto")
    assert opens_with_the_verdict(learned.out)
    told = done("causes", "r.json", "g10").out
    assert len(told.splitlines()) <= 30
    chain = DAG.from_edges(*(f"g{j - 1} --> g{j}" for j in range(1, 20)), nodes=[f"g{j}" for j in range(p)])
    assert_honest("r.json", chain)


# --- a panel with an order in time ------------------------------------------------------------------------


def test_a_panel_with_an_order_in_time() -> None:
    rng, people, years = np.random.default_rng(3), 150, 4
    person = np.repeat(np.arange(people), years)
    trait = np.repeat(rng.normal(size=people), years)
    school = trait + rng.normal(size=people * years)
    wage = 0.8 * school + rng.normal(size=people * years)
    table = {
        "id": [f"p{k}" for k in person],
        "year": np.tile(np.arange(2001, 2001 + years), people).tolist(),
        "school": [f"{v:.3f}" for v in school],
        "wage": [f"{v:.3f}" for v in wage],
    }
    data = write("panel.csv", table)
    described = done("describe", data).out
    assert "not independent" in described
    assert "--panel id,year" in described
    assert "count as about" in done("learn", data, "--panel", "id,year").out
    learned = done("learn", data, "--cluster", "id", "--drop", "year", "--tiers", "school < wage", "-o", "r.json")
    assert "as you stated" in learned.out
    cause = json.loads(done("causes", "r.json", "school", "--format", "json").out)["causes"][0]
    assert (cause["name"], cause["status"], cause["grade"]) == ("wage", "impossible", "stated")
    unknown = json.loads(done("causes", "r.json", "wage", "--format", "json").out)["causes"][0]
    assert (unknown["name"], unknown["status"]) == ("school", "possible")  # the trait was not measured


# --- churn with categories --------------------------------------------------------------------------------


def test_churn_with_categories() -> None:
    rng, n = np.random.default_rng(8), 2000
    plan = rng.choice(["basic", "plus", "pro"], n)
    region = rng.choice(["north", "south"], n)
    calls = rng.poisson(2 + 3 * (plan == "basic"))
    churn = rng.random(n) < 1 / (1 + np.exp(2 - 0.5 * calls))
    table = {"plan": plan, "region": region, "calls": calls.tolist(), "churn": np.where(churn, "yes", "no")}
    data = write("churn.csv", table)
    learned = done("learn", data, "-o", "r.json", "--method", "auto")
    assert opens_with_the_verdict(learned.out)
    assert_honest("r.json", DAG.from_edges("plan --> calls", "calls --> churn", nodes=[*table]))
    answer = done("causes", "r.json", "churn").out
    assert "region causes" not in answer
    assert "region probably causes" not in answer


# --- a researcher -----------------------------------------------------------------------------------------


def test_a_researcher_compares_the_learned_graph_with_the_truth() -> None:
    pytest.importorskip("networkx")
    truth = DAG.from_edges("A --> C", "B --> C", "C --> D", "U --> B", "U --> E")
    study = Study(truth, latent=("U",))
    found = LMarvel(test=MSeparation(study.mag)).fit().result_
    assert found.pag == found.shown() == mag_to_pag(study.mag)  # an oracle's answers are taken as exact
    assert found.grades.basis == "exact"
    assert found.verdict.to_dict()["directions"] == found.verdict.supported
    graph = found.pag.to_networkx()
    assert set(graph.nodes) == set("ABCDE")


# --- a student's mistakes ---------------------------------------------------------------------------------


def refused(*arguments: str) -> str:
    outcome = run(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    message = outcome.err.strip()
    assert "Traceback" not in message
    return message


def test_a_students_mistakes() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 3))
    write("data.csv", {name: [f"{v:.3f}" for v in column] for name, column in zip("abc", values.T, strict=True)})
    assert "data.cvs" in refused("learn", "data.cvs")
    assert "'d'" in refused("learn", "data.csv", "--drop", "d")
    done("learn", "data.csv", "-o", "r.json", "-q")
    assert "weight" in refused("causes", "r.json", "weight")
    assert "data.csv" in refused("causes", "data.csv", "a")
    correlation = np.corrcoef(values.T)
    write("matrix.csv", {"": [*"abc"]} | {name: correlation[i].tolist() for i, name in enumerate("abc")})
    matrix = run_apart("learn", "matrix.csv")
    assert (matrix.code, matrix.out) == (2, "")
    assert "correlation matrix" in matrix.err
    Path("bare.csv").write_text("\n".join(",".join(f"{v:.3f}" for v in row) for row in values) + "\n")
    bare = run_apart("learn", "bare.csv")
    assert (bare.code, "no header" in bare.err, "column1" in bare.err) == (0, True, True)
