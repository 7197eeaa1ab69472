"""Knowledge as text: a form for people, and Tetrad's.

The form for people has one statement per line; ``#`` begins a comment, and names with blanks, commas or ``<`` stand in
double quotes. Several names, with commas, can stand where one can::

    # what we know of the survey
    tiers: age, sex < smoking < bp, lab_*
    smoking causes bp
    age, sex do not cause income
    edge smoking - bp
    no edge age - sex
    income is exogenous
    no selection
    no latents

Tetrad's text has tiers (``addtemporal``), and edges that are forbidden or required. It speaks of direct edges:
``forbiddirect A B`` is read as "A does not cause B", ``requiredirect A B`` as "A causes B" and "edge A - B".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from lmarvel.errors import GraphError, KnowledgeError
from lmarvel.graph.files import read_text
from lmarvel.graph.marks import unquote
from lmarvel.knowledge.resolve import is_pattern
from lmarvel.knowledge.vocabulary import Statement

if TYPE_CHECKING:
    from lmarvel.knowledge.statements import Knowledge

_NAME = r'"(?:[^"\\]|\\.)*"|[^\s",<#]+'
_NAMES = rf"(?:{_NAME})(?:\s*,\s*(?:{_NAME}))*"
_FORMS = {
    "not_causes": re.compile(rf"({_NAMES})\s+(?:does|do)\s+not\s+cause\s+({_NAMES})"),
    "causes": re.compile(rf"({_NAMES})\s+causes?\s+({_NAMES})"),
    "no_edges": re.compile(rf"no\s+edge:?\s+({_NAMES})\s+-\s+({_NAMES})"),
    "edges": re.compile(rf"edge:?\s+({_NAMES})\s+-\s+({_NAMES})"),
    "exogenous": re.compile(rf"({_NAMES})\s+(?:is|are)\s+exogenous"),
    "selection": re.compile(r"no\s+selection"),
    "latents": re.compile(r"no\s+latents"),
}
_TIERS = re.compile(r"tiers\s*:\s*(.*)", re.DOTALL)
_HELP = (
    "write 'A causes B', 'A does not cause B', 'edge A - B', 'no edge A - B', 'A is exogenous', 'tiers: A < B, C',"
    " 'no selection' or 'no latents'"
)


def parse(text: str) -> list[Statement]:
    """Return the statements of a text, in the form for people or in Tetrad's.

    Examples
    --------
    >>> print(*parse('tiers: age, sex < "blood pressure"   # by time'))
    tiers: age, sex < "blood pressure"
    """
    if re.match(r"\s*/knowledge\b", text):
        return parse_tetrad(text)
    statements: list[Statement] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            statements += _statements(_uncommented(line))
        except (KnowledgeError, GraphError) as error:
            raise KnowledgeError(f"line {number}: {error}") from None
    return list(dict.fromkeys(statements))


def read(path: str | Path) -> list[Statement]:
    """Read a file of either form.

    Examples
    --------
    >>> read("nowhere.txt")
    Traceback (most recent call last):
    ...
    lmarvel.errors.KnowledgeError: nowhere.txt: there is no such file
    """
    try:
        return parse(read_text(Path(path), 2**22))
    except (KnowledgeError, GraphError) as error:
        raise KnowledgeError(f"{path}: {error}") from None


def tiers_of(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the tiers of a line such as ``age, sex < smoking < bp``.

    Examples
    --------
    >>> tiers_of("age, sex < bp")
    (('age', 'sex'), ('bp',))
    """
    tiers = _split(text, "<")
    if not all(re.fullmatch(_NAMES, tier) for tier in tiers):
        raise KnowledgeError(f"cannot read the tiers {text.strip()!r}: write them as 'age, sex < smoking < bp'")
    return tuple(tuple(_names(tier)) for tier in tiers)


def arrow_of(text: str) -> tuple[str, str]:
    """Return the two names of ``A -> B``.

    Examples
    --------
    >>> arrow_of("bp -> age")
    ('bp', 'age')
    """
    match = re.fullmatch(rf"\s*({_NAME})\s+--?>\s+({_NAME})\s*", text)
    if match is None:
        raise KnowledgeError(f"cannot read {text.strip()!r}: write it as 'bp -> age', with blanks around the arrow")
    return unquote(match[1]), unquote(match[2])


def _uncommented(line: str) -> str:
    parts = re.findall(r'"(?:[^"\\]|\\.)*"|#.*|[^"#]+|"', line)
    return "".join(part for part in parts if not part.startswith("#")).strip()


def _split(text: str, by: str) -> list[str]:
    """Split at a character that stands outside quotes."""
    return [part.strip() for part in re.split(rf'{by}(?=(?:[^"]*"[^"]*")*[^"]*$)', text)]


def _names(text: str) -> list[str]:
    return [unquote(token) for token in re.findall(_NAME, text)]


def _statements(line: str) -> Iterator[Statement]:
    if not line:
        return
    tiers = _TIERS.fullmatch(line)
    if tiers is not None:
        yield Statement("tiers", tiers_of(tiers[1]))
        return
    for kind, form in _FORMS.items():
        match = form.fullmatch(line)
        if match is not None:
            parts = [_names(part) for part in match.groups()]
            yield from (Statement(kind, about) for about in product(*parts))
            return
    raise KnowledgeError(f"cannot read {line!r}: {_HELP}")


# --- Tetrad -----------------------------------------------------------------------------------------------


def parse_tetrad(text: str) -> list[Statement]:
    """Return the statements of Tetrad's text.

    Examples
    --------
    >>> print(*parse_tetrad('''/knowledge
    ... addtemporal
    ... 1 age sex
    ... 2 bp
    ... forbiddirect
    ... sex age
    ... '''), sep="\\n")
    tiers: age, sex < bp
    sex does not cause age
    """
    section, tiers, statements = "", {}, []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words == ["/knowledge"]:
            continue
        if words[0] in ("addtemporal", "forbiddirect", "requiredirect", "forbiddengroup", "requiredgroup"):
            section = words[0]
        elif section == "addtemporal" and re.fullmatch(r"\d+\*?-?", words[0]):
            tiers[int(re.sub(r"\D", "", words[0]))] = words[1:]
            if "*" in words[0]:  # nothing within this tier causes anything else in it
                statements += [
                    Statement("not_causes", pair) for pair in product(words[1:], repeat=2) if pair[0] != pair[1]
                ]
        elif section in ("forbiddirect", "requiredirect") and len(words) == 2:
            pair = (words[0], words[1])
            required = [Statement("causes", pair), Statement("edges", pair)]
            statements += required if section == "requiredirect" else [Statement("not_causes", pair)]
        else:
            raise KnowledgeError(f"line {number}: cannot read {line.strip()!r} in Tetrad's knowledge")
    ordered = tuple(tuple(tiers[k]) for k in sorted(tiers) if tiers[k])
    return [*([Statement("tiers", ordered)] if ordered else []), *dict.fromkeys(statements)]


def as_tetrad(knowledge: Knowledge) -> str:
    """Return the knowledge as Tetrad's text; what that has no words for is refused.

    Examples
    --------
    >>> from lmarvel import Knowledge
    >>> print(as_tetrad(Knowledge(tiers=[["A"], ["B"]], not_causes=[("B", "C")])))
    /knowledge
    addtemporal
    <BLANKLINE>
    1 A
    2 B
    <BLANKLINE>
    forbiddirect
    B C
    <BLANKLINE>
    requiredirect
    <BLANKLINE>
    """
    direct = [pair for pair in knowledge.causes if pair in knowledge.edges or pair[::-1] in knowledge.edges]
    required = {*direct, *(pair[::-1] for pair in direct)}
    for statement in knowledge.statements:
        kind, about = statement
        names = [name for tier in about for name in tier] if kind == "tiers" else about
        fits = kind in ("tiers", "not_causes") or (kind in ("causes", "edges") and about in required)
        if not fits:
            raise KnowledgeError(f"Tetrad's text has no words for '{statement}': leave it out")
        for name in names:
            if is_pattern(name) or re.search(r"\s", name):
                raise KnowledgeError(f"Tetrad's text cannot hold the name {name!r} of '{statement}': it has no quotes")
    lines = ["/knowledge", "addtemporal", ""]
    lines += [f"{k} {' '.join(tier)}" for k, tier in enumerate(knowledge.tiers, 1)]
    lines += ["", "forbiddirect", *(f"{a} {b}" for a, b in knowledge.not_causes)]
    return "\n".join([*lines, "", "requiredirect", *(f"{a} {b}" for a, b in direct), ""])
