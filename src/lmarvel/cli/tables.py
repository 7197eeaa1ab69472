"""Tables on the command line: the options that say what a table is, standard input, and refusals with a way out."""

from __future__ import annotations

import inspect
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from lmarvel.ci.registry import as_ci_test
from lmarvel.cli.options import missing_codes, names_of, orders_of
from lmarvel.cli.streams import check_one_standard, readable_file
from lmarvel.data.checks import MOST_COMPARED, WayOut, joined
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.data.matrix import named_matrix
from lmarvel.data.moments import Moments
from lmarvel.data.opening import Said, open_dataset
from lmarvel.data.profile import Profile, profile
from lmarvel.data.profile.patterns import Panel
from lmarvel.data.reading import Reading
from lmarvel.data.sources.base import Layout, Source
from lmarvel.data.table import chosen_columns, open_source
from lmarvel.datasets import BUNDLED
from lmarvel.errors import BudgetSpent, DataError, Determined, LMarvelError, UnusableError
from lmarvel.result.discovery import Discovery
from lmarvel.result.file.reading import ROLES, still_to_say
from lmarvel.text import command_of, nearest, option_words, printable, readable

_MOST_TRIED = 40  # columns that are dropped on trial
_MATRICES = ("covariance", "correlation")
_OF_MATRICES = ("rows", "columns", "drop", "separator", "decimal", "skip_rows", "header")


@dataclass(frozen=True)
class TableOptions:
    """What a user says of a table on the command line."""

    columns: Annotated[list[str] | None, typer.Option(help="Use only these columns (repeat, or commas).")] = None
    drop: Annotated[list[str] | None, typer.Option(help="Leave these columns out (repeat, or commas).")] = None
    categorical: Annotated[
        list[str] | None, typer.Option(help="Categorical columns; text columns are categorical automatically.")
    ] = None
    ordinal: Annotated[
        list[str] | None,
        typer.Option(help="Columns of categories in an order; for text: 'size=small<medium<large'."),
    ] = None
    missing: Annotated[
        Literal["auto", "test-wise", "drop", "em", "refuse"] | None,
        typer.Option(help="Missing values: by default each test uses the rows that have its variables (test-wise)."),
    ] = None
    weights: Annotated[str | None, typer.Option(help="The column with a weight for each row.")] = None
    cluster: Annotated[str | None, typer.Option(help="The column that shows which rows belong together.")] = None
    panel: Annotated[
        str | None,
        typer.Option(help="Repeated measures: columns of units and times, 'id,year'; adds columns of the time before."),
    ] = None
    separator: Annotated[str | None, typer.Option(help="Separator of a text file; default by its ending.")] = None
    decimal: Annotated[str | None, typer.Option(help="Decimal sign of a text file, . or , ; detected by default.")] = (
        None
    )
    numeric_only: Annotated[bool, typer.Option("--numeric-only", help="Leave out columns that are not numbers.")] = (
        False
    )
    na: Annotated[
        list[str] | None,
        typer.Option(help="Values that stand for a missing one (repeat, or commas); of one column: age=-9."),
    ] = None
    skip_rows: Annotated[
        int | None, typer.Option(help="Lines above the header; by default titles and units are noticed; 0: none.")
    ] = None
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first row has names; default by its cells.")
    ] = None
    covariance: Annotated[bool, typer.Option("--covariance", help="The file is a covariance matrix; needs --rows.")] = (
        False
    )
    correlation: Annotated[
        bool, typer.Option("--correlation", help="The file is a correlation matrix; needs --rows.")
    ] = False
    rows: Annotated[int | None, typer.Option(help="Number of rows that a matrix was computed from.")] = None

    def dataset(self, path: Path) -> Dataset:
        """Open a table with what was said of it."""
        if self.is_matrix:
            return Dataset.of(self.matrix(path))
        source = self._source(path)
        chosen, said = self._resolved(source)
        resolved = {**chosen, **said._asdict(), "separator": self._separator}
        typed = self._typed()  # all of it, also what the source was opened with: a result keeps what was said
        return Dataset.of(source, **typed | {name: resolved[name] for name in resolved if name in typed})

    @property
    def is_matrix(self) -> bool:
        """Whether the file is a matrix; refuse options that do not fit together."""
        typed, kinds = self._typed(), [f"--{name}" for name in _MATRICES if vars(self)[name]]
        if len(kinds) == 2:
            raise DataError("--covariance and --correlation exclude each other: leave one out")
        if self.rows is not None and not kinds:
            raise DataError("--rows belongs to --covariance or --correlation: add one of them, or leave it out")
        others = [name for name in typed if name not in (*_MATRICES, *_OF_MATRICES)]
        if kinds and others:
            raise DataError(
                f"--{others[0].replace('_', '-')} needs the rows of a table, and a matrix has none: leave it out"
            )
        return bool(kinds)

    def matrix(self, path: Path) -> Moments:
        """Read a covariance or correlation matrix; of columns that are left out nothing is asked."""
        layout = Layout(self._separator, self.decimal, self.skip_rows, self.header, labels=True)
        names, matrix = named_matrix(path, layout=layout)
        columns, drop = (names_of(given or [], list(names)) for given in (self.columns, self.drop))
        at = chosen_columns(names, columns or None, drop)
        try:
            return Moments.of(matrix[at][:, at], self.rows, [names[i] for i in at], correlation=self.correlation)
        except DataError as error:
            raise DataError(error.message, parameter="rows") if error.parameter == "n" else error from None

    def as_learned(self, found: Discovery, path: Path) -> TableOptions:
        """Return the options with those that a graph was learned with where none is typed; print what is taken over."""
        typed = self._typed()
        if self.is_matrix:
            return self if self.columns or self.drop else replace(self, columns=list(found.pag.names))
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
        known = set(names) <= set(source.names) or (self.panel or taken.get("panel")) is not None
        if chosen["columns"] is None and not chosen["drop"] and known:
            taken["columns"] = list(names)  # nothing else matters, whatever is wrong with it
        filled = replace(self, **taken)
        filled.__dict__["_opened"] = {path: source}
        return filled

    def _remembered(self, found: Discovery, typed: dict[str, Any], path: Path) -> dict[str, Any]:
        """Return what holds for this table, too, of the options that a graph was learned with."""
        left = still_to_say(found.data, typed, path)
        if isinstance(left.get("na"), list):
            left["na"] = tuple(left["na"])  # values as they are, while those of a list were typed
        return {field.name: left[field.name] for field in fields(self) if field.name in left}

    def _typed(self) -> dict[str, Any]:
        """Return the options that are not left at their default."""
        given = {field.name: vars(self)[field.name] for field in fields(self)}
        return {field.name: given[field.name] for field in fields(self) if given[field.name] != field.default}

    def proposal(self, path: Path) -> tuple[Profile, WayOut | None]:
        """Look through a table, whatever it holds, and find options with which a test can be made of it.

        These are tried on the table, one after the other, until some are enough.
        """
        reading = self._lenient(path)
        found = profile(reading, self.missing)
        ways = [found.way]
        if found.na:
            again = profile(_reopened(reading, WayOut((), None, 0, tuple(found.na)), lenient=True), self.missing)
            if again.way is not None:
                na = [pair for pair in (*found.na, *again.way.na) if pair[0] not in again.way.drop]
                ways.insert(0, again.way._replace(na=tuple(na)))
        if found.matrix:
            return found, None
        if (many := _coded_columns(found)) > MOST_COMPARED:
            untried = f"the command was not tried: with indicators of categories the table has {many:,} columns"
            untried = "the command was not tried" if found.unexamined else untried
            told = "; ".join(filter(None, [found.unexamined, untried]))
            return replace(found, unexamined=told), next((way for way in ways if way is not None), None)
        lagged = [other for way in ways if way is not None for other in _with_lags(way, found.panel)]
        tried = (_tried(reading, way, found) for way in lagged)
        return next(((replace(found, note=note), way) for way, note in tried if way is not None), (found, None))

    def _lenient(self, path: Path) -> Reading:
        """Open a table so that nothing in it is refused, without the columns of weights and clusters."""
        source = self._source(path)
        chosen, said = self._resolved(source)
        said = said._replace(lenient=True, missing=None, weights=None, cluster=None, panel=None)
        roles = [name for name in (self.weights, self.cluster) if name is not None]
        return open_dataset(source, None, chosen["columns"], [*chosen["drop"], *roles], Layout(), said)

    def _source(self, path: Path) -> Source:
        """Open a table; one that was opened is the same again, with what was read of it."""
        opened: dict[Path, Source] = self.__dict__.setdefault("_opened", {})
        if path not in opened:
            layout = Layout(self._separator, self.decimal, self.skip_rows, self.header)
            opened[path] = open_source(path, None, layout)
        return opened[path]

    @property
    def _separator(self) -> str | None:
        return None if self.separator is None else self.separator.replace("\\t", "\t")

    def _resolved(self, source: Source) -> tuple[dict[str, Any], Said]:
        known = source.names
        columns = None if self.columns is None else names_of(self.columns, known)
        chosen = {"columns": columns, "drop": names_of(self.drop or [], known)}
        said = Said(
            names_of(self.categorical or [], known),
            orders_of(self.ordinal or [], known),
            self.missing,
            self.weights,
            self.cluster,
            self.numeric_only,
            missing_codes(self.na, known),
            self.panel,
        )
        return chosen, said

    @contextmanager
    def usable(self, path: Path) -> Iterator[None]:
        """Turn the refusal of a table into one that names everything, with a command that would run."""
        try:
            yield
        except DataError as error:
            if self.covariance or self.correlation or not isinstance(error, UnusableError):
                raise
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # what is said of the table was said before
                    found, way = self.proposal(path)
            except (LMarvelError, BudgetSpent):  # also where no time is left to look for a way out
                raise error from None
            raise DataError(refusal(found, way, error, self.missing)) from None


def refusal(found: Profile, way: WayOut | None, error: DataError, missing: str | None) -> str:
    """Return all that stands in the way of a run, or the error if that says it, and the command without it."""
    gaps = missing == "refuse" and any(column.missing for column in found.columns)
    said = f"{joined(found.faults)}." if gaps or len(found.faults) > 1 or not found.complete else f"{error}."
    ways = ""
    if gaps and way is not None:
        left = f"--missing drop keeps {found.complete:,} of {found.rows:,} rows, " if found.complete > 3 else ""
        ways = " For missing values: --missing test-wise lets each test use the rows that have its variables,"
        ways += f" {left}--missing em uses all rows, --drop leaves columns out."
    command = command_for(found, way, sys.argv[1:])
    end = "Nothing that could be learned from would be left" if command is None else f"This would run: {command}"
    return f"{said}{ways} {end}"


def _reopened(reading: Reading, way: WayOut, lenient: bool = False) -> Reading:
    """Return a table as it is with the options of a way out."""
    na: dict[str, list[str]] = {}
    for name, value in way.na:
        na.setdefault(name, []).append(value)
    said = Said(missing=way.missing, cluster=way.cluster, na=na or None, panel=way.panel, lenient=lenient)
    return open_dataset(reading, None, None, way.drop, Layout(), said)


def _with_lags(way: WayOut, panel: Panel | None) -> Iterator[WayOut]:
    """Iterate over a way out of a panel: its lags first, then its units as clusters."""
    if panel is not None and way.cluster == panel.unit and not any("," in name for name in panel[:2]):
        drop = tuple(name for name in way.drop if name != panel.time)
        yield way._replace(drop=drop, cluster=None, panel=(panel.unit, panel.time))
    yield way


def _coded_columns(found: Profile) -> int:
    """Return how many columns a table has for a score or a test, where a category is several."""
    return sum(1 if column.levels is None else max(len(column.levels) - 1, 1) for column in found.columns)


def _tried(reading: Reading, way: WayOut, found: Profile) -> tuple[WayOut | None, str]:
    """Return a way out that is enough, with more columns dropped if need be, and why these have to be."""
    note = ""
    for _ in range(_MOST_TRIED):
        try:
            return way._replace(rows=_rows_that_run(reading, way)), note
        except Determined as error:
            note = note or str(error)
            way = way._replace(drop=(*way.drop, error.culprit))
        except LMarvelError as error:
            note = note or str(error)
            break
    for other in _variants(way, found):
        with suppress(LMarvelError):
            return other._replace(rows=_rows_that_run(reading, other)), note
    return None, note


def _rows_that_run(reading: Reading, way: WayOut) -> int:
    """Return the number of rows that a test, and a score, can be made of with the options of a way out."""
    plain = not (way.drop or way.missing or way.na or way.cluster or way.panel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = Dataset(reading if plain else _reopened(reading, way))
        data.read()
        if as_ci_test("auto", data).name == "g-square":  # it can live with what a score cannot
            as_ci_test("mixed", data)
        return data.n


def _variants(way: WayOut, found: Profile) -> Iterator[WayOut]:
    """Iterate over a way out with one more column dropped, and with all of categories dropped."""
    left = [column for column in found.columns if column.name not in (*way.drop, way.cluster, *(way.panel or ()))]
    of_categories = [column.name for column in left if column.kind is Kind.NOMINAL]
    others = [column.name for column in left if column.kind is not Kind.NOMINAL]
    for more in [*([name] for name in [*of_categories, *reversed(others)][:_MOST_TRIED]), of_categories]:
        if more and len(left) - len(more) >= 2:
            na = tuple(pair for pair in way.na if pair[0] not in more)
            yield way._replace(drop=(*way.drop, *more), na=na)


def command_for(found: Profile, way: WayOut | None, arguments: list[str]) -> str | None:
    """Return a command with the options that a way out needs."""
    if way is None:
        return None
    words = [found.na.get(pair, "=".join(pair)) for pair in way.na]
    more = [part for word in dict.fromkeys(words) for part in ("--na", word)]
    if way.drop:
        more += option_words("drop", list(way.drop))
    if way.missing:
        arguments = _without_option(arguments, "--missing")
        more += ["--missing", way.missing]
    more += ["--cluster", way.cluster] if way.cluster else []
    more += option_words("panel", way.panel) if way.panel else []
    return command_of([*arguments, *more])


def _without_option(arguments: list[str], option: str) -> list[str]:
    """Return the words of a command without an option and its value."""
    before = ["", *arguments]
    return [w for w, last in zip(arguments, before, strict=False) if option not in (w, last, w.partition("=")[0])]


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
