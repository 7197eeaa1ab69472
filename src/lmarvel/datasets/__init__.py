"""Small tables that come with the package; README.md beside this file says where they are from."""

from __future__ import annotations

from pathlib import Path

CARS = Path(__file__).with_name("cars.csv")
"""Measurements of 392 cars: what makes a car quick, and what was chosen together?"""

HEART = Path(__file__).with_name("heart.csv")
"""A simulated study of 2,000 people: diet, cholesterol, stress, heart disease, age and fatigue."""

HEART_TRUTH = Path(__file__).with_name("heart_truth.txt")
"""The graph that the study was simulated from, with the cause that its table leaves out."""

BUNDLED = {"cars": CARS, "heart": HEART}
"""The bundled tables by the names that the command line knows them by."""
