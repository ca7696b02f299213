# SPDX-License-Identifier: Apache-2.0
# Only the menu: every entry is a CMake preset or a script that can be called by itself.
.PHONY: demo test check fmt lint golden bench fuzz-quick docs accuracy wheel wheel-test asan tsan install-dependencies

demo: install-dependencies          ## install what is missing, build, predict a real network
	cmake --preset release
	cmake --build build/release --target joulecast
	build/release/joulecast predict examples/resnet50.onnx --gpu a30,a100,h100 --batch 1,32

test: install-dependencies          ## build everything and run all tests
	cmake --preset release
	cmake --build build/release
	ctest --preset release $(CTEST_OPTIONS)

check: test lint                    ## what has to pass before a change lands

fmt:                                ## format all sources
	tools/lint/format.sh --write

lint: install-dependencies          ## clang-format, clang-tidy, GPU files
	tools/lint/format.sh
	tools/lint/tidy.sh
	python3 tools/gpus/check.py

golden: test                        ## rewrite the expected outputs of the command line tests, then look at the diff
	tests/cli/run.py --rewrite build/release/joulecast

bench: install-dependencies         ## speed figures: ratios and instruction counts
	cmake --preset release
	cmake --build build/release --target joulecast joulecast_bench
	bench/run.sh build/release

fuzz-quick: install-dependencies    ## every fuzz target for 20 seconds
	tools/lint/fuzz.sh 20

docs:                               ## rewrite the generated pages
	tools/docs/generate.sh build/release/joulecast

wheel: install-dependencies         ## dist/joulecast-*.whl, the Python package
	python3 -m venv build/wheel
	build/wheel/bin/pip install --quiet build
	build/wheel/bin/python -m build --wheel --outdir dist .

PYTHON ?= python3
wheel-test: wheel                   ## the package's tests on that wheel, in an empty environment of PYTHON
	cmake --preset release
	cmake --build build/release --target joulecast joulecast-measure nvml_standin
	rm -rf build/wheel-test
	$(PYTHON) -m venv build/wheel-test
	build/wheel-test/bin/pip install --quiet --no-index dist/joulecast-*.whl
	for test in python/tests/test_*.py; do \
	  LD_LIBRARY_PATH=build/release/nvml_standin build/wheel-test/bin/python -B $$test build/release/joulecast examples || exit 1; \
	done

accuracy:                           ## docs/accuracy.md and its charts; with DATA= and GRAPHS= measures anew
	DATA=$(DATA) GRAPHS=$(GRAPHS) tools/accuracy/accuracy.sh build/release/joulecast

asan tsan: install-dependencies     ## the tests under a sanitizer
	cmake --workflow --preset $@

install-dependencies:
	@tools/install_dependencies.sh
