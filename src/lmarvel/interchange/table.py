"""What the CSV formats share: rows with their lines, and names in quotes."""

from __future__ import annotations

import csv
import io
import re

from lmarvel.interchange.errors import FormatError, refuse_name


def rows(text: str) -> list[tuple[int, list[str]]]:
    """Return the rows of a CSV text that are not blank, each with the line where it ends."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: list[tuple[int, list[str]]] = []
    try:
        for cells in reader:
            if cells:
                found.append((reader.line_num, cells))
    except csv.Error as error:
        raise FormatError(f"this is not CSV: {error}", reader.line_num) from None
    if not found:
        raise FormatError("there is no table here")
    return found


def cell(name: str) -> str:
    """Return a name as a cell: in quotes where it holds anything odd."""
    if "\x00" in name:
        raise refuse_name(name, "CSV", "it holds a null character")
    if re.fullmatch(r"[\w.:+*/()-]+", name):
        return name
    return '"' + name.replace('"', '""') + '"'


def refuse_other_separator(line: int, header: list[str]) -> None:
    """Raise if the header is a single cell because the table is separated by something else."""
    for sign, called in ((";", "semicolons"), ("\t", "tabs")):
        if len(header) == 1 and sign in header[0]:
            raise FormatError(f"this table is separated by {called}: save it with commas", line)
