"""What was measured, in SQLite: one row for each table and method, kept as soon as it is known.

``runs`` are held against a known truth, ``facts`` are what methods say of real tables. The store itself stays out of
version control, because every run would change a binary file. ``runs.csv`` and ``facts.csv`` have the same rows as
text. They are written with the figures, and an empty store begins with them.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
STORE, TEXT, SOURCE = HERE / "runs.sqlite", HERE / "runs.csv", HERE.parents[1] / "src" / "lmarvel"
KEY = ("part", "family", "number", "method")
FIGURES = ("outcome", "marks", "skeleton", "seconds", "limit_seconds", "variables", "rows", "version", "why")
COLUMNS = (*KEY, *FIGURES)
FACTS, FACT = HERE / "facts.csv", ("part", "family", "method", "name", "value", "version")
ASIDE = ("app", "cli", "report", "drawing", "experiments", "interchange")  # rooms that change no result
CODE = (".py", ".pyx", ".pxi", ".pxd", ".cpp", ".hpp", ".csv")
Row = dict[str, Any]


def own_version() -> str:
    """Return a digest of the code that results depend on: ours are measured anew when it changes."""
    digest = hashlib.sha256()
    for path in sorted(path for path in SOURCE.rglob("*") if path.suffix in CODE):
        if path.relative_to(SOURCE).parts[0] not in ASIDE:
            text = path.read_text("utf-8")
            code = without_words(text) if path.suffix == ".py" else text
            digest.update(f"{path.relative_to(SOURCE).as_posix()}\n{code}".encode())
    return f"lmarvel {digest.hexdigest()[:12]}"


def without_words(text: str) -> str:
    """Return Python code without its comments and docstrings, which change no result.

    >>> without_words("def f():  # of nothing\\n    'Return one.'\\n    return 1") == without_words("def f(): return 1")
    True
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [one for one in body if not _is_text(one)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


class Store:
    """Runs by part, family, number and method."""

    def __init__(self, path: Path = STORE, text: Path | None = TEXT) -> None:
        self.base = sqlite3.connect(path)
        self.base.row_factory = sqlite3.Row
        columns = ", ".join(COLUMNS)
        self.base.execute(f"CREATE TABLE IF NOT EXISTS runs ({columns}, PRIMARY KEY ({', '.join(KEY)}))")
        self.base.execute(f"CREATE TABLE IF NOT EXISTS facts ({', '.join(FACT)}, PRIMARY KEY ({', '.join(FACT[:4])}))")
        if text is not None and text.exists() and not next(self.base.execute("SELECT count(*) FROM runs"))[0]:
            with text.open(newline="") as file:
                self.keep(*(_numbers(row) for row in csv.DictReader(file)))
            with text.with_name(FACTS.name).open(newline="") as file:
                for row in csv.DictReader(file):
                    self.state(row["part"], row["family"], row["method"], row["version"], {row["name"]: row["value"]})

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.base.close()

    def keep(self, *rows: Row) -> None:
        """Keep rows, in the place of earlier ones with the same key."""
        marks = ", ".join("?" * len(COLUMNS))
        with self.base:
            self.base.executemany(
                f"INSERT OR REPLACE INTO runs VALUES ({marks})", [[row.get(name) for name in COLUMNS] for row in rows]
            )

    def state(self, part: str, family: str, method: str, version: str, values: Mapping[str, Any]) -> None:
        """Keep what a method said of a table, name by name."""
        rows = [(part, family, method, name, float(value), version) for name, value in values.items()]
        with self.base:
            self.base.executemany(f"INSERT OR REPLACE INTO facts VALUES ({', '.join('?' * len(FACT))})", rows)

    def facts(self) -> list[Row]:
        """Return what was said of real tables, in the order of its keys."""
        return [dict(row) for row in self.base.execute(f"SELECT * FROM facts ORDER BY {', '.join(FACT[:4])}")]

    def rows(self, part: str | None = None) -> list[Row]:
        """Return what is kept, in the order of its keys."""
        where, values = ("", ()) if part is None else (" WHERE part = ?", (part,))
        return [dict(row) for row in self.base.execute(f"SELECT * FROM runs{where} ORDER BY {', '.join(KEY)}", values)]

    def write(self, path: Path = TEXT) -> None:
        """Write all rows as text."""
        for place, columns, rows in ((path, COLUMNS, self.rows()), (path.with_name(FACTS.name), FACT, self.facts())):
            fresh = place.with_suffix(".new")
            with fresh.open("w", newline="") as file:
                writer = csv.DictWriter(file, columns, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            fresh.replace(place)


def _numbers(row: Row) -> Row:
    """Return a row of text with its numbers as numbers, and nothing where there is nothing."""
    read: Row = {name: value or None for name, value in row.items()}
    for name in ("number", "variables", "rows"):
        read[name] = int(read[name]) if read[name] else None
    for name in ("marks", "skeleton", "seconds", "limit_seconds"):
        read[name] = float(read[name]) if read[name] else None
    return read
