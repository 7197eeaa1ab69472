"""The commands on how firm a result is: check, tune."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any, Literal

import typer

from lmarvel.cli.app import command, interruptible, progress_bar
from lmarvel.cli.options import (
    Method,
    Quiet,
    Stated,
    Table,
    estimator_of,
    method_options,
    with_knowledge,
    with_options,
)
from lmarvel.cli.showing import Result, load_result
from lmarvel.cli.tables import TableOptions, with_table
from lmarvel.cli.text import as_json, check_lines
from lmarvel.errors import ParameterError
from lmarvel.estimators.check import checked_on
from lmarvel.estimators.tune import TuningPath
from lmarvel.estimators.tuning import DRAWS
from lmarvel.estimators.tuning import tune as tuned
from lmarvel.result.support.reliability import encode_check
from lmarvel.text import counted

_NOTHING_SAID = TableOptions()
_NOTHING_STATED = Stated()
_MOST_CHANGES = 8  # that are listed for a step
Form = Annotated[Literal["text", "json"], typer.Option("--format", help="What to print: text or json.")]


@command
@with_table
def check(
    result: Result,
    data: Table,
    level: Annotated[
        float | None, typer.Option(help="A p-value at or below it is a failure; default as learned.")
    ] = None,
    test: Annotated[str | None, typer.Option(help="The independence test, by name; default as learned.")] = None,
    table: TableOptions = _NOTHING_SAID,
    form: Form = "text",
) -> None:
    """Test the independences that a learned graph implies on a table: how many fail, how many by chance, the worst."""
    found = load_result(result)
    table = table.as_learned(found, data)
    with interruptible(), table.usable(data):
        told = checked_on(found, table.dataset(data), level, test)
    print(as_json(encode_check(told, found.pag)) if form == "json" else "\n".join(check_lines(told)))


@command
@with_options({name: option for name, option in method_options().items() if name not in ("seed", "n_jobs")})
@with_table
@with_knowledge
def tune(
    data: Table,
    method: Method = "auto",
    by: Annotated[
        Literal["bic", "held-out", "stability"], typer.Option(help="What decides: bic, held-out or stability.")
    ] = "bic",
    values: Annotated[str | None, typer.Option(help="Values to try, with commas.")] = None,
    draws: Annotated[int, typer.Option(help="stability: resamples at each value.")] = DRAWS,
    seed: Annotated[int, typer.Option(help="Random seed for folds and resamples.")] = 0,
    n_jobs: Annotated[int, typer.Option(help="Workers, -1 for all processors.")] = 1,
    table: TableOptions = _NOTHING_SAID,
    form: Form = "text",
    stated: Stated = _NOTHING_STATED,
    quiet: Quiet = False,
    **chosen: Any,
) -> None:
    """Learn along a path of levels (lift: of penalties), show what changes, and say which to take and why."""
    model = estimator_of(method, **chosen, knowledge=stated.said())
    tried = None if values is None else _numbers(values)
    with interruptible(), progress_bar(quiet) as show, table.usable(data):
        path = tuned(
            table.dataset(data),
            model,
            by,
            tried,
            seed=seed,
            n_jobs=n_jobs,
            draws=draws,
            progress=partial(show, "path"),
        )
    print(as_json(_plain(path)) if form == "json" else "\n".join(_lines(path)))


def _numbers(text: str) -> list[float]:
    try:
        found = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise ParameterError(f"--values takes numbers with commas, such as 0.001,0.01,0.05, not {text!r}") from None
    if not found:
        raise ParameterError("--values names no value: give numbers with commas, such as 0.001,0.01,0.05")
    return found


def _plain(path: TuningPath) -> dict[str, Any]:
    steps = [
        {
            "value": step.value,
            "edges": [str(edge) for edge in step.pag.edges()],
            "bic": step.bic,
            "held_out": step.held_out,
            "instability": step.instability,
        }
        for step in path.steps
    ]
    told = {"parameter": path.parameter, "by": path.by, "value": path.value, "reason": path.reason}
    return {**told, "steps": steps}


def _lines(path: TuningPath) -> Iterator[str]:
    """Iterate over the steps of a path, what changes between them, and the choice."""
    measures = {"bic": "BIC", "held_out": "held-out", "instability": "instability"}
    shown = [name for name in measures if any(vars(step)[name] is not None for step in path.steps)]
    yield f"{path.parameter:>8}  {'edges':>5}" + "".join(f"  {measures[name]:>12}" for name in shown)
    for i, step in enumerate(path.steps):
        cells = (vars(step)[name] for name in shown)
        numbers = "".join(f"  {_cell(cell):>12}" for cell in cells)
        yield f"{step.value:>8g}  {step.pag.n_edges:>5}{numbers}{'   <- chosen' if i == path.chosen else ''}"
    for i in range(1, len(path.steps)):
        changes = path.changes(i)
        if changes:
            yield ""
            yield f"From {path.steps[i - 1].value:g} to {path.steps[i].value:g}"
            yield from (f"  {change}" for change in changes[:_MOST_CHANGES])
        if len(changes) > _MOST_CHANGES:
            yield f"  and {counted(len(changes) - _MOST_CHANGES, 'more change')}"
    yield ""
    yield f"Take {path.parameter} {path.value:g}: {path.reason}."


def _cell(value: float | None) -> str:
    if value is None:
        return "illegal"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4f}"
