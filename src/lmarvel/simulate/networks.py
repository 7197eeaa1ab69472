"""The structures of well-known Bayesian networks, and structures from files.

Eight structures come with the package (``structures/README.md`` says whence); others are read from an edge list or
from a file in the Bayesian interchange format (BIF).
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from lmarvel.errors import DataError, GraphError
from lmarvel.graph.kinds import DAG
from lmarvel.graph.marks import Edge, Mark

NETWORKS = ("insurance", "alarm", "ecoli70", "barley", "hailfinder", "arth150", "mildew", "water")

_ENDINGS = (".csv", ".txt", ".tsv", ".bif")
_STRANGE = re.compile(r"[\t\n{}]|->|--|<-")  # of other formats: DOT and the like
_HEADERS = ({"from", "to"}, {"source", "target"}, {"parent", "child"}, {"cause", "effect"})


def load_network(name: str | Path) -> DAG:
    """Return the structure of a network, by name or from a file.

    Parameters
    ----------
    name : str or path
        One of insurance, alarm, ecoli70, barley, hailfinder, arth150, mildew, water; or a file: an edge list (``.csv``
        or ``.txt``: cause, effect in each line; a line with one name is a node without edges) or a BIF file (``.bif``).
        Either may be compressed (``.gz``). A file ``<name>.nodes.csv`` beside an edge list gives all nodes, in order.

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
            raise DataError(f"unknown structure {str(name)!r}: choose from {', '.join(NETWORKS)}, or give a file")
        raise DataError(f"{path}: a structure is read from a file that ends in {', '.join(_ENDINGS)} (or that and .gz)")
    text = _read(path).replace("\r\n", "\n").replace("\r", "\n")
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


def _read(path: Path) -> str:
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not text in UTF-8: an edge list or a BIF file is needed") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise DataError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def _nodes_beside(path: Path) -> list[str] | None:
    beside = path.with_name(path.name.split(".")[0] + ".nodes.csv")
    if beside == path or not beside.exists():
        return None
    rows = [row[0].strip() for row in csv.reader(io.StringIO(_read(beside))) if row]
    return rows[1:] if rows and rows[0].lower() in ("node", "name", "variable") else rows


def _from_text(text: str, source: str) -> DAG:
    try:
        return DAG.from_edges(text)
    except GraphError as error:
        raise DataError(f"{source} is not a DAG: {error}") from None


def _from_edge_list(text: str, source: str, nodes: list[str] | None = None) -> DAG:
    edges, named = [], dict.fromkeys(nodes or [])
    for number, row in _rows(text, source):
        if len(row) > 2 or not all(row):
            raise DataError(f"{source}, line {number}: an edge is 'cause,effect', not {','.join(row)!r}")
        for name in row:
            if _STRANGE.search(name):
                raise DataError(f"{source}, line {number}: cannot read {name!r} as a name; an edge is 'cause,effect'")
            if nodes is not None and name not in named:
                raise DataError(f"{source}, line {number}: {name!r} is not in the list of nodes beside the file")
            named.setdefault(name)
        if len(row) == 2:
            edges.append(Edge(row[0], row[1], Mark.TAIL, Mark.ARROW))
    if not edges:
        raise DataError(f"{source} holds no edge: an edge list has 'cause,effect' in each line")
    return _dag(edges, list(named), source)


def _rows(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Iterate over the rows of an edge list that name something, with their line numbers."""
    kept = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip() and not line.startswith("#")]
    separator = next((s for s in (",", "\t", ";") if any(s in line for _, line in kept)), " ")
    for place, (number, line) in enumerate(kept):
        try:
            cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True))
        except csv.Error as error:
            raise DataError(f"{source}, line {number}: {error}") from None
        row = [cell.strip() for cell in cells]
        while row and not row[-1]:
            row.pop()
        if row and not (place == 0 and {cell.lower() for cell in row} in _HEADERS):
            yield number, row


def _from_bif(text: str, source: str) -> DAG:
    """Read variables and their parents; the blocks in braces, with states, tables and properties, are passed over."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    tokens = re.findall(r'"[^"]*"|[{}(),|;]|[^\s{}(),|;"]+', text)
    names: list[str] = []
    edges: list[Edge] = []
    depth = 0
    for k, token in enumerate(tokens):
        depth += (token == "{") - (token == "}")
        if depth == 0 and token == "variable" and k + 1 < len(tokens):
            names.append(tokens[k + 1].strip('"'))
        elif depth == 0 and token == "probability" and ")" in tokens[k:]:
            inside = tokens[k + 2 : tokens.index(")", k)]
            child, *parents = [name.strip('"') for name in inside if name not in (",", "|")] or [""]
            edges += [Edge(parent, child, Mark.TAIL, Mark.ARROW) for parent in parents]
    if not names:
        raise DataError(f"{source} names no variable: a BIF file has 'variable NAME {{ ... }}' blocks")
    return _dag(edges, names, source)


def _dag(edges: list[Edge], names: list[str], source: str) -> DAG:
    try:
        return DAG.from_edges(*edges, nodes=names)
    except GraphError as error:
        raise DataError(f"{source} is not a DAG: {error}") from None
