"""A DAG with roles stands below simulators and file formats, and knows its PAG."""

from __future__ import annotations

from pathlib import Path

import pytest

import lmarvel.simulate
from lmarvel import DAG, GraphError, ParameterError, mag_to_pag
from lmarvel.interchange.truth import pag_of, read_truth
from lmarvel.orient.study import Study

DAG_WITH_ROLES = DAG.from_edges("U --> A", "U --> B", "A --> S", "C --> S")
STUDY = Study(DAG_WITH_ROLES, ("U",), ("S",))


def test_simulation_offers_the_same_class() -> None:
    assert lmarvel.simulate.Study is Study


def test_a_study_knows_its_mag_and_its_pag() -> None:
    assert STUDY.mag == DAG_WITH_ROLES.project(["U"], ["S"])
    assert STUDY.pag == mag_to_pag(STUDY.mag)


def test_the_truth_of_a_file_is_the_pag_of_its_study(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"# latent: U\n# selection: S\n{DAG_WITH_ROLES}\n", encoding="utf-8")
    (tmp_path / "b.dagitty").write_text(
        "dag { U [latent] S [selected] U -> A; U -> B; A -> S; C -> S }", encoding="utf-8"
    )
    (tmp_path / "c.csv").write_text("parent,child\nU,A\nU,B\nA,S\nC,S\n", encoding="utf-8")
    assert read_truth(tmp_path / "a.txt") == STUDY.pag
    assert read_truth(tmp_path / "b.dagitty") == STUDY.pag
    assert read_truth(tmp_path / "c.csv", latent=["U"], selection=["S"]) == STUDY.pag
    assert read_truth(tmp_path / "c.csv", latent=["U"]) == Study(DAG_WITH_ROLES, ("U",)).pag


def test_roles_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ParameterError, match="U: a variable is latent or selects the sample, not both"):
        pag_of(DAG_WITH_ROLES, ["U"], ["U"])
    with pytest.raises(GraphError, match="unknown node 'V'"):
        pag_of(DAG_WITH_ROLES, ["V"])
    odd = DAG.from_edges(nodes=["two\nlines", "B"])
    with pytest.raises(ParameterError, match=r'^"two\\nlines": a variable is latent'):
        Study(odd, ("two\nlines",), ("two\nlines",))
