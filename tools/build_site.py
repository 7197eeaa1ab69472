"""Build the documentation site into ``build/site``: lay out its sources, run Sphinx, check every link, all offline."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.cmd.build import build_main

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "site"))

from links import faults  # noqa: E402
from stage import stage  # noqa: E402


def main(target: Path = ROOT / "build") -> int:
    """Build and check; return the exit code."""
    sources, site, kept = target / "site-sources", target / "site", target / "site-doctrees"
    stage(sources)
    settings = ["-c", str(ROOT / "docs"), "-b", "html", "-d", str(kept), "-E", "-a", "-q", "-W", "--keep-going"]
    code = build_main([*settings, str(sources), str(site)])
    wrong = faults(site)
    for line in wrong:
        print(line, file=sys.stderr)
    if code == 0 and not wrong:
        print(f"{site.relative_to(Path.cwd()) if site.is_relative_to(Path.cwd()) else site}/index.html")
    return code or bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
