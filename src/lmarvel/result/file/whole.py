"""A result as a file, and back: its parts in order; docs/result-file.md describes them key by key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmarvel.errors import ResultError
from lmarvel.result.file.parts import (
    decode_boundaries,
    decode_data,
    decode_graph,
    decode_knowledge,
    decode_mag,
    decode_seconds,
    decode_settings,
    decode_tests,
    decode_versions,
    encode_graph,
    read_part,
    sealed,
    unsealed,
)
from lmarvel.result.file.records import decode_sepsets, decode_trace, encode_sepsets, encode_trace, number
from lmarvel.result.sources import encode_knowledge
from lmarvel.result.statistics import Statistics
from lmarvel.result.support.grades import encode_grades
from lmarvel.result.support.reliability import decode_reliability, encode_reliability
from lmarvel.result.trace import Trace

if TYPE_CHECKING:
    from lmarvel.result.discovery import Discovery

MOST_BYTES = 4 << 30  # of a result file


def encode_result(result: Discovery) -> dict[str, Any]:
    """Return a result as plain data, with its head and its checksum."""
    pag, stats = result.pag, result.stats
    return sealed(
        {
            "nodes": list(pag.names),
            **encode_graph(pag, result.undecided),
            "illegal": None if result.undecided else result.why_illegal,
            "contested": [{"pair": [a, b], "given": sorted(s), "pvalue": p} for a, b, s, p in result.contested],
            "sepsets": encode_sepsets(result.sepsets, result.trace, pag.names),
            "boundaries": {name: sorted(mb) for name, mb in result.boundaries.items()},
            "removal_order": list(result.removal_order),
            "tests": {phase: {str(k): v for k, v in sizes.items()} for phase, sizes in stats.tests.items()},
            "seconds": dict(stats.seconds),
            "settings": dict(result.settings),
            "versions": dict(result.versions),
            "data": None if result.data is None else dict(result.data),
            "mag": None if result.mag is None else [str(edge) for edge in result.mag.edges()],
            "bic": result.bic,
            "trace": encode_trace(Trace.of(result.trace), pag.names),
            **encode_knowledge(result),
            **encode_reliability(result),
            "verdict": result.verdict.to_dict(),
            "grades": encode_grades(result),
        }
    )


def decode_result(plain: Any) -> dict[str, Any]:
    """Return the fields of the result that plain data hold; refuse what is damaged or of another version."""
    content = unsealed(plain)
    pag, undecided = decode_graph(content)
    names = pag.names
    index = {name: i for i, name in enumerate(names)}
    boundaries = read_part(content, "boundaries", lambda v: decode_boundaries(v, names))
    return {
        "pag": pag,
        "sepsets": read_part(content, "sepsets", lambda v: decode_sepsets(v, names, boundaries)),
        "boundaries": boundaries,
        "stats": Statistics(read_part(content, "tests", decode_tests), read_part(content, "seconds", decode_seconds)),
        "trace": read_part(content, "trace", lambda v: decode_trace(v, index)),
        "settings": read_part(content, "settings", decode_settings),
        "undecided": undecided,
        "mag": read_part(content, "mag", lambda v: None if v is None else decode_mag(v, names)),
        "bic": read_part(content, "bic", lambda v: None if v is None else number(v)),
        "data": read_part(content, "data", decode_data),
        "versions": read_part(content, "versions", decode_versions),
        **decode_knowledge(content, names),
        **decode_reliability(content, pag),
    }


def _read_plain(path: Path) -> Any:
    """Return the plain data of a result file."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ResultError(f"{path} has more than {MOST_BYTES >> 30} GiB, which is too large for a result file")
        return json.loads(path.read_text("utf-8"))
    except ResultError:
        raise
    except FileNotFoundError:
        raise ResultError(f"there is no file {path}") from None
    except OSError as error:
        raise ResultError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise ResultError(f"{path} is cut off, or not a result: 'lmarvel learn x.csv -o x.json' writes one") from None


def read_result(path: Path) -> dict[str, Any]:
    """Return the fields of the result in a file; a refusal names the file."""
    plain = _read_plain(path)
    try:
        return decode_result(plain)
    except ResultError as error:
        raise ResultError(f"{path}: {error}") from None
