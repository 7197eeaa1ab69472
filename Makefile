# make demo   run the main job on bundled input and show the result
# make test   ruff, mypy --strict, import-linter, pytest without what is marked slow
# make check-all   the same, with everything
# make bench  timings beside other programs; NETWORKS=folder adds carpo.csv, which the package does not have
# Each makes its own virtual environment; Python >= 3.10, gcc and make are all that must be there.

PYTHON ?= python3
SOURCES := $(shell find src -type f -not -name '*.pyc') pyproject.toml meson.build

NETWORKS ?=
FOLDER := $(if $(NETWORKS),--networks '$(abspath $(NETWORKS))')

.PHONY: demo test check-all lint bench clean

demo: .venv-demo/done
	@.venv-demo/bin/lmarvel demo

test: lint
	.venv-test/bin/python -m pytest -n auto -m "not slow"

check-all: lint
	.venv-test/bin/python -m pytest -n auto --hypothesis-profile=thorough

lint: .venv-test/done
	.venv-test/bin/ruff check .
	.venv-test/bin/ruff format --check .
	.venv-test/bin/mypy
	.venv-test/bin/lint-imports --no-cache

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
	cd benchmarks && ../.venv-bench/bin/python kernel.py
	cd benchmarks && ../.venv-bench/bin/python startup.py
	cd benchmarks && ../.venv-bench/bin/python scaling.py --plot growth.png
	cd benchmarks && ../.venv-bench/bin/python larger_than_memory.py
	cd benchmarks && ../.venv-bench/bin/python peers.py $(FOLDER)
	cd benchmarks && ../.venv-bench/bin/python cohort.py $(FOLDER)

clean:
	rm -rf .venv-demo .venv-test .venv-bench build dist
