"""Tables on the command line: the options that say what a table is, standard input, and refusals with a way out."""

from __future__ import annotations

import inspect
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from lmarvel.cli.streams import check_one_standard, readable_file
from lmarvel.data.checks import WayOut, joined
from lmarvel.data.dataset import Dataset
from lmarvel.data.opening import Said, open_dataset
from lmarvel.data.profile import Profile, profile
from lmarvel.data.sources.base import Source
from lmarvel.data.table import open_source
from lmarvel.datasets import BUNDLED
from lmarvel.errors import DataError, LMarvelError, UnusableError
from lmarvel.result.discovery import Discovery
from lmarvel.result.file.reading import ROLES, still_to_say
from lmarvel.text import nearest, printable, readable


@dataclass(frozen=True)
class TableOptions:
    """What a user says of a table on the command line."""

    columns: Annotated[list[str] | None, typer.Option(help="Use only these columns (repeat, or commas).")] = None
    drop: Annotated[list[str] | None, typer.Option(help="Leave these columns out (repeat, or commas).")] = None
    categorical: Annotated[
        list[str] | None, typer.Option(help="Columns whose values are levels without an order; text is by itself.")
    ] = None
    ordinal: Annotated[
        list[str] | None,
        typer.Option(help="Columns whose values are levels in an order; of text: 'size=small<medium<large'."),
    ] = None
    missing: Annotated[
        Literal["refuse", "drop", "em"] | None,
        typer.Option(help="Missing values: refuse them, drop their rows, or find the moments by EM."),
    ] = None
    weights: Annotated[str | None, typer.Option(help="The column with a weight for each row.")] = None
    cluster: Annotated[str | None, typer.Option(help="The column that tells which rows belong together.")] = None
    separator: Annotated[str | None, typer.Option(help="Separator of a text file; default by its ending.")] = None
    decimal: Annotated[str | None, typer.Option(help="Decimal sign of a text file, . or , ; told by default.")] = None
    numeric_only: Annotated[bool, typer.Option("--numeric-only", help="Leave out columns that are not numbers.")] = (
        False
    )

    def dataset(self, path: Path) -> Dataset:
        """Open a table with what was said of it."""
        source = self._source(path)
        chosen, said = self._resolved(source)
        resolved = {**chosen, "categorical": said.categorical, "ordinal": said.ordinal, "separator": self._separator}
        typed = self._typed()  # all of it, also what the source was opened with: a result keeps what was said
        return Dataset.of(source, **typed | {name: resolved[name] for name in resolved if name in typed})

    def as_learned(self, found: Discovery, path: Path) -> TableOptions:
        """Return the options with those that a graph was learned with where none is typed; print what is taken over."""
        typed = self._typed()
        source = replace(self, **self._remembered(found, typed, path))._source(path)
        chosen, said = self._resolved(source)
        resolved = {"categorical": said.categorical, "ordinal": said.ordinal}
        taken = self._remembered(found, typed | {name: resolved[name] for name in resolved if name in typed}, path)
        for role in ROLES:
            if role in taken and taken[role] not in source.names:
                del taken[role]  # whoever reads the table tells of it
        if taken:
            words = [word for name, value in taken.items() for word in option_words(name, value)]
            shown = printable(shlex.join(words))
            print(f"lmarvel: reading the table as when the graph was learned: {shown}", file=sys.stderr)
        names = found.pag.names
        if chosen["columns"] is None and not chosen["drop"] and set(names) <= set(source.names):
            taken["columns"] = list(names)  # nothing else matters, whatever is wrong with it
        filled = replace(self, **taken)
        filled.__dict__["_opened"] = {path: source}
        return filled

    def _remembered(self, found: Discovery, typed: dict[str, Any], path: Path) -> dict[str, Any]:
        """Return what holds for this table, too, of the options that a graph was learned with."""
        left = still_to_say(found.data, typed, path)
        return {field.name: left[field.name] for field in fields(self) if field.name in left}

    def _typed(self) -> dict[str, Any]:
        """Return the options that are not left at their default."""
        given = {field.name: vars(self)[field.name] for field in fields(self)}
        return {field.name: given[field.name] for field in fields(self) if given[field.name] != field.default}

    def profile(self, path: Path) -> Profile:
        """Look through a table, whatever it holds."""
        source = self._source(path)
        chosen, said = self._resolved(source)
        said = said._replace(lenient=True, missing=None, weights=None, cluster=None)
        roles = [name for name in (self.weights, self.cluster) if name is not None]
        return profile(open_dataset(source, None, chosen["columns"], [*chosen["drop"], *roles], None, None, said))

    def _source(self, path: Path) -> Source:
        """Open a table; one that was opened is the same again, with what was read of it."""
        opened: dict[Path, Source] = self.__dict__.setdefault("_opened", {})
        if path not in opened:
            opened[path] = open_source(path, None, self._separator, self.decimal)
        return opened[path]

    @property
    def _separator(self) -> str | None:
        return None if self.separator is None else self.separator.replace("\\t", "\t")

    def _resolved(self, source: Source) -> tuple[dict[str, Any], Said]:
        known = source.names
        columns = None if self.columns is None else _names(self.columns, known)
        chosen = {"columns": columns, "drop": _names(self.drop or [], known)}
        said = Said(
            _names(self.categorical or [], known),
            _orders(self.ordinal or [], known),
            self.missing,
            self.weights,
            self.cluster,
            self.numeric_only,
        )
        return chosen, said

    @contextmanager
    def usable(self, path: Path) -> Iterator[None]:
        """Turn the refusal of a table into one that names everything, with a command that would run."""
        try:
            yield
        except DataError as error:
            try:
                found = self.profile(path)
            except LMarvelError:
                raise error from None
            if not (found.faults and isinstance(error, UnusableError)):
                raise
            raise DataError(refusal(found, error)) from None


def refusal(found: Profile, error: DataError) -> str:
    """Return all that stands in the way of a run, or the error if that says it, and the command without it."""
    gaps = [column.name for column in found.columns if column.missing]
    said, ways = f"{joined(found.faults)}.", ""
    if len(found.faults) == 1 and not gaps:
        said = f"{error}."
    if gaps:
        left = f"--missing drop leaves {found.complete:,} of {found.rows:,} rows"
        ways = f" Of missing values: {left}, --missing em finds the moments around them, --drop leaves columns out."
    command = command_for(found.way, sys.argv[1:])
    end = "Nothing that could be learned from would be left" if command is None else f"This would run: {command}"
    return f"{said}{ways} {end}"


def option_words(name: str, value: Any) -> list[str]:
    """Return an option as it is typed.

    Examples
    --------
    >>> option_words("drop", ["id", "day"]), option_words("numeric_only", True), option_words("header", False)
    (['--drop', 'id,day'], ['--numeric-only'], ['--no-header'])
    >>> option_words("ordinal", {"size": ["S", "M"], "rank": None})
    ['--ordinal', 'size=S<M', '--ordinal', 'rank']
    """
    flag = "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag[2:]}"]
    if isinstance(value, Mapping):
        orders = (f"{key}={'<'.join(map(str, order))}" if order else key for key, order in value.items())
        return [word for order in orders for word in (flag, order)]
    if not isinstance(value, list):
        return [flag, str(value)]
    parts = list(map(str, value))
    if any("," in part for part in parts):
        return [word for part in parts for word in (flag, part)]
    return [flag, ",".join(parts)]


def command_for(way: WayOut | None, arguments: list[str]) -> str | None:
    """Return a command with the options that a way out needs."""
    if way is None:
        return None
    more = option_words("drop", list(way.drop)) if way.drop else []
    more += ["--missing", way.missing] if way.missing else []
    words = ["lmarvel", *arguments, *more]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _names(given: list[str], known: list[str]) -> list[str]:
    """Split lists of names at commas, but not a name that holds one."""
    return [
        name
        for item in given
        for name in ([item] if item in known else (part.strip() for part in item.split(",")))
        if name
    ]


def _orders(given: list[str] | Mapping[str, list[str] | None], known: list[str]) -> dict[str, list[str] | None]:
    """Return the orders of ordinal columns: name, or name=lowest<...<highest; or as a result file has them."""
    if isinstance(given, Mapping):
        return dict(given)
    found: dict[str, list[str] | None] = {}
    for item in given:
        name, _, order = item.partition("=")
        if item not in known and order:
            found[name.strip()] = [level.strip() for level in order.split("<")]
        else:
            found |= dict.fromkeys(_names([item], known))
    return found


def with_table(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a table in place of its argument ``table``."""
    signature = inspect.signature(command, eval_str=True)
    hints = inspect.get_annotations(TableOptions, eval_str=True)
    options = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(TableOptions)
    ]
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        parameters += options if parameter.name == "table" else [_keyword(parameter)]

    def run(**given: Any) -> None:
        table = TableOptions(**{field.name: given.pop(field.name) for field in fields(TableOptions)})
        if given["data"] is None:
            command(table=table, **given)
            return
        check_one_standard(given["data"], given.get("result"))
        with readable_file(bundled(given["data"], bool(given.get("quiet"))), "standard input.csv") as path:
            command(table=table, **(given | {"data": path}))

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__dict__["__signature__"] = signature.replace(parameters=parameters)
    return run


def _keyword(parameter: inspect.Parameter) -> inspect.Parameter:
    if parameter.kind is parameter.VAR_KEYWORD:
        return parameter
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def bundled(path: Path, quiet: bool = False) -> Path:
    """Return a path as it is; or a table that comes with the package, if the path is its name and no file is there.

    What was meant is said, unless errors alone are wanted, so that nobody takes it for a file of his own.
    """
    name = str(path)
    if name in BUNDLED and not path.exists():
        if not quiet:
            print(f"lmarvel: there is no file {name} here: this is the bundled table of that name", file=sys.stderr)
        return BUNDLED[name]
    meant = nearest(name, BUNDLED)
    if meant is not None and not path.exists():
        raise DataError(f"there is no file {readable(name)}; did you mean the bundled table {meant}?")
    return path
