# make demo   run the main job on bundled input and show the result
# make test   ruff, mypy --strict, import-linter, pytest
# Each makes its own virtual environment; Python >= 3.10, gcc and make are all that must be there.

PYTHON ?= python3
SOURCES := $(shell find src -type f -not -name '*.pyc') pyproject.toml meson.build

.PHONY: demo test clean

demo: .venv-demo/done
	@.venv-demo/bin/lmarvel demo

test: .venv-test/done
	.venv-test/bin/ruff check .
	.venv-test/bin/ruff format --check .
	.venv-test/bin/mypy
	.venv-test/bin/lint-imports --no-cache
	.venv-test/bin/python -m pytest -n auto

.venv-demo/done: $(SOURCES)
	$(PYTHON) -m venv .venv-demo
	.venv-demo/bin/python -m pip install --quiet --disable-pip-version-check .
	@touch $@

.venv-test/done: $(SOURCES)
	$(PYTHON) -m venv .venv-test
	.venv-test/bin/python -m pip install --quiet --disable-pip-version-check '.[test]'
	@touch $@

clean:
	rm -rf .venv-demo .venv-test build dist
