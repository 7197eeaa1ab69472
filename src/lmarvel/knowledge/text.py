"""Knowledge as text: a form for people, and Tetrad's.

The form for people has one statement per line; ``#`` begins a comment, and names with blanks, commas or ``<`` stand in
double quotes. Several names, with commas, can stand where one can::

    # what we know of the survey
    tiers: age, sex < {smoking, diet} < bp, lab_*
    smoking causes bp
    age, sex do not cause income
    lab_* do not cause each other
    edge smoking - bp
    no edge age - sex
    income is exogenous
    drug is randomised
    smoking and bp share no unmeasured cause
    no unmeasured causes of diet
    no selection
    no latents

``age < smoking < bp`` is the same with ``tiers:`` before it, ``A -> B`` is "A causes B", and "nothing causes A" is
"A is exogenous". Within a tier in braces nothing causes anything.

Tetrad's text has tiers (``addtemporal``), and edges that are forbidden or required. It speaks of direct edges:
``forbiddirect A B`` is read as "A does not cause B", ``requiredirect A B`` as "A causes B" and "edge A - B".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING

from lmarvel.errors import GraphError, KnowledgeError
from lmarvel.graph.files import read_text
from lmarvel.graph.marks import unquote
from lmarvel.knowledge.resolve import is_pattern
from lmarvel.knowledge.vocabulary import ANY, Statement

if TYPE_CHECKING:
    from lmarvel.knowledge.statements import Knowledge

_NAME = r'"(?:[^"\\]|\\.)*"|[^\s",<#]+'
_NAMES = rf"(?:{_NAME})(?:\s*,\s*(?:{_NAME}))*"
_UNMEASURED = r"no\s+unmeasured\s+(?:common\s+)?causes?"
_FORMS = {
    "apart": re.compile(rf"({_NAMES}(?:\s+and\s+(?:{_NAME}))?)\s+do\s+not\s+cause\s+(?:each\s+other|one\s+another)"),
    "exogenous": re.compile(rf"nothing\s+(?:measured\s+)?causes\s+({_NAMES})|({_NAMES})\s+(?:is|are)\s+exogenous"),
    "randomised": re.compile(rf"({_NAMES})\s+(?:is|are|was|were)\s+randomi[sz]ed"),
    "unconfounded": re.compile(
        rf"({_NAMES}\s+and\s+(?:{_NAME}))\s+share\s+{_UNMEASURED}"
        rf"|{_UNMEASURED}\s+of\s+({_NAMES}(?:\s+and\s+(?:{_NAME}))?)"
    ),
    "not_causes": re.compile(rf"({_NAMES})\s+(?:does|do)\s+not\s+cause\s+({_NAMES})"),
    "causes": re.compile(rf"({_NAMES})\s+causes?\s+({_NAMES})"),
    "no_edges": re.compile(rf"no\s+edge:?\s+({_NAMES})\s+-\s+({_NAMES})"),
    "edges": re.compile(rf"edge:?\s+({_NAMES})\s+-\s+({_NAMES})"),
    "selection": re.compile(r"no\s+selection"),
    "latents": re.compile(r"no\s+latents"),
}
_TIERS = re.compile(r"tiers\s*:\s*(.*)", re.DOTALL)
_HELP = (
    "write 'A causes B', 'A does not cause B', 'A, B do not cause each other', 'edge A - B', 'no edge A - B',"
    " 'A is exogenous', 'A is randomised', 'A and B share no unmeasured cause', 'no unmeasured causes of A',"
    " 'tiers: A < B, C', 'no selection' or 'no latents'"
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


def tiers_of(text: str) -> list[Statement]:
    """Return the tiers of a line such as ``age, sex < smoking < bp``, and that nothing causes anything within braces.

    Examples
    --------
    >>> print(*tiers_of("age < {smoking, diet}"), sep="\\n")
    tiers: age < smoking, diet
    smoking, diet do not cause each other
    """
    tiers, apart = [], []
    for tier in _split(text, "<"):
        within = re.fullmatch(r"\{(.*)\}", tier)
        inner = within[1].strip() if within else tier
        if not re.fullmatch(_NAMES, inner):
            raise KnowledgeError(f"cannot read the tiers {text.strip()!r}: write them as 'age, sex < smoking < bp'")
        tiers.append(tuple(_names(inner)))
        if within and (len(tiers[-1]) > 1 or is_pattern(tiers[-1][0])):
            apart.append(Statement("apart", tiers[-1]))
    return [Statement("tiers", tuple(tiers)), *apart]


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


def pair_of(text: str) -> tuple[str, str]:
    """Return the two names of ``A - B``; of ``A`` alone, A and every other variable.

    Examples
    --------
    >>> pair_of("dose - cure"), pair_of("dose")
    (('dose', 'cure'), ('dose', '*'))
    """
    match = re.fullmatch(rf"\s*({_NAME})(?:(?:\s+-\s+|\s*,\s*|\s+and\s+)({_NAME}))?\s*", text)
    if match is None:
        raise KnowledgeError(f"cannot read {text.strip()!r}: write it as 'dose - cure', with blanks around the dash")
    return unquote(match[1]), ANY if match[2] is None else unquote(match[2])


def _uncommented(line: str) -> str:
    parts = re.findall(r'"(?:[^"\\]|\\.)*"|#.*|[^"#]+|"', line)
    return "".join(part for part in parts if not part.startswith("#")).strip()


def _split(text: str, by: str) -> list[str]:
    """Split at a character that stands outside quotes; a quoted name may hold escaped quotes."""
    parts = [""]
    for token in re.findall(rf'"(?:[^"\\]|\\.)*"|[^"{by}]+|["{by}]', text):
        if token == by:
            parts.append("")
        else:
            parts[-1] += token
    return [part.strip() for part in parts]


def _names(text: str) -> list[str]:
    return [unquote(token) for token in re.findall(_NAME, text)]


def _statements(line: str) -> Iterator[Statement]:
    if not line:
        return
    tiers = _TIERS.fullmatch(line)
    if tiers is not None or len(_split(line, "<")) > 1:
        yield from tiers_of(line if tiers is None else tiers[1])
        return
    if re.search(r"\s--?>\s", line):
        yield Statement("causes", arrow_of(line))
        return
    for kind, form in _FORMS.items():
        match = form.fullmatch(line)
        if match is not None:
            parts = [_listed(part) for part in match.groups() if part is not None]
            yield from _of(kind, parts)
            return
    raise KnowledgeError(f"cannot read {line!r}: {_HELP}")


def _listed(text: str) -> list[str]:
    """Return names with commas, of which the last can have "and" before it."""
    last = re.fullmatch(rf"({_NAMES})\s+and\s+({_NAME})", text)
    return _names(text) if last is None else [*_names(last[1]), *_names(last[2])]


def _of(kind: str, parts: list[list[str]]) -> Iterator[Statement]:
    """Return the statements of a line that names these variables."""
    if kind == "apart":
        yield Statement(kind, tuple(parts[0]))
    elif kind == "unconfounded":
        pairs = combinations(parts[0], 2) if len(parts[0]) > 1 else [(parts[0][0], ANY)]
        yield from (Statement(kind, pair) for pair in pairs)
    else:
        yield from (Statement(kind, about) for about in product(*parts))


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
            if "*" in words[0] and len(words) > 2:  # nothing within this tier causes anything else in it
                statements.append(Statement("apart", tuple(words[1:])))
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
        fits = kind == "not_causes" or (kind in ("causes", "edges") and about in required)
        fits = fits or (kind == "apart" and about in knowledge.tiers) or (kind == "tiers" and about == knowledge.tiers)
        if not fits:
            raise KnowledgeError(f"Tetrad's text has no words for '{statement}': leave it out")
        for name in names:
            if is_pattern(name) or re.search(r"\s", name):
                raise KnowledgeError(f"Tetrad's text cannot hold the name {name!r} of '{statement}': it has no quotes")
    lines = ["/knowledge", "addtemporal", ""]
    apart = ["*" if tier in knowledge.apart else "" for tier in knowledge.tiers]
    lines += [f"{k}{apart[k - 1]} {' '.join(tier)}" for k, tier in enumerate(knowledge.tiers, 1)]
    lines += ["", "forbiddirect", *(f"{a} {b}" for a, b in knowledge.not_causes)]
    return "\n".join([*lines, "", "requiredirect", *(f"{a} {b}" for a, b in direct), ""])
