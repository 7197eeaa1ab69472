"""The structures of well-known Bayesian networks, and structures from files.

Eight structures come with the package (``structures/README.md`` says whence); others are read from an edge list or
from a file in the Bayesian interchange format (BIF).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from lmarvel.errors import DataError, EdgeListError, GraphError
from lmarvel.graph.checks import check_size
from lmarvel.graph.edge_list import read_edge_list
from lmarvel.graph.files import read_text
from lmarvel.graph.kinds import DAG
from lmarvel.graph.marks import Edge, Mark
from lmarvel.text import did_you_mean

NETWORKS = ("insurance", "alarm", "ecoli70", "barley", "hailfinder", "arth150", "mildew", "water")
"""The names of the structures that come with the package."""

_ENDINGS = (".csv", ".txt", ".tsv", ".bif")


def load_network(name: str | Path) -> DAG:
    """Return the structure of a network, by name or from a file.

    Parameters
    ----------
    name : str or path
        One of insurance, alarm, ecoli70, barley, hailfinder, arth150, mildew, water; or a file: an edge list (``.csv``
        or ``.txt``: cause, effect in each line, or what the header says; a line with one name is a node without edges;
        :mod:`lmarvel.graph.edge_list` has the details) or a BIF file (``.bif``). Either may be compressed
        (``.gz``), and has at most 64 MB, 20,000 nodes and a million edges. A file ``<name>.nodes.csv`` beside an edge
        list gives all nodes, in order.

    Examples
    --------
    >>> load_network("alarm")
    <DAG: 37 nodes, 46 edges>
    """
    if isinstance(name, str) and name in NETWORKS:
        return _from_edge_list(files("lmarvel.simulate").joinpath(f"structures/{name}.csv").read_text("utf-8"), name)
    path = Path(name)
    suffix = ([s.lower() for s in path.suffixes if s != ".gz"] or [""])[-1]
    if suffix not in _ENDINGS:
        if not suffix and not _there(path):
            meant = did_you_mean(str(name), NETWORKS)
            raise DataError(
                f"unknown structure {str(name)!r}: choose from {', '.join(NETWORKS)}, or give a file{meant}"
            )
        raise DataError(f"{path}: a structure is read from a file that ends in {', '.join(_ENDINGS)} (or that and .gz)")
    text = read_network_text(path).replace("\r\n", "\n").replace("\r", "\n")
    if suffix == ".bif":
        return _from_bif(text, str(path))
    if re.search(r"^[^,\n#]*\S\s+-->\s+\S", text, re.MULTILINE):  # the package's own text, as simulate writes it
        return _from_text(text, str(path))
    return _from_edge_list(text, str(path), _nodes_beside(path))


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # no file can have such a name
        return False


def read_network_text(path: Path) -> str:
    """Return the text of a file, or say what is wrong with it and where."""
    try:
        return read_text(path)
    except GraphError as error:
        raise DataError(f"{path}: {error}") from None


def _nodes_beside(path: Path) -> list[str] | None:
    beside = path.with_name(path.name.split(".")[0] + ".nodes.csv")
    if beside == path or not beside.exists():
        return None
    names = [row[0].strip() for row in csv.reader(io.StringIO(read_network_text(beside))) if row]
    return names[1:] if names and names[0].lower() in ("node", "name", "variable") else names


def _from_text(text: str, source: str) -> DAG:
    try:
        return DAG.from_edges(text)
    except GraphError as error:
        raise DataError(f"{source} is not a DAG: {error}") from None


def _from_edge_list(text: str, source: str, nodes: list[str] | None = None) -> DAG:
    try:
        edge_list = read_edge_list(text)
    except EdgeListError as error:
        place = source if error.line is None else f"{source}, line {error.line}"
        raise DataError(f"{place}: {error.reason}") from None
    if not edge_list.edges:
        raise DataError(f"{source} holds no edge: an edge list has 'cause,effect' in each line")
    known = edge_list.names.keys() if nodes is None else set(nodes)
    for name, line in edge_list.names.items():
        if name not in known:
            raise DataError(f"{source}, line {line}: {name!r} is not in the list of nodes beside the file")
    return checked_dag([edge for edge, _ in edge_list.edges], list(edge_list.names) if nodes is None else nodes, source)


_BIF = re.compile(
    r"""(?P<passed>/\*(?:.*?\*/|.*)|//[^\n]*)         # a comment; one that is not closed goes on to the end
    |(?P<token>"[^"]*"|[{}(),|;]|(?:[^\s{}(),|;"/]|/(?![/*]))+)""",
    re.VERBOSE | re.DOTALL,
)


def bif_tokens(text: str) -> Iterator[str]:
    """Iterate over the words and signs of a BIF file, without its comments."""
    return (match["token"] for match in _BIF.finditer(text) if match["token"] is not None)


def _from_bif(text: str, source: str) -> DAG:
    """Read variables and their parents, in one pass; blocks in braces, with states and tables, are passed over."""
    names: list[str] = []
    edges: list[Edge] = []
    depth = 0
    tokens = bif_tokens(text)
    for token in tokens:
        depth += (token == "{") - (token == "}")
        if depth == 0 and token == "network":
            next(tokens, "")  # its name, which may be any word
        elif depth == 0 and token == "variable":
            names.append(next(tokens, "").strip('"'))
        elif depth == 0 and token == "probability":
            family = bif_family(tokens, source)
            edges += [Edge(parent, family[0], Mark.TAIL, Mark.ARROW) for parent in family[1:]]
    if not names:
        raise DataError(f"{source} names no variable: a BIF file has 'variable NAME {{ ... }}' blocks")
    return checked_dag(edges, names, source)


def bif_family(tokens: Iterator[str], source: str) -> list[str]:
    """Return the variable and its parents that stand in parentheses after 'probability'."""
    family: list[str] = []
    token = next(tokens, "")
    if token == "(":
        for token in tokens:
            if token in ("(", ")", "{", "}", ";"):
                break
            if token not in (",", "|"):
                family.append(token.strip('"'))
    if token != ")" or not family:
        raise DataError(f"{source} is cut off, or is not a BIF file: 'probability' needs '( CHILD | PARENT, ... )'")
    return family


def checked_dag(edges: list[Edge], names: list[str], source: str) -> DAG:
    """Return the DAG of edges, or say why there is none."""
    try:
        check_size(len(names), len(edges))
        return DAG.from_edges(*edges, nodes=names)
    except GraphError as error:
        raise DataError(f"{source} is not a DAG: {error}") from None
