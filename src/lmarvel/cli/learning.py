"""The commands that learn from a table: learn, compare, demo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from lmarvel.atomic import OutputError, check_writable, write_text
from lmarvel.boundary.choose import METHODS
from lmarvel.ci.base import checked_alpha
from lmarvel.cli.app import app, fail, interruptible, progress_bar
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
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the result here: .json or .txt.")] = None,
    form: Annotated[
        Literal["text", "edges", "json"], typer.Option("--format", help="What to print: text, edges or json.")
    ] = "text",
    quiet: Quiet = False,
) -> None:
    """Learn a PAG from a table, and say what it means."""
    if output is not None:
        if output.suffix not in (".json", ".txt"):
            raise OutputError(f"cannot tell the format of {output} by its ending: use .json or .txt")
        check_writable(output)
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
    with interruptible(), progress_bar(quiet) as report:
        report("data", 0, 1)
        found = model.fit(_read(data, columns, drop, separator), progress=report).result_
    if output is not None:
        write_text(output, as_json(found) if output.suffix == ".json" else f"{found.pag}\n")
    if not quiet:
        printer = {"text": as_text, "edges": lambda f: str(f.pag), "json": as_json}[form]
        print(printer(found).rstrip("\n"))
        if output is not None and form == "text":
            print(f"\nWritten to {output}")
    if found.budget_ended:
        fail(f"{found.budget_ended}; {len(found.undecided)} pairs are undecided", 3)


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
