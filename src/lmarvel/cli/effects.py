"""The commands that answer questions about causes and effects: causes, effect."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from lmarvel.cli.app import command, interruptible, progress_bar
from lmarvel.cli.options import Jobs, Table
from lmarvel.cli.showing import Result, load_result
from lmarvel.cli.tables import TableOptions, with_table
from lmarvel.cli.text import as_json
from lmarvel.effects import effect as answer
from lmarvel.effects import effect_learned_again, exported
from lmarvel.errors import ParameterError
from lmarvel.estimators.bootstrap import check_settings
from lmarvel.text import counted

_NOTHING_SAID = TableOptions()
Form = Annotated[Literal["text", "json"], typer.Option("--format", help="What to print: text or json.")]


@command
def causes(
    result: Result,
    y: Annotated[str, typer.Argument(help="The variable whose causes are asked for.")],
    form: Form = "text",
) -> None:
    """Say which variables cause one: under every explanation of the data, under some, or under none."""
    told = load_result(result).causes(y)
    print(as_json(told.to_dict()) if form == "json" else told)


@command
@with_table
def effect(
    result: Result,
    data: Table,
    x: Annotated[str, typer.Argument(help="The cause.")],
    y: Annotated[str, typer.Argument(help="The outcome.")],
    given: Annotated[
        list[str] | None,
        typer.Option(help="Hold this variable, by looking at those with the same value; may be repeated."),
    ] = None,
    bootstrap: Annotated[
        int | None, typer.Option(help="Replicates for the interval; by default HC3 where least squares does, else 200.")
    ] = None,
    learn_again: Annotated[
        int | None,
        typer.Option(min=1, help="Learn again from so many draws of the rows, and tell what these graphs say of it."),
    ] = None,
    seed: Annotated[int, typer.Option(help="For the draws of rows.")] = 0,
    n_jobs: Jobs = None,
    table: TableOptions = _NOTHING_SAID,
    form: Annotated[
        Literal["text", "json", "dagitty", "dowhy"],
        typer.Option("--format", help="What to print: text, json, or the question for another program."),
    ] = "text",
) -> None:
    """Say whether a variable affects another, and by how much, under every explanation of the data."""
    if seed < 0:
        raise ParameterError(f"must be a whole number of at least 0, not {seed}", parameter="seed")
    found = load_result(result)
    if form in ("dagitty", "dowhy"):
        out = exported(found, x, y)
        print(out.dagitty if form == "dagitty" else as_json(out.dowhy), end="" if form == "dagitty" else "\n")
        return
    if learn_again is not None:
        check_settings(learn_again, seed, 1 if n_jobs is None else n_jobs)
    table = table.as_learned(found, data)
    with interruptible(), table.usable(data):
        rows = table.dataset(data)
        told = answer(found, x, y, rows, given=given or (), bootstrap=bootstrap, seed=seed)
        again = None
        if learn_again is not None:
            with progress_bar(quiet=False) as show:
                tell = partial(show, "learning again")
                again = effect_learned_again(
                    found, x, y, rows, learn_again, seed=seed, n_jobs=n_jobs or 1, progress=tell
                )
    if form == "json":
        print(as_json(told.to_dict() | ({} if again is None else {"learned_again": again.to_dict()})))
        return
    print(told)
    if again is not None:
        print(f"Learned again from {counted(learn_again or 0, 'draw')} of the rows, each with its own graph: {again}.")
