"""Files that hold graphs, as text: of a size that can be one, and nothing that blocks or never ends."""

from __future__ import annotations

import gzip
import stat
import zlib
from pathlib import Path

from lmarvel.errors import GraphError

MOST_BYTES = 64 * 2**20  # unpacked


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Return the text of a file in UTF-8, unpacked where the name ends in ``.gz``.

    Parameters
    ----------
    path : Path
        An ordinary file: a directory, a pipe or a device is refused.
    most : int
        Bytes, unpacked, beyond which a file is refused; 64 MB unless told.

    Raises
    ------
    GraphError
        With what is wrong, but without the path, which the caller adds in its own manner.

    Examples
    --------
    >>> read_text(Path("nowhere.txt"))
    Traceback (most recent call last):
    ...
    lmarvel.errors.GraphError: there is no such file
    """
    try:
        _check_ordinary(path.stat().st_mode)
        raw = _read(path, most + 1)
        if len(raw) > most:
            raise GraphError(f"this file has more than {most / 2**20:,.0f} MB: it is not a graph, or too large")
        text = raw.decode("utf-8-sig")
    except FileNotFoundError:
        raise GraphError("there is no such file") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise GraphError(f"this is not UTF-8 text (byte {error.start} is {byte:#04x}): save it as UTF-8") from None
    except OSError as error:
        raise GraphError(f"cannot read this: {error.strerror or error}") from None
    except (EOFError, zlib.error) as error:
        raise GraphError(f"cannot unpack this: {error}") from None
    except GraphError:
        raise
    except ValueError as error:  # a path that no file can have
        raise GraphError(f"cannot read this: {error}") from None
    if "\0" in text:
        raise GraphError(f"this is not text (byte {raw.index(0)} is null): give a graph as text")
    return text


def _check_ordinary(mode: int) -> None:
    """Refuse what is no file: reading a pipe would wait, and a device may never end."""
    if stat.S_ISDIR(mode):
        raise GraphError("this is a directory, not a file")
    if not stat.S_ISREG(mode):
        raise GraphError("this is a pipe or a device, not a file: save the graph to a file first")


def _read(path: Path, most: int) -> bytes:
    """Return at most so many bytes, unpacked."""
    packed = path.suffix.lower() == ".gz"
    with gzip.open(path, "rb") if packed else path.open("rb") as stream:
        pieces, left = [], most
        while left and (piece := stream.read(min(left, 2**20))):  # asked for at once, all would be set aside at once
            pieces.append(piece)
            left -= len(piece)
    return b"".join(pieces)
