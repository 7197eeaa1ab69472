"""Files are written whole or not at all."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from lmarvel.errors import OutputError
from lmarvel.files import check_writable, write_bytes, write_text


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_file_is_written_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    write_text(tmp_path / "a.json", "größe\n")
    assert (tmp_path / "a.json").read_bytes() == "größe\n".encode()
    assert names_in(tmp_path) == {"a.json"}


def test_a_file_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("a longer text that was there before")
    write_text(target, "new")
    assert target.read_text() == "new"


def test_a_file_is_readable_as_the_umask_says(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_text(tmp_path / "a.txt", "x")
        assert os.umask(0o027) == 0o027  # left as it was
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["os.fsync", "os.replace"])
def test_an_interruption_leaves_the_old_file(
    step: str, failure: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise failure

    target = tmp_path / "a.txt"
    target.write_text("old")
    monkeypatch.setattr(step, fail)
    expected = KeyboardInterrupt if isinstance(failure, KeyboardInterrupt) else OutputError
    with pytest.raises(expected):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert names_in(tmp_path) == {"a.txt"}


def test_the_reason_is_in_the_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OutputError, match=r"cannot write .*a\.txt: No space left on device"):
        write_text(tmp_path / "a.txt", "new")


def test_checking_writes_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / "a.txt")
    assert names_in(tmp_path) == set()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".", "is a directory"),
        ("no/a.txt", "there is no directory"),
        ("file/a.txt", "there is no directory"),
        ("a" * 300 + ".txt", "cannot write"),
    ],
    ids=["directory", "missing directory", "below a file", "too long"],
)
def test_a_path_that_cannot_be_written_is_refused(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for action in (check_writable, lambda path: write_text(path, "x")):
        with pytest.raises(OutputError, match=message):
            action(tmp_path / name)
    assert names_in(tmp_path) == {"file"}


def test_a_name_as_long_as_the_file_system_allows_can_be_written(tmp_path: Path) -> None:
    target = tmp_path / ("a" * 251 + ".txt")
    write_text(target, "x")
    assert target.read_text() == "x"


def test_bytes_are_written_as_given(tmp_path: Path) -> None:
    write_bytes(tmp_path / "a.png", b"\x00\r\n\xff")
    assert (tmp_path / "a.png").read_bytes() == b"\x00\r\n\xff"
