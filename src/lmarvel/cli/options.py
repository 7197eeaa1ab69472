"""Options that several commands share, and those that the parameters of the methods make."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import typer

from lmarvel.errors import ParameterError
from lmarvel.estimators import METHODS, Auto, PagEstimator
from lmarvel.estimators.tuning import AUTO
from lmarvel.knowledge import Knowledge
from lmarvel.knowledge.text import arrow_of, pair_of, tiers_of
from lmarvel.knowledge.vocabulary import Statement
from lmarvel.text import did_you_mean

Table = Annotated[
    Path,
    typer.Argument(
        help="A table, one row per observation: .csv, .tsv, .parquet, .feather, .dta, .sav, .sas7bdat, .xlsx; - is"
        " standard input; cars is a table that comes with the package."
    ),
]
Method = Annotated[
    str,
    typer.Option(
        help=f"One of: auto, {', '.join(METHODS)}; auto is lift where the table allows it, else lmarvel.",
        autocompletion=lambda: list(LEARNERS),
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Marks = Annotated[
    Literal["all", "supported", "firm"],
    typer.Option(help="Marks to show: all that were learned, those that the data support, or only firm ones."),
]
Repeated = list[str] | None
Bootstrap = Annotated[int | None, typer.Option(help="Number of bootstrap resamples.")]
Seed = Annotated[int | None, typer.Option(help="Random seed for the bootstrap and restarts; default 0.")]
Jobs = Annotated[int | None, typer.Option(help="Workers of bootstrap or search, -1 for all processors; default 1.")]

# Where the first sentence of a docstring says too little, or more than a command line can take.
_HELP = {
    "test": "The independence test, by name.",
    "boundary": "How Markov boundaries are found; none, where a method has it, starts from all pairs.",
    "removal_threshold": "P-value above which a set counts against removing a variable.",
    "assume_chordal": "The paper's algorithm without the repair for chordless cycles.",
    "faithful": "Decide as the paper's program does where the paper leaves a choice (docs/methods.md).",
    "latents": "Allow for unmeasured common causes; --no-latents asserts that there are none.",
    "selection": "Allow for sample selection; --no-selection asserts that the sample was not selected.",
    "max_conditioning": "Largest conditioning set.",
    "max_tests": "Largest number of tests.",
    "max_seconds": "Time limit in seconds.",
}
OPEN = ("alpha", "penalty")  # what the table may choose
LEARNERS: dict[str, type[PagEstimator]] = {"auto": Auto, **METHODS}
Command = TypeVar("Command", bound=Callable[..., None])


class MethodOption(NamedTuple):
    """An option of the command line that is a parameter of methods."""

    name: str
    kind: type
    sentence: str
    choices: tuple[str, ...]
    methods: tuple[str, ...]

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return "--" + self.name.replace("_", "-")

    @property
    def help(self) -> str:
        """What the option is for, whose it is, and what can be chosen."""
        whose = "" if len(self.methods) == len(METHODS) else f"{', '.join(self.methods)}: "
        return whose + self.sentence + (f" One of: {', '.join(self.choices)}." if self.choices else "")


@cache
def method_options() -> Mapping[str, MethodOption]:
    """Return an option for each parameter of each method, from the signatures and docstrings of the methods.

    Examples
    --------
    >>> method_options()["tabu"].methods
    ('m3hc',)
    """
    found: dict[str, MethodOption] = {}
    common = documented_parameters(METHODS["lmarvel"])  # what others say "as for LMarvel" of
    for method, estimator in METHODS.items():
        documented = documented_parameters(estimator) | common
        for name, parameter in inspect.signature(estimator).parameters.items():
            if name == "knowledge":  # which has options of its own
                continue
            if name in found:
                found[name] = found[name]._replace(methods=(*found[name].methods, method))
            else:
                sentence, choices = documented.get(name, ("", ()))
                found[name] = MethodOption(name, _kind(parameter), _HELP.get(name, sentence), choices, (method,))
    return MappingProxyType(found)


def shared_options() -> dict[str, MethodOption]:
    """Return the options that all methods have."""
    return {name: option for name, option in method_options().items() if len(option.methods) == len(METHODS)}


def _kind(parameter: inspect.Parameter) -> type:
    """Return the type of a parameter on the command line: that of its default, else the one of its annotation."""
    if parameter.default is not None and parameter.default is not parameter.empty:
        return type(parameter.default)
    named = set(re.split(r"\W+", str(parameter.annotation)))
    return next((kind for kind in (float, int, bool) if kind.__name__ in named), str)


def documented_parameters(estimator: type[PagEstimator]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the first sentence that the docstring of a method has on each parameter, and the values to choose from."""
    text = inspect.getdoc(estimator) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    found = {}
    for head, body in re.findall(
        r"^(\S[^\n]*)\n((?:[ \t]+[^\n]*\n?|\n)+)", section[1] if section else "", re.MULTILINE
    ):
        names, _, kind = head.partition(" : ")
        words = " ".join(body.split()).replace("``", "")
        if words.startswith("As for "):
            continue
        sentence = re.split(r"(?<=\.) ", words)[0]
        choices = tuple(re.findall(r'"([^"]+)"', kind)) if kind.startswith("{") else ()
        for name in names.split(","):
            found[name.strip()] = (sentence, choices)
    return found


def with_options(
    options: Mapping[str, MethodOption], defaults: Mapping[str, Any] | None = None
) -> Callable[[Command], Command]:
    """Give a command the options of methods in place of its keyword arguments; what is not given stays None."""

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        named = (p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD)
        own = [p.replace(kind=p.KEYWORD_ONLY) for p in named]
        made = [_parameter(option, (defaults or {}).get(option.name)) for option in options.values()]
        after = 1 + next((i for i, p in enumerate(own) if p.name in ("method", "methods")), len(own) - 1)
        parameters = [*own[:after], *made, *own[after:]]
        command.__dict__["__signature__"] = signature.replace(parameters=parameters)
        return command

    return decorate


def _parameter(option: MethodOption, default: Any) -> inspect.Parameter:
    flag = f"{option.flag}/--no-{option.flag[2:]}" if option.kind is bool else option.flag
    how: dict[str, Any] = {"parser": number_or_auto, "metavar": "FLOAT|auto"} if option.name in OPEN else {}
    annotation = Annotated[option.kind | None, typer.Option(flag, help=option.help, **how)]  # type: ignore[name-defined]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def number_or_auto(text: str) -> float | str:
    """Return a number, or "auto" for one that the table is to choose."""
    if text == AUTO:
        return text
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number nor auto") from None


def estimator_of(method: str, **parameters: Any) -> PagEstimator:
    """Return a method with the parameters that were given, checked; None is one that was not."""
    if method not in LEARNERS:
        raise ParameterError(
            f"unknown method {method!r}: choose from {', '.join(LEARNERS)}{did_you_mean(method, LEARNERS)}"
        )
    given = {name: value for name, value in parameters.items() if value is not None}
    options = method_options()
    if given.get("latents") is False and "latents" not in inspect.signature(LEARNERS[method]).parameters:
        del given["latents"]  # then it is a statement, which every method takes
        given["knowledge"] = replace(given.get("knowledge", Knowledge()), latents=False)
    for name in given:
        if name not in inspect.signature(LEARNERS[method]).parameters:
            owners = " and ".join(options[name].methods)
            raise ParameterError(f"{options[name].flag} is an option of {owners}, not of {method}: leave it out")
    model = LEARNERS[method](**given)
    model.check_parameters()
    return model


# --- columns ----------------------------------------------------------------------------------------------


def names_of(given: list[str], known: list[str]) -> list[str]:
    """Split lists of names at commas, but not a name that holds one."""
    return [
        name
        for item in given
        for name in ([item] if item in known else (part.strip() for part in item.split(",")))
        if name
    ]


def missing_codes(given: Any, known: list[str]) -> Any:
    """Return the values that stand for a missing one: VALUE of all columns, or name=VALUE; or as a result has them.

    Examples
    --------
    >>> missing_codes(["-9,99"], ["age", "sex"]), missing_codes(["-9", "age=99"], ["age", "sex"])
    (['-9', '99'], {'age': ['-9', '99'], 'sex': ['-9']})
    """
    if isinstance(given, Mapping):
        return {name: values for name, values in given.items() if name in known} or None
    if not isinstance(given, list):
        return given
    everywhere: list[str] = []
    by_name: dict[str, list[str]] = {}
    for item in given:
        name, _, value = item.partition("=")
        if value and name.strip() in known:
            by_name.setdefault(name.strip(), []).extend(names_of([value], []))
        else:
            everywhere += names_of([item], [])
    if not (everywhere and by_name):
        return everywhere or by_name or None
    return {name: [*everywhere, *by_name.get(name, [])] for name in known}


def orders_of(given: list[str] | Mapping[str, list[str] | None], known: list[str]) -> dict[str, list[str] | None]:
    """Return the orders of ordinal columns: name, or name=lowest<...<highest; or as a result file has them."""
    if isinstance(given, Mapping):
        return dict(given)
    found: dict[str, list[str] | None] = {}
    for item in given:
        name, _, order = item.partition("=")
        if item not in known and order:
            found[name.strip()] = [level.strip() for level in order.split("<")]
        else:
            found |= dict.fromkeys(names_of([item], known))
    return found


# --- what is known beforehand -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stated:
    """What the options state; each can be repeated, and all of it counts."""

    knowledge: Annotated[
        list[Path] | None,
        typer.Option("--knowledge", help="A file of statements on causes, as docs/knowledge.md has them."),
    ] = None
    tiers: Annotated[
        Repeated, typer.Option(help='Nothing in a later tier causes an earlier one: "age,sex < smoking < bp" (repeat).')
    ] = None
    forbid: Annotated[Repeated, typer.Option(help='The first does not cause the second: "bp -> age" (repeat).')] = None
    require: Annotated[Repeated, typer.Option(help='The first causes the second: "smoking -> bp" (repeat).')] = None
    exogenous: Annotated[Repeated, typer.Option(help="Variables that nothing measured causes (repeat).")] = None
    randomised: Annotated[
        Repeated, typer.Option(help="Variables that nothing, measured or not, causes or shares a cause with (repeat).")
    ] = None
    unconfounded: Annotated[
        Repeated, typer.Option(help='The two share no unmeasured cause: "dose - cure"; one name: with any (repeat).')
    ] = None

    @property
    def files(self) -> list[Path]:
        """The files that are read."""
        return self.knowledge or []

    def said(self) -> Knowledge | None:
        """Return what is known; None where nothing is said."""
        told = [Knowledge.read(file) for file in self.files]
        statements = [s for tiers in self.tiers or [] for s in tiers_of(tiers)]
        for kind, given in (("not_causes", self.forbid), ("causes", self.require)):
            statements += [Statement(kind, arrow_of(pair)) for pair in given or []]
        for kind, given in (("exogenous", self.exogenous), ("randomised", self.randomised)):
            statements += [Statement(kind, (name,)) for names in given or [] for name in _names(names)]
        statements += [Statement("unconfounded", pair_of(pair)) for pair in self.unconfounded or []]
        if statements:
            told.append(Knowledge.of(statements))
        return told[0].and_(*told[1:]) if told else None


def with_knowledge(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of what is known in place of its argument ``stated``."""
    signature = inspect.signature(command, eval_str=True)
    hints = inspect.get_annotations(Stated, eval_str=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    options = [inspect.Parameter(f.name, keyword, default=f.default, annotation=hints[f.name]) for f in fields(Stated)]
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        own = parameter if parameter.kind is parameter.VAR_KEYWORD else parameter.replace(kind=keyword)
        parameters += options if parameter.name == "stated" else [own]

    def run(**given: Any) -> None:
        command(stated=Stated(**{f.name: given.pop(f.name) for f in fields(Stated)}), **given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__dict__["__signature__"] = signature.replace(parameters=parameters)
    return run


def _names(text: str) -> list[str]:
    """Return names with commas; one in double quotes may hold any character."""
    return [name for name in (part.strip().strip('"') for part in text.split(",")) if name]
