"""The command that makes data with known truth: simulate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from lmarvel.cli.app import command
from lmarvel.cli.options import Quiet
from lmarvel.deferred import late
from lmarvel.errors import OutputError, ParameterError
from lmarvel.files import check_writable, write_text
from lmarvel.graph.marks import quote
from lmarvel.simulate import (
    AdditiveSEM,
    DiscreteNetwork,
    LinearSEM,
    MixedSEM,
    bounded_parents,
    erdos_renyi,
    hide,
    load_model,
    load_network,
    scale_free,
)
from lmarvel.simulate.mixed import KINDS
from lmarvel.text import counted, readable

if TYPE_CHECKING:
    import polars as pl
else:
    pl = late("polars")


if TYPE_CHECKING:
    from lmarvel.graph.kinds import DAG
    from lmarvel.simulate import PublishedModel, Study

RANDOM = ("erdos-renyi", "parents", "scale-free")


@command
def simulate(
    folder: Annotated[str, typer.Argument(metavar="OUT", help="Directory for data.csv, dag.txt, mag.txt and pag.txt.")],
    structure: Annotated[
        str,
        typer.Option(
            "--structure",
            "--network",
            help=f"{', '.join(RANDOM)}; a network such as alarm; or a file: edge list or BIF.",
        ),
    ] = "erdos-renyi",
    true_parameters: Annotated[
        bool,
        typer.Option(
            "--true-parameters",
            help="Draw with the published parameters: of a BIF file, or a name that pgmpy has.",
        ),
    ] = False,
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
    states: Annotated[
        int | None, typer.Option(help="Make a discrete network with this number of states per variable.")
    ] = None,
    kinds: Annotated[
        str | None,
        typer.Option(help="Make columns of kinds drawn from a list: continuous,curved,count,binary,ordinal,nominal."),
    ] = None,
    levels: Annotated[
        int | None, typer.Option(help="With --kinds: number of categories of an ordinal or nominal column; default 3.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files of an earlier run.")] = False,
    quiet: Quiet = False,
) -> None:
    """Draw a graph and data from it, with the true DAG, MAG and PAG beside."""
    if seed < 0:
        raise ParameterError(f"the seed must not be negative, and is {seed}")
    _check_least(
        variables=(variables, 2),
        latent=(latent, 0),
        selection=(selection, 0),
        rows=(rows, 1),
        states=(states, 2),
        levels=(levels, 2),
    )
    mixed = _mixed(kinds, levels, noise, function, ranges, states)
    if true_parameters and (kinds, noise, function, ranges, states) != (None, "gaussian", "linear", None, None):
        raise ParameterError(
            "--true-parameters says how to draw: leave --kinds, --noise, --function, --ranges and --states out"
        )
    out = directory(folder)
    paths = [out / name for name in ("data.csv", "dag.txt", "mag.txt", "pag.txt")]
    _check_folder(out, paths, force)
    graph, roles, model, sample = np.random.SeedSequence(seed).spawn(4)
    published = _published(structure, variables, density) if true_parameters else None
    dag = _structure(structure, variables, density, graph) if published is None else published.dag
    _check_left(len(dag), latent, selection)
    study = hide(dag, latent, selection, seed=roles)
    columns: Mapping[str, Any]
    told = ""
    if published is not None:
        truth, columns = study, published.sample(study, rows, seed=sample)
    elif mixed is not None:
        truth, columns, told = _draw_mixed(study, rows, mixed, levels, model, sample)
    else:
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
        print("\n".join(f"  {path}" for path in paths) + told)


def _mixed(
    kinds: str | None, levels: int | None, noise: str, function: str, ranges: str | None, states: int | None
) -> list[str] | None:
    """Return the kinds to draw from, if columns of several kinds are asked for, and by nothing that speaks against."""
    if kinds is None:
        if levels is not None:
            raise ParameterError("--levels is for columns of several kinds: give --kinds too, or --states in its place")
        return None
    if (noise, function, ranges, states) != ("gaussian", "linear", None, None):
        raise ParameterError("--kinds says what every column is: leave --noise, --function, --ranges and --states out")
    named = [kind.strip() for kind in kinds.split(",")]
    for kind in named:
        if kind not in KINDS:
            raise ParameterError(f"--kinds does not know {readable(kind)}: choose from {', '.join(KINDS)}")
    return named


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


def directory(text: str) -> Path:
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


def _published(name: str, variables: int | None, density: float | None) -> PublishedModel:
    """Return a network with its parameters, if one was asked for by name or as a file."""
    if name in RANDOM:
        raise ParameterError(
            f"--true-parameters needs a published network, and {name} is a random graph: give --network alarm or a file"
        )
    if variables is not None or density is not None:
        raise ParameterError(f"--variables and --density are for random graphs, and {name} is not one: leave them out")
    return load_model(name)


def _structure(name: str, variables: int | None, density: float | None, seed: Any) -> DAG:
    if name not in RANDOM:
        if variables is not None or density is not None:
            raise ParameterError(
                f"--variables and --density are for random graphs, and {name} is not one: leave them out"
            )
        return load_network(name)
    variables = 20 if variables is None else variables
    if density is not None and not math.isfinite(density):
        raise ParameterError(f"must be a number, not {density}", parameter="density")
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


def _draw_mixed(
    study: Study, rows: int, kinds: list[str], levels: int | None, model: Any, sample: Any
) -> tuple[Study, Mapping[str, Any], str]:
    """Return the truth, the columns, and which of them are levels that look like numbers in a file."""
    made = MixedSEM.random(study.dag, kinds, 3 if levels is None else levels, seed=model)
    ordinal = [v for v in study.observed if made.kinds[study.dag.index(v)] == "ordinal"]
    told = f"\nordinal: {', '.join(map(readable, ordinal))}" if ordinal else ""
    return made.truth(study), made.sample(study, rows, seed=sample), told


def _as_csv(columns: Mapping[str, Any]) -> str:
    return pl.DataFrame(dict(columns)).write_csv()


def _as_dag(study: Study) -> str:
    roles = (("latent", study.latent), ("selection", study.selection))
    return "".join(f"# {role}: {' '.join(map(quote, names))}\n" for role, names in roles if names) + f"{study.dag}\n"
