# make demo   run the main job on bundled input and show the result
# make test   ruff, mypy --strict, import-linter, pytest without what is marked slow
# make check-all   the same, with everything, and on every Python that is installed
# make pythons   the tests on every supported Python that is on the path or in pyenv, the oldest with the oldest dependencies
# make audit   known weaknesses of what CI installs, by pip-audit
# make sanitize   the engine's tests, and 100,000 hostile calls, on an engine with sanitizers (address, undefined behaviour)
# make bench  every figure that is held to a bar, beside the last recorded one; NETWORKS=folder adds carpo.csv
# make bench-all   the same, and every benchmark in full
# make scoreboard   rivals beside this package: what is missing is run, then figures.json and the pages; REAL=folder adds real
#                   tables, RIVALS=ours renews only the rows of this package
# make docs   the documentation as a site, in build/site; warnings are errors, links are checked
# make wheel   the source distribution and a wheel in dist, checked, and tried in an empty environment
# Each makes its own virtual environment; Python >= 3.10, gcc, g++ and make are all that must be there.

PYTHON ?= python3
SOURCES := $(shell find src -type f -not -name '*.pyc') pyproject.toml meson.build

NETWORKS ?=
FOLDER := $(if $(NETWORKS),--networks '$(abspath $(NETWORKS))')

REAL ?=
RIVALS ?=

.PHONY: demo test check-all pythons audit lint sanitize wheel bench bench-all scoreboard docs clean

demo: .venv-demo/done
	@.venv-demo/bin/lmarvel demo

test: lint
	.venv-test/bin/python -m pytest -n auto -m "not slow"

check-all: lint
	.venv-test/bin/python -m pytest -n auto --hypothesis-profile=thorough
	$(MAKE) pythons

pythons:
	$(PYTHON) tools/pythons.py --constraints oldest 3.10 -- -n auto -m "not slow" tests
	$(PYTHON) tools/pythons.py 3.11 3.12 3.13 3.14 -- -n auto -m "not slow" tests

audit:
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	.venv-audit/bin/python -m pip_audit --strict --no-deps --disable-pip -r packaging/constraints/newest.txt || \
		{ echo "make audit: a weakness is known, or a package could not be looked up at https://pypi.org (see above)"; exit 1; }

lint: .venv-test/done
	.venv-test/bin/ruff check .
	.venv-test/bin/ruff format --check .
	.venv-test/bin/mypy
	.venv-test/bin/lint-imports --no-cache

sanitize: .venv-test/done
	.venv-test/bin/python -m pip install --quiet --disable-pip-version-check 'Cython>=3.0'
	.venv-test/bin/python tools/build_engine.py --sanitize

wheel:
	rm -rf .venv-wheel .venv-smoke dist build/again
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet --disable-pip-version-check build twine
	.venv-wheel/bin/python -m build
	.venv-wheel/bin/python -m build --sdist --outdir build/again
	cmp dist/*.tar.gz build/again/*.tar.gz
	.venv-wheel/bin/python -m twine check --strict dist/*
	$(PYTHON) -m venv .venv-smoke
	.venv-smoke/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	.venv-smoke/bin/python tools/smoke.py

.venv-demo/done: $(SOURCES)
	$(PYTHON) -m venv .venv-demo
	.venv-demo/bin/python -m pip install --quiet --disable-pip-version-check .
	@touch $@

.venv-test/done: $(SOURCES)
	$(PYTHON) -m venv .venv-test
	.venv-test/bin/python -m pip install --quiet --disable-pip-version-check '.[test]'
	@touch $@

.venv-bench/done: $(SOURCES) benchmarks/requirements.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check . -r benchmarks/requirements.txt
	@touch $@

bench: .venv-bench/done
	cd benchmarks && ../.venv-bench/bin/python table.py $(FOLDER)
	cd benchmarks && ../.venv-bench/bin/python large.py --cases 100x2 200x2 400x2 1000x2 100x4

bench-all: bench
	cd benchmarks && ../.venv-bench/bin/python large.py --cases 200x4 400x4
	cd benchmarks && ../.venv-bench/bin/python wide.py
	cd benchmarks && ../.venv-bench/bin/python kernel.py
	cd benchmarks && ../.venv-bench/bin/python engine.py
	cd benchmarks && ../.venv-bench/bin/python startup.py
	cd benchmarks && ../.venv-bench/bin/python scaling.py --plot growth.png
	cd benchmarks && ../.venv-bench/bin/python larger_than_memory.py
	cd benchmarks && ../.venv-bench/bin/python cohort.py $(FOLDER)

.venv-scoreboard/done: $(SOURCES) benchmarks/scoreboard/requirements.txt
	$(PYTHON) -m venv .venv-scoreboard
	.venv-scoreboard/bin/python -m pip install --quiet --disable-pip-version-check . -r benchmarks/scoreboard/requirements.txt
	.venv-scoreboard/bin/python -m pip install --quiet --disable-pip-version-check --no-deps pgmpy==1.1.2  # its networks
	@touch $@

scoreboard: .venv-scoreboard/done
	.venv-scoreboard/bin/python benchmarks/scoreboard/run.py $(if $(REAL),--real '$(abspath $(REAL))') $(if $(RIVALS),--rivals '$(RIVALS)')

.venv-docs/done: $(SOURCES)
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check '.[docs]'
	@touch $@

docs: .venv-docs/done
	.venv-docs/bin/python tools/build_site.py

clean:
	rm -rf .venv-demo .venv-test .venv-bench .venv-scoreboard .venv-docs .venv-wheel .venv-smoke .venv-audit .venv-pythons build dist
