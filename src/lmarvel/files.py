"""Write files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from lmarvel.errors import OutputError


def check_writable(path: Path) -> None:
    """Raise :class:`OutputError` now rather than after the work, if ``path`` cannot be written."""
    try:
        if path.is_dir():
            raise OutputError(f"cannot write {path}: it is a directory")
        if not path.parent.is_dir():
            raise OutputError(f"cannot write {path}: there is no directory {path.parent}")
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".lmarvel-")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None
    os.close(handle)
    os.unlink(name)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file through a temporary one beside it, so that an interruption leaves the old file as it was."""
    check_writable(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".lmarvel-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(name)
        if isinstance(error, OSError):
            raise OutputError(f"cannot write {path}: {error.strerror or error}") from None
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
