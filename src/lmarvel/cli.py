"""The command line: ``lmarvel learn data.csv``.

Exit codes: 0 success, 2 bad input or usage, 3 a budget ran out (what was found so far is printed), 130 interrupted.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lmarvel import __version__
from lmarvel.atomic import OutputError, check_writable, write_text
from lmarvel.boundary.choose import METHODS
from lmarvel.ci.base import checked_alpha
from lmarvel.ci.gaussian import kernel_name
from lmarvel.data.moments import Moments, moments_of
from lmarvel.data.table import column_names
from lmarvel.errors import LMarvelError, ParameterError
from lmarvel.estimators import METHODS as ESTIMATORS
from lmarvel.estimators import PagEstimator
from lmarvel.graph.marks import arrow, parse_edge
from lmarvel.result import Discovery, edge_kinds

if TYPE_CHECKING:
    from lmarvel.comparison import Comparison

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Causal discovery with latent variables and selection bias: from a table to a PAG.",
)


def main() -> None:
    """Run the command line; every error of the package becomes one line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):  # a name that the terminal cannot show is no reason to fail
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, where a failure can still be told
    except LMarvelError as error:
        _fail(str(error), 2)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        _silence()
        sys.exit(0)
    except OSError as error:
        _silence()
        _fail(f"cannot write the output: {error.strerror or error}", 2)


def _silence() -> None:
    """Send what is still to be printed nowhere, so that it is not tried again on the way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> None:
    print(f"lmarvel: {message}", file=sys.stderr)
    sys.exit(code)


def _version(asked: bool) -> None:
    if asked:
        print(f"lmarvel {__version__} ({kernel_name()} search)")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version and the active kernel."),
    ] = False,
) -> None:
    pass


Alpha = Annotated[float, typer.Option(help="Level of the independence tests.")]
BoundaryName = Annotated[str, typer.Option(help=f"Markov boundaries by: {', '.join(METHODS)}.")]
BoundaryAlpha = Annotated[float | None, typer.Option(help="Level for boundaries; default 2/p^2, at most alpha.")]
NoSelection = Annotated[bool, typer.Option("--no-selection", help="The sample was not selected (no R5-R7).")]
Columns = Annotated[list[str] | None, typer.Option(help="Use only these columns (repeat, or commas).")]
Drop = Annotated[list[str] | None, typer.Option(help="Leave these columns out (repeat, or commas).")]
Separator = Annotated[str | None, typer.Option(help="Separator of a text file; default by its ending.")]
MaxConditioning = Annotated[int | None, typer.Option(help="Largest conditioning set.")]
MaxTests = Annotated[int | None, typer.Option(help="Stop after so many tests.")]
MaxSeconds = Annotated[float | None, typer.Option(help="Stop after so many seconds.")]
Table = Annotated[Path, typer.Argument(help="A table: .csv, .tsv, .parquet or .feather, one row an observation.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


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
    with _interruptible(), _progress(quiet) as report:
        report("data", 0, 1)
        found = model.fit(_read(data, columns, drop, separator), progress=report).result_
    if output is not None:
        write_text(output, _as_json(found) if output.suffix == ".json" else f"{found.pag}\n")
    if not quiet:
        printer = {"text": _as_text, "edges": lambda f: str(f.pag), "json": _as_json}[form]
        print(printer(found).rstrip("\n"))
        if output is not None and form == "text":
            print(f"\nWritten to {output}")
    if found.budget_ended:
        _fail(f"{found.budget_ended}; {len(found.undecided)} pairs are undecided", 3)


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
    with _interruptible():
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
        print("\n".join(_comparison_lines(compared)))


def _comparison_lines(compared: Comparison) -> Iterator[str]:
    yield f"{'method':<8} {'edges':>6} {'tests':>12} {'mean set':>9} {'seconds':>9} {'BIC':>14}"
    for name, found in compared.results.items():
        score = compared.bic[name]
        shown = "illegal PAG" if score is None else f"{score:,.1f}"
        stats = found.stats
        late = f"   {found.budget_ended}" if found.budget_ended else ""
        yield (
            f"{name:<8} {found.pag.n_edges:>6} {stats.n_tests:>12,} {stats.mean_conditioning_size:>9.1f}"
            f" {sum(stats.seconds.values()):>9.3f} {shown:>14}{late}"
        )
    yield ""
    rows = [("pair", *compared.results), *((f"{a}, {b}", *edges) for (a, b), edges in compared.differences())]
    if len(rows) == 1:
        yield "All methods give the same PAG."
        return
    yield "Where they differ"
    arrows = [rows[0], *((row[0], *(_arrow_of(edge) for edge in row[1:])) for row in rows[1:])]
    widths = [max(len(row[i]) for row in arrows) for i in range(len(rows[0]))]
    for row in arrows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _arrow_of(edge: str) -> str:
    """Return the three characters of an edge between its names, which may hold anything."""
    return "." if edge == "no edge" else arrow(*parse_edge(edge)[2:])


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


# --- what is printed --------------------------------------------------------------------------------------


def _as_json(found: Discovery) -> str:
    return json.dumps(found.to_dict(), indent=1, ensure_ascii=False) + "\n"


def _as_text(found: Discovery) -> str:
    return "\n".join(_lines(found))


def _lines(found: Discovery) -> Iterator[str]:
    pag = found.pag
    if found.nothing_learned:
        yield f"Nothing learned about {len(pag)} variables: {found.budget_ended}"
        yield ""
        yield from _numbers(found)
        return
    rows = f" from {found.settings['rows']:,} rows" if "rows" in found.settings else ""
    yield f"PAG over {len(pag)} variables with {pag.n_edges} edges{rows}"
    yield ""
    undecided = {frozenset(pair) for pair in found.undecided}
    width = max((len(e.a) for e in pag.edges()), default=0)
    kinds = {}
    for edge in pag.edges():
        kind = arrow(edge.at_a, edge.at_b)
        kinds[kind] = True
        mark = "   (undecided: a budget ended the search)" if {edge.a, edge.b} in undecided else ""
        yield f"  {edge.a:>{width}} {kind} {edge.b}{mark}"
    if not pag.n_edges:
        yield "  no edges: every pair of variables is independent, or separated by others"
    yield ""
    yield from _legend(set(kinds))
    yield from _notes(found)
    yield from _numbers(found)


def _legend(kinds: set[str]) -> Iterator[str]:
    if kinds:
        yield "What the edges say"
        for kind, text in edge_kinds().items():
            if kind in kinds or kind.translate(str.maketrans("<>", "><"))[::-1] in kinds:
                yield f"  A {kind} B   {text}"
        yield ""


def _notes(found: Discovery) -> Iterator[str]:
    notes = []
    reason = None if found.undecided else found.why_illegal
    if reason:
        notes.append(f"no MAG has exactly this PAG ({reason}): some tests contradict each other, as finite samples do")
    if found.none_removable:
        notes.append(f"no variable tested as removable among {len(found.none_removable)}; these were settled by search")
    if notes:
        yield "Notes"
        yield from (f"  {note}" for note in notes)
        yield ""


def _numbers(found: Discovery) -> Iterator[str]:
    stats = found.stats
    phases = ", ".join(f"{phase} {sum(sizes.values()):,}" for phase, sizes in stats.tests.items())
    yield f"Tests    {stats.n_tests:,} distinct ({phases}); mean conditioning set {stats.mean_conditioning_size:.1f}"
    yield f"Seconds  {sum(stats.seconds.values()):.3f} ({', '.join(f'{k} {v:.3f}' for k, v in stats.seconds.items())})"
    chosen = found.settings
    yield (
        f"Settings alpha {chosen['alpha']:g}, boundaries by {chosen['boundary']} at {chosen['boundary_alpha']:.2g},"
        f" {kernel_name()} search"
    )


@contextmanager
def _interruptible() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        _fail("interrupted; nothing was written", 130)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar on a terminal, on the error stream, once the work takes more than a moment."""
    if quiet or not sys.stderr.isatty():
        yield lambda phase, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    parts: list[Any] = [TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()]
    with Progress(*parts, console=Console(stderr=True), transient=True, refresh_per_second=4) as bar:
        task = bar.add_task("data", total=1)

        def report(phase: str, done: int, total: int) -> None:
            if done % 64 == 0 or done == total:
                bar.update(task, description=phase, completed=done, total=total)

        yield report
