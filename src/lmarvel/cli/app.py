"""The frame of all commands: errors, exit codes, interruption and progress."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from lmarvel.budget import memory
from lmarvel.budget.clock import Clock
from lmarvel.ci.fisher_z import kernel_name
from lmarvel.cli.messages import one_line, usage, with_option
from lmarvel.cli.settings import with_settings
from lmarvel.cli.streams import STANDARD
from lmarvel.deferred import late
from lmarvel.errors import BudgetSpent, LMarvelError, OutputError
from lmarvel.text import printable
from lmarvel.version import __version__

console = late("rich.console")
progress = late("rich.progress")


_USAGE: Any = typer.BadParameter.__mro__[1]  # the base of all errors of usage, wherever the library keeps it
_BLINK = 0.05  # seconds between two looks of a bar: each resample that takes longer shows
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")
Command = TypeVar("Command", bound=Callable[..., None])
app = typer.Typer(
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # in its boxes long names of options are cut off
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Causal discovery with latent variables and selection bias: from a table to a PAG.",
    epilog="New here? lmarvel demo, then lmarvel learn cars, a table that comes with the package.",
)


def command(function: Command) -> Command:
    """Make a function a command, with the defaults of a settings file."""
    told = " ".join((function.__doc__ or "").split("\n\n")[0].split())
    app.command(short_help=told)(with_settings(function))  # else the list of commands has only the first words
    return function


def ordered(*names: str) -> None:
    """Give the commands the order in which help lists them."""
    app.registered_commands.sort(key=lambda registered: names.index(_name_of(registered.callback)))


def _name_of(function: Any) -> str:
    return str(function.__name__)


def _process_began() -> float:
    """Return when this process began, by ``time.monotonic``; where the system does not tell, that is now."""
    now = time.monotonic()
    try:
        after_the_name = Path("/proc/self/stat").read_text("utf-8").rpartition(")")[2].split()
        since_boot = int(after_the_name[19]) / os.sysconf("SC_CLK_TCK")
        return now - max(time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot, 0.0)
    except (OSError, ValueError, LookupError, AttributeError):
        return now


class _Watch:
    """When the command began: the first with the process, a later one of the same process when it is run."""

    def __init__(self) -> None:
        self.begun, self.used = _process_began(), False

    def start(self) -> None:
        self.begun, self.used = time.monotonic() if self.used else self.begun, True

    def clock(self, seconds: float | None) -> Clock:
        """Return a clock for the command; to load the program takes at most half of its seconds."""
        now = time.monotonic()
        began = self.begun if self.used else now  # one that is called as a function has nothing to load
        return Clock(seconds, now if seconds is None else max(began, now - seconds / 2))


_WATCH = _Watch()


def elapsed() -> float:
    """Return how many seconds the command has taken, those to load the program included."""
    return time.monotonic() - _WATCH.begun


def command_clock(seconds: float | None) -> Clock:
    """Return the clock that all of a command's work keeps to, from the start of the process to its last file."""
    return _WATCH.clock(seconds)


def main() -> None:
    """Run the command line; every error of the package becomes one line and exit code 2."""
    _WATCH.start()
    _prepare_streams()
    _name_the_shell(sys.argv[1:])
    warnings.showwarning = _Warnings()  # type: ignore[assignment]
    try:
        try:
            with _terminable(), memory.limited(memory.share()):
                code = app(sys.argv[1:] or ["--help"], prog_name="lmarvel", standalone_mode=False)
        finally:
            sys.stdout.flush()  # here, where a failure can still be told
        if code == 130:  # so the library below tells of an interruption
            fail("interrupted", 130)
        sys.exit(code if isinstance(code, int) else 0)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # which the library below turned into an exit with code 1
            _reader_left()
        raise
    except _USAGE as error:
        fail(f"{usage(error, sys.argv[1:])} ('{_asked(error)} --help' shows what there is)", 2)
    except LMarvelError as error:
        fail(with_option(error, _options()), 2)
    except BudgetSpent as spent:
        fail(f"{spent}; nothing more was written", 3)
    except MemoryError:
        fail("there is not enough memory for this: take fewer rows or columns, or allow more (--max-memory)", 2)
    except BrokenPipeError:
        _reader_left()
    except OSError as error:
        _silence()
        fail(f"cannot write the output: {error.strerror or error}", 2)
    except BaseException as error:
        # While the library below makes the commands, or as the cause of what another raises that was being loaded.
        if isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt):
            fail("interrupted", 130)
        if type(error).__module__ != "pyo3_runtime":  # a panic of a library in Rust, which is no Exception
            raise
        fail(f"a library gave up on this input: {one_line(str(error))}", 2)


@contextmanager
def _terminable() -> Iterator[None]:
    """Let a request to end, as batch systems send it, be an interruption: what was counted is kept, and files whole."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _prepare_streams() -> None:
    """Make the output streams such that nothing printed fails for its letters, or because a stream is closed."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # as long as the program runs
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            piped = os.name == "nt" and not stream.isatty()  # else a name in a result would be another's code page
            stream.reconfigure(encoding="utf-8" if piped else None, errors="backslashreplace")


def _name_the_shell(words: list[str]) -> None:
    """Let the options of completion take the name of a shell, where one is typed; else it is found out.

    The library below has one way or the other, by what its environment says.
    """
    for option, shell in pairwise(words):
        if option in ("--show-completion", "--install-completion") and shell in SHELLS:
            os.environ["_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"] = "1"


def _reader_left() -> None:
    """End quietly: the reader of our output went away, as `head` does."""
    _silence()
    sys.exit(0)


def _options() -> set[str]:
    """Return the options of the command that was asked for."""
    commands: Any = typer.main.get_command(app)
    asked = next((commands.commands[word] for word in sys.argv[1:2] if word in commands.commands), None)
    return set() if asked is None else {name for parameter in asked.params for name in parameter.opts}


def _asked(error: Any) -> str:
    """Return the command to which wrong options were given."""
    return "lmarvel" if error.ctx is None or error.ctx.parent is None else f"lmarvel {error.ctx.info_name}"


class _Warnings:
    """Shows a warning as a line, without the place in the code where it was raised, and each text once."""

    def __init__(self) -> None:
        self.shown: set[str] = set()

    def __call__(
        self, message: Warning | str, category: type[Warning], filename: str, lineno: int, *more: object
    ) -> None:
        text = printable(str(message))
        if text not in self.shown:
            print(f"lmarvel: {text}", file=sys.stderr)
        self.shown.add(text)


def _silence() -> None:
    """Send what is still to be printed nowhere, so that it is not tried again on the way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str, code: int) -> None:
    """Print a message on the error stream and exit."""
    print(f"lmarvel: {printable(message)}", file=sys.stderr)
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


def check_apart(inputs: Iterable[Path], outputs: Iterable[Path | None]) -> None:
    """Refuse to write over what is read, and to write two things into one file."""
    wanted = [path for path in outputs if path is not None]
    for out, source in product(wanted, inputs):
        if out != STANDARD and _same_file(out, source):
            raise OutputError(f"{out} is the file to read from: write to another")
    for out, other in combinations(wanted, 2):
        if _same_file(out, other):
            raise OutputError(f"{out} is to be written twice: give each output a file of its own")


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except (OSError, RuntimeError):  # what is not there, or cannot be, is told elsewhere
        return False


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
    parts: list[Any] = [
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
    ]
    with progress.Progress(*parts, console=console.Console(stderr=True), transient=True, refresh_per_second=4) as bar:
        task, shown = bar.add_task("data", total=1), ("", 0.0)

        def report(phase: str, done: int, total: int) -> None:
            nonlocal shown
            now = time.monotonic()
            if phase != shown[0] or done == total or now - shown[1] > _BLINK:
                shown = phase, now
                text = f"{phase} {done:,} of {total:,}" if total > 1 else phase
                bar.update(task, description=text, completed=done, total=total)

        yield report
