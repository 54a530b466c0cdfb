# Every target does its own set-up in .venv. Tests that drive a browser, and Open3D, need system packages:
# scripts/system-packages.sh installs them where it may, and says what is missing where it may not.
PYTHON ?= python3
BIN := .venv/bin
# One compute thread per process unless told otherwise: two torch processes on two cores must not fight.
export GOMP_SPINCOUNT ?= 0

.PHONY: setup setup-dev app test test-browser lint bench soundness gallery clean

setup: .venv/.app
setup-dev: .venv/.dev

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.app: requirements.txt pyproject.toml | .venv/bin/python
	$(BIN)/pip install -q --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install -q --disable-pip-version-check --no-deps -e .
	touch $@

.venv/.dev: requirements-dev.txt .venv/.app
	$(BIN)/pip install -q --disable-pip-version-check -r requirements-dev.txt
	touch $@

app: .venv/.app
	$(BIN)/streamlit run app/main.py

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: .venv/.dev lint
	$(BIN)/python -m pytest -m "not browser"

test-browser: .venv/.dev
	sh scripts/system-packages.sh
	$(BIN)/python -m pytest -m browser

bench: .venv/.dev
	$(BIN)/python -m benchmarks

soundness: .venv/.dev
	$(BIN)/python -m tests.certify.measure_soundness

gallery: .venv/.app
	$(BIN)/tpc data gallery build

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache
