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
from typing import Annotated, Any, Literal

import typer

from lmarvel import __version__
from lmarvel.atomic import OutputError, check_writable, write_text
from lmarvel.boundary.choose import METHODS
from lmarvel.ci.base import checked_alpha
from lmarvel.ci.gaussian import kernel_name
from lmarvel.data.moments import moments_of
from lmarvel.errors import LMarvelError, ParameterError
from lmarvel.estimators import LMarvel
from lmarvel.result import Discovery, edge_kinds

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Causal discovery with latent variables and selection bias: from a table to a PAG.",
)


def main() -> None:
    """Run the command line; every error of the package becomes one line and exit code 2."""
    try:
        app()
    except LMarvelError as error:
        _fail(str(error), 2)
    except KeyboardInterrupt:
        _fail("interrupted; nothing was written", 130)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


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


@app.command()
def learn(
    data: Annotated[Path, typer.Argument(help="A table: .csv, .tsv, .parquet or .feather, one row an observation.")],
    alpha: Annotated[float, typer.Option(help="Level of the independence tests.")] = 0.01,
    boundary: Annotated[str, typer.Option(help=f"Markov boundaries by: {', '.join(METHODS)}.")] = "auto",
    boundary_alpha: Annotated[
        float | None, typer.Option(help="Level for boundaries; default 2/p^2, at most alpha.")
    ] = None,
    removal_threshold: Annotated[float, typer.Option(help="p-value above which a set speaks against removal.")] = 0.8,
    assume_chordal: Annotated[
        bool, typer.Option("--assume-chordal", help="The paper's algorithm, unrepaired.")
    ] = False,
    no_selection: Annotated[
        bool, typer.Option("--no-selection", help="The sample was not selected (no R5-R7).")
    ] = False,
    columns: Annotated[list[str] | None, typer.Option(help="Use only these columns (repeat, or commas).")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Leave these columns out (repeat, or commas).")] = None,
    separator: Annotated[str | None, typer.Option(help="Separator of a text file; default by its ending.")] = None,
    max_conditioning: Annotated[int | None, typer.Option(help="Largest conditioning set.")] = None,
    max_tests: Annotated[int | None, typer.Option(help="Stop after so many tests.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Stop after so many seconds.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the result here: .json or .txt.")] = None,
    form: Annotated[
        Literal["text", "edges", "json"], typer.Option("--format", help="What to print: text, edges or json.")
    ] = "text",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Learn a PAG from a table, and say what it means."""
    if output is not None:
        if output.suffix not in (".json", ".txt"):
            raise OutputError(f"cannot tell the format of {output} by its ending: use .json or .txt")
        check_writable(output)
    model = LMarvel(
        alpha=alpha,
        boundary=boundary,
        boundary_alpha=boundary_alpha,
        removal_threshold=removal_threshold,
        assume_chordal=assume_chordal,
        selection=not no_selection,
        max_conditioning=max_conditioning,
        max_tests=max_tests,
        max_seconds=max_seconds,
    )
    checked_alpha(alpha)
    if separator is not None and len(separator := separator.replace("\\t", "\t")) != 1:
        raise ParameterError(f"the separator is one character, not {separator!r}")
    with _progress(quiet) as report:
        report("data", 0, 1)
        moments = moments_of(data, columns=_split(columns), drop=_split(drop) or (), separator=separator)
        found = model.fit(moments, progress=report).result_
    if output is not None:
        write_text(output, _as_json(found) if output.suffix == ".json" else f"{found.pag}\n")
    if not quiet:
        printer = {"text": _as_text, "edges": lambda f: str(f.pag), "json": _as_json}[form]
        print(printer(found).rstrip("\n"))
        if output is not None and form == "text":
            print(f"\nWritten to {output}")
    if found.budget_ended:
        _fail(f"{found.budget_ended}; {len(found.undecided)} pairs are undecided", 3)


def _split(given: list[str] | None) -> list[str] | None:
    """Split lists of names at commas."""
    return None if given is None else [name.strip() for item in given for name in item.split(",") if name.strip()]


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
        shown = str(edge)
        kind = shown[len(shown) - len(edge.b) - 4 : len(shown) - len(edge.b) - 1]
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
    reason = found.why_illegal
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
def _progress(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar on a terminal, on the error stream, once the work takes more than a moment."""
    if quiet or not sys.stderr.isatty():
        yield lambda phase, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    parts: list[Any] = [TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()]
    with Progress(*parts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("data", total=None)

        def report(phase: str, done: int, total: int) -> None:
            if done % 64 == 0 or done == total:
                bar.update(task, description=phase, completed=done, total=total if total > 1 else None)

        yield report
