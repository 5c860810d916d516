# Everything runs in .venv, which is made from pyproject.toml alone.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test test-engines lint docs clean

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/pip install --quiet --editable ".[demo,math]" --group dev
	touch $@

demo: $(STAMP)  ## a real llama.cpp server with real MTP: launch, judge, measure, stop
	$(BIN)/pytest -p no:cacheprovider --mtp-server demo --mtp-suite builtin:demo

test: $(STAMP) lint
	$(BIN)/pytest -q -n 2 -m "not engine" tests

test-engines: $(STAMP)
	$(BIN)/pip download --quiet --no-deps --dest $(VENV)/wheels bfcl-eval==2026.3.23
	$(BIN)/python lanes/environment.py all
	$(BIN)/pytest -q -n 2 --dist loadfile --durations 30 -m engine tests

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(STAMP)  ## write the generated pages
	$(BIN)/python docs/build.py

clean:
	rm -rf $(VENV) .mtp dist
