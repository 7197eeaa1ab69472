"""The frame of all commands: errors, exit codes, interruption and progress."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from lmarvel.atomic import OutputError
from lmarvel.ci.gaussian import kernel_name
from lmarvel.errors import LMarvelError
from lmarvel.version import __version__

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Causal discovery with latent variables and selection bias: from a table to a PAG.",
)


def main() -> None:
    """Run the command line; every error of the package becomes one line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):  # a name that the terminal cannot show is no reason to fail
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _warn  # type: ignore[assignment]
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, where a failure can still be told
    except LMarvelError as error:
        fail(str(error), 2)
    except MemoryError:
        fail("there is not enough memory for this: ask for fewer rows or variables", 2)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        _silence()
        sys.exit(0)
    except OSError as error:
        _silence()
        fail(f"cannot write the output: {error.strerror or error}", 2)


def _warn(message: Warning | str, category: type[Warning], filename: str, lineno: int, *more: object) -> None:
    """Show a warning as a line, without the place in the code where it was raised."""
    print(f"lmarvel: {message}", file=sys.stderr)


def _silence() -> None:
    """Send what is still to be printed nowhere, so that it is not tried again on the way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str, code: int) -> None:
    """Print a message on the error stream and exit."""
    print(f"lmarvel: {message}", file=sys.stderr)
    sys.exit(code)


def _version(asked: bool) -> None:
    if asked:
        print(f"lmarvel {__version__} ({kernel_name()} search)")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version and the active kernel."),
    ] = False,
) -> None:
    pass


def check_different(out: Path, source: Path) -> None:
    """Refuse to write over what is read."""
    with contextlib.suppress(OSError):  # what is not there, or cannot be, is told elsewhere
        if out.samefile(source):
            raise OutputError(f"{out} is the file to read from: write to another")


@contextmanager
def interruptible(left: Callable[[], str] = lambda: "nothing was written") -> Iterator[None]:
    """Turn an interruption into exit code 130, with what is ``left`` of the work."""
    try:
        yield
    except KeyboardInterrupt:
        fail(f"interrupted; {left()}", 130)


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar on a terminal, on the error stream, once the work takes more than a moment."""
    if quiet or not sys.stderr.isatty():
        yield lambda phase, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    parts: list[Any] = [TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()]
    with Progress(*parts, console=Console(stderr=True), transient=True, refresh_per_second=4) as bar:
        task = bar.add_task("data", total=1)

        def report(phase: str, done: int, total: int) -> None:
            if done % 64 == 0 or done == total:
                bar.update(task, description=phase, completed=done, total=total)

        yield report
