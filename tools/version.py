#!/usr/bin/env python3
"""Print the version of the package, for meson: it is in src/lmarvel/version.py and nowhere else."""

import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "lmarvel" / "version.py"
print(re.findall(r'^__version__ = "(.+)"$', SOURCE.read_text(encoding="utf-8"), re.MULTILINE)[0])
