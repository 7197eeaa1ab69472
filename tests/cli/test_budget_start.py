"""When a command began, which its budget of seconds counts from."""

from __future__ import annotations

import time

import pytest

from lmarvel.cli import learning


def as_if(monkeypatch: pytest.MonkeyPatch, used: float, age: float) -> None:
    monkeypatch.setattr(learning, "_age", lambda: age)
    monkeypatch.setattr(time, "process_time", lambda: used)


@pytest.mark.parametrize(
    ("used", "age", "stretched"),
    [(0.5, 0.5, 1.0), (0.5, 1.0, 2.0), (0.5, 3600.0, 4.0), (0.5, 0.0, 1.0), (9.0, 90.0, 1.0)],
)
def test_others_who_want_the_processor_count(
    monkeypatch: pytest.MonkeyPatch, used: float, age: float, stretched: float
) -> None:
    as_if(monkeypatch, used, age)
    assert learning._stretched() == pytest.approx(stretched)
    before = 0.0 if used > 1.5 else used * stretched
    assert time.monotonic() - learning._begun() == pytest.approx(before, abs=0.3)


def test_a_process_knows_its_age() -> None:
    assert 0.0 <= learning._age() < 30 * 24 * 3600.0
