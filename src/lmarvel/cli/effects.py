"""The commands that answer questions about causes and effects: causes, effect, settle."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from lmarvel.cli.app import command, interruptible, progress_bar
from lmarvel.cli.options import Jobs, Table
from lmarvel.cli.showing import Result, load_result
from lmarvel.cli.streams import readable_file
from lmarvel.cli.tables import TableOptions, with_table
from lmarvel.cli.text import as_json
from lmarvel.data import Dataset
from lmarvel.effects import Effect, exported, mediation
from lmarvel.effects import effect as answer
from lmarvel.effects import settle as settling
from lmarvel.effects.numbers.again import learned_again, over_graphs
from lmarvel.effects.numbers.estimate import Estimation
from lmarvel.errors import FormatError, ParameterError, ResultError
from lmarvel.estimators.bootstrap import check_settings
from lmarvel.graph.kinds import ADMG, DAG, MAG, PAG
from lmarvel.interchange.registry import FORMATS
from lmarvel.interchange.truth import read_stated
from lmarvel.result.discovery import Discovery

_NOTHING_SAID = TableOptions()
ResultOrGraph = Annotated[
    Path,
    typer.Argument(
        help="A result file, or a graph of your own, such as graph.txt with lines 'X --> Y'; <-> is an unmeasured"
        " common cause."
    ),
]
Form = Annotated[Literal["text", "json"], typer.Option("--format", help="What to print: text or json.")]


@command
def causes(
    result: Result,
    y: Annotated[str, typer.Argument(help="The variable whose causes to list.")],
    marks: Annotated[
        Literal["all", "supported", "firm"],
        typer.Option(help="Claims to make: all of the learned graph, those at least likely, or firm ones."),
    ] = "supported",
    every: Annotated[bool, typer.Option("--all", help="List every variable, also those that do not cause it.")] = False,
    form: Form = "text",
) -> None:
    """Say which variables cause one: under every explanation of the data, under some, or under none."""
    told = load_result(result).causes(y, marks)
    print(as_json(told.to_dict()) if form == "json" else told.listed(every, "--all"))


@command
def settle(
    result: ResultOrGraph,
    x: Annotated[str, typer.Argument(help="The cause.")],
    y: Annotated[str, typer.Argument(help="The outcome.")],
    most: Annotated[int, typer.Option(min=1, help="How many statements to try together.")] = 2,
    seconds: Annotated[float, typer.Option(min=0, help="How long to try.")] = 10.0,
    form: Form = "text",
) -> None:
    """Say which statements, measurements or experiments would identify an effect that is not."""
    with interruptible():
        told = settling(_load(result), x, y, most=most, seconds=seconds)
    print(as_json(told.to_dict()) if form == "json" else told)


@command
@with_table
def effect(
    result: ResultOrGraph,
    data: Table,
    x: Annotated[str, typer.Argument(help="The cause.")],
    y: Annotated[str, typer.Argument(help="The outcome.")],
    given: Annotated[
        list[str] | None,
        typer.Option(help="Hold this variable, by looking at those with the same value; may be repeated."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Also within groups of this variable: its categories, or below and above its median."),
    ] = None,
    values: Annotated[
        str | None, typer.Option(help="Two values of the cause to compare, such as no,yes or 10,20.")
    ] = None,
    through: Annotated[
        list[str] | None,
        typer.Option(help="Split the effect into a direct part and one through this variable; may be repeated."),
    ] = None,
    instrument: Annotated[
        str | None,
        typer.Option(
            help="State that this variable is an instrument: the cause does not affect it, it affects the outcome only"
            " through the cause, and shares no unmeasured cause with the outcome."
        ),
    ] = None,
    learner: Annotated[
        Literal["glm", "boosting"],
        typer.Option(help="Models behind the average effect of categories: regressions, or boosted trees."),
    ] = "glm",
    bootstrap: Annotated[
        int | None, typer.Option(help="Replicates for the interval; by default standard errors, else 200.")
    ] = None,
    learn_again: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of resamples to learn again from: intervals are over their graphs. By default 50 to 200,"
            " as many as 10 seconds allow; 0 for none.",
        ),
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(
            help="Largest share, such as 0.1, of the remaining variance of X and Y that unmeasured causes explain."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed for the resamples.")] = 0,
    n_jobs: Jobs = None,
    table: TableOptions = _NOTHING_SAID,
    form: Annotated[
        Literal["text", "json", "dagitty", "dowhy", "econml"],
        typer.Option("--format", help="What to print: text, json, or the question for another program."),
    ] = "text",
) -> None:
    """Say whether a variable affects another, and by how much, in a learned graph or in one of your own."""
    if seed < 0:
        raise ParameterError(f"must be a whole number of at least 0, not {seed}", parameter="seed")
    found = _load(result)
    if learn_again and not isinstance(found, Discovery):
        raise ParameterError("needs a result file: a graph does not say how it was learned", parameter="learn_again")
    if form in ("dagitty", "dowhy", "econml"):
        out = exported(found, x, y)
        plain = {"dagitty": lambda: out.dagitty.rstrip("\n"), "dowhy": lambda: as_json(out.dowhy)}
        print(plain.get(form, lambda: as_json(out.econml))())
        if out.because:
            print(
                f"lmarvel: the effect of {out.x} on {out.y} is not identified, because {out.because}", file=sys.stderr
            )
        return
    if learn_again:
        check_settings(learn_again, seed, 1 if n_jobs is None else n_jobs, "learn_again")
    if not Path(data).exists() and str(data) in _names(found):
        raise ParameterError(f"{data!s} is a variable, where the table is expected: the order is RESULT TABLE X Y")
    if isinstance(found, Discovery):
        table = table.as_learned(found, data)
    with interruptible(), table.usable(data):
        rows = table.dataset(data)
        if through:
            if given or by or values or instrument or learn_again is not None:
                raise ParameterError("goes with --bootstrap, --seed and --format only", parameter="through")
            split = mediation(found, x, y, through, rows, bootstrap=bootstrap, seed=seed)
            print(as_json(split.to_dict()) if form == "json" else split)
            return
        compared = None if values is None else _two(values)
        told = answer(
            found,
            x,
            y,
            rows,
            given=given or (),
            by=by,
            values=compared,
            learner=learner,
            bootstrap=bootstrap,
            seed=seed,
            instrument=instrument,
            limit=limit,
        )
        if isinstance(found, Discovery) and learn_again != 0:
            how = Estimation(bootstrap, seed, learner, compared)
            told = _over_graphs(found, told, rows, learn_again, how, n_jobs or 1)
    print(as_json(told.to_dict()) if form == "json" else told.with_file(shlex.quote(str(result))))


def _names(found: Discovery | PAG | MAG | DAG | ADMG) -> tuple[str, ...]:
    return found.pag.names if isinstance(found, Discovery) else found.names


def _over_graphs(
    found: Discovery, told: Effect, rows: Dataset, many: int | None, how: Estimation, n_jobs: int
) -> Effect:
    """Return an answer over so many graphs learned again; where nobody asked for it, if that does not take long."""
    with progress_bar(quiet=False) as show:
        tell = partial(show, "learning again")
        if many is None:
            return over_graphs(found, told, rows, how, n_jobs=n_jobs, progress=tell)
        pair = told.identified.x, told.identified.y
        again = learned_again(found, [pair], rows, many, told.given, how, n_jobs=n_jobs, progress=tell)
    assert not isinstance(again, float)
    return told.over(again[0])


def _two(values: str) -> tuple[str, str]:
    """Return the two values that an option holds."""
    before, comma, after = values.partition(",")
    if not comma or "," in after:
        raise ParameterError(f"must be two values of the cause, such as no,yes, not {values!r}", parameter="values")
    return before.strip(), after.strip()


def _load(path: Path) -> Discovery | DAG | ADMG | MAG | PAG:
    """Return the result that a file holds, or else the graph."""
    with readable_file(path, "standard input.json") as file:
        try:
            return Discovery.load(file)
        except ResultError as error:
            if not file.is_file():
                raise
            try:
                return read_stated(file)
            except FormatError as unread:
                known = {ending for form in FORMATS.values() for ending in form.endings} - {".json"}
                raise unread if file.suffix.lower() in known else error from None
