"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmarvel.boundary.choose import METHODS

Alpha = Annotated[float, typer.Option(help="Level of the independence tests.")]
BoundaryName = Annotated[str, typer.Option(help=f"Markov boundaries by: {', '.join(METHODS)}.")]
BoundaryAlpha = Annotated[float | None, typer.Option(help="Level for boundaries; default 2/p^2, at most alpha.")]
NoSelection = Annotated[bool, typer.Option("--no-selection", help="The sample was not selected (no R5-R7).")]
Columns = Annotated[list[str] | None, typer.Option(help="Use only these columns (repeat, or commas).")]
Drop = Annotated[list[str] | None, typer.Option(help="Leave these columns out (repeat, or commas).")]
Separator = Annotated[str | None, typer.Option(help="Separator of a text file; default by its ending.")]
MaxConditioning = Annotated[int | None, typer.Option(help="Largest conditioning set.")]
MaxTests = Annotated[int | None, typer.Option(help="Stop after so many tests.")]
MaxSeconds = Annotated[float | None, typer.Option(help="Stop after so many seconds.")]
Table = Annotated[Path, typer.Argument(help="A table: .csv, .tsv, .parquet or .feather, one row an observation.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
