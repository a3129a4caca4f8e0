# Everything here does its own set-up, in .venv.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
READY := .venv/.ready

.PHONY: demo test test-slow check docs generate bench clean

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

$(READY): $(INSTALLED)  # all extras, which a demo does not need
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	@touch $@

demo: $(INSTALLED)  ## train LeNet-5 on the embedded digits, and measure it
	$(BIN)/luthier train lenet5-digits

test: $(READY)  ## the tests; those on real data sets find them through LUTHIER_DATA
	$(BIN)/python -m pytest -m 'not slow'

test-slow: $(READY)  ## full trainings and large collections: hours
	$(BIN)/python -m pytest -m slow

check: $(READY)  ## lint, types, imports, generated docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m docs.generate --check

generate: $(READY)  ## the docs' generated parts
	$(BIN)/python -m docs.generate

docs: $(READY)  ## the manual, in site/
	$(BIN)/mkdocs build --strict

bench: $(READY)  ## every number that the README claims, but the architectures', whose collections it does not install: hours
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.loop
	$(BIN)/python -m benchmarks.data
	$(BIN)/python -m benchmarks.pipelines
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.on_mindspore
	$(BIN)/python -m benchmarks.proof
	$(BIN)/python -m benchmarks.porting
	$(BIN)/python -m benchmarks.onnx_nodes
	$(BIN)/python -m benchmarks.course

clean:
	rm -rf .venv .cache site .mypy_cache .pytest_cache .ruff_cache
