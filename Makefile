# The commands of a checkout; CONTRIBUTING.md says when to use which.
#
# Everything is installed into $(VENV) from the hash-pinned lock in requirements/. A stamp file in $(VENV), named after the
# content of the lock, keeps a second call from installing again.
#
#   make test ARGS='-x -k lexer'         passes ARGS on
#   make demo VENV=/tmp/elsewhere        uses another environment
#   make test PYTHON=/opt/python3.13     names the interpreter that a new environment is made with

SHELL := bash
VENV ?= .venv
ARGS ?=
PYTHONS := $(or $(PYTHON),python3 python3.13 python3.12 python3.11)

PY := $(VENV)/bin/python
# Compiling all of what litellm brings takes longer than downloading it; modules are compiled when they are first imported.
INSTALL := $(PY) -m pip install --quiet --quiet --disable-pip-version-check --no-compile

digest = $(shell cat $(1) | cksum | cut -d' ' -f1)
DEV := $(VENV)/.dev-$(call digest,requirements/dev.txt pyproject.toml)
RUNTIME := $(VENV)/.runtime-$(call digest,requirements/runtime.txt requirements/build.txt pyproject.toml)

# What a run imports is compiled here once, even where the environment forbids Python to keep what it compiles.
COMPILING := env -u PYTHONDONTWRITEBYTECODE
warm = @$(COMPILING) $(VENV)/bin/prose run refine refiner=plain evaluator=readability task_brief=x -q --no-record > /dev/null && \
  $(COMPILING) $(PY) -c 'import cattrs.preconf.json, markdown_it, rich.console, rich.live, rich.table, rich.text'

# Renewing the lock needs a resolver that writes one lock for all Python versions and platforms.
LOCK_TOOL := uv==0.13.9
COMPILE = $(VENV)/lock/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
  --custom-compile-command 'make lock' $(ARGS)

.PHONY: help demo test check packaging table docs bench install lock postgres temporal

help:
	@echo 'make demo       refine examples/memo.txt with the shipped pattern and offline services'
	@echo 'make test       run the tests'
	@echo 'make check      linter, formatter, types, layers'
	@echo 'make packaging  build the wheel and the sdist and try them in a new environment'
	@echo 'make table      make the parse table anew after a change of grammar/prose.lark'
	@echo 'make docs       make docs/diagnostics.md and stdlib_patterns/README.md anew from what they tell of'
	@echo 'make bench      run the benchmarks'
	@echo 'make postgres   a PostgreSQL server to try things with, until Ctrl-C; make temporal the same of Temporal'
	@echo 'make install    only install what the other commands need'
	@echo 'make lock       renew requirements/*.txt after a change of the dependencies'

# The development lock holds the runtime lock.
demo: $(or $(wildcard $(DEV)),$(RUNTIME))
	$(VENV)/bin/prose run refine refiner=plain evaluator=readability task_brief=@examples/memo.txt

# On all processors: files and tests depend on nothing of each other.
test: $(DEV)
	$(PY) -m pytest -n auto --dist worksteal $(ARGS)

check: $(DEV)
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy --strict
	$(VENV)/bin/lint-imports

packaging: $(DEV)
	$(PY) -m pytest -m packaging tests/packaging $(ARGS)

table: $(DEV)
	$(PY) -W ignore::RuntimeWarning -m prose_lang.syntax.table

docs: $(DEV)
	$(PY) docs/make_diagnostics.py
	$(PY) docs/make_catalogue.py

bench: $(DEV)
	@for file in bench/bench_*.py; do echo "== $$file" && $(PY) "$$file" || exit 1; done

postgres temporal: $(DEV)
	@PYTHONPATH=tests $(PY) -m servers $@

install: $(DEV)

lock: $(VENV)/lock/bin/pip
	$(VENV)/lock/bin/pip install --quiet --disable-pip-version-check $(LOCK_TOOL)
	$(COMPILE) -o requirements/runtime.txt pyproject.toml
	$(COMPILE) -o requirements/dev.txt -c requirements/runtime.txt --group dev pyproject.toml
	$(COMPILE) -o requirements/build.txt -c requirements/dev.txt - <<< 'hatchling'

$(DEV): | $(VENV)/bin/pip
	@echo 'Installing the development lock into $(VENV); this takes about a minute, once.'
	@$(INSTALL) --require-hashes -r requirements/dev.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	$(warm)
	@rm -f $(VENV)/.dev-* && touch $@

$(RUNTIME): | $(VENV)/bin/pip
	@echo 'Installing the runtime lock into $(VENV); this takes about a minute, once.'
	@$(INSTALL) --require-hashes -r requirements/runtime.txt -r requirements/build.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	$(warm)
	@rm -f $(VENV)/.runtime-* && touch $@

# pip is the last file that venv makes, so a failed attempt is tried again.
%/bin/pip:
	@for python in $(PYTHONS); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    exec "$$python" -m venv '$*'; \
	  fi; \
	done; \
	echo 'Python 3.11 or newer is needed, and none of these is one: $(PYTHONS).' >&2; \
	echo 'Name yours: make PYTHON=/path/to/python3 …' >&2; exit 1
