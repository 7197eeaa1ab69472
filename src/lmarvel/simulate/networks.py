"""The structures of well-known Bayesian networks, and structures from files.

Eight structures come with the package (``structures/README.md`` says whence); others are read from an edge list or
from a file in the Bayesian interchange format (BIF).
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from lmarvel.errors import DataError, GraphError
from lmarvel.graph.kinds import DAG
from lmarvel.graph.marks import Edge, Mark

NETWORKS = ("insurance", "alarm", "ecoli70", "barley", "hailfinder", "arth150", "mildew", "water")

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
    suffixes = [s for s in path.suffixes if s != ".gz"]
    if not suffixes and not path.exists():
        raise DataError(f"unknown structure {str(name)!r}: choose from {', '.join(NETWORKS)}, or give a file")
    text = _read(path)
    if suffixes and suffixes[-1].lower() == ".bif":
        return _from_bif(text, str(path))
    return _from_edge_list(text, str(path), _nodes_beside(path))


def _read(path: Path) -> str:
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not text in UTF-8: an edge list or a BIF file is needed") from None
    except (OSError, EOFError) as error:
        raise DataError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def _nodes_beside(path: Path) -> list[str] | None:
    beside = path.with_name(path.name.split(".")[0] + ".nodes.csv")
    if beside == path or not beside.exists():
        return None
    rows = [row[0].strip() for row in csv.reader(io.StringIO(_read(beside))) if row]
    return rows[1:] if rows and rows[0].lower() in ("node", "name", "variable") else rows


def _from_edge_list(text: str, source: str, nodes: list[str] | None = None) -> DAG:
    edges, named = [], dict.fromkeys(nodes or [])
    for number, row in _rows(text):
        if len(row) > 2 or not row[0]:
            raise DataError(f"{source}, line {number}: an edge is 'cause,effect', not {','.join(row)!r}")
        for name in row:
            if nodes is not None and name not in named:
                raise DataError(f"{source}, line {number}: {name!r} is not in the list of nodes beside the file")
            named.setdefault(name)
        if len(row) == 2:
            edges.append(Edge(row[0], row[1], Mark.TAIL, Mark.ARROW))
    if not named:
        raise DataError(f"{source} holds no edge: an edge list has 'cause,effect' in each line")
    return _dag(edges, list(named), source)


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Iterate over the rows of an edge list that name something, with their line numbers."""
    separator = next((s for s in (",", "\t", ";") if s in text), ",")
    for number, raw in enumerate(csv.reader(io.StringIO(text), delimiter=separator), 1):
        row = [cell.strip() for cell in raw]
        while row and not row[-1]:
            row.pop()
        first = number == 1 and {cell.lower() for cell in row} in _HEADERS
        if row and not row[0].startswith("#") and not first:
            yield number, row


def _from_bif(text: str, source: str) -> DAG:
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    names = [_bare(name) for name in re.findall(r"\bvariable\s+(\"[^\"]*\"|[^\s{]+)", text)]
    if not names:
        raise DataError(f"{source} names no variable: a BIF file has 'variable NAME {{ ... }}' blocks")
    edges = []
    for head in re.findall(r"\bprobability\s*\(([^)]*)\)", text):
        parts = [_bare(part) for part in re.findall(r"\"[^\"]*\"|[^\s,|]+", head)]
        edges += [Edge(parent, parts[0], Mark.TAIL, Mark.ARROW) for parent in parts[1:]]
    return _dag(edges, names, source)


def _bare(name: str) -> str:
    return name.strip('"')


def _dag(edges: list[Edge], names: list[str], source: str) -> DAG:
    try:
        return DAG.from_edges(*edges, nodes=names)
    except GraphError as error:
        raise DataError(f"{source} is not a DAG: {error}") from None
