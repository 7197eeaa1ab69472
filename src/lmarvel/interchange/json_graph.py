"""Graphs as JSON: nodes, edges in the package's text form, and the kind.

``{"format": "lmarvel-graph", "version": 1, "kind": "PAG", "nodes": ["A", "B"], "edges": ["A o-> B"]}``. The PAG
of a result file (``"format": "lmarvel-result"``) is read too.
"""

from __future__ import annotations

import json
from typing import Any

from lmarvel.errors import FormatError, GraphError, ResultError
from lmarvel.graph.marks import Edge, parse_edge
from lmarvel.graph.mixed import MixedGraph
from lmarvel.interchange.assemble import KINDS, assemble
from lmarvel.result.discovery import Discovery
from lmarvel.result.file.records import FORMAT as RESULT

GRAPH, VERSION = "lmarvel-graph", 1


def dumps(graph: MixedGraph) -> str:
    """Return a graph as JSON; its kind is kept.

    Examples
    --------
    >>> loads(dumps(MixedGraph.from_edges("A --> B")))
    <MixedGraph: 2 nodes, 1 edge>
    """
    content = {
        "format": GRAPH,
        "version": VERSION,
        "kind": next(name for name, kind in KINDS.items() if isinstance(graph, kind)),
        "nodes": list(graph.names),
        "edges": [str(edge) for edge in graph.edges()],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def loads(text: str) -> MixedGraph:
    """Read a graph, or the PAG of a result file.

    Examples
    --------
    >>> loads('{"format": "lmarvel-graph", "version": 1, "kind": "PAG", "nodes": ["A", "B"], "edges": ["A --> B"]}')
    <PAG: 2 nodes, 1 edge>
    """
    content = _content(text)
    if content["format"] == RESULT:
        return _pag_of_result(content)
    names = _strings(content, "nodes")
    edges = [(_edge(item), None) for item in _strings(content, "edges")]
    return assemble(names, edges, _kind(content))


def _pag_of_result(content: dict[str, Any]) -> MixedGraph:
    """Return the PAG of a result file that is whole."""
    try:
        return Discovery.from_dict(content).pag
    except ResultError as error:
        raise FormatError(str(error)) from None


def _content(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"this is not JSON: {error.msg}. Is the file cut off?", error.lineno) from None
    except (ValueError, RecursionError):
        raise FormatError("this JSON is nested too deeply, or holds a number too long to be one") from None
    if not isinstance(content, dict) or content.get("format") not in (GRAPH, RESULT):
        raise FormatError(f'this JSON is not a graph of lmarvel: it needs "format": "{GRAPH}" or "{RESULT}"')
    version = content.get("version")
    if content["format"] == RESULT:  # which checks its own
        return content
    if type(version) is not int or version < 1:
        raise FormatError(f'"version" is {version!r}, and should be a number such as {VERSION}')
    if version > VERSION:
        raise FormatError(
            f"this is version {version} of the format, and this lmarvel reads up to version {VERSION}: update lmarvel"
        )
    return content


def _strings(content: dict[str, Any], key: str) -> list[str]:
    items = content.get(key)
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise FormatError(f'"{key}" should be a list of strings. Is the file damaged?')
    return items


def _edge(text: str) -> Edge:
    try:
        return parse_edge(text)
    except GraphError as error:
        raise FormatError(str(error)) from None


def _kind(content: dict[str, Any]) -> str | None:
    kind = content.get("kind")
    if kind is not None and not isinstance(kind, str):
        raise FormatError(f'"kind" is {kind!r}, and should be one of {", ".join(KINDS)}')
    return kind
