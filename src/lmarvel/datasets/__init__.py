"""Small tables that come with the package; README.md beside this file tells where they are from."""

from __future__ import annotations

from pathlib import Path

CARS = Path(__file__).with_name("cars.csv")
"""Measurements of 392 cars: what makes a car quick, and what was chosen together?"""

BUNDLED = {"cars": CARS}
"""The bundled tables by the names that the command line knows them by."""
