"""The command that runs experiments: the paper's, others in their manner, and sweeps."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lmarvel.cli.app import command, interruptible
from lmarvel.cli.simulating import directory
from lmarvel.deferred import late
from lmarvel.errors import ParameterError
from lmarvel.experiments.run import Limits
from lmarvel.experiments.sweep import LONGEST, Sweep, shown

console = late("rich.console")
runner = late("lmarvel.experiments.reproduce")  # it needs Polars, which no other command does at its start
progress = late("rich.progress")


if TYPE_CHECKING:
    from lmarvel.experiments.sweep import Sweep

_SWEEP = "What a sweep varies (values with commas)"


@command
def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(
            help="table1, table2, figure3, figure4 (commas for several), all; accuracy; bounds, boundaries, conditions,"
            " rates, random-selection; sweep."
        ),
    ],
    reps: Annotated[
        int | None, typer.Option(help="Repetitions; by default the paper's, 50 (table2 and others: 20).")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Methods, with commas; by default lmarvel, rfci, fci, mbcs, m3hc and others of the experiment. Also"
            " lmarvel-at-alpha, lmarvel-second-first, fci-pruned; lmarvel-gs, lmarvel-iamb, lmarvel-inter-iamb,"
            " lmarvel-fast-iamb, lmarvel-true-boundaries; lmarvel-oracle, mbcs-oracle; with causal-learn"
            " causal-learn-fci, causal-learn-boss, causal-learn-grasp."
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of processes; by default one per core.")] = None,
    folder: Annotated[
        str, typer.Option("--out", help="Results directory; the same command goes on where it stopped.")
    ] = "reproduction",
    networks: Annotated[Path | None, typer.Option(help="Directory with carpo.csv (not in the package).")] = None,
    without: Annotated[str, typer.Option(help="Structures to leave out, with commas.")] = "",
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run on.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 2021,
    limit: Annotated[
        float, typer.Option("--limit", "--max-seconds", help="Seconds after which a run counts as NA.")
    ] = 120.0,
    max_tests: Annotated[int, typer.Option(help="Tests after which a run counts as NA.")] = 20_000_000,
    structure: Annotated[
        str | None,
        typer.Option(
            help="sweep: networks, or erdos-renyi, parents=K (at most K), degree=K, cliques=K; default parents=3.",
            rich_help_panel=_SWEEP,
        ),
    ] = None,
    variables: Annotated[
        str | None,
        typer.Option(help="sweep: sizes of random graphs, hidden ones included; default 40.", rich_help_panel=_SWEEP),
    ] = None,
    latent: Annotated[
        str | None, typer.Option(help="sweep: numbers of latent variables, as 0,2,4,8.", rich_help_panel=_SWEEP)
    ] = None,
    selection: Annotated[
        str | None, typer.Option(help="sweep: numbers of selection variables, as 0,2,4.", rich_help_panel=_SWEEP)
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(help="sweep: sample sizes, as 500,2000, or 50x for 50 per variable.", rich_help_panel=_SWEEP),
    ] = None,
    ranges: Annotated[
        str | None,
        typer.Option(
            help="sweep: coefficients and noise: benchmark (default), random or appendix.", rich_help_panel=_SWEEP
        ),
    ] = None,
    progress: Annotated[
        Literal["auto", "lines", "none"], typer.Option(help="A bar on a terminal, else lines now and then.")
    ] = "auto",
) -> None:
    """Run the paper's experiments again, others in their manner, or a sweep of your own; write tables and figures."""
    out = directory(folder)
    request = runner.Request(
        experiments=_split(experiment),
        out=out,
        methods=None if methods is None else _split(methods),
        reps=reps,
        workers=jobs,
        networks=networks,
        dask=dask,
        seed=seed,
        limits=Limits(max_tests, limit),
        without=_split(without),
        sweep=_sweep(structure, variables, latent, selection, rows, ranges),
    )
    for note in runner.notes_on(request.experiments):
        print(f"note: {note}", file=sys.stderr)
    started = time.monotonic()
    kept = f"finished runs are kept in {out}, and the same command continues from there"
    with interruptible(lambda: kept), _progress(progress) as report:
        paths = runner.reproduce(request, report)
    print(f"Done in {time.monotonic() - started:,.0f} s. Written:")
    print("\n".join(f"  {path}" for path in paths))


def _sweep(
    structure: str | None,
    variables: str | None,
    latent: str | None,
    selection: str | None,
    rows: str | None,
    ranges: str | None,
) -> Sweep | None:
    """Return what to vary; None if no option says anything about it."""
    given: dict[str, Any] = {}
    if structure is not None:
        given["structures"] = _split(structure)
    if rows is not None:
        given["rows"] = _split(rows)
    if ranges is not None:
        given["ranges"] = ranges
    for name, text in (("variables", variables), ("latent", latent), ("selection", selection)):
        if text is not None:
            given[name] = _whole(name, text)
    return Sweep(**given) if given else None


def _whole(name: str, text: str) -> list[int]:
    """Return whole numbers with commas between them."""
    parts = _split(text)
    for part in parts:
        if not (part.isascii() and part.isdigit()):
            raise ParameterError(f"--{name} takes whole numbers with commas between them, not {shown(part)!r}")
        if len(part) > LONGEST:
            raise ParameterError(f"--{name} takes numbers of at most {LONGEST} digits, not {shown(part)}")
    return [int(part) for part in parts]


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


@contextmanager
def _progress(kind: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show a live bar on a terminal, with the time left; elsewhere a line every half minute."""
    if kind == "none":
        yield lambda name, done, total: None
    elif kind == "auto" and sys.stderr.isatty():
        yield from _bar()
    else:
        yield _lines()


def _bar() -> Iterator[Callable[[str, int, int], None]]:
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
    )
    with progress.Progress(
        *columns, progress.TimeRemainingColumn(), console=console.Console(stderr=True), refresh_per_second=4
    ) as bar:
        tasks: dict[str, Any] = {}

        def report(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)

        yield report


def _lines(every: float = 30.0) -> Callable[[str, int, int], None]:
    started: dict[str, float] = {}
    last = time.monotonic()

    def report(name: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        began = started.setdefault(name, now)
        if done and (done == total or now - last >= every):
            left = (now - began) / done * (total - done)
            print(f"{name}: {done:,} of {total:,} runs, about {left:,.0f} s left", file=sys.stderr, flush=True)
            last = now

    return report
