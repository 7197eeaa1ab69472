"""The options that say what is known beforehand, the same for all commands that learn."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from lmarvel.knowledge import Knowledge
from lmarvel.knowledge.text import arrow_of, pair_of, tiers_of
from lmarvel.knowledge.vocabulary import Statement

Repeated = list[str] | None


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
