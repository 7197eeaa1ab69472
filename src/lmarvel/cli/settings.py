"""The settings file: defaults for the options of each command, so that they need not be typed again.

``lmarvel.toml`` in the current folder, or the file that ``--settings`` names, has a table for each command::

    [learn]
    alpha = 0.001
    drop = ["id", "name"]

What is typed wins over it, and what is taken from it is said. Such a file may come with the data of a stranger, so it
cannot say where anything is written, nor to which machine anything is sent.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from lmarvel.errors import SettingsError
from lmarvel.text import did_you_mean, printable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path("lmarvel.toml")
OWN = ("settings", "help", "version", "install_completion", "show_completion")
TYPED_ONLY = ("output", "report", "out", "folder", "force", "dask")  # they write, or reach other machines
_MOST_BYTES = 1 << 20
_TYPES = (bool, int, float, str, list)


def load(path: Path, commands: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the settings of a file, by command and parameter; refuse the file if a key of it is unknown."""
    shown = printable(str(path))
    found: dict[str, dict[str, Any]] = {}
    for command, table in _parsed(path).items():
        if command not in commands or not isinstance(table, dict):
            raise SettingsError(f"{shown}: {_no_command(command, table, commands)}")
        options = filter(_is_option, commands[command].params)
        known = {name[2:]: option for option in options for name in option.opts if name.startswith("--")}
        found[command] = {}
        for key, value in table.items():
            parameter = known.get(key.replace("_", "-"))
            where = f"{shown}: [{command}] {key}"
            if parameter is None:
                raise SettingsError(
                    f"{where} is not an option of {command}{did_you_mean(key.replace('_', '-'), known)}"
                )
            if parameter.name in TYPED_ONLY:
                raise SettingsError(f"{where} has to be typed, as --{_key(parameter)}: a settings file cannot say it")
            found[command][parameter.name] = _value(where, parameter, value)
    return found


def _parsed(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise SettingsError(f"{path} has more than {_MOST_BYTES >> 20} MiB, and is no settings file")
        parsed: dict[str, Any] = tomllib.loads(content.decode("utf-8-sig"))
    except FileNotFoundError:
        raise SettingsError(f"there is no settings file {path}") from None
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:  # wrong letters, or wrong TOML
        raise SettingsError(f"{path} is not TOML: {error}") from None
    return parsed


def _no_command(name: str, table: object, commands: Mapping[str, Any]) -> str:
    if isinstance(table, dict):
        return f"[{name}] is not a command{did_you_mean(name, commands)}"
    if name in commands:
        return f"{name} is a command: write its options below [{name}]"
    return f"{name} is outside of a command: write it below one, such as [learn]"


def _is_option(parameter: Any) -> bool:
    return parameter.param_type_name == "option" and parameter.name not in OWN


def _key(parameter: Any) -> str:
    """Return an option as a settings file has it: the longest way to type it, without dashes in front."""
    return str(max(parameter.opts, key=len)).lstrip("-")


def _value(where: str, parameter: Any, value: Any) -> Any:
    """Return a value as the command line takes it; what it means is checked there."""
    if not isinstance(value, _TYPES):
        raise SettingsError(f"{where} must be a number, a text, true or false, or a list of these")
    if parameter.multiple:
        return [str(item) for item in value] if isinstance(value, list) else [str(value)]
    if isinstance(value, list):
        raise SettingsError(f"{where} takes one value, not a list")
    if bool(parameter.is_flag) is not isinstance(value, bool):
        wanted = "true or false" if parameter.is_flag else "a value other than true or false"
        raise SettingsError(f"{where} takes {wanted}, not {str(value).lower()}")
    return value


# --- on a command -----------------------------------------------------------------------------------------


def _take(context: typer.Context, given: Path | None) -> Path | None:
    """Make the settings of a file the defaults of a command; this comes before its other options are looked at."""
    path = given if given is not None else FILE if os.path.isfile(FILE) else None
    if path is not None and not context.resilient_parsing and context.parent is not None:
        group: Any = context.parent.command
        context.default_map = load(path, group.commands).get(str(context.info_name), {})
    return path


Settings = Annotated[
    Path | None,
    typer.Option(
        "--settings", is_eager=True, callback=_take, help="Defaults for options; lmarvel.toml where there is one."
    ),
]


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option --settings, and let it say what was taken from the file."""
    signature = inspect.signature(command, eval_str=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [parameter.replace(kind=keyword) for parameter in signature.parameters.values()]
    added = [
        inspect.Parameter("settings", keyword, default=None, annotation=Settings),
        inspect.Parameter("context", keyword, annotation=typer.Context),
    ]

    def run(*, context: typer.Context, settings: Path | None, **given: Any) -> None:
        taken = list(taken_from_file(context))
        if taken:
            print(f"lmarvel: from {printable(str(settings))}: {printable(', '.join(taken))}", file=sys.stderr)
        command(**given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__dict__["__signature__"] = signature.replace(parameters=[*own, *added])
    return run


def taken_from_file(context: Any) -> Iterator[str]:
    """Iterate over the options whose values come from the settings file, as they would be typed."""
    for parameter in context.command.params:
        if is_from_file(context, parameter):
            value = context.default_map[parameter.name]
            flag = f"--{_key(parameter)}"
            if isinstance(value, bool):
                yield flag if value else f"--no-{_key(parameter)}" if parameter.secondary_opts else f"no {flag}"
            else:
                yield f"{flag} {','.join(value) if isinstance(value, list) else value}"


def is_from_file(context: Any, parameter: Any) -> bool:
    """Tell whether the value of a parameter comes from the settings file."""
    source = context.get_parameter_source(parameter.name)
    return source is not None and source.name == "DEFAULT_MAP"
