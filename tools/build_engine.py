"""Build the engine beside its sources, for work on it, or with sanitizers into a copy, and then run its tests.

    python tools/build_engine.py               # the compiled modules beside their sources
    python tools/build_engine.py --sanitize    # build/sanitize, and the tests of the engine there

meson-python builds what is installed; this needs Cython and a C++ compiler only. The sanitizers (address, undefined
behaviour) end the run at the first access out of bounds, use after free, or overflow.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COMPILER = os.environ.get("CXX", "c++")
ROOT = Path(__file__).resolve().parents[1]
LISTED = (ROOT / "meson.build").read_text().split("engine = [")[1].split("]")[0]
MODULES: dict[str, list[str]] = {  # and what each is linked with
    "data/_rows": [],
    "engine/_engine": ast.literal_eval(f"[{LISTED}]"),
}
QUICK = ("-O3",)
# Lines are enough for traces: with all of "-g" the compiler takes twice as long, and 2 GB for each large file.
SANITIZED = ("-O1", "-g1", "-fno-omit-frame-pointer", "-D_GLIBCXX_ASSERTIONS", "-fsanitize=address,undefined")
FUZZED = "100000"  # random hostile calls under sanitizers (tests/engine/test_fuzz.py)
HANGING = 600  # seconds after which a test says where it is: some call does not end
COMMON = ("-std=c++17", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-pthread", "-Wall", "-Wextra")


def build(package: Path, objects: Path, flags: tuple[str, ...]) -> None:
    """Compile the engine in the folders of its sources, two files at a time, and only what has changed."""
    objects.mkdir(parents=True, exist_ok=True)
    engine = package / "engine"
    with ThreadPoolExecutor(2) as workers:

        def door(module: str) -> Path:
            return compiled(translated(package / f"{module}.pyx", objects), engine, objects, flags)

        made = {
            module: [
                workers.submit(door, module),
                *(workers.submit(compiled, engine / part, engine, objects, flags) for part in parts),
            ]
            for module, parts in MODULES.items()
        }
    for module, parts in made.items():
        linked = [part.result() for part in parts]
        target = package / f"{module}{sysconfig.get_config_var('EXT_SUFFIX')}"
        if is_older(target, linked):
            undefined = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
            whole = objects / target.name  # a linker that was stopped leaves half a file, and not in the target's place
            subprocess.run([COMPILER, "-shared", "-pthread", *undefined, *flags, *linked, "-o", str(whole)], check=True)
            os.replace(whole, target)


def is_older(made: Path, sources: Iterable[Path]) -> bool:
    """Tell whether something has to be made anew: it is not there, or one of its sources has changed since."""
    return not made.exists() or any(not s.exists() or made.stat().st_mtime < s.stat().st_mtime for s in sources)


def translated(written: Path, objects: Path) -> Path:
    """Make C++ of one Cython source."""
    generated = objects / f"{written.stem}.cpp"
    if is_older(generated, [written, *written.parent.rglob("*.pxi")]):
        cython = [sys.executable, "-m", "cython", "-3", "--cplus", "-I", str(written.parent), str(written)]
        subprocess.run([*cython, "-o", str(generated)], check=True)
    return generated


def compiled(source: Path, engine: Path, objects: Path, flags: tuple[str, ...]) -> Path:
    """Compile one source, and return its object; beside it the compiler notes which headers it read."""
    made = objects / f"{source.parent.name}-{source.stem}.o"  # two folders may have files of one name
    noted = made.with_suffix(".d")
    if noted.exists() and not is_older(made, read_from(noted)):
        return made
    include = ("-I", str(engine), "-isystem", sysconfig.get_paths()["include"])
    extra = () if engine in source.parents else ("-Wno-unused-function",)
    subprocess.run(
        [COMPILER, *COMMON, *flags, *extra, *include, "-MMD", "-c", str(source), "-o", str(made)], check=True
    )
    return made


def read_from(noted: Path) -> list[Path]:
    """Return the files that an object was compiled from, as the compiler noted them in the language of make."""
    names = noted.read_text().replace("\\\n", " ").split(": ", 1)[1]
    return [Path(name.replace("\0", " ")) for name in names.replace("\\ ", "\0").split()]


def copy_changed(source: Path, target: Path) -> None:
    """Bring a copy of the package up to date: what has not changed keeps its time, what has gone goes."""
    built = {f"{module.split('/')[1]}{sysconfig.get_config_var('EXT_SUFFIX')}" for module in MODULES}

    def copied(folder: Path) -> set[Path]:
        files = (f for f in folder.rglob("*") if f.is_file() and f.suffix != ".pyc" and f.name not in built)
        return {f.relative_to(folder) for f in files}

    for name in copied(source):
        if is_older(target / name, [source / name]):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)
    for name in copied(target) - copied(source):
        (target / name).unlink()


def sanitized_tests(options: list[str]) -> int:
    """Build a copy of the package with sanitizers, and run the tests of the engine on it."""
    folder = ROOT / "build" / "sanitize"
    copy_changed(ROOT / "src" / "lmarvel", folder / "lmarvel")
    build(folder / "lmarvel", folder / "objects", SANITIZED)
    libraries = [
        subprocess.run(
            [COMPILER, f"-print-file-name={name}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so", "libstdc++.so")
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python itself keeps memory to the end
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "LMARVEL_SANITIZED": "1",
        "LMARVEL_FUZZ_CALLS": os.environ.get("LMARVEL_FUZZ_CALLS", FUZZED),
    }
    pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", f"faulthandler_timeout={HANGING}"]
    tests = [*pytest, "-m", "not slow", "tests/engine", *options]
    return subprocess.run(tests, cwd=ROOT, env=environment, check=False).returncode


def main() -> None:
    """Read the options, and do what they say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sanitize", action="store_true", help="build with sanitizers and run the engine's tests")
    asked, options = parser.parse_known_args()
    if asked.sanitize:
        sys.exit(sanitized_tests(options))
    build(ROOT / "src" / "lmarvel", ROOT / "build" / "engine", QUICK)


if __name__ == "__main__":
    main()
