# Everything runs in .venv, which is made where it is missing. PYTHON chooses the interpreter (3.11 or later).
PYTHON ?= python3
BIN := .venv/bin

# how long `make fuzz` goes on, examples of a round, and the seed of the first round, drawn where there is none
SECONDS ?= 60
EXAMPLES ?= 300
SEED ?=

.PHONY: demo app test test-slow test-app test-engines test-peers fuzz lint format types bench kernels kernels-check kernels-record \
	lock lowest types-outside dist docs clean

demo: .venv/run.stamp
	$(BIN)/shoal demo

app: .venv/app.stamp
	$(BIN)/shoal app --example

test: lint types
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "not slow and not app and not spark"

test-slow: .venv/dev.stamp
	$(BIN)/python -m pytest -n 2 -m slow

test-app: .venv/dev.stamp .venv/axe.stamp
	$(BIN)/python -m pytest -n 2 -m app tests/app

# DuckDB and Spark, also on a cluster; needs Java 17 for Spark, some 450 MB and minutes
test-engines: .venv/engines.stamp
	$(BIN)/python -m pytest -n 0 tests/test_engines.py tests/test_engine_*.py tests/test_engines_spark.py tests/test_spark_environment.py

# k, l, t and singling out by other systems, in an environment of their own: anonymeter needs numpy 1, and pycanon asks
# for single versions of others, of which its measures need none
test-peers: .venv/peers.stamp
	.venv/peers/bin/python -m pytest -p no:warnings tests/peers

fuzz: .venv/dev.stamp
	$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS) --examples $(EXAMPLES) $(if $(SEED),--seed $(SEED))

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: .venv/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: .venv/dev.stamp
	$(BIN)/mypy

bench: .venv/dev.stamp
	$(BIN)/python benchmarks/run.py --quick

# the library of compiled kernels that comes with shoal; see CONTRIBUTING.md
kernels: .venv/dev.stamp
	$(BIN)/python tools/kernels/build.py

kernels-check: .venv/dev.stamp
	$(BIN)/python tools/kernels/build.py --check

kernels-record: .venv/dev.stamp
	$(BIN)/python tools/kernels/record.py

lock:
	$(PYTHON) -m venv .venv/lock
	.venv/lock/bin/python -m pip install --quiet --disable-pip-version-check ".[dev]"
	.venv/lock/bin/python -m pip freeze --exclude shoal > requirements.lock
	rm -rf .venv/lock

# mypy and pyright from outside, on a small program that uses the public names
types-outside: .venv/dev.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pyright
	$(BIN)/python tools/packaging/check_types.py

# both distributions, and the wheel tried in an empty environment; see RELEASING.md
dist: .venv/bin/python
	rm -rf dist
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python -m build
	$(BIN)/python tools/packaging/check_wheel.py dist/*.whl

# the lowest versions that pyproject.toml allows, in an environment of their own
lowest: .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv/lowest
	$(BIN)/uv pip install --quiet --python .venv/lowest/bin/python --resolution lowest-direct -e ".[all]" "pytest>=8.2" "pytest-xdist>=3.6" "hypothesis>=6.100" "pandas>=2.2"
	.venv/lowest/bin/python -m pytest -p no:warnings -n 2 tests/test_promises.py tests/test_tables.py tests/test_files.py tests/test_formats.py

# the site of the documentation, in build/site
docs: .venv/dev.stamp
	$(BIN)/python tools/site/build.py

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "shoal needs Python 3.11 or later: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv

.venv/run.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/app.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[app]"
	touch $@ .venv/run.stamp

.venv/dev.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@ .venv/run.stamp .venv/app.stamp

# rules of accessibility, for tests only; where there is no npm, those are skipped
.venv/axe.stamp: .venv/bin/python
	if command -v npm > /dev/null; then npm install --silent --no-save --prefix .venv/axe axe-core@4; fi
	touch $@

.venv/peers.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv/peers
	$(BIN)/uv pip install --quiet --python .venv/peers/bin/python -e . "anonymeter>=1.1" "pandas>=2.2" "pyarrow>=16" "pytest>=8.2" "hypothesis>=6.100"
	$(BIN)/uv pip install --quiet --python .venv/peers/bin/python --no-deps "pycanon>=1.3"
	touch $@

.venv/engines.stamp: .venv/dev.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[engines-test]"
	touch $@
