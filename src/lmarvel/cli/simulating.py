"""The commands that make data with known truth: simulate and reproduce."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lmarvel.atomic import OutputError, check_writable, write_text
from lmarvel.cli.app import app, interruptible
from lmarvel.cli.options import Quiet
from lmarvel.errors import ParameterError
from lmarvel.graph.marks import counted, quote, readable

if TYPE_CHECKING:
    from lmarvel.graph.kinds import DAG
    from lmarvel.simulate import Study

RANDOM = ("erdos-renyi", "parents", "scale-free")


@app.command()
def simulate(
    folder: Annotated[str, typer.Argument(metavar="OUT", help="Directory for data.csv, dag.txt, mag.txt and pag.txt.")],
    structure: Annotated[
        str, typer.Option(help=f"{', '.join(RANDOM)}; a network such as alarm; or a file: edge list or BIF.")
    ] = "erdos-renyi",
    variables: Annotated[
        int | None, typer.Option(help="Variables of a random graph, hidden ones included; default 20.")
    ] = None,
    density: Annotated[
        float | None, typer.Option(help="erdos-renyi: chance of an edge (n^-0.9); parents, scale-free: how many.")
    ] = None,
    latent: Annotated[int, typer.Option(help="Variables that are not measured.")] = 0,
    selection: Annotated[int, typer.Option(help="Variables on which the sample is selected.")] = 0,
    rows: Annotated[int, typer.Option(help="Sample size.")] = 1000,
    ranges: Annotated[
        str | None, typer.Option(help="Coefficients and noise: benchmark (default), random or appendix.")
    ] = None,
    noise: Annotated[
        str, typer.Option(help="gaussian, uniform, laplace, exponential or student-t; selection is then by a child.")
    ] = "gaussian",
    function: Annotated[str, typer.Option(help="Effect of a cause: linear, tanh, sine, quadratic, relu.")] = "linear",
    states: Annotated[int | None, typer.Option(help="Make a discrete network with so many states a variable.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files of an earlier run.")] = False,
    quiet: Quiet = False,
) -> None:
    """Draw a graph and data from it, with the true DAG, MAG and PAG beside."""
    import numpy as np

    from lmarvel.simulate import hide

    if seed < 0:
        raise ParameterError(f"the seed must not be negative, and is {seed}")
    _check_least(
        variables=(variables, 2), latent=(latent, 0), selection=(selection, 0), rows=(rows, 1), states=(states, 2)
    )
    out = _directory(folder)
    paths = [out / name for name in ("data.csv", "dag.txt", "mag.txt", "pag.txt")]
    _check_folder(out, paths, force)
    graph, roles, model, sample = np.random.SeedSequence(seed).spawn(4)
    dag = _structure(structure, variables, density, graph)
    _check_left(len(dag), latent, selection)
    study = hide(dag, latent, selection, seed=roles)
    truth, columns = _draw(study, rows, ranges, noise, function, states, model, sample)
    texts = [_as_csv(columns), _as_dag(truth), f"{truth.mag}\n", f"{truth.pag}\n"]
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the directory {out}: {error.strerror or error}") from None
    for path, text in zip(paths, texts, strict=True):
        write_text(path, text)
    if not quiet:
        hidden = f"{len(study.latent)} latent, {len(study.selection)} selecting"
        made = f"{counted(rows, 'row')} of {counted(len(study.observed), 'variable')}"
        print(f"{made} ({hidden}) from {readable(structure)}, seed {seed}")
        print("\n".join(f"  {path}" for path in paths))


def _check_least(**options: tuple[int | None, int]) -> None:
    """Refuse, before any work, an option that is below what it can be."""
    for name, (value, least) in options.items():
        if value is not None and value < least:
            raise ParameterError(f"--{name} must be a whole number of at least {least}, not {value}")


def _check_left(variables: int, latent: int, selection: int) -> None:
    """Refuse to hide all variables but one: nothing can be learned from a single column."""
    if variables == 1:
        raise ParameterError("the structure has 1 variable, and at least 2 are needed: choose another")
    if variables - latent - selection == 1:
        hidden = f"--latent {latent} and --selection {selection}"
        raise ParameterError(
            f"{hidden} leave 1 of the {variables} variables to observe: choose fewer, 2 have to be left"
        )


def _directory(text: str) -> Path:
    """Return a directory to write into; an empty name would be the current one, which nobody meant."""
    if not text.strip():
        raise ParameterError("the directory to write into has an empty name: give one, or a dot for the current one")
    return Path(text)


def _check_folder(out: Path, paths: list[Path], force: bool) -> None:
    try:
        there = [path.name for path in paths if path.exists()]
        nearest = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
        if not nearest.is_dir():
            raise OutputError(f"cannot write into {out}: {nearest} is a file")
    except OSError as error:
        raise OutputError(f"cannot write into {out}: {error.strerror or error}") from None
    if there and not force:
        raise OutputError(f"{out} has {', '.join(there)} already: choose another directory, or give --force")
    for path in paths if out.is_dir() else [nearest / ".x"]:
        check_writable(path)


def _structure(name: str, variables: int | None, density: float | None, seed: Any) -> DAG:
    from lmarvel.simulate import bounded_parents, erdos_renyi, load_network, scale_free

    if name not in RANDOM:
        if variables is not None or density is not None:
            raise ParameterError(f"--variables and --density are for random graphs, and {name} is none: leave them out")
        return load_network(name)
    variables = 20 if variables is None else variables
    if density is not None and not math.isfinite(density):
        raise ParameterError(f"density must be a number, not {density}")
    if name == "erdos-renyi":
        return erdos_renyi(variables, density, seed=seed)
    whole = int(density) if density is not None and density == int(density) else None
    if density is not None and whole is None:
        raise ParameterError(f"density counts parents for {name}: give a whole number, not {density:g}")
    if name == "parents":
        _check_least(density=(whole, 0))
        return bounded_parents(variables, 3 if whole is None else whole, seed=seed)
    _check_least(density=(whole, 1))
    return scale_free(variables, 2 if whole is None else whole, seed=seed)


def _draw(
    study: Study, rows: int, ranges: str | None, noise: str, function: str, states: int | None, model: Any, sample: Any
) -> tuple[Study, Mapping[str, Any]]:
    """Return the truth of the sample, which selection by a child changes, and the columns."""
    from lmarvel.simulate import AdditiveSEM, DiscreteNetwork, LinearSEM

    if states is not None:
        if (noise, function, ranges) != ("gaussian", "linear", None):
            raise ParameterError("a discrete network has no noise, functions or ranges: leave these out, or --states")
        data: Any = DiscreteNetwork.random(study.dag, states, seed=model).sample(study, rows, seed=sample)
        truth = study
    elif (noise, function) == ("gaussian", "linear"):
        data = LinearSEM.random(study.dag, ranges or "benchmark", seed=model).sample(study, rows, seed=sample)
        truth = study
    else:
        additive = AdditiveSEM.random(study.dag, ranges or "benchmark", noise, function, seed=model)
        data, truth = additive.sample(study, rows, seed=sample), additive.truth(study)
    return truth, dict(zip(study.observed, data.T, strict=True))


def _as_csv(columns: Mapping[str, Any]) -> str:
    import polars as pl

    return pl.DataFrame(dict(columns)).write_csv()


def _as_dag(study: Study) -> str:
    roles = (("latent", study.latent), ("selection", study.selection))
    return "".join(f"# {role}: {' '.join(map(quote, names))}\n" for role, names in roles if names) + f"{study.dag}\n"


@app.command()
def reproduce(
    experiment: Annotated[
        str, typer.Argument(help="table1, table2, figure2, figure3 (commas for several), all; accuracy.")
    ],
    reps: Annotated[
        int | None, typer.Option(help="Repetitions; by default the paper's, 50 (table2, accuracy: 20).")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Methods, with commas; by default lmarvel, rfci, fci, mbcs, m3hc and others of the experiment. Also"
            " lmarvel-at-alpha, fci-pruned; with causal-learn causal-learn-fci, causal-learn-boss, causal-learn-grasp."
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes; by default one a core.")] = None,
    folder: Annotated[
        str, typer.Option("--out", help="Results directory; the same command goes on where it stopped.")
    ] = "reproduction",
    networks: Annotated[Path | None, typer.Option(help="Directory with carpo.csv (not in the package).")] = None,
    without: Annotated[str, typer.Option(help="Structures to leave out, with commas.")] = "",
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run on.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 2021,
    limit: Annotated[
        float, typer.Option("--limit", "--max-seconds", help="Seconds after which a run counts as NA.")
    ] = 120.0,
    max_tests: Annotated[int, typer.Option(help="Tests after which a run counts as NA.")] = 20_000_000,
    progress: Annotated[
        Literal["auto", "lines", "none"], typer.Option(help="A bar on a terminal, else lines now and then.")
    ] = "auto",
) -> None:
    """Run the paper's experiments again, and write its tables and figures, ours beside the paper's."""
    from lmarvel.experiments.reproduce import Request, reproduce
    from lmarvel.experiments.run import Limits

    out = _directory(folder)
    request = Request(
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
    )
    started = time.monotonic()
    kept = f"finished runs are kept in {out}, and the same command goes on from there"
    with interruptible(lambda: kept), _progress(progress) as report:
        paths = reproduce(request, report)
    print(f"Done in {time.monotonic() - started:,.0f} s. Written:")
    print("\n".join(f"  {path}" for path in paths))


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
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), refresh_per_second=4) as bar:
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
