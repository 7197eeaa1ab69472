"""The program among others: terminals, pipes, Ctrl-C, version, what it loads."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import lmarvel
from lmarvel.ci.fisher_z import kernel_name
from lmarvel.datasets import CARS
from tests.cli.running import PROGRAM, confounded, endless, run, run_apart, spawn, write_csv


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "data.csv", confounded(200))


def test_exit_codes_reach_the_shell(table: Path, tmp_path: Path) -> None:
    assert run_apart("learn", table, "--quiet") == (0, "", "")
    assert run_apart("learn", table, "--max-tests", "2", "--quiet").code == 3
    done = run_apart("learn", tmp_path / "nothing.csv")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"lmarvel: there is no file {tmp_path / 'nothing.csv'}\n"


# --- version ----------------------------------------------------------------------------------------------


def test_the_version_names_the_search() -> None:
    assert run("--version") == (0, f"lmarvel {lmarvel.__version__} ({kernel_name()} search)\n", "")


def test_the_version_names_the_readable_search_where_the_kernel_is_not_built() -> None:
    code = "import sys; sys.modules['lmarvel.engine._engine'] = None; from lmarvel.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"lmarvel {lmarvel.__version__} (readable search)\n"


def test_a_missing_kernel_is_said_in_a_line() -> None:
    words = ["learn", str(CARS), "--details"]
    code = "import sys; sys.modules['lmarvel.engine._engine'] = None; from lmarvel.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert done.stderr.startswith("lmarvel: the compiled search was not built")
    assert done.stderr.count("\n") == 1
    assert "readable search" in done.stdout


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_is_there(flag: str) -> None:
    for command in ([], ["learn"], ["demo"]):
        code, out, err = run(*command, flag)
        assert (code, err) == (0, "")
        assert "Usage" in out
    assert "--max-seconds" in run("learn", flag).out


# --- terminals and pipes ----------------------------------------------------------------------------------


class Terminal:
    """A terminal for the error stream of a process; collects what it shows until the process lets go of it."""

    def __init__(self) -> None:
        self._master, self.slave = pty.openpty()
        self._shown = b""
        self._reader = threading.Thread(target=self._read, daemon=True)

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the other side is closed
            while part := os.read(self._master, 4096):
                self._shown += part

    def started(self) -> None:
        """Start to read, once the process has its own handle of the terminal."""
        os.close(self.slave)
        self._reader.start()

    def text(self) -> str:
        """Return all that was shown, after the process has ended."""
        self._reader.join(timeout=10)
        os.close(self._master)
        return self._shown.decode()


def on_a_terminal(*arguments: str | Path) -> tuple[int, str, str]:
    """Run with the error stream on a terminal; return exit code, output and what the terminal showed."""
    terminal = Terminal()
    with spawn(*arguments, stderr=terminal.slave, env={**os.environ, "TERM": "xterm"}) as process:
        terminal.started()
        out, _ = process.communicate(timeout=60)
    return process.returncode, out, terminal.text()


def test_progress_shows_on_a_terminal_on_the_error_stream(tmp_path: Path) -> None:
    arguments = ["learn", *endless(tmp_path / "data.csv"), "--max-seconds", "1", "--format", "json"]
    code, out, shown = on_a_terminal(*arguments)
    assert code == 3
    assert "━" in shown
    assert "\x1b[" in shown
    assert json.loads(out)["undecided"]


def test_quiet_shows_no_progress(tmp_path: Path) -> None:
    code, out, shown = on_a_terminal("learn", *endless(tmp_path / "data.csv"), "--max-seconds", "0.5", "--quiet")
    assert (code, out) == (3, "")
    assert "━" not in shown
    assert "\x1b" not in shown
    assert shown.count("\n") == 1


def test_progress_is_not_shown_where_there_is_no_terminal(tmp_path: Path) -> None:
    done = run_apart("learn", *endless(tmp_path / "data.csv"), "--max-seconds", "0.5", "--format", "json")
    assert done.code == 3
    assert done.err.startswith("lmarvel: max_seconds is used up")
    assert done.err.count("\n") == 1
    assert "\x1b" not in done.out


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_reader_that_went_away_is_no_error(table: Path, form: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with spawn("learn", table, "--format", form, stdout=writing) as process:
        os.close(writing)
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_the_first_lines_can_be_cut_off_by_head(table: Path) -> None:
    pipe = subprocess.run(
        ["sh", "-c", '"$@" | head -n 1', "sh", *PROGRAM, "learn", str(table), "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (pipe.stdout, pipe.stderr) == ("{\n", "")


def test_a_full_disk_behind_the_output_is_no_traceback(table: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "w") as full:
        done = run_apart("learn", table, stdout=full)
    assert done.code != 0
    assert "Traceback" not in done.err


# --- Ctrl-C -----------------------------------------------------------------------------------------------


def announced(arguments: list[str | Path], stderr: int) -> subprocess.Popen[str]:
    """Start a command that says when it has loaded what it needs."""
    code = "from lmarvel.cli import main; print('ready', flush=True); main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, stderr=stderr, text=True
    )


def press_ctrl_c(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Interrupt a command in the midst of its work; return what it printed from then on."""
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=10)  # on a busy machine; left alone it would go on for hours


@pytest.mark.parametrize("where", ["pipe", "terminal"])
def test_ctrl_c_ends_a_run_at_once_and_writes_nothing(where: str, tmp_path: Path) -> None:
    terminal = Terminal()
    arguments = ["learn", *endless(tmp_path / "data.csv"), "-o", tmp_path / "pag.json"]
    process = announced(arguments, subprocess.PIPE if where == "pipe" else terminal.slave)
    terminal.started()
    try:
        out, err = press_ctrl_c(process)
    finally:
        process.kill()
        process.communicate()
    shown = terminal.text()
    if where == "terminal":
        err = shown
        assert err.rindex("\x1b[?25h") > err.rindex("\x1b[?25l")  # the cursor is back
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
    assert "lmarvel: interrupted; nothing was written" in err


def test_an_interruption_while_the_commands_are_made_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["lmarvel.cli.app"], "app", interrupted)
    assert run("--version") == (130, "", "lmarvel: interrupted\n")


# --- what is loaded ---------------------------------------------------------------------------------------


def loaded_by(code: str, *arguments: str) -> set[str]:
    """Return the packages and modules that a program has loaded at its end."""
    report = "import atexit, sys; atexit.register(lambda: print('\\n', *sys.modules))\n"
    done = subprocess.run([sys.executable, "-c", report + code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_the_package_loads_none_of_the_heavy_ones() -> None:
    heavy = {"polars", "pandas", "pyarrow", "narwhals", "scipy", "typer", "rich"}
    assert not loaded_by("import lmarvel") & heavy


def test_learning_from_a_text_file_loads_only_what_it_needs(table: Path) -> None:
    loaded = loaded_by("from lmarvel.cli import main; main()", "learn", str(table), "--method", "lmarvel")
    assert not loaded & {"pandas", "pyarrow", "scipy"}


def test_starting_the_program_loads_no_network() -> None:
    assert not loaded_by("import lmarvel.cli") & {"asyncio", "http.client", "xml.sax", "polars", "scipy"}


def test_a_report_with_estimates_loads_no_statistics_of_scipy(table: Path, tmp_path: Path) -> None:
    words = [
        "learn",
        str(table),
        "--require",
        "A -> B",
        "--unconfounded",
        "A - B",
        "--report",
        str(tmp_path / "page.html"),
    ]
    loaded = loaded_by("from lmarvel.cli import main; main()", *words)
    assert "scipy.special" in loaded  # an interval was worked out
    assert "scipy.stats" not in loaded  # half a second


# --- streams and libraries that fail ----------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_reader_that_left_is_no_failure(table: Path, form: str) -> None:
    script = '{ "$@"; echo "code $?" >&2; } | head -n 1; exit 0'
    words = [*PROGRAM, "learn", str(table), "--format", form]
    for _ in range(3):
        done = subprocess.run(["sh", "-c", script, "sh", *words], capture_output=True, text=True, check=True)
        assert done.stderr == "code 0\n"


@pytest.mark.parametrize("closing", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_traceback(table: Path, closing: str) -> None:
    words = [*PROGRAM, "learn", str(table)]
    done = subprocess.run(["sh", "-c", f'"$@" {closing}', "sh", *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    words[-1] = "nothing.csv"
    done = subprocess.run(["sh", "-c", f'"$@" {closing}', "sh", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_without_words_there_is_help() -> None:
    code, out, err = run()
    assert (code, err) == (0, "")
    assert "learn" in out


def test_a_panic_of_a_library_is_one_line(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})

    def panicking(*_: object) -> None:
        raise panic("called `Option::unwrap()`\non a `None` value")

    monkeypatch.setattr("lmarvel.cli.tables.TableOptions.dataset", panicking)
    done = run("learn", table)
    assert done == (2, "", "lmarvel: a library gave up on this input: called `Option::unwrap()` on a `None` value\n")
