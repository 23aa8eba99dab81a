# Two commands set a fresh machine up: `make run` and `make test`. Both need python3 (>= 3.11), cargo and make only.

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
DIR     ?= sounding
MINUTES ?= 3
RUST    := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock rust-toolchain.toml
SOURCES := $(shell find python -type f -not -name '*.pyc') pyproject.toml README.md

.PHONY: run test check lock wheel schemas reference clean help

help: ## List the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

run: $(BIN)/.installed ## Sound a directory of this disk in about 3 minutes (DIR=..., MINUTES=...) and write a report
	@tools/need fio
	@mkdir -p $(DIR)
	$(BIN)/leadline quick $(DIR) --minutes $(MINUTES)
	@rmdir $(DIR) 2>/dev/null || true

test: $(BIN)/.developing ## Every test, Rust and Python, on real fio and a real browser
	@tools/need fio chromium
	cargo test --workspace --locked --quiet
	$(BIN)/pytest

check: $(BIN)/.developing ## Lint, types, import layers, schema drift
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff check python tests benchmarks tools
	$(BIN)/ruff format --check python tests benchmarks tools
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/leadline schema | diff - schemas/campaign.schema.json
	$(BIN)/python tools/write_reference.py build/reference && diff -r build/reference docs/reference

schemas: $(BIN)/.installed ## Write the schemas of the seam anew
	$(BIN)/leadline schema > schemas/campaign.schema.json
	$(BIN)/leadline-engine schema --all schemas

reference: $(BIN)/.installed ## Write docs/reference anew
	$(BIN)/python tools/write_reference.py docs/reference

wheel: $(BIN)/.locked ## Build the wheel into dist/
	$(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

lock: ## Resolve the lock files anew (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --extra build --custom-compile-command "make lock" pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --extra build --extra dev --custom-compile-command "make lock" pyproject.toml -o requirements-dev.lock

clean: ## Remove everything that was built; runs/ stays
	rm -rf $(VENV) target build dist *.egg-info python/*.egg-info

$(BIN)/.made:
	@tools/need python
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(BIN)/.locked: requirements.lock | $(BIN)/.made
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(BIN)/.installed: $(BIN)/.locked $(RUST) $(SOURCES)
	@tools/need cargo
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall .
	@touch $@

$(BIN)/.developing: requirements-dev.lock $(BIN)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@
