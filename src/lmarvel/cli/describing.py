"""The command that looks at a table before anything is learned from it: describe."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np
import typer

from lmarvel.cli.app import command, interruptible
from lmarvel.cli.options import Table
from lmarvel.cli.tables import TableOptions, command_for, with_table
from lmarvel.cli.text import as_json
from lmarvel.data.checks import WayOut
from lmarvel.data.columns import Kind
from lmarvel.data.matrix import about_matrix
from lmarvel.data.moments import Moments
from lmarvel.data.profile import GAPS, ColumnProfile, Finding, Profile
from lmarvel.text import command_of, counted, listing, printable, readable, sentence

SHOWN = 60  # columns, one a line; of more only those with something to look at
_LEVELS = 6
_NAMED = 12
_WIDTH = 28
_NOTHING_SAID = TableOptions()


@command
@with_table
def describe(
    data: Table,
    table: TableOptions = _NOTHING_SAID,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show what a table holds, what is strange about it, and the command that would learn from it."""
    arguments = ["learn", *[word for word in sys.argv[2:] if word != "--json"]]
    if table.is_matrix:
        moments, told = table.dataset(data).moments, command_of(arguments)
        plain = moments.summary() | {"command": told}
        print(as_json(plain) if json else "\n".join(matrix_description(moments, data.name, told)))
        return
    with interruptible():
        found, way = table.proposal(data)
    command = command_for(found, way, arguments)
    if json:
        options = {"drop": None, "missing": None} if way is None else {"drop": list(way.drop), "missing": way.missing}
        print(as_json(found.to_dict() | options | {"command": command}))
    else:
        print("\n".join(description(found, data.name, way, command)))


def description(found: Profile, name: str, way: WayOut | None, command: str | None) -> Iterator[str]:
    """Iterate over the lines that tell people what a table holds."""
    gaps = found.rows - found.complete
    incomplete = f", {counted(gaps, 'row')} with missing values" if gaps else ", no missing values"
    yield f"{readable(name)}: {counted(found.rows, 'row')}, {counted(len(found.columns), 'column')}{incomplete}"
    yield ""
    yield from _columns(found)
    yield from _findings(found)
    yield from _command(found, way, command)


def matrix_description(moments: Moments, name: str, command: str) -> Iterator[str]:
    """Iterate over the lines that tell people what a matrix holds."""
    yield f"{readable(name)}: matrix of {counted(len(moments.names), 'column')} from {counted(moments.n, 'row')}"
    yield ""
    correlation, deviation = moments.correlation(), np.sqrt(np.diag(moments.covariance))
    strongest = np.abs(correlation)
    np.fill_diagonal(strongest, 0.0)
    width = min(max(6, *(len(readable(name)) for name in moments.names)), _WIDTH)
    yield f"{'column':<{width}}  standard deviation  strongest correlation"
    for i, name in enumerate(moments.names[:SHOWN]):
        j = int(np.argmax(strongest[i]))
        beside = f"{correlation[i, j]:.2f} with {_cut(moments.names[j], width)}"
        yield f"{_cut(name, width):<{width}}  {deviation[i]:>18.6g}  {beside}"
    if len(moments.names) > SHOWN:
        yield f"... and {counted(len(moments.names) - SHOWN, 'more column')} (--json shows all)"
    yield ""
    yield "This would run"
    yield f"  {command}"


def _columns(found: Profile) -> Iterator[str]:
    """Iterate over a line for each column, or for those of a wide table that have something to look at."""
    shown: Sequence[ColumnProfile] = found.columns
    if len(shown) > SHOWN:
        shown = [column for column in shown if column.findings or column.kind is not Kind.CONTINUOUS][:SHOWN]
    if shown:
        width = min(max(6, *(len(readable(column.name)) for column in shown)), _WIDTH)
        yield f"{'column':<{width}}  {'kind':<10}  {'missing':>7}  values"
        for column in shown:
            yield f"{_cut(column.name, width):<{width}}  {column.kind:<10}  {column.missing:>7,}  {_values(column)}"
    rest = len(found.columns) - len(shown)
    if rest and shown:
        yield f"... and {counted(rest, 'more column')} (--json shows all)"
    elif rest:
        yield f"{counted(rest, 'column')} of numbers, none with anything unusual (--json shows all)"
    yield ""


def _cut(name: str, width: int) -> str:
    shown = readable(name)
    return shown if len(shown) <= width else f"{shown[: width - 3]}..."


def _values(column: ColumnProfile) -> str:
    if column.levels is not None:
        if not column.levels:
            return "none"
        shown = sorted(column.levels, key=lambda level: -level[1]) if len(column.levels) > _LEVELS else column.levels
        named = ", ".join(f"{_cut(level, 20)} ({n:,})" for level, n in shown[:_LEVELS])
        return f"{counted(column.distinct, 'category', 'categories')}: {named}{', ...' * (len(shown) > _LEVELS)}"
    if column.low is None or column.high is None:
        return "none"
    return f"{column.low:.6g} to {column.high:.6g} ({column.distinct:,} different)"


def _findings(found: Profile) -> Iterator[str]:
    """Iterate over what to look at; columns of which the same is to be said stand together."""
    columns: dict[Finding, dict[str, str]] = {}
    for column in found.columns:
        for finding in column.findings:
            shown = readable(column.name) + (f" ({column.missing:,})" if finding.kind == GAPS else "")
            columns.setdefault(finding, {})[column.name] = shown
    notes = [note for note in (found.note, found.unexamined) if note]
    if not columns and not notes:
        return
    yield "To look at"
    yield from (f"  {printable(note)}" for note in notes)
    for finding, names in columns.items():
        yield f"  {listing(names.values(), _NAMED)}: {finding.what}; {finding.advice(list(names))}"
    yield ""


def _command(found: Profile, way: WayOut | None, command: str | None) -> Iterator[str]:
    if command is None or way is None:
        said = "No part of this table can be learned from as it is."
        yield sentence(about_matrix(found.matrix)) if found.matrix else said
        return
    kept = f" with {counted(way.rows, 'row')}" if way.rows < found.rows else ""
    yield f"This would run{kept}"
    yield f"  {command}"
