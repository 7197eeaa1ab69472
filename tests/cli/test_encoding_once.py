"""A result is encoded once in a command, for its file, for the page that carries it, and for the screen."""

from pathlib import Path

import pytest

from lmarvel import Discovery
from tests.cli.running import confounded, run, write_csv


@pytest.mark.parametrize("more", [[], ["--format", "json"], ["--bootstrap", "2"]])
def test_a_result_is_encoded_once(more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = []
    to_dict = Discovery.to_dict
    monkeypatch.setattr(Discovery, "to_dict", lambda found: encoded.append(1) or to_dict(found))
    table, result = write_csv(tmp_path / "data.csv", confounded(300)), tmp_path / "x.json"
    told = run("learn", table, "-o", result, "--report", tmp_path / "r.html", *more)
    assert told.code == 0
    assert len(encoded) == 1
    if "json" in more:
        assert told.out == result.read_text()
