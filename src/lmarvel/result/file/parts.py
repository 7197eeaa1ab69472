"""A result as the content of its file, and back; docs/result-file.md describes it key by key.

Pairs that are undecided can be millions. They stand in the file once: as a list where they are few, else as a string of
bits, a bit a pair; their edges, where both ends are circles, are not listed again.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.missing.gaps import Gaps
from lmarvel.deferred import without_collection
from lmarvel.errors import LMarvelError, ResultError
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.marks import ARROW, CIRCLE, Edge, Mark, parse_edge, positions
from lmarvel.knowledge import Knowledge
from lmarvel.knowledge.contradictions import known_of
from lmarvel.result.file.reading import checked_reading
from lmarvel.result.file.records import FORMAT, items, number, probability, text, whole
from lmarvel.result.statistics import AllPairs, NamedPairs, positions_of

VERSION = 4
ALL_EDGES = "all undecided"
FEW = 1000  # pairs that are listed by name
T = TypeVar("T")
Pairs = Sequence[tuple[str, str]]
Matrix = NDArray[Any]


# --- the whole --------------------------------------------------------------------------------------------


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a file with its head and its checksum."""
    whole_content = {"format": FORMAT, "version": VERSION, **content}
    return {**whole_content, "checksum": checksum(whole_content)}


def unsealed(plain: Any) -> dict[str, Any]:
    """Return the content of a file whose head and checksum are right."""
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise ResultError("this is not a result of lmarvel: 'lmarvel learn data.csv -o result.json' writes one")
    version = plain.get("version")
    if type(version) is not int or version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        advice = "install a newer lmarvel" if newer else "learn it again with this version"
        raise ResultError(f"the result file is of version {version!r}, and version {VERSION} is read; {advice}")
    content = {name: value for name, value in plain.items() if name != "checksum"}
    try:
        fits = checksum(content) == plain.get("checksum")
    except (TypeError, ValueError, RecursionError):
        fits = False
    if not fits:
        raise ResultError("the result file is damaged or was changed: its checksum does not fit; learn it again")
    return content


def checksum(content: Mapping[str, Any]) -> str:
    """Return a digest of plain data that does not depend on how its JSON is laid out."""
    plain = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def read_part(content: Mapping[str, Any], name: str, make: Callable[[Any], T]) -> T:
    """Return a part of a result file, or say which part is missing or makes no sense."""
    if name not in content:
        raise ResultError(f"the result file is damaged: it lacks {name!r}")
    try:
        return make(content[name])
    except (LMarvelError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        reason = str(error) or type(error).__name__
        raise ResultError(f"the result file is damaged: {name!r} makes no sense ({reason[:300]})") from None


@without_collection()
def json_text(content: Mapping[str, Any]) -> str:
    """Return plain data as JSON, with a line for each part, and for each item of a list or mapping in it.

    The encoder that indents everything is written in Python, and takes seconds for large results.

    Examples
    --------
    >>> print(json_text({"a": 1, "b": [[1, 2], {"c": 3}], "d": {"e": []}}))
    {
     "a": 1,
     "b": [
      [1, 2],
      {"c": 3}
     ],
     "d": {
      "e": []
     }
    }
    """
    return _lines([f"{_json(name)}: {_part(value)}" for name, value in content.items()], "{}", "")


def _part(value: Any) -> str:
    if isinstance(value, dict) and value:
        return _lines([f"{_json(name)}: {_json(item)}" for name, item in value.items()], "{}", " ")
    if isinstance(value, list) and value:
        return _lines(list(map(_json, value)), "[]", " ")
    return _json(value)


def _lines(items: list[str], brackets: str, margin: str) -> str:
    between = ",\n " + margin
    return f"{brackets[0]}\n {margin}{between.join(items)}\n{margin}{brackets[1]}"


_json = json.JSONEncoder(ensure_ascii=False).encode


# --- the graph --------------------------------------------------------------------------------------------


def encode_graph(pag: PAG, undecided: Pairs) -> dict[str, Any]:
    """Return the undecided pairs of a result, and the edges that these do not tell.

    Most methods keep an undecided pair as an edge; then ``o-o`` between such a pair is not listed again.
    """
    everything = _is_all(pag.names, undecided)
    if everything and np.count_nonzero(pag.marks == CIRCLE) == pag.marks.size - len(pag):  # nothing was learned
        return {"edges": ALL_EDGES, "undecided": "all", "undecided_are_edges": True}
    left_open = _open_pairs(pag.names, undecided, everything)
    kept = not (left_open & (pag.marks == Mark.NONE)).any()
    told = left_open & (pag.marks == CIRCLE) & (pag.marks.T == CIRCLE) if kept else False
    marks = np.where(told, Mark.NONE, pag.marks)
    edges = ALL_EDGES if everything and kept and not marks.any() else list(map(str, _edges(pag.names, marks)))
    pairs = "all" if everything else _encode_pairs(pag.names, undecided, left_open)
    return {"edges": edges, "undecided": pairs, "undecided_are_edges": kept}


def _is_all(names: Sequence[str], undecided: Pairs) -> bool:
    everything = AllPairs(names)
    return len(undecided) == len(everything) > 0 and undecided == everything


def _edges(names: Sequence[str], marks: Matrix) -> Iterator[Edge]:
    """Iterate over edges as a graph does; the links of a graph with a million of them take long to make."""
    for i, j in positions(np.triu(marks)).tolist():
        edge = Edge(names[i], names[j], Mark(marks[j, i]), Mark(marks[i, j]))
        yield edge.reversed() if edge.at_a == ARROW and edge.at_b != ARROW else edge


def _open_pairs(names: Sequence[str], undecided: Pairs, everything: bool) -> Matrix:
    """Return a symmetric matrix that is True at the undecided pairs."""
    size = len(names)
    if everything:
        return ~np.eye(size, dtype=bool)
    x, y = positions_of(names, undecided).T
    found = np.zeros((size, size), dtype=bool)
    found[x, y] = found[y, x] = True
    return found


def _encode_pairs(names: Sequence[str], pairs: Pairs, left_open: Matrix) -> list[list[str]] | dict[str, Any]:
    """Return pairs as a list, or where they are many and in order as the bits of the upper triangle, row by row."""
    if len(pairs) > FEW and np.array_equal(positions_of(names, pairs), positions(np.triu(left_open, 1))):
        bits = np.packbits(left_open[np.triu(np.ones_like(left_open), 1)])
        return {"pairs": len(pairs), "bits": base64.b64encode(bits.tobytes()).decode("ascii")}
    return [list(pair) for pair in pairs]


def decode_graph(content: Mapping[str, Any]) -> tuple[PAG, Pairs]:
    """Return the PAG and the undecided pairs of a file."""
    names = read_part(content, "nodes", decode_names)
    undecided = read_part(content, "undecided", lambda plain: _decode_pairs(plain, names))
    everything = isinstance(undecided, AllPairs)
    kept = read_part(content, "undecided_are_edges", _flag)
    listed = read_part(content, "edges", lambda plain: _listed(plain, names, everything and kept))
    if not kept:
        return listed, undecided
    still_open = _open_pairs(names, undecided, everything) & (listed.marks == Mark.NONE)
    return PAG._trusted(names, np.where(still_open, CIRCLE, listed.marks).astype(np.int8)), undecided


def _flag(plain: Any) -> bool:
    if not isinstance(plain, bool):
        raise ValueError(f"true or false is needed, not {plain!r}")
    return plain


def _listed(plain: Any, names: tuple[str, ...], all_open: bool) -> PAG:
    if plain == ALL_EDGES and all_open:
        return PAG.from_edges(nodes=names)
    return PAG.from_edges(*map(parse_edge, map(text, items(plain))), nodes=names)


def decode_names(plain: Any) -> tuple[str, ...]:
    """Return the names of variables, each of which must be there once."""
    names = tuple(map(text, items(plain)))
    if len(set(names)) < len(names) or not all(names):
        raise ValueError("variables need names, and different ones")
    return names


def _decode_pairs(plain: Any, names: tuple[str, ...]) -> Pairs:
    if plain == "all":
        return AllPairs(names)
    if isinstance(plain, dict):
        return _unpacked(plain, names)
    index = {name: i for i, name in enumerate(names)}
    pairs = [(index[a], index[b]) for a, b in map(items, items(plain))]
    if len({frozenset(pair) for pair in pairs}) < len(pairs) or any(x == y for x, y in pairs):
        raise ValueError("pairs of two variables are needed, each of them once")
    return tuple((names[x], names[y]) for x, y in pairs)


def _unpacked(plain: Mapping[str, Any], names: Sequence[str]) -> Pairs:
    size = len(names)
    many = size * (size - 1) // 2
    bits = np.unpackbits(np.frombuffer(base64.b64decode(text(plain["bits"]), validate=True), dtype=np.uint8))
    if len(bits) != -(-many // 8) * 8 or bits[many:].any() or bits.sum() != whole(plain["pairs"]):
        raise ValueError("the bits are not those of pairs of these variables")
    left_open = np.zeros((size, size), dtype=bool)
    left_open[np.triu(np.ones_like(left_open), 1)] = bits[:many]
    return NamedPairs(names, positions(left_open))


# --- other parts ------------------------------------------------------------------------------------------


def decode_boundaries(plain: Any, names: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the Markov boundaries: of every variable, or of none."""
    known = set(names)
    boundaries = {text(name): frozenset(map(text, items(mb))) for name, mb in plain.items()}
    if boundaries and boundaries.keys() != known:
        raise ValueError("every variable has a boundary, or none has")
    for name, mb in boundaries.items():
        if not mb <= known - {name}:
            raise ValueError(f"{name} has a boundary of {', '.join(sorted(mb))}")
    return boundaries


def decode_mag(plain: Any, names: Sequence[str]) -> MAG:
    """Return the MAG that a score chose."""
    return MAG.from_edges(*map(parse_edge, map(text, items(plain))), nodes=names)


def decode_knowledge(content: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return what was known beforehand and the graph without it; a result without has neither part."""
    if "knowledge" not in content:
        return {}
    knowledge = read_part(content, "knowledge", Knowledge.from_dict)
    read_part(content, "knowledge", lambda _: known_of(knowledge, names))
    return {"knowledge": knowledge, "unaided": read_part(content, "unaided", lambda v: _listed(v, tuple(names), False))}


def decode_tests(plain: Any) -> dict[str, dict[int, int]]:
    """Return the numbers of tests by phase and size of the conditioning set."""
    return {
        text(phase): {whole(int(size)): whole(tests) for size, tests in sizes.items()} for phase, sizes in plain.items()
    }


def decode_seconds(plain: Any) -> dict[str, float]:
    """Return seconds by phase."""
    return {text(phase): number(seconds) for phase, seconds in plain.items()}


def decode_settings(plain: Any) -> dict[str, Any]:
    """Return settings: plain values, and of the right kind where they are used."""
    settings = {text(name): _setting(value) for name, value in plain.items()}
    kinds: dict[str, Callable[[Any], Any]] = {
        "alpha": probability,
        "boundary_alpha": probability,
        "removal_threshold": probability,
        "rows": whole,
        "method": text,
        "boundary": text,
        "test": text,
        "colliders": text,
    }
    for name, check in kinds.items():
        if name in settings:
            check(settings[name])
    if not isinstance(settings.get("selection", True), bool):
        raise ValueError(f"selection is {settings['selection']!r}")
    return settings


def _setting(value: Any) -> Any:
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, int):  # of any size: a limit may be
        return value
    return number(value)


def decode_versions(plain: Any) -> dict[str, str]:
    """Return the versions of what computed a result."""
    return {text(name): text(version) for name, version in plain.items()}


def decode_data(plain: Any) -> dict[str, Any] | None:
    """Return the summary of a table, with all that a report shows of it."""
    if plain is None:
        return None
    columns = [
        {
            "name": text(column["name"]),
            "mean": number(column["mean"]),
            "sd": number(column["sd"]),
            **({"kind": text(column["kind"])} if "kind" in column else {}),  # not in files of version 2
            **({"levels": list(map(text, items(column["levels"])))} if "levels" in column else {}),
            **({"few": whole(column["few"])} if "few" in column else {}),
            **{key: list(map(text, items(column[key]))) for key in ("lone", "determines") if key in column},
            **({"grouped": list(map(whole, items(column["grouped"])))} if "grouped" in column else {}),
            **({"copy_of": text(column["copy_of"])} if "copy_of" in column else {}),
        }
        for column in items(plain["columns"])
    ]
    reading: dict[str, Any] = {"reading": checked_reading(plain["reading"])} if "reading" in plain else {}
    if "gaps" in plain:
        lacking = [(list(map(whole, items(one[0]))), whole(one[1])) for one in items(plain["gaps"])]
        reading["gaps"] = Gaps.of_plain([str(column["name"]) for column in columns], lacking).plain()
    return {"rows": whole(plain["rows"]), "fingerprint": text(plain["fingerprint"]), "columns": columns, **reading}
