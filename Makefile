# Every command a person or CI runs. All of them set up what they need in .venv and build/.

PYTHON ?= python3
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CASES ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
INSTALL := PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) install --no-build-isolation \
    -C cmake.define.GOSSAMER_WERROR=ON -e
STUBGEN := $(BIN)/python -m nanobind.stubgen -q -m gossamer._core
CMAKE := $(BIN)/cmake
CONFIGURE := $(CMAKE) -S . -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
    -DGOSSAMER_WERROR=ON
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)

CORE_FILES := $(shell find core -name '*.cpp' -o -name '*.h' -o -name '*.inc' -o -name CMakeLists.txt)
BINDING_FILES := $(wildcard python/bindings/*.cpp python/bindings/*.h)
FORMATTED := $(filter-out core/third_party/%,$(filter %.cpp %.h %.inc,$(CORE_FILES) $(BINDING_FILES)))
FUZZ_TARGETS := $(basename $(notdir $(wildcard core/fuzz/*_fuzz.cpp)))
# Besides seeds of their own, the golden index files of the tests: real bytes to damage.
FUZZ_SEEDS := $(wildcard core/fuzz/corpus tests/data/format)
MODULE_FILES := $(filter-out core/tests/% core/fuzz/%,$(CORE_FILES)) $(BINDING_FILES)

.PHONY: help build demo test test-core test-python fuzz lint format bench clean

help:
	@echo "make demo    build everything, index the documentation and Python's, ask two questions"
	@echo "make test    C++ tests, one minute of fuzzing, Python tests"
	@echo "make lint    formatting, ruff, mypy    (make format mends formatting)"
	@echo "make bench   the benchmark table       (CASES=\"codes adaptive\" for some of it)"
	@echo "make fuzz    FUZZ_SECONDS=3600 for a long one"
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

$(VENV)/bench.stamp: pyproject.toml | $(VENV)/build.stamp
	$(INSTALL) '.[dev,bench]'
	@touch $@

build: $(VENV)/build.stamp

demo: build
	@$(BIN)/python -m gossamer.demo README.md docs

test: build
	@$(MAKE) --no-print-directory test-core
	@$(MAKE) --no-print-directory fuzz
	@$(MAKE) --no-print-directory test-python

# Optimised like a release, but with asserts on.
test-core: build
	@$(CONFIGURE) -B build/tests -DGOSSAMER_BUILD_TESTS=ON -DCMAKE_CXX_FLAGS_RELEASE=-O3 > /dev/null
	@$(CMAKE) --build build/tests -- --quiet
	@$(BIN)/ctest --test-dir build/tests --output-on-failure

# The page of the server is tested in a real browser, the system's.
test-python: build
	@$(BIN)/python tests/browser.py
	@$(BIN)/python -m pytest

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

lint: build
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy python/gossamer
	$(STUBGEN) -o build/_core.pyi && diff -u python/gossamer/_core.pyi build/_core.pyi
	$(BIN)/clang-format --dry-run --Werror $(FORMATTED)

format: build
	$(STUBGEN) -o python/gossamer/_core.pyi
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(FORMATTED)

bench: $(VENV)/bench.stamp
	@$(BIN)/python -m benchmarks.run $(CASES)

clean:
	rm -rf build $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
