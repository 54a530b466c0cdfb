# Every target does its own set-up in .venv: `make app` and `make test` are all that a new machine needs.
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# The first Python on the path that is new enough; PYTHON=/path/to/python3 chooses another.
NEW_ENOUGH = import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach name,python3 python3.13 python3.12 python3.11,\
	$(shell $(name) -c '$(NEW_ENOUGH)' 2>/dev/null && echo $(name))))
# Test processes side by side; browser tests run alone, since a page drawn in software takes a core and more.
WORKERS ?= 2
# One compute thread per process unless told otherwise: two torch processes on two cores must not fight.
export GOMP_SPINCOUNT ?= 0

.PHONY: setup setup-dev app test test-browser coverage lint bench soundness fuzz redteam gallery gallery-run package lock licences bill audit clean

setup: .venv/.app
setup-dev: .venv/.dev

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "TPC Explorer needs Python 3.11 or newer; none is on the path."; exit 1; }
	@$(PYTHON) -c "import ensurepip, venv" 2>/dev/null || { \
		echo "Python's venv module is missing. On Debian or Ubuntu: sudo apt-get install -y python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv

# The lock has every package with its hashes, but for PyTorch, which the second line brings at its exact version
# (pyproject.toml says why). `--no-deps`: what the lock names is installed and nothing is resolved, since older pips
# resolve an extra beside its pin and stop once a newer release exists. The same for our own package.
.venv/.app: requirements.lock pyproject.toml | .venv/bin/python
	@echo "Setting up .venv; this happens once and takes a few minutes."
	$(PIP) install -q --no-deps --require-hashes -r requirements.lock
	$(PIP) install -q --no-build-isolation -e .
	touch $@

.venv/.dev: requirements-dev.lock .venv/.app
	$(PIP) install -q --no-deps --require-hashes -r requirements-dev.lock
	touch $@

app: .venv/.app
	$(BIN)/tpc app

lint: .venv/.dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

# A server that a test starts must not open a window on the desktop of whoever runs it.
test test-browser bench: export STREAMLIT_SERVER_HEADLESS = true

test: .venv/.dev lint
	$(BIN)/python -m app.server.system --browser --install
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not browser" -n $(WORKERS) --dist worksteal
	$(BIN)/python -m pytest -m browser

# Which lines the tests reach; apart from `make test`, since watching them costs two fifths more time.
coverage: .venv/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not browser" -n $(WORKERS) --dist worksteal --cov

test-browser: .venv/.dev
	$(BIN)/python -m app.server.system --browser --install
	$(BIN)/python -m pytest -m browser

bench: .venv/.dev
	$(BIN)/python -m benchmarks

soundness: .venv/.dev
	$(BIN)/python -m tests.certify.measure_soundness

# Damaged files of every format against every reader, until stopped; MINUTES=10 for a while.
fuzz: .venv/.dev
	$(BIN)/python -m tests.hostile.fuzz $(if $(MINUTES),--minutes $(MINUTES))

# Certificates of the whole gallery over all transforms, each attacked; resumed where it was stopped.
redteam: .venv/.app
	$(BIN)/tpc redteam --out runs/redteam --resume

gallery: .venv/.app
	$(BIN)/tpc data gallery build

# The run that the explorer ships on its Runs page: the gallery, with every certificate.
gallery-run: .venv/.app
	rm -rf results/gallery
	$(BIN)/tpc evaluate --model pointnet64-noise --data gallery --claim z-taper:0.8 --claim z-twist:120 --claim z-rotation:45 \
		--budget-samples 20000 --workers 1 --out results/gallery --certificates results/gallery/certificates
	rm results/gallery/objects.csv results/gallery/objects.parquet

# The sdist and the wheel, whole, in dist/.
package: .venv/.dev
	rm -rf dist
	$(BIN)/python -m hatchling build

lock: COMPILE = $(BIN)/uv pip compile -q
lock: .venv/.dev
	$(COMPILE) --generate-hashes --no-emit-package torch pyproject.toml --extra app --group build -o requirements.lock
	$(COMPILE) --generate-hashes --no-emit-package torch --group dev -c requirements.lock -o requirements-dev.lock
	$(COMPILE) --no-annotate pyproject.toml --extra app -c requirements.lock -o requirements.txt
	$(BIN)/python -m app.server.system --packages > packages.txt

licences: .venv/.dev
	$(BIN)/python scripts/licences.py

# What a release is made of, in CycloneDX: dist/bill-of-materials.cdx.json.
bill: .venv/.dev
	$(BIN)/python scripts/bill_of_materials.py

# Known vulnerabilities of the locked packages; exit 2 where the advisory data cannot be reached.
audit: .venv/.dev
	$(BIN)/python scripts/audit.py

clean:
	rm -rf .venv dist .mypy_cache .ruff_cache .pytest_cache .coverage
