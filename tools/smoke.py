"""Try an installed package as a newcomer would, in a folder of its own; it needs nothing but the package.

    python tools/smoke.py              # the package with its compiled parts
    python tools/smoke.py --readable   # without them, as where there was no compiler

Wheels are tried with it on every system that they are built for. It says what it does, and ends at the first fault.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

PROGRAM = Path(sysconfig.get_path("scripts")) / ("lmarvel.exe" if os.name == "nt" else "lmarvel")


def lmarvel(*arguments: str, code: int = 0, given: str | None = None) -> str:
    """Run the command, and return what it prints."""
    print("$ lmarvel", *arguments, flush=True)
    done = subprocess.run(
        [str(PROGRAM), *arguments], input=given, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def check_compiled(wanted: bool) -> None:
    """Check that the compiled parts are there, or not, and that those that are find the same as the readable ones."""
    import lmarvel.ci.fisher_z
    from lmarvel import LMarvel
    from lmarvel.datasets import CARS
    from lmarvel.engine import load

    print("lmarvel", lmarvel.__version__, "in", Path(lmarvel.__file__).parent, "with Python", sys.version.split()[0])
    assert (load() is not None) == wanted, load()
    assert lmarvel.ci.fisher_z.kernel_name() == ("compiled" if wanted else "readable")
    compiled, readable = LMarvel().fit(CARS).result_, LMarvel(test=lmarvel.FisherZ(CARS, compiled=False)).fit().result_
    assert compiled.pag == readable.pag, (str(compiled.pag), str(readable.pag))
    assert compiled.stats.n_tests == readable.stats.n_tests


def check_commands(quick: bool) -> None:
    """Run what the first page of the documentation has; the demonstration takes minutes on readable code."""
    if quick:
        assert "1. A REAL TABLE" in lmarvel("demo")
    assert "lmarvel learn cars" in lmarvel("describe", "cars")
    result = lmarvel("learn", "cars", "--method", "lmarvel", "-o", "-")
    assert json.loads(result)["nodes"][0] == "MilesPerGallon"
    assert "among 6 variables (392 rows)" in lmarvel("learn", "cars", "-o", "größe.json", "--report", "cars.html")
    assert lmarvel("explain", "größe.json", "Weight", "Horsepower").startswith("Weight")
    assert lmarvel("explain", "-", "Weight", given=result).startswith("Weight")
    lmarvel("draw", "größe.json", "cars.svg")
    lmarvel("convert", "größe.json", "cars.dot")
    lmarvel("effect", "größe.json", "cars", "Weight", "MilesPerGallon")
    lmarvel("simulate", "study", "--variables", "8", "--latent", "1", "--rows", "300")
    drawn = ("--bootstrap", "10", "--seed", "1", "--n-jobs", "2", "-q")
    lmarvel("learn", "study/data.csv", "--method", "auto" if quick else "lmarvel", *drawn)
    assert "<svg" in Path("cars.svg").read_text("utf-8")
    assert Path("cars.html").read_text("utf-8").startswith("<!doctype html>")
    lmarvel("learn", "nothing.csv", code=2)
    lmarvel("learn", "cars", "--method", "lmarvel", "--max-tests", "2", code=3)
    assert "_LMARVEL_COMPLETE" in lmarvel("--show-completion", "bash")


def check_files() -> None:
    """Read and write the kinds of files that go through other libraries, or another process."""
    import polars as pl

    from lmarvel import Discovery, LMarvel
    from lmarvel.datasets import CARS

    pl.read_csv(CARS, infer_schema_length=None).write_parquet("cars.parquet")
    found = LMarvel().fit("cars.parquet").result_
    assert found.pag == LMarvel().fit(CARS).pag_
    found.save("r.json")
    found.save("r.json")  # over a file that is there
    assert Discovery.load("r.json") == found
    assert "<svg" in found._repr_html_()
    drawn = LMarvel().fit(CARS, bootstrap=5, seed=1, n_jobs=2).result_
    assert drawn.stability is not None
    assert drawn.stability.replicates == 5


def main() -> None:
    """Try everything, in a folder that is gone afterwards."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--readable", action="store_true", help="the compiled parts must not be there")
    wanted = options.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        check_compiled(not wanted.readable)
        check_commands(not wanted.readable)
        check_files()
        os.chdir(Path(folder).parent)
    print("all is well")


if __name__ == "__main__":
    main()
