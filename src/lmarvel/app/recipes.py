"""For every step of the app, the command and the Python that do the same, on the files of the project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmarvel.app.settings import LEARNERS, Settings
from lmarvel.text import command_of, option_words


def recipes(settings: Settings, statements: str, run: int | None, pair: tuple[str, str] | None) -> list[dict[str, str]]:
    """Return for each step its name, the command, and the Python; both are run in the folder of the project.

    Examples
    --------
    >>> from lmarvel.app.settings import LearnSettings, TableSettings
    >>> settings = Settings("001.csv", "cars.csv", TableSettings(drop=("id",)), LearnSettings(alpha=0.05))
    >>> steps = recipes(settings, "A causes B", None, None)
    >>> [step["step"] for step in steps]
    ['Table', 'Learn']
    >>> print(steps[1]["command"])
    lmarvel learn tables/001.csv --drop id --alpha 0.05 --knowledge statements.txt -o result.json
    >>> print(steps[1]["python"])
    from lmarvel import Auto, Dataset, Knowledge
    <BLANKLINE>
    data = Dataset.of('tables/001.csv', drop=['id'])
    known = Knowledge.read('statements.txt')
    result = Auto(alpha=0.05, knowledge=known).fit(data).result_
    print(result.verdict)
    result.save('result.json')
    """
    if settings.file is None:
        return []
    table = f"tables/{settings.file}"
    folder = "" if run is None else f"runs/{run:03}/"
    knows = f"{folder}statements.txt" if statements.strip() else None
    steps = [_describe(settings, table), _learn(settings, table, knows)]
    if run is not None:
        steps += _after(table, f"{folder}result.json", pair)
    return steps


def _describe(settings: Settings, table: str) -> dict[str, str]:
    command = command_of(["describe", table, *_words(settings.table.options)])
    python = f"from lmarvel import Dataset\n\ndata = Dataset.of({_call(table, settings.table.options)})\nprint(data)"
    return {"step": "Table", "command": command, "python": python}


def _learn(settings: Settings, table: str, knows: str | None) -> dict[str, str]:
    how = settings.learn
    words = ["learn", table, *_words(settings.table.options)]
    words += ["--method", how.method] if how.method != "auto" else []
    words += _words(how.parameters)
    words += _words({} if how.bootstrap is None else {"bootstrap": how.bootstrap})
    words += ["--seed", str(how.seed)] if how.seed is not None and "seed" not in how.parameters else []
    words += ["--knowledge", knows] if knows else []
    name = LEARNERS[how.method].__name__
    given = _keywords(how.parameters) + (["knowledge=known"] if knows else [])
    fitted = ", ".join(["data", *_keywords(how.resampling)])
    imported = ", ".join(sorted([name, "Dataset", *(["Knowledge"] if knows else [])]))
    lines = [f"from lmarvel import {imported}", "", f"data = Dataset.of({_call(table, settings.table.options)})"]
    lines += [f"known = Knowledge.read({knows!r})"] if knows else []
    lines += [f"result = {name}({', '.join(given)}).fit({fitted}).result_", "print(result.verdict)"]
    lines += ["result.save('result.json')"]
    return {"step": "Learn", "command": command_of([*words, "-o", "result.json"]), "python": "\n".join(lines)}


def _after(table: str, result: str, pair: tuple[str, str] | None) -> list[dict[str, str]]:
    """Return the steps on a result: why an edge is there, an effect, and files to take away."""
    load = f"from lmarvel import Discovery\n\nresult = Discovery.load({result!r})\n"
    steps = []
    if pair is not None:
        x, y = pair
        steps += [
            {
                "step": "Explain",
                "command": command_of(["explain", result, x, y]),
                "python": f"{load}print(result.explain({x!r}, {y!r}))",
            },
            {
                "step": "Ask",
                "command": command_of(["effect", result, table, x, y]),
                "python": f"{load}print(result.effect({x!r}, {y!r}, {table!r}))",
            },
            {
                "step": "What would settle it",
                "command": command_of(["settle", result, x, y]),
                "python": f"{load}from lmarvel import settle\nprint(settle(result, {x!r}, {y!r}))",
            },
        ]
    report = "from lmarvel.report import write_report\n"
    return [
        *steps,
        {
            "step": "Report",
            "command": command_of(["report", result, "report.html", "--data", table]),
            "python": f"{load}{report}write_report(result, 'report.html', data={table!r})",
        },
        {
            "step": "Drawing",
            "command": command_of(["draw", result, "graph.svg"]),
            "python": f"{load}result.draw('graph.svg')",
        },
    ]


def _words(options: Mapping[str, Any]) -> list[str]:
    return [word for name, value in options.items() for word in option_words(name, value)]


def _call(table: str, options: Mapping[str, Any]) -> str:
    return ", ".join([repr(table), *_keywords(options)])


def _keywords(options: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in options.items()]
