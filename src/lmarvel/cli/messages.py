"""What is said of a command that was typed wrong: what is wrong, in which option or file, and what was meant."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from lmarvel.cli.settings import is_from_file
from lmarvel.text import did_you_mean

# How messages on a parameter begin; on the command line it is an option.
_PARAMETER = re.compile(r"(?P<name>[a-z_]+)(?= (?:must|names) )")
_CHOICE = re.compile(r"'(?P<given>[^']*)' is not one of (?P<known>'.*')")


def one_line(text: str) -> str:
    """Return a text on one line, without a full stop."""
    return " ".join(text.split()).rstrip(".")


def with_option(message: str, options: Collection[str]) -> str:
    """Return a message on a parameter as one on the option that sets it, where there is one.

    Examples
    --------
    >>> with_option("max_tests must be at least 1, not 0", {"--max-tests"})
    '--max-tests must be at least 1, not 0'
    >>> with_option("names must differ", {"--max-tests"})
    'names must differ'
    """
    found = _PARAMETER.match(message)
    option = "" if found is None else "--" + found["name"].replace("_", "-")
    return option + message[len(option) - 2 :] if option in options else message


def usage(error: Any) -> str:
    """Return what is wrong with what was typed, on one line, with what may have been meant."""
    kind, context = type(error).__name__, error.ctx
    if kind == "NoSuchOption" and context is not None:
        return _no_option(str(error.option_name), context)
    said = one_line(error.format_message()).replace("Value error, ", "")
    if kind == "MissingParameter" and error.param is not None and context is not None:
        return said + _wanted(error.param, context)
    choice = _CHOICE.search(said)
    if choice is not None:
        said += did_you_mean(choice["given"], re.findall(r"'([^']*)'", choice["known"]))
    if (
        kind == "BadParameter"
        and context is not None
        and error.param is not None
        and is_from_file(context, error.param)
    ):
        said += f", in {context.params.get('settings')}"
    return said


def _wanted(parameter: Any, context: Any) -> str:
    """Return what an argument that is missing would be, and where there are several, their order."""
    if parameter.name == "data":
        return ": a file with a table, or the name of a bundled one, such as cars"
    meant = one_line(getattr(parameter, "help", None) or "")
    return f" of {_written(context)}: {meant[:1].lower()}{meant[1:]}"


def _written(context: Any) -> str:
    """Return a command with its arguments, as in ``lmarvel draw GRAPH OUT``."""
    arguments = [one for one in context.command.params if one.param_type_name == "argument"]
    return " ".join([context.command_path, *((one.metavar or one.name).upper() for one in arguments)])


def _no_option(name: str, context: Any) -> str:
    """Return that a command has no such option: what was meant, or which commands have it."""
    own = [option for parameter in context.command.params for option in parameter.opts if option.startswith("--")]
    said = f"{context.command_path} has no option {name}"
    if name in ("-o", "--output") and any(parameter.name == "out" for parameter in context.command.params):
        return f"{said}: what it writes stands at the end, {_written(context)}"
    meant = did_you_mean(name, own, quoted=False)
    others = () if context.parent is None else context.parent.command.commands.items()
    having = [other for other, command in others if any(name in parameter.opts for parameter in command.params)]
    if having:
        return f"{said}; {', '.join(having)} {'has' if len(having) == 1 else 'have'} it"
    return said + meant
