# Everything happens inside .venv/ and build/; `make help` lists what can be done.
PYTHON ?= python3
BIN := .venv/bin
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help install run check test soak bench bench-peers lock freeze clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

install: ## build .venv with everything the program needs (ORION_GPU=cuda, vulkan, metal or rocm for a graphics card)
	@$(PYTHON) installer/bootstrap.py install

run: ## start Orion: the window, or without a display the terminal chat (ARGS="doctor" for a command)
	@$(PYTHON) installer/bootstrap.py run -- $(ARGS)

check: .prepared ## format, lint, types, walls and sizes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m installer.gates

test: .prepared ## run the tests in a private test-bed (ARGS="-k name" for some)
	@$(BIN)/python -m installer.testbed $(BIN)/pytest $(ARGS)

soak: .prepared ## the long kill and leak campaigns, with printed seeds (ARGS="--seed 7")
	@$(BIN)/python -m installer.testbed $(BIN)/python -m tests.soak $(ARGS)

bench: .prepared ## measure, print a table, write build/bench.json (BENCH=name for one)
	@$(BIN)/python -m installer.testbed $(BIN)/python -m tests.bench $(BENCH)

bench-peers: .prepared ## measure the same scripts through other frameworks, in an environment of their own
	@$(PYTHON) installer/bootstrap.py peers
	@$(BIN)/python -m installer.testbed $(BIN)/python -m tests.bench --peers $(BENCH)

lock: .prepared ## pin the newest versions of all dependencies, with hashes
	@$(BIN)/python -m installer.lock

freeze: .prepared ## build the self-contained folder build/frozen/orion
	@$(BIN)/python -m installer.freeze

clean: ## remove everything that was built, but no user data
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

.PHONY: .prepared
.prepared:
	@$(PYTHON) installer/bootstrap.py test
