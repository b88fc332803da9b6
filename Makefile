# make demo · make test: each sets up what it needs, once, and does its job.
#
# The environment is .venv. Nothing here calls sudo: what only apt can install is
# installed when you are root, and named in one line when you are not.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# more than cores: many tests wait for a process
JOBS ?= 4

.PHONY: help demo test test-fast build check bench conformance clean
help:
	@echo "make demo       set up, run the simulation, grade a sample class (a few minutes the first time)"
	@echo "make test       set up, run every test"
	@echo "make test-fast  the same without the slow ones"
	@echo "make build      make every generated file from its source"
	@echo "make check      style, types, generated files: all as they should be?"
	@echo "make bench      measure our client beside others; tables and plots into outputs/bench"
	@echo "make conformance  the official suite judges both clients, in both revisions"
	@echo "make clean      remove what was set up"

# --- set up: the stamp files say that it was done ---

.venv/.ready: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "No Python 3.11, 3.12 or 3.13 found. Install one, or run: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || ./.ci/need python3-venv
	@test -x .venv/bin/python || $(PYTHON) -m venv .venv
	@echo "Installing the course's tools into .venv (once; about a minute) …"
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

.venv-colab: .venv-colab/.ready
.venv-colab/.ready: grader/tests/colab/requirements.txt | .venv/.ready
	@command -v git >/dev/null || ./.ci/need git
	@echo "Installing Colab's versions into .venv-colab (once) …"
	@p=$$(for p in python3.13 $(PYTHON); do $$p -c 'import ensurepip, venv' 2>/dev/null && echo $$p && break; done); \
	$$p -m venv .venv-colab
	@.venv-colab/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

work/node_servers/.ready: code/tests/node_servers/package.json | .venv/.ready
	@command -v npm >/dev/null || ./.ci/need nodejs npm
	@echo "Installing two real MCP servers from npm, for the tests (once) …"
	@$(BIN)/python code/tests/node_servers/install.py
	@touch $@

work/pypi_servers/.ready: code/tests/pypi_servers/requirements.txt | .venv/.ready
	@echo "Installing two real MCP servers from PyPI, for the tests (once) …"
	@$(BIN)/python code/tests/pypi_servers/install.py
	@touch $@

# --- the jobs ---

# The sample class holds endless loops on purpose, so the demonstration grades it under short limits.
DEMO := grader/work/demo
demo: .venv/.ready $(DEMO)/.ready
	@$(BIN)/python code/main.py
	@echo
	@$(BIN)/python -m grader check solutions/01_namespace/01_namespace.ipynb
	@echo
	@$(BIN)/python -m grader grade $(DEMO)/submissions --work $(DEMO)/work --no-sandbox \
		--jobs $(JOBS) --cell-seconds 10 --notebook-seconds 60
	@echo
	@echo "Your turn: read lessons/01_namespace.md, then solve exercises/01_namespace/01_namespace.ipynb."
	@echo "Your answers are checked by: $(BIN)/python -m grader check exercises/01_namespace/01_namespace.ipynb"

$(DEMO)/.ready: $(wildcard exercises/*/*.ipynb grader/sample_class/*.py) | .venv/.ready
	@rm -rf $(DEMO)/submissions
	@$(BIN)/python -m grader sample-class $(DEMO)/submissions
	@touch $@

READY := .venv/.ready .venv-colab/.ready work/node_servers/.ready work/pypi_servers/.ready

# Tests with time limits can miss them on a busy machine, side by side with others. So what failed runs
# once more, alone, and says so: what fails alone has failed.
test: $(READY)
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal || { \
		echo; echo "=== These failed side by side. They run once more, alone; what fails now has failed. ==="; \
		$(BIN)/python -m pytest --last-failed --last-failed-no-failures none; }

test-fast: $(READY)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow"

build: .venv/.ready
	@$(BIN)/python -m grader build

check: .venv/.ready
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/python -m grader build --check

bench: .venv/.ready
	@$(BIN)/python code/bench/run.py

conformance: .venv/.ready
	@$(BIN)/python code/conformance/install.py
	@$(BIN)/python code/conformance/run.py

clean:
	rm -rf .venv .venv-colab work grader/work build *.egg-info code/*.egg-info
