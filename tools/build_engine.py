"""Build the engine beside its sources, for work on it, or with sanitizers into a copy, and then run its tests.

    python tools/build_engine.py               # src/lmarvel/engine/_engine.*.so and _search.*.so
    python tools/build_engine.py --sanitize    # build/sanitize, and the tests of the engine there

meson-python builds what is installed; this needs Cython and a C++ compiler only. The sanitizers (address, undefined
behaviour) end the run at the first access out of bounds, use after free, or overflow.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

COMPILER = os.environ.get("CXX", "c++")
ROOT = Path(__file__).resolve().parents[1]
PARTS = ("fci", "mbcs", "orient", "paths", "pruning", "rfci", "run", "search", "skeleton", "state")
MODULES = {"_engine": PARTS, "_search": ()}  # and what each is linked with
QUICK = ("-O3",)
SANITIZED = ("-O1", "-g", "-fno-omit-frame-pointer", "-D_GLIBCXX_ASSERTIONS", "-fsanitize=address,undefined")
COMMON = ("-std=c++17", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-Wall", "-Wextra")


def build(engine: Path, objects: Path, flags: tuple[str, ...]) -> None:
    """Compile the engine in the folder of its sources."""
    objects.mkdir(parents=True, exist_ok=True)
    for module, parts in MODULES.items():
        generated = objects / f"{module}.cpp"
        written = engine / f"{module}.pyx"
        if is_older(generated, [written]):
            cython = [sys.executable, "-m", "cython", "-3", "--cplus", str(written), "-o", str(generated)]
            subprocess.run(cython, check=True)
        made = [
            compiled(source, engine, objects, flags) for source in (generated, *(engine / f"{p}.cpp" for p in parts))
        ]
        target = engine / f"{module}{sysconfig.get_config_var('EXT_SUFFIX')}"
        undefined = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
        subprocess.run([COMPILER, "-shared", *undefined, *flags, *made, "-o", str(target)], check=True)


def is_older(made: Path, sources: list[Path]) -> bool:
    """Tell whether something has to be made anew: it is not there, or one of its sources has changed since."""
    return not made.exists() or any(made.stat().st_mtime < s.stat().st_mtime for s in sources)


def compiled(source: Path, engine: Path, objects: Path, flags: tuple[str, ...]) -> str:
    """Compile one source, and return its object."""
    made = str(objects / f"{source.stem}.o")
    if not is_older(Path(made), [source, *engine.glob("*.hpp")]):
        return made
    include = ("-I", str(engine), "-I", sysconfig.get_paths()["include"])
    extra = () if source.parent == engine else ("-Wno-unused-function",)
    subprocess.run([COMPILER, *COMMON, *flags, *extra, *include, "-c", str(source), "-o", made], check=True)
    return made


def sanitized_tests(options: list[str]) -> int:
    """Build a copy of the package with sanitizers, and run the tests of the engine on it."""
    folder = ROOT / "build" / "sanitize"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "lmarvel", folder / "lmarvel")
    build(folder / "lmarvel" / "engine", folder / "objects", SANITIZED)
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
    }
    tests = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow", "tests/engine", *options]
    return subprocess.run(tests, cwd=ROOT, env=environment, check=False).returncode


def main() -> None:
    """Read the options, and do what they say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sanitize", action="store_true", help="build with sanitizers and run the engine's tests")
    asked, options = parser.parse_known_args()
    if asked.sanitize:
        sys.exit(sanitized_tests(options))
    build(ROOT / "src" / "lmarvel" / "engine", ROOT / "build" / "engine", QUICK)


if __name__ == "__main__":
    main()
