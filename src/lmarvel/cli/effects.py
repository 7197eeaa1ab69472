"""The commands that answer questions about causes and effects: causes, effect."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from lmarvel.cli.app import app, interruptible
from lmarvel.cli.options import Separator
from lmarvel.cli.showing import Result
from lmarvel.cli.text import as_json
from lmarvel.errors import ParameterError

Form = Annotated[Literal["text", "json"], typer.Option("--format", help="What to print: text or json.")]


@app.command()
def causes(
    result: Result,
    y: Annotated[str, typer.Argument(help="The variable whose causes are asked for.")],
    form: Form = "text",
) -> None:
    """Say which variables cause one: under every explanation of the data, under some, or under none."""
    from lmarvel.result import Discovery

    told = Discovery.load(result).causes(y)
    print(as_json(told.to_dict()) if form == "json" else told)


@app.command()
def effect(
    result: Result,
    data: Annotated[Path, typer.Argument(help="The table: .csv, .tsv, .parquet or .feather.")],
    x: Annotated[str, typer.Argument(help="The cause.")],
    y: Annotated[str, typer.Argument(help="The outcome.")],
    given: Annotated[
        list[str] | None,
        typer.Option(help="Hold this variable, by looking at those with the same value; may be repeated."),
    ] = None,
    bootstrap: Annotated[
        int | None, typer.Option(help="Replicates for the interval; by default HC3 where least squares does, else 200.")
    ] = None,
    seed: Annotated[int, typer.Option(help="For the bootstrap.")] = 0,
    nominal: Annotated[
        list[str] | None, typer.Option(help="The numbers of this column are labels; may be repeated.")
    ] = None,
    separator: Separator = None,
    form: Annotated[
        Literal["text", "json", "dagitty", "dowhy"],
        typer.Option("--format", help="What to print: text, json, or the question for another program."),
    ] = "text",
) -> None:
    """Say whether a variable affects another, and by how much, under every explanation of the data."""
    from lmarvel.data.dataset import Dataset
    from lmarvel.effects import effect as answer
    from lmarvel.effects import exported
    from lmarvel.result import Discovery

    if seed < 0:
        raise ParameterError(f"seed must be a whole number of at least 0, not {seed}")
    found = Discovery.load(result)
    if form in ("dagitty", "dowhy"):
        out = exported(found, x, y)
        print(out.dagitty if form == "dagitty" else as_json(out.dowhy), end="" if form == "dagitty" else "\n")
        return
    with interruptible():
        table = Dataset.of(data, separator=separator)
        told = answer(
            found, x, y, table, given=given or (), bootstrap=bootstrap, seed=seed, nominal=tuple(nominal or ())
        )
    print(as_json(told.to_dict()) if form == "json" else told)
