"""The steps over HTTP: what the page would send, what comes back, and the same by command and by Python."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import lmarvel
from lmarvel import Discovery
from lmarvel.app.server import Limits
from lmarvel.datasets import CARS
from tests.app.conftest import Serve
from tests.app.serving import Served

ENV = {**os.environ, "PYTHONPATH": str(Path(lmarvel.__file__).parents[1])}  # also from another folder
SURVEY = "id,age,size,group,bad,y\n" + "".join(
    f"{k},{20 + k * 7 % 50},{'SML'[k % 3]},{k % 4},{-99 if k % 17 == 0 else k * 3 % 11},{(k * 13 % 29) / 2}\n"
    for k in range(120)
)


def edges(found: Discovery) -> list[str]:
    return [str(edge) for edge in found.pag.edges()]


def test_the_six_steps_and_the_same_without_the_app(serve: Serve, tmp_path: Path) -> None:
    app = serve(CARS)
    app.enter()
    state = app.get("/api/state")
    assert (state["table"]["name"], state["runs"], state["job"]) == ("cars.csv", [], None)
    found = app.get("/api/described")
    assert (found["rows"], len(found["columns"]), found["faults"]) == (392, 6, [])
    table = {**state["settings"]["table"], "drop": ["SecondsTo60"], "ordinal": {"Cylinders": []}}
    revision = app.send("PUT", "/api/settings", {"revision": state["settings"]["revision"], "table": table})["revision"]
    learn = {**state["settings"]["learn"], "alpha": 0.02, "bootstrap": 20, "seed": 3}
    app.send("PUT", "/api/settings", {"revision": revision, "learn": learn})
    stated = app.send(
        "PUT",
        "/api/statements",
        {"revision": state["statements"]["revision"], "edit": {"tiers": [["Cylinders"], ["Weight"]]}},
    )
    assert stated["text"] == "tiers: Cylinders < Weight\n"
    assert app.learned() == 1
    page = app.get("/api/runs/1/page")
    assert page["verdict"][0].endswith("(392 rows); " + page["verdict"][0].split("; ")[1])
    assert len(page["change"]) == len(page["edges"])
    answer = app.send("POST", "/api/ask", {"run": 1, "x": "Weight", "y": "MilesPerGallon"})
    assert answer["badge"]
    assert answer["rests_on"].startswith("This rests on")

    folder = tmp_path / "project"
    kept = Discovery.load(folder / "runs" / "001" / "result.json")
    steps = {one["step"]: one for one in app.get("/api/recipes?run=1&x=Weight&y=MilesPerGallon")}
    assert list(steps) == ["Table", "Learn", "Explain", "Ask", "What would settle it", "Report", "Drawing"]
    app.close()
    for step in ("Table", "Learn"):
        words = shlex.split(steps[step]["command"])
        assert words[0] == "lmarvel"
        subprocess.run(
            [sys.executable, "-m", "lmarvel", *words[1:]], cwd=folder, env=ENV, check=True, capture_output=True
        )
    by_command = Discovery.load(folder / "result.json")
    (folder / "result.json").unlink()
    for step in ("Learn", "Drawing"):
        subprocess.run(
            [sys.executable, "-c", steps[step]["python"]], cwd=folder, env=ENV, check=True, capture_output=True
        )
    by_python = Discovery.load(folder / "result.json")
    assert edges(kept) == edges(by_command) == edges(by_python)
    assert kept.verdict.lines == by_command.verdict.lines == by_python.verdict.lines
    assert str(kept.knowledge) == str(by_command.knowledge) == "tiers: Cylinders < Weight"


def test_a_project_that_is_opened_again_is_as_it_was_and_its_runs_are_compared(serve: Serve) -> None:
    app = serve(CARS)
    app.enter()
    app.learned()
    state = app.get("/api/state")
    app.send(
        "PUT", "/api/statements", {"revision": state["statements"]["revision"], "text": "tiers: Cylinders < Weight"}
    )
    app.close()
    again = serve(CARS)  # the same table: nothing of the project changes
    again.enter()
    now = again.get("/api/state")
    assert [now[part] for part in ("table", "settings", "runs")] == [
        state[part] for part in ("table", "settings", "runs")
    ]
    assert now["statements"]["text"] == "tiers: Cylinders < Weight"
    assert again.learned() == 2
    changed = again.get("/api/compare/1/2")
    assert changed["added"] == ["tiers: Cylinders < Weight"]
    assert again.get("/api/compare/2/2")["edges"] == []
    assert again.ask("GET", "/api/compare/1/7")[1] == {"error": "There is no run 7."}
    files_are_taken_away(again, 2)


def files_are_taken_away(app: Served, number: int) -> None:
    for kind, begins in (
        ("report", b"<!doctype html>"),
        ("result", b"{"),
        ("drawing", b"<svg"),
        ("picture", b"\x89PNG"),
        ("edges", b""),
        ("dot", b""),
        ("dagitty", b""),
    ):
        status, headers, body = app.raw("GET", f"/api/runs/{number}/files/{kind}", {"Cookie": app.cookie})
        assert (status, headers["content-disposition"].startswith("attachment;")) == (200, True)
        assert body.lstrip().startswith(begins)
    assert app.ask("GET", f"/api/runs/{number}/files/passwd")[0] == 400
    assert json.loads(app.raw("GET", "/api/runs/9/page", {"Cookie": app.cookie})[2]) == {"error": "There is no run 9."}


def upload(app: Served, name: str, content: bytes) -> tuple[int, Any]:
    return app.ask("POST", "/api/table", content, **{"X-Name": name, "Content-Type": "application/octet-stream"})


def test_remedies_are_what_helps(serve: Serve) -> None:
    app = serve()
    app.enter()
    assert app.ask("GET", "/api/described")[1] == {"error": "There is no table yet: choose one first."}
    assert upload(app, "../../etc/survey.csv", SURVEY.encode()) == (200, {})
    state = app.get("/api/state")
    assert state["table"] == {"name": "survey.csv", "file": "001.csv"}
    found = {column["name"]: column for column in app.get("/api/described")["columns"]}
    labels = {name: [one["label"] for one in column["remedies"]] for name, column in found.items()}
    assert "Leave out this column" in labels["id"]
    assert labels["bad"][0] == "Take -99 as missing"
    assert found["size"]["bars"] == [["L", 40], ["M", 40], ["S", 40]]
    assert len(found["age"]["bins"]) == 16
    way = app.get("/api/described")["way"]
    assert "id" in way["drop"]
    table = {**state["settings"]["table"], "drop": ["id"], "na": {"bad": ["-99"]}, "ordinal": {"size": ["S", "M", "L"]}}
    app.send("PUT", "/api/settings", {"revision": state["settings"]["revision"], "table": table})
    found = {column["name"]: column for column in app.get("/api/described")["columns"]}
    assert (found["bad"]["missing"], found["size"]["kind"]) == (8, "ordinal")
    assert app.get("/api/described")["kept"] == ["age", "size", "group", "bad", "y"]
    assert app.learned() == 1


def test_a_stale_window_is_refused_and_a_wrong_upload_changes_nothing(serve: Serve, tmp_path: Path) -> None:
    app = serve(CARS)
    app.enter()
    settings = app.get("/api/state")["settings"]
    change = {"revision": settings["revision"], "learn": {**settings["learn"], "alpha": 0.05}}
    app.send("PUT", "/api/settings", change)
    status, answer = app.ask("PUT", "/api/settings", change)
    assert status == 409
    assert "changed in another window" in answer["error"]
    before = app.get("/api/state")["table"]
    for name, content in (("x.exe", b"MZ"), ("", b"a,b"), ("x.csv", b"")):
        assert upload(app, name, content)[0] == 400
    assert app.get("/api/state")["table"] == before
    assert [path.name for path in (tmp_path / "project" / "tables").iterdir()] == ["001.csv"]


def test_a_run_is_cancelled_and_only_one_goes_on(serve: Serve, tmp_path: Path) -> None:
    app = serve(CARS)
    app.enter()
    settings = app.get("/api/state")["settings"]
    learn = {**settings["learn"], "method": "fci", "bootstrap": 100_000}
    app.send("PUT", "/api/settings", {"revision": settings["revision"], "learn": learn})
    app.send("POST", "/api/learn")
    status, answer = app.ask("POST", "/api/learn", {})
    assert (status, answer["error"]) == (400, "A run is going on: cancel it, or wait for its end.")
    while app.get("/api/state")["job"]["phase"] != "bootstrap":
        time.sleep(0.05)
    assert app.get("/api/described")["rows"] == 392  # the page answers meanwhile
    assert app.send("POST", "/api/cancel") == {"cancelled": True}
    while (state := app.get("/api/state"))["job"] is not None:
        time.sleep(0.05)
    assert (state["last"], state["runs"]) == ({"run": None, "error": None, "cancelled": True}, [])
    assert app.send("POST", "/api/cancel") == {"cancelled": False}
    assert [*(tmp_path / "project" / "runs").iterdir()] == []
    assert state["log"][-1].endswith("A run was cancelled")


def test_the_app_stops_when_nobody_uses_it_and_says_so(serve: Serve) -> None:
    app = serve(CARS, limits=Limits(idle=1.5))
    app.thread.join(60)
    assert not app.thread.is_alive()
    assert app.running.why.startswith("nobody used it for")
