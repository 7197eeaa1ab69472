"""The commands that work on results and graphs: explain, report, draw, convert, score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lmarvel.cli.app import check_apart, command, interruptible
from lmarvel.cli.streams import STANDARD, readable_file, writable_file
from lmarvel.cli.tables import TableOptions, with_table
from lmarvel.cli.text import as_json
from lmarvel.drawing import check_target
from lmarvel.drawing import draw as write
from lmarvel.errors import ParameterError, ResultError
from lmarvel.files import check_writable
from lmarvel.graph.metrics import compare_graphs
from lmarvel.interchange.registry import by_ending, check_format, read_graph, write_graph
from lmarvel.interchange.truth import read_truth
from lmarvel.report import check_report, write_report
from lmarvel.result.discovery import Discovery
from lmarvel.result.explanation import Explanation
from lmarvel.result.support.grades import Shown
from lmarvel.result.support.reliability import doubts_about
from lmarvel.text import counted, listing, readable

if TYPE_CHECKING:
    from lmarvel.graph.metrics import Scores
    from lmarvel.result.discovery import Discovery

Result = Annotated[
    Path,
    typer.Argument(
        help="A result file: 'lmarvel learn data.csv -o result.json' writes one; - is one on standard input."
    ),
]
_NOTHING_SAID = TableOptions()
MARKS = "Marks to show: all, supported by the data, or firm; circles replace the others."
FORMATS = "text, json, dot, graphml, edges, pcalg, tetrad, dagitty, mermaid"


def load_result(path: Path) -> Discovery:
    """Return the result that a file holds, or standard input."""
    with readable_file(path, "standard input.json") as file:
        return Discovery.load(file)


@command
def explain(
    result: Result,
    a: Annotated[str, typer.Argument(help="A variable.")],
    b: Annotated[str | None, typer.Argument(help="Another one; without it all edges of the first.")] = None,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="What to print: text or json.")] = "text",
) -> None:
    """Say why an edge is there or not, why its ends have their marks, and what it means."""
    found = load_result(result)
    others = [b] if b is not None else sorted(found.pag.adjacent(a))
    told = {other: found.explain(a, other) for other in others}
    if form == "json":
        plain = [one.to_dict() for one in told.values()]
        print(as_json(plain if b is None else plain[0]))
    elif b is not None:
        print(told[b])
    else:
        print("\n".join(_variable(found, a, told)))


def _variable(found: Discovery, name: str, told: Mapping[str, Explanation]) -> Iterator[str]:
    """Say of each edge of a variable what it means."""
    yield f"{readable(name)}: {counted(len(told), 'edge') if told else 'no edges'}"
    for other, one in told.items():
        doubts = doubts_about(found, name, other)
        more = "; ".join(doubt.text for doubt in doubts if doubt.kind != "undecided")  # which the meaning says
        yield f"  {one.title}   {one.meaning}{f' ({more})' if more else ''}"
    if found.boundaries:
        yield f"Markov boundary: {listing(sorted(found.boundaries[name]), none='empty')}"


@command
@with_table
def report(
    result: Result,
    out: Annotated[Path, typer.Argument(help="The HTML file to write; - is standard output.")],
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    data: Annotated[Path | None, typer.Option(help="The table, for estimates of effects.")] = None,
    marks: Annotated[Shown, typer.Option(help=f"{MARKS} A switch on the page changes it.")] = "supported",
    table: TableOptions = _NOTHING_SAID,
) -> None:
    """Write a result as one HTML file: interactive graph, explanations, effects, tables."""
    check_apart(inputs=[result, *([data] if data else [])], outputs=[out])
    if out != STANDARD:
        check_report(out)
    if data is None and table != _NOTHING_SAID:
        raise ParameterError("options of a table need the table: name it with --data")
    found = load_result(result)
    with interruptible(), writable_file(out, ".html") as file:
        if data is None:
            write_report(found, file, title, marks=marks)
        else:
            table = table.as_learned(found, data)
            with table.usable(data):
                write_report(found, file, title, table.dataset(data), marks)
    _written(out)


def _written(out: Path, what: str = "") -> None:
    """Say what was written where; nothing of what went to standard output, which would be part of it."""
    if out != STANDARD:
        print(f"{what} written to {readable(str(out))}" if what else f"Written to {readable(str(out))}")


@command
def draw(
    graph: Annotated[Path, typer.Argument(help="A result file, or a graph in any format that convert reads.")],
    out: Annotated[Path, typer.Argument(help="The picture to write: .svg, .png or .pdf; - is standard output, SVG.")],
    layout: Annotated[str, typer.Option(help="auto, layered or spring.")] = "auto",
    title: Annotated[str | None, typer.Option(help="A line above the drawing.")] = None,
    marks: Annotated[Shown | None, typer.Option(help=f"{MARKS} Only results have grades.")] = None,
) -> None:
    """Draw a result or a graph."""
    check_apart(inputs=[graph], outputs=[out])
    if out != STANDARD:
        check_target(out)
    with readable_file(graph, "standard input.json") as source, writable_file(out, ".svg") as file:
        found = _result_in(source)
        if found is not None:
            found.draw(file, layout=layout, title=title, marks=marks or "supported")
        elif marks is not None:
            raise ParameterError(
                f"--marks needs a result file, and {readable(str(graph))} has a graph only: leave it out"
            )
        else:
            write(read_graph(source), file, layout=layout, title=title)
    _written(out)


def _result_in(path: Path) -> Discovery | None:
    """Return the result that a file has; None where it has something else."""
    if path.suffix.lower() != ".json":
        return None
    try:
        return Discovery.load(path)
    except ResultError:
        return None


@command
def convert(
    source: Annotated[Path, typer.Argument(help="A graph or a result file.")],
    out: Annotated[
        Path, typer.Argument(help="The file to write; its ending says the format; - is standard output, text.")
    ],
    read_as: Annotated[str | None, typer.Option("--from", help=f"Format of the first file: {FORMATS}.")] = None,
    write_as: Annotated[str | None, typer.Option("--to", help=f"Format of the second file: {FORMATS}.")] = None,
) -> None:
    """Turn a graph into another program's format."""
    for name in (read_as, write_as):
        if name is not None:
            check_format(name)
    check_apart(inputs=[source], outputs=[out])
    if out != STANDARD:
        if write_as is None:
            by_ending(out)
        check_writable(out)
    with readable_file(source, "standard input.json") as kept, writable_file(out, ".txt") as file:
        graph = read_graph(kept, read_as)
        write_graph(graph, file, write_as)
    _written(out, f"{type(graph).__name__} of {counted(len(graph), 'node')} and {counted(graph.n_edges, 'edge')}")


@command
def score(
    learned: Annotated[Path, typer.Argument(help="A result file, or a learned graph in any format.")],
    truth: Annotated[Path, typer.Argument(help="The true DAG, MAG or PAG in any format.")],
    latent: Annotated[str, typer.Option(help="Nodes of the truth that were not measured, with commas.")] = "",
    selection: Annotated[str, typer.Option(help="Nodes of the truth that select the sample, with commas.")] = "",
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="What to print: text or json.")] = "text",
) -> None:
    """Say how close a learned graph is to the true one, edge by edge and mark by mark."""
    with readable_file(learned, "standard input.json") as kept:
        found = read_graph(kept)
    scores = compare_graphs(found, read_truth(truth, _names(latent), _names(selection)))
    if form == "json":
        print(as_json(scores.to_dict()))
    else:
        print("\n".join(_score_lines(scores)))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _score_lines(scores: Scores) -> Iterator[str]:
    yield f"{'':<12}{'precision':>10}{'recall':>10}{'F1':>10}{'right':>10}{'learned':>10}{'true':>10}"
    rates = [("skeleton", scores.skeleton), ("marks", scores.marks)]
    for name, rate in [*rates, *((name, scores.mark(name)) for name in ("arrowhead", "tail", "circle"))]:
        numbers = f"{rate.precision:>10.3f}{rate.recall:>10.3f}{rate.f1:>10.3f}"
        yield f"{name:<12}{numbers}{rate.right:>10}{rate.found:>10}{rate.true:>10}"
    yield ""
    yield f"Structural Hamming distance {scores.hamming}"
    for name, pairs in (("Extra edges", scores.extra), ("Missing edges", scores.missing)):
        yield (
            f"{name} {len(pairs)}"
            + (": " if pairs else "")
            + "; ".join(f"{readable(a)}, {readable(b)}" for a, b in pairs)
        )
    yield ""
    yield scores.table()
