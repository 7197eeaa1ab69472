"""What is said of a command that was typed wrong: what is wrong, in which option or file, and what was meant."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, Literal, get_args, get_origin

from lmarvel.cli.settings import is_from_file
from lmarvel.errors import LMarvelError
from lmarvel.text import did_you_mean


def one_line(text: str) -> str:
    """Return a text of a library on one line, without a full stop."""
    return " ".join(text.split()).rstrip(".")


def with_option(error: LMarvelError, options: Collection[str]) -> str:
    """Return an error on a parameter as one on the option that sets it, where there is one.

    Examples
    --------
    >>> with_option(LMarvelError("must be at least 1, not 0", parameter="max_tests"), {"--max-tests"})
    '--max-tests must be at least 1, not 0'
    >>> with_option(LMarvelError("must differ", parameter="names"), {"--max-tests"})
    'names must differ'
    """
    option = None if error.parameter is None else "--" + error.parameter.replace("_", "-")
    return error.naming(option) if option in options and option is not None else str(error)


def usage(error: Any, words: Sequence[str]) -> str:
    """Return what is wrong with the words that were typed, on one line, with what may have been meant."""
    kind, context = type(error).__name__, error.ctx
    if kind == "NoSuchOption" and context is not None:
        return _no_option(str(error.option_name), context)
    if (refused := _refused(error)) is not None:
        error.message = refused
    message, parameter = one_line(error.format_message()), getattr(error, "param", None)
    if "unexpected extra argument" in message and any(word in message and os.path.isfile(word) for word in words):
        return f"{message}: name a folder of files, or quote a pattern such as 'data/*.parquet'"
    if parameter is None or context is None:
        return message
    if kind == "MissingParameter":
        return message + _wanted(parameter, context)
    if kind != "BadParameter":
        return message
    in_file = is_from_file(context, parameter)
    given = context.default_map.get(parameter.name) if in_file else _typed(parameter, words)
    if (choices := _choices(parameter)) and isinstance(given, str):
        message += did_you_mean(given, choices)
    return f"{message}, in {context.params.get('settings')}" if in_file else message


def _refused(error: Any) -> str | None:
    """Return why a value was refused, where the library below checks values with pydantic; else None."""
    details: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()
    cause = details[0].get("ctx", {}).get("error") if details else None
    return None if cause is None else str(cause)


def _choices(parameter: Any) -> list[str]:
    """Return what an option can be chosen from: releases of the library below keep it in one place or the other."""
    choices = getattr(getattr(parameter, "type", None), "choices", None)
    annotation = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    return list(map(str, choices or _literals(annotation)))


def _literals(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [value for part in get_args(annotation) for value in _literals(part)]


def _typed(parameter: Any, words: Sequence[str]) -> str | None:
    """Return the value that was typed for an option, the last if there are several."""
    values = [value for word, value in pairwise([*words, ""]) if word in parameter.opts]
    parts = (word.partition("=") for word in words)
    values += [value for name, sign, value in parts if sign and name in parameter.opts]
    return values[-1] if values else None


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
    message = f"{context.command_path} has no option {name}"
    if name in ("-o", "--output") and any(parameter.name == "out" for parameter in context.command.params):
        return f"{message}: name the output last, {_written(context)}"
    meant = did_you_mean(name, own, quoted=False)
    others = () if context.parent is None else context.parent.command.commands.items()
    having = [other for other, command in others if any(name in parameter.opts for parameter in command.params)]
    if having:
        return f"{message}; {', '.join(having)} {'has' if len(having) == 1 else 'have'} it"
    return message + meant
