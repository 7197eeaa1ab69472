"""The commands that learn from a table: learn, compare, demo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from lmarvel.atomic import check_writable
from lmarvel.boundary.choose import METHODS
from lmarvel.ci.base import checked_alpha
from lmarvel.cli.app import app, check_different, fail, interruptible, progress_bar
from lmarvel.cli.options import (
    Alpha,
    BoundaryAlpha,
    BoundaryName,
    Columns,
    Drop,
    MaxConditioning,
    MaxSeconds,
    MaxTests,
    NoSelection,
    Quiet,
    Separator,
    Table,
)
from lmarvel.cli.text import as_json, as_text, comparison_lines
from lmarvel.data.moments import Moments, moments_of
from lmarvel.data.table import column_names
from lmarvel.errors import ParameterError
from lmarvel.estimators import METHODS as ESTIMATORS
from lmarvel.estimators import PagEstimator
from lmarvel.result import Discovery


@app.command()
def learn(
    data: Table,
    method: Annotated[str, typer.Option(help=f"One of: {', '.join(ESTIMATORS)}.")] = "lmarvel",
    alpha: Alpha = 0.01,
    boundary: Annotated[
        str | None, typer.Option(help=f"Start from: {', '.join(METHODS)}; fci and rfci also none, their default.")
    ] = None,
    boundary_alpha: BoundaryAlpha = None,
    removal_threshold: Annotated[
        float | None, typer.Option(help="lmarvel: p-value above which a set speaks against removal; default 0.8.")
    ] = None,
    assume_chordal: Annotated[
        bool, typer.Option("--assume-chordal", help="lmarvel: the paper's algorithm, unrepaired.")
    ] = False,
    no_selection: NoSelection = False,
    columns: Columns = None,
    drop: Drop = None,
    separator: Separator = None,
    max_conditioning: MaxConditioning = None,
    max_tests: MaxTests = None,
    max_seconds: MaxSeconds = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the result: .json (all of it), .txt, .dot, .svg, .png, ..."),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report that explains everything.")] = None,
    form: Annotated[
        Literal["text", "edges", "json"], typer.Option("--format", help="What to print: text, edges or json.")
    ] = "text",
    quiet: Quiet = False,
) -> None:
    """Learn a PAG from a table, and say what it means."""
    if output is not None:
        check_output(output, data)
    if report is not None:
        check_report(report)
    model = _estimator(
        method,
        alpha=alpha,
        boundary=boundary,
        boundary_alpha=boundary_alpha,
        removal_threshold=removal_threshold,
        assume_chordal=assume_chordal or None,
        selection=not no_selection,
        max_conditioning=max_conditioning,
        max_tests=max_tests,
        max_seconds=max_seconds,
    )
    with interruptible(), progress_bar(quiet) as show:
        show("data", 0, 1)
        found = model.fit(_read(data, columns, drop, separator), progress=show).result_
    written = _write(found, output, report, data)
    if not quiet:
        printer = {"text": as_text, "edges": lambda f: str(f.pag), "json": as_json}[form]
        print(printer(found).rstrip("\n"))
        if written and form == "text":
            print(f"\nWritten to {' and '.join(map(str, written))}")
    if found.budget_ended:
        fail(f"{found.budget_ended}; {len(found.undecided)} pairs are undecided", 3)


def check_output(path: Path, source: Path) -> None:
    """Refuse a file of an unknown format, or one that cannot be written, before the work."""
    from lmarvel.drawing import ENDINGS, check_target

    check_different(path, source)
    if path.suffix.lower() in ENDINGS:
        check_target(path)
    elif path.suffix.lower() != ".json":
        from lmarvel.interchange.registry import by_ending

        by_ending(path)
    check_writable(path)


def check_report(path: Path) -> None:
    """Refuse a report that cannot be written, before the work."""
    from lmarvel.report import check_report

    check_report(path)


def _write(found: Discovery, output: Path | None, report: Path | None, data: Path) -> list[Path]:
    """Write what was asked for; the ending of the output says what it is."""
    from lmarvel.drawing import ENDINGS

    if output is not None and output.suffix.lower() == ".json":
        found.save(output)
    elif output is not None and output.suffix.lower() in ENDINGS:
        found.draw(output)
    elif output is not None:
        from lmarvel.interchange.registry import write_graph

        write_graph(found.pag, output)
    if report is not None:
        from lmarvel.report import write_report

        write_report(found, report, title=data.name)
    return [path for path in (output, report) if path is not None]


@app.command()
def compare(
    data: Table,
    methods: Annotated[str, typer.Option(help="Methods to run, with commas.")] = ",".join(ESTIMATORS),
    alpha: Alpha = 0.01,
    boundary: BoundaryName = "auto",
    no_selection: NoSelection = False,
    columns: Columns = None,
    drop: Drop = None,
    separator: Separator = None,
    max_conditioning: MaxConditioning = None,
    max_tests: MaxTests = None,
    max_seconds: Annotated[float | None, typer.Option(help="Stop each method after so many seconds.")] = 60,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="What to print: text or json.")] = "text",
) -> None:
    """Run several methods on one table, and show tests, seconds, BIC, and where their PAGs differ."""
    from lmarvel.comparison import compare as run

    checked_alpha(alpha)
    names = [name.strip() for name in methods.split(",") if name.strip()]
    with interruptible():
        compared = run(
            _read(data, columns, drop, separator),
            names,
            boundary,
            alpha=alpha,
            selection=not no_selection,
            max_conditioning=max_conditioning,
            max_tests=max_tests,
            max_seconds=max_seconds,
        )
    if form == "json":
        print(json.dumps(compared.to_dict(), indent=1, ensure_ascii=False))
    else:
        print("\n".join(comparison_lines(compared)))


def _estimator(method: str, **parameters: Any) -> PagEstimator:
    if method not in ESTIMATORS:
        raise ParameterError(f"unknown method {method!r}: choose from {', '.join(ESTIMATORS)}")
    given = {name: value for name, value in parameters.items() if value is not None}
    model = ESTIMATORS[method]().set_params(**given)
    model.check_parameters()
    return model


def _read(data: Path, columns: list[str] | None, drop: list[str] | None, separator: str | None) -> Moments:
    if separator is not None:
        separator = separator.replace("\\t", "\t")
    if not (columns or drop):
        return moments_of(data, separator=separator)
    known = column_names(data, separator)
    chosen = None if columns is None else _names(columns, known)
    return moments_of(data, columns=chosen, drop=_names(drop or [], known), separator=separator)


def _names(given: list[str], known: list[str]) -> list[str]:
    """Split lists of names at commas, but not a name that holds one."""
    return [
        name
        for item in given
        for name in ([item] if item in known else (part.strip() for part in item.split(",")))
        if name
    ]


@app.command()
def demo() -> None:
    """Show the main job on a bundled table and on simulated data with known truth."""
    from lmarvel.demo import demonstration

    print("\n".join(demonstration()))
