"""The syntax that DOT and DAGitty share: a header, braces, and statements on nodes and edges.

A :class:`Dialect` says what differs: the headers, the signs for edges, and how quoted names are written. Subgraphs
are flattened: their nodes and edges count as the graph's own, and ``a -> {b c}`` stands for an edge to each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import NamedTuple

from lmarvel.errors import FormatError
from lmarvel.graph.checks import MOST_EDGES

Attributes = dict[str, str]
MOST_NESTED = 100  # subgraphs within subgraphs: beyond this the text is an attack, not a graph


@dataclass(frozen=True)
class Dialect:
    """What distinguishes one language of this family from another."""

    title: str
    headers: tuple[str, ...]
    operators: tuple[str, ...]
    string: str
    unescape: Callable[[str], str]
    circle: str  # how a circle is written, for those who try 'o->'
    keywords: tuple[str, ...] = ()
    markup: bool = False  # whether texts in angle brackets are known

    def tokens(self) -> re.Pattern[str]:
        """Return the pattern of all tokens; each alternative is a kind of token."""
        operators = "|".join(map(re.escape, sorted(self.operators, key=len, reverse=True)))
        return re.compile(
            rf"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*)
            |(?P<string>{self.string})
            |(?P<operator>{operators})
            |(?P<word>(?:[A-Za-z0-9_.]|[^\x00-\x7f])+|(?<![\w.])-[0-9.]+)
            |(?P<punctuation>[{{}}\[\]=;,:+])
            |(?P<markup>{"<" if self.markup else "(?!)"})""",
            re.VERBOSE | re.DOTALL,
        )


class Token(NamedTuple):
    """A piece of the text: its kind, what it stands for, its line, and whether no blank stands before it."""

    kind: str
    text: str
    line: int
    glued: bool

    def is_sign(self, *signs: str) -> bool:
        """Tell whether this is one of these punctuation marks."""
        return self.kind == "punctuation" and self.text in signs

    def is_word(self, *words: str) -> bool:
        """Tell whether this is one of these words, not in quotes, in any case of letters."""
        return self.kind == "word" and self.text.lower() in words


class EdgeStatement(NamedTuple):
    """An edge as it is written, with its attributes and the defaults that hold there."""

    a: str
    operator: str
    b: str
    attributes: Attributes
    line: int


@dataclass
class Document:
    """What a text holds: nodes in order of appearance, edges, attributes of the graph."""

    header: str = ""
    strict: bool = False
    nodes: dict[str, Attributes] = field(default_factory=dict)
    edges: list[EdgeStatement] = field(default_factory=list)
    attributes: Attributes = field(default_factory=dict)


def parse(text: str, dialect: Dialect) -> Document:
    """Read a text in this dialect."""
    return _Parser(dialect, list(tokenize(text, dialect))).document()


def tokenize(text: str, dialect: Dialect) -> Iterator[Token]:
    """Cut a text into tokens, without blanks and comments; the last one has the kind ``end``."""
    pattern, position, line, glued = dialect.tokens(), 0, 1, False
    while position < len(text):
        match = pattern.match(text, position)
        if match is None:
            raise FormatError(_unreadable(text[position:], dialect), line)
        kind, piece = str(match.lastgroup), match.group()
        if kind == "markup":
            piece = _markup(text, position, line)
            yield Token("string", piece[1:-1], line, glued)
        elif kind == "string":
            yield Token("string", dialect.unescape(piece[1:-1]), line, glued)
        elif kind != "blank":
            yield Token(kind, piece, line, glued)
        position, glued = position + len(piece), kind != "blank"
        line += piece.count("\n")
    yield Token("end", "the end of the text", line, glued)


def _unreadable(rest: str, dialect: Dialect) -> str:
    if rest.startswith('"'):
        return "a quote is opened here and never closed"
    if rest.startswith("/*"):
        return "a comment is opened here and never closed"
    edges = ", ".join(f"'{sign}'" for sign in dialect.operators)
    return f"cannot read {rest.split()[0][:20]!r}: {dialect.title} edges are {edges}, and unusual names are in quotes"


def _markup(text: str, start: int, line: int) -> str:
    """Return the HTML-like text that starts here, up to the bracket that closes it."""
    depth = 0
    for match in re.compile("[<>]").finditer(text, start):
        depth += 1 if match.group() == "<" else -1
        if depth == 0:
            return text[start : match.end()]
    raise FormatError("a '<' is opened here and never closed", line)


class _Parser:
    """Recursive descent over the tokens of one graph."""

    def __init__(self, dialect: Dialect, tokens: list[Token]) -> None:
        self.dialect, self.tokens, self.position, self.depth = dialect, tokens, 0, 0
        self.parsed = Document()

    # --- tokens -----------------------------------------------------------------------------------------

    @property
    def next(self) -> Token:
        return self.tokens[self.position]

    def take(self) -> Token:
        token = self.next
        self.position += token.kind != "end"
        return token

    def skip(self, *signs: str) -> bool:
        """Pass over one of these signs, if it comes next."""
        there = self.next.is_sign(*signs)
        self.position += there
        return there

    def need(self, sign: str) -> None:
        if not self.skip(sign):
            raise self.unexpected(f"'{sign}'")

    def unexpected(self, wanted: str) -> FormatError:
        token = self.next
        shown = token.text if token.kind == "end" else repr(token.text)
        hint = ". Is the text cut off?" if token.kind == "end" else ""
        return FormatError(f"{wanted} is needed here, not {shown}{hint}", token.line)

    def name(self, wanted: str = "a name") -> str:
        """Read an identifier; quoted pieces can be joined with a plus."""
        if self.next.kind not in ("word", "string"):
            raise self.unexpected(wanted)
        token = self.take()
        text = token.text
        while token.kind == "string" and self.skip("+"):
            if self.next.kind != "string":
                raise self.unexpected("a quoted name")
            text += self.take().text
        return text

    # --- grammar ----------------------------------------------------------------------------------------

    def document(self) -> Document:
        if self.next.is_word("strict"):
            self.take()
            self.parsed.strict = True
        if not self.next.is_word(*self.dialect.headers):
            raise self.unexpected(" or ".join(f"'{header} {{'" for header in self.dialect.headers))
        self.parsed.header = self.take().text.lower()
        if not self.next.is_sign("{"):
            self.name("'{'")
        self.block({})
        if self.next.kind != "end":
            raise FormatError("there is text after the '}' that ends the graph: only one graph is read", self.next.line)
        return self.parsed

    def block(self, defaults: Attributes) -> list[str]:
        """Read statements in braces; edge defaults set inside hold only there. Return the nodes named."""
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise FormatError(f"more than {MOST_NESTED} subgraphs lie within each other", self.next.line)
        self.need("{")
        defaults, nodes = dict(defaults), dict[str, None]()
        while not self.skip("}"):
            if not self.skip(";", ","):
                nodes.update(dict.fromkeys(self.statement(defaults)))
        self.depth -= 1
        return list(nodes)

    def statement(self, defaults: Attributes) -> list[str]:
        following = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        if self.next.is_word(*self.dialect.keywords) and following.is_sign("["):
            target = self.take().text.lower()
            attributes = self.attributes()
            if target == "edge":
                defaults.update(attributes)
            elif target == "graph" and self.depth == 1:
                self.parsed.attributes.update(attributes)
            return []
        if self.next.kind in ("word", "string") and following.is_sign("="):
            key = self.name()
            self.need("=")
            value = self.name("a value")
            if self.depth == 1:
                self.parsed.attributes[key] = value
            return []
        return self.chain(defaults)

    def chain(self, defaults: Attributes) -> list[str]:
        """Read ``a``, ``a -> b`` or ``a -> b -> {c d}``, and the attributes behind it."""
        line, alone = self.next.line, not self.next.is_sign("{")
        self.refuse_letter(side=-1)
        ends = [self.end(defaults)]
        operators = []
        while self.next.kind == "operator":
            operators.append(self.take().text)
            self.refuse_letter(side=1)
            ends.append(self.end(defaults))
        attributes = self.attributes() if self.next.is_sign("[") else {}
        if not operators and alone:
            for name in ends[0]:
                self.parsed.nodes[name].update(attributes)
        every = {**defaults, **attributes}
        for (left, right), operator in zip(pairwise(ends), operators, strict=True):
            total = len(self.parsed.edges) + len(left) * len(right)
            if total > MOST_EDGES:
                raise FormatError(f"{total:,} edges are written up to here: at most {MOST_EDGES:,} are read", line)
            self.parsed.edges += [EdgeStatement(a, operator, b, every, line) for a, b in product(left, right)]
        return [name for group in ends for name in group]

    def refuse_letter(self, side: int) -> None:
        """Refuse ``A o-> B`` and ``A <-o B``, which would be read as an edge of a node called o beside another node.

        The other node is the token on this side of the letter, and the sign of the edge is on the other side.
        """
        at = self.position
        if not 0 < at < len(self.tokens) - 1:
            return
        name, letter, sign = self.tokens[at + side], self.tokens[at], self.tokens[at - side]
        glued = sign.glued if side < 0 else letter.glued
        meant = letter[:2] == ("word", "o") and sign.kind == "operator" and glued
        if meant and name.kind in ("word", "string") and name.line == letter.line:
            raise FormatError(f"a circle is not written 'o' here: {self.dialect.circle}", letter.line)

    def end(self, defaults: Attributes) -> list[str]:
        """Read one end of an edge: a node, or a subgraph that stands for all its nodes."""
        if self.next.is_word("subgraph") and "subgraph" in self.dialect.keywords:
            self.take()
            if not self.next.is_sign("{"):
                self.name("'{'")
        if self.next.is_sign("{"):
            return self.block(defaults)
        line = self.next.line
        name = self.name("a node")
        if not name:
            raise FormatError("a node has an empty name: give it one", line)
        while self.skip(":"):  # where on the node's border the edge is drawn
            self.name("a port")
        self.parsed.nodes.setdefault(name, {})
        return [name]

    def attributes(self) -> Attributes:
        """Read lists such as ``[dir=both, arrowtail=odot]``; a key without a value counts as true."""
        values: Attributes = {}
        while self.skip("["):
            while not self.skip("]"):
                if self.skip(",", ";"):
                    continue
                key = self.name("an attribute or ']'")
                values[key] = self.name("a value") if self.skip("=") else "true"
        return values
