"""The commands that learn from a table: learn, compare, demo, and app, which does so in a browser.

A bootstrap goes on from what a result file holds, and an interruption keeps what was counted.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from lmarvel.budget import memory
from lmarvel.budget.clock import Clock
from lmarvel.cli.app import check_apart, command, command_clock, elapsed, fail, interruptible, progress_bar
from lmarvel.cli.demo import demonstration
from lmarvel.cli.options import (
    LEARNERS,
    Bootstrap,
    Jobs,
    Marks,
    Method,
    Quiet,
    Seed,
    Stated,
    Table,
    estimator_of,
    method_options,
    shared_options,
    with_knowledge,
    with_options,
)
from lmarvel.cli.streams import STANDARD, writable_file
from lmarvel.cli.tables import TableOptions, with_table
from lmarvel.cli.text import as_edges, as_json, as_text, comparison_lines, time_line
from lmarvel.data import Dataset
from lmarvel.data import table as held
from lmarvel.data.profile.suspects import suspects
from lmarvel.data.scan import SMALL
from lmarvel.datasets import BUNDLED
from lmarvel.deferred import late
from lmarvel.drawing import ENDINGS, check_target
from lmarvel.errors import DataError, ParameterError, ResultError
from lmarvel.estimators import METHODS, PagEstimator
from lmarvel.estimators.bootstrap import Interrupted
from lmarvel.estimators.compare import compare as run
from lmarvel.files import check_writable
from lmarvel.interchange.registry import by_ending, write_graph
from lmarvel.report import check_report, write_report
from lmarvel.result.discovery import Discovery
from lmarvel.result.missing import only_apart
from lmarvel.result.support.grades import Shown
from lmarvel.result.wording import open_pairs
from lmarvel.text import printable, readable

server = late("lmarvel.app.server")  # it needs packages that the other commands do without
_NEEDED = ("starlette", "uvicorn", "anyio", "h11")
_NOTHING_SAID = TableOptions()
_NOTHING_STATED = Stated()
_TO_END, _FOR_PAGE, _MOST_OF_REST = 0.1, 0.25, 0.3  # seconds to end with, and with a report; most of what is left
_PER_PAIR = 1e-7  # seconds to write what was, or was not, found of a pair
_PER_SET, _MOST_HELD = 1e-6, 0.6  # seconds to write the set that separates a pair; most of the time, for all of them


@command
@with_options({name: option for name, option in method_options().items() if name not in ("seed", "n_jobs")})
@with_table
@with_knowledge
def learn(
    data: Table,
    method: Method = "auto",
    table: TableOptions = _NOTHING_SAID,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the result: .json (all of it), .txt, .dot, .svg, .png, ...; - prints it as JSON.",
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write an HTML report that explains everything; - prints it.")
    ] = None,
    form: Annotated[
        Literal["text", "edges", "json"], typer.Option("--format", help="What to print: text, edges or json.")
    ] = "text",
    marks: Marks = "supported",
    max_memory: Annotated[
        str | None,
        typer.Option(help="Most memory to take, such as 4GB; default three quarters of what is free."),
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Print tests, settings, score and power, too.")] = False,
    bootstrap: Bootstrap = None,
    seed: Seed = None,
    n_jobs: Jobs = None,
    stated: Stated = _NOTHING_STATED,
    quiet: Quiet = False,
    **chosen: Any,
) -> None:
    """Learn a PAG from a table, and say what it means."""
    with interruptible():
        check_apart(inputs=[data, *stated.files], outputs=[output, report])
        shown = output == STANDARD or not (quiet or report == STANDARD)
        if output == STANDARD:
            form, output = "json" if form == "text" else form, None
        if output is not None:
            check_output(output)
        if report is not None and report != STANDARD:
            check_report(report)
        workers = _of_method(method, bootstrap, seed=seed, n_jobs=n_jobs)
        model = estimator_of(method, **chosen, **workers, knowledge=stated.said())
        most = None if max_memory is None else memory.parse(max_memory)
        drawing = Drawing(bootstrap, seed or 0, 1 if n_jobs is None else n_jobs, output)
    # A budget is the command's; of a bootstrap each draw has one of its own.
    with command_clock(None if bootstrap is not None else model.max_seconds).running(), memory.limited(most):
        with interruptible(), progress_bar(quiet) as show, table.usable(data):
            show("data", 0, 1)
            dataset = table.dataset(data)
            before = time.monotonic()
            listed = model.boundary == "none" and ".json" in (output and output.suffix.lower(), f".{form}")
            with Clock().running() as search:
                search.held = partial(_to_write, len(dataset.names), listed, report is not None)
                found = drawing.fit(model, dataset, show)
            phases = dict(found.stats.seconds)
            if bootstrap is not None:
                phases["bootstrap"] = max(time.monotonic() - before - sum(phases.values()), 0.0)
        if not quiet:
            _point_out(found, dataset)
        with memory.enforced():
            written = _write(found, marks, output, report, data, dataset)
            text = _printed(found, form, marks, details) if shown else ""
        if shown:
            print(text)
            if form == "text":
                print(time_line(elapsed(), phases))
            if written and form == "text":
                print(f"\nWritten to {' and '.join(readable(str(path)) for path in written)}")
    if drawing.stopped:
        fail(drawing.stopped, 130)
    if found.budget_ended and not only_apart(found):
        fail(f"{found.budget_ended}; {open_pairs(len(found.undecided))}", 3)


def _to_write(columns: int, listed: bool, page: bool, left: float) -> float:
    """Return how many of the seconds that are left it may take to write what is found, a page of it included.

    ``listed`` is for methods that begin with all pairs, and a file that lists the sets that separate them.

    Examples
    --------
    >>> [round(_to_write(columns, True, False, 4.0), 2) for columns in (20, 1_000, 3_000)]
    [0.1, 0.65, 2.95]
    >>> [round(_to_write(20, False, page, left), 2) for page, left in [(True, 4.0), (True, 0.5), (False, 0.5)]]
    [0.35, 0.15, 0.1]
    """
    pairs = columns * (columns - 1) / 2
    always = min(_TO_END + page * _FOR_PAGE, _MOST_OF_REST * left)
    return always + _PER_PAIR * pairs + listed * min(_PER_SET * pairs, _MOST_HELD * left)


def _point_out(found: Discovery, data: Dataset) -> None:
    """Name columns that are probably not measurements on the error stream, as far as the rows are at hand."""
    if "rows" not in found.settings:  # there was no time to read them
        return
    values = len(data.names) * data.n
    if not data.has_rows or values > SMALL or values > held.KEPT:  # no file is read again for it
        return
    if line := suspects(data.names, data.kinds, data.rows()):
        print(f"lmarvel: {printable(line)}; 'lmarvel describe' shows more", file=sys.stderr)


def _of_method(method: str, bootstrap: int | None, **given: int | None) -> dict[str, Any]:
    """Return those options of a bootstrap that are a method's own, too; without a bootstrap that is what they are."""
    if bootstrap is None:
        return given
    own = inspect.signature(LEARNERS[method]).parameters if method in LEARNERS else {}
    return {name: value for name, value in given.items() if name in own and name != "n_jobs"}


def _printed(found: Discovery, form: str, marks: Shown, details: bool) -> str:
    """Return what to print: a page for people, the edges that are shown, or the whole result."""
    if form == "json":
        return printable(found.to_json().rstrip("\n"))
    return as_edges(found.shown(marks)) if form == "edges" else as_text(found, marks, details)


def check_output(path: Path) -> None:
    """Refuse a file of an unknown format, or one that cannot be written, before the work."""
    if path.suffix.lower() in ENDINGS:
        check_target(path)
    elif path.suffix.lower() != ".json":
        by_ending(path)
    check_writable(path)


def _write(
    found: Discovery, marks: Shown, output: Path | None, report: Path | None, data: Path, dataset: Dataset
) -> list[Path]:
    """Write what was asked for; the ending of the output says what it is: the whole result, or the graph to show."""
    if output is not None and output.suffix.lower() == ".json":
        found.save(output)
    elif output is not None and output.suffix.lower() in ENDINGS:
        found.draw(output, marks=marks)
    elif output is not None:
        write_graph(found.shown(marks), output)
    if report is not None:
        with writable_file(report, ".html") as file:
            write_report(found, file, title=data.name, data=dataset, marks=marks)
    return [path for path in (output, report) if path not in (None, STANDARD)]


@command
@with_options(shared_options(), defaults={"boundary": "auto", "max_seconds": 60.0})
@with_table
@with_knowledge
def compare(
    data: Table,
    methods: Annotated[str, typer.Option(help="Methods to run, with commas.")] = ",".join(METHODS),
    table: TableOptions = _NOTHING_SAID,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="What to print: text or json.")] = "text",
    stated: Stated = _NOTHING_STATED,
    **chosen: Any,
) -> None:
    """Run several methods on one table, each within a minute, and show where their PAGs differ."""
    names = [name.strip() for name in methods.split(",") if name.strip()]
    given = {name: value for name, value in chosen.items() if value is not None}
    known = stated.said()
    given |= {} if known is None else {"knowledge": known}
    for name in names:
        estimator_of(name, **given)  # refuses before the table is read what makes no sense
    with interruptible(), table.usable(data):
        compared = run(table.dataset(data), names, **given)
    print(as_json(compared.to_dict()) if form == "json" else "\n".join(comparison_lines(compared)))


@command
def demo() -> None:
    """Show the main job on a bundled table and on simulated data with known truth."""
    print("\n".join(demonstration()))


@command
def app(
    table: Annotated[
        Path | None, typer.Argument(help="A table, cars for the bundled one, or the folder of a project.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--project", help="The folder of the project; by default the name of the table with .lmarvel."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, or only print the address.")
    ] = True,
    memory: Annotated[
        float | None, typer.Option(help="GB of memory that a run may use; by default three quarters of what is free.")
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="Minutes that a run may take; by default no limit.")] = None,
    idle: Annotated[float, typer.Option(help="Minutes without use after which the app stops.")] = 60.0,
) -> None:
    """Open the app in a browser: a table, what you know, the graph, questions, files."""
    for name, value in (("memory", memory), ("minutes", minutes), ("idle", idle)):
        if value is not None and not 0 < value < float("inf"):
            raise ParameterError(f"must be a number above 0, not {value:g}", parameter=name)
    try:
        limits = server.Limits(memory, None if minutes is None else 60 * minutes, 60 * idle)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        raise DataError(f"the app needs {error.name}: install it with pip install 'lmarvel[app]'") from None
    bundled = BUNDLED.get(str(table)) if table is not None and not table.exists() else None
    place, source = server.project_for(table, folder, bundled)
    server.serve(place, source, limits, browser)


@dataclass
class Drawing:
    """How many tables to draw, from which seed, by how many workers; and the file that keeps the counts.

    ``stopped`` is what to say of an interruption that came while tables were drawn.
    """

    replicates: int | None
    seed: int
    n_jobs: int
    output: Path | None
    stopped: str = ""

    def fit(self, model: PagEstimator, data: Dataset, show: Callable[[str, int, int], None]) -> Discovery:
        """Learn, and draw tables again where that was asked for."""
        if self.replicates is None:
            return model.fit(data, progress=show).result_
        many, before = self.replicates, self._before()
        try:
            fitted = model.fit(data, progress=show, bootstrap=many, seed=self.seed, n_jobs=self.n_jobs, resume=before)
        except Interrupted as end:
            if self._kept is None or not end.stability.replicates:
                raise
            done = f"interrupted after {end.stability.drawn:,} of {self.replicates:,} resamples"
            self.stopped = f"{done}; {readable(str(self._kept))} has them, and the same command continues from there"
            return model.result_
        return fitted.result_

    @property
    def _kept(self) -> Path | None:
        """The file that keeps a whole result, where one is written."""
        return self.output if self.output is not None and self.output.suffix.lower() == ".json" else None

    def _before(self) -> Discovery | None:
        """Return the result that the file holds; anything else in its place is written over, as without a bootstrap."""
        if self._kept is None or not self._kept.exists():
            return None
        try:
            return Discovery.load(self._kept)
        except ResultError:
            return None
